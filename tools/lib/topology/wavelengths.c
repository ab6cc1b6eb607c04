// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/wavelengths.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "topology/wavelengths_pack.h"

#define WAVELENGTHS_BISECT 40
#define WAVELENGTHS_EXACT 1e-7		/* of a rate */
#define WAVELENGTHS_TRIES 24		/* packings */
#define WAVELENGTHS_TRIES_LEAST 5
#define WAVELENGTHS_WORK (1u << 21)	/* of packings: wavelengths x servers x reach */
#define WAVELENGTHS_STARTS 32		/* of a packing, with lightpaths another way round */
#define WAVELENGTHS_START_WORK (1u << 15)

int to_wavelengths_init(struct to_wavelengths *s, uint32_t n, unsigned int w, unsigned int reach,
			struct to_error *err)
{
	*s = (struct to_wavelengths){ .n = n, .w = w, .reach = reach < n ? reach : n - 1 };
	if (!w || w % 2 || w > TO_WAVELENGTHS_MAX)
		return to_error_set(err, -EINVAL, "%u wavelengths: expected an even number, 2 to %u, half of them for each way round",
				    w, TO_WAVELENGTHS_MAX);
	if (!reach || reach > TO_REACH_MAX)
		return to_error_set(err, -EINVAL, "a reach of %u: expected 1 to %u", reach,
				    TO_REACH_MAX);
	s->to = malloc((size_t)w * n * sizeof(*s->to));
	s->count = calloc((size_t)n * n, sizeof(*s->count));
	if (s->to && s->count) {
		memset(s->to, 0xff, (size_t)w * n * sizeof(*s->to));
		return 0;
	}
	to_wavelengths_free(s);
	return to_error_set(err, -ENOMEM, "out of memory");
}

void to_wavelengths_free(struct to_wavelengths *s)
{
	free(s->to);
	free(s->count);
	s->to = NULL;
	s->count = NULL;
}

/* Segments from @x to @y, to the next server and on, or back. */
static uint32_t wavelengths_distance(uint32_t n, uint32_t x, uint32_t y, bool back)
{
	return back ? (x + n - y) % n : (y + n - x) % n;
}

bool to_wavelengths_within(const struct to_wavelengths *s, uint32_t x, uint32_t y)
{
	return wavelengths_distance(s->n, x, y, false) <= s->reach ||
	       wavelengths_distance(s->n, x, y, true) <= s->reach;
}

/* An assignment being made. */
struct wavelengths {
	struct to_wavelengths *s;
	struct to_fibre fibres[2];
	double most;			/* bytes of a pair */
	unsigned int tries, starts;
	uint64_t random;
};

static int wavelengths_begin(struct wavelengths *a, const uint64_t *bytes, bool ring)
{
	const struct to_wavelengths *s = a->s;
	int ret = 0;

	for (unsigned int back = 0; back < 2; back++) {
		struct to_fibre *f = &a->fibres[back];

		if (to_fibre_init(f, s->n, s->reach, s->w / 2, back, ring && !back))
			ret = -ENOMEM;
		for (uint32_t x = 0; !ret && x < s->n; x++)
			for (uint32_t d = 1; d <= s->reach; d++) {
				const uint64_t sent = bytes[(size_t)x * s->n + to_fibre_end(f, x, d)];

				f->bytes[to_fibre_cell(f, x, d)] = sent;
				a->most = fmax(a->most, sent);
			}
	}
	return ret;
}

/* Is cell (@x, @d) of @f the shorter way, or one of two equal ones? */
static bool wavelengths_own(const struct to_fibre *f, uint32_t x, uint32_t d)
{
	return 2 * d < f->n || f->n - d > f->reach || (2 * d == f->n && (x & 1) == f->back);
}

/*
 * Lightpaths that all pairs need at @rate, the shorter way; or, where both are within reach
 * and it is not the first @start, so many of them the other way as are drawn.
 */
static void wavelengths_need(struct wavelengths *a, double rate, unsigned int start)
{
	to_fibre_clear(&a->fibres[0], start ? &a->random : NULL);
	to_fibre_clear(&a->fibres[1], start ? &a->random : NULL);
	for (unsigned int back = 0; back < 2; back++) {
		struct to_fibre *f = &a->fibres[back], *g = &a->fibres[!back];

		for (uint32_t x = 0; x < f->n; x++)
			for (uint32_t d = 1; d <= f->reach; d++) {
				const double sent = f->bytes[to_fibre_cell(f, x, d)];
				uint32_t need, other = 0;

				if (!(sent > 0) || !wavelengths_own(f, x, d))
					continue;
				need = fmin(ceil(sent * rate * (1 - WAVELENGTHS_EXACT)), a->s->w + 1);
				if (start && f->n - d <= g->reach)
					other = to_random_below(&a->random, need + 1);
				to_fibre_want(f, x, d, need - other);
				if (other)
					to_fibre_want(g, x, f->n - d, other);
			}
	}
	to_fibre_loads(&a->fibres[0]);
	to_fibre_loads(&a->fibres[1]);
}

