// SPDX-License-Identifier: GPL-2.0-or-later
/* Paths of flows through the tables of a plan. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "data/allreduce.h"
#include "graph/ring.h"
#include "routing/flow_hash.h"
#include "packets/paths.h"

#define PATHS_PLAN_PARTS 16	/* of a tree's buffer at most */

/*
 * @links: of the network, per arc, see to_network_of_graph()
 * @buckets: of each group of each server, [first_group[x] + g], NULL before it is used
 * @seeds: of the hash, per server
 */
struct paths_plan {
	struct to_packet_paths paths;
	const struct to_plan *plan;
	struct to_graph *graph;
	int protocol;
	uint32_t *first_group, *seeds;
	uint32_t (*links)[2];
	uint8_t **buckets;
};

static void paths_plan_free(struct to_packet_paths *paths)
{
	struct paths_plan *p = (struct paths_plan *)paths;

	for (uint32_t i = 0; p->buckets && i < p->first_group[p->graph->n]; i++)
		free(p->buckets[i]);
	free(p->buckets);
	free(p->first_group);
	free(p->links);
	free(p->seeds);
	to_graph_free(p->graph);
	free(p);
}

static uint32_t paths_plan_address(const struct paths_plan *p, uint32_t server)
{
	const struct to_address *a = &p->plan->cluster->servers[server].address;

	/* a fabric of IPv6 alone: any number that differs by server spreads as well */
	return a->has_v4 ? ntohl(a->v4.s_addr) : server + 1;
}

static struct to_flow_tuple paths_plan_tuple(const struct paths_plan *p, uint32_t src, uint32_t dst,
					     uint32_t number)
{
	struct to_flow_tuple tuple = { .source = paths_plan_address(p, src),
				       .destination = paths_plan_address(p, dst),
				       .protocol = p->protocol };

	tuple.source_port = TO_PATH_SOURCE_PORT + number;
	tuple.destination_port = TO_PATH_ROCE_PORT;
	/* as drivers count them: no two of a server are the same */
	if (p->protocol == IPPROTO_UDP)
		tuple.queue_pair = (1 + src * 256 + number) & 0xffffff;
	return tuple;
}

/* Group of @x for packets from @src to the node address of @dst. */
static uint16_t paths_plan_group(const struct paths_plan *p, uint32_t x, uint32_t src, uint32_t dst)
{
	const struct to_table *table = &p->plan->tables[x];
	uint32_t low = 0, high = table->n_pairs;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;
		const struct to_source_route *pair = &table->pairs[mid];

		if (pair->dst == dst && !pair->slot && pair->src == src)
			return pair->group;
		if (pair->dst < dst || (pair->dst == dst && !pair->slot && pair->src < src))
			low = mid + 1;
		else
			high = mid;
	}
	return table->route[(size_t)dst * p->plan->slots];
}

/* Arc that @hop of @x sends on, UINT32_MAX where there is none. */
static uint32_t paths_plan_arc(const struct paths_plan *p, uint32_t x, const struct to_nexthop *hop)
{
	const bool shared = p->plan->cluster->servers[x].ports[hop->port].packet_switch;
	const struct to_graph *g = p->graph;

	for (uint32_t a = g->out[x]; a < g->out[x + 1]; a++)
		if (g->port[a] == hop->port && (!shared || g->to[a] == hop->peer))
			return a;
	return UINT32_MAX;
}

/* Arc that a flow leaves @x by; UINT32_MAX with 0 or -ENOMEM where there is none. */
static uint32_t paths_plan_onward(struct paths_plan *p, uint32_t x, uint16_t group, uint32_t hash,
				  int *ret)
{
	uint8_t **buckets = &p->buckets[p->first_group[x] + group];
	const struct to_group *g = &p->plan->tables[x].groups[group];
	uint8_t hop;

	if (!*buckets) {
		*buckets = malloc(TO_FLOW_BUCKETS);
		if (!*buckets) {
			*ret = -ENOMEM;
			return UINT32_MAX;
		}
		to_flow_buckets(p->plan, x, g, *buckets);
	}
	hop = (*buckets)[hash >> 24];
	if (hop == UINT8_MAX)
		return UINT32_MAX;
	return paths_plan_arc(p, x, &g->nexthops[hop]);
}

static int paths_plan_path(struct to_packet_paths *paths, uint32_t src, uint32_t dst,
			   uint32_t number, uint32_t *links, uint32_t *alternatives,
			   struct to_error *err)
{
	struct paths_plan *p = (struct paths_plan *)paths;
	const struct to_flow_tuple tuple = paths_plan_tuple(p, src, dst, number);
	int ret = -EHOSTUNREACH, n = 0;
	uint32_t x = src, arc;

