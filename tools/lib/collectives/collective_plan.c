// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/collective_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/dimensions_plan.h"
#include "graph/recursive_halving.h"

#define COLLECTIVE_CHUNK 16384	/* elements that a tree reduces at a time */
#define COLLECTIVE_VALUES 61
#define COLLECTIVE_TREE_LANES (2 * TO_PORTS_MAX)

/* BCube, if all links are a product of equal full meshes: of 0 servers else. */
static void collective_find_bcube(struct to_collective_plan *c)
{
	struct to_dimensions dims;
	struct to_error err;

	if (c->n < c->plan->cluster->n_servers || to_dimensions_of_plan(c->plan, 0, &dims, &err))
		return;
	for (unsigned int k = 0; k < dims.n; k++)
		if (dims.list[k].kind == TO_DIMENSION_RING || dims.list[k].size != dims.list[0].size)
			return;
	/* members in another order have other digits */
	for (uint32_t m = 0; m < c->n; m++)
		if (c->members[m] != m)
			return;
	if (to_bcube_init(&c->bcube, dims.list[0].size, dims.n, &err))
		c->bcube.servers = 0;
}

static int collective_members(struct to_collective_plan *c, struct to_error *err)
{
	const struct to_demand *d = c->plan->demand;
	const bool all = !d->n_groups;

	if (c->group == TO_COLLECTIVE_NO_GROUP && !all)
		c->group = 0;
	if (c->group != TO_COLLECTIVE_NO_GROUP && c->group >= d->n_groups)
		return to_error_set(err, -ENOENT, "the plan has %u AllReduce groups, no group %u",
				    d->n_groups, c->group);
	c->n = all ? c->plan->cluster->n_servers : d->groups[c->group].n_members;
	if (c->n < 2)
		return to_error_set(err, -EINVAL, "group %u has one member", c->group);
	c->members = calloc(c->n, sizeof(*c->members));
	c->order = calloc(c->n, sizeof(*c->order));
	if (!c->members || !c->order)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (uint32_t m = 0; m < c->n; m++) {
		c->members[m] = all ? m : d->groups[c->group].members[m];
		c->order[m] = m;
	}
	return 0;
}

static void collective_find_halving(struct to_collective_plan *c)
{
	const struct to_rings rings = to_allreduce_of(c->plan);

	if (c->algorithm != TO_COLLECTIVE_PLAN || c->group == TO_COLLECTIVE_NO_GROUP ||
	    !to_recursive_halving_is(&rings, c->group, &c->halving))
		c->halving.servers = 0;
}

static int collective_check(const struct to_collective_plan *c, struct to_error *err)
{
	unsigned int own = 0;

	if (!c->plan->tables)
		return to_error_set(err, -EINVAL, "the plan has no tables");
	if (c->size < c->n)
		return to_error_set(err, -EINVAL, "%u members reduce %u bytes or more, 4 each", c->n, 4 * c->n);
	if (c->algorithm == TO_COLLECTIVE_BML && !c->bcube.servers)
		return to_error_set(err, -EINVAL, "BML runs on BCube: links here are no product of equal full "
				    "meshes over all servers in their order");
	for (unsigned int i = 0; i < c->plan->n_rings; i++)
		own += c->plan->rings[i].group == c->group;
	for (unsigned int i = 0; i < c->plan->n_trees; i++)
		own += c->plan->trees[i].group == c->group;
	if (c->algorithm == TO_COLLECTIVE_PLAN && !own)
		return to_error_set(err, -EINVAL,
				    "the plan has no AllReduce with rings or trees: choose an --algorithm");
	return 0;
}

