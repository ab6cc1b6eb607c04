// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/moore.h"

#include <stdlib.h>
#include <string.h>

#define MOORE_JUMPS 32
#define MOORE_CIRCULANTS 2e6	/* vertices looked at in search of jumps */

/* One definition, for given numbers of vertices and neighbours. */
struct moore {
	unsigned int n, degree;
	unsigned int q;			/* order of a field, or of something else */
	uint32_t label[TO_MOORE_VERTICES];	/* what a vertex is */
	unsigned int n_jumps, jump[MOORE_JUMPS];
};

/* Finite fields: an element is a polynomial in x, its coefficients digits in base p. */
struct field {
	unsigned int q, p, k;
	unsigned int power[3];	/* x^k in powers of x below */
};

static const struct field fields[] = {
	{ 2, 2, 1, {} }, { 3, 3, 1, {} }, { 4, 2, 2, { 1, 1 } }, { 5, 5, 1, {} }, { 7, 7, 1, {} },
	{ 8, 2, 3, { 1, 1, 0 } }, { 9, 3, 2, { 1, 1 } }, { 11, 11, 1, {} }, { 13, 13, 1, {} },
};

static const struct field *field_of(unsigned int q)
{
	for (unsigned int i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i].q == q)
			return &fields[i];
	return NULL;
}

/* @a + @times b */
static unsigned int field_add(const struct field *f, unsigned int a, unsigned int b,
			      unsigned int times)
{
	unsigned int sum = 0, unit = 1;

	for (unsigned int i = 0; i < f->k; i++, unit *= f->p, a /= f->p, b /= f->p)
		sum += (a + times * (b % f->p)) % f->p * unit;
	return sum;
}

static unsigned int field_times_x(const struct field *f, unsigned int a)
{
	unsigned int high = a / (f->q / f->p), unit = 1, low = 0;

	for (unsigned int i = 0; i < f->k; i++, unit *= f->p)
		low += f->power[i] * unit;
	return field_add(f, a % (f->q / f->p) * f->p, low, high);
}

static unsigned int field_multiply(const struct field *f, unsigned int a, unsigned int b)
{
	unsigned int product = 0;

	if (f->k == 1)
		return a * b % f->p;
	for (; b; b /= f->p, a = field_times_x(f, a))
		product = field_add(f, product, a, b % f->p);
	return product;
}

/* Every vertex of a part with those of all other parts. */
static bool multipartite_fits(struct moore *m)
{
	m->q = m->n - m->degree;
	return m->degree < m->n && m->n % m->q == 0;
}

static bool multipartite_adjacent(const struct moore *m, unsigned int x, unsigned int y)
{
	return x / m->q != y / m->q;
}

static double moore_choose(unsigned int n, unsigned int k)
{
	double count = 1;

	for (unsigned int i = 0; i < k; i++)
		count = count * (n - i) / (i + 1);
	return k > n ? 0 : count;
}

/* Subsets of k of m, those without common members adjacent. */
static bool kneser_fits(struct moore *m)
{
	for (unsigned int k = 2; k < 6; k++) {
		for (unsigned int of = 2 * k + 1; of < 24 && moore_choose(of, k) <= m->n; of++) {
			unsigned int i = 0;

			if (moore_choose(of, k) != m->n || moore_choose(of - k, k) != m->degree)
				continue;
			for (uint32_t set = 0; i < m->n; set++)
				if (__builtin_popcount(set) == (int)k)
					m->label[i++] = set;
			return true;
		}
	}
	return false;
}

static bool kneser_adjacent(const struct moore *m, unsigned int x, unsigned int y)
{
	return !(m->label[x] & m->label[y]);
}

/* A cube with its antipodes joined. */
static bool folded_cube_fits(struct moore *m)
{
	return m->degree > 2 && m->degree < 16 && m->n == 1u << (m->degree - 1);
}

static bool folded_cube_adjacent(const struct moore *m, unsigned int x, unsigned int y)
{
	return __builtin_popcount(x ^ y) == 1 || (x ^ y) == m->n - 1;
}

/* The points of the projective plane: vectors up to a factor, the first nonzero entry 1. */
static bool plane_points(struct moore *m, unsigned int points)
{
	unsigned int q = m->q = m->degree - 1, at = 0;

	if (m->degree < 3 || !field_of(q) || points != q * q + q + 1)
		return false;
	m->label[at++] = 1;
	for (unsigned int z = 0; z < q; z++)
		m->label[at++] = q + z;
	for (unsigned int yz = 0; yz < q * q; yz++)
		m->label[at++] = q * q + yz;
	return true;
}

static bool plane_orthogonal(const struct moore *m, uint32_t a, uint32_t b)
{
	const struct field *f = field_of(m->q);
	unsigned int sum = 0;

	for (; a && b; a /= m->q, b /= m->q)
		sum = field_add(f, sum, field_multiply(f, a % m->q, b % m->q), 1);
	return !sum;
}