	*alternatives = 1;
	while (x != dst && n + 1 < TO_PATH_LINKS_MAX) {
		const uint16_t group = paths_plan_group(p, x, src, dst);

		if (group == TO_GROUP_NONE)
			break;
		arc = paths_plan_onward(p, x, group, to_flow_hash(&tuple, p->seeds[x]), &ret);
		if (arc == UINT32_MAX)
			break;
		links[n++] = p->links[arc][0];
		if (p->links[arc][1] != TO_NETWORK_LINK_NONE)
			links[n++] = p->links[arc][1];
		x = p->graph->to[arc];
	}
	if (x == dst)
		return n;
	return ret == -ENOMEM ? to_error_set(err, ret, "out of memory") :
	       to_error_set(err, ret, "the plan has no path from server %u to server %u", src, dst);
}

static bool paths_plan_same(const struct to_allreduce *group, const uint32_t *members, uint32_t n)
{
	uint32_t found = 0;

	for (uint32_t i = 0; group->n_members == n && i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			found += group->members[i] == members[k];
	return group->n_members == n && found == n;
}

/*
 * The group of rings or trees for these servers, that of the first ring or tree should
 * there be several; n_groups for none.
 */
static unsigned int paths_plan_find(const struct to_plan *plan, const uint32_t *members, uint32_t n)
{
	const struct to_allreduce *groups = plan->demand->groups;
	unsigned int i;

	for (i = 0; i < plan->n_rings; i++)
		if (paths_plan_same(&groups[plan->rings[i].group], members, n))
			return plan->rings[i].group;
	for (i = 0; i < plan->n_trees; i++)
		if (paths_plan_same(&groups[plan->trees[i].group], members, n))
			return plan->trees[i].group;
	return plan->demand->n_groups;
}

/* @message takes @arc. */
static void paths_plan_take(const struct paths_plan *p, uint32_t arc,
			    struct to_packet_message *message)
{
	message->link = p->links[arc][0];
	message->then = p->links[arc][1] == TO_NETWORK_LINK_NONE ? 0 : p->links[arc][1];
}

/* The arc whose link is of @ring, if it owns some. */
static void paths_plan_take_own(const struct paths_plan *p, int ring,
				struct to_packet_message *message)
{
	const struct to_graph *g = p->graph;

	for (uint32_t a = g->out[message->from]; a < g->out[message->from + 1]; a++) {
		const struct to_link *link = &p->plan->cluster->links[g->link[a]];

		if (g->to[a] != message->to || link->ring != ring)
			continue;
		paths_plan_take(p, a, message);
		return;
	}
}

static void paths_plan_ring(const struct paths_plan *p, unsigned int index, double bytes,
			    struct to_packet_messages *messages)
{
	const struct to_ring *ring = &p->plan->rings[index];

	for (unsigned int i = 0; i < (ring->reverse ? 2 : 1); i++) {
		uint32_t first = messages->n;

		to_packet_messages_ring(messages, ring->order, ring->n, i, bytes);
		for (; !messages->failed && first < messages->n; first++)
			paths_plan_take_own(p, index, &messages->list[first]);
	}
}

/*
 * Links by which @tree gets from @from to @to, its own if it owns some, else all that there
 * are. @message, if not NULL, takes the @nth of them, counted round.
 */
static uint32_t paths_plan_tree_links(const struct paths_plan *p, int tree, uint32_t from,
				      uint32_t to, uint32_t nth, struct to_packet_message *message)
{
	const struct to_graph *g = p->graph;
	uint32_t all = 0, own = 0, seen = 0, a;

	for (a = g->out[from]; a < g->out[from + 1]; a++) {
		all += g->to[a] == to;
		own += g->to[a] == to && p->plan->cluster->links[g->link[a]].tree == tree;
	}
	for (a = g->out[from]; message && a < g->out[from + 1]; a++)
		if (g->to[a] == to &&
		    (!own || p->plan->cluster->links[g->link[a]].tree == tree) &&
		    seen++ == nth % (own ?: all))
			paths_plan_take(p, a, message);
	return own ?: all;
}

/*
 * Into how many equal parts the buffer of @tree is cut so that each hop divides it evenly
 * among its links.
 */
static uint32_t paths_plan_tree_parts(const struct paths_plan *p, unsigned int index)
{
	const struct to_allreduce_tree *tree = &p->plan->trees[index];
	const uint32_t *members = p->plan->demand->groups[tree->group].members;
	uint32_t parts = 1, links, more, i;

	for (i = 0; i < tree->n; i++) {
		if (tree->parents[i] == TO_SERVER_NONE)
			continue;
		links = paths_plan_tree_links(p, index, members[i], tree->parents[i], 0, NULL);
		for (more = parts; links && more % links; more += parts)
			;
		if (more > PATHS_PLAN_PARTS)
			return PATHS_PLAN_PARTS;
		parts = more;
	}
	return parts;
}

static void paths_plan_tree(const struct paths_plan *p, unsigned int index, double bytes,
			    struct to_packet_messages *messages)
{
	const struct to_allreduce_tree *tree = &p->plan->trees[index];
	const uint32_t parts = paths_plan_tree_parts(p, index);
	uint32_t first = messages->n;

	for (uint32_t i = 0; i < parts; i++) {
		to_packet_messages_tree(messages, p->plan->demand->groups[tree->group].members,
				    tree->parents, tree->n, bytes * tree->share / parts);
		for (; !messages->failed && first < messages->n; first++) {
			struct to_packet_message *message = &messages->list[first];

			paths_plan_tree_links(p, index, message->from, message->to, i, message);
		}
	}
}

/* A ring of few hops for servers that have none in the plan. */
static int paths_plan_nearest(const struct paths_plan *p, const uint32_t *members, uint32_t n,
			      double bytes, struct to_packet_messages *messages)
{
	const unsigned int directions = p->plan->cluster->link_mode == TO_LINKS_DUPLEX ? 2 : 1;
	uint32_t *order = calloc(n, sizeof(*order));

	if (!order || to_ring_nearest(p->graph, members, n, order)) {
		free(order);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < directions; i++)
		to_packet_messages_ring(messages, order, n, i, bytes / directions);
	free(order);
	return 0;
}

static int paths_plan_messages(struct to_packet_paths *paths, const uint32_t *members, uint32_t n,
			       double bytes, struct to_packet_messages *messages,
			       struct to_error *err)
{
	struct paths_plan *p = (struct paths_plan *)paths;
	const struct to_plan *plan = p->plan;
	const unsigned int group = paths_plan_find(plan, members, n);
	unsigned int directions = 0, i;

	if (group == plan->demand->n_groups && paths_plan_nearest(p, members, n, bytes, messages))
		messages->failed = true;
	for (i = 0; i < plan->n_rings; i++)
		if (plan->rings[i].group == group)
			directions += plan->rings[i].reverse ? 2 : 1;
	for (i = 0; i < plan->n_rings; i++)
		if (plan->rings[i].group == group)
			paths_plan_ring(p, i, bytes / directions, messages);
	for (i = 0; i < plan->n_trees; i++)
		if (plan->trees[i].group == group)
			paths_plan_tree(p, i, bytes, messages);
	return messages->failed ? to_error_set(err, -ENOMEM, "out of memory") : 0;
}

static const struct to_packet_paths_ops paths_plan_ops = {
	.path = paths_plan_path,
	.messages = paths_plan_messages,
	.free = paths_plan_free,
};

static int paths_plan_fill(struct paths_plan *p, uint64_t seed)
{
	const struct to_plan *plan = p->plan;
	const uint32_t n = plan->cluster->n_servers;
	struct to_network *network;
	uint32_t x;

	p->graph = to_graph_new(n, plan->cluster->links, plan->cluster->n_links,
				plan->cluster->link_mode);
	p->links = p->graph ? calloc(p->graph->n_arcs + 1, sizeof(*p->links)) : NULL;
	p->first_group = calloc((size_t)n + 1, sizeof(*p->first_group));
	p->seeds = calloc(n, sizeof(*p->seeds));
	if (!p->links || !p->first_group || !p->seeds)
		return -ENOMEM;
	/* numbered like those of the network of the simulation */
	network = to_network_of_graph(p->graph, plan->cluster, 0, p->links);
	if (!network)
		return -ENOMEM;
	to_network_free(network);
	for (x = 0; x < n; x++) {
		p->first_group[x + 1] = p->first_group[x] + plan->tables[x].n_groups;
		p->seeds[x] = to_random_next(&seed) >> 32;
	}
	p->buckets = calloc(p->first_group[n] + 1, sizeof(*p->buckets));
	return p->buckets ? 0 : -ENOMEM;
}

struct to_packet_paths *to_packet_paths_of_plan(const struct to_plan *plan,
						const struct to_network *network, int protocol,
						uint64_t seed, struct to_error *err)
{
	struct paths_plan *p = calloc(1, sizeof(*p));

	if (p) {
		p->paths = (struct to_packet_paths){ &paths_plan_ops, network };
		p->plan = plan;
		p->protocol = protocol;
		if (!paths_plan_fill(p, seed))
			return &p->paths;
		paths_plan_free(&p->paths);
	}
	to_error_set(err, -ENOMEM, "out of memory");
	return NULL;
}
