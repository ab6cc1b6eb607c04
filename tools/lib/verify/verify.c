// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "verify/verify.h"
#include "verify/verify_links.h"

#define VERIFY_NAMES 12		/* servers named of a loop */

struct verify {
	const struct to_plan *plan;
	const struct to_graph *graph;
	const struct to_verify_out *out;
	struct to_forwarding f;
	uint32_t *ingress;	/* arc into port q of server v, [v * ports + q] */
	uint32_t *stack, *seen, seen_mark, *met;
	uint16_t *distance;
	uint32_t *queue;
};

static const char *verify_name(const struct verify *v, uint32_t server)
{
	return v->plan->cluster->servers[server].name;
}

/* "s3" or "s3:eth1": the address that is resolved. */
static const char *verify_address(const struct verify *v, char *text, size_t size)
{
	const struct to_server *server = &v->plan->cluster->servers[v->f.dst];

	if (v->f.slot)
		snprintf(text, size, "%s:%s", server->name, server->ports[v->f.slot - 1].name);
	else
		snprintf(text, size, "%s", server->name);
	return text;
}

static void verify_groups(struct verify *v)
{
	unsigned int ports = v->plan->slots - 1, i, k;
	uint32_t x;

	for (x = 0; x < v->graph->n; x++) {
		const struct to_table *table = &v->plan->tables[x];

		for (i = 0; i < table->n_groups; i++) {
			const struct to_group *group = &table->groups[i];
			unsigned int live = 0;

			for (k = 0; k < group->n; k++) {
				const struct to_nexthop *hop = &group->nexthops[k];

				live += !hop->backup;
				if (hop->port >= v->plan->cluster->servers[x].n_ports)
					to_verify_say(v->out, "group %u of %s uses port %u, which does not exist",
						      i, verify_name(v, x), hop->port);
				else if (v->f.arc[(size_t)x * ports + hop->port] == UINT32_MAX)
					to_verify_say(v->out, "group %u of %s uses %s, which has no link to send on",
						      i, verify_name(v, x),
						      v->plan->cluster->servers[x].ports[hop->port].name);
				if (!hop->weight)
					to_verify_say(v->out, "group %u of %s has a next hop of weight 0",
						      i, verify_name(v, x));
			}
			if (!live)
				to_verify_say(v->out, "group %u of %s has nothing but backups", i,
					      verify_name(v, x));
		}
	}
}

/* A next hop of @x that is not marked; every server on a loop has one. */
static uint32_t verify_onward(const struct verify *v, uint32_t x)
{
	const struct to_graph *g = v->graph;
	uint64_t left = v->f.next[x];

	while (v->seen[g->to[g->out[x] + __builtin_ctzll(left)]] == v->seen_mark)
		left &= left - 1;
	return g->to[g->out[x] + __builtin_ctzll(left)];
}

/* Name the servers of a loop for the address that is resolved. */
static void verify_say_loop(struct verify *v, const char *source)
{
	char address[128], text[VERIFY_NAMES * (TO_NAME_MAX + 3) + 1] = "";
	unsigned int i, length = 0;
	uint32_t x, start;

	v->seen_mark++;
	for (i = 0; i < v->f.n_loop_free; i++)
		v->seen[v->f.order[i]] = v->seen_mark;
	for (x = 0; v->seen[x] == v->seen_mark; x++)
		;
	/* a path of n steps ends on a loop */
	for (i = 0; i < v->graph->n; i++)
		x = verify_onward(v, x);
	start = x;
	for (i = 0; i < VERIFY_NAMES && (!i || x != start); i++) {
		length += snprintf(text + length, sizeof(text) - length, "%s > ", verify_name(v, x));
		x = verify_onward(v, x);
	}
	to_verify_say(v->out, "packets%s for %s loop: %s%s", source,
		      verify_address(v, address, sizeof(address)), text,
		      x == start ? verify_name(v, start) : "...");
}

