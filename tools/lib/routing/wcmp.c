// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort_by.h"
#include "routing/wcmp.h"

/*
 * A link's load here is what keeps it busy beyond the least busy one, in parts
 * of what keeps the busiest one busy: 0 to 1.
 */
#define WCMP_HOP_PRICE 0.01	/* of any hop, in parts of the price of load 1 */
#define WCMP_LOAD_MIN 1e-3	/* smaller loads are priced as this one */
#define WCMP_SHARE_MIN 1e-4	/* of a server's bytes: a smaller share gets no next hop */
#define WCMP_BISECTIONS 5	/* of a step that goes past the minimum */
#define WCMP_DAMPING_MIN 0.5	/* least factor on damping after a step cut short */
#define WCMP_DAMPING_DECAY 0.7	/* divides damping after a step made in full */
#define WCMP_ROUNDING_ERROR 0.004 /* load that all rounded weights together may misplace */

/*
 * The price is a power of the load, 2^(number of squarings): the higher, the
 * nearer to min-max utilisation, and the harder to converge.
 */
#define WCMP_SQUARINGS 2	/* at first: the 4th power */
#define WCMP_POWERS 6		/* each the square of the one before: up to the 128th power */
#define WCMP_POWER_PASSES 3	/* passes that each power takes at least */

/* Whether @w is an arc that shares ways, whose bytes are on these. */
static bool wcmp_shares(const struct to_wcmp *s, uint32_t w)
{
	return w < s->graph->n_arcs && to_port_loads_shares(&s->ways, w);
}

static int wcmp_alloc(struct to_wcmp *s, const struct to_cluster *cluster)
{
	size_t n = s->graph->n, arcs = s->graph->n_arcs, ways;
	struct to_arena *arena = &s->arena;

	if (to_port_loads_init(&s->ways, s->graph, cluster))
		return -ENOMEM;
	ways = s->ways.n;
	s->bytes = s->ways.bytes;
	s->seconds_per_byte = s->ways.seconds_per_byte;
	s->base = to_arena_array(arena, ways, sizeof(*s->base));
	s->price = to_arena_array(arena, ways, sizeof(*s->price));
	s->slope = to_arena_array(arena, ways, sizeof(*s->slope));
	s->next = to_arena_array(arena, arcs, sizeof(*s->next));
	s->delta = to_arena_array(arena, ways, sizeof(*s->delta));
	s->changed = to_arena_array(arena, arcs, sizeof(*s->changed));
	s->touched = to_arena_array(arena, ways, sizeof(*s->touched));
	s->listed = to_arena_array(arena, ways, sizeof(*s->listed));
	s->label = to_arena_array(arena, n, sizeof(*s->label));
	s->curve = to_arena_array(arena, n, sizeof(*s->curve));
	s->far = to_arena_array(arena, n, sizeof(*s->far));
	s->inflow = to_arena_array(arena, n, sizeof(*s->inflow));
	s->place = to_arena_array(arena, n, sizeof(*s->place));
	s->best = to_arena_array(arena, n, sizeof(*s->best));
	s->used = to_arena_array(arena, n, sizeof(*s->used));
	s->hops = to_arena_array(arena, n, sizeof(*s->hops));
	s->room = to_arena_array(arena, n, sizeof(*s->room));
	s->root = to_arena_array(arena, n, sizeof(*s->root));
	s->row = to_arena_array(arena, n, sizeof(*s->row));
	s->n_reached = to_arena_array(arena, n, sizeof(*s->n_reached));
	return arena->failed ? -ENOMEM : 0;
}

/* @base bytes on every arc, and how fast the ways are. */
static void wcmp_load_base(struct to_wcmp *s, const double *base)
{
	to_port_loads_set(&s->ways, base);
	memcpy(s->base, s->bytes, s->ways.n * sizeof(*s->base));
	s->least_spb = INFINITY;
	for (uint32_t w = 0; w < s->ways.n; w++)
		s->least_spb = fmin(s->least_spb, s->seconds_per_byte[w]);
}