int to_collective_plan_init(struct to_collective_plan *c, const struct to_plan *plan,
			    enum to_collective_algorithm algorithm, uint32_t group, bool nodes,
			    uint64_t size, struct to_error *err)
{
	const struct to_cluster *cluster = plan->cluster;
	int ret;

	*c = (struct to_collective_plan){
		.plan = plan, .algorithm = algorithm, .group = group, .nodes = nodes, .size = size };
	ret = collective_members(c, err);
	if (!ret) {
		c->graph = to_graph_new(cluster->n_servers, cluster->links, cluster->n_links,
					cluster->link_mode);
		if (!c->graph)
			ret = to_error_set(err, -ENOMEM, "out of memory");
	}
	if (!ret) {
		collective_find_halving(c);
		collective_find_bcube(c);
		ret = collective_check(c, err);
	}
	if (!ret && c->bcube.servers)
		to_bcube_ring(&c->bcube, c->order);
	if (ret)
		to_collective_plan_free(c);
	return ret;
}

void to_collective_plan_free(struct to_collective_plan *c)
{
	to_graph_free(c->graph);
	free(c->members);
	free(c->order);
	*c = (struct to_collective_plan){ 0 };
}

/* The @index-th arc between two members, UINT32_MAX when there are not so many. */
static uint32_t collective_arc(const struct to_collective_plan *c, uint32_t from, uint32_t to,
			       unsigned int index)
{
	const struct to_graph *g = c->graph;
	const uint32_t x = c->members[from];

	for (uint32_t a = g->out[x]; a < g->out[x + 1]; a++)
		if (g->to[a] == c->members[to] && !index--)
			return a;
	return UINT32_MAX;
}

/* Links between two members that a tree divides its bytes over, at least 1. */
static unsigned int collective_parallel(const struct to_collective_plan *c, uint32_t from, uint32_t to)
{
	unsigned int n = 0;

	/* simplex links are not as many there as back */
	if (c->nodes || c->plan->cluster->link_mode == TO_LINKS_SIMPLEX)
		return 1;
	while (n < TO_PORTS_MAX && collective_arc(c, from, to, n) != UINT32_MAX)
		n++;
	return n ? n : 1;
}

static uint32_t collective_member(const struct to_collective_plan *c, uint32_t server)
{
	uint32_t m = 0;

	while (c->members[m] != server)
		m++;
	return m;
}

static void collective_rings(const struct to_collective_plan *c, struct to_steps *steps)
{
	const struct to_elements all = { 0, steps->size };
	uint32_t *order = calloc(c->n, sizeof(*order));
	unsigned int shares = 0, share = 0;

	steps->failed |= !order;
	for (unsigned int i = 0; i < c->plan->n_rings; i++)
		if (c->plan->rings[i].group == c->group)
			shares += 1 + c->plan->rings[i].reverse;
	for (unsigned int i = 0; order && i < c->plan->n_rings; i++) {
		const struct to_ring *ring = &c->plan->rings[i];
		const unsigned int ways = ring->group != c->group ? 0 : ring->reverse ? 2 : 1;

		for (unsigned int back = 0; back < ways; back++) {
			for (unsigned int k = 0; k < ring->n; k++)
				order[back ? ring->n - 1 - k : k] = collective_member(c, ring->order[k]);
			to_steps_ring(steps, order, ring->n, 2 * i + back,
				      to_steps_piece(all, share++, shares));
		}
	}
	free(order);
}

static void collective_trees(const struct to_collective_plan *c, struct to_steps *steps)
{
	uint32_t *parents = calloc(c->n, sizeof(*parents));
	uint8_t *parts = calloc(c->n, sizeof(*parts));
	double shares = 0;
	uint64_t first = 0;

	steps->failed |= !parents || !parts;
	for (unsigned int i = 0; !steps->failed && i < c->plan->n_trees; i++) {
		const struct to_allreduce_tree *tree = &c->plan->trees[i];
		uint64_t end;

		if (tree->group != c->group)
			continue;
		shares += tree->share;
		end = shares >= 1 - 1e-9 ? steps->size : (uint64_t)(shares * (double)steps->size);
		for (uint32_t m = 0; m < c->n; m++) {
			parents[m] = tree->parents[m] == TO_SERVER_NONE ? TO_SERVER_NONE :
				     collective_member(c, tree->parents[m]);
			parts[m] = m == steps->self ? 1 : collective_parallel(c, steps->self, m);
		}
		to_steps_tree(steps, &(struct to_steps_tree){ c->n, parents, parts },
			      i * COLLECTIVE_TREE_LANES, (struct to_elements){ first, end - first },
			      COLLECTIVE_CHUNK);
		first = end;
	}
	free(parents);
	free(parts);
}

