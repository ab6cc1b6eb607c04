// SPDX-License-Identifier: GPL-2.0-or-later
/* plan.json, streamed: tables are far larger as JSON values than as text. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/set.h"
#include "data/down.h"
#include "data/plan.h"
#include "format/cluster_json.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "format/plan_lock.h"

const char *const to_plan_link_uses[] = {
	[TO_LINK_FIXED] = "fixed",
	[TO_LINK_ALLREDUCE] = "allreduce",
	[TO_LINK_MP] = "mp",
	[TO_LINK_REPAIR] = "repair",
	NULL
};

static void plan_print_port_ref(FILE *out, const struct to_cluster *c,
				struct to_port_ref ref)
{
	char text[TO_NAME_MAX + IFNAMSIZ];

	snprintf(text, sizeof(text), "%s:%s", c->servers[ref.server].name,
		 c->servers[ref.server].ports[ref.port].name);
	to_json_print_string(out, text);
}

static void plan_print_links(FILE *out, const struct to_cluster *c)
{
	fprintf(out, "\"links\":[");
	for (unsigned int i = 0; i < c->n_links; i++) {
		const struct to_link *link = &c->links[i];

		fprintf(out, "%s\n {\"a\":", i ? "," : "");
		plan_print_port_ref(out, c, link->a);
		fprintf(out, ",\"b\":");
		plan_print_port_ref(out, c, link->b);
		fprintf(out, ",\"use\":\"%s\"", to_plan_link_uses[link->use]);
		if (link->ring >= 0)
			fprintf(out, ",\"ring\":%d", link->ring);
		if (link->tree >= 0)
			fprintf(out, ",\"tree\":%d", link->tree);
		fprintf(out, "}");
	}
	fprintf(out, "],\n");
}

void to_plan_print_dark(FILE *out, const struct to_plan *plan)
{
	fprintf(out, "[");
	for (unsigned int i = 0; i < plan->n_dark; i++) {
		fprintf(out, "%s\n {\"a\":", i ? "," : "");
		plan_print_port_ref(out, plan->cluster, plan->dark[i].a);
		fprintf(out, ",\"b\":");
		plan_print_port_ref(out, plan->cluster, plan->dark[i].b);
		fprintf(out, "}");
	}
	fprintf(out, "]");
}

/* What a repaired plan does without. */
static void plan_print_down(FILE *out, const struct to_plan *plan)
{
	char text[TO_DOWN_NAME_MAX];

	fprintf(out, "\"down\":[");
	for (unsigned int i = 0; i < plan->n_down; i++) {
		fprintf(out, i ? "," : "");
		to_json_print_string(out, to_down_name(plan->cluster, plan->down[i], text));
	}
	fprintf(out, "],\n\"dark\":");
	to_plan_print_dark(out, plan);
	fprintf(out, ",\n");
}

static void plan_print_rings(FILE *out, const struct to_plan *plan)
{
	fprintf(out, "\"rings\":[");
	for (unsigned int i = 0; i < plan->n_rings; i++) {
		const struct to_ring *ring = &plan->rings[i];

		fprintf(out, "%s\n {\"group\":%u,\"jump\":%u,\"reverse\":%s,\"order\":\"",
			i ? "," : "", ring->group, ring->jump,
			ring->reverse ? "true" : "false");
		/* Each by its number: whoever reads an order wants no ranges. */
		for (unsigned int k = 0; k < ring->n; k++)
			fprintf(out, k ? ",%u" : "%u", ring->order[k]);
		fprintf(out, "\"}");
	}
	fprintf(out, "],\n");
}

static void plan_print_trees(FILE *out, const struct to_plan *plan)
{
	fprintf(out, "\"trees\":[");
	for (unsigned int i = 0; i < plan->n_trees; i++) {
		const struct to_allreduce_tree *tree = &plan->trees[i];

		fprintf(out, "%s\n {\"group\":%u,\"share\":%.17g,\"parents\":[", i ? "," : "",
			tree->group, tree->share);
		for (unsigned int k = 0; k < tree->n; k++) {
			fprintf(out, k ? "," : "");
			if (tree->parents[k] == TO_SERVER_NONE)
				fprintf(out, "null");
			else
				fprintf(out, "%u", tree->parents[k]);
		}
		fprintf(out, "]}");
	}
	fprintf(out, "],\n");
}

