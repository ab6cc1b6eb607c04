// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/wavelengths_pack.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

#define PACK_WORK (1u << 14)	/* steps to try another start of the way round */

int to_fibre_init(struct to_fibre *f, uint32_t n, unsigned int reach, unsigned int colours,
		  bool back, bool ring)
{
	const size_t cells = (size_t)n * reach;

	*f = (struct to_fibre){ .n = n, .reach = reach, .colours = colours, .back = back,
				.ring = ring };
	f->bytes = calloc(cells, sizeof(*f->bytes));
	f->need = calloc(cells, sizeof(*f->need));
	f->load = calloc(n, sizeof(*f->load));
	f->ends = calloc(n, sizeof(*f->ends));
	f->wanted = calloc(n, sizeof(*f->wanted));
	f->hop = calloc((size_t)colours * n, sizeof(*f->hop));
	f->best = calloc((size_t)colours * n, sizeof(*f->best));
	f->whim = calloc(n, sizeof(*f->whim));
	f->price = calloc(n + 1, sizeof(*f->price));
	f->value = calloc(n + 1, sizeof(*f->value));
	f->take = calloc(n + 1, sizeof(*f->take));
	f->path = calloc(n + 1, sizeof(*f->path));
	if (!f->bytes || !f->need || !f->load || !f->ends || !f->wanted || !f->hop || !f->best ||
	    !f->whim || !f->price || !f->value || !f->take || !f->path)
		return -ENOMEM;
	if (ring)
		memset(f->best, 1, n);
	return 0;
}

void to_fibre_free_all(struct to_fibre *f)
{
	free(f->bytes);
	free(f->need);
	free(f->load);
	free(f->ends);
	free(f->wanted);
	free(f->hop);
	free(f->best);
	free(f->whim);
	free(f->price);
	free(f->value);
	free(f->take);
	free(f->path);
}

void to_fibre_clear(struct to_fibre *f, uint64_t *random)
{
	memset(f->need, 0, (size_t)f->n * f->reach * sizeof(*f->need));
	memset(f->wanted, 0, f->n * sizeof(*f->wanted));
	for (uint32_t p = 0; p < f->n; p++)
		f->whim[p] = random ? 1 + (to_random_next(random) >> 11) * 0x1p-53 : 1;
}

void to_fibre_want(struct to_fibre *f, uint32_t x, uint32_t d, uint32_t count)
{
	uint32_t *need = &f->need[to_fibre_cell(f, x, d)];

	*need += count - (count && f->ring && d == 1);
	if (*need)
		f->wanted[to_fibre_server(f, x)] |= 1ull << (d - 1);
}

void to_fibre_loads(struct to_fibre *f)
{
	uint32_t load = 0;

	memset(f->ends, 0, f->n * sizeof(*f->ends));
	/* those that pass from the last position to the first */
	for (uint32_t p = 0; p < f->n; p++)
		for (uint64_t left = f->wanted[p]; left; left &= left - 1) {
			const unsigned int d = __builtin_ctzll(left) + 1;
			const uint32_t need = f->need[(size_t)p * f->reach + d - 1];

			f->ends[(p + d) % f->n] += need;
			load += p + d > f->n ? need : 0;
		}
	for (uint32_t p = 0; p < f->n; p++) {
		/* all that end at position 0 come from the last */
		load -= p ? f->ends[p] : 0;
		for (uint64_t left = f->wanted[p]; left; left &= left - 1)
			load += f->need[(size_t)p * f->reach + __builtin_ctzll(left)];
		f->load[p] = load;
	}
}

void to_fibre_add(struct to_fibre *f, uint32_t x, uint32_t d, int more)
{
	const uint32_t p = to_fibre_server(f, x);
	uint32_t *need = &f->need[(size_t)p * f->reach + d - 1];

	*need += more;
	if (*need)
		f->wanted[p] |= 1ull << (d - 1);
	else
		f->wanted[p] &= ~(1ull << (d - 1));
	f->ends[(p + d) % f->n] += more;
	for (uint32_t i = 0; i < d; i++)
		f->load[(p + i) % f->n] += more;
}

