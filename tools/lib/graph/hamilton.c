// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "data/cluster.h"
#include "graph/hamilton.h"

#define HAMILTON_WEIGHTS 6	/* of the largest demand, beside 1 of every pair */
#define HAMILTON_PLANES 3	/* bits of a weight */
#define HAMILTON_REPEAT (1ll << 40)	/* what a repeated link costs */
#define HAMILTON_CROWD 0.05	/* of all weighted hops, when 100 % beyond the links */
#define HAMILTON_SWEEPS 100	/* over servers that are crowded at the start */

struct change {
	uint32_t at, old, new;
};

/*
 * An exchange of links of one cycle, behind positions @at: how neighbours
 * change. @in is for simplex links only.
 */
struct exchange {
	unsigned int cycle, at[3], n;
	struct change out[4], in[3];
};

/*
 * Servers within k + 1 hops of every server, as rows of bits, one level per k.
 * An exchange changes few rows of the first levels and more of each further one.
 */
struct hamilton {
	const struct to_hamilton_job *job;
	unsigned int n, words, degree;	/* an even number of words */
	uint32_t *order, *place;	/* per cycle; place[order[i]] = i */
	uint32_t *to, *from;		/* neighbours: n x degree, filled up with x itself */
	uint8_t *links;			/* n x n */
	uint64_t *rows;			/* TO_HAMILTON_HOPS x n x words */
	uint64_t *planes;		/* weights bit by bit: n x HAMILTON_PLANES x words */
	uint32_t *lost;			/* weight that a row does not reach */
	int64_t missing[TO_HAMILTON_HOPS];	/* the same, per level */
	int64_t weight, repeats, crowd;
	/* rows to put back when an exchange is not kept */
	uint64_t *undo;
	uint32_t *undo_lost;
	size_t *undo_at, n_undo;
	uint32_t *changed, *next, *mark, round;
	uint64_t *row;
	uint32_t *turn;			/* scratch of a cycle */
	double *out, *in;		/* bytes that servers send and receive */
	double limit, crowding;		/* per link, that no server exceeds, that any could */
	int64_t *crowds;		/* per server, sum in @crowd */
};

static uint64_t *hamilton_row(const struct hamilton *h, unsigned int level, uint32_t x)
{
	return h->rows + ((size_t)level * h->n + x) * h->words;
}

static unsigned int hamilton_bits(uint64_t word)
{
	/* what __builtin_popcountll() calls on machines without it is slower */
	word -= word >> 1 & 0x5555555555555555;
	word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return word * 0x0101010101010101 >> 56;
}

/* Weight of what @x does not reach in @row. */
static uint32_t hamilton_lost(const struct hamilton *h, uint32_t x, const uint64_t *row)
{
	const uint64_t *plane = h->planes + (size_t)x * HAMILTON_PLANES * h->words;
	unsigned int b, w;
	uint32_t sum = 0;

	for (b = 0; b < HAMILTON_PLANES; b++, plane += h->words)
		for (w = 0; w < h->words; w++)
			sum += hamilton_bits(plane[w] & ~row[w]) << b;
	return sum;
}

/* Two words at once. */
typedef uint64_t pair __attribute__((vector_size(16), may_alias));

/* What @x reaches in @level + 1 hops, from the level before, into h->row. */
static void hamilton_reach(struct hamilton *h, unsigned int level, uint32_t x)
{
	const pair *rows[TO_PORTS_MAX], *own;
	const uint32_t *to = &h->to[(size_t)x * h->degree];
	unsigned int i, w;

	if (!level) {
		memset(h->row, 0, h->words * sizeof(*h->row));
		h->row[x / 64] |= 1ull << x % 64;
		for (i = 0; i < h->degree; i++)
			h->row[to[i] / 64] |= 1ull << to[i] % 64;
		return;
	}
	own = (const pair *)hamilton_row(h, level - 1, x);
	for (i = 0; i < h->degree; i++)
		rows[i] = (const pair *)hamilton_row(h, level - 1, to[i]);
	for (w = 0; w < h->words / 2; w++) {
		pair all = own[w];

		for (i = 0; i < h->degree; i++)
			all |= rows[i][w];
		((pair *)h->row)[w] = all;
	}
}

