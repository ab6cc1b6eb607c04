/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STREAM_H
#define TOPOOPT_STREAM_H

/* What communication tasks put on arcs, as flows that can share them. */

#include "graph/maxmin.h"
#include "simulate/router.h"

/**
 * struct to_stream - a flow to be
 * @first, @n: its shares: to_streams.shares[first] up to shares[first + n - 1]; of links
 *	that are alike one
 * @size: bytes of the flow: of a set of transfers their mean, so that a set
 *	counts as so many flows as it has transfers; of an AllReduce those on its
 *	busiest arc, for one byte of the buffer
 * @latency: seconds from the last byte sent to the last one received
 * @flow: for the simulator: index of the flow, UINT32_MAX while there is none
 */
struct to_stream {
	size_t first;
	uint32_t n;
	double size, latency;
	uint32_t flow;
};

/** struct to_stream_group - servers whose AllReduce streams are known, one a phase */
struct to_stream_group {
	uint32_t *members, n, stream;
};

/**
 * struct to_streams - streams on @router
 * @n_kept: those of AllReduce groups, which come first and are kept
 */
struct to_streams {
	struct to_router *router;
	uint32_t n_streams, max_streams, n_kept, n_groups, max_groups;
	size_t n_shares, max_shares;
	struct to_stream *streams;
	struct to_share *shares;
	struct to_stream_group *groups;
	double *load;		/* scratch, per capacity of the network, 0 between calls */
};

/** to_streams_init() - @router outlives them. Return: 0, or -ENOMEM with @err set */
int to_streams_init(struct to_streams *s, struct to_router *router, struct to_error *err);
void to_streams_free(struct to_streams *s);

/** to_streams_rewind() - drop all streams but those of AllReduce groups */
void to_streams_rewind(struct to_streams *s);

/**
 * to_streams_allreduce() - streams of AllReduce over @n servers in ascending order
 *
 * As many as it has phases. All such streams of a run are to be made before those of
 * transfers.
 *
 * Return: index of the first stream, or a negative errno with @err set.
 */
int to_streams_allreduce(struct to_streams *s, const uint32_t *members, uint32_t n,
			 struct to_error *err);

/** to_streams_transfers() - stream of @n transfers, 1 or more; returns as above */
int to_streams_transfers(struct to_streams *s, const struct to_transfer *transfers, uint32_t n,
			 struct to_error *err);

#endif