/* Every server whose packets cannot all arrive, except for want of a path. */
static void verify_arrival(struct verify *v)
{
	struct to_forwarding *f = &v->f;
	char address[128];
	bool physical = false;
	unsigned int i;

	if (f->n_reached == v->graph->n)
		return;
	for (i = f->n_reached; i < f->n_loop_free; i++) {
		uint32_t x = f->order[i];

		if (f->next[x])
			continue;	/* forwards to one that is named */
		if (f->slot && !physical) {
			size_t ports = v->plan->slots - 1;
			uint32_t in = v->ingress[f->dst * ports + f->slot - 1];

			to_graph_distances(v->graph, v->graph->from[in], f->dst, v->distance,
					   v->queue);
			physical = true;
		}
		if (f->slot && v->distance[x] == TO_DISTANCE_NONE)
			v->out->report->unreachable++;
		else
			to_verify_say(v->out, f->group[x] == UINT32_MAX ? "%s has no route to %s" :
				      "%s has only dark ports on its route to %s",
				      verify_name(v, x), verify_address(v, address, sizeof(address)));
	}
	if (f->n_loop_free < v->graph->n)
		verify_say_loop(v, "");
}

/* Packets for a port's own address must enter through it, backups included. */
static void verify_last_hops(struct verify *v)
{
	const struct to_graph *g = v->graph;
	const struct to_forwarding *f = &v->f;
	char address[128];
	uint32_t i;

	for (i = g->in[f->dst]; i < g->in[f->dst + 1]; i++) {
		uint32_t x = g->in_from[i], a = g->in_arc[i];
		uint64_t all = f->group[x] == UINT32_MAX ? 0 : f->next[x] | f->spare[f->group[x]];

		if (all >> (a - g->out[x]) & 1 && g->peer_port[a] != f->slot - 1)
			to_verify_say(v->out, "%s sends packets for %s into %s", verify_name(v, x),
				      verify_address(v, address, sizeof(address)),
				      v->plan->cluster->servers[f->dst].ports[g->peer_port[a]].name);
	}
}

/* A path from @from, which x uses as its backup, back to x. */
static bool verify_returns(struct verify *v, uint32_t from, uint32_t x)
{
	const struct to_graph *g = v->graph;
	const struct to_forwarding *f = &v->f;
	unsigned int depth = 0;
	uint64_t left;

	if (f->level[from] <= f->level[x])
		return false;
	v->seen_mark++;
	v->stack[depth++] = from;
	while (depth) {
		uint32_t y = v->stack[--depth];

		for (left = f->next[y]; left; left &= left - 1) {
			uint32_t z = g->to[g->out[y] + __builtin_ctzll(left)];

			if (z == x)
				return true;
			if (f->level[z] <= f->level[x] || v->seen[z] == v->seen_mark)
				continue;
			v->seen[z] = v->seen_mark;
			v->stack[depth++] = z;
		}
	}
	return false;
}

/*
 * Each link that x sends on fails by itself. Only x sees it for this address:
 * the other end would have to send back to x, which is a loop already.
 */
static void verify_failures(struct verify *v, uint32_t x)
{
	const struct to_graph *g = v->graph;
	const struct to_forwarding *f = &v->f;
	struct to_verify_report *report = v->out->report;
	uint32_t first = g->out[x];
	uint64_t left, spare;
	char address[128];

	for (left = f->next[x]; left; left &= left - 1) {
		uint64_t failed = left & -left;
		uint32_t arc = first + __builtin_ctzll(failed);
		bool lost = false;

		report->cases++;
		if (f->next[x] & ~failed) {
			report->covered++;
			continue;
		}
		spare = f->spare[f->group[x]] & ~failed;
		if (!spare) {
			if (f->slot && g->to[arc] == f->dst)
				report->last_hops++;
			else
				report->uncovered++;
			continue;
		}
		for (; spare; spare &= spare - 1) {
			uint32_t to = g->to[first + __builtin_ctzll(spare)];

			if (to == f->dst || (f->group[to] != UINT32_MAX && !verify_returns(v, to, x)))
				continue;
			lost = true;
			to_verify_say(v->out, "while link %s - %s is down, packets for %s %s: %s > %s%s",
				      verify_name(v, x), verify_name(v, g->to[arc]),
				      verify_address(v, address, sizeof(address)),
				      f->group[to] == UINT32_MAX ? "are lost" : "loop",
				      verify_name(v, x), verify_name(v, to),
				      f->group[to] == UINT32_MAX ? "" : " > ...");
		}
		report->covered += !lost;
	}
}

