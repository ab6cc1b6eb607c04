// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/addresses.h"
#include "job/env.h"
#include "kernel/rtnl.h"
#include "verify/rdma_pairs.h"

#define NCCL_ADDR_RANGE 22100	/* the first version with NCCL_IB_ADDR_RANGE */
#define NCCL_OFFERED 2		/* GIDs in a handle: ncclIbHandle.listenGids */

const char *const to_env_clients[] = {
	[TO_ENV_NCCL] = "nccl", [TO_ENV_OPENMPI] = "openmpi", [TO_ENV_UCX] = "ucx",
	[TO_ENV_GLOO] = "gloo", [TO_ENV_TORCHRUN] = "torchrun", NULL
};

int to_env_look(const struct to_server *server, struct to_env_port *ports,
		struct to_error *err)
{
	const struct to_nic *nic;
	struct to_nic *nics;
	struct to_netlink nl;
	unsigned int n;
	int ret = to_netlink_open(&nl, NETLINK_ROUTE, err);

	if (ret)
		return ret;
	ret = to_rtnl_nics(&nl, &nics, &n, err);
	to_netlink_close(&nl);
	if (ret)
		return ret;
	for (unsigned int p = 0; p < server->n_ports; p++) {
		const char *name = to_port_rdma(&server->ports[p]);

		nic = to_rtnl_nic_find(nics, n, name);
		ports[p].carrier = nic && nic->carrier;
		to_rdma_find(&ports[p].rdma, name, &server->ports[p].address);
	}
	free(nics);
	return 0;
}

struct env {
	const struct to_env_view *view;
	const struct to_plan *plan;
	const struct to_server *self;
	uint32_t before, after;		/* the neighbours on the ring */
	bool used[TO_PORTS_MAX];	/* ports that RDMA is to use */
	json_t *variables, *warnings;
	struct to_error *err;
};

static void env_set(struct env *env, const char *key, const char *value)
{
	json_object_set_new(env->variables, key, json_string(value));
}

static void env_set_number(struct env *env, const char *key, int value)
{
	json_object_set_new(env->variables, key, json_sprintf("%d", value));
}

static void env_warn(struct env *env, json_t *line)
{
	json_array_append_new(env->warnings, line);
}

static const char *env_name(const struct env *env, uint32_t server)
{
	return env->plan->cluster->servers[server].name;
}

static bool env_linked(const struct env *env, unsigned int p)
{
	struct to_port_ref peer;

	return env->self->ports[p].packet_switch ||
	       !to_plan_peer(env->plan, (struct to_port_ref){ env->view->server, p }, &peer);
}

/* Whether port @p leads to server @to, by a cable or a packet switch. */
static bool env_leads(const struct env *env, unsigned int p, uint32_t to)
{
	return to_plan_leads(env->plan, (struct to_port_ref){ env->view->server, p }, to);
}

static bool env_cabled(const struct env *env, uint32_t to)
{
	for (unsigned int p = 0; p < env->self->n_ports; p++)
		if (env_leads(env, p, to))
			return true;
	return false;
}

/* Share of the flows from here to @to, by the tables, that take other links than theirs. */
static double env_detour(const struct env *env, uint32_t to)
{
	const struct to_table *table = &env->plan->tables[env->view->server];
	uint16_t index = table->route[(size_t)to * env->plan->slots];
	double all = 0, other = 0;

	for (unsigned int i = 0; i < table->n_pairs; i++)
		if (table->pairs[i].src == env->view->server && table->pairs[i].dst == to &&
		    !table->pairs[i].slot)
			index = table->pairs[i].group;
	if (index == TO_GROUP_NONE)
		return 1;
	for (unsigned int i = 0; i < table->groups[index].n; i++) {
		const struct to_nexthop *hop = &table->groups[index].nexthops[i];
		struct to_port_ref end;

		if (!to_nexthop_primary(hop))
			continue;
		all += hop->weight;
		if (to_plan_hop_end(env->plan, env->view->server, hop, &end) || end.server != to)
			other += hop->weight;
	}
	return all > 0 ? other / all : 1;
}

