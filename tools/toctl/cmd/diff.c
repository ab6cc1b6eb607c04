// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "cli/command.h"
#include "data/cross_connects.h"
#include "figures.h"
#include "format/plan_diff.h"
#include "format/plan_json.h"
#include "moves.h"

/* Over 200 lines: it prints links, moves, routes and figures, also as JSON. */

/* Two plans and their differences. */
struct diff {
	struct to_plan *from, *to;
	struct to_plan_diff found;
	struct to_figures before, after;
	bool comparable;		/* both have the same optical switches */
	unsigned int n_cut, n_made;	/* entries of @cut and @made */
	struct to_cross_connect *cut, *made;	/* cross-connects that go and that come */
};

static void diff_print_links(char sign, const struct to_plan *plan, const struct to_link *links,
			     unsigned int n)
{
	const struct to_server *s = plan->cluster->servers;

	for (unsigned int i = 0; i < n; i++)
		printf("%c %s:%s %s %s:%s\n", sign, s[links[i].a.server].name,
		       s[links[i].a.server].ports[links[i].a.port].name,
		       plan->cluster->link_mode == TO_LINKS_DUPLEX ? "--" : "->",
		       s[links[i].b.server].name, s[links[i].b.server].ports[links[i].b.port].name);
}

static const char *diff_server_name(const struct diff *d, const struct to_plan_diff_server *s)
{
	return s->from >= 0 ? d->from->cluster->servers[s->from].name :
			      d->to->cluster->servers[s->to].name;
}

static const char *diff_server_note(const struct to_plan_diff_server *s)
{
	if (s->from < 0)
		return "  new server";
	if (s->to < 0)
		return "  gone";
	return s->settings ? "  other addresses, ports or PCIe links" : "";
}

static void diff_print_servers(const struct diff *d)
{
	const struct to_plan_diff *found = &d->found;

	if (!found->n_servers) {
		printf("routes: none differ\n");
		return;
	}
	printf("routes:\n  %-20s %8s %8s %8s %8s\n", "server", "added", "removed", "changed",
	       "sources");
	for (unsigned int i = 0; i < found->n_servers; i++) {
		const struct to_plan_diff_server *s = &found->servers[i];

		printf("  %-20s %8u %8u %8u %8u%s\n", diff_server_name(d, s), s->added, s->removed,
		       s->changed, s->pairs, diff_server_note(s));
	}
}

static void diff_print_moves(const struct diff *d)
{
	if (!d->comparable) {
		printf("cross-connects: on other optical switches\n");
		return;
	}
	to_moves_print(stdout, d->from->cluster, "cut", d->cut, d->n_cut);
	to_moves_print(stdout, d->from->cluster, "make", d->made, d->n_made);
}

static void diff_print(const struct diff *d)
{
	const struct to_plan_diff *found = &d->found;

	printf("links: %u cut, %u made\n", found->n_cut, found->n_made);
	diff_print_links('-', d->from, found->cut, found->n_cut);
	diff_print_links('+', d->to, found->made, found->n_made);
	diff_print_moves(d);
	diff_print_servers(d);
	printf("figures:\n");
	to_figures_compare(stdout, &d->before, &d->after);
	printf("differ in plan.json:");
	for (unsigned int i = 0; i < found->n_members; i++)
		printf("%s %s", i ? "," : "", found->members[i]);
	printf("\n");
}

static json_t *diff_links_json(const struct to_plan *plan, const struct to_link *links,
			       unsigned int n)
{
	const struct to_server *s = plan->cluster->servers;
	json_t *array = json_array();

	for (unsigned int i = 0; i < n; i++) {
		json_t *a = json_sprintf("%s:%s", s[links[i].a.server].name,
					 s[links[i].a.server].ports[links[i].a.port].name);
		json_t *b = json_sprintf("%s:%s", s[links[i].b.server].name,
					 s[links[i].b.server].ports[links[i].b.port].name);

		json_array_append_new(array, json_pack("{s:o, s:o}", "a", a, "b", b));
	}
	return array;
}

