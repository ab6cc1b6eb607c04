// SPDX-License-Identifier: GPL-2.0-or-later
#include "apply_all.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include "base/clock.h"

static void all_report(const struct to_call *call, const struct to_applied_all *r, bool verbose)
{
	if (call->json) {
		json_t *out = json_pack("{s:i, s:b, s:I, s:f, s:f, s:f}", "servers", r->servers,
					"changed", r->changed, "generation",
					(json_int_t)r->generation, "reach_s", r->reached,
					"stage_s", r->staged - r->reached, "commit_s",
					r->changed ? r->committed - r->staged : 0.0);

		json_dumpf(out, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(out);
		return;
	}
	if (!r->changed)
		printf("nothing to do, generation %" PRIu64 " of all %u servers is this plan\n",
		       r->generation, r->servers);
	else
		printf("generation %" PRIu64 " on all %u servers\n", r->generation, r->servers);
	if (verbose && r->changed)
		printf("%.1f ms to reach the agents, %.1f ms to stage, %.1f ms to commit\n",
		       r->reached * 1e3, (r->staged - r->reached) * 1e3,
		       (r->committed - r->staged) * 1e3);
}

/* Back on all servers, unless somebody says that it may stay. */
static int all_confirm(struct to_fabric *fabric, const struct to_confirm *confirm, uint64_t ns,
		       struct to_error *err)
{
	int ret;

	if (!confirm || to_confirm_wait(confirm, "The plan is active on all servers", ns))
		return to_fabric_confirm(fabric, err);
	ret = to_fabric_revert(fabric, err);
	return ret ? ret : to_error_set(err, -ECANCELED, "not confirmed: all servers went back");
}

static int all_apply(struct to_fabric *fabric, const struct to_plan *plan,
		     const struct to_confirm *confirm, uint64_t confirm_ns,
		     struct to_applied_all *result, uint64_t start, struct to_error *err)
{
	struct to_error differ;
	bool differs;
	int ret;

	result->reached = to_clock_seconds_since(start);
	ret = to_fabric_stage(fabric, plan, &differs, err);
	if (ret)
		return ret;
	result->staged = to_clock_seconds_since(start);
	/* The same plan under different generations is made one. */
	if (!differs && !to_fabric_generation(fabric, &result->generation, &differ))
		return to_fabric_abort(fabric, err);
	ret = to_fabric_commit(fabric, err);
	if (ret)
		return ret;
	result->changed = true;
	result->committed = to_clock_seconds_since(start);
	ret = all_confirm(fabric, confirm, confirm_ns, err);
	return ret ? ret : to_fabric_generation(fabric, &result->generation, err);
}

static void all_note(const char *text)
{
	fprintf(stderr, "toctl: %s\n", text);
}

int to_apply_all_quietly(const struct to_plan *plan, const struct to_fabric_options *options,
			 const struct to_confirm *confirm, uint64_t confirm_ns,
			 struct to_applied_all *result, struct to_error *err)
{
	const uint64_t start = to_clock_monotonic_ns();
	struct to_fabric_options noted = *options;
	struct to_fabric *fabric;
	int ret;

	*result = (struct to_applied_all){ .servers = plan->cluster->n_servers };
	noted.note = all_note;
	fabric = to_fabric_open(plan, &noted, err);
	if (!fabric)
		return -EHOSTUNREACH;
	ret = all_apply(fabric, plan, confirm, confirm_ns, result, start, err);
	to_fabric_close(fabric);
	return ret;
}

int to_apply_all(struct to_call *call, const struct to_plan *plan,
		 const struct to_fabric_options *options, const struct to_confirm *confirm,
		 uint64_t confirm_ns, bool verbose)
{
	struct to_applied_all result;
	int ret = to_apply_all_quietly(plan, options, confirm, confirm_ns, &result, &call->err);

	if (!ret)
		all_report(call, &result, verbose);
	return ret;
}