/* Points and lines, a line with its points. */
static bool incidence_fits(struct moore *m)
{
	return m->n % 2 == 0 && plane_points(m, m->n / 2);
}

static bool incidence_adjacent(const struct moore *m, unsigned int x, unsigned int y)
{
	unsigned int half = m->n / 2;

	return (x < half) != (y < half) &&
	       plane_orthogonal(m, m->label[x % half], m->label[y % half]);
}

/* A point with those of the line that has the same coordinates. */
static bool polarity_fits(struct moore *m)
{
	return plane_points(m, m->n);
}

static bool polarity_adjacent(const struct moore *m, unsigned int x, unsigned int y)
{
	return plane_orthogonal(m, m->label[x], m->label[y]);
}

/*
 * Vertices (side, x, y) over a field of q = 4k + 1; on one side (x, y) with (x, y')
 * where y - y' is a square, on the other where it is none, and between them (x, y)
 * with (m, c) where y = m x + c.
 */
static bool mms_fits(struct moore *m)
{
	const struct field *f;
	unsigned int q = 1;

	while (2 * q * q < m->n)
		q += 4;
	f = field_of(q);
	if (2 * q * q != m->n || !f || m->degree != (3 * q - 1) / 2)
		return false;
	m->q = q;
	for (unsigned int a = 1; a < q; a++)
		m->label[field_multiply(f, a, a)] = 1;	/* the squares */
	return true;
}

static bool mms_adjacent(const struct moore *m, unsigned int x, unsigned int y)
{
	const struct field *f = field_of(m->q);
	unsigned int q = m->q, half = q * q, difference;

	if (x >= half && y < half)
		return mms_adjacent(m, y, x);
	difference = field_add(f, x % q, y % q, f->p - 1);
	if ((x < half) != (y < half))
		return difference == field_multiply(f, x / q, y % half / q);
	/* -1 is a square, too, so the order does not matter */
	return x / q == y / q && difference && m->label[difference] == (x < half);
}

/* (i, x) with (i, x + 1) and (i + 1, w x), x in the field of four that w generates. */
static bool c5f4_fits(struct moore *m)
{
	return m->n == 20 && m->degree == 3;
}

static bool c5f4_adjacent(const struct moore *m, unsigned int x, unsigned int y)
{
	const struct field *f = field_of(4);
	unsigned int step = (y / 4 + 5 - x / 4) % 5;

	(void)m;
	return step == 0 ? (x % 4 ^ y % 4) == 1 :
	       step == 1 ? y % 4 == field_times_x(f, x % 4) :
	       step == 4 && x % 4 == field_times_x(f, y % 4);
}

/*
 * Three copies of X8, each vertex joined to the other copies' image of it under an
 * involution f that takes X8 to the rest of the complete graph but for the pairs of
 * f. Pairs are (a, a'), (b_i, b_i'), i mod 3; b_i is joined to a and a', b_i' to
 * b_(i+1) and b_(i+1)'.
 */
static bool k3x8_fits(struct moore *m)
{
	return m->n == 24 && m->degree == 5;
}

static bool x8_from(unsigned int x, unsigned int y)
{
	unsigned int i = x / 2, j = y / 2;

	return i && (x % 2 ? j == 1 + i % 3 : j == 0);
}

static bool k3x8_adjacent(const struct moore *m, unsigned int x, unsigned int y)
{
	(void)m;
	if (x / 8 != y / 8)
		return (x % 8 ^ y % 8) == 1;
	return x8_from(x % 8, y % 8) || x8_from(y % 8, x % 8);
}

/* Vertices apart by one of the jumps. */
static bool circulant_adjacent(const struct moore *m, unsigned int x, unsigned int y)
{
	unsigned int apart = x < y ? y - x : x - y;

	for (unsigned int i = 0; i < m->n_jumps; i++)
		if (apart == m->jump[i] || apart == m->n - m->jump[i])
			return true;
	return false;
}

/* Sum of the distances from vertex 0, 0 when not all are reached. */
static unsigned int circulant_sum(const struct moore *m)
{
	uint16_t distance[TO_MOORE_VERTICES], queue[TO_MOORE_VERTICES];
	unsigned int tail = 0, sum = 0;

	memset(distance, 0xff, sizeof(distance));
	distance[0] = 0;
	queue[tail++] = 0;
	for (unsigned int head = 0; head < tail; head++) {
		unsigned int x = queue[head];

		sum += distance[x];
		for (unsigned int i = 0; i < 2 * m->n_jumps; i++) {
			unsigned int jump = m->jump[i / 2];
			unsigned int y = (x + (i % 2 ? jump : m->n - jump)) % m->n;

			if (distance[y] != UINT16_MAX)
				continue;
			distance[y] = distance[x] + 1;
			queue[tail++] = y;
		}
	}
	return tail == m->n ? sum : 0;
}

