/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RANK_ARGS_H
#define TOPOOPT_RANK_ARGS_H

/* Options of simulate --network: an iteration on a network of dimensions. */

#include "cli/command.h"
#include "collectives/chunk_run.h"
#include "workload/rank_iteration.h"

/** struct to_rank_args - arguments of the options; start as TO_RANK_DEFAULTS */
struct to_rank_args {
	const char *network;		/* dims.json, or NULL for another fabric */
	uint64_t chunks, divided;
	int policy, order;
	bool recompute;
};

#define TO_RANK_DEFAULTS \
	{ .chunks = 64, .divided = 1, .policy = TO_RANK_THEMIS, .order = TO_CHUNK_SCF }

/**
 * TO_RANK_OPTIONS - rows of a command's option table
 * @type: arguments of the command
 * @member: member of @type that is a struct to_rank_args
 */
#define TO_RANK_OPTIONS(type, member) \
	{ "network", 0, TO_OPTION_STRING, offsetof(type, member.network), .argument = "FILE", \
	  .help = "dims.json: dimensions that join ranks, in the place of --fabric" }, \
	{ "policy", 0, TO_OPTION_CHOICE, offsetof(type, member.policy), \
	  .choices = to_rank_policies, .with = "network", .advanced = true, \
	  .help = "choice of the dimension that a chunk takes next; default: themis" }, \
	{ "order", 0, TO_OPTION_CHOICE, offsetof(type, member.order), \
	  .choices = to_chunk_orders, .with = "network", .advanced = true, \
	  .help = "order of chunks in a dimension; default: scf, smallest chunk first" }, \
	{ "chunks", 0, TO_OPTION_NUMBER, offsetof(type, member.chunks), .argument = "N", \
	  .min = 1, .max = TO_CHUNKS_MAX, .with = "network", .advanced = true, \
	  .help = "chunks of a collective; default: 64" }, \
	{ "model-parallel", 0, TO_OPTION_NUMBER, offsetof(type, member.divided), \
	  .argument = "N", .min = 1, .max = TO_DIMENSIONS_RANKS_MAX, .with = "network", \
	  .advanced = true, .help = "ranks of the inner dimensions that share each operator" }, \
	{ "recompute", 0, TO_OPTION_FLAG, offsetof(type, member.recompute), .with = "network", \
	  .advanced = true, .help = "compute results again on the way back, as memory is short" }

#endif
