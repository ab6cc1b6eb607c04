// SPDX-License-Identifier: GPL-2.0-or-later
/* Paths of the fewest links, of flows. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/double_tree.h"
#include "packets/paths.h"

#define PATHS_SPRAYED_MAX 64	/* paths of a flow; more would be no more even */

/* @distance: as to_network_distances() */
struct paths_shortest {
	struct to_packet_paths paths;
	struct to_shortest_options options;
	uint16_t *distance;
};

static uint32_t paths_shortest_count(const struct to_network *w, const uint16_t *distance,
				     uint32_t x)
{
	uint32_t n = 0;

	for (uint32_t i = w->out[x]; i < w->out[x + 1]; i++)
		n += distance[w->links[i].to] + 1 == distance[x];
	return n;
}

static uint32_t paths_shortest_choose(const struct to_network *w, const uint16_t *distance,
				      uint32_t x, uint32_t chosen)
{
	uint32_t i = w->out[x];

	for (; distance[w->links[i].to] + 1 != distance[x] || chosen--; i++)
		;
	return i;
}

/* Sprayed, @number counts through the choices at each vertex in turn. */
static int paths_shortest_path(struct to_packet_paths *paths, uint32_t src, uint32_t dst,
			       uint32_t number, uint32_t *links, uint32_t *alternatives,
			       struct to_error *err)
{
	const struct paths_shortest *s = (struct paths_shortest *)paths;
	const struct to_network *w = paths->network;
	const uint16_t *distance = s->distance + (size_t)dst * w->n_vertices;
	const bool spray = s->options.spread == TO_SPREAD_SPRAY;
	uint64_t hash = s->options.seed ^ ((uint64_t)src << 32 | dst);
	int n_links = 0;
	uint32_t x, n;

	if (distance[src] == TO_DISTANCE_NONE || distance[src] > TO_PATH_LINKS_MAX)
		return to_error_set(err, -EHOSTUNREACH, "no path of at most %d links from %s to %s",
				    TO_PATH_LINKS_MAX, w->names[src], w->names[dst]);
	/* others than those of other pairs of servers */
	for (n = 0; !spray && n < number; n++)
		hash = to_random_next(&hash);
	*alternatives = 1;
	for (x = src; x != dst; x = w->links[links[n_links++]].to) {
		n = paths_shortest_count(w, distance, x);
		if (spray) {
			links[n_links] = paths_shortest_choose(w, distance, x, (number + src + dst) % n);
			number /= n;
			if (*alternatives <= PATHS_SPRAYED_MAX)
				*alternatives *= n;
		} else {
			links[n_links] = paths_shortest_choose(w, distance, x,
							       to_random_below(&hash, n));
		}
	}
	if (*alternatives > PATHS_SPRAYED_MAX)
		*alternatives = PATHS_SPRAYED_MAX;
	return n_links;
}

static void paths_shortest_trees(const uint32_t *members, uint32_t n, double bytes,
				 struct to_packet_messages *messages)
{
	uint32_t *parents = calloc(n, sizeof(*parents)), i;

	for (int second = 0; parents && second < 2; second++) {
		to_double_tree(n, second, parents);
		for (i = 0; i < n; i++)
			if (parents[i] != TO_SERVER_NONE)
				parents[i] = members[parents[i]];
		to_packet_messages_tree(messages, members, parents, n, bytes / 2);
	}
	messages->failed |= !parents;
	free(parents);
}

static int paths_shortest_messages(struct to_packet_paths *paths, const uint32_t *members,
				   uint32_t n, double bytes, struct to_packet_messages *messages,
				   struct to_error *err)
{
	const struct paths_shortest *s = (struct paths_shortest *)paths;

	if (s->options.algorithm == TO_ALGORITHM_DOUBLE_TREE)
		paths_shortest_trees(members, n, bytes, messages);
	else if (s->options.algorithm == TO_ALGORITHM_HALVING_DOUBLING)
		to_packet_messages_halving_doubling(messages, members, n, bytes);
	else
		to_packet_messages_ring(messages, members, n, false, bytes);
	return messages->failed ? to_error_set(err, -ENOMEM, "out of memory") : 0;
}

static void paths_shortest_free(struct to_packet_paths *paths)
{
	free(((struct paths_shortest *)paths)->distance);
	free(paths);
}

static const struct to_packet_paths_ops paths_shortest_ops = {
	.path = paths_shortest_path,
	.messages = paths_shortest_messages,
	.free = paths_shortest_free,
};

struct to_packet_paths *to_packet_paths_shortest(const struct to_network *network,
						 const struct to_shortest_options *options,
						 struct to_error *err)
{
	struct paths_shortest *s = calloc(1, sizeof(*s));

	if (s) {
		s->paths = (struct to_packet_paths){ &paths_shortest_ops, network };
		s->options = *options;
		s->options.seed = to_random_next(&s->options.seed);
		s->distance = to_network_distances(network);
		if (s->distance)
			return &s->paths;
		free(s);
	}
	to_error_set(err, -ENOMEM, "out of memory");
	return NULL;
}

void to_packet_paths_free(struct to_packet_paths *paths)
{
	if (paths)
		paths->ops->free(paths);
}
