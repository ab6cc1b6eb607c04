// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/verify_queue_pairs.h"

#include <stdio.h>
#include <string.h>

#include "routing/queue_pairs.h"

/*
 * The arc on which what arrives on @in goes on, if that is another one than what
 * its receiver sends itself goes on; UINT32_MAX else.
 */
static uint32_t queue_pairs_onward(const struct to_forwarding *f, uint32_t in)
{
	uint32_t x = f->graph->to[in];
	uint64_t next = to_forwarding_onward(f, x, in, NULL);

	if (next == to_forwarding_onward(f, x, UINT32_MAX, NULL))
		return UINT32_MAX;
	return f->graph->out[x] + __builtin_ctzll(next);
}

/* "s3" or "s3:eth1": the address that is resolved. */
static void queue_pairs_address(const struct to_forwarding *f, char *text, size_t size)
{
	const struct to_server *server = &f->plan->cluster->servers[f->dst];

	snprintf(text, size, "%s%s%s", server->name, f->slot ? ":" : "",
		 f->slot ? server->ports[f->slot - 1].name : "");
}

/* An arc that primaries send on, and whose receiver has an alternate for. */
static void queue_pairs_check_arc(const struct to_forwarding *f, const struct to_verify_out *out,
				  uint32_t a)
{
	const struct to_server *servers = f->plan->cluster->servers;
	const struct to_graph *g = f->graph;
	uint32_t from = g->from[a], to = g->to[a];
	char address[128];

	if (to == f->dst || !(f->next[from] >> (a - g->out[from]) & 1))
		return;
	queue_pairs_address(f, address, sizeof(address));
	to_verify_say(out, "%s has an alternate for packets for %s that arrive at %s, where %s sends them while nothing is broken",
		      servers[to].name, address, servers[to].ports[g->peer_port[a]].name,
		      servers[from].name);
}

/* Whether queue pairs on the port that @arc leaves send on it. */
static bool queue_pairs_send(const struct to_forwarding *f, uint32_t arc, const uint16_t *distance)
{
	const struct to_graph *g = f->graph;
	struct to_port_ref from = { g->from[arc], g->port[arc] };

	return from.server == f->dst || !f->slot ||
	       to_queue_pair_arc(g, from, f->dst, f->slot - 1, distance) == arc;
}

void to_verify_queue_pairs(const struct to_forwarding *f, const struct to_verify_out *out,
			   const uint16_t *distance, uint32_t *mark)
{
	const struct to_server *servers = f->plan->cluster->servers;
	const struct to_graph *g = f->graph;
	char address[128];
	uint32_t first, a;

	memset(mark, 0, g->n_arcs * sizeof(*mark));
	for (first = 0; first < g->n_arcs; first++) {
		a = queue_pairs_onward(f, first);
		if (a == UINT32_MAX)
			continue;
		queue_pairs_check_arc(f, out, first);
		if (!queue_pairs_send(f, first, distance))
			continue;
		/* each of these has one successor; the rest is the tables' own way */
		for (a = first; f->slot && a != UINT32_MAX && !mark[a]; a = queue_pairs_onward(f, a))
			mark[a] = 1 + first;
		if (a == UINT32_MAX || mark[a] != 1 + first)
			continue;
		queue_pairs_address(f, address, sizeof(address));
		to_verify_say(out, "RDMA for %s that %s sends through %s loops at %s", address,
			      servers[g->from[first]].name,
			      servers[g->from[first]].ports[g->port[first]].name,
			      servers[g->to[a]].name);
	}
}