int to_wcmp_init(struct to_wcmp *s, const struct to_graph *graph,
		 const struct to_cluster *cluster, const uint64_t *demand,
		 const double *base, double stretch)
{
	size_t n = graph->n, arcs = graph->n_arcs, x, root;
	uint16_t *distance = calloc(n, sizeof(*distance));
	unsigned int r;

	memset(s, 0, sizeof(*s));
	s->graph = graph;
	s->stretch = stretch;
	if (!distance || wcmp_alloc(s, cluster))
		goto fail;
	for (root = 0; root < n; root++) {
		for (x = 0; x < n && !demand[x * n + root]; x++)
			;
		s->row[root] = x < n ? s->n_roots : UINT32_MAX;
		if (x < n)
			s->root[s->n_roots++] = root;
	}
	s->order = to_arena_array(&s->arena, s->n_roots * n, sizeof(*s->order));
	s->flow = to_arena_array(&s->arena, s->n_roots * arcs, sizeof(*s->flow));
	s->damping = to_arena_array(&s->arena, s->n_roots, sizeof(*s->damping));
	s->distance = to_arena_array(&s->arena, s->n_roots * n, sizeof(*s->distance));
	s->demand = to_arena_array(&s->arena, s->n_roots * n, sizeof(*s->demand));
	if (s->arena.failed)
		goto fail;
	wcmp_load_base(s, base);
	for (r = 0; r < s->n_roots; r++) {
		s->damping[r] = 1;
		s->n_reached[r] = to_graph_distances(graph, s->root[r], TO_SERVER_NONE, distance,
						     s->order + r * n);
		memcpy(s->distance + r * n, distance, n * sizeof(*distance));
		for (x = 0; x < n; x++)
			s->demand[r * n + x] = demand[x * n + s->root[r]];
	}
	free(distance);
	return 0;
fail:
	free(distance);
	to_wcmp_free(s);
	return -ENOMEM;
}

void to_wcmp_free(struct to_wcmp *s)
{
	to_port_loads_free(&s->ways);
	to_arena_free(&s->arena);
	memset(s, 0, sizeof(*s));
}

double to_wcmp_busiest(const struct to_wcmp *s)
{
	return to_port_loads_seconds(&s->ways);
}

/* Load of @w with @bytes on it. */
static double wcmp_load(const struct to_wcmp *s, uint32_t w, double bytes)
{
	double load = (bytes * s->seconds_per_byte[w] - s->idle) / s->full;

	return load > WCMP_LOAD_MIN ? load : WCMP_LOAD_MIN;
}

static double wcmp_power(const struct to_wcmp *s, double load)
{
	unsigned int i;

	for (i = 0; i < s->squarings; i++)
		load *= load;
	return load;
}

/*
 * Price of one byte more: seconds times a power of the load, and a little for
 * the hop. Slope of that over bytes.
 */
static void wcmp_price(struct to_wcmp *s, uint32_t w)
{
	double load = wcmp_load(s, w, s->bytes[w]);
	double spb = s->seconds_per_byte[w], relative = spb / s->least_spb;
	double power = wcmp_power(s, load) * relative;

	s->price[w] = power + WCMP_HOP_PRICE * relative;
	s->slope[w] = (1u << s->squarings) * power / load * spb / s->full;
}

/* An arc that shares ways costs what they all do. */
static void wcmp_price_shared(struct to_wcmp *s)
{
	const struct to_port_loads *ways = &s->ways;
	uint32_t a, i;

	for (a = 0; ways->n > s->graph->n_arcs && a < s->graph->n_arcs; a++) {
		if (!wcmp_shares(s, a))
			continue;
		s->price[a] = s->slope[a] = 0;
		for (i = ways->first[a]; i < ways->first[a + 1]; i++) {
			s->price[a] += s->price[ways->way[i]];
			s->slope[a] += s->slope[ways->way[i]];
		}
	}
}

static void wcmp_price_all(struct to_wcmp *s)
{
	double busiest = to_wcmp_busiest(s) - s->idle;
	uint32_t w;

	if (busiest > 0)
		s->full = busiest;
	for (w = 0; w < s->ways.n; w++)
		wcmp_price(s, w);
	wcmp_price_shared(s);
}

/* @x has a hop more than @y, at the least. */
static void wcmp_lengthen(struct to_wcmp *s, uint32_t x, uint32_t y)
{
	if (s->hops[x] <= s->hops[y])
		s->hops[x] = s->hops[y] + 1;
}

