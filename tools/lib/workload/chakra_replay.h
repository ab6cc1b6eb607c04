/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHAKRA_REPLAY_H
#define TOPOOPT_CHAKRA_REPLAY_H

/*
 * The nodes of execution traces as tasks that wait for each other.
 *
 * A rank is a server. A node that computes takes as long as the trace says. A collective is
 * one task of all its ranks: it begins when it has been reached by all. A message begins when
 * its send has been reached; its receive has ended when that has, too, and the message has
 * arrived. Nodes of other types, and those of the CPU, take no time.
 */

#include "data/taskgraph.h"
#include "workload/trace.h"

/** Room for "rank 4294967295 node 18446744073709551615". */
#define TO_REPLAY_NAME_MAX 44

/**
 * struct to_replay - tasks of traces
 * @tasks: what they do, once it is finished
 * @names: of the tasks
 * @of_comm: scratch: the task of each node that communicates, per rank
 */
struct to_replay {
	struct to_taskgraph tasks;
	char (*names)[TO_REPLAY_NAME_MAX];
	uint32_t **of_comm, n_ranks;
};

/** to_replay_init() - begin a replay of @n ranks. Return: 0 or -ENOMEM. */
int to_replay_init(struct to_replay *replay, uint32_t n);
void to_replay_free(struct to_replay *replay);

/** to_replay_begin() - after @traces, one a rank, have been read; 0 or -ENOMEM */
int to_replay_begin(struct to_replay *replay, const struct to_trace *traces);

/** to_replay_comm() - node @place of those of @rank that communicate is @task */
void to_replay_comm(struct to_replay *replay, uint32_t rank, uint32_t place, uint32_t task);

/**
 * to_replay_message() - add a message between node @send of rank @src and node @receive of
 *	rank @dst, as to_replay_comm()
 */
void to_replay_message(struct to_replay *replay, uint32_t src, uint32_t send, uint32_t dst,
		       uint32_t receive, uint64_t bytes);

/**
 * to_replay_finish() - the other nodes, and what waits for what
 *
 * Return: 0, or with @err set: -ENOMEM; -EINVAL for a node that waits for one that is not
 * there; -ELOOP for one that waits for itself.
 */
int to_replay_finish(struct to_replay *replay, const struct to_trace *traces,
		     struct to_error *err);

#endif
