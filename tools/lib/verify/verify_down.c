// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/verify_down.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "data/port_loads.h"
#include "verify/failures.h"
#include "verify/unprotected.h"

/* One fabric with its failures. Bytes are by node of struct to_walk, or by arc. */
struct down_run {
	const struct to_down *down;
	struct to_verify_down *found;
	struct to_forwarding f;
	struct to_failures packets;
	double *routed;			/* n x n: bytes of rings and trees that are routed */
	double *mp, *rings;		/* per node */
	double *mp_load, *rings_load;	/* per arc */
	bool *meets;			/* per server: its packets meet what is down */
	bool *apart;			/* per server: has routes of its own to the address */
	enum to_walk_end *end;		/* per server: of its packets */
	struct to_arena arena;
};

/*
 * Whether the sender on @arc sees that it is down. At the other end of a packet switch, and of
 * a cable that another function keeps alight, it does not see that a port is.
 */
static bool down_sees(const struct down_run *r, uint32_t arc)
{
	const struct to_graph *g = r->f.graph;

	return to_down_has(r->down, (struct to_port_ref){ g->from[arc], g->port[arc] }) ||
	       (!r->packets.segment[arc] &&
		to_down_cuts(r->down, r->f.plan->cluster,
			     (struct to_port_ref){ g->to[arc], g->peer_port[arc] }));
}

static int down_init(struct down_run *r, const struct to_plan *plan, const struct to_graph *g)
{
	struct to_rings rings = to_allreduce_of(plan);
	size_t nodes = (size_t)g->n + g->n_arcs;
	uint32_t a;

	r->mp = to_arena_array(&r->arena, nodes, sizeof(*r->mp));
	r->rings = to_arena_array(&r->arena, nodes, sizeof(*r->rings));
	r->mp_load = to_arena_array(&r->arena, g->n_arcs, sizeof(*r->mp_load));
	r->rings_load = to_arena_array(&r->arena, g->n_arcs, sizeof(*r->rings_load));
	r->meets = to_arena_array(&r->arena, g->n, sizeof(*r->meets));
	r->apart = to_arena_array(&r->arena, g->n, sizeof(*r->apart));
	r->end = to_arena_array(&r->arena, g->n, sizeof(*r->end));
	r->routed = to_allreduce_routed(&rings, g);
	if (r->arena.failed || !r->routed || to_forwarding_init(&r->f, plan, g) ||
	    to_failures_init(&r->packets, &r->f))
		return -ENOMEM;
	to_allreduce_link_bytes(&rings, g, r->rings_load);
	for (a = 0; a < g->n_arcs; a++) {
		if (!r->down->links[g->link[a]])
			continue;
		if (down_sees(r, a))
			to_failures_kill(&r->packets, a);
		else
			to_failures_kill_unseen(&r->packets, a);
		r->routed[(size_t)g->from[a] * g->n + g->to[a]] += r->rings_load[a];
		r->rings_load[a] = 0;
	}
	return 0;
}

static void down_free(struct down_run *r)
{
	to_failures_free(&r->packets);
	to_forwarding_free(&r->f);
	to_arena_free(&r->arena);
	free(r->routed);
}

/* Whose packets for the address that is resolved meet a dead arc on their paths. */
static void down_mark(struct down_run *r)
{
	const struct to_forwarding *f = &r->f;
	const struct to_graph *g = f->graph;
	unsigned int i;

	memset(r->meets, false, g->n * sizeof(*r->meets));
	for (i = 1; i < f->n_reached; i++) {
		uint32_t x = f->order[i];
		uint64_t left = f->next[x];

		r->meets[x] = left & (r->packets.walk.down[x] | r->packets.walk.hole[x]);
		for (; left; left &= left - 1)
			r->meets[x] |= r->meets[g->to[g->out[x] + __builtin_ctzll(left)]];
	}
}

static void down_count_lost(struct down_run *r, uint32_t src)
{
	const struct to_forwarding *f = &r->f;
	struct to_verify_down *found = r->found;

	found->looping += r->end[src] == TO_WALK_LOOP;
	if (to_failures_port_dark(&r->packets)) {
		found->cases.last_hops++;
	} else if (!to_walk_in(to_failures_joined(&r->packets), src)) {
		found->cases.disconnected++;
	} else {
		found->cases.uncovered++;
		if (found->n_unprotected < TO_UNPROTECTED_MAX)
			found->unprotected[found->n_unprotected++] = (struct to_unprotected){
				.src = src, .dst = f->dst, .slot = f->slot, .link = UINT32_MAX,
			};
	}
}

/* Where the packets of one server end, and its bytes if they are for a node address. */
static void down_send(struct down_run *r, uint32_t src)
{
	const struct to_forwarding *f = &r->f;
	struct to_walk *walk = &r->packets.walk;
	size_t pair = (size_t)src * f->graph->n + f->dst;
	double mp = f->slot ? 0 : f->plan->demand->mp[pair];
	double rings = f->slot ? 0 : r->routed[pair];

	r->end[src] = to_walk(walk, src, UINT32_MAX);
	if (r->end[src] == TO_WALK_ARRIVE) {
		r->mp[src] += mp;
		r->rings[src] += rings;
	} else {
		r->found->left_out += mp + rings;
	}
	r->found->pairs++;
	if (!r->meets[src])
		return;
	r->found->cases.cases++;
	if (r->end[src] == TO_WALK_ARRIVE)
		r->found->cases.covered++;
	else
		down_count_lost(r, src);
}