static void plan_print_cross_connects(FILE *out, const struct to_plan *plan)
{
	fprintf(out, "\"cross_connects\":[");
	for (unsigned int i = 0; i < plan->n_cross_connects; i++) {
		const struct to_cross_connect *x = &plan->cross_connects[i];

		fprintf(out, "%s\n {\"optical_switch\":\"%s\",\"a\":%u,\"b\":%u}",
			i ? "," : "",
			plan->cluster->switches[x->optical_switch].name, x->a, x->b);
	}
	fprintf(out, "],\n");
}

static void plan_print_candidates(FILE *out, const struct to_plan *plan)
{
	fprintf(out, "\"candidates\":[");
	for (unsigned int i = 0; i < plan->n_candidates; i++) {
		const struct to_candidate *c = &plan->candidates[i];

		fprintf(out, "%s\n {\"family\":", i ? "," : "");
		to_json_print_string(out, c->family);
		fprintf(out, ",\"ports\":%u,\"estimated_time_s\":%.9g", c->ports,
			c->estimated_time);
		if (c->comm_time > 0)
			fprintf(out, ",\"comm_time_s\":%.9g", c->comm_time);
		fprintf(out, "%s}", c->chosen ? ",\"chosen\":true" : "");
	}
	fprintf(out, "],\n");
}

/* One line per pair that has them. */
static void plan_print_port_shares(FILE *out, const struct to_plan *plan)
{
	unsigned int n = plan->cluster->n_servers, ports = plan->slots - 1, q;
	const char *before = "";

	fprintf(out, "\"port_shares\":[");
	for (size_t pair = 0; pair < (size_t)n * n; pair++) {
		const uint16_t *share = &plan->port_shares[pair * ports];
		unsigned int dst = pair % n, last = plan->cluster->servers[dst].n_ports;

		for (q = 0; q < last && !share[q]; q++)
			;
		if (q == last)
			continue;
		fprintf(out, "%s\n {\"src\":%zu,\"dst\":%u,\"shares\":[", before, pair / n, dst);
		for (q = 0; q < last; q++)
			fprintf(out, "%s%u", q ? "," : "", share[q]);
		fprintf(out, "]}");
		before = ",";
	}
	fprintf(out, "],\n");
}

static void plan_print_group(FILE *out, const struct to_cluster *c, const struct to_server *server,
			     const struct to_group *group)
{
	fprintf(out, "[");
	for (unsigned int i = 0; i < group->n; i++) {
		const struct to_nexthop *hop = &group->nexthops[i];

		fprintf(out, "%s{\"port\":", i ? "," : "");
		to_json_print_string(out, server->ports[hop->port].name);
		if (server->ports[hop->port].packet_switch) {
			fprintf(out, ",\"peer\":");
			to_json_print_string(out, c->servers[hop->peer].name);
		}
		if (hop->weight != 1)
			fprintf(out, ",\"weight\":%u", hop->weight);
		if (hop->backup)
			fprintf(out, ",\"backup\":true");
		if (hop->ingress) {
			fprintf(out, ",\"ingress\":");
			to_json_print_string(out, server->ports[hop->ingress - 1].name);
		}
		fprintf(out, "}");
	}
	fprintf(out, "]");
}

/*
 * Destinations of one group and one source, by slot: @members holds those of
 * slot s from @start[s] to @start[s + 1].
 */
static void plan_print_destinations(FILE *out, unsigned int slots,
				    const uint32_t *members, const size_t *start)
{
	unsigned int last = slots;

	while (last > 1 && start[last] == start[last - 1])
		last--;
	if (start[1] != start[0]) {
		fprintf(out, ",\"nodes\":\"");
		to_set_print(out, members + start[0], start[1] - start[0]);
		fprintf(out, "\"");
	}
	if (last > 1) {
		fprintf(out, ",\"ports\":[");
		for (unsigned int s = 1; s < last; s++) {
			fprintf(out, "%s\"", s > 1 ? "," : "");
			to_set_print(out, members + start[s], start[s + 1] - start[s]);
			fprintf(out, "\"");
		}
		fprintf(out, "]");
	}
	fprintf(out, "}");
}

