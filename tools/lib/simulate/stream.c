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

int to_streams_init(struct to_streams *s, struct to_router *router, struct to_error *err)
{
	memset(s, 0, sizeof(*s));
	s->router = router;
	s->load = calloc(to_network_capacities(router->network) + 1, sizeof(*s->load));
	return s->load ? 0 : to_error_set(err, -ENOMEM, "out of memory");
}

static void stream_forget_groups(struct to_streams *s)
{
	while (s->n_groups)
		free(s->groups[--s->n_groups].members);
	s->n_kept = 0;
}

void to_streams_free(struct to_streams *s)
{
	stream_forget_groups(s);
	free(s->groups);
	free(s->streams);
	free(s->shares);
	free(s->load);
	memset(s, 0, sizeof(*s));
}

void to_streams_rewind(struct to_streams *s)
{
	const struct to_stream *last;

	s->n_shares = 0;
	if (s->n_kept) {
		last = &s->streams[s->n_kept - 1];
		s->n_shares = last->first + last->n;
	}
	if (s->n_shares > STREAM_SHARES_MAX) {
		stream_forget_groups(s);
		s->n_shares = 0;
	}
	s->n_streams = s->n_kept;
}

static int stream_reserve(struct to_streams *s)
{
	uint32_t n = to_network_capacities(s->router->network);
	struct to_stream *streams;
	struct to_share *shares;

	if (s->n_streams == s->max_streams) {
		streams = realloc(s->streams, (2 * s->max_streams + 16) * sizeof(*streams));
		if (!streams)
			return -ENOMEM;
		s->streams = streams;
		s->max_streams = 2 * s->max_streams + 16;
	}
	if (s->n_shares + n > s->max_shares) {
		shares = realloc(s->shares, (2 * s->max_shares + n) * sizeof(*shares));
		if (!shares)
			return -ENOMEM;
		s->shares = shares;
		s->max_shares = 2 * s->max_shares + n;
	}
	return 0;
}

/*
 * Make a stream of s->load, or forget it where @ret is an error. @size 0: the busiest link's
 * load.
 */
static int stream_add(struct to_streams *s, double size, double latency, int ret,
		      struct to_error *err)
{
	uint32_t n = to_network_capacities(s->router->network), a;
	const uint32_t *alike = s->router->alike;
	struct to_stream *stream;
	double most = 0;

	if (!ret && stream_reserve(s))
		ret = to_error_set(err, -ENOMEM, "out of memory");
	if (ret) {
		memset(s->load, 0, n * sizeof(*s->load));
		return ret;
	}
	for (a = 0; a < s->router->network->n_links; a++)
		most = s->load[a] > most ? s->load[a] : most;
	stream = &s->streams[s->n_streams];
	*stream = (struct to_stream){ .first = s->n_shares, .size = size ? size : most,
				      .latency = latency, .flow = UINT32_MAX };
	for (a = 0; a < n; a++) {
		if (s->load[a] > STREAM_SHARE_MIN * most && (!alike || alike[a] == a))
			s->shares[stream->first + stream->n++] = (struct to_share){
				.arc = a, .bytes = s->load[a] / stream->size };
		s->load[a] = 0;
	}
	s->n_shares += stream->n;
	return s->n_streams++;
}

static struct to_stream_group *stream_add_group(struct to_streams *s, const uint32_t *members,
						uint32_t n)
{
	struct to_stream_group *groups, *group;

	if (s->n_groups == s->max_groups) {
		groups = realloc(s->groups, (2 * s->max_groups + 16) * sizeof(*groups));
		if (!groups)
			return NULL;
		s->groups = groups;
		s->max_groups = 2 * s->max_groups + 16;
	}
	group = &s->groups[s->n_groups];
	group->n = n;
	group->stream = s->n_streams;
	group->members = malloc(n * sizeof(*members));
	if (!group->members)
		return NULL;
	memcpy(group->members, members, n * sizeof(*members));
	s->n_groups++;
	return group;
}

int to_streams_allreduce(struct to_streams *s, const uint32_t *members, uint32_t n,
			 struct to_error *err)
{
	const unsigned int phases = s->router->ops->phases(s->router, n);
	struct to_stream_group *group;
	double latency;
	int ret = 0;
	uint32_t i;

	for (i = 0; i < s->n_groups; i++)
		if (s->groups[i].n == n &&
		    !memcmp(s->groups[i].members, members, n * sizeof(*members)))
			return s->groups[i].stream;
	group = stream_add_group(s, members, n);
	if (!group)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < phases && ret >= 0; i++) {
		ret = s->router->ops->allreduce(s->router, members, n, i, s->load, &latency, err);
		ret = stream_add(s, 0, latency, ret, err);
	}
	if (ret < 0) {
		free(s->groups[--s->n_groups].members);
		s->n_streams = s->n_kept;
		return ret;
	}
	s->n_kept = s->n_streams;
	return group->stream;
}

int to_streams_transfers(struct to_streams *s, const struct to_transfer *transfers, uint32_t n,
			 struct to_error *err)
{
	double bytes = 0, latency = 0;
	uint32_t i;
	int ret;

	for (i = 0; i < n; i++)
		bytes += transfers[i].bytes;
	ret = s->router->ops->transfers(s->router, transfers, n, s->load, &latency, err);
	return stream_add(s, bytes / n, latency, ret, err);
}