/* Neighbours on the ring to which a connection by the node's address leaves its cable. */
static void env_warn_detours(struct env *env)
{
	const uint32_t neighbours[] = { env->after, env->before };

	for (unsigned int i = 0; i < 2; i++) {
		const uint32_t to = neighbours[i];
		double detour;

		if (to == env->view->server || (i && to == neighbours[0]))
			continue;
		if (!env_cabled(env, to)) {
			env_warn(env, json_sprintf("%s - %s has no cable: relayed", env->self->name,
						   env_name(env, to)));
			continue;
		}
		detour = env_detour(env, to);
		if (detour > 0)
			env_warn(env, json_sprintf("%s - %s: %.3g %% of the flows are planned by other links than its own",
						   env->self->name, env_name(env, to), 100 * detour));
	}
}

/* Rings that a client with one order leaves idle. */
static void env_warn_rings(struct env *env, const char *client)
{
	const struct to_ranks *ranks = env->view->ranks;
	unsigned int rings = 0;

	/* rings on parallel links may have the same order */
	for (unsigned int i = 0; i < env->plan->n_rings; i++) {
		const struct to_ring *ring = &env->plan->rings[i];

		rings += ring->group == ranks->group &&
			 (i == ranks->ring || memcmp(ring->order, ranks->order,
						     ring->n * sizeof(*ring->order)));
	}
	if (ranks->ring != TO_RANKS_NONE && rings > 1)
		env_warn(env, json_sprintf("%s has one order of ranks for a communicator: %u of the group's %u rings stay idle unless each has one of its own, with ranks in its order",
					   client, rings - 1, rings));
	if (ranks->group != TO_RANKS_NONE && ranks->ring == TO_RANKS_NONE)
		env_warn(env, json_sprintf("%s does not know the trees of AllReduce group %u, and has its own: relayed",
					   client, ranks->group));
}

/*
 * Parent of a position in the trees that NCCL connects when it starts (trees.cc,
 * ncclGetDtree): a binary tree with position 0 at its root, and one that is mirrored,
 * or moved by one when the number of positions is odd.
 */
static uint32_t env_nccl_parent(uint32_t at, unsigned int n, bool second)
{
	uint32_t x = !second ? at : n % 2 ? (at + n - 1) % n : n - 1 - at;
	uint32_t bit = x & -x, up = (x ^ bit) | bit << 1;

	if (!x)
		return TO_SERVER_NONE;
	if (up >= n)
		up = x ^ bit;
	return !second ? up : n % 2 ? (up + 1) % n : n - 1 - up;
}

static int env_warn_nccl_trees(struct env *env)
{
	const struct to_ranks *ranks = env->view->ranks;
	const uint32_t here = to_ranks_place(ranks, env->view->server);
	struct to_rdma_pairs pairs = {};
	int ret = to_rdma_pairs_limited(env->plan->cluster) ?
		  to_rdma_pairs_find(env->plan, env->view->server, &pairs) : 0;

	if (ret)
		return to_error_set(env->err, ret, "out of memory");

	for (uint32_t at = 0; at < ranks->n; at++) {
		const uint32_t to = to_ranks_server(ranks, at);
		bool peers = false;

		for (unsigned int second = 0; second < 2; second++)
			peers |= env_nccl_parent(at, ranks->n, second) == here ||
				 env_nccl_parent(here, ranks->n, second) == at;
		if (peers && !env_cabled(env, to))
			env_warn(env, json_sprintf("%s - %s has no cable: NCCL connects them for its trees when it starts; %s",
						   env->self->name, env_name(env, to),
						   pairs.reached < pairs.pairs ?
						   "RDMA does not reach all other ports, so that may fail" : "relayed"));
	}
	return 0;
}

static bool env_near(const struct env *env, unsigned int p)
{
	return env_leads(env, p, env->before) || env_leads(env, p, env->after);
}