/* All rows anew. */
static void hamilton_fill(struct hamilton *h)
{
	unsigned int level;
	uint32_t x;

	for (level = 0; level < TO_HAMILTON_HOPS; level++) {
		h->missing[level] = 0;
		for (x = 0; x < h->n; x++) {
			hamilton_reach(h, level, x);
			memcpy(hamilton_row(h, level, x), h->row, h->words * sizeof(*h->row));
			h->lost[level * h->n + x] = hamilton_lost(h, x, h->row);
			h->missing[level] += h->lost[level * h->n + x];
		}
	}
}

/* Row of @x again, kept for hamilton_undo() if it is another. */
static bool hamilton_renew(struct hamilton *h, unsigned int level, uint32_t x)
{
	uint64_t *row = hamilton_row(h, level, x), differ = 0;
	unsigned int w;
	size_t at = (size_t)level * h->n + x, bytes = h->words * sizeof(*row);

	hamilton_reach(h, level, x);
	/* rows are short: this is quicker than memcmp() */
	for (w = 0; w < h->words; w++)
		differ |= row[w] ^ h->row[w];
	if (!differ)
		return false;
	memcpy(h->undo + h->n_undo * h->words, row, bytes);
	memcpy(row, h->row, bytes);
	h->undo_lost[h->n_undo] = h->lost[at];
	h->undo_at[h->n_undo++] = at;
	h->missing[level] -= h->lost[at];
	h->lost[at] = hamilton_lost(h, x, row);
	h->missing[level] += h->lost[at];
	return true;
}

static void hamilton_undo(struct hamilton *h)
{
	while (h->n_undo) {
		size_t at = h->undo_at[--h->n_undo];

		memcpy(h->rows + at * h->words, h->undo + h->n_undo * h->words,
		       h->words * sizeof(*h->rows));
		h->missing[at / h->n] += (int64_t)h->undo_lost[h->n_undo] - h->lost[at];
		h->lost[at] = h->undo_lost[h->n_undo];
	}
}

/*
 * Rows after @e. Gives up once the hops have become more by more than @most,
 * whatever the levels to come save. Return: whether they have not.
 */
static bool hamilton_propagate(struct hamilton *h, const struct exchange *e, int64_t most)
{
	int64_t later = 0, was[TO_HAMILTON_HOPS];
	unsigned int level, n_changed = 0, n_next, i, k;
	uint32_t *swap;

	memcpy(was, h->missing, sizeof(was));
	for (level = 0; level < TO_HAMILTON_HOPS; level++)
		later += was[level];
	for (level = 0; level < TO_HAMILTON_HOPS; level++) {
		n_next = 0;
		h->round++;
		for (i = 0; i < e->n + n_changed; i++) {
			uint32_t y = i < e->n ? e->out[i].at : h->changed[i - e->n];
			const uint32_t *from = &h->from[(size_t)y * h->degree];

			/* y itself, and who sees what has changed at y */
			for (k = 0; k <= (i < e->n ? 0 : h->degree); k++) {
				uint32_t x = k ? from[k - 1] : y;

				if (h->mark[x] == h->round)
					continue;
				h->mark[x] = h->round;
				if (hamilton_renew(h, level, x))
					h->next[n_next++] = x;
			}
		}
		later -= was[level];
		most -= h->missing[level] - was[level];
		if (later + most < 0)
			return false;
		swap = h->changed;
		h->changed = h->next;
		h->next = swap;
		n_changed = n_next;
		/* everyone reached everyone, and still does */
		if (!was[level] && !h->missing[level])
			break;
	}
	return most >= 0;
}

/* Put one server in place of another in its neighbours' lists, or back. */
static void hamilton_replace(uint32_t *lists, unsigned int degree, const struct change *c,
			     bool back)
{
	uint32_t *list = &lists[(size_t)c->at * degree];

	while (*list != (back ? c->new : c->old))
		list++;
	*list = back ? c->old : c->new;
}