/* The labels of @x, see wcmp_label(), which sends by the arcs s->used. */
static void wcmp_label_used(struct to_wcmp *s, uint32_t x, const float *flow)
{
	const struct to_graph *g = s->graph;
	double through = 0, cost = 0, slope = 0, far = 0;

	s->hops[x] = 0;
	for (uint64_t left = s->used[x]; left; left &= left - 1) {
		uint32_t a = g->out[x] + __builtin_ctzll(left), y = g->to[a];

		through += flow[a];
		cost += flow[a] * (s->price[a] + s->label[y]);
		slope += flow[a] * (s->slope[a] + s->curve[y]);
		far = fmax(far, s->price[a] + s->far[y]);
		wcmp_lengthen(s, x, y);
	}
	s->best[x] = UINT32_MAX;
	s->label[x] = cost / through;
	s->curve[x] = slope / through;
	s->far[x] = far;
}

/* The same when it sends nothing; it is number @i of the order. */
static void wcmp_label_idle(struct to_wcmp *s, uint32_t x, uint32_t i)
{
	const struct to_graph *g = s->graph;
	double least = INFINITY, curve = 0, near = INFINITY;
	uint32_t a, via = UINT32_MAX;

	for (a = g->out[x]; a < g->out[x + 1]; a++) {
		uint32_t y = g->to[a];

		if (s->place[y] >= i)
			continue;
		if (s->price[a] + s->label[y] < least) {
			least = s->price[a] + s->label[y];
			curve = s->slope[a] + s->curve[y];
		}
		if (s->hops[y] < s->room[x] && s->price[a] + s->far[y] < near) {
			near = s->price[a] + s->far[y];
			via = a;
		}
	}
	s->best[x] = via;
	s->hops[x] = via == UINT32_MAX ? UINT16_MAX : s->hops[g->to[via]] + 1;
	s->label[x] = least;
	s->curve[x] = curve;
	s->far[x] = near;
}

/*
 * Costs of a byte from every server: label as the bytes go, curve its slope,
 * far over the costliest of their paths. The servers then go into the order of
 * far: no path climbs it, so every next hop further down is loop-free. A server that
 * sends nothing comes after the next hop that would be cheapest, its @s->best, of those
 * that leave it a path which is short enough.
 */
static void wcmp_label(struct to_wcmp *s, unsigned int r, const float *flow)
{
	const struct to_graph *g = s->graph;
	uint32_t *order = s->order + (size_t)r * g->n;
	unsigned int n_reached = s->n_reached[r], i;

	for (i = 0; i < g->n; i++)
		s->room[i] = to_plan_most_hops(s->distance[(size_t)r * g->n + i], s->stretch);
	memset(s->place, 0xff, g->n * sizeof(*s->place));
	s->place[order[0]] = s->hops[order[0]] = 0;
	s->label[order[0]] = s->curve[order[0]] = s->far[order[0]] = 0;
	for (i = 1; i < n_reached; i++) {
		uint32_t x = order[i], a;

		s->used[x] = 0;
		for (a = g->out[x]; a < g->out[x + 1]; a++)
			s->used[x] |= (uint64_t)(flow[a] > 0) << (a - g->out[x]);
		if (s->used[x])
			wcmp_label_used(s, x, flow);
		else
			wcmp_label_idle(s, x, i);
		s->place[x] = i;
	}
	to_sort_by(order + 1, n_reached - 1, s->far, s->changed);
	for (i = 0; i < n_reached; i++)
		s->place[order[i]] = i;
}

/*
 * The cheapest next hop of every server that may get more, as @s->best: no path becomes
 * longer than it may. @s->hops are those of the longest path with it, @s->room what the
 * paths on which a server lies leave for its own, those of wcmp_label() among them.
 */
