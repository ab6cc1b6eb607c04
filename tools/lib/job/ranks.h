/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RANKS_H
#define TOPOOPT_RANKS_H

/*
 * In which order the ranks of a job go onto servers, so that a ring AllReduce by rank,
 * as MPI, gloo and NCCL have it, sends along the cables of a plan's ring.
 */

#include <stdio.h>

#include "base/error.h"
#include "data/plan.h"

#define TO_RANKS_NONE UINT32_MAX	/* of a group or ring: not said */
#define TO_RANKS_SLOTS_MAX 1024
#define TO_RANKS_PORT 29500u		/* of the rendezvous, as torchrun has it */

/**
 * struct to_ranks - servers in the order of their ranks
 * @group: AllReduce group, TO_RANKS_NONE when the job has none
 * @ring: whose order it is, index into the plan's; TO_RANKS_NONE when it is that of
 *	the group, which has no ring
 * @order: @n server indices, borrowed from the plan; NULL: all servers in their order
 */
struct to_ranks {
	const struct to_plan *plan;
	uint32_t group, ring;
	unsigned int n;
	const uint32_t *order;
};

/**
 * to_ranks_find() - the order of a ring, or of a group's first one
 * @group: index into the demand's groups; TO_RANKS_NONE: that of @ring, or the first
 * @ring: index into the plan's rings; TO_RANKS_NONE: the first of the group
 *
 * A group with trees or without either has the order of its members, and a job
 * without groups that of the plan's servers.
 *
 * Return: 0, or -ENOENT with @err: no such group or ring; a ring of another group; a
 * ring of a group with trees.
 */
int to_ranks_find(struct to_ranks *ranks, const struct to_plan *plan, uint32_t group,
		  uint32_t ring, struct to_error *err);

/** to_ranks_server() - index of the server that has position @i */
uint32_t to_ranks_server(const struct to_ranks *ranks, unsigned int i);

/** to_ranks_place() - position of @server, -1 when it has none */
int to_ranks_place(const struct to_ranks *ranks, uint32_t server);

/** enum to_ranks_format - who reads it; see to_ranks_formats */
enum to_ranks_format {
	TO_RANKS_OPENMPI, TO_RANKS_MPICH, TO_RANKS_SLURM, TO_RANKS_TORCHRUN, TO_RANKS_JSON
};

extern const char *const to_ranks_formats[];	/* ends with NULL */

/** to_ranks_print() - as a launcher takes it, @slots ranks on each server; not JSON */
void to_ranks_print(FILE *out, const struct to_ranks *ranks, enum to_ranks_format format,
		    unsigned int slots);

/**
 * to_ranks_print_json() - all rings, in each direction, and trees of the group, with
 *	the share of an AllReduce's bytes that each carries (ranks.schema.json)
 */
void to_ranks_print_json(FILE *out, const struct to_ranks *ranks, unsigned int slots,
			 const char *fingerprint);

/** to_ranks_node() - node address of @server as text, IPv4 if it has one */
const char *to_ranks_node(const struct to_plan *plan, uint32_t server,
			  char text[INET6_ADDRSTRLEN]);

#endif