/*
 * Send lightpaths that pass the busiest segment of @f the other way round, where that
 * makes it less busy and none as busy. Return: whether one could be.
 */
static bool wavelengths_divert(struct to_fibre *f, struct to_fibre *g, uint32_t segment)
{
	const uint32_t load = f->load[segment], n = f->n;
	uint32_t best = load, from = 0, length = 0;

	for (uint32_t i = 0; i < f->reach; i++) {
		const uint32_t x = to_fibre_server(f, (segment + n - i) % n);

		for (uint32_t d = i + 1; d <= f->reach; d++) {
			uint32_t most;

			if (!f->need[to_fibre_cell(f, x, d)] || n - d > g->reach)
				continue;
			most = to_fibre_busiest(g, x, n - d) + 1;
			if (most >= best)
				continue;
			best = most;
			from = x;
			length = d;
		}
	}
	if (best == load)
		return false;
	to_fibre_add(f, from, length, -1);
	to_fibre_add(g, from, n - length, 1);
	return true;
}

/* Do the lightpaths of all segments have wavelengths, if need be the other way round? */
static bool wavelengths_fit(struct wavelengths *a)
{
	const bool both = 2 * a->s->reach >= a->s->n;

	for (;;) {
		struct to_fibre *f = NULL;
		uint32_t segment = 0;

		for (unsigned int back = 0; back < 2; back++) {
			struct to_fibre *g = &a->fibres[back];

			for (uint32_t i = 0; i < g->n; i++) {
				if (g->load[i] <= to_fibre_free(g))
					continue;
				if (!f || g->load[i] > f->load[segment]) {
					f = g;
					segment = i;
				}
			}
		}
		if (!f)
			return true;
		if (!both || !wavelengths_divert(f, &a->fibres[!f->back], segment))
			return false;
	}
}

/* Do the wavelengths of all segments suffice at @rate? */
static bool wavelengths_suffice(struct wavelengths *a, double rate)
{
	for (unsigned int start = 0; start < a->starts; start++) {
		wavelengths_need(a, rate, start);
		if (wavelengths_fit(a))
			return true;
	}
	return false;
}

static bool wavelengths_pack(struct wavelengths *a, double rate)
{
	for (unsigned int start = 0; start < a->starts; start++) {
		wavelengths_need(a, rate, start);
		if (!wavelengths_fit(a) || !to_fibre_pack(&a->fibres[0]) ||
		    !to_fibre_pack(&a->fibres[1]))
			continue;
		to_fibre_keep(&a->fibres[0]);
		to_fibre_keep(&a->fibres[1]);
		return true;
	}
	return false;
}

/* The largest rate whose lightpaths are not too many for a segment; 0 if none is. */
static double wavelengths_bound(struct wavelengths *a)
{
	double low = 1 / a->most, high = a->s->w / a->most;

	if (!wavelengths_suffice(a, low))
		return 0;
	for (unsigned int i = 0; i < WAVELENGTHS_BISECT && high - low > WAVELENGTHS_EXACT * high; i++) {
		const double rate = (low + high) / 2;

		*(wavelengths_suffice(a, rate) ? &low : &high) = rate;
	}
	return low;
}

/* Pack the lightpaths of as large a rate as can be found. */
static void wavelengths_search(struct wavelengths *a)
{
	double high = wavelengths_bound(a), low = 0;

	if (!(high > 0) || wavelengths_pack(a, high))
		return;
	for (unsigned int i = 1; i < a->tries && high - low > WAVELENGTHS_EXACT * high; i++) {
		const double least = 1 / a->most;
		const double rate = low > 0 ? (low + high) / 2 :
				    i + 1 < a->tries ? fmax(high * 0.75, least) : least;

		if (wavelengths_pack(a, rate))
			low = rate;
		else if (rate * a->most <= 1)
			return;
		else
			high = rate;
	}
}

/* What the fibres carry, by pair. */
static void wavelengths_count(struct wavelengths *a)
{
	struct to_wavelengths *s = a->s;

	memset(s->count, 0, (size_t)s->n * s->n * sizeof(*s->count));
	for (unsigned int c = 0; c < s->w; c++) {
		const struct to_fibre *f = &a->fibres[c >= s->w / 2];

		for (uint32_t x = 0; x < s->n; x++) {
			const uint32_t d = to_fibre_sends(f, c % (s->w / 2), x);
			uint32_t *to = &s->to[(size_t)c * s->n + x];

			*to = d ? to_fibre_end(f, x, d) : TO_SERVER_NONE;
			if (d)
				s->count[(size_t)x * s->n + *to]++;
		}
	}
}

