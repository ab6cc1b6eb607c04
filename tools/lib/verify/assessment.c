// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/assessment.h"

#include <errno.h>
#include <stdlib.h>

#include "verify/unprotected.h"

/* Callbacks of to_assessment_make(), each of which may be NULL. */
struct assessment_caller {
	to_verify_line *line;
	void (*progress)(void *data, unsigned int percent);
	void *data;
};

static void assessment_line(void *data, const char *line)
{
	const struct assessment_caller *caller = data;

	if (caller->line)
		caller->line(caller->data, line);
}

static void assessment_progress(void *data, unsigned int percent)
{
	const struct assessment_caller *caller = data;

	if (caller->progress)
		caller->progress(caller->data, percent);
}

static int assessment_cycles(const struct to_plan *plan, struct to_assessment *a)
{
	const struct to_cluster *c = plan->cluster;
	struct to_graph *graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	int ret = graph ? to_buffer_cycle_find(plan, graph, false, &a->routes) : -ENOMEM;

	if (!ret)
		ret = to_buffer_cycle_find(plan, graph, true, &a->job);
	to_graph_free(graph);
	return ret;
}

int to_assessment_make(const struct to_plan *plan, to_verify_line *line,
		       void (*progress)(void *data, unsigned int percent), void *data,
		       struct to_assessment *a)
{
	struct assessment_caller caller = { line, progress, data };
	int ret;

	a->routes = a->job = (struct to_buffer_cycle){};
	ret = to_verify_progress(plan, assessment_line, assessment_progress, &caller, &a->report);
	if (!ret && !a->report.violations)
		ret = assessment_cycles(plan, a);
	if (ret)
		to_assessment_free(a);
	return ret;
}

void to_assessment_free(struct to_assessment *a)
{
	free(a->routes.servers);
	free(a->job.servers);
	a->routes = a->job = (struct to_buffer_cycle){};
}

static json_t *assessment_cycle_json(const struct to_plan *plan,
				     const struct to_buffer_cycle *cycle)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array && i < cycle->n; i++)
		json_array_append_new(array, json_string(plan->cluster->servers[cycle->servers[i]].name));
	return json_pack("{s:I s:o}", "dependencies", (json_int_t)cycle->dependencies,
			 "servers", array);
}

json_t *to_assessment_json(const struct to_plan *plan, const struct to_assessment *a,
			   json_t *violations)
{
	const struct to_verify_report *r = &a->report;
	json_t *object = to_predict_json(plan, &r->figures);
	json_t *failures = to_failure_cases_json(&r->links);

	json_object_set_new(failures, "unprotected",
			    to_unprotected_json(plan, r->unprotected, r->n_unprotected));
	json_object_set_new(failures, "servers", to_failure_cases_json(&r->servers));
	if (plan->cluster->n_packet_switches) {
		json_object_set_new(failures, "packet_switches", to_failure_cases_json(&r->switches));
		json_object_set_new(failures, "ports", to_failure_cases_json(&r->ports));
	}
	if (to_cluster_shares_cables(plan->cluster))
		json_object_set_new(failures, "functions", to_failure_cases_json(&r->functions));
	json_object_update_new(object, json_pack(
		"{s:b s:s s:I s:o s:I s:I s:o}",
		"valid", !r->violations, "verdict", to_verify_verdict(r),
		"violation_count", (json_int_t)r->violations, "violations", violations,
		"addresses", (json_int_t)r->addresses,
		"unreachable", (json_int_t)r->unreachable, "failures", failures));
	if (r->rdma.pairs)
		json_object_set_new(object, "rdma_pairs", json_pack(
			"{s:I s:I}", "pairs", (json_int_t)r->rdma.pairs,
			"reached", (json_int_t)r->rdma.reached));
	if (!r->violations)
		json_object_set_new(object, "buffer_cycles", json_pack(
			"{s:o s:o}", "routes", assessment_cycle_json(plan, &a->routes),
			"job", assessment_cycle_json(plan, &a->job)));
	return object;
}