static void collective_halving(const struct to_collective_plan *c, struct to_steps *steps)
{
	uint8_t *parts = calloc(c->n, sizeof(*parts));

	steps->failed |= !parts;
	for (uint32_t m = 0; parts && m < c->n; m++)
		parts[m] = m == steps->self ? 1 : collective_parallel(c, steps->self, m);
	if (parts)
		to_steps_bml(steps, &c->halving, parts);
	free(parts);
}

int to_collective_plan_member(const struct to_collective_plan *c, uint32_t server)
{
	for (uint32_t m = 0; m < c->n; m++)
		if (c->members[m] == server)
			return m;
	return -1;
}

int to_collective_plan_steps(const struct to_collective_plan *c, uint32_t member, struct to_steps *steps)
{
	const struct to_elements all = { 0, c->size };

	to_steps_init(steps, member, c->size);
	switch (c->algorithm) {
	case TO_COLLECTIVE_PLAN:
		collective_rings(c, steps);
		if (c->halving.servers)
			collective_halving(c, steps);
		else
			collective_trees(c, steps);
		break;
	case TO_COLLECTIVE_RING:
		to_steps_ring(steps, c->order, c->n, 0, all);
		break;
	case TO_COLLECTIVE_PS:
		to_steps_ps(steps, c->n);
		break;
	case TO_COLLECTIVE_BML:
		to_steps_bml(steps, &c->bcube, NULL);
		break;
	}
	if (!steps->failed)
		return 0;
	to_steps_free(steps);
	return -ENOMEM;
}

/* The arc of the plan's own ring or tree, or any other between the two. */
static uint32_t collective_plan_arc(const struct to_collective_plan *c, uint32_t from, uint32_t to,
				    uint32_t lane)
{
	const struct to_graph *g = c->graph;
	const uint32_t x = c->members[from];

	if (c->halving.servers)
		return collective_arc(c, from, to, lane / c->halving.k);
	/* a group has rings or trees, and rings have small lanes */
	if (!c->plan->n_rings || lane / 2 >= c->plan->n_rings ||
	    c->plan->rings[lane / 2].group != c->group)
		return collective_arc(c, from, to, lane % COLLECTIVE_TREE_LANES / 2);
	for (uint32_t a = g->out[x]; a < g->out[x + 1]; a++)
		if (g->to[a] == c->members[to] &&
		    c->plan->cluster->links[g->link[a]].ring == (int)(lane / 2))
			return a;
	return collective_arc(c, from, to, 0);
}

/*
 * To the address of the port that the last server on the way is linked to: so digits are
 * corrected in one order, and all links of a level carry the same.
 */
static struct to_collective_ends collective_ps_ends(const struct to_collective_plan *c, uint32_t from,
						    uint32_t to)
{
	uint32_t path[TO_BCUBE_LEVELS_MAX], arc;
	unsigned int hops = to_bcube_path(&c->bcube, from, to, path);

	arc = collective_arc(c, hops > 1 ? path[hops - 2] : from, to, 0);
	return (struct to_collective_ends){
		.from = hops > 1 ? 0 : 1 + c->graph->port[arc], .to = 1 + c->graph->peer_port[arc],
		.arc = hops > 1 ? UINT32_MAX : arc };
}