static double wavelengths_rate(const struct wavelengths *a)
{
	const struct to_wavelengths *s = a->s;
	double rate = INFINITY;

	for (unsigned int back = 0; back < 2; back++) {
		const struct to_fibre *f = &a->fibres[back];

		for (uint32_t x = 0; x < f->n; x++)
			for (uint32_t d = 1; d <= f->reach; d++) {
				const double sent = f->bytes[to_fibre_cell(f, x, d)];

				if (sent > 0)
					rate = fmin(rate, s->count[(size_t)x * s->n +
								   to_fibre_end(f, x, d)] / sent);
			}
	}
	return rate;
}

int to_wavelengths_assign(struct to_wavelengths *s, const uint64_t *bytes, bool ring)
{
	const uint64_t work = (uint64_t)s->w * s->n * s->reach;
	struct wavelengths a = { .s = s, .random = 1 };
	int ret = wavelengths_begin(&a, bytes, ring);

	a.tries = WAVELENGTHS_WORK / work < WAVELENGTHS_TRIES ? WAVELENGTHS_WORK / work :
								WAVELENGTHS_TRIES;
	a.tries = a.tries > WAVELENGTHS_TRIES_LEAST ? a.tries : WAVELENGTHS_TRIES_LEAST;
	a.starts = 1 + (WAVELENGTHS_START_WORK / work < WAVELENGTHS_STARTS ?
				WAVELENGTHS_START_WORK / work : WAVELENGTHS_STARTS);
	if (!ret && a.most > 0) {
		wavelengths_search(&a);
		wavelengths_count(&a);
		to_fibre_fill(&a.fibres[0], s->count);
		to_fibre_fill(&a.fibres[1], s->count);
	}
	if (!ret) {
		wavelengths_count(&a);
		s->rate = wavelengths_rate(&a);
	}
	to_fibre_free_all(&a.fibres[0]);
	to_fibre_free_all(&a.fibres[1]);
	return ret;
}

int to_wavelengths_cable(struct to_cluster *cluster, const struct to_wavelengths *s)
{
	uint32_t n_links = 0;

	for (size_t i = 0; i < (size_t)s->w * s->n; i++)
		n_links += s->to[i] != TO_SERVER_NONE;
	cluster->links = calloc(n_links + 1, sizeof(*cluster->links));
	if (!cluster->links)
		return -ENOMEM;
	cluster->link_mode = TO_LINKS_SIMPLEX;
	for (uint32_t x = 0; x < s->n; x++) {
		for (unsigned int q = 0; q < cluster->servers[x].n_ports; q++)
			cluster->servers[x].ports[q].optical_switch = -1;
		for (unsigned int c = 0; c < s->w; c++) {
			const uint32_t y = s->to[(size_t)c * s->n + x];

			if (y == TO_SERVER_NONE)
				continue;
			cluster->links[cluster->n_links++] = (struct to_link){
				.a = { x, c }, .b = { y, c }, .use = TO_LINK_FIXED, .ring = -1,
				.tree = -1 };
		}
	}
	free(cluster->switches);
	cluster->switches = NULL;
	cluster->n_switches = 0;
	return 0;
}

/* Take @link as a lightpath of @s, if it meets no other; @taken: per wavelength and segment. */
static bool wavelengths_take(struct to_wavelengths *s, const struct to_link *link, bool *taken)
{
	const unsigned int c = link->a.port;
	const bool back = c >= s->w / 2;
	const uint32_t n = s->n, x = link->a.server;
	const uint32_t distance = wavelengths_distance(n, x, link->b.server, back);

	if (c >= s->w || link->b.port != c)
		return false;
	for (uint32_t i = 0; i < distance; i++) {
		bool *segment = &taken[(size_t)c * n + (back ? x + n - 1 - i : x + i) % n];

		if (*segment)
			return false;
		*segment = true;
	}
	s->reach = distance > s->reach ? distance : s->reach;
	s->to[(size_t)c * n + x] = link->b.server;
	s->count[(size_t)x * n + link->b.server]++;
	return true;
}

int to_wavelengths_find(struct to_wavelengths *s, const struct to_cluster *cluster)
{
	unsigned int w = cluster->n_servers ? cluster->servers[0].n_ports : 0;
	struct to_error err = { "" };
	bool *taken, are = cluster->link_mode == TO_LINKS_SIMPLEX && !cluster->n_switches &&
			   cluster->n_links;
	int ret;

	if (!are)
		return 0;
	ret = to_wavelengths_init(s, cluster->n_servers, w, 1, &err);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	taken = calloc((size_t)w * s->n, sizeof(*taken));
	for (unsigned int i = 0; taken && are && i < cluster->n_links; i++)
		are = wavelengths_take(s, &cluster->links[i], taken);
	ret = taken ? are : -ENOMEM;
	free(taken);
	if (ret < 1)
		to_wavelengths_free(s);
	return ret;
}