/* Ports with carrier and a link; of these only the ones to neighbours, if there are any. */
static int env_use_ports(struct env *env, bool neighbours)
{
	unsigned int lit = 0, near = 0;

	for (unsigned int p = 0; p < env->self->n_ports; p++) {
		env->used[p] = env->view->ports[p].carrier && env_linked(env, p);
		lit += env->used[p];
		near += env->used[p] && env_near(env, p);
	}
	if (!lit)
		return to_error_set(env->err, -ENODEV, "%s: no port has carrier and a link",
				    env->self->name);
	for (unsigned int p = 0; neighbours && near && p < env->self->n_ports; p++)
		env->used[p] &= env_near(env, p);
	for (unsigned int p = 0; p < env->self->n_ports; p++) {
		const struct to_rdma_port *rdma = &env->view->ports[p].rdma;
		const char *name = to_port_rdma(&env->self->ports[p]);

		if (env->used[p] && !rdma->device[0])
			return to_error_set(env->err, -ENODEV,
					    "%s: %s has no RDMA device: load the NIC's driver, or: rdma link add %s_rxe type rxe netdev %s",
					    env->self->name, name, name, name);
		if (env->used[p] && rdma->gid < 0)
			return to_error_set(env->err, -ENODEV,
					    "%s: %s of %s has no RoCEv2 GID of the port's address: toctl apply sets the address",
					    env->self->name, rdma->device, name);
	}
	return 0;
}

/* "mlx5_0:1,mlx5_1:1" */
static void env_set_devices(struct env *env, const char *key, const char *before)
{
	char list[TO_PORTS_MAX * 74];
	size_t length = snprintf(list, sizeof(list), "%s", before);

	for (unsigned int p = 0; p < env->self->n_ports; p++)
		if (env->used[p])
			length += snprintf(list + length, sizeof(list) - length, "%s%s:%s",
					   length > strlen(before) ? "," : "",
					   env->view->ports[p].rdma.device,
					   env->view->ports[p].rdma.port);
	env_set(env, key, list);
}

/* The GID index of all ports in use, -1 when they differ. */
static int env_gid(const struct env *env)
{
	int gid = -1;

	for (unsigned int p = 0; p < env->self->n_ports; p++) {
		if (!env->used[p])
			continue;
		if (gid >= 0 && gid != env->view->ports[p].rdma.gid)
			return -1;
		gid = env->view->ports[p].rdma.gid;
	}
	return gid;
}

/* The longest prefix of the ports' IPv4 addresses; NULL when the node's has it, too. */
static json_t *env_prefix(const struct env *env)
{
	const struct to_address *node = &env->self->address;
	char text[INET_ADDRSTRLEN];
	uint32_t first = 0, differ = 0, mask;
	bool any = false;
	struct in_addr net;
	int length = 32;

	for (unsigned int p = 0; p < env->self->n_ports; p++) {
		const struct to_address *address = &env->self->ports[p].address;

		if (!env->used[p])
			continue;
		if (!address->has_v4)
			return NULL;
		first = any ? first : ntohl(address->v4.s_addr);
		differ |= first ^ ntohl(address->v4.s_addr);
		any = true;
	}
	for (; differ; differ >>= 1)
		length--;
	mask = length ? ~0u << (32 - length) : 0;
	if (node->has_v4 && (ntohl(node->v4.s_addr) & mask) == (first & mask))
		return NULL;
	net.s_addr = htonl(first & mask);
	return json_sprintf("%s/%d", inet_ntop(AF_INET, &net, text, sizeof(text)), length);
}

/* How the cables between neighbours on the ring run, by the indices of their ports. */
static void env_cabling(const struct env *env, unsigned int *same, unsigned int *crossed)
{
	const struct to_cluster *c = env->plan->cluster;
	const struct to_ranks *ranks = env->view->ranks;

	*same = *crossed = 0;
	for (unsigned int i = 0; i < c->n_links; i++) {
		const int a = to_ranks_place(ranks, c->links[i].a.server);
		const int b = to_ranks_place(ranks, c->links[i].b.server);

		if (a < 0 || b < 0 || (abs(a - b) != 1 && abs(a - b) != (int)ranks->n - 1))
			continue;
		if (c->links[i].a.port == c->links[i].b.port)
			++*same;
		else
			++*crossed;
	}
}