static void verify_resolved(struct verify *v)
{
	struct to_forwarding *f = &v->f;
	unsigned int i;

	verify_arrival(v);
	if (f->slot)
		verify_last_hops(v);
	for (i = 1; i < f->n_reached; i++)
		verify_failures(v, f->order[i]);
}

static void verify_own(struct verify *v, uint32_t x, unsigned int slot)
{
	const struct to_table *table = &v->plan->tables[x];

	if (table->route[(size_t)x * v->plan->slots + slot] != TO_GROUP_NONE)
		to_verify_say(v->out, "%s has a route to its own address %u", verify_name(v, x), slot);
}

/* Nobody can have a use for a route to a port without a link. */
static void verify_dark(struct verify *v, uint32_t dst, unsigned int slot)
{
	const struct to_server *server = &v->plan->cluster->servers[dst];
	size_t route = (size_t)dst * v->plan->slots + slot;
	uint32_t x;

	for (x = 0; x < v->graph->n; x++)
		if (v->plan->tables[x].route[route] != TO_GROUP_NONE) {
			to_verify_say(v->out, slot > server->n_ports ?
				      "%s has a route to port %u of %s, which does not exist" :
				      "%s has a route to port %u of %s, which has no link",
				      verify_name(v, x), slot - 1, server->name);
			return;
		}
}

static void verify_addresses(struct verify *v)
{
	unsigned int slots = v->plan->slots, slot;
	uint32_t dst;

	for (dst = 0; dst < v->graph->n; dst++) {
		for (slot = 0; slot < slots; slot++) {
			verify_own(v, dst, slot);
			if (slot &&
			    v->ingress[(size_t)dst * (slots - 1) + slot - 1] == UINT32_MAX) {
				verify_dark(v, dst, slot);
				continue;
			}
			to_forwarding_resolve(&v->f, dst, slot);
			v->out->report->addresses++;
			verify_resolved(v);
		}
	}
}

/* Source-qualified routes: the paths of their source, and failures on them. */
static void verify_qualified(struct verify *v)
{
	struct to_forwarding *f = &v->f;
	const struct to_graph *g = v->graph;
	unsigned int first, last, depth, ports = v->plan->slots - 1;
	char address[128], source[TO_NAME_MAX + 16];

	for (first = 0; first < f->n_qualified; first = last) {
		const struct to_qualified *q = &f->qualified[first];

		for (last = first; last < f->n_qualified && f->qualified[last].dst == q->dst &&
		     f->qualified[last].slot == q->slot && f->qualified[last].src == q->src; last++)
			if (f->qualified[last].server == q->dst)
				to_verify_say(v->out, "%s has a route to its own address for packets from %s",
					      verify_name(v, q->dst), verify_name(v, q->src));
		if (q->slot && v->ingress[(size_t)q->dst * ports + q->slot - 1] == UINT32_MAX) {
			to_verify_say(v->out, "%s has a route to port %u of %s, which has no link",
				      verify_name(v, q->server), q->slot - 1, verify_name(v, q->dst));
			continue;
		}
		to_forwarding_resolve(f, q->dst, q->slot);
		to_forwarding_qualify(f, first, last);
		snprintf(source, sizeof(source), " from %s", verify_name(v, q->src));
		if (f->n_loop_free < g->n) {
			verify_say_loop(v, source);
			continue;
		}
		if (f->n_reached < g->n && !q->slot) {
			to_verify_say(v->out, "not all packets%s for %s arrive", source,
				      verify_address(v, address, sizeof(address)));
			continue;
		}
		if (q->slot)
			verify_last_hops(v);
		/* the servers that these packets meet */
		memset(v->met, 0, g->n * sizeof(*v->met));
		v->queue[0] = q->src;
		v->met[q->src] = 1;
		for (depth = 1; depth;) {
			uint32_t x = v->queue[--depth];
			uint64_t left;

			if (x == q->dst)
				continue;
			verify_failures(v, x);
			for (left = f->next[x]; left; left &= left - 1) {
				uint32_t y = g->to[g->out[x] + __builtin_ctzll(left)];

				if (!v->met[y]) {
					v->met[y] = 1;
					v->queue[depth++] = y;
				}
			}
		}
	}
}

