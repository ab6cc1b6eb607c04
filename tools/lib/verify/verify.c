// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "verify/buffer_cycle.h"
#include "verify/verify_failures.h"
#include "verify/verify_links.h"
#include "verify/verify_queue_pairs.h"

#define VERIFY_NAMES 12		/* servers named of a loop */

struct verify {
	const struct to_plan *plan;
	const struct to_graph *graph;
	const struct to_verify_out *out;
	struct to_forwarding f;
	bool *linked;		/* port q of server v has a link into it, [v * ports + q] */
	struct to_verify_failures failures;
	uint32_t *seen, seen_mark;
	uint32_t *mark;		/* scratch, per arc */
	uint16_t *distance;
	uint32_t *queue;
	void (*progress)(void *data, unsigned int percent);	/* may be NULL */
};

/* Of the time that a plan of 1024 servers takes, percent until its routes are walked. */
#define VERIFY_WALKED 65

static void verify_progress(const struct verify *v, unsigned int percent)
{
	if (v->progress)
		v->progress(v->out->data, percent);
}

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

/* The kernel would refuse it. */
static void verify_shares(struct verify *v, uint32_t x, unsigned int i)
{
	const struct to_group *group = &v->plan->tables[x].groups[i];
	int least = to_group_least(group);
	const struct to_nexthop *hop;

	if (least < 0)
		return;
	hop = &group->nexthops[least];
	if (hop->weight)
		to_verify_say(v->out, "group %u of %s gives port %u less than 1/%d of what its %s carry",
			      i, verify_name(v, x), hop->port, TO_GROUP_SHARES,
			      hop->backup ? "backups" : "primaries");
}

