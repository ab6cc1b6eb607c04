/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_APPLY_ALL_H
#define TOPOOPT_APPLY_ALL_H

#include "cli/command.h"
#include "confirm.h"
#include "control/fabric.h"

/** struct to_applied_all - what was done; seconds since the start */
struct to_applied_all {
	unsigned int servers;
	uint64_t generation;
	bool changed;
	double reached, staged, committed;
};

/** to_apply_all_quietly() - to_apply_all() that prints nothing; 0 or a negative errno with @err */
int to_apply_all_quietly(const struct to_plan *plan, const struct to_fabric_options *options,
			 const struct to_confirm *confirm, uint64_t confirm_ns,
			 struct to_applied_all *result, struct to_error *err);

/**
 * to_apply_all() - toctl apply --all: @plan on all its servers, or on none
 * @confirm: who waits, for @confirm_ns, until it is said that it stays; NULL: it stays
 */
int to_apply_all(struct to_call *call, const struct to_plan *plan,
		 const struct to_fabric_options *options, const struct to_confirm *confirm,
		 uint64_t confirm_ns, bool verbose);

#endif