/* Shares of a pair are one whole, and lie on ports that its packets can enter. */
static void verify_port_shares(struct verify *v)
{
	const struct to_plan *plan = v->plan;
	size_t n = v->graph->n, ports = plan->slots - 1, src, dst, q;

	for (src = 0; plan->port_shares && src < n; src++) {
		for (dst = 0; dst < n; dst++) {
			const uint16_t *share = &plan->port_shares[(src * n + dst) * ports];
			const uint16_t *route = &plan->tables[src].route[dst * plan->slots];
			unsigned int sum = 0;

			for (q = 0; q < ports; q++) {
				sum += share[q];
				if (share[q] && route[1 + q] == TO_GROUP_NONE)
					to_verify_say(v->out, "%s has a share for port %zu of %s and no route to it",
						      verify_name(v, src), q, verify_name(v, dst));
			}
			if (sum && sum != TO_PORT_SHARES)
				to_verify_say(v->out, "port shares from %s to %s add up to %u, not %u",
					      verify_name(v, src), verify_name(v, dst), sum,
					      TO_PORT_SHARES);
			if (!sum && plan->demand->mp[src * n + dst] &&
			    plan->tables[src].route[dst * plan->slots] != TO_GROUP_NONE)
				to_verify_say(v->out, "the MP transfer from %s to %s has no port shares",
					      verify_name(v, src), verify_name(v, dst));
		}
	}
}

/* What the plan says about itself must be what it does. */
static int verify_predictions(const struct to_plan *plan, const struct to_verify_out *out)
{
	json_t *now = to_predict_json(&out->report->figures), *was, *is;
	const char *key;

	if (!now)
		return -ENOMEM;
	json_object_foreach(now, key, is) {
		was = json_object_get(plan->predictions, key);
		if (!was)
			continue;
		if (json_is_number(is) && json_is_number(was)) {
			double a = json_number_value(is), b = json_number_value(was);

			if (fabs(a - b) > 1e-6 * fmax(fabs(a), fabs(b)))
				to_verify_say(out, "predictions: %s is %.9g, the plan says %.9g", key, a, b);
		} else if (!json_equal(is, was)) {
			to_verify_say(out, "predictions: %s is not what the plan says", key);
		}
	}
	json_decref(now);
	return 0;
}

static int verify_tables(struct verify *v)
{
	size_t n = v->graph->n, ports = v->plan->slots - 1;
	uint32_t a;
	int ret = -ENOMEM;

	v->ingress = malloc(n * ports * sizeof(*v->ingress) + 1);
	v->stack = calloc(4 * n, sizeof(*v->stack));
	v->distance = calloc(n, sizeof(*v->distance));
	if (!v->ingress || !v->stack || !v->distance ||
	    to_forwarding_init(&v->f, v->plan, v->graph))
		goto out;
	v->seen = v->stack + n;
	v->met = v->seen + n;
	v->queue = v->met + n;
	memset(v->ingress, 0xff, n * ports * sizeof(*v->ingress));
	for (a = 0; a < v->graph->n_arcs; a++)
		v->ingress[v->graph->to[a] * ports + v->graph->peer_port[a]] = a;
	verify_groups(v);
	verify_addresses(v);
	verify_qualified(v);
	verify_port_shares(v);
	ret = to_predict_figures(&v->f, &v->out->report->figures);
	if (!ret)
		ret = verify_predictions(v->plan, v->out);
out:
	to_forwarding_free(&v->f);
	free(v->ingress);
	free(v->stack);
	free(v->distance);
	return ret;
}

int to_verify(const struct to_plan *plan, to_verify_line *line, void *data,
	      struct to_verify_report *report)
{
	const struct to_cluster *c = plan->cluster;
	struct to_verify_out out = { line, data, report };
	struct verify v = { .plan = plan, .out = &out };
	struct to_graph *graph;
	int ret;

	memset(report, 0, sizeof(*report));
	ret = to_verify_links(plan, &out);
	if (ret)
		return ret < 0 ? ret : 0;
	graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	if (!graph)
		return -ENOMEM;
	v.graph = graph;
	ret = verify_tables(&v);
	to_graph_free(graph);
	return ret;
}