static void verify_groups(struct verify *v)
{
	unsigned int i, k;
	uint32_t x;

	for (x = 0; x < v->graph->n; x++) {
		const struct to_table *table = &v->plan->tables[x];

		for (i = 0; i < table->n_groups; i++) {
			const struct to_group *group = &table->groups[i];
			unsigned int live = 0;

			for (k = 0; k < group->n; k++) {
				const struct to_nexthop *hop = &group->nexthops[k];

				live += to_nexthop_primary(hop);
				if (hop->port >= v->plan->cluster->servers[x].n_ports)
					to_verify_say(v->out, "group %u of %s uses port %u, which does not exist",
						      i, verify_name(v, x), hop->port);
				else if (to_forwarding_arc(&v->f, x, hop) == UINT32_MAX)
					to_verify_say(v->out, "group %u of %s uses %s, which has no link to send on",
						      i, verify_name(v, x),
						      v->plan->cluster->servers[x].ports[hop->port].name);
				if (hop->ingress > v->plan->cluster->servers[x].n_ports)
					to_verify_say(v->out, "group %u of %s has an alternate for port %u, which does not exist",
						      i, verify_name(v, x), hop->ingress - 1);
				if (!hop->weight)
					to_verify_say(v->out, "group %u of %s has a next hop of weight 0",
						      i, verify_name(v, x));
			}
			verify_shares(v, x, i);
			if (!live)
				to_verify_say(v->out, "group %u of %s has nothing but backups and alternates", i,
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
		if (f->slot && v->plan->no_buffer_cycles && f->group[x] == UINT32_MAX) {
			v->out->report->unreachable++;
			continue;
		}
		if (f->slot && !physical) {
			to_graph_port_distances(v->graph, f->dst, f->slot - 1, v->distance, v->queue);
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

/* Packets for a port's own address must enter through it while nothing is broken. */
static void verify_last_hops(struct verify *v)
{
	const struct to_graph *g = v->graph;
	const struct to_forwarding *f = &v->f;
	char address[128];
	uint32_t i;

	for (i = g->in[f->dst]; i < g->in[f->dst + 1]; i++) {
		uint32_t x = g->in_from[i], a = g->in_arc[i];

		if (f->next[x] >> (a - g->out[x]) & 1 && g->peer_port[a] != f->slot - 1)
			to_verify_say(v->out, "%s sends packets for %s into %s", verify_name(v, x),
				      verify_address(v, address, sizeof(address)),
				      v->plan->cluster->servers[f->dst].ports[g->peer_port[a]].name);
	}
}

/* Name the longest route to the address that is resolved if it is longer than it may be. */
static void verify_stretch(struct verify *v, const struct to_forwarding *f, uint32_t only)
{
	const struct to_graph *g = v->graph;
	uint32_t longest = TO_SERVER_NONE, i;
	unsigned int most = 0;
	char address[128];

	if (!v->plan->max_stretch)
		return;
	if (f->slot)
		to_graph_port_distances(g, f->dst, f->slot - 1, v->distance, v->queue);
	else
		to_graph_distances(g, f->dst, TO_SERVER_NONE, v->distance, v->queue);
	for (i = 1; i < f->n_reached; i++) {
		uint32_t x = f->order[i];
		unsigned int hops = v->distance[x] == TO_DISTANCE_NONE ? 0 :
				    to_plan_most_hops(v->distance[x], v->plan->max_stretch);

		if ((only == TO_SERVER_NONE || x == only) && hops && f->level[x] > hops &&
		    (longest == TO_SERVER_NONE || f->level[x] > f->level[longest])) {
			longest = x;
			most = hops;
		}
	}
	if (longest != TO_SERVER_NONE)
		to_verify_say(v->out, "packets from %s for %s take up to %u hops; max_stretch allows %u",
			      verify_name(v, longest), verify_address(v, address, sizeof(address)),
			      f->level[longest], most);
}

static void verify_resolved(struct verify *v, bool turned)
{
	verify_arrival(v);
	verify_stretch(v, &v->f, TO_SERVER_NONE);
	if (v->f.slot && v->plan->cluster->n_packet_switches)
		to_graph_port_distances(v->graph, v->f.dst, v->f.slot - 1, v->distance, v->queue);
	to_verify_queue_pairs(&v->f, v->out, v->distance, v->mark);
	if (v->f.slot)
		verify_last_hops(v);
	if (!turned)
		to_verify_failures(&v->failures);
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
	unsigned int slots = v->plan->slots, slot, at = 0;
	uint32_t dst;
	bool turned;

	for (dst = 0; dst < v->graph->n; dst++) {
		for (slot = 0; slot < slots; slot++) {
			verify_own(v, dst, slot);
			if (slot &&
			    !v->linked[(size_t)dst * (slots - 1) + slot - 1]) {
				verify_dark(v, dst, slot);
				continue;
			}
			turned = to_failures_resolve(&v->failures.packets, dst, slot, &at);
			v->out->report->addresses++;
			verify_resolved(v, turned);
		}
		verify_progress(v, (dst + 1) * VERIFY_WALKED / v->graph->n);
	}
}

/* Source-qualified routes: the paths of their source, and failures on them. */
static void verify_qualified(struct verify *v)
{
	struct to_forwarding *f = &v->f;
	const struct to_graph *g = v->graph;
	unsigned int first, last, ports = v->plan->slots - 1;
	char address[128], source[TO_NAME_MAX + 16];
	enum to_walk_end end;

	for (first = 0; first < f->n_qualified; first = last) {
		const struct to_qualified *q = &f->qualified[first];

		for (last = first; last < f->n_qualified && f->qualified[last].dst == q->dst &&
		     f->qualified[last].slot == q->slot && f->qualified[last].src == q->src; last++)
			if (f->qualified[last].server == q->dst)
				to_verify_say(v->out, "%s has a route to its own address for packets from %s",
					      verify_name(v, q->dst), verify_name(v, q->src));
		if (q->slot && !v->linked[(size_t)q->dst * ports + q->slot - 1]) {
			to_verify_say(v->out, "%s has a route to port %u of %s, which has no link",
				      verify_name(v, q->server), q->slot - 1, verify_name(v, q->dst));
			continue;
		}
		to_forwarding_resolve(f, q->dst, q->slot);
		end = to_failures_qualify(&v->failures.packets, first, last);
		snprintf(source, sizeof(source), " from %s", verify_name(v, q->src));
		if (f->n_loop_free < g->n)
			verify_say_loop(v, source);
		else if ((f->n_reached < g->n && !q->slot) || end != TO_WALK_ARRIVE)
			to_verify_say(v->out, "not all packets%s for %s arrive", source,
				      verify_address(v, address, sizeof(address)));
		else if (q->slot)
			verify_last_hops(v);
		verify_stretch(v, f, q->src);
		if (end == TO_WALK_ARRIVE)
			to_verify_failures(&v->failures);
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

/* Whether two figures are the same, or made of such; without keys that only @was has. */
static bool verify_same(json_t *was, json_t *is)
{
	const char *key;
	json_t *value;

	if (json_is_number(is) && json_is_number(was)) {
		double a = json_number_value(is), b = json_number_value(was);

		return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
	}
	if (json_is_array(is) && json_array_size(is) == json_array_size(was)) {
		for (size_t i = 0; i < json_array_size(is); i++)
			if (!verify_same(json_array_get(was, i), json_array_get(is, i)))
				return false;
		return true;
	}
	if (!json_is_object(is) || !json_is_object(was))
		return json_equal(is, was);
	json_object_foreach(is, key, value)
		if (!verify_same(json_object_get(was, key), value))
			return false;
	return true;
}

/* What the plan says about itself must be what it does. */
static int verify_predictions(const struct to_plan *plan, const struct to_verify_out *out)
{
	json_t *now = to_predict_json(plan, &out->report->figures), *was, *is;
	const char *key;

	if (!now)
		return -ENOMEM;
	json_object_foreach(now, key, is) {
		was = json_object_get(plan->predictions, key);
		if (!was || verify_same(was, is))
			continue;
		if (json_is_number(is) && json_is_number(was))
			to_verify_say(out, "predictions: %s is %.9g, the plan says %.9g", key,
				      json_number_value(is), json_number_value(was));
		else
			to_verify_say(out, "predictions: %s is not what the plan says", key);
	}
	json_decref(now);
	return 0;
}

/* A plan that says that no buffer waits for itself must be right. */
static int verify_buffers(const struct verify *v)
{
	struct to_buffer_cycle cycle;
	int ret;

	if (!v->plan->no_buffer_cycles)
		return 0;
	ret = to_buffer_cycle_find(v->plan, v->graph, false, &cycle);
	if (!ret && cycle.n)
		to_verify_say(v->out, "no_buffer_cycles: links of %u servers, of which %s is one, can wait for each other",
			      cycle.n, verify_name(v, cycle.servers[0]));
	free(cycle.servers);
	return ret;
}

static int verify_tables(struct verify *v)
{
	size_t n = v->graph->n, ports = v->plan->slots - 1;
	uint32_t a;
	int ret = -ENOMEM;

	v->linked = calloc(n * ports + 1, sizeof(*v->linked));
	v->seen = calloc(2 * n, sizeof(*v->seen));
	v->distance = calloc(n, sizeof(*v->distance));
	v->mark = calloc(v->graph->n_arcs + 1, sizeof(*v->mark));
	if (!v->linked || !v->seen || !v->distance || !v->mark ||
	    to_forwarding_init(&v->f, v->plan, v->graph) ||
	    to_verify_failures_init(&v->failures, &v->f, v->out))
		goto out;
	v->queue = v->seen + n;
	for (a = 0; a < v->graph->n_arcs; a++)
		v->linked[v->graph->to[a] * ports + v->graph->peer_port[a]] = true;
	verify_groups(v);
	verify_addresses(v);
	verify_qualified(v);
	verify_port_shares(v);
	ret = to_predict_figures(&v->f, &v->out->report->figures);
	if (!ret)
		ret = to_predict_routes(&v->f, &v->out->report->figures);
	if (!ret)
		ret = to_predict_flows(&v->f, &v->out->report->figures);
	if (!ret)
		ret = verify_predictions(v->plan, v->out);
	if (!ret)
		ret = verify_buffers(v);
	if (!ret && to_rdma_pairs_limited(v->plan->cluster))
		ret = to_rdma_pairs_find(v->plan, TO_SERVER_NONE, &v->out->report->rdma);
out:
	to_verify_failures_free(&v->failures);
	to_forwarding_free(&v->f);
	free(v->linked);
	free(v->seen);
	free(v->distance);
	free(v->mark);
	return ret;
}

const char *to_verify_verdict(const struct to_verify_report *report)
{
	if (report->violations)
		return "invalid";
	return report->links.uncovered || report->switches.uncovered ? "unprotected" : "protected";
}

int to_verify_progress(const struct to_plan *plan, to_verify_line *line,
		       void (*progress)(void *data, unsigned int percent), void *data,
		       struct to_verify_report *report)
{
	const struct to_cluster *c = plan->cluster;
	struct to_verify_out out = { line, data, report };
	struct verify v = { .plan = plan, .out = &out, .progress = progress };
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
	verify_progress(&v, 100);
	to_graph_free(graph);
	return ret;
}

int to_verify(const struct to_plan *plan, to_verify_line *line, void *data,
	      struct to_verify_report *report)
{
	return to_verify_progress(plan, line, NULL, data, report);
}
