// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "data/down.h"
#include "figures.h"
#include "format/plan_json.h"
#include "cli/progress.h"
#include "verify/buffer_cycle.h"
#include "verify/verify_down.h"

#define VERIFY_LINES 100	/* one wrong link can break a million routes */

#define VERIFY_CASES 5		/* that are named in text */
#define VERIFY_CYCLE 12		/* servers of a cycle, too */
#define VERIFY_CASE_TEXT (4 * (TO_NAME_MAX + IFNAMSIZ) + 64)
#define VERIFY_LINK_TEXT (2 * TO_DOWN_NAME_MAX + 4)

struct verify_args {
	struct to_words down;
};

struct verify_lines {
	const char *file;
	bool json;
	json_t *array;
	unsigned long n;
	struct to_progress progress;
};

static void verify_line(void *data, const char *line)
{
	struct verify_lines *lines = data;

	if (lines->n++ >= VERIFY_LINES)
		return;
	if (lines->json) {
		json_array_append_new(lines->array, json_string(line));
	} else {
		to_progress_end(&lines->progress);
		fprintf(stderr, "toctl verify: %s: %s\n", lines->file, line);
	}
}

static void verify_progress(void *data, unsigned int percent)
{
	struct verify_lines *lines = data;

	to_progress(&lines->progress, percent, 100);
}

/* "s3:eth1 - s5:eth0" */
static const char *verify_link(const struct to_cluster *c, const struct to_link *l,
			       char text[VERIFY_LINK_TEXT])
{
	char a[TO_DOWN_NAME_MAX], b[TO_DOWN_NAME_MAX];

	snprintf(text, VERIFY_LINK_TEXT, "%s %s %s", to_down_name(c, l->a, a),
		 c->link_mode == TO_LINKS_DUPLEX ? "-" : ">", to_down_name(c, l->b, b));
	return text;
}

/* "s3 > s7 (s7:eth0) while s3:eth1 - s5:eth0 is dark" */
static const char *verify_case(const struct to_plan *plan, const struct to_unprotected *u,
			       char text[VERIFY_CASE_TEXT])
{
	const struct to_cluster *c = plan->cluster;
	const struct to_server *dst = &c->servers[u->dst];
	char link[VERIFY_LINK_TEXT], address[TO_DOWN_NAME_MAX + 4] = "";

	if (u->slot)
		snprintf(address, sizeof(address), " (%s:%s)", dst->name, dst->ports[u->slot - 1].name);
	snprintf(text, VERIFY_CASE_TEXT, "%s > %s%s", c->servers[u->src].name, dst->name, address);
	if (u->link != UINT32_MAX)
		snprintf(text + strlen(text), VERIFY_CASE_TEXT - strlen(text), " while %s is dark",
			 verify_link(c, &c->links[u->link], link));
	if (u->packet_switch)
		snprintf(text + strlen(text), VERIFY_CASE_TEXT - strlen(text), " while %s is down",
			 c->packet_switches[u->packet_switch - 1].name);
	return text;
}

static json_t *verify_unprotected_json(const struct to_plan *plan,
				       const struct to_unprotected *list, unsigned int n)
{
	json_t *array = json_array();
	char text[VERIFY_CASE_TEXT];

	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(array, json_string(verify_case(plan, &list[i], text)));
	return array;
}

static json_t *verify_cases_json(const struct to_failure_cases *c)
{
	return json_pack("{s:I s:I s:I s:I s:I}",
			 "cases", (json_int_t)c->cases, "covered", (json_int_t)c->covered,
			 "uncovered", (json_int_t)c->uncovered,
			 "last_hops", (json_int_t)c->last_hops,
			 "disconnected", (json_int_t)c->disconnected);
}

/* The packet switch that port @at is on, NULL for none, and for a server. */
static const struct to_packet_switch *verify_on(const struct to_cluster *c, struct to_port_ref at)
{
	return at.port == TO_DOWN_SERVER ? NULL :
	       to_port_packet_switch(c, &c->servers[at.server].ports[at.port]);
}