/* Buffers for one table at a time: every destination sorted by group and slot. */
struct scratch {
	size_t n_routes;
	uint32_t *members;
	size_t *start, n_start;
};

static int plan_sort_routes(struct scratch *s, const struct to_table *t,
			    unsigned int slots)
{
	size_t cells = (size_t)t->n_groups * slots;
	size_t sum = 0, *more;

	if (cells + 1 > s->n_start) {
		more = reallocarray(s->start, cells + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->start = more;
		s->n_start = cells + 1;
	}
	memset(s->start, 0, (cells + 1) * sizeof(*s->start));
	for (size_t r = 0; r < s->n_routes; r++)
		if (t->route[r] != TO_GROUP_NONE)
			s->start[(size_t)t->route[r] * slots + r % slots]++;
	for (size_t i = 0; i <= cells; i++) {
		sum += s->start[i];
		s->start[i] = sum;
	}
	/* Backwards, so that in the end start[] is where each cell begins. */
	for (size_t r = s->n_routes; r-- > 0;)
		if (t->route[r] != TO_GROUP_NONE)
			s->members[--s->start[(size_t)t->route[r] * slots +
					      r % slots]] = r / slots;
	return 0;
}

static int plan_print_routes(FILE *out, struct scratch *s, const struct to_table *t,
			     unsigned int slots)
{
	bool first = true;

	if (plan_sort_routes(s, t, slots))
		return -ENOMEM;
	fprintf(out, "  \"routes\":[");
	for (unsigned int g = 0; g < t->n_groups; g++) {
		const size_t *start = s->start + (size_t)g * slots;

		if (start[0] == start[slots])
			continue;
		fprintf(out, "%s\n   {\"group\":%u", first ? "" : ",", g);
		plan_print_destinations(out, slots, s->members, start);
		first = false;
	}
	fprintf(out, "],\n");
	return 0;
}

/* By group and source, then as the text lists destinations. */
static int plan_pair_text_compare(const void *a, const void *b)
{
	const struct to_source_route *x = a, *y = b;

	if (x->group != y->group)
		return x->group - y->group;
	if (x->src != y->src)
		return x->src > y->src ? 1 : -1;
	if (x->slot != y->slot)
		return x->slot - y->slot;
	return (x->dst > y->dst) - (x->dst < y->dst);
}

static void plan_print_pair_run(FILE *out, const struct to_source_route *pairs,
				unsigned int n, unsigned int slots, uint32_t *members)
{
	size_t start[TO_PORTS_MAX + 2];
	unsigned int i = 0;

	for (unsigned int s = 0; s <= slots; s++) {
		start[s] = i;
		for (; i < n && pairs[i].slot == s; i++)
			members[i] = pairs[i].dst;
	}
	fprintf(out, "\n   {\"group\":%u,\"from\":\"%u\"", pairs->group, pairs->src);
	plan_print_destinations(out, slots, members, start);
}

static int plan_print_pairs(FILE *out, struct scratch *s, const struct to_table *t,
			    unsigned int slots)
{
	struct to_source_route *pairs;
	unsigned int i, n;

	fprintf(out, "  \"pairs\":[");
	pairs = calloc(t->n_pairs ? t->n_pairs : 1, sizeof(*pairs));
	if (!pairs)
		return -ENOMEM;
	if (t->n_pairs) {
		memcpy(pairs, t->pairs, t->n_pairs * sizeof(*pairs));
		qsort(pairs, t->n_pairs, sizeof(*pairs), plan_pair_text_compare);
	}
	for (i = 0; i < t->n_pairs; i += n) {
		for (n = 1; i + n < t->n_pairs && pairs[i + n].group == pairs[i].group &&
		     pairs[i + n].src == pairs[i].src; n++)
			;
		fprintf(out, i ? "," : "");
		plan_print_pair_run(out, pairs + i, n, slots, s->members);
	}
	fprintf(out, "]}");
	free(pairs);
	return 0;
}

static int plan_print_table(FILE *out, const struct to_plan *plan, unsigned int server,
			    struct scratch *s)
{
	const struct to_server *self = &plan->cluster->servers[server];
	const struct to_table *t = &plan->tables[server];
	int ret;

	fprintf(out, "{\"server\":\"%s\",\n  \"groups\":[", self->name);
	for (unsigned int g = 0; g < t->n_groups; g++) {
		fprintf(out, "%s\n   ", g ? "," : "");
		plan_print_group(out, plan->cluster, self, &t->groups[g]);
	}
	fprintf(out, "],\n");
	ret = plan_print_routes(out, s, t, plan->slots);
	return ret ? ret : plan_print_pairs(out, s, t, plan->slots);
}

static int plan_scratch_init(struct scratch *s, const struct to_plan *plan)
{
	*s = (struct scratch){ .n_routes = (size_t)plan->cluster->n_servers * plan->slots };
	s->members = calloc(s->n_routes, sizeof(*s->members));
	return s->members ? 0 : -ENOMEM;
}

static void plan_scratch_free(struct scratch *s)
{
	free(s->members);
	free(s->start);
}

int to_plan_print_table(FILE *out, const struct to_plan *plan, unsigned int server)
{
	struct scratch s;
	int ret = plan_scratch_init(&s, plan);

	ret = ret ? ret : plan_print_table(out, plan, server, &s);
	plan_scratch_free(&s);
	return ret;
}

static int plan_print_tables(FILE *out, const struct to_plan *plan)
{
	struct scratch s;
	int ret = plan_scratch_init(&s, plan);

	fprintf(out, "\"tables\":[");
	for (unsigned int i = 0; i < plan->cluster->n_servers && !ret; i++) {
		fprintf(out, "%s\n ", i ? "," : "");
		ret = plan_print_table(out, plan, i, &s);
	}
	fprintf(out, "],\n");
	plan_scratch_free(&s);
	return ret;
}

int to_plan_print(const struct to_plan *plan, FILE *out, struct to_error *err)
{
	if (plan->seed > INT64_MAX)
		return to_error_set(err, -ERANGE,
				    "seed %llu: JSON holds numbers to 2^63 - 1",
				    (unsigned long long)plan->seed);
	fprintf(out, "{\"format\":\"topoopt-plan\",\n\"version\":1,\n\"job\":");
	to_json_print_string(out, plan->demand->name);
	fprintf(out, ",\n\"seed\":%llu,\n", (unsigned long long)plan->seed);
	if (plan->max_stretch)
		fprintf(out, "\"max_stretch\":%.17g,\n", plan->max_stretch);
	if (plan->no_buffer_cycles)
		fprintf(out, "\"no_buffer_cycles\":true,\n");
	if (plan->latency.step || plan->latency.relay)
		fprintf(out, "\"step_latency_s\":%.17g,\n\"relay_latency_s\":%.17g,\n",
			plan->latency.step, plan->latency.relay);
	if (plan->collective != TO_COLLECTIVE_PLAN)
		fprintf(out, "\"collective\":\"%s\",\n", to_collective_algorithms[plan->collective]);
	to_cluster_print(out, plan->cluster);
	fprintf(out, ",\n");
	plan_print_links(out, plan->cluster);
	if (plan->n_down || plan->n_dark)
		plan_print_down(out, plan);
	plan_print_rings(out, plan);
	if (plan->n_trees)
		plan_print_trees(out, plan);
	plan_print_cross_connects(out, plan);
	fprintf(out, "\"demand\":");
	if (to_demand_print(out, plan->demand))
		return to_error_set(err, -ENOMEM, "out of memory");
	fprintf(out, ",\n");
	if (plan_print_tables(out, plan))
		return to_error_set(err, -ENOMEM, "out of memory");
	if (plan->port_shares)
		plan_print_port_shares(out, plan);
	if (plan->n_candidates)
		plan_print_candidates(out, plan);
	fprintf(out, "\"predictions\":");
	if (!plan->predictions)
		fprintf(out, "{}");
	else if (json_dumpf(plan->predictions, out,
			    JSON_SORT_KEYS | JSON_INDENT(1) | JSON_ENSURE_ASCII))
		return to_error_set(err, -EINVAL, "the predictions are no JSON");
	fprintf(out, "}\n");
	return 0;
}

static int plan_write(FILE *out, const void *plan, struct to_error *err)
{
	return to_plan_print(plan, out, err);
}

int to_plan_save(const struct to_plan *plan, const char *path,
		 struct to_error *err)
{
	int ret = to_plan_lock_check(path, err);

	return ret ? ret : to_file_write(path, plan_write, plan, err);
}
