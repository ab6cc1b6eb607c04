// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/one_shot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "topology/crossconnect.h"

#define ONE_SHOT_BISECT 50
#define ONE_SHOT_EXACT 1e-7	/* of a rate */

/* A pair and what a link more would save it. */
struct one_shot_pair {
	double gain;
	uint32_t x, y;
};

/* @out, @in: ports that are used, per server. */
struct one_shot {
	const uint64_t *bytes;
	uint32_t n;
	unsigned int q;
	bool ring;
	uint16_t *count;
	uint32_t *out, *in;
	struct one_shot_pair *pairs;	/* heap, the largest gain first */
	size_t n_pairs;
};

/* Links of all pairs at @rate links per byte; whether the ports suffice. */
static bool one_shot_set(struct one_shot *s, double rate)
{
	const size_t n = s->n;

	memset(s->out, 0, n * sizeof(*s->out));
	memset(s->in, 0, n * sizeof(*s->in));
	for (size_t x = 0; x < n; x++)
		for (size_t y = 0; y < n; y++) {
			const uint64_t bytes = x == y ? 0 : s->bytes[x * n + y];
			double need = bytes ? ceil(bytes * rate * (1 - ONE_SHOT_EXACT)) : 0;

			if (s->ring && y == (x + 1) % n && need < 1)
				need = 1;
			if (need > s->q)
				return false;
			s->count[x * n + y] = need;
			s->out[x] += need;
			s->in[y] += need;
			if (s->out[x] > s->q || s->in[y] > s->q)
				return false;
		}
	return true;
}

/* As many links as the largest rate takes, none but the ring's where that is 0. */
static void one_shot_search(struct one_shot *s)
{
	const size_t n = s->n;
	double low, high, most = 0;

	for (size_t i = 0; i < n * n; i++)
		most = fmax(most, s->bytes[i]);
	if (!(most > 0) || !one_shot_set(s, 1 / most)) {
		one_shot_set(s, 0);
		return;
	}
	low = 1 / most;
	high = (s->q + 1) / most;
	for (unsigned int i = 0; i < ONE_SHOT_BISECT && high - low > ONE_SHOT_EXACT * high; i++) {
		const double rate = (low + high) / 2;

		*(one_shot_set(s, rate) ? &low : &high) = rate;
	}
	one_shot_set(s, low);
}

static double one_shot_gain(const struct one_shot *s, uint32_t x, uint32_t y)
{
	const double bytes = s->bytes[(size_t)x * s->n + y];
	const double count = s->count[(size_t)x * s->n + y];

	return count ? bytes / (count * (count + 1)) : 4 * bytes;
}

static bool one_shot_before(const struct one_shot_pair *a, const struct one_shot_pair *b)
{
	if (a->gain != b->gain)
		return a->gain > b->gain;
	return a->x != b->x ? a->x < b->x : a->y < b->y;
}

/* @pair belongs at @at, or farther down. */
static void one_shot_sink(struct one_shot *s, struct one_shot_pair pair, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < s->n_pairs; at = child) {
		if (child + 1 < s->n_pairs &&
		    one_shot_before(&s->pairs[child + 1], &s->pairs[child]))
			child++;
		if (!one_shot_before(&s->pairs[child], &pair))
			break;
		s->pairs[at] = s->pairs[child];
	}
	s->pairs[at] = pair;
}

/* One link after the other to the pair that it saves most, while there are ports. */
static void one_shot_fill(struct one_shot *s)
{
	const size_t n = s->n;

	s->n_pairs = 0;
	for (uint32_t x = 0; x < n; x++)
		for (uint32_t y = 0; y < n; y++)
			if (x != y && s->bytes[x * n + y] && s->out[x] < s->q && s->in[y] < s->q)
				s->pairs[s->n_pairs++] = (struct one_shot_pair){
					one_shot_gain(s, x, y), x, y };
	for (size_t i = s->n_pairs / 2; i-- > 0;)
		one_shot_sink(s, s->pairs[i], i);
	while (s->n_pairs) {
		struct one_shot_pair pair = s->pairs[0];

		if (s->out[pair.x] < s->q && s->in[pair.y] < s->q) {
			s->count[pair.x * n + pair.y]++;
			s->out[pair.x]++;
			s->in[pair.y]++;
			pair.gain = one_shot_gain(s, pair.x, pair.y);
		} else if (--s->n_pairs) {
			pair = s->pairs[s->n_pairs];
		} else {
			break;
		}
		one_shot_sink(s, pair, 0);
	}
}

int to_one_shot_links(const uint64_t *bytes, uint32_t n, unsigned int q, bool ring,
		      uint16_t *count)
{
	struct one_shot s = { .bytes = bytes, .n = n, .q = q, .ring = ring, .count = count };
	size_t n_pairs = 1;
	int ret = -ENOMEM;

	for (size_t i = 0; i < (size_t)n * n; i++)
		n_pairs += !!bytes[i];
	s.out = calloc(2 * (size_t)n, sizeof(*s.out));
	s.in = s.out + n;
	s.pairs = calloc(n_pairs, sizeof(*s.pairs));
	if (s.out && s.pairs) {
		one_shot_search(&s);
		one_shot_fill(&s);
		ret = 0;
	}
	free(s.out);
	free(s.pairs);
	return ret;
}

int to_one_shot_cable(struct to_cluster *cluster, unsigned int q, const uint16_t *count,
		      struct to_error *err)
{
	const size_t n = cluster->n_servers;
	size_t n_links = 0;

	for (size_t i = 0; i < n * n; i++)
		n_links += count[i];
	cluster->links = calloc(n_links + 1, sizeof(*cluster->links));
	if (!cluster->links)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (uint32_t x = 0; x < n; x++)
		for (uint32_t y = 0; y < n; y++)
			for (unsigned int i = 0; i < count[x * n + y]; i++)
				cluster->links[cluster->n_links++] = (struct to_link){
					.a = { x, TO_PORT_NONE }, .b = { y, TO_PORT_NONE },
					.use = TO_LINK_FIXED, .ring = -1, .tree = -1 };
	return to_crossconnect_assign(cluster, cluster->links, cluster->n_links, q, err);
}