struct to_collective_ends to_collective_plan_ends(const struct to_collective_plan *c, uint32_t from,
						  uint32_t to, uint32_t lane)
{
	uint32_t arc;

	if (!c->nodes && c->algorithm == TO_COLLECTIVE_PS && c->bcube.servers)
		return collective_ps_ends(c, from, to);
	arc = c->nodes ? UINT32_MAX :
	      c->algorithm == TO_COLLECTIVE_PLAN ? collective_plan_arc(c, from, to, lane) :
	      collective_arc(c, from, to, 0);
	if (arc == UINT32_MAX)
		return (struct to_collective_ends){ .arc = arc };
	return (struct to_collective_ends){ 1 + c->graph->port[arc], 1 + c->graph->peer_port[arc], arc };
}

/* What one server sends to an address of another, routed. */
struct collective_flow {
	uint32_t dst, src;
	unsigned int slot;
	double bytes;
};

struct collective_flows {
	size_t n, room;
	struct collective_flow *list;
};

static int collective_add_flow(struct collective_flows *flows, struct collective_flow flow)
{
	struct collective_flow *more;

	if (flows->n == flows->room) {
		flows->room = flows->room ? 2 * flows->room : 256;
		more = reallocarray(flows->list, flows->room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		flows->list = more;
	}
	flows->list[flows->n++] = flow;
	return 0;
}

static int collective_add_sends(const struct to_collective_plan *c, const struct to_steps *s,
				double *bytes, struct collective_flows *flows)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < s->n_transfers; i++) {
		const struct to_steps_transfer *t = &s->transfers[i];
		double sent = (double)to_steps_transfer_size(s, t) * sizeof(float);
		struct to_collective_ends ends;

		if (t->kind != TO_STEPS_SEND)
			continue;
		ends = to_collective_plan_ends(c, s->self, t->peer, t->lane);
		if (ends.arc != UINT32_MAX)
			bytes[ends.arc] += sent;
		else
			ret = collective_add_flow(flows, (struct collective_flow){
				c->members[t->peer], c->members[s->self], ends.to, sent });
	}
	return ret;
}

static int collective_compare_flows(const void *a, const void *b)
{
	const struct collective_flow *x = a, *y = b;

	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return (x->src > y->src) - (x->src < y->src);
}

/* Whether what @src sends to the address that is resolved has one path. */
static bool collective_one_path(const struct to_forwarding *f, uint32_t src)
{
	const struct to_graph *g = f->graph;
	uint32_t hops;

	for (hops = 0; src != f->dst && hops < g->n; hops++) {
		if (__builtin_popcountll(f->next[src]) != 1)
			return false;
		src = g->to[g->out[src] + __builtin_ctzll(f->next[src])];
	}
	return src == f->dst;
}

/* Use source-qualified routes of the flow. Return: whether there are any. */
static bool collective_qualify(struct to_forwarding *f, const struct collective_flow *flow)
{
	unsigned int first = 0, last;

	while (first < f->n_qualified && (f->qualified[first].dst != flow->dst ||
					  f->qualified[first].slot != flow->slot ||
					  f->qualified[first].src != flow->src))
		first++;
	for (last = first; last < f->n_qualified && f->qualified[last].dst == flow->dst &&
	     f->qualified[last].slot == flow->slot && f->qualified[last].src == flow->src; last++)
		;
	if (first < last)
		to_forwarding_qualify(f, first, last);
	return first < last;
}

/* @n flows to one address: those with routes of their own alone, the others together. */
static bool collective_route_address(struct to_forwarding *f, const struct collective_flow *flows,
				     size_t n, double *flow, double *bytes)
{
	const unsigned int servers = f->graph->n;
	bool certain = true;

	for (unsigned int together = 0; together < 2; together++) {
		to_forwarding_resolve(f, flows->dst, flows->slot);
		memset(flow, 0, servers * sizeof(*flow));
		for (size_t i = 0; i < n; i++) {
			bool own = collective_qualify(f, &flows[i]);

			if (own != together) {
				certain &= collective_one_path(f, flows[i].src);
				flow[flows[i].src] = flows[i].bytes;
			}
			if (!own)
				continue;
			if (!together) {
				to_forwarding_spread(f, flow, bytes);
				memset(flow, 0, servers * sizeof(*flow));
			}
			to_forwarding_resolve(f, flows->dst, flows->slot);
		}
		if (together)
			to_forwarding_spread(f, flow, bytes);
	}
	return certain;
}