/* Weight of the next hop that is @arc, of those that share what is at a server. */
static unsigned int down_weight(const struct to_forwarding *f, uint32_t x, uint32_t arc)
{
	const struct to_group *group = &f->plan->tables[x].groups[f->group[x] - f->first_group[x]];
	unsigned int k;

	for (k = 0; group->nexthops[k].ingress ||
		    to_forwarding_arc(f, x, &group->nexthops[k]) != arc; k++)
		;
	return group->nexthops[k].weight;
}

static void down_pass(struct down_run *r, uint32_t arc, double mp, double rings)
{
	uint32_t to = to_walk_node(&r->packets.walk, r->f.graph->to[arc], arc);

	r->mp_load[arc] += mp;
	r->rings_load[arc] += rings;
	if (to == TO_WALK_ARRIVED)
		return;
	r->mp[to] += mp;
	r->rings[to] += rings;
}

/* Take all bytes on, from each node before those that it sends to. */
static void down_spread(struct down_run *r)
{
	const struct to_graph *g = r->f.graph;
	struct to_walk *walk = &r->packets.walk;
	unsigned int i = walk->n_done;

	while (i--) {
		uint32_t node = walk->done[i], x;
		double mp = r->mp[node], rings = r->rings[node];
		uint64_t out = to_walk_out(walk, node, &x), left;
		unsigned int weights = 0;

		r->mp[node] = r->rings[node] = 0;
		if (!(mp + rings > 0))
			continue;
		if (!(out & (out - 1))) {
			down_pass(r, g->out[x] + __builtin_ctzll(out), mp, rings);
			continue;
		}
		for (left = out; left; left &= left - 1)
			weights += down_weight(&r->f, x, g->out[x] + __builtin_ctzll(left));
		for (left = out; left; left &= left - 1) {
			uint32_t arc = g->out[x] + __builtin_ctzll(left);
			double share = (double)down_weight(&r->f, x, arc) / weights;

			down_pass(r, arc, mp * share, rings * share);
		}
	}
}

/* Packets of the sources that have routes of their own to the address, one after the other. */
static void down_apart(struct down_run *r, uint32_t dst, unsigned int slot, unsigned int *at)
{
	struct to_forwarding *f = &r->f;
	unsigned int first;

	memset(r->apart, false, f->graph->n * sizeof(*r->apart));
	while (*at < f->n_qualified && f->qualified[*at].dst == dst && f->qualified[*at].slot == slot) {
		uint32_t src = f->qualified[*at].src;

		for (first = *at; *at < f->n_qualified && f->qualified[*at].dst == dst &&
		     f->qualified[*at].slot == slot && f->qualified[*at].src == src; ++*at)
			;
		r->apart[src] = true;
		if (r->down->servers[src] || r->down->servers[dst])
			continue;
		to_forwarding_resolve(f, dst, slot);
		to_forwarding_qualify(f, first, *at);
		down_mark(r);
		to_walk_begin(&r->packets.walk);
		down_send(r, src);
		down_spread(r);
	}
}

static void down_address(struct down_run *r, uint32_t dst, unsigned int slot, unsigned int *at)
{
	struct to_forwarding *f = &r->f;
	unsigned int i;

	down_apart(r, dst, slot, at);
	if (r->down->servers[dst])
		return;
	to_forwarding_resolve(f, dst, slot);
	down_mark(r);
	to_walk_begin(&r->packets.walk);
	for (i = 1; i < f->n_reached; i++)
		if (!r->apart[f->order[i]] && !r->down->servers[f->order[i]])
			down_send(r, f->order[i]);
	down_spread(r);
}

static bool down_linked(const struct to_graph *g, uint32_t dst, unsigned int port)
{
	for (uint32_t i = g->in[dst]; i < g->in[dst + 1]; i++)
		if (g->peer_port[g->in_arc[i]] == port)
			return true;
	return false;
}

/* The demand of servers that are down. */
static void down_leave_out(struct down_run *r)
{
	const uint64_t *mp = r->f.plan->demand->mp;
	size_t n = r->f.graph->n, x, y;

	for (x = 0; x < n; x++)
		for (y = 0; y < n; y++)
			if (x != y && (r->down->servers[x] || r->down->servers[y]))
				r->found->left_out += mp[x * n + y] + r->routed[x * n + y];
}

