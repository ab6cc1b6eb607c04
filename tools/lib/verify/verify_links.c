// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "data/cross_connects.h"
#include "verify/verify_links.h"

static const char *verify_server(const struct to_plan *plan, uint32_t server)
{
	return plan->cluster->servers[server].name;
}

static const char *verify_port(const struct to_plan *plan, struct to_port_ref at)
{
	return plan->cluster->servers[at.server].ports[at.port].name;
}

/* Return: 0 or 1 as to_verify_links(). */
static int verify_end(const struct to_plan *plan, const struct to_verify_out *out,
		      struct to_port_ref at, bool *used, const char *what)
{
	const struct to_cluster *c = plan->cluster;
	bool *port;

	if (at.server >= c->n_servers || at.port >= c->servers[at.server].n_ports) {
		to_verify_say(out, "a link ends at port %u of server %u, which does not exist",
			      at.port, at.server);
		return 1;
	}
	if (c->servers[at.server].ports[at.port].packet_switch)
		return 0;
	port = &used[at.server * (size_t)(plan->slots - 1) + at.port];
	if (*port) {
		to_verify_say(out, "%s:%s %s on two links", verify_server(plan, at.server),
			      verify_port(plan, at), what);
		return 1;
	}
	*port = true;
	return 0;
}

static int verify_ports(const struct to_plan *plan, const struct to_verify_out *out)
{
	const struct to_cluster *c = plan->cluster;
	bool duplex = c->link_mode == TO_LINKS_DUPLEX;
	size_t ports = (size_t)c->n_servers * (plan->slots - 1);
	bool *transmits = calloc(2 * ports + 1, sizeof(*transmits));
	bool *receives = duplex ? transmits : transmits + ports;
	unsigned int i;
	int ret = 0;

	if (!transmits)
		return -ENOMEM;
	for (i = 0; i < c->n_links; i++) {
		const struct to_link *l = &c->links[i];

		if (l->a.server == l->b.server && l->a.server < c->n_servers) {
			to_verify_say(out, "a link joins %s with itself",
				      verify_server(plan, l->a.server));
			ret = 1;
			continue;
		}
		ret |= verify_end(plan, out, l->a, transmits, duplex ? "is" : "transmits");
		ret |= verify_end(plan, out, l->b, receives, duplex ? "is" : "receives");
	}
	free(transmits);
	return ret;
}

/* The cross-connects that the links need, also dark ones, sorted. Return: how many. */
static unsigned int verify_needed(const struct to_plan *plan, const struct to_verify_out *out,
				  struct to_cross_connect *needed)
{
	const struct to_cluster *c = plan->cluster;
	unsigned int n = 0, i;

	for (i = 0; i < c->n_links + plan->n_dark; i++) {
		const struct to_link *link = i < c->n_links ? &c->links[i] :
					     &plan->dark[i - c->n_links];
		struct to_port_ref ra = link->a, rb = link->b;
		const struct to_port *a = &c->servers[ra.server].ports[ra.port];
		const struct to_port *b = &c->servers[rb.server].ports[rb.port];

		if (a->packet_switch != b->packet_switch) {
			to_verify_say(out, "link %s:%s - %s:%s joins ports that are not on one packet switch",
				      verify_server(plan, ra.server), a->name,
				      verify_server(plan, rb.server), b->name);
			continue;
		}
		if (a->optical_switch != b->optical_switch) {
			to_verify_say(out, "link %s:%s - %s:%s joins ports that are not on one optical switch",
				      verify_server(plan, ra.server), a->name,
				      verify_server(plan, rb.server), b->name);
			continue;
		}
		if (a->optical_switch < 0)
			continue;
		needed[n++] = (struct to_cross_connect){ a->optical_switch, a->optical_port,
							 b->optical_port };
	}
	to_cross_connects_sort(c->link_mode, needed, n);
	return n;
}

