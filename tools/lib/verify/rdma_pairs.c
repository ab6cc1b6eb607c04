// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/rdma_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/pcie.h"
#include "routing/forwarding.h"

/* The tables, and what was found for the address that is resolved. */
struct rdma_pairs {
	const struct to_cluster *cluster;
	struct to_forwarding f;
	bool *passes;		/* per server: all relays on its paths take RoCEv2 on */
};

bool to_rdma_pairs_limited(const struct to_cluster *c)
{
	for (uint32_t x = 0; x < c->n_servers; x++)
		for (unsigned int q = 0; q < c->servers[x].n_ports; q++)
			if (c->servers[x].ports[q].transit != TO_TRANSIT_KERNEL)
				return true;
	return false;
}

/* Whether relay @x takes RoCEv2 that comes in by port @in on to all its next hops. */
static bool rdma_pairs_relays(const struct rdma_pairs *r, uint32_t x, unsigned int in)
{
	const struct to_graph *g = r->f.graph;
	const struct to_server *server = &r->cluster->servers[x];

	if (server->ports[in].transit != TO_TRANSIT_NIC)
		return server->ports[in].transit == TO_TRANSIT_KERNEL;
	for (uint64_t left = r->f.next[x]; left; left &= left - 1)
		if (!to_pcie_bypasses(server, in, g->port[g->out[x] + __builtin_ctzll(left)]))
			return false;
	return true;
}

/* Whether all packets of @x for the address that is resolved pass their relays. */
static bool rdma_pairs_passes(const struct rdma_pairs *r, uint32_t x)
{
	const struct to_graph *g = r->f.graph;

	for (uint64_t left = r->f.next[x]; left; left &= left - 1) {
		const uint32_t a = g->out[x] + __builtin_ctzll(left), y = g->to[a];

		if (y != r->f.dst && (!r->passes[y] || !rdma_pairs_relays(r, y, g->peer_port[a])))
			return false;
	}
	return true;
}

/* Count the pairs of the port that is resolved. */
static void rdma_pairs_count(struct rdma_pairs *r, uint32_t src, struct to_rdma_pairs *pairs)
{
	const struct to_forwarding *f = &r->f;

	for (unsigned int i = 1; i < f->n_reached; i++) {
		const uint32_t x = f->order[i];

		r->passes[x] = rdma_pairs_passes(r, x);
		if (src != TO_SERVER_NONE && x != src)
			continue;
		pairs->pairs++;
		pairs->reached += r->passes[x];
	}
}

int to_rdma_pairs_find(const struct to_plan *plan, uint32_t src, struct to_rdma_pairs *pairs)
{
	const struct to_cluster *c = plan->cluster;
	struct rdma_pairs r = { .cluster = c };
	struct to_graph *graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	int ret = -ENOMEM;

	*pairs = (struct to_rdma_pairs){ 0 };
	r.passes = calloc(c->n_servers, sizeof(*r.passes));
	if (graph && r.passes)
		ret = to_forwarding_init(&r.f, plan, graph);
	for (uint32_t dst = 0; !ret && dst < c->n_servers; dst++)
		for (unsigned int slot = 1; slot < plan->slots; slot++) {
			to_forwarding_resolve(&r.f, dst, slot);
			rdma_pairs_count(&r, src, pairs);
		}
	to_forwarding_free(&r.f);
	to_graph_free(graph);
	free(r.passes);
	return ret;
}