static void wcmp_choose(struct to_wcmp *s, unsigned int r)
{
	const struct to_graph *g = s->graph;
	const uint32_t *order = s->order + (size_t)r * g->n;
	uint64_t left;
	uint32_t i, a;

	for (i = s->n_reached[r]; i-- > 1;) {
		uint32_t x = order[i];

		left = s->used[x];
		if (s->best[x] != UINT32_MAX)
			left |= 1ull << (s->best[x] - g->out[x]);
		for (; left; left &= left - 1) {
			uint32_t y = g->to[g->out[x] + __builtin_ctzll(left)];

			if (s->room[y] >= s->room[x])
				s->room[y] = s->room[x] - 1;
		}
	}
	s->hops[order[0]] = 0;
	for (i = 1; i < s->n_reached[r]; i++) {
		uint32_t x = order[i];
		double least = INFINITY;

		s->best[x] = UINT32_MAX;
		s->hops[x] = 0;
		for (left = s->used[x]; left; left &= left - 1) {
			uint32_t y = g->to[g->out[x] + __builtin_ctzll(left)];

			if (s->hops[y] < s->room[x])
				wcmp_lengthen(s, x, y);
		}
		for (a = g->out[x]; a < g->out[x + 1]; a++) {
			uint32_t y = g->to[a];

			if (s->place[y] >= i || s->hops[y] >= s->room[x])
				continue;
			if (s->price[a] + s->label[y] < least) {
				least = s->price[a] + s->label[y];
				s->best[x] = a;
			}
		}
		/* only where nothing is sent any more, and nobody will send now */
		if (s->best[x] == UINT32_MAX)
			s->hops[x] = UINT16_MAX;
		else
			wcmp_lengthen(s, x, g->to[s->best[x]]);
	}
}

/*
 * Where @bytes from @x go next: as before, less what moves to the cheapest next hop.
 * @damping: of the Newton step, see wcmp_improve()
 */
static void wcmp_move(struct to_wcmp *s, uint32_t x, const float *flow, double bytes,
		      double damping)
{
	const struct to_graph *g = s->graph;
	uint32_t first = g->out[x], best = s->best[x];
	double least = s->price[best] + s->label[g->to[best]], before = 0, kept = 0, scale;
	double curve = s->slope[best] + s->curve[g->to[best]];

	for (uint64_t left = s->used[x]; left; left &= left - 1)
		before += flow[first + __builtin_ctzll(left)];
	scale = before > 0 ? bytes / before : 0;
	for (uint64_t left = s->used[x] & ~(1ull << (best - first)); left; left &= left - 1) {
		uint32_t a = first + __builtin_ctzll(left), y = g->to[a];
		double slope = s->slope[a] + s->curve[y] + curve, stays = flow[a] * scale;

		stays -= slope > 0 ? damping * (s->price[a] + s->label[y] - least) / slope : stays;
		if (stays < bytes * WCMP_SHARE_MIN)
			continue;
		kept += stays;
		s->next[a] = stays;
		s->inflow[y] += stays;
	}
	s->next[best] = bytes - kept;
	s->inflow[g->to[best]] += bytes - kept;
}

/* What the changes of the first @n of s->touched cost when @step of them is made, as a derivative. */
static double wcmp_derivative(const struct to_wcmp *s, unsigned int n, double step)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		uint32_t w = s->touched[i];
		double load = wcmp_load(s, w, s->bytes[w] + step * s->delta[w]);

		sum += s->delta[w] * (wcmp_power(s, load) + WCMP_HOP_PRICE) *
		       s->seconds_per_byte[w];
	}
	return sum;
}

/* Way @w is to carry @delta bytes more. Return: how many ways are in s->touched. */
static unsigned int wcmp_change(struct to_wcmp *s, unsigned int n, uint32_t w, double delta)
{
	if (s->listed[w]) {
		s->delta[w] += delta;
		return n;
	}
	s->listed[w] = true;
	s->delta[w] = delta;
	s->touched[n] = w;
	return n + 1;
}

/* All ways of arc @a are to carry @delta bytes more. Return: as wcmp_change(). */
static unsigned int wcmp_change_arc(struct to_wcmp *s, unsigned int n, uint32_t a, double delta)
{
	for (uint32_t i = s->ways.first[a]; i < s->ways.first[a + 1]; i++)
		n = wcmp_change(s, n, s->ways.way[i], delta);
	return n;
}

/*
 * Go from @flow towards s->next as far as it gets cheaper; all the way when @whole.
 * Return: the share of the way.
 */