/* Have NCCL compare as many bits as tell the cables apart. */
static int env_set_subnet(struct env *env)
{
	const struct to_cluster *c = env->plan->cluster;
	const int bits = to_addresses_subnet(c, c->links, c->n_links);

	if (bits < 0)
		return to_error_set(env->err, bits, "out of memory");
	if (!bits)
		env_warn(env, c->n_switches ?
			 json_string(TO_ADDRESSES_MIXED "; links move behind an optical switch, and ports keep their addresses") :
			 json_string(TO_ADDRESSES_MIXED "; " TO_ADDRESSES_RENUMBER));
	else if (bits != TO_ADDRESSES_SUBNET)
		env_set_number(env, "NCCL_IB_SUBNET_PREFIX_LEN", bits);
	return 0;
}

/* The most ports in use that NCCL merges into one device: they are on one PCI device. */
static unsigned int env_merged(const struct env *env)
{
	const struct to_port *ports = env->self->ports;
	unsigned int most = 0;

	for (unsigned int p = 0; p < env->self->n_ports; p++) {
		unsigned int n = 0;

		for (unsigned int q = 0; q < env->self->n_ports; q++)
			n += env->used[q] && ports[p].pcie == ports[q].pcie &&
			     !strcmp(ports[p].card, ports[q].card);
		most = n > most ? n : most;
	}
	return most;
}

static int env_nccl(struct env *env)
{
	char interface[IFNAMSIZ + 1];
	unsigned int same, crossed, merged;
	int ret = env_use_ports(env, true), gid;
	json_t *prefix;

	if (ret)
		return ret;
	snprintf(interface, sizeof(interface), "=%s", env->view->device);
	env_set(env, "NCCL_SOCKET_IFNAME", interface);
	env_set_devices(env, "NCCL_IB_HCA", "=");
	gid = env_gid(env);
	prefix = gid < 0 ? env_prefix(env) : NULL;
	if (gid >= 0) {
		env_set_number(env, "NCCL_IB_GID_INDEX", gid);
	} else if (prefix) {
		json_object_set_new(env->variables, "NCCL_IB_ADDR_RANGE", prefix);
		if (env->view->version && env->view->version < NCCL_ADDR_RANGE)
			env_warn(env, json_string("the ports' GIDs have different indices: NCCL before 2.21 does not know NCCL_IB_ADDR_RANGE, and may take another"));
	} else {
		return to_error_set(env->err, -ENOTSUP,
				    "%s: the ports' GIDs have different indices, and no prefix that the node's address has not: NCCL takes one for all",
				    env->self->name);
	}
	env_cabling(env, &same, &crossed);
	env_set_number(env, "NCCL_IB_MERGE_NICS", same > crossed);
	env_set(env, "NCCL_IB_SUBNET_AWARE_ROUTING", "1");
	ret = env_set_subnet(env);
	if (ret)
		return ret;
	if (env->view->ranks->ring != TO_RANKS_NONE)
		env_set(env, "NCCL_ALGO", "Ring");
	merged = same > crossed ? env_merged(env) : 1;
	if (env->view->version && env->view->version < TO_ENV_NCCL_SUBNET_AWARE)
		env_warn(env, json_string("NCCL before 2.30.7 does not know NCCL_IB_SUBNET_AWARE_ROUTING: connections enter by other ports than their cables'; relayed"));
	if (same && crossed)
		env_warn(env, json_sprintf("of the ring's cables %u join ports of the same index and %u others: NCCL finds the one kind or the other; the rest is relayed",
					   same, crossed));
	if (merged > NCCL_OFFERED)
		env_warn(env, json_sprintf("NCCL offers its peers two GIDs of a merged device: connections by the others of its %u ports may be relayed",
					   merged));
	for (unsigned int i = 0; i < 2; i++) {
		const uint32_t to = i ? env->before : env->after;

		if (!env_cabled(env, to) && !(i && to == env->after))
			env_warn(env, json_sprintf("%s - %s has no cable: relayed", env->self->name,
						   env_name(env, to)));
	}
	env_warn_rings(env, "NCCL");
	return env_warn_nccl_trees(env);
}