/* All sets of jumps, in order, while these are few. */
static bool circulant_fits(struct moore *m)
{
	unsigned int most = (m->n - 1) / 2, k = m->degree / 2, best = 0, i, sum;
	struct moore now = { .n = m->n, .n_jumps = k + m->degree % 2 };

	if (m->degree >= m->n || m->degree < 2 || k >= MOORE_JUMPS || k > most ||
	    (m->degree % 2 && m->n % 2) ||
	    moore_choose(most, k) * m->n * m->degree > MOORE_CIRCULANTS)
		return false;
	for (i = 0; i < k; i++)
		now.jump[i] = i + 1;
	now.jump[k] = m->n / 2;	/* of odd degrees */
	for (;;) {
		sum = circulant_sum(&now);
		if (sum && (!best || sum < best)) {
			best = sum;
			m->n_jumps = now.n_jumps;
			memcpy(m->jump, now.jump, sizeof(m->jump));
		}
		for (i = k; i && now.jump[i - 1] == most - k + i; i--)
			;
		if (!i)
			break;
		for (now.jump[i - 1]++; i < k; i++)
			now.jump[i] = now.jump[i - 1] + 1;
	}
	return best;
}

static const struct {
	bool (*fits)(struct moore *m);
	bool (*adjacent)(const struct moore *m, unsigned int x, unsigned int y);
} definitions[] = {
	{ multipartite_fits, multipartite_adjacent },
	{ kneser_fits, kneser_adjacent },
	{ folded_cube_fits, folded_cube_adjacent },
	{ incidence_fits, incidence_adjacent },
	{ polarity_fits, polarity_adjacent },
	{ mms_fits, mms_adjacent },
	{ c5f4_fits, c5f4_adjacent },
	{ k3x8_fits, k3x8_adjacent },
	{ circulant_fits, circulant_adjacent },
};

/* Sum of all distances, 0 when @adjacent is not connected. */
static uint64_t moore_distances(const bool *adjacent, unsigned int n)
{
	uint16_t distance[TO_MOORE_VERTICES], queue[TO_MOORE_VERTICES];
	uint64_t sum = 0;

	for (unsigned int root = 0; root < n; root++) {
		unsigned int tail = 0;

		memset(distance, 0xff, sizeof(distance));
		distance[root] = 0;
		queue[tail++] = root;
		for (unsigned int head = 0; head < tail; head++) {
			unsigned int x = queue[head];

			sum += distance[x];
			for (unsigned int y = 0; y < n; y++) {
				if (!adjacent[x * n + y] || distance[y] != UINT16_MAX)
					continue;
				distance[y] = distance[x] + 1;
				queue[tail++] = y;
			}
		}
		if (tail < n)
			return 0;
	}
	return sum;
}

bool *to_moore_graph(unsigned int n, unsigned int degree)
{
	bool *best = NULL, *flags;
	uint64_t least = 0, sum;

	if (n < 2 || n > TO_MOORE_VERTICES)
		return NULL;
	for (unsigned int i = 0; i < sizeof(definitions) / sizeof(*definitions); i++) {
		struct moore m = { .n = n, .degree = degree };

		if (!definitions[i].fits(&m))
			continue;
		flags = calloc((size_t)n * n, sizeof(*flags));
		for (unsigned int x = 0; flags && x < n; x++)
			for (unsigned int y = 0; y < n; y++)
				flags[x * n + y] = x != y && definitions[i].adjacent(&m, x, y);
		sum = flags ? moore_distances(flags, n) : 0;
		if (sum && (!best || sum < least)) {
			free(best);
			best = flags;
			least = sum;
		} else {
			free(flags);
		}
	}
	return best;
}

static bool moore_within(const struct to_graph *graph, unsigned int degree)
{
	unsigned int n = graph->n, arcs = 0;
	bool *flags = to_moore_graph(n, degree);

	if (!flags)
		return false;
	for (unsigned int pair = 0; pair < n * n; pair++)
		arcs += flags[pair];
	for (uint32_t a = 0; a < graph->n_arcs; a++) {
		bool *flag = &flags[graph->from[a] * n + graph->to[a]];

		arcs -= *flag;
		*flag = false;
	}
	free(flags);
	return !arcs;
}

bool to_moore_is(const struct to_graph *graph)
{
	unsigned int most = 0, degree;

	for (uint32_t x = 0; x < graph->n; x++)
		if (graph->out[x + 1] - graph->out[x] > most)
			most = graph->out[x + 1] - graph->out[x];
	for (degree = most; degree >= 3 && 2 * degree >= most; degree--)
		if (moore_within(graph, degree))
			return true;
	return false;
}