uint32_t to_fibre_busiest(const struct to_fibre *f, uint32_t x, uint32_t d)
{
	const uint32_t p = to_fibre_server(f, x);
	uint32_t most = 0;

	for (uint32_t i = 0; i < d; i++)
		if (f->load[(p + i) % f->n] > most)
			most = f->load[(p + i) % f->n];
	return most;
}

/*
 * Prices of segments, where @left wavelengths are left: those that need all of them cost
 * more than all others together. As a sum from @start on.
 */
static void pack_prices(struct to_fibre *f, uint32_t start, uint32_t left)
{
	f->price[0] = 0;
	for (uint32_t i = 0, p = start; i < f->n; i++, p = p + 1 < f->n ? p + 1 : 0) {
		const double spare = (double)left - f->load[p];

		f->price[i + 1] = f->price[i] + (spare > 0 ? f->whim[p] / (2 * f->n * spare + 1) : 1);
	}
}

/* The most precious way round from @start; @path gets lengths by position. Return: its value. */
static double pack_way(struct to_fibre *f, uint32_t start, uint32_t left)
{
	const uint32_t n = f->n;
	double *value = f->value;
	uint32_t p = start;

	pack_prices(f, start, left);
	value[n] = 0;
	for (uint32_t i = n; i-- > 0;) {
		double best = value[i + 1];
		uint8_t take = 0;

		p = p ? p - 1 : n - 1;
		for (uint64_t bits = f->wanted[p]; bits; bits &= bits - 1) {
			const unsigned int d = __builtin_ctzll(bits) + 1;
			double with;

			if (i + d > n)
				break;
			/* long ones first: short ones find a place more easily */
			with = f->price[i + d] - f->price[i] + value[i + d];
			if (with >= best) {
				best = with;
				take = d;
			}
		}
		value[i] = best;
		f->take[i] = take;
	}
	return value[0];
}

static void pack_follow(const struct to_fibre *f, uint32_t start, uint8_t *path)
{
	memset(path, 0, f->n);
	for (uint32_t i = 0; i < f->n; i += f->take[i] ? f->take[i] : 1)
		path[(start + i) % f->n] = f->take[i];
}

/* The position that the fewest lightpaths pass without an end there, from @from on. */
static uint32_t pack_start(const struct to_fibre *f, uint32_t from)
{
	uint32_t best = from, least = UINT32_MAX;

	for (uint32_t i = 0; i < f->n && least; i++) {
		const uint32_t p = (from + i) % f->n, before = (p + f->n - 1) % f->n;
		const uint32_t passing = f->load[before] - f->ends[p];

		if (passing < least) {
			least = passing;
			best = p;
		}
	}
	return best;
}

/* The most precious way round of all; any passes one of as many positions as the reach. */
static bool pack_best(struct to_fibre *f, unsigned int colour, uint32_t left)
{
	const uint32_t step = f->n * f->reach;
	uint32_t starts = PACK_WORK / step, first;
	double best = 0;

	starts = starts < f->reach ? starts : f->reach;
	first = pack_start(f, colour % f->n);
	for (uint32_t i = 0; i < (starts ? starts : 1); i++) {
		const uint32_t start = (first + i) % f->n;
		const double value = pack_way(f, start, left);

		if (!(value > best))
			continue;
		best = value;
		pack_follow(f, start, f->path);
	}
	return best > 0;
}

/* How many wavelengths can have what is in @path; 0 when a segment needs one that it lacks. */
static uint32_t pack_repeat(const struct to_fibre *f, uint32_t left)
{
	uint32_t most = left, until = 0;

	/* lightpaths that come round to position 0 */
	for (uint32_t p = 0; p < f->n; p++)
		if (f->path[p] && p + f->path[p] > f->n)
			until = p + f->path[p] - f->n;
	for (uint32_t p = 0; p < f->n; p++) {
		const uint32_t need = f->path[p] ? f->need[(size_t)p * f->reach + f->path[p] - 1] : left;

		most = need < most ? need : most;
		if (f->path[p])
			until = p + f->path[p];
		else if (p >= until && left - f->load[p] < most)
			most = left - f->load[p];
	}
	return most;
}

