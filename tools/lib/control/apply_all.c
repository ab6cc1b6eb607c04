// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/apply_all.h"

#include <errno.h>

#include "base/clock.h"

/* Confirm the change on all servers, or undo it on all. */
static int all_confirm(struct to_fabric *fabric, const struct to_confirm *confirm,
		       struct to_error *err)
{
	int ret;

	if (!confirm || to_confirm_wait(confirm, "The plan is active on all servers"))
		return to_fabric_confirm(fabric, err);
	ret = to_fabric_revert(fabric, err);
	return ret ? ret : to_error_set(err, -ECANCELED, "not confirmed: all servers went back");
}

static int all_apply(struct to_fabric *fabric, const struct to_plan *plan,
		     const struct to_confirm *confirm, struct to_applied_all *result,
		     uint64_t start, struct to_error *err)
{
	struct to_error differ;
	bool differs;
	int ret;

	result->reached = to_clock_seconds_since(start);
	ret = to_fabric_stage(fabric, plan, &differs, err);
	if (ret)
		return ret;
	result->staged = to_clock_seconds_since(start);
	/* Servers that run the plan under different generations get a common one. */
	if (!differs && !to_fabric_generation(fabric, &result->generation, &differ))
		return to_fabric_abort(fabric, err);
	ret = to_fabric_commit(fabric, err);
	if (ret)
		return ret;
	result->changed = true;
	result->committed = to_clock_seconds_since(start);
	ret = all_confirm(fabric, confirm, err);
	return ret ? ret : to_fabric_generation(fabric, &result->generation, err);
}

int to_apply_all(const struct to_plan *plan, const struct to_fabric_options *options,
		 const struct to_confirm *confirm, struct to_applied_all *result,
		 struct to_error *err)
{
	const uint64_t start = to_clock_monotonic_ns();
	struct to_fabric *fabric;
	int ret;

	*result = (struct to_applied_all){ .servers = plan->cluster->n_servers };
	fabric = to_fabric_open(plan, options, err);
	if (!fabric)
		return -EHOSTUNREACH;
	ret = all_apply(fabric, plan, confirm, result, start, err);
	to_fabric_close(fabric);
	return ret;
}
