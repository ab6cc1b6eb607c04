/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NCCL_LOG_H
#define TOPOOPT_NCCL_LOG_H

/*
 * What the ranks of NCCL 2.18 to 2.30 print with NCCL_DEBUG=INFO and
 * NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH or ALL: version, order of ranks on each channel, NICs,
 * connections, and variables that were set.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "data/plan.h"

/** struct to_nccl_log - the logs of all ranks together */
struct to_nccl_log {
	const struct to_plan *plan;	/* borrowed */
	unsigned int version[3];	/* of NCCL, zeros while no line tells it */
	bool rdma;			/* some connection uses NET/IB */
	json_t *nics;	/* object by server: text after "NET/IB : Using" or "NET/Socket : Using" */
	json_t *set;	/* object by variable that was set: value that the last rank printed */

	/*
	 * Made by to_nccl_log_end(). channels: [{"channel", "servers", "ring"}], servers in the
	 * order of ranks, consecutive ranks of one server once; ring is the ring of the plan with
	 * this order in either direction, or null. connections: [{"from", "to", "count", "cable"}],
	 * number of channels by which a server sends to another over the network, and whether a
	 * link of the plan joins the two.
	 */
	json_t *channels, *connections;

	/* Internal: what lines tell of ranks, until all files are read. */
	json_t *processes, *ranks, *orders, *sends;
};

/** to_nccl_log_init() - make a log without lines, for to_nccl_log_free() */
void to_nccl_log_init(struct to_nccl_log *log, const struct to_plan *plan);

/** to_nccl_log_free() - free all that lines have told */
void to_nccl_log_free(struct to_nccl_log *log);

/**
 * to_nccl_log_read() - add the lines of a file ("-": standard input)
 *
 * Skips lines of other programs. Files may come in any order, and have the output of one rank or
 * of many.
 *
 * Return: 0; -ENOENT with @err: no line is NCCL's, or a line is of a host that the plan lacks;
 * another negative errno with @err.
 */
int to_nccl_log_read(struct to_nccl_log *log, const char *path, struct to_error *err);

/**
 * to_nccl_log_end() - make channels and connections of the lines of all ranks
 *
 * Return: 0; -ENOENT with @err: a channel or connection names a rank without lines.
 */
int to_nccl_log_end(struct to_nccl_log *log, struct to_error *err);

/**
 * to_nccl_log_judge() - tell whether NCCL followed the rings of the plan
 *
 * To be called after to_nccl_log_end().
 *
 * Return: 0; 1 with @err when a channel does not have the order of a ring, or when NCCL is too
 * old to find the device at the other end of a cable; -ENODATA when no line has an order.
 */
int to_nccl_log_judge(const struct to_nccl_log *log, struct to_error *err);

#endif