static void hamilton_relink(struct hamilton *h, const struct exchange *e, bool back)
{
	unsigned int i;

	for (i = 0; i < e->n; i++) {
		const struct change *c = &e->out[i];
		uint8_t *links = &h->links[(size_t)c->at * h->n];

		hamilton_replace(h->to, h->degree, c, back);
		/* all but one of several links side by side repeat */
		h->repeats -= links[back ? c->new : c->old]-- > 1;
		h->repeats += links[back ? c->old : c->new]++ > 0;
		if (!h->job->duplex)
			hamilton_replace(h->from, h->degree, &e->in[i], back);
	}
}

/* Bytes between @x and @members, in both directions. */
static double hamilton_between(const struct hamilton *h, uint32_t x, const uint32_t *members,
			       unsigned int n)
{
	const uint64_t *demand = h->job->demand;
	double bytes = 0;

	while (n--)
		bytes += (double)demand[(size_t)x * h->n + members[n]] +
			 demand[(size_t)members[n] * h->n + x];
	return bytes;
}

/*
 * A server and its busiest neighbours have fewer links to the others than ports:
 * a cut, which bounds the load of a link. How far it is beyond h->limit.
 */
static int64_t hamilton_crowd(const struct hamilton *h, uint32_t x)
{
	unsigned int per_link = h->job->duplex ? 2 : 1, lists = 3 - per_link, n = 1, i;
	double out = h->out[x], in = h->in[x], arcs = h->job->ports, worst = 0;
	uint32_t star[2 * TO_PORTS_MAX + 1];

	star[0] = x;
	while (h->crowding > h->limit) {
		uint32_t best = x;
		double between;

		for (i = 0; i < lists * h->degree; i++) {
			const uint32_t *list = i < h->degree ? h->to : h->from;
			uint32_t y = list[(size_t)x * h->degree + i % h->degree];
			unsigned int k;

			for (k = 0; k < n && star[k] != y; k++)
				;
			if (k == n && (best == x || h->out[y] + h->in[y] > h->out[best] + h->in[best]))
				best = y;
		}
		if (best == x)
			break;
		between = hamilton_between(h, best, star, n);
		out += h->out[best] - between;
		in += h->in[best] - between;
		arcs += (double)h->job->ports - per_link * h->links[(size_t)x * h->n + best];
		if (!h->job->duplex)
			arcs -= h->links[(size_t)best * h->n + x];
		star[n++] = best;
		if (arcs > 0 && (out > in ? out : in) / arcs > worst)
			worst = (out > in ? out : in) / arcs;
		/* those that follow send no more: they bring more links than bytes */
		if (h->out[best] + h->in[best] < h->limit * h->job->ports)
			break;
	}
	if (worst <= h->limit)
		return 0;
	return (worst / h->limit - 1) * HAMILTON_CROWD * h->weight;
}

/* Crowds of the servers whose neighbours @e changes. Return: by how much in all. */
static int64_t hamilton_recrowd(struct hamilton *h, const struct exchange *e)
{
	unsigned int n = h->job->duplex ? e->n : 2 * e->n, i;
	int64_t before = h->crowd;

	for (i = 0; i < n; i++) {
		uint32_t x = i < e->n ? e->out[i].at : e->in[i - e->n].at;

		h->crowd -= h->crowds[x];
		h->crowds[x] = hamilton_crowd(h, x);
		h->crowd += h->crowds[x];
	}
	return h->crowd - before;
}

/* Links behind positions i < j: (a, b) and (e, f) become (a, e) and (b, f). */
static bool hamilton_two(const struct hamilton *h, struct exchange *e, unsigned int i,
			 unsigned int j)
{
	const uint32_t *order = &h->order[(size_t)e->cycle * h->n];
	uint32_t a = order[i], b = order[i + 1], c = order[j], d = order[(j + 1) % h->n];

	if (b == c || d == a)
		return false;
	e->at[0] = i;
	e->at[1] = j;
	e->n = 4;
	e->out[0] = (struct change){ a, b, c };
	e->out[1] = (struct change){ b, a, d };
	e->out[2] = (struct change){ c, d, a };
	e->out[3] = (struct change){ d, c, b };
	return true;
}

/*
 * Links behind positions i < j < k: (a, b), (c, d) and (e, f) become (a, d),
 * (e, b) and (c, f), which exchanges b..c with d..e and turns neither.
 */