static double wcmp_go(struct to_wcmp *s, float *flow, bool whole)
{
	double step = 1, low = 0, high = 1;
	unsigned int n = 0, n_ways = 0, i;
	uint32_t a;

	for (a = 0; a < s->graph->n_arcs; a++) {
		if (s->next[a] == flow[a])
			continue;
		s->changed[n++] = a;
		n_ways = wcmp_change_arc(s, n_ways, a, s->next[a] - flow[a]);
	}
	if (!whole && wcmp_derivative(s, n_ways, 1) > 0) {
		for (i = 0; i < WCMP_BISECTIONS; i++) {
			step = (low + high) / 2;
			if (wcmp_derivative(s, n_ways, step) > 0)
				high = step;
			else
				low = step;
		}
		step = (low + high) / 2;
	}
	for (i = 0; i < n; i++) {
		float was;

		a = s->changed[i];
		was = flow[a];
		flow[a] = step < 1 ? was + step * (s->next[a] - was) : s->next[a];
		for (uint32_t k = s->ways.first[a]; k < s->ways.first[a + 1]; k++)
			s->bytes[s->ways.way[k]] += (double)flow[a] - was;
	}
	for (i = 0; i < n_ways; i++) {
		s->listed[s->touched[i]] = false;
		wcmp_price(s, s->touched[i]);
	}
	wcmp_price_shared(s);
	return step;
}

/*
 * Servers that all move bytes to the same path at once overshoot. Damping keeps
 * their steps short enough to be made in full: only then do next hops that are
 * too costly end up with nothing, and no longer constrain the order of the servers.
 */
static void wcmp_improve(struct to_wcmp *s, unsigned int r, bool first)
{
	const struct to_graph *g = s->graph;
	const uint32_t *order = s->order + (size_t)r * g->n;
	float *flow = s->flow + (size_t)r * g->n_arcs;
	unsigned int i;
	double step;

	wcmp_label(s, r, flow);
	wcmp_choose(s, r);
	memset(s->inflow, 0, g->n * sizeof(*s->inflow));
	memset(s->next, 0, g->n_arcs * sizeof(*s->next));
	for (i = s->n_reached[r]; i-- > 1;) {
		uint32_t x = order[i];

		s->inflow[x] += s->demand[(size_t)r * g->n + x];
		if (s->inflow[x] > 0)
			wcmp_move(s, x, flow, s->inflow[x], s->damping[r]);
	}
	step = wcmp_go(s, flow, first);
	s->damping[r] = step < 1 ? s->damping[r] * fmax(step, WCMP_DAMPING_MIN) :
				   fmin(s->damping[r] / WCMP_DAMPING_DECAY, 1);
}

/* Before anything is sent, a link is full with the mean of one hop for all. */
static void wcmp_start(struct to_wcmp *s)
{
	const struct to_graph *g = s->graph;
	double bytes = 0, room = 0;
	unsigned int r, i;
	uint32_t w;

	s->idle = INFINITY;
	for (w = 0; w < s->ways.n; w++)
		if (!wcmp_shares(s, w))
			s->idle = fmin(s->idle, s->bytes[w] * s->seconds_per_byte[w]);
	for (w = 0; w < s->ways.n; w++) {
		if (wcmp_shares(s, w))
			continue;
		room += 1 / s->seconds_per_byte[w];
		bytes += s->bytes[w] - s->idle / s->seconds_per_byte[w];
	}
	for (r = 0; r < s->n_roots; r++)
		for (i = 1; i < s->n_reached[r]; i++)
			bytes += s->demand[(size_t)r * g->n + s->order[(size_t)r * g->n + i]];
	s->full = bytes / room;
}

void to_wcmp_balance(struct to_wcmp *s, unsigned int passes)
{
	unsigned int powers = (passes + WCMP_POWER_PASSES - 1) / WCMP_POWER_PASSES, pass, r;

	if (powers > WCMP_POWERS)
		powers = WCMP_POWERS;
	if (!s->n_roots || !s->graph->n_arcs)
		return;
	wcmp_start(s);
	for (pass = 0; s->full > 0 && pass < passes; pass++) {
		s->squarings = WCMP_SQUARINGS + pass * powers / passes;
		wcmp_price_all(s);
		for (r = 0; r < s->n_roots; r++)
			wcmp_improve(s, r, !pass);
	}
}