/* Note the first of the busiest ways, of which @arc loads one. Return: whether it does. */
static bool down_busiest(struct down_run *r, const struct to_port_loads *ports, uint32_t arc)
{
	const struct to_graph *g = r->f.graph;
	struct to_verify_down *found = r->found;

	for (uint32_t i = ports->first[arc]; i < ports->first[arc + 1]; i++) {
		const uint32_t way = ports->way[i];

		if (to_port_loads_way_seconds(ports, way) < found->comm_time)
			continue;
		found->pcie_binds = way >= ports->n_ports;
		if (found->pcie_binds)
			found->pcie = ports->pcie[way - ports->n_ports];
		found->receives = found->pcie_binds ? found->pcie.to_host : i > ports->first[arc];
		found->busiest = found->receives ?
			(struct to_port_ref){ g->to[arc], g->peer_port[arc] } :
			(struct to_port_ref){ g->from[arc], g->port[arc] };
		return true;
	}
	return false;
}

/* Return: 0 or -ENOMEM. */
static int down_loads(struct down_run *r)
{
	const struct to_graph *g = r->f.graph;
	struct to_verify_down *found = r->found;
	struct to_port_loads ports;
	uint32_t a;

	if (to_port_loads_init(&ports, g, r->f.plan->cluster))
		return -ENOMEM;
	to_port_loads_set(&ports, r->mp_load);
	found->max_mp_link_load = to_port_loads_most(&ports);
	for (a = 0; a < g->n_arcs; a++)
		r->rings_load[a] += r->mp_load[a];
	to_port_loads_set(&ports, r->rings_load);
	found->max_link_load = to_port_loads_most(&ports);
	found->comm_time = to_port_loads_seconds(&ports);
	for (a = 0; a < g->n_arcs && !down_busiest(r, &ports, a); a++)
		;
	to_port_loads_free(&ports);
	return 0;
}

int to_verify_down(const struct to_plan *plan, const struct to_down *down,
		   struct to_verify_down *found)
{
	const struct to_cluster *c = plan->cluster;
	struct to_graph *g = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	struct down_run r = { .down = down, .found = found };
	unsigned int slot, at = 0;
	uint32_t dst;
	int ret;

	memset(found, 0, sizeof(*found));
	ret = g ? down_init(&r, plan, g) : -ENOMEM;
	for (dst = 0; !ret && dst < c->n_servers; dst++)
		for (slot = 0; slot < plan->slots; slot++)
			if (!slot || down_linked(g, dst, slot - 1))
				down_address(&r, dst, slot, &at);
	if (!ret) {
		down_leave_out(&r);
		ret = down_loads(&r);
	}
	down_free(&r);
	to_graph_free(g);
	return ret;
}

bool to_verify_down_takes_nic(const struct to_cluster *c, const struct to_down *down,
			      struct to_port_ref at)
{
	return !down->servers[at.server] && to_down_darkens(down, c, at);
}

/* Names of ports whose RDMA NIC is dark while their server is up. */
static json_t *down_nics_json(const struct to_cluster *c, const struct to_down *down)
{
	json_t *array = json_array();
	char name[TO_DOWN_NAME_MAX];
	struct to_port_ref at;

	for (at.server = 0; at.server < c->n_servers; at.server++)
		for (at.port = 0; at.port < c->servers[at.server].n_ports; at.port++)
			if (to_verify_down_takes_nic(c, down, at))
				json_array_append_new(array, json_string(to_down_name(c, at, name)));
	return array;
}

static json_t *down_dark_json(const struct to_cluster *c, const struct to_down *down)
{
	char a[TO_DOWN_NAME_MAX], b[TO_DOWN_NAME_MAX];
	json_t *array = json_array();

	for (unsigned int i = 0; i < c->n_links; i++)
		if (down->links[i])
			json_array_append_new(array, json_pack("{s:s s:s}",
				"a", to_down_name(c, c->links[i].a, a),
				"b", to_down_name(c, c->links[i].b, b)));
	return array;
}

json_t *to_verify_down_json(const struct to_plan *plan, const struct to_down *down,
			    const struct to_verify_down *f)
{
	const struct to_cluster *c = plan->cluster;
	json_t *object = to_failure_cases_json(&f->cases), *names = json_array();
	json_t *busiest = json_null();
	char name[TO_DOWN_NAME_MAX];

	for (unsigned int i = 0; i < down->n; i++)
		json_array_append_new(names, json_string(to_down_name(c, down->list[i], name)));
	if (f->comm_time > 0)
		busiest = json_string(to_down_name(c, f->busiest, name));
	if (f->pcie_binds)
		json_object_set_new(object, "busiest_pcie", to_pcie_load_way_json(c, &f->pcie));
	json_object_update_new(object, json_pack(
		"{s:o s:o s:o s:I s:I s:o s:f s:f s:f s:o s:f}",
		"down", names, "dark", down_dark_json(c, down),
		"rdma_ports", down_nics_json(c, down), "pairs", (json_int_t)f->pairs,
		"looping", (json_int_t)f->looping, "unprotected",
		to_unprotected_json(plan, f->unprotected, f->n_unprotected),
		"mp_max_load_bytes", f->max_mp_link_load, "max_link_load_bytes", f->max_link_load,
		"comm_time_s", f->comm_time, "busiest_port", busiest,
		"left_out_bytes", f->left_out));
	return object;
}
