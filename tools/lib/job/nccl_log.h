/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NCCL_LOG_H
#define TOPOOPT_NCCL_LOG_H

/*
 * What NCCL says of itself with NCCL_DEBUG=INFO (and NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH
 * or ALL), as 2.18 to 2.30 write it: its version, the order of ranks on each channel,
 * NICs, connections, and variables that were set.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "data/plan.h"

/**
 * struct to_nccl_log - what the logs of all ranks say together
 * @version: of three parts; zeros when no line says it
 * @rdma: some connection is by NET/IB
 * @nics: object per server: what it lists after "NET/IB : Using" or "NET/Socket : Using"
 * @set: object per variable, of those that were set: the value, the last one of all ranks
 * @channels: array of {"channel", "servers", "ring"}: servers by their ranks, those of one
 *	server in a row once; ring is the plan's of which that is the order, in either
 *	direction, or null. Made by to_nccl_log_end(), as is @connections
 * @connections: array of {"from", "to", "count", "cable"}: channels by which a server sends to
 *	another over the network, and whether a link of the plan goes there
 *
 * The rest is internal: what lines say of ranks, until all files are read.
 */
struct to_nccl_log {
	const struct to_plan *plan;
	unsigned int version[3];
	bool rdma;
	json_t *nics, *set, *channels, *connections;
	json_t *processes, *ranks, *orders, *sends;
};

/** to_nccl_log_init() - a log without lines; for to_nccl_log_free() */
void to_nccl_log_init(struct to_nccl_log *log, const struct to_plan *plan);
void to_nccl_log_free(struct to_nccl_log *log);

/**
 * to_nccl_log_read() - add the lines of a file ("-": standard input)
 *
 * Lines that are not NCCL's are skipped. Files may be in any order, and have the output of
 * one rank or of many.
 *
 * Return: 0; -ENOENT when there is no line of NCCL's, or with the line's number when one is
 * of a host that the plan has not; another errno.
 */
int to_nccl_log_read(struct to_nccl_log *log, const char *path, struct to_error *err);

/**
 * to_nccl_log_end() - put together what was read
 *
 * Return: 0; -ENOENT when a channel or connection names a rank that no line is of.
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