/* Whether a server that lives loses the RDMA NIC of its port. */
static bool verify_takes_nic(const struct to_cluster *c, const struct to_down *down,
			     uint32_t server, uint32_t port)
{
	return !down->servers[server] &&
	       to_down_darkens(down, c, (struct to_port_ref){ server, port });
}

/* Links that can wait for each other: on routes of all pairs, and of the job's transfers. */
struct verify_cycles {
	struct to_buffer_cycle routes, job;
};

static int verify_find_cycles(const struct to_plan *plan, struct verify_cycles *v)
{
	struct to_graph *graph = to_graph_new(plan->cluster->n_servers, plan->cluster->links,
					      plan->cluster->n_links, plan->cluster->link_mode);
	int ret = graph ? to_buffer_cycle_find(plan, graph, false, &v->routes) : -ENOMEM;

	if (!ret)
		ret = to_buffer_cycle_find(plan, graph, true, &v->job);
	to_graph_free(graph);
	return ret;
}

static void verify_free_cycles(struct verify_cycles *v)
{
	free(v->routes.servers);
	free(v->job.servers);
}

static json_t *verify_cycle_json(const struct to_plan *plan, const struct to_buffer_cycle *cycle)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < cycle->n; i++)
		json_array_append_new(array, json_string(plan->cluster->servers[cycle->servers[i]].name));
	return json_pack("{s:I s:o}", "dependencies", (json_int_t)cycle->dependencies,
			 "servers", array);
}

static void verify_print_cycle(const struct to_plan *plan, const char *which,
			       const struct to_buffer_cycle *cycle)
{
	printf("    %s:", which);
	for (uint32_t i = 0; i < cycle->n && i < VERIFY_CYCLE; i++)
		printf(" %s >", plan->cluster->servers[cycle->servers[i]].name);
	if (cycle->n > VERIFY_CYCLE)
		printf(" %u more >", cycle->n - VERIFY_CYCLE);
	printf(" %s\n", cycle->n ? plan->cluster->servers[cycle->servers[0]].name : "none");
}

static void verify_print_cycles(const struct to_plan *plan, const struct verify_cycles *v)
{
	if (!v->routes.n) {
		printf("  no link can wait for itself: no PFC deadlock, also where hardware forwards\n");
		return;
	}
	printf("  PFC can deadlock where hardware forwards, each link waiting for the next:\n");
	verify_print_cycle(plan, "on routes", &v->routes);
	verify_print_cycle(plan, "on those of the job", &v->job);
}

/* What of a plan is down, and what then. */
struct verify_down {
	struct to_down down;
	struct to_verify_down found;
};

static json_t *verify_down_json(const struct to_plan *plan, const struct verify_down *v)
{
	const struct to_cluster *c = plan->cluster;
	const struct to_verify_down *f = &v->found;
	json_t *object = verify_cases_json(&f->cases), *down = json_array(), *dark = json_array();
	json_t *busiest = json_null(), *nics = json_array();
	char name[TO_DOWN_NAME_MAX];
	unsigned int i;

	for (i = 0; i < v->down.n; i++)
		json_array_append_new(down, json_string(to_down_name(c, v->down.list[i], name)));
	for (i = 0; i < c->n_links; i++) {
		if (!v->down.links[i])
			continue;
		json_array_append_new(dark, json_pack("{s:o s:o}",
			"a", json_string(to_down_name(c, c->links[i].a, name)),
			"b", json_string(to_down_name(c, c->links[i].b, name))));
	}
	for (uint32_t s = 0; s < c->n_servers; s++)
		for (uint32_t q = 0; q < c->servers[s].n_ports; q++)
			if (verify_takes_nic(c, &v->down, s, q))
				json_array_append_new(nics, json_string(to_down_name(
					c, (struct to_port_ref){ s, q }, name)));
	if (f->comm_time > 0)
		busiest = json_string(to_down_name(c, f->busiest, name));
	json_object_update_new(object, json_pack(
		"{s:o s:o s:o s:I s:I s:o s:f s:f s:f s:o s:f}",
		"down", down, "dark", dark, "rdma_ports", nics, "pairs", (json_int_t)f->pairs,
		"looping", (json_int_t)f->looping, "unprotected",
		verify_unprotected_json(plan, f->unprotected, f->n_unprotected),
		"mp_max_load_bytes", f->max_mp_link_load, "max_link_load_bytes", f->max_link_load,
		"comm_time_s", f->comm_time, "busiest_port", busiest,
		"left_out_bytes", f->left_out));
	return object;
}