static json_t *diff_servers_json(const struct diff *d)
{
	static const char *const states[] = { "both", "new", "gone" };
	json_t *array = json_array();

	for (unsigned int i = 0; i < d->found.n_servers; i++) {
		const struct to_plan_diff_server *s = &d->found.servers[i];

		json_array_append_new(array, json_pack("{s:s, s:s, s:b, s:i, s:i, s:i, s:i}",
			"server", diff_server_name(d, s),
			"in", states[s->from < 0 ? 1 : s->to < 0 ? 2 : 0], "settings", s->settings,
			"added", s->added, "removed", s->removed, "changed", s->changed,
			"sources", s->pairs));
	}
	return array;
}

static int diff_print_json(const struct diff *d)
{
	const struct to_plan_diff *found = &d->found;
	json_t *members = json_array(), *moves = json_null(), *object;
	int ret;

	for (unsigned int i = 0; i < found->n_members; i++)
		json_array_append_new(members, json_string(found->members[i]));
	if (d->comparable)
		moves = json_pack("{s:o, s:o}",
			"cut", to_moves_json(d->from->cluster, d->cut, d->n_cut),
			"made", to_moves_json(d->from->cluster, d->made, d->n_made));
	object = json_pack("{s:b, s:o, s:{s:o, s:o}, s:o, s:o, s:{s:o, s:o}}",
		"same", found->same, "members", members, "links",
		"cut", diff_links_json(d->from, found->cut, found->n_cut),
		"made", diff_links_json(d->to, found->made, found->n_made),
		"cross_connects", moves, "servers", diff_servers_json(d),
		"figures", "before", to_predict_json(d->from, &d->before),
		"after", to_predict_json(d->to, &d->after));
	ret = object && !to_json_write(object, stdout, JSON_INDENT(2)) ? 0 : -ENOMEM;
	putchar('\n');
	json_decref(object);
	return ret;
}

static int diff_make(struct to_call *call, struct diff *d)
{
	int ret = to_plan_diff(d->from, d->to, &d->found, &call->err);

	if (ret)
		return ret;
	ret = to_predict_plan_routes(d->from, &d->before);
	ret = ret ? ret : to_predict_plan_routes(d->to, &d->after);
	d->comparable = to_plan_diff_switches(d->from, d->to);
	if (!ret && d->comparable)
		ret = to_cross_connects_diff(d->from, d->to, &d->cut, &d->n_cut, &d->made,
					     &d->n_made);
	return ret ? to_error_set(&call->err, ret, "out of memory") : 0;
}

static int diff_plans(struct to_call *call, struct diff *d)
{
	d->from = to_plan_load_shared(call->operands[0], &call->err);
	if (d->from)
		d->to = to_plan_load_shared(call->operands[1], &call->err);
	if (!d->to || diff_make(call, d))
		return TO_EXIT_UNKNOWN;
	if (call->json && diff_print_json(d)) {
		to_error_set(&call->err, -ENOMEM, "out of memory");
		return TO_EXIT_UNKNOWN;
	}
	if (!call->json && !d->found.same)
		diff_print(d);
	return d->found.same ? TO_EXIT_OK : TO_EXIT_FAILURE;
}

static int diff_run(struct to_call *call, const void *data)
{
	struct diff d = {};
	int ret = diff_plans(call, &d);

	(void)data;
	to_plan_diff_free(&d.found);
	free(d.cut);
	free(d.made);
	to_plan_free(d.from);
	to_plan_free(d.to);
	return ret;
}

const struct to_command to_cmd_diff = {
	.name = "diff",
	.summary = "Compare two plans",
	.operands = "PLAN PLAN",
	.min_operands = 2,
	.max_operands = 2,
	.run = diff_run,
};