static bool hamilton_three(const struct hamilton *h, struct exchange *e, unsigned int i,
			   unsigned int j, unsigned int k)
{
	const uint32_t *order = &h->order[(size_t)e->cycle * h->n];
	uint32_t a = order[i], b = order[i + 1], c = order[j], d = order[j + 1], f, g = order[k];

	f = order[(k + 1) % h->n];
	e->at[0] = i;
	e->at[1] = j;
	e->at[2] = k;
	e->n = 3;
	e->out[0] = (struct change){ a, b, d };
	e->out[1] = (struct change){ c, d, f };
	e->out[2] = (struct change){ g, f, b };
	e->in[0] = (struct change){ d, c, a };
	e->in[1] = (struct change){ f, g, c };
	e->in[2] = (struct change){ b, a, g };
	return true;
}

static void hamilton_order_two(unsigned int *i, unsigned int *j)
{
	unsigned int k = *i;

	if (*i > *j) {
		*i = *j;
		*j = k;
	}
}

/* An exchange at position @i of @cycle and others at random, if there is one. */
static bool hamilton_pick(const struct hamilton *h, struct exchange *e, unsigned int cycle,
			  unsigned int i, uint64_t *random)
{
	unsigned int j = to_random_below(random, h->n), k;

	e->cycle = cycle;
	if (i == j)
		return false;
	hamilton_order_two(&i, &j);
	if (h->job->duplex)
		return hamilton_two(h, e, i, j);
	k = to_random_below(random, h->n);
	if (k == i || k == j)
		return false;
	hamilton_order_two(&j, &k);
	hamilton_order_two(&i, &j);
	return hamilton_three(h, e, i, j, k);
}

/* The cycle after @e. */
static void hamilton_turn(struct hamilton *h, const struct exchange *e)
{
	size_t base = (size_t)e->cycle * h->n;
	uint32_t *order = &h->order[base], *place = &h->place[base];
	unsigned int first = e->at[0] + 1, last = e->at[h->job->duplex ? 1 : 2], i, n = 0;

	/* the second part, in the other direction or before the first */
	for (i = last; h->job->duplex && i >= first; i--)
		h->turn[n++] = order[i];
	for (i = e->at[1] + 1; !h->job->duplex && i <= last; i++)
		h->turn[n++] = order[i];
	for (i = first; n <= last - first; i++)
		h->turn[n++] = order[i];
	for (i = 0; i < n; i++) {
		order[first + i] = h->turn[i];
		place[h->turn[i]] = first + i;
	}
}

/*
 * Keep @e if nothing gets worse. Without @hops it is only about links that
 * repeat and about crowds, and rows are not looked at.
 */
static bool hamilton_try(struct hamilton *h, const struct exchange *e, bool hops)
{
	int64_t repeats = h->repeats, worse;
	bool kept;

	hamilton_relink(h, e, false);
	worse = (h->repeats - repeats) * HAMILTON_REPEAT + hamilton_recrowd(h, e);
	kept = hops ? hamilton_propagate(h, e, -worse) : worse <= 0;
	if (kept) {
		h->n_undo = 0;
		hamilton_turn(h, e);
		return true;
	}
	hamilton_undo(h);
	hamilton_relink(h, e, true);
	hamilton_recrowd(h, e);
	return false;
}

static bool hamilton_repeats(const struct hamilton *h, uint32_t x)
{
	unsigned int i;

	for (i = 0; i < h->degree; i++)
		if (h->links[(size_t)x * h->n + h->to[(size_t)x * h->degree + i]] > 1)
			return true;
	return false;
}

/* Part what repeats or crowds, as long as there is any. */
static void hamilton_settle(struct hamilton *h, uint64_t *random)
{
	unsigned int sweep, cycle;
	struct exchange e;
	uint32_t x;

	for (sweep = 0; sweep < HAMILTON_SWEEPS && (h->repeats || h->crowd); sweep++) {
		for (x = 0; x < h->n; x++) {
			if (!h->crowds[x] && !hamilton_repeats(h, x))
				continue;
			for (cycle = 0; cycle < h->job->n_cycles; cycle++)
				if (hamilton_pick(h, &e, cycle,
						  h->place[(size_t)cycle * h->n + x], random))
					hamilton_try(h, &e, false);
		}
	}
}