/* A port of a switch may be on one cross-connect (simplex: one in each direction). */
static int verify_matching(const struct to_plan *plan, const struct to_verify_out *out)
{
	const struct to_cluster *c = plan->cluster;
	bool duplex = c->link_mode == TO_LINKS_DUPLEX;
	unsigned int n = plan->n_cross_connects, i, side, count = 0;
	struct to_cross_connect *ends = calloc(2 * (size_t)n + 1, sizeof(*ends));

	if (!ends)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct to_cross_connect *x = &plan->cross_connects[i];

		for (side = 0; side < 2; side++)
			ends[count++] = (struct to_cross_connect){ x->optical_switch,
				side ? x->b : x->a, duplex ? 0 : side };
	}
	qsort(ends, count, sizeof(*ends), to_cross_connects_compare);
	for (i = 1; i < count; i++)
		if (!to_cross_connects_compare(&ends[i - 1], &ends[i]))
			to_verify_say(out, "port %u of optical switch %s is on two cross-connects",
				      ends[i].a, c->switches[ends[i].optical_switch].name);
	free(ends);
	return 0;
}

static int verify_cross_connects(const struct to_plan *plan, const struct to_verify_out *out)
{
	const struct to_cluster *c = plan->cluster;
	struct to_cross_connect *needed = calloc(c->n_links + plan->n_dark + 1, sizeof(*needed));
	struct to_cross_connect *made = calloc(plan->n_cross_connects + 1, sizeof(*made));
	unsigned int n_needed, n_made = plan->n_cross_connects, i = 0, k = 0;

	if (!needed || !made || verify_matching(plan, out)) {
		free(needed);
		free(made);
		return -ENOMEM;
	}
	n_needed = verify_needed(plan, out, needed);
	for (k = 0; k < n_made; k++)
		made[k] = plan->cross_connects[k];
	to_cross_connects_sort(c->link_mode, made, n_made);
	for (k = 0; i < n_needed || k < n_made;) {
		int order = i == n_needed ? 1 : k == n_made ? -1 :
			    to_cross_connects_compare(&needed[i], &made[k]);
		const struct to_cross_connect *x = order <= 0 ? &needed[i] : &made[k];

		if (order)
			to_verify_say(out, order < 0 ?
				      "a link needs ports %u and %u of optical switch %s joined, and they are not" :
				      "ports %u and %u of optical switch %s are joined for no link",
				      x->a, x->b, c->switches[x->optical_switch].name);
		i += order <= 0;
		k += order >= 0;
	}
	free(needed);
	free(made);
	return 0;
}

/* Links of each ring must be its hops, in order. */
static void verify_ring(const struct to_plan *plan, const struct to_verify_out *out,
			unsigned int index, uint32_t *next, bool *linked)
{
	const struct to_cluster *c = plan->cluster;
	const struct to_ring *ring = &plan->rings[index];
	const struct to_allreduce *group = &plan->demand->groups[ring->group];
	unsigned int links = 0, hops = ring->n == 2 && c->link_mode == TO_LINKS_DUPLEX ? 1 : ring->n;
	unsigned int i;

	memset(next, 0xff, c->n_servers * sizeof(*next));
	memset(linked, 0, c->n_servers * sizeof(*linked));
	for (i = 0; i < ring->n; i++) {
		uint32_t x = ring->order[i];

		if (x >= c->n_servers || next[x] != TO_SERVER_NONE) {
			to_verify_say(out, "ring %u visits server %u twice or it does not exist",
				      index, x);
			return;
		}
		next[x] = ring->order[(i + 1) % ring->n];
	}
	for (i = 0; i < group->n_members; i++)
		if (ring->n != group->n_members || next[group->members[i]] == TO_SERVER_NONE) {
			to_verify_say(out, "ring %u does not visit every member of group %u", index,
				      ring->group);
			return;
		}
	for (i = 0; ring->jump && i < ring->n; i++)
		if (next[group->members[i]] != group->members[(i + ring->jump) % ring->n]) {
			to_verify_say(out, "ring %u does not follow its jump %u after %s", index,
				      ring->jump, verify_server(plan, group->members[i]));
			break;
		}
	for (i = 0; i < c->n_links; i++) {
		uint32_t a = c->links[i].a.server, b = c->links[i].b.server;

		if (c->links[i].ring != (int)index)
			continue;
		links++;
		if (next[a] == b && !linked[a])
			linked[a] = true;
		else if (c->link_mode == TO_LINKS_DUPLEX && next[b] == a && !linked[b])
			linked[b] = true;
		else
			to_verify_say(out, "link %s - %s is no hop of its ring %u",
				      verify_server(plan, a), verify_server(plan, b), index);
	}
	for (i = 0; links && links < hops && i < ring->n; i++)
		if (!linked[ring->order[i]])
			to_verify_say(out, "ring %u has no link of its own from %s to %s", index,
				      verify_server(plan, ring->order[i]),
				      verify_server(plan, next[ring->order[i]]));
}

