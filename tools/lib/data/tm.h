/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_H
#define TOPOOPT_TM_H

/*
 * Traffic matrices: tm.json (Documentation/schemas/tm.schema.json), and the
 * matrix of the fabric from the recordings of its servers.
 *
 * Bytes are those of frames on the wire without FCS, times are ns since the
 * epoch unless said otherwise.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "data/cluster.h"

/** enum to_tm_class - as enum topoopt_traffic_class of the kernel */
enum to_tm_class { TO_TM_ROCE, TO_TM_TCP, TO_TM_OTHER, TO_TM_CLASSES };

extern const char *const to_tm_class_names[TO_TM_CLASSES + 1];

#define TO_TM_NONE UINT32_MAX	/* no server owns the address */
#define TO_TM_NO_PORT (-1)
#define TO_TM_FABRIC UINT32_MAX	/* to_tm.server of a merged matrix */

/**
 * struct to_tm_flow - frames counted together in one sample
 * @src, @dst: server indices or TO_TM_NONE
 * @in: ingress port, TO_TM_NO_PORT for what the server originated; in a
 *	merged matrix always TO_TM_NO_PORT, as is @out
 * @out: egress port, TO_TM_NO_PORT for what was delivered to the server
 */
struct to_tm_flow {
	uint32_t src, dst;
	int in, out;
	enum to_tm_class class;
	uint64_t packets, bytes;
};

/** struct to_tm_counters - what one NIC port counted in one sample */
struct to_tm_counters {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
};

/**
 * struct to_tm_link_bytes - one direction of one link in one sample
 * @carried: bytes that the transmitting NIC counted (the receiving one where
 *	only that was recorded)
 * @seen: of these, bytes that the kernel saw at either end
 * @bypass: of the rest, bytes credited to RDMA between the two ends; not
 *	sample by sample the difference, but over all samples
 * @lost: carried bytes that the receiving NIC did not count; negative when a
 *	sample's frames were received after its end
 *
 * carried - seen - bypass is the residual, which nothing explains.
 */
struct to_tm_link_bytes {
	uint64_t carried, seen, bypass;
	int64_t lost;
};

/**
 * struct to_tm_sample - one interval; merged, several where counters stood still (@stale)
 * @start_ns, @end_ns: CLOCK_REALTIME
 * @elapsed_ns: by CLOCK_MONOTONIC
 * @spread_ns: from reading the first counter of a NIC to the moment in which the
 *	kernel's end, at most; 0 where it was not recorded. Merged: the most of any server
 * @lost: frames that could not be counted under a pair
 * @absent: servers without a recording of this interval (merged)
 * @ports: counters of to_tm.ports (a server's recording), else NULL
 * @links: of to_tm.links (merged), else NULL
 */
struct to_tm_sample {
	uint64_t start_ns, end_ns, elapsed_ns, spread_ns;
	struct { uint64_t packets, bytes; } lost;
	unsigned int absent;
	unsigned int n_flows;
	struct to_tm_flow *flows;
	struct to_tm_counters *ports;
	struct to_tm_link_bytes *links;
};

/** struct to_tm_end - a port by name; server is TO_TM_NONE where there is no link */
struct to_tm_end {
	uint32_t server;
	char port[IFNAMSIZ];
};

/**
 * struct to_tm_port - port of the server that recorded
 * @to: port that receives what this one sends
 * @from: port that sends what this one receives; same as @to on duplex links
 * @packet_switch: that it is on, in the place of a link; "" for none
 */
struct to_tm_port {
	char name[IFNAMSIZ];
	struct to_tm_end to, from;
	char packet_switch[TO_NAME_MAX];
};

/** struct to_tm_link - one direction of one link */
struct to_tm_link {
	struct to_tm_end from, to;
};

/**
 * struct to_tm - a recording of one server, or the matrix of the fabric
 * @job: name of the job
 * @plan: fingerprint of the plan, see to_tm_fingerprint()
 * @generation: of the kernel's table while it was recorded; counted by each
 *	server on its own, 0 when merged
 * @interval_ns: nominal length of a sample; samples start at its multiples
 * @server: who recorded, or TO_TM_FABRIC
 * @servers: names of the plan's servers
 * @ports: of the server that recorded
 * @links: of the fabric, when merged
 * @missing: per server, true when its recording was not there to merge; NULL
 *	when none is missing
 * @stale: ports whose NICs renew their counters more rarely than they were read; merged
 */
struct to_tm {
	char job[TO_NAME_MAX];
	char plan[17];
	uint64_t generation;
	uint64_t interval_ns;
	uint32_t server;
	unsigned int n_servers, n_ports, n_links, n_samples, n_stale;
	char (*servers)[TO_NAME_MAX];
	struct to_tm_port *ports;
	struct to_tm_link *links;
	bool *missing;
	struct to_tm_end *stale;
	struct to_tm_sample *samples;
};

/**
 * to_tm_new() - a recording without ports and samples
 *
 * Return: NULL when memory is short.
 */
struct to_tm *to_tm_new(unsigned int n_servers);
void to_tm_free(struct to_tm *tm);

/** to_tm_add_sample() - append a zeroed sample; NULL when memory is short */
struct to_tm_sample *to_tm_add_sample(struct to_tm *tm);

/** to_tm_add_flow() - append a copy of @flow; 0 or -ENOMEM */
int to_tm_add_flow(struct to_tm_sample *sample, const struct to_tm_flow *flow);

/**
 * to_tm_check_fabric() - is it a matrix of this whole fabric?
 *
 * Return: 0, or -EINVAL when @tm was recorded by one server, lacks servers or
 * has not the @cluster's, by name and in the same order; @err then names the key.
 */
int to_tm_check_fabric(const struct to_tm *tm, const struct to_cluster *cluster,
		       struct to_error *err);

/**
 * to_tm_drop_incomplete() - without the samples of a merged matrix that lack a server's part
 *
 * Return: how many those were.
 */
unsigned int to_tm_drop_incomplete(struct to_tm *tm);

/** enum to_tm_view - which flows of a server's recording */
enum to_tm_view { TO_TM_ALL, TO_TM_ORIGINATED, TO_TM_DELIVERED, TO_TM_RELAYED };

bool to_tm_in_view(const struct to_tm_flow *flow, enum to_tm_view view);

/**
 * to_tm_matrix() - bytes by source and destination
 * @sample: index, or -1 for the sum of all
 * @class: enum to_tm_class, or -1 for all
 * @view: TO_TM_ALL for a merged matrix
 * @bytes: n_servers x n_servers, row = source; overwritten
 *
 * Return: bytes of the same flows whose source or destination no server owns.
 */
uint64_t to_tm_matrix(const struct to_tm *tm, int sample, int class,
		      enum to_tm_view view, uint64_t *bytes);

#endif
