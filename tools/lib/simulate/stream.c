// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/simulate.h"
#include "simulate/stream.h"

/* What is less than this fraction of the busiest arc's bytes is left out. */
#define STREAM_SHARE_MIN 1e-9
/* Shares of groups that are kept from run to run. */
#define STREAM_SHARES_MAX (1u << 22)

int to_streams_init(struct to_streams *s, const struct to_plan *plan, const struct to_graph *graph,
		    struct to_error *err)
{
	memset(s, 0, sizeof(*s));
	s->load = calloc(graph->n_arcs + 1, sizeof(*s->load));
	if (!s->load)
		return to_error_set(err, -ENOMEM, "out of memory");
	return to_routing_matrix_init(&s->matrix, plan, graph, err);
}

static void stream_forget_groups(struct to_streams *s)
{
	while (s->n_groups)
		free(s->groups[--s->n_groups].members);
}

void to_streams_free(struct to_streams *s)
{
	stream_forget_groups(s);
	free(s->groups);
	free(s->streams);
	free(s->shares);
	free(s->load);
	to_routing_matrix_free(&s->matrix);
	memset(s, 0, sizeof(*s));
}

void to_streams_rewind(struct to_streams *s)
{
	const struct to_stream *last;

	s->n_shares = 0;
	if (s->n_groups) {
		last = &s->streams[s->n_groups - 1];
		s->n_shares = last->first + last->n;
	}
	if (s->n_shares > STREAM_SHARES_MAX) {
		stream_forget_groups(s);
		s->n_shares = 0;
	}
	s->n_streams = s->n_groups;
}

static int stream_reserve(struct to_streams *s)
{
	uint32_t n_arcs = s->matrix.graph->n_arcs;
	struct to_stream *streams;
	struct to_share *shares;

	if (s->n_streams == s->max_streams) {
		streams = realloc(s->streams, (2 * s->max_streams + 16) * sizeof(*streams));
		if (!streams)
			return -ENOMEM;
		s->streams = streams;
		s->max_streams = 2 * s->max_streams + 16;
	}
	if (s->n_shares + n_arcs > s->max_shares) {
		shares = realloc(s->shares, (2 * s->max_shares + n_arcs) * sizeof(*shares));
		if (!shares)
			return -ENOMEM;
		s->shares = shares;
		s->max_shares = 2 * s->max_shares + n_arcs;
	}
	return 0;
}

/* Make a stream of s->load. @size 0: the busiest arc's load. */
static int stream_add(struct to_streams *s, double size, int hops)
{
	uint32_t n_arcs = s->matrix.graph->n_arcs, a;
	struct to_stream *stream;
	double most = 0;

	if (hops >= 0 && stream_reserve(s))
		hops = -ENOMEM;
	if (hops < 0) {
		memset(s->load, 0, n_arcs * sizeof(*s->load));
		return hops;
	}
	for (a = 0; a < n_arcs; a++)
		most = s->load[a] > most ? s->load[a] : most;
	stream = &s->streams[s->n_streams];
	*stream = (struct to_stream){ .first = s->n_shares, .size = size ? size : most,
				      .latency = hops * TO_HOP_SECONDS, .flow = UINT32_MAX };
	for (a = 0; a < n_arcs; a++) {
		if (s->load[a] > STREAM_SHARE_MIN * most)
			s->shares[stream->first + stream->n++] = (struct to_share){
				a, s->load[a] / stream->size };
		s->load[a] = 0;
	}
	s->n_shares += stream->n;
	return s->n_streams++;
}

int to_streams_allreduce(struct to_streams *s, const uint32_t *members, uint32_t n,
			 struct to_error *err)
{
	struct to_stream_group *groups, *group;
	uint32_t i;
	int ret;

	for (i = 0; i < s->n_groups; i++)
		if (s->groups[i].n == n &&
		    !memcmp(s->groups[i].members, members, n * sizeof(*members)))
			return s->groups[i].stream;
	if (s->n_groups == s->max_groups) {
		groups = realloc(s->groups, (2 * s->max_groups + 16) * sizeof(*groups));
		if (!groups)
			return to_error_set(err, -ENOMEM, "out of memory");
		s->groups = groups;
		s->max_groups = 2 * s->max_groups + 16;
	}
	group = &s->groups[s->n_groups];
	group->n = n;
	group->members = malloc(n * sizeof(*members));
	if (!group->members)
		return to_error_set(err, -ENOMEM, "out of memory");
	memcpy(group->members, members, n * sizeof(*members));
	ret = to_routing_matrix_allreduce(&s->matrix, members, n, s->load, err);
	ret = stream_add(s, 0, ret);
	if (ret < 0) {
		free(group->members);
		return ret;
	}
	group->stream = ret;
	s->n_groups++;
	return ret;
}

int to_streams_transfers(struct to_streams *s, const struct to_transfer *transfers, uint32_t n,
			 struct to_error *err)
{
	double bytes = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		bytes += transfers[i].bytes;
	return stream_add(s, bytes / n,
			  to_routing_matrix_transfers(&s->matrix, transfers, n, s->load, err));
}