/* Links of each tree must be its hops; simplex ones there and back. */
static void verify_tree(const struct to_plan *plan, const struct to_verify_out *out,
			unsigned int index, uint32_t *parent, bool *up, bool *down)
{
	const struct to_cluster *c = plan->cluster;
	const struct to_allreduce_tree *tree = &plan->trees[index];
	const uint32_t *members = plan->demand->groups[tree->group].members;
	bool duplex = c->link_mode == TO_LINKS_DUPLEX, linked = false;
	struct to_error err;
	unsigned int i;

	if (to_allreduce_tree_check(tree, plan->demand, &err)) {
		to_verify_say(out, "tree %u: %s", index, err.text);
		return;
	}
	memset(parent, 0xff, c->n_servers * sizeof(*parent));
	memset(up, 0, c->n_servers * sizeof(*up));
	memset(down, 0, c->n_servers * sizeof(*down));
	for (i = 0; i < tree->n; i++)
		parent[members[i]] = tree->parents[i];
	for (i = 0; i < c->n_links; i++) {
		uint32_t a = c->links[i].a.server, b = c->links[i].b.server;

		if (c->links[i].tree != (int)index)
			continue;
		linked = true;
		if (parent[a] == b && !up[a])
			up[a] = true;
		else if (parent[b] == a && !(duplex ? up : down)[b])
			(duplex ? up : down)[b] = true;
		else
			to_verify_say(out, "link %s - %s is no hop of its tree %u",
				      verify_server(plan, a), verify_server(plan, b), index);
	}
	for (i = 0; linked && i < tree->n; i++) {
		uint32_t x = members[i];

		if (parent[x] != TO_SERVER_NONE && (!up[x] || !(duplex || down[x])))
			to_verify_say(out, "tree %u has no link of its own between %s and %s", index,
				      verify_server(plan, x), verify_server(plan, parent[x]));
	}
}

static void verify_group(const struct to_plan *plan, const struct to_verify_out *out,
			 unsigned int group)
{
	const struct to_rings all = to_allreduce_of(plan);
	unsigned int rings = 0, trees = 0, i;
	struct to_error err;

	if (to_allreduce_shares_check(&all, group, &err))
		to_verify_say(out, "%s", err.text);
	for (i = 0; i < plan->n_rings; i++)
		rings += plan->rings[i].group == group;
	for (i = 0; i < plan->n_trees; i++)
		trees += plan->trees[i].group == group;
	if (rings && trees)
		to_verify_say(out, "group %u has rings and trees for its AllReduce", group);
	if (!rings && !trees && plan->demand->groups[group].n_members > 1)
		to_verify_say(out, "group %u has no ring or tree for its AllReduce", group);
}

static int verify_rings(const struct to_plan *plan, const struct to_verify_out *out)
{
	uint32_t *next = calloc(plan->cluster->n_servers, sizeof(*next));
	bool *linked = calloc(2 * (size_t)plan->cluster->n_servers, sizeof(*linked));
	unsigned int i;

	if (!next || !linked) {
		free(next);
		free(linked);
		return -ENOMEM;
	}
	for (i = 0; i < plan->n_rings; i++)
		verify_ring(plan, out, i, next, linked);
	for (i = 0; i < plan->n_trees; i++)
		verify_tree(plan, out, i, next, linked, linked + plan->cluster->n_servers);
	for (i = 0; i < plan->demand->n_groups; i++)
		verify_group(plan, out, i);
	free(next);
	free(linked);
	return 0;
}

int to_verify_links(const struct to_plan *plan, const struct to_verify_out *out)
{
	int ret = verify_ports(plan, out);

	if (!ret)
		ret = verify_cross_connects(plan, out);
	if (!ret)
		ret = verify_rings(plan, out);
	return ret;
}