/* @v: NULL when nothing was said to be down */
static void verify_print_json(const struct to_plan *plan, const struct to_verify_report *r,
			      const struct verify_lines *lines, const struct verify_cycles *cycles,
			      const struct verify_down *v)
{
	json_t *object = to_predict_json(plan, &r->figures), *failures = verify_cases_json(&r->links);

	json_object_set_new(failures, "unprotected",
			    verify_unprotected_json(plan, r->unprotected, r->n_unprotected));
	json_object_set_new(failures, "servers", verify_cases_json(&r->servers));
	if (plan->cluster->n_packet_switches) {
		json_object_set_new(failures, "packet_switches", verify_cases_json(&r->switches));
		json_object_set_new(failures, "ports", verify_cases_json(&r->ports));
	}
	json_object_update_new(object, json_pack(
		"{s:b s:s s:I s:O s:I s:I s:o}",
		"valid", !r->violations, "verdict", to_verify_verdict(r),
		"violation_count", (json_int_t)r->violations, "violations", lines->array,
		"addresses", (json_int_t)r->addresses,
		"unreachable", (json_int_t)r->unreachable, "failures", failures));
	if (!r->violations)
		json_object_set_new(object, "buffer_cycles", json_pack(
			"{s:o s:o}", "routes", verify_cycle_json(plan, &cycles->routes),
			"job", verify_cycle_json(plan, &cycles->job)));
	if (v)
		json_object_set_new(object, "down", verify_down_json(plan, v));
	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(object);
}

static void verify_print_cases(const char *what, const struct to_failure_cases *c)
{
	printf("  any one %s down: %" PRIu64 " of %" PRIu64 " cases covered", what, c->covered,
	       c->covered + c->uncovered);
	if (c->uncovered)
		printf(", %" PRIu64 " NOT", c->uncovered);
	if (c->last_hops)
		printf("; in %" PRIu64 " more the address is of a port that goes dark, as does its RDMA NIC",
		       c->last_hops);
	if (c->disconnected)
		printf("; in %" PRIu64 " more no path is left", c->disconnected);
	putchar('\n');
}

static void verify_print_unprotected(const struct to_plan *plan, const struct to_unprotected *list,
				     unsigned int n, uint64_t all)
{
	char text[VERIFY_CASE_TEXT];
	unsigned int i;

	for (i = 0; i < n && i < VERIFY_CASES; i++)
		printf("    %s\n", verify_case(plan, &list[i], text));
	if (all > i)
		printf("    and %" PRIu64 " more\n", all - i);
}

