/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ENV_LAB_H
#define TOPOOPT_ENV_LAB_H

/* A server with clients of a job, whose ports and RDMA devices are known. */

#include <arpa/inet.h>

#include "job.h"
#include "job/env.h"

/* @text: what toctl job env prints: a line per variable, "! WARNING" for each warning */
struct lab {
	struct to_plan *plan;
	struct to_ranks ranks;
	struct to_env_port ports[TO_PORTS_MAX];
	struct to_env_view view;
	struct to_error err;
	char text[4096];
};

static inline void lab_start(struct lab *lab, struct to_plan *plan, uint32_t ring, uint32_t server)
{
	*lab = (struct lab){ .plan = plan };
	assert_non_null(plan);
	assert_int_equal(to_ranks_find(&lab->ranks, plan, TO_RANKS_NONE, ring, &lab->err), 0);
	for (unsigned int p = 0; p < plan->cluster->servers[server].n_ports; p++) {
		lab->ports[p].carrier = true;
		lab->ports[p].rdma = (struct to_rdma_port){ .gid = 3, .before = -1, .port = "1" };
		snprintf(lab->ports[p].rdma.device, sizeof(lab->ports[p].rdma.device), "mlx5_%u", p);
	}
	lab->view = (struct to_env_view){ &lab->ranks, server, "topo0", lab->ports, 0 };
}

/* Four servers in a ring of cables, eth0 to eth1 or each to its like. */
static inline struct to_plan *ring_of_four(bool crossed, struct to_error *err)
{
	struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct to_demand *demand = job_new(4);
	struct to_cluster *cluster = to_cluster_synthetic(4, 2, 0, TO_LINKS_DUPLEX, err);

	job_group(demand, 0, 1, 4, MIB);
	cluster->n_links = 4;
	cluster->links = calloc(4, sizeof(*cluster->links));
	for (unsigned int i = 0; i < 4; i++)
		cluster->links[i] = (struct to_link){
			.a = { i, crossed ? 0 : i % 2 },
			.b = { (i + 1) % 4, crossed ? 1 : i % 2 },
			.use = TO_LINK_FIXED, .ring = -1, .tree = -1,
		};
	/* the ends of a cable are in one subnet */
	for (unsigned int i = 0; i < 4; i++) {
		const struct to_link *link = &cluster->links[i];

		cluster->servers[link->a.server].ports[link->a.port].address.v4.s_addr =
			htonl(0x0ac90001 | i << 8);
		cluster->servers[link->b.server].ports[link->b.port].address.v4.s_addr =
			htonl(0x0ac90002 | i << 8);
	}
	return to_planner_make(cluster, demand, &options, err);
}

#endif
