/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_JSON_H
#define TOPOOPT_PLAN_JSON_H

/** Words for enum to_link_use; ends with NULL. */
extern const char *const to_plan_link_uses[];

#endif
