// SPDX-License-Identifier: GPL-2.0-or-later
#include "applied_print.h"

#include <inttypes.h>
#include <jansson.h>

#include "base/json.h"
#include "doctor/check.h"
#include "verify/rdma_pairs.h"

static void applied_json(json_t *object)
{
	to_json_write(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
}

static void applied_text_line(char sign, const char *what, const char *text, void *arg)
{
	(void)arg;
	printf("%c %s %s\n", sign, what, text);
}

static void applied_json_line(char sign, const char *what, const char *text, void *arg)
{
	json_array_append_new(arg, json_pack("{s:s#, s:s, s:s}", "change", &sign, 1,
					     "what", what, "text", text));
}

int to_applied_print_changes(struct to_call *call, const struct to_apply_job *job)
{
	json_t *lines = json_array();
	bool differs;
	int ret = to_apply_compare(job, &differs,
				   call->json ? applied_json_line : applied_text_line, lines,
				   &call->err);

	if (!ret && call->json)
		applied_json(json_pack("{s:s, s:b, s:O}", "device", job->device, "differs", differs,
				       "changes", lines));
	else if (!ret && !differs)
		printf("%s: nothing to do\n", job->device);
	json_decref(lines);
	return ret;
}

/* The path of each port by its name; NULL if XDP was left alone. */
static json_t *applied_paths(const struct to_applied_server *r)
{
	json_t *paths = r->n_ports ? json_object() : NULL;

	for (unsigned int p = 0; p < r->n_ports; p++)
		json_object_set_new(paths, r->ports[p].name,
				    json_string(to_xdp_path_names[r->ports[p].path]));
	return paths;
}

static bool applied_relays_by_xdp(const struct to_applied_server *r)
{
	for (unsigned int p = 0; p < r->n_ports; p++)
		if (r->ports[p].path == TO_XDP_NATIVE || r->ports[p].path == TO_XDP_GENERIC)
			return true;
	return false;
}

static void applied_xdp_notes(const struct to_call *call, const struct to_applied_server *r)
{
	if (r->xdp.text[0])
		to_call_note(call, "%s; %s", r->xdp.text, applied_relays_by_xdp(r) ?
			     "some ports still relay by XDP" : "relaying without XDP");
	for (unsigned int p = 0; p < r->n_ports; p++) {
		const struct to_xdp_port *port = &r->ports[p];
		const struct to_xdp_egress *egress = &port->egress;

		if (port->why[0])
			to_call_note(call, "%s: relaying without XDP: %s", port->name, port->why);
		if (egress->why[0])
			to_call_note(call, "to %s: %s%s%s", port->name, egress->why,
				     egress->fix[0] ? ": " : "", egress->fix);
	}
}

static void applied_server_json(const struct to_apply_job *job, const struct to_applied_server *r,
				double rate)
{
	applied_json(json_pack("{s:s, s:s, s:b, s:b, s:I, s:i, s:i, s:i, s:i, s:f, s:f, s:o*}",
		"server", job->plan->cluster->servers[job->server].name, "device", job->device,
		"changed", r->changed, "staged", r->staged,
		"generation", (json_int_t)r->generation,
		"routes", r->counts.routes, "groups", r->counts.groups,
		"entries_added", r->counts.entries_added,
		"entries_removed", r->counts.entries_removed,
		"seconds", r->seconds, "routes_per_second", r->table ? rate : 0.0,
		"paths", applied_paths(r)));
}

void to_applied_print_server(const struct to_call *call, const struct to_apply_job *job,
			     const struct to_applied_server *r)
{
	const double rate = r->seconds > 0 ? r->counts.routes / r->seconds : 0;

	applied_xdp_notes(call, r);
	if (r->unchecked)
		to_call_note(call, "%s: without continuity checks, which the loaded module lacks: reload the module",
			     job->device);
	if (call->json) {
		applied_server_json(job, r, rate);
		return;
	}
	if (!r->changed)
		printf("%s: nothing to do, generation %" PRIu64 " is this plan\n", job->device,
		       r->generation);
	else if (r->staged)
		printf("%s: staged %u routes in %u groups, replacing generation %" PRIu64 "\n",
		       job->device, r->counts.routes, r->counts.groups, r->generation);
	else
		printf("%s: generation %" PRIu64 ", %u routes in %u groups; %u entries added, %u removed\n",
		       job->device, r->generation, r->counts.routes, r->counts.groups,
		       r->counts.entries_added, r->counts.entries_removed);
	if (call->verbose && r->changed && r->table)
		printf("%s: %.3f s from the plan to %s, %.0f routes/s\n", job->device, r->seconds,
		       r->staged ? "the stage" : "the commit", rate);
}

void to_applied_print_all(const struct to_call *call, const struct to_applied_all *r)
{
	if (call->json) {
		applied_json(json_pack("{s:i, s:b, s:I, s:f, s:f, s:f}", "servers", r->servers,
			"changed", r->changed, "generation", (json_int_t)r->generation,
			"reach_s", r->reached, "stage_s", r->staged - r->reached,
			"commit_s", r->changed ? r->committed - r->staged : 0.0));
		return;
	}
	if (!r->changed)
		printf("nothing to do, generation %" PRIu64 " of all %u servers is this plan\n",
		       r->generation, r->servers);
	else
		printf("generation %" PRIu64 " on all %u servers\n", r->generation, r->servers);
	if (call->verbose && r->changed)
		printf("%.1f ms to reach the agents, %.1f ms to stage, %.1f ms to commit\n",
		       r->reached * 1e3, (r->staged - r->reached) * 1e3,
		       (r->committed - r->staged) * 1e3);
}

void to_applied_warn_rdma(const struct to_call *call, const struct to_plan *plan, uint32_t src)
{
	struct to_rdma_pairs rdma;

	if (!to_rdma_pairs_limited(plan->cluster) || to_rdma_pairs_find(plan, src, &rdma) ||
	    rdma.reached == rdma.pairs)
		return;
	to_call_note(call, "RDMA to %" PRIu64 " of %" PRIu64 " pairs of a server and a port has no relay: only TCP reaches them",
		     rdma.pairs - rdma.reached, rdma.pairs);
}

void to_applied_warn(const struct to_call *call, const struct to_apply_job *job)
{
	struct to_check_view view = {};
	struct to_checks checks = {};

	to_check_view_plan(&view, job->plan, job->server);
	to_check_sysctl(&checks, job->device, &view);
	to_check_routes(&checks, job->device, &view);
	for (unsigned int i = 0; i < checks.n; i++) {
		const struct to_check *c = &checks.items[i];

		if (c->verdict != TO_CHECK_OK)
			to_call_note(call, "%s: %s: %s%s%s", c->subject, c->name, c->text,
				     c->fix[0] ? "; " : "", c->fix);
	}
	to_checks_free(&checks);
	to_applied_warn_rdma(call, job->plan, job->server);
}
