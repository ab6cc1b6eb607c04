/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RANK_SIMULATION_H
#define TOPOOPT_RANK_SIMULATION_H

/* tosim simulate --network: an iteration on a network of dimensions. */

#include "collectives/chunk_run.h"
#include "cli/command.h"
#include "workload/rank_iteration.h"

/** struct to_rank_options - what is asked for; @network: dims.json, or NULL for another fabric */
struct to_rank_options {
	const char *network;
	uint64_t chunks, divided;
	int policy, order;
	bool recompute;
};

#define TO_RANK_DEFAULTS \
	.chunks = 64, .divided = 1, .policy = TO_RANK_THEMIS, .order = TO_CHUNK_SCF

#define TO_RANK_OPTIONS(type, member) \
	{ "network", 0, TO_OPTION_STRING, offsetof(type, member.network), .argument = "FILE", \
	  .help = "of dimensions, dims.json: a rank is a server of the --model, and all do the same" }, \
	{ "policy", 0, TO_OPTION_CHOICE, offsetof(type, member.policy), .choices = to_rank_policies, \
	  .with = "network", \
	  .help = "which dimension the chunks of AllReduce take first, see tosim schedule; ideal: all dimensions are full; default: themis" }, \
	{ "order", 0, TO_OPTION_CHOICE, offsetof(type, member.order), .choices = to_chunk_orders, \
	  .with = "network", .help = "which chunk is next in a dimension; default: scf" }, \
	{ "chunks", 0, TO_OPTION_NUMBER, offsetof(type, member.chunks), .argument = "N", \
	  .min = 1, .max = TO_CHUNKS_MAX, .with = "network", \
	  .help = "of an AllReduce; default: 64" }, \
	{ "model-parallel", 0, TO_OPTION_NUMBER, offsetof(type, member.divided), .argument = "N", \
	  .min = 1, .max = TO_DIMENSIONS_RANKS_MAX, .with = "network", \
	  .help = "ranks of the inner dimensions that share each operator; default: 1" }, \
	{ "recompute", 0, TO_OPTION_FLAG, offsetof(type, member.recompute), .with = "network", \
	  .help = "results once more on the way back, as they are not kept" }

/**
 * to_rank_simulate() - run and print it
 * @placement: tables for embeddings that go all to all; data and search, the default of
 *	the command, for data parallelism
 */
int to_rank_simulate(struct to_call *call, const struct to_rank_options *options,
		     const char *model, const char *placement, unsigned int batch);

#endif