static void hamilton_neighbour(uint32_t *lists, unsigned int degree, uint32_t x, uint32_t y)
{
	uint32_t *list = &lists[(size_t)x * degree];

	while (*list != x)
		list++;
	*list = y;
}

static void hamilton_link(struct hamilton *h, uint32_t x, uint32_t y)
{
	h->repeats += h->links[(size_t)x * h->n + y]++ > 0;
	hamilton_neighbour(h->to, h->degree, x, y);
	if (!h->job->duplex)
		hamilton_neighbour(h->from, h->degree, y, x);
}

/* Links of the job, then cycles at random. */
static void hamilton_start(struct hamilton *h, uint64_t *random)
{
	unsigned int n = h->n, cycle, i;
	uint32_t x, y;

	for (x = 0; x < n; x++)
		for (i = 0; i < h->degree; i++)
			h->to[(size_t)x * h->degree + i] = h->from[(size_t)x * h->degree + i] = x;
	for (x = 0; x < n; x++)
		for (y = 0; y < n; y++)
			for (i = 0; i < h->job->links[(size_t)x * n + y]; i++)
				hamilton_link(h, x, y);
	for (cycle = 0; cycle < h->job->n_cycles; cycle++) {
		uint32_t *order = &h->order[(size_t)cycle * n];

		for (i = 0; i < n; i++) {
			uint32_t at = to_random_below(random, i + 1);

			order[i] = order[at];
			order[at] = i;
		}
		for (i = 0; i < n; i++) {
			h->place[(size_t)cycle * n + order[i]] = i;
			hamilton_link(h, order[i], order[(i + 1) % n]);
			if (h->job->duplex)
				hamilton_link(h, order[(i + 1) % n], order[i]);
		}
	}
}

/* Weights from the demand; of a duplex pair, which has one distance, once. */
static void hamilton_weigh(struct hamilton *h)
{
	const uint64_t *demand = h->job->demand;
	bool duplex = h->job->duplex;
	double most = 0, bytes;
	size_t n = h->n, x, y;
	unsigned int b, weight;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		for (x = 0; x < n; x++) {
			for (y = duplex ? x + 1 : 0; y < n; y++) {
				if (x == y)
					continue;
				bytes = demand[x * n + y];
				bytes += duplex ? demand[y * n + x] : 0;
				if (!pass) {
					most = bytes > most ? bytes : most;
					continue;
				}
				weight = 1 + (most > 0 ? bytes / most * HAMILTON_WEIGHTS + 0.5 : 0);
				h->weight += weight;
				for (b = 0; b < HAMILTON_PLANES; b++)
					if (weight >> b & 1)
						h->planes[(x * HAMILTON_PLANES + b) * h->words + y / 64] |=
							1ull << y % 64;
			}
		}
	}
	for (x = 0; x < n; x++) {
		for (y = 0; y < n; y++) {
			h->out[x] += demand[x * n + y];
			h->in[y] += demand[x * n + y];
		}
	}
}

static int64_t hamilton_hops(const struct hamilton *h)
{
	int64_t hops = h->weight;
	unsigned int level;

	for (level = 0; level < TO_HAMILTON_HOPS; level++)
		hops += h->missing[level];
	return hops;
}

/* No link can be loaded less: a server's bytes on its links, all bytes on all. */
static void hamilton_limit(struct hamilton *h)
{
	double bytes = 0, links = (double)h->n * h->job->ports, ports;
	uint32_t x;

	h->limit = 0;
	for (x = 0; x < h->n; x++) {
		double most = h->out[x] > h->in[x] ? h->out[x] : h->in[x];

		bytes += h->out[x];
		if (most / h->job->ports > h->limit)
			h->limit = most / h->job->ports;
	}
	/* a star of the busiest servers */
	ports = (h->degree + 1) * h->job->ports;
	h->crowding = h->limit * ports / (ports - 2 * h->degree);
	bytes *= (double)hamilton_hops(h) / h->weight;
	if (bytes / links > h->limit)
		h->limit = bytes / links;
	h->crowd = 0;
	for (x = 0; x < h->n; x++)
		h->crowd += h->crowds[x] = hamilton_crowd(h, x);
}