static int env_ucx(struct env *env)
{
	int ret = env_use_ports(env, false), gid;

	if (ret)
		return ret;
	gid = env_gid(env);
	if (gid < 0)
		return to_error_set(env->err, -ENOTSUP,
				    "%s: the ports' GIDs have different indices: UCX takes one for all",
				    env->self->name);
	env_set_devices(env, "UCX_NET_DEVICES", "");
	env_set_number(env, "UCX_IB_GID_INDEX", gid);
	env_set(env, "UCX_TLS", "rc,sm,self");
	env_set(env, "UCX_MAX_RNDV_RAILS", "1");
	env_set(env, "UCX_IB_ROCE_REACHABILITY_MODE", "route");
	/* before 1.19 it takes an IPv4 header for one of IPv6 except on Mellanox's NICs */
	env_set(env, "UCX_UD_VERBS_ETH_DGID_CHECK", "n");
	env_warn(env, json_string("UCX takes devices by their speed, not by the peer at their cables: connections may leave by another port; relayed"));
	env_warn(env, json_string("UCX before 1.19 does not know UCX_IB_ROCE_REACHABILITY_MODE, and does not need it"));
	return 0;
}

static void env_openmpi(struct env *env)
{
	env_set(env, "OMPI_MCA_pml", "ob1");
	env_set(env, "OMPI_MCA_btl", "tcp,sm,self");
	env_set(env, "OMPI_MCA_btl_tcp_if_include", env->view->device);
	env_set(env, "OMPI_MCA_oob_tcp_if_include", env->view->device);
	env_set(env, "PRTE_MCA_prte_if_include", env->view->device);
	env_set(env, "OMPI_MCA_coll", "^han");
	if (env->view->ranks->ring != TO_RANKS_NONE) {
		env_set(env, "OMPI_MCA_coll_tuned_use_dynamic_rules", "1");
		env_set(env, "OMPI_MCA_coll_tuned_allreduce_algorithm", "4");
	}
	env_warn_detours(env);
	env_warn_rings(env, "OpenMPI");
}

static void env_gloo(struct env *env)
{
	env_set(env, "GLOO_SOCKET_IFNAME", env->view->device);
	env_set(env, "TP_SOCKET_IFNAME", env->view->device);
	env_warn_detours(env);
	env_warn_rings(env, "gloo");
}

static void env_torchrun(struct env *env)
{
	const struct to_ranks *ranks = env->view->ranks;
	char node[INET6_ADDRSTRLEN];

	env_set_number(env, "PET_NNODES", ranks->n);
	env_set_number(env, "PET_NODE_RANK", to_ranks_place(ranks, env->view->server));
	env_set(env, "PET_MASTER_ADDR", to_ranks_node(env->plan, to_ranks_server(ranks, 0), node));
	env_set_number(env, "PET_MASTER_PORT", TO_RANKS_PORT);
	env_gloo(env);
}

int to_env_make(const struct to_env_view *view, enum to_env_client client,
		json_t **variables, json_t **warnings, struct to_error *err)
{
	const struct to_ranks *ranks = view->ranks;
	const int place = to_ranks_place(ranks, view->server);
	struct env env = {
		.view = view, .plan = ranks->plan, .err = err,
		.self = &ranks->plan->cluster->servers[view->server],
		.variables = json_object(), .warnings = json_array(),
	};
	int ret = 0;

	*variables = env.variables;
	*warnings = env.warnings;
	if (place < 0) {
		ret = to_error_set(err, -ENOENT, "%s is not in AllReduce group %u", env.self->name,
				   ranks->group);
		goto out;
	}
	env.after = to_ranks_server(ranks, (place + 1) % ranks->n);
	env.before = to_ranks_server(ranks, (place + ranks->n - 1) % ranks->n);
	if (client == TO_ENV_NCCL)
		ret = env_nccl(&env);
	else if (client == TO_ENV_UCX)
		ret = env_ucx(&env);
	else if (client == TO_ENV_OPENMPI)
		env_openmpi(&env);
	else if (client == TO_ENV_GLOO)
		env_gloo(&env);
	else
		env_torchrun(&env);
out:
	if (ret) {
		json_decref(*variables);
		json_decref(*warnings);
		*variables = *warnings = NULL;
	}
	return ret;
}