static int collective_route(const struct to_collective_plan *c, const struct collective_flow *flows,
			    size_t n, double *bytes, bool *certain)
{
	double *flow = calloc(c->graph->n, sizeof(*flow));
	struct to_forwarding f;
	size_t first, last;

	if (!flow || to_forwarding_init(&f, c->plan, c->graph)) {
		free(flow);
		return -ENOMEM;
	}
	for (first = 0; first < n; first = last) {
		for (last = first; last < n && flows[last].dst == flows[first].dst &&
		     flows[last].slot == flows[first].slot; last++)
			;
		*certain &= collective_route_address(&f, &flows[first], last - first, flow, bytes);
	}
	to_forwarding_free(&f);
	free(flow);
	return 0;
}

/* Flows of the same ends become one. */
static void collective_merge_flows(struct collective_flows *flows)
{
	size_t n = 0;

	if (flows->n)
		qsort(flows->list, flows->n, sizeof(*flows->list), collective_compare_flows);
	for (size_t i = 0; i < flows->n; i++) {
		if (n && !collective_compare_flows(&flows->list[n - 1], &flows->list[i]))
			flows->list[n - 1].bytes += flows->list[i].bytes;
		else
			flows->list[n++] = flows->list[i];
	}
	flows->n = n;
}

int to_collective_plan_link_bytes(const struct to_collective_plan *c, double *bytes, bool *certain)
{
	struct collective_flows flows = { 0 };
	struct to_steps steps;
	int ret = 0;

	memset(bytes, 0, c->graph->n_arcs * sizeof(*bytes));
	*certain = true;
	for (uint32_t m = 0; !ret && m < c->n; m++) {
		ret = to_collective_plan_steps(c, m, &steps);
		if (ret)
			break;
		ret = collective_add_sends(c, &steps, bytes, &flows);
		to_steps_free(&steps);
	}
	if (!ret) {
		collective_merge_flows(&flows);
		ret = collective_route(c, flows.list, flows.n, bytes, certain);
	}
	free(flows.list);
	return ret;
}

double to_collective_plan_closed_form(const struct to_collective_plan *c)
{
	if (!c->bcube.servers || c->nodes)
		return 0;
	if (c->algorithm == TO_COLLECTIVE_BML)
		return to_bcube_bml_time(&c->bcube);
	return c->algorithm == TO_COLLECTIVE_PS ? to_bcube_ps_time(&c->bcube) : 0;
}

/* Small whole numbers, so that sums are exact in any order. */
static float collective_value(uint64_t element, uint32_t member)
{
	return (element + 31 * (uint64_t)member) % COLLECTIVE_VALUES;
}

void to_collective_plan_fill(const struct to_collective_plan *c, uint32_t member, float *buffer)
{
	for (uint64_t e = 0; e < c->size; e++)
		buffer[e] = collective_value(e, member);
}

uint64_t to_collective_plan_wrong(const struct to_collective_plan *c, const float *buffer)
{
	float sums[COLLECTIVE_VALUES] = { 0 };
	uint64_t wrong = 0;

	for (unsigned int e = 0; e < COLLECTIVE_VALUES; e++)
		for (uint32_t m = 0; m < c->n; m++)
			sums[e] += collective_value(e, m);
	for (uint64_t e = 0; e < c->size; e++)
		wrong += buffer[e] != sums[e % COLLECTIVE_VALUES];
	return wrong;
}