static void verify_print(const struct to_plan *plan, const struct to_verify_report *r,
			 const struct verify_lines *lines, const struct verify_cycles *cycles)
{
	if (r->violations > VERIFY_LINES)
		fprintf(stderr, "toctl verify: %s: and %lu more\n", lines->file,
			r->violations - VERIFY_LINES);
	if (!r->figures.servers)
		return;		/* the links are no graph */
	to_figures_print(stdout, plan, &r->figures);
	printf("  %" PRIu64 " addresses from %u servers: %s\n", r->addresses, r->figures.servers,
	       r->violations ? "NOT VALID" : plan->no_buffer_cycles ? "no loop" : "all reached, no loop");
	if (r->unreachable)
		printf("  for %" PRIu64 " pairs of a server and a port, no %s\n", r->unreachable,
		       plan->no_buffer_cycles ? "route: it would close a buffer cycle, or there is no path" :
						"path enters through the port");
	verify_print_cases("link", &r->links);
	verify_print_cases("server", &r->servers);
	if (plan->cluster->n_packet_switches) {
		verify_print_cases("packet switch", &r->switches);
		verify_print_cases("port on a packet switch", &r->ports);
		printf("    which its own server alone sees: what others send there is lost until they have another plan\n");
	}
	if (!r->violations)
		verify_print_cycles(plan, cycles);
	if (!r->links.uncovered && !r->switches.uncovered)
		return;
	printf("  NOT PROTECTED against every single link%s:\n",
	       plan->cluster->n_packet_switches ? " and packet switch" : "");
	verify_print_unprotected(plan, r->unprotected, r->n_unprotected,
				 r->links.uncovered + r->switches.uncovered);
}

/* A queue pair uses its own port, so no table helps the RDMA NIC of a dark one. */
static void verify_print_nics(const struct to_cluster *c, const struct to_down *down)
{
	char name[TO_DOWN_NAME_MAX];
	unsigned int n = 0;

	for (uint32_t s = 0; s < c->n_servers; s++)
		for (uint32_t q = 0; q < c->servers[s].n_ports; q++)
			if (verify_takes_nic(c, down, s, q))
				printf("%s %s", n++ ? "" : "  RDMA NICs that go dark with it:",
				       to_down_name(c, (struct to_port_ref){ s, q }, name));
	if (n)
		printf("\n    restart jobs without these: NCCL_IB_HCA, UCX_NET_DEVICES, as toctl doctor prints them\n");
}

static void verify_print_pairs(uint64_t n, const char *which)
{
	if (n)
		printf("  %10" PRIu64 " %s\n", n, which);
}

static void verify_print_down(const struct to_plan *plan, const struct to_figures *before,
			      const struct verify_down *v)
{
	const struct to_verify_down *f = &v->found;
	const struct to_failure_cases *k = &f->cases;
	const struct to_cluster *c = plan->cluster;
	char name[TO_DOWN_NAME_MAX], link[VERIFY_LINK_TEXT], was[16], then[16];

	printf("\nwith");
	for (unsigned int i = 0; i < v->down.n; i++)
		printf("%s%s", i ? ", " : " ", to_down_name(c, v->down.list[i], name));
	printf(" down:\n");
	for (unsigned int i = 0; i < c->n_links; i++)
		if (v->down.links[i] && !verify_on(c, c->links[i].a))
			printf("  dark: %s\n", verify_link(c, &c->links[i], link));
	for (unsigned int i = 0; c->n_packet_switches && i < v->down.n; i++) {
		const struct to_packet_switch *on = verify_on(c, v->down.list[i]);

		if (on)
			printf("  dark: %s on %s\n", to_down_name(c, v->down.list[i], name), on->name);
	}
	printf("  of %" PRIu64 " pairs of a server and another's address:\n", f->pairs);
	verify_print_pairs(f->pairs - k->cases, "whose packets do not meet it");
	verify_print_pairs(k->covered, "that the kernel leads around it");
	verify_print_pairs(k->last_hops, "cut off: the address is of a port that is dark");
	verify_print_pairs(k->disconnected, "cut off: no path is left");
	verify_print_pairs(k->uncovered, "that can LOSE packets, though a path is left");
	verify_print_unprotected(plan, f->unprotected, f->n_unprotected, k->uncovered);
	if (f->looping)
		printf("    packets of %" PRIu64 " of the pairs that lose them go round until their TTL ends\n",
		       f->looping);
	verify_print_nics(c, &v->down);
	printf("  %-18s %12s %12s\n", "", "before", "then");
	printf("  %-18s %12s %12s\n", "max MP link load",
	       to_bytes_text(before->max_mp_link_load, was),
	       to_bytes_text(f->max_mp_link_load, then));
	printf("  %-18s %12s %12s\n", "max link load", to_bytes_text(before->max_link_load, was),
	       to_bytes_text(f->max_link_load, then));
	printf("  %-18s %12s %12s\n", "communication time",
	       to_seconds_text(before->comm_time, was), to_seconds_text(f->comm_time, then));
	if (f->comm_time > 0)
		printf("  busiest then: what %s %s\n", to_down_name(c, f->busiest, name),
		       f->receives ? "receives" : "sends");
	if (f->left_out > 0)
		printf("  without %s of the demand, which cannot be sent\n",
		       to_bytes_text(f->left_out, then));
}

