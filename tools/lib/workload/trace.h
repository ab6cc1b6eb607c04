/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TRACE_H
#define TOPOOPT_TRACE_H

/* The communication of one rank, from its MLCommons Chakra execution trace. */

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "data/cluster.h"

/**
 * enum to_collective - collectives of Chakra, with Chakra's numbers
 */
enum to_collective {
	TO_ALL_REDUCE, TO_REDUCE, TO_ALL_GATHER, TO_GATHER, TO_SCATTER, TO_BROADCAST,
	TO_ALL_TO_ALL, TO_REDUCE_SCATTER, TO_REDUCE_SCATTER_BLOCK, TO_BARRIER,
	TO_COLLECTIVES
};

enum to_trace_kind { TO_TRACE_SEND, TO_TRACE_RECEIVE, TO_TRACE_COLLECTIVE };

/**
 * struct to_trace_comm - one node that communicates
 * @id, @name: of the node; the name is made printable
 * @bytes: what this rank contributes, as Chakra counts it: its own part of an
 *	all-gather, the whole buffer of the other collectives
 * @peer, @tag: of a send the destination, of a receive the source
 * @group: process group, "" when the node names none
 * @dims: bit k: the collective spans dimension k of the ranks; all bits where
 *	the node does not say
 */
struct to_trace_comm {
	enum to_trace_kind kind;
	enum to_collective collective;
	uint64_t id, bytes, dims;
	uint32_t peer, tag;
	char name[TO_NAME_MAX], group[TO_NAME_MAX];
};

/** to_trace_node.comm of one that does not communicate. */
#define TO_TRACE_NO_COMM UINT32_MAX

/**
 * struct to_trace_node - a node of any type
 * @seconds: that it computes; 0 on the CPU
 * @comm: index of what it sends or receives
 * @first_after, @n_after: the nodes that it waits for, by id, in to_trace.after
 */
struct to_trace_node {
	uint64_t id;
	double seconds;
	uint32_t comm;
	size_t first_after, n_after;
};

/** struct to_trace_group - process group; no @ranks means all */
struct to_trace_group {
	char name[TO_NAME_MAX];
	uint32_t *ranks, n;
};

/**
 * struct to_trace - one rank
 * @path: of its file, not owned
 * @compute_seconds: of all its compute nodes but those on the CPU
 * @nodes: all of them; @comms: those that communicate; both in the order of the file
 * @groups: those that the trace defines
 */
struct to_trace {
	const char *path;
	uint32_t n_nodes, max_nodes, n_comms, max_comms, n_groups;
	double compute_seconds;
	struct to_trace_node *nodes;
	uint64_t *after;
	size_t n_after, max_after;
	struct to_trace_comm *comms;
	struct to_trace_group *groups;
};

/** to_collective_name() - "all-reduce" */
const char *to_collective_name(enum to_collective collective);

/**
 * to_trace_load() - read NAME.RANK.et
 *
 * Return: 0, or a negative errno with @err set: a file that ends early, invalid
 * lengths or messages, communication that does not say what it sends.
 */
int to_trace_load(struct to_trace *trace, const char *path, struct to_error *err);

/** to_trace_parse() - the same from memory; @path is for errors */
int to_trace_parse(struct to_trace *trace, const char *path, const char *data, size_t len,
		   struct to_error *err);
void to_trace_free(struct to_trace *trace);

#endif