double to_wcmp_bound(struct to_wcmp *s)
{
	const struct to_graph *g = s->graph;
	double value = 0, room = 0;
	unsigned int r, i;
	uint32_t a, w, x;

	if (!(s->full > 0))
		return to_wcmp_busiest(s);
	wcmp_price_all(s);
	for (w = 0; w < s->ways.n; w++) {
		double spb = s->seconds_per_byte[w];

		if (wcmp_shares(s, w))
			continue;
		/* without the hop; taken back from the price, rounding could leave it negative */
		s->price[w] = wcmp_power(s, wcmp_load(s, w, s->bytes[w])) * spb / s->least_spb;
		room += s->price[w] / spb;
		value += s->price[w] * s->base[w];
	}
	wcmp_price_shared(s);
	for (r = 0; r < s->n_roots; r++) {
		const uint32_t *order = s->order + (size_t)r * g->n;
		bool again = true;

		for (x = 0; x < g->n; x++)
			s->label[x] = x == order[0] ? 0 : INFINITY;
		/* Bellman and Ford, in an order that is nearly right */
		while (again) {
			again = false;
			for (i = 1; i < s->n_reached[r]; i++) {
				x = order[i];
				for (a = g->out[x]; a < g->out[x + 1]; a++) {
					double path = s->price[a] + s->label[g->to[a]];

					again |= path < s->label[x];
					s->label[x] = fmin(s->label[x], path);
				}
			}
		}
		for (i = 1; i < s->n_reached[r]; i++)
			value += s->label[order[i]] * s->demand[(size_t)r * g->n + order[i]];
	}
	return value / room;
}

/* Largest remainders: @share of 1 in whole weights that add up to @total. */
static void wcmp_apportion(const double *share, unsigned int n, unsigned int total,
			   unsigned int *weight)
{
	unsigned int left = total, most, i;
	double remainder[TO_WCMP_NEXT_HOPS];

	for (i = 0; i < n; i++) {
		weight[i] = share[i] * total;
		remainder[i] = share[i] * total - weight[i];
		left -= weight[i];
	}
	for (; left; left--) {
		for (most = 0, i = 1; i < n; i++)
			if (remainder[i] > remainder[most])
				most = i;
		weight[most]++;
		remainder[most] = -1;
	}
}

unsigned int to_wcmp_apportion(const struct to_wcmp *s, const double *share, unsigned int n,
			       double seconds, unsigned int *weight)
{
	double right = WCMP_ROUNDING_ERROR * s->full / sqrt(s->n_roots), wrong;
	unsigned int total, used, i;

	for (total = 1;; total *= 2) {
		wcmp_apportion(share, n, total, weight);
		for (i = 0, wrong = 0; i < n; i++)
			wrong = fmax(wrong, fabs((double)weight[i] / total - share[i]) * seconds);
		if (wrong <= right || total == TO_WCMP_WEIGHTS)
			break;
	}
	for (i = 0, used = 0; i < n; i++)
		used += weight[i] > 0;
	if (used > 1)
		return total;
	for (i = 0; i < n; i++)
		weight[i] = weight[i] > 0;
	return 1;
}

/* The arcs of @x that carry most, most first. Return: how many, and of how much. */
static unsigned int wcmp_largest(const struct to_wcmp *s, uint32_t x, const float *flow,
				 uint32_t *arc, double *bytes)
{
	const struct to_graph *g = s->graph;
	unsigned int n = 0, at;
	uint32_t a;

	for (a = g->out[x]; a < g->out[x + 1]; a++) {
		if (!(flow[a] > 0) || (n == TO_WCMP_NEXT_HOPS && flow[a] <= flow[arc[n - 1]]))
			continue;
		for (at = n < TO_WCMP_NEXT_HOPS ? n++ : n - 1; at && flow[arc[at - 1]] < flow[a];
		     at--)
			arc[at] = arc[at - 1];
		arc[at] = a;
	}
	for (at = 0, *bytes = 0; at < n; at++)
		*bytes += flow[arc[at]];
	return n;
}