/* Return: 0, @v is to be freed then; or a negative errno. */
static int verify_find_down(struct to_call *call, const struct to_plan *plan,
			    const struct to_words *words, struct verify_down *v)
{
	int ret = to_down_init(&v->down, plan->cluster);

	if (ret)
		to_error_set(&call->err, ret, "out of memory");
	for (unsigned int i = 0; !ret && i < words->n; i++) {
		struct to_error why = { "" };

		ret = to_down_parse(&v->down, plan->cluster, words->list[i], &why);
		if (ret)
			to_error_set(&call->err, ret, "%s: %.400s", call->operands[0], why.text);
	}
	if (ret)
		to_down_free(&v->down);
	return ret;
}

static int verify_check(struct to_call *call, const struct to_plan *plan, struct verify_down *v)
{
	struct verify_lines lines = {
		.file = call->operands[0], .json = call->json, .array = json_array(),
	};
	struct verify_cycles cycles = {};
	struct to_verify_report report;
	int ret = to_verify_progress(plan, verify_line, verify_progress, &lines, &report);

	to_progress_end(&lines.progress);
	if (report.violations)
		v = NULL;	/* nobody should apply it, so there is no telling */
	if (!ret && !report.violations)
		ret = verify_find_cycles(plan, &cycles);
	if (!ret && v)
		ret = to_verify_down(plan, &v->down, &v->found);
	if (ret)
		to_error_set(&call->err, ret, "out of memory");
	else if (call->json)
		verify_print_json(plan, &report, &lines, &cycles, v);
	else
		verify_print(plan, &report, &lines, &cycles);
	if (!ret && v && !call->json)
		verify_print_down(plan, &report.figures, v);
	json_decref(lines.array);
	verify_free_cycles(&cycles);
	return !ret && report.violations ? TO_EXIT_FAILURE : ret;
}

static int verify_run(struct to_call *call, const void *data)
{
	const struct verify_args *args = data;
	struct verify_down v;
	struct to_plan *plan;
	int ret;

	plan = to_plan_load_shared(call->operands[0], &call->err);
	if (!plan)
		return -EINVAL;
	ret = args->down.n ? verify_find_down(call, plan, &args->down, &v) : 0;
	if (!ret) {
		ret = verify_check(call, plan, args->down.n ? &v : NULL);
		if (args->down.n)
			to_down_free(&v.down);
	}
	to_plan_free(plan);
	return ret;
}

static const struct to_option verify_options[] = {
	{ "down", 0, TO_OPTION_WORDS, offsetof(struct verify_args, down),
	  .argument = "SERVER[:PORT]",
	  .help = "also what happens while a server, a port or a packet switch is down; may be given "
		  "more than once, for failures at once" },
	{}
};

const struct to_command to_cmd_verify = {
	.name = "verify",
	.summary = "Verify a plan before applying it",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = verify_options,
	.args_size = sizeof(struct verify_args),
	.run = verify_run,
};