bool to_fibre_pack(struct to_fibre *f)
{
	unsigned int colour = f->ring, i;
	uint64_t needed = 0;

	for (uint32_t p = 0; p < f->n; p++)
		needed += f->ends[p];
	memset(f->hop, 0, (size_t)f->colours * f->n);
	if (f->ring)
		memset(f->hop, 1, f->n);
	while (needed) {
		const uint32_t left = f->colours - colour;
		uint32_t times;

		if (!left || !pack_best(f, colour, left))
			return false;
		times = pack_repeat(f, left);
		if (!times)
			return false;
		for (i = 0; i < times; i++)
			memcpy(f->hop + (size_t)(colour + i) * f->n, f->path, f->n);
		colour += times;
		for (uint32_t p = 0; p < f->n; p++) {
			if (!f->path[p])
				continue;
			needed -= times;
			to_fibre_add(f, to_fibre_server(f, p), f->path[p], -(int)times);
		}
	}
	return true;
}

void to_fibre_keep(struct to_fibre *f)
{
	uint8_t *hop = f->hop;

	f->hop = f->best;
	f->best = hop;
}

/* What a lightpath more saves of the time that @bytes take on @count. */
static double fill_gain(double bytes, unsigned int count)
{
	return count ? bytes / (count * (count + 1.)) : 4 * bytes;
}

/* Where the lightpath begins that saves most. */
static uint32_t fill_start(const struct to_fibre *f, const uint16_t *count)
{
	double most = 0;
	uint32_t start = 0;

	for (uint32_t p = 0; p < f->n; p++)
		for (unsigned int d = 1; d <= f->reach; d++) {
			const uint32_t x = to_fibre_server(f, p);
			const double bytes = f->bytes[(size_t)p * f->reach + d - 1];
			double gain;

			if (!(bytes > 0))
				continue;
			gain = fill_gain(bytes, count[(size_t)x * f->n + to_fibre_end(f, x, d)]);
			if (gain > most) {
				most = gain;
				start = p;
			}
		}
	return start;
}

/* The most precious way round from @start that has all lightpaths of @hop. */
static void fill_way(struct to_fibre *f, const uint8_t *hop, uint32_t start, const uint16_t *count)
{
	const uint32_t n = f->n;
	uint32_t p = start, limit = n;

	f->value[n] = 0;
	for (uint32_t i = n; i-- > 0;) {
		double best = f->value[i + 1];
		uint8_t take = 0;
		uint32_t x;

		p = p ? p - 1 : n - 1;
		x = to_fibre_server(f, p);
		if (hop[p]) {
			f->value[i] = f->value[i + hop[p]];
			f->take[i] = hop[p];
			limit = i;
			continue;
		}
		for (unsigned int d = 1; d <= f->reach && i + d <= limit; d++) {
			const double bytes = f->bytes[(size_t)p * f->reach + d - 1];
			double with;

			if (!(bytes > 0))
				continue;
			with = fill_gain(bytes, count[(size_t)x * n + to_fibre_end(f, x, d)]) +
			       f->value[i + d];
			if (with > best) {
				best = with;
				take = d;
			}
		}
		f->value[i] = best;
		f->take[i] = take;
	}
}

void to_fibre_fill(struct to_fibre *f, uint16_t *count)
{
	for (unsigned int colour = f->ring; colour < f->colours; colour++) {
		uint8_t *hop = f->best + (size_t)colour * f->n;
		uint32_t start = 0;

		while (start < f->n && !hop[start])
			start++;
		start = start < f->n ? start : fill_start(f, count);
		fill_way(f, hop, start, count);
		pack_follow(f, start, f->path);
		for (uint32_t p = 0; p < f->n; p++) {
			const uint32_t x = to_fibre_server(f, p);

			if (f->path[p] && !hop[p])
				count[(size_t)x * f->n + to_fibre_end(f, x, f->path[p])]++;
		}
		memcpy(hop, f->path, f->n);
	}
}