/* Weights of @x for the @bytes that it forwards, and where they go with them. */
static void wcmp_weigh(struct to_wcmp *s, uint32_t x, const float *flow, double bytes,
		       uint8_t *weight)
{
	unsigned int total, n, i, part[TO_WCMP_NEXT_HOPS];
	double all, slowest = 0, share[TO_WCMP_NEXT_HOPS] = { 0 };
	uint32_t arc[TO_WCMP_NEXT_HOPS];

	n = wcmp_largest(s, x, flow, arc, &all);
	for (i = 0; i < n; i++) {
		share[i] = flow[arc[i]] / all;
		slowest = fmax(slowest, s->seconds_per_byte[arc[i]]);
	}
	total = to_wcmp_apportion(s, share, n, bytes * slowest, part);
	for (i = 0; i < n; i++) {
		weight[arc[i]] = part[i];
		s->next[arc[i]] = bytes * part[i] / total;
		s->inflow[s->graph->to[arc[i]]] += s->next[arc[i]];
	}
}

/* The flow to one destination becomes what integer weights make of it. */
static void wcmp_weigh_all(struct to_wcmp *s, unsigned int r)
{
	const struct to_graph *g = s->graph;
	const uint32_t *order = s->order + (size_t)r * g->n;
	float *flow = s->flow + (size_t)r * g->n_arcs;
	uint8_t *weight = s->weight + (size_t)r * g->n_arcs;
	unsigned int i;

	memset(weight, 0, g->n_arcs);
	memset(s->inflow, 0, g->n * sizeof(*s->inflow));
	memset(s->next, 0, g->n_arcs * sizeof(*s->next));
	for (i = s->n_reached[r]; i-- > 1;) {
		uint32_t x = order[i];

		s->inflow[x] += s->demand[(size_t)r * g->n + x];
		if (s->inflow[x] > 0)
			wcmp_weigh(s, x, flow, s->inflow[x], weight);
	}
	wcmp_go(s, flow, true);
}

/* What all prices add up to, from no load to the present one. */
static double wcmp_cost(const struct to_wcmp *s)
{
	double cost = 0;
	uint32_t w;

	for (w = 0; w < s->ways.n; w++) {
		double load = wcmp_load(s, w, s->bytes[w]);

		if (wcmp_shares(s, w))
			continue;
		cost += load * wcmp_power(s, load) * s->full / ((1u << s->squarings) + 1) +
			WCMP_HOP_PRICE * s->bytes[w] * s->seconds_per_byte[w];
	}
	return cost;
}

/* Move the bytes for one destination once more, undone if that is no gain. */
static void wcmp_retry(struct to_wcmp *s, unsigned int r, float *flow, uint8_t *weight)
{
	size_t arcs = s->graph->n_arcs, row = r * arcs;
	double before = wcmp_cost(s);
	uint32_t a;

	memcpy(flow, s->flow + row, arcs * sizeof(*flow));
	memcpy(weight, s->weight + row, arcs);
	wcmp_improve(s, r, false);
	wcmp_weigh_all(s, r);
	if (wcmp_cost(s) <= before)
		return;
	for (a = 0; a < arcs; a++)
		s->next[a] = flow[a];
	wcmp_go(s, s->flow + row, true);
	memcpy(s->weight + row, weight, arcs);
}

int to_wcmp_round(struct to_wcmp *s, unsigned int passes)
{
	size_t arcs = s->graph->n_arcs;
	float *flow = calloc(arcs + 1, sizeof(*flow));
	uint8_t *weight = calloc(arcs + 1, sizeof(*weight));
	unsigned int pass, r;

	s->weight = to_arena_array(&s->arena, s->n_roots * arcs, sizeof(*s->weight));
	if (!flow || !weight || !s->weight) {
		free(flow);
		free(weight);
		return -ENOMEM;
	}
	for (pass = 0; s->full > 0 && pass < passes; pass++) {
		wcmp_price_all(s);
		for (r = 0; r < s->n_roots; r++) {
			if (pass) {
				wcmp_retry(s, r, flow, weight);
				continue;
			}
			wcmp_improve(s, r, false);
			wcmp_weigh_all(s, r);
		}
	}
	free(flow);
	free(weight);
	return 0;
}
