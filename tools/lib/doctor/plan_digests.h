/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_DIGESTS_H
#define TOPOOPT_PLAN_DIGESTS_H

#include <stdint.h>

#include "data/plan.h"

/**
 * to_plan_digests() - digest of each server's table by a plan, see to_table_digest()
 *
 * Return: an array for free(), 0 where a table cannot be made; NULL: out of memory.
 */
uint64_t *to_plan_digests(const struct to_plan *plan);

#endif
