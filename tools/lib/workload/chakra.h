/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHAKRA_H
#define TOPOOPT_CHAKRA_H

/*
 * The demand of a job from the execution traces of its ranks.
 *
 * An AllReduce of M bytes puts 2(n - 1)/n M on every link of a ring. The other
 * collectives that run on rings count as the AllReduce that puts as many bytes
 * on every link:
 *
 *	all-reduce, M bytes			M
 *	reduce-scatter, M bytes			M / 2
 *	all-gather, M bytes from each of n	n M / 2
 *	broadcast, reduce, M bytes		M / 2
 *
 * An all-to-all of M bytes per rank sends M / n from each rank to each: MP
 * transfers, as are sends.
 */

#include "data/demand.h"
#include "workload/chakra_replay.h"
#include "workload/trace.h"

#define TO_CHAKRA_DIMS_MAX 8

/**
 * struct to_chakra_options - how ranks are arranged
 * @ranks_per_server: consecutive ranks that share a server; what they send each
 *	other stays inside
 * @n_dims, @dims: sizes of the rank dimensions that involved_dim refers to,
 *	fastest-varying first; none if every collective involves all dimensions
 */
struct to_chakra_options {
	uint32_t ranks_per_server;
	unsigned int n_dims;
	uint32_t dims[TO_CHAKRA_DIMS_MAX];
};

/**
 * struct to_chakra_totals - what the traces contain, over all ranks
 * @n_nodes: nodes of any type
 * @compute_seconds: of the rank that computes longest
 * @sends, @send_bytes: messages from rank to rank
 * @collectives, @collective_bytes: by kind, each once; bytes as in
 *	struct to_trace_comm, of an all-to-all summed over ranks
 */
struct to_chakra_totals {
	uint32_t n_ranks;
	uint64_t n_nodes;
	double compute_seconds;
	uint64_t sends, send_bytes;
	uint64_t collectives[TO_COLLECTIVES], collective_bytes[TO_COLLECTIVES];
};

/**
 * to_chakra_load() - demand of the traces at @paths
 * @paths: @n files NAME.RANK.et, one for each rank from 0 on, in any order
 *
 * @replay: gets the nodes as tasks, if not NULL: after to_replay_init() of @n, one rank a server
 *
 * The demand's name is NAME.
 *
 * Return: the demand, to be freed by to_demand_free(); NULL with @err set when a
 * trace cannot be read, a rank has none, sends and receives do not match, or
 * ranks of a process group do different collectives; with @replay, when a node waits for
 * itself or one that is not there.
 */
struct to_demand *to_chakra_load(char *const *paths, uint32_t n,
				 const struct to_chakra_options *options,
				 struct to_chakra_totals *totals, struct to_replay *replay,
				 struct to_error *err);

#endif