static struct to_hamilton_score hamilton_score(const struct hamilton *h)
{
	struct to_hamilton_score score = { .repeats = h->repeats };
	uint64_t ordered = (uint64_t)h->n * (h->n - 1);
	unsigned int level, w;
	uint32_t x;

	if (h->job->duplex)
		score.repeats /= 2;
	score.cost = (double)h->repeats * HAMILTON_REPEAT + h->crowd + hamilton_hops(h);
	score.hops = ordered;
	for (level = 0; level < TO_HAMILTON_HOPS; level++) {
		score.hops += ordered + h->n;
		for (x = 0; x < h->n; x++)
			for (w = 0; w < h->words; w++)
				score.hops -= hamilton_bits(hamilton_row(h, level, x)[w]);
	}
	return score;
}

static int hamilton_init(struct hamilton *h, const struct to_hamilton_job *job, uint32_t *order)
{
	size_t n = job->n, rows = n * TO_HAMILTON_HOPS, x, y;

	*h = (struct hamilton){ .job = job, .n = n, 
			      .words = (n + 127) / 128 * 2, .order = order };
	for (x = 0; x < n; x++) {
		unsigned int out = 0, in = 0;

		for (y = 0; y < n; y++) {
			out += job->links[x * n + y];
			in += job->links[y * n + x];
		}
		h->degree = out > h->degree ? out : h->degree;
		h->degree = in > h->degree ? in : h->degree;
	}
	h->degree += (job->duplex ? 2 : 1) * job->n_cycles;
	h->rows = calloc(rows * h->words, sizeof(*h->rows));
	h->undo = calloc(rows * h->words, sizeof(*h->undo));
	h->planes = calloc((n * HAMILTON_PLANES + 1) * h->words, sizeof(*h->planes));
	h->lost = calloc(2 * rows, sizeof(*h->lost));
	h->undo_at = calloc(rows, sizeof(*h->undo_at));
	h->to = calloc(n * (2 * h->degree + 4 + job->n_cycles), sizeof(*h->to));
	h->links = calloc(n * n, sizeof(*h->links));
	h->out = calloc(2 * n, sizeof(*h->out));
	h->crowds = calloc(n, sizeof(*h->crowds));
	if (!h->rows || !h->undo || !h->planes || !h->lost || !h->undo_at || !h->to || !h->links ||
	    !h->out || !h->crowds)
		return -ENOMEM;
	h->row = h->planes + n * HAMILTON_PLANES * h->words;
	h->undo_lost = h->lost + rows;
	h->from = job->duplex ? h->to : h->to + n * h->degree;
	h->place = h->to + 2 * n * h->degree;
	h->changed = h->place + n * job->n_cycles;
	h->next = h->changed + n;
	h->mark = h->next + n;
	h->turn = h->mark + n;
	h->in = h->out + n;
	return 0;
}

static void hamilton_free(struct hamilton *h)
{
	free(h->rows);
	free(h->undo);
	free(h->planes);
	free(h->lost);
	free(h->undo_at);
	free(h->to);
	free(h->links);
	free(h->out);
	free(h->crowds);
}

int to_hamilton_search(const struct to_hamilton_job *job, uint32_t *order,
		       struct to_hamilton_score *start, struct to_hamilton_score *score)
{
	uint64_t random = job->seed;
	unsigned long step;
	struct exchange e;
	struct hamilton h;
	int ret = hamilton_init(&h, job, order);

	if (ret)
		goto out;
	hamilton_weigh(&h);
	hamilton_start(&h, &random);
	hamilton_fill(&h);
	hamilton_limit(&h);
	*start = hamilton_score(&h);
	hamilton_settle(&h, &random);
	hamilton_fill(&h);
	for (step = 0; step < job->steps; step++)
		if (hamilton_pick(&h, &e, to_random_below(&random, job->n_cycles),
				  to_random_below(&random, job->n), &random))
			hamilton_try(&h, &e, true);
	*score = hamilton_score(&h);
out:
	hamilton_free(&h);
	return ret;
}
