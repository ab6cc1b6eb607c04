/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SWITCH_JSON_H
#define TOPOOPT_SWITCH_JSON_H

#include <stdio.h>

#include "base/json.h"
#include "data/cluster.h"

/* Reader of an optical switch's "control", a struct to_switch_control. */
int to_switch_control_read(const struct to_json *at, void *to);

/** to_switch_control_print() - ,"control":{...}; nothing when set by hand */
void to_switch_control_print(FILE *out, const struct to_switch_control *control);

#endif
