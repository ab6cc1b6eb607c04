// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "topology/reconfig.h"

const char *const to_discount_names[] = { "exponential", "none", "linear", NULL };

/* What the @x-th parallel link is worth. */
static double reconfig_worth(enum to_discount discount, unsigned int x, unsigned int degree)
{
	switch (discount) {
	case TO_DISCOUNT_NONE:
		return 1;
	case TO_DISCOUNT_LINEAR:
		return x > degree ? 0 : (degree + 1.0 - x) / degree;
	case TO_DISCOUNT_EXPONENTIAL:
		break;
	}
	return x < 64 ? 1.0 / (1ull << x) : ldexp(1, -(int)x);
}

double to_discount(enum to_discount discount, unsigned int links, unsigned int degree)
{
	double sum = 0;
	unsigned int x;

	for (x = 1; x <= links; x++)
		sum += reconfig_worth(discount, x, degree);
	return sum;
}

static size_t reconfig_pair(const struct to_reconfig *r, uint32_t x, uint32_t y)
{
	return (size_t)x * r->builder->n + y;
}

static void reconfig_count(struct to_reconfig *r, uint32_t x, uint32_t y, int links)
{
	r->count[reconfig_pair(r, x, y)] += links;
	if (r->builder->duplex)
		r->count[reconfig_pair(r, y, x)] += links;
}

static void reconfig_link(struct to_reconfig *r, uint32_t x, uint32_t y, enum to_link_use use)
{
	to_builder_link(r->builder, x, y, use, -1);
	reconfig_count(r, x, y, 1);
}

/* Give up link @at, whose place the last one takes. */
static void reconfig_unlink(struct to_reconfig *r, unsigned int at)
{
	struct to_builder *b = r->builder;
	struct to_link *l = &b->layout.links[at];

	b->transmit[l->a.server]++;
	b->receive[l->b.server]++;
	reconfig_count(r, l->a.server, l->b.server, -1);
	*l = b->layout.links[--b->layout.n_links];
}

/* Count the links from the @first on. */
static void reconfig_recount(struct to_reconfig *r, unsigned int first)
{
	const struct to_layout *layout = &r->builder->layout;

	for (; first < layout->n_links; first++)
		reconfig_count(r, layout->links[first].a.server, layout->links[first].b.server, 1);
}

/* Use up ports on far pairs. Return: 0 or -ENOMEM. */
static int reconfig_shorten(struct to_reconfig *r)
{
	unsigned int first = r->builder->layout.n_links;
	int ret = to_builder_shorten(r->builder);

	reconfig_recount(r, first);
	return ret;
}

int to_reconfig_init(struct to_reconfig *r, struct to_builder *builder, enum to_discount discount,
		     const uint8_t *now)
{
	const uint64_t *mp = builder->demand->mp;
	size_t n = builder->n, x, y;

	*r = (struct to_reconfig){ .builder = builder, .discount = discount, .now = now,
				   .n_kept = builder->layout.n_links,
				   .bytes = calloc(n * n, sizeof(*r->bytes)),
				   .count = calloc(n * n, sizeof(*r->count)) };
	if (!r->bytes || !r->count) {
		to_reconfig_free(r);
		return -ENOMEM;
	}
	for (x = 0; x < n; x++)
		for (y = 0; y < n; y++)
			if (x != y)
				r->bytes[x * n + y] = mp[x * n + y] +
					(builder->duplex ? (double)mp[y * n + x] : 0);
	reconfig_recount(r, 0);
	return 0;
}

void to_reconfig_free(struct to_reconfig *r)
{
	free(r->bytes);
	free(r->count);
}

/* A place for a link: from @x to @y, which @gain bytes are gained by. */
struct offer {
	uint32_t x, y;
	double gain;
};

static struct offer reconfig_offer(const struct to_reconfig *r, uint32_t x, uint32_t y)
{
	size_t pair = reconfig_pair(r, x, y);

	return (struct offer){ x, y, r->bytes[pair] ? r->bytes[pair] *
		reconfig_worth(r->discount, r->count[pair] + 1, r->builder->knobs.degree) : 0 };
}

static uint64_t reconfig_draw(const struct to_reconfig *r, const struct offer *o)
{
	bool turn = r->builder->duplex && o->y < o->x;
	uint64_t state = r->builder->knobs.seed ^ (turn ? reconfig_pair(r, o->y, o->x) :
						    reconfig_pair(r, o->x, o->y)) << 16;

	return to_random_next(&state);
}

static bool reconfig_lost(const struct to_reconfig *r, const struct offer *o)
{
	size_t pair = reconfig_pair(r, o->x, o->y);

	return r->now && r->now[pair] > r->count[pair];
}

/* Is @a to be linked before @b? */
static bool reconfig_first(const struct to_reconfig *r, const struct offer *a,
			   const struct offer *b)
{
	bool lost = reconfig_lost(r, a);

	if (a->gain != b->gain)
		return a->gain > b->gain;
	if (lost != reconfig_lost(r, b))
		return lost;
	return reconfig_draw(r, a) < reconfig_draw(r, b);
}

/* The greedy at work. */
struct greedy {
	const struct to_reconfig *r;
	unsigned int *transmit, *receive;	/* ports that are not for demand, per server */
};

static bool reconfig_greedy_fits(const struct greedy *g, uint32_t x, uint32_t y)
{
	const struct to_builder *b = g->r->builder;

	return b->transmit[x] > g->transmit[x] && b->receive[y] > g->receive[y];
}

/* The best place for a link from @x; gain 0 when there is none. */
static struct offer reconfig_greedy_best(const struct greedy *g, uint32_t x)
{
	const struct to_reconfig *r = g->r;
	struct offer best = { x, TO_SERVER_NONE, 0 };
	uint32_t y;

	for (y = 0; y < r->builder->n; y++) {
		struct offer offer;

		if (y == x || !r->bytes[reconfig_pair(r, x, y)] || !reconfig_greedy_fits(g, x, y))
			continue;
		offer = reconfig_offer(r, x, y);
		if (offer.gain > 0 &&
		    (best.y == TO_SERVER_NONE || reconfig_first(r, &offer, &best)))
			best = offer;
	}
	return best;
}

/* Pairs without demand are equal too: present links where ports are left. */
static void reconfig_restore(struct to_reconfig *r)
{
	struct to_builder *b = r->builder;
	struct offer pair = { 0 };

	for (pair.x = 0; r->now && pair.x < b->n; pair.x++)
		for (pair.y = b->duplex ? pair.x + 1 : 0; pair.y < b->n; pair.y++)
			while (b->transmit[pair.x] && b->receive[pair.y] &&
			       reconfig_lost(r, &pair) &&
			       !(r->spread && r->count[reconfig_pair(r, pair.x, pair.y)]))
				reconfig_link(r, pair.x, pair.y, TO_LINK_MP);
}

/*
 * The best of every server is kept. Gains only get less and places only get
 * fewer, so one that still stands is the best of its server.
 */
int to_reconfig_greedy(struct to_reconfig *r)
{
	struct to_builder *b = r->builder;
	struct offer *offers = calloc(b->n, sizeof(*offers)), *best;
	unsigned int *held = calloc(2 * (size_t)b->n, sizeof(*held));
	struct greedy g = { r, held, held + b->n };
	uint32_t x, y;

	if (!offers || !held) {
		free(offers);
		free(held);
		return -ENOMEM;
	}
	for (x = 0; r->spread && x < b->n; x++) {
		g.transmit[x] = (b->transmit[x] + 1) / 2;
		g.receive[x] = (b->receive[x] + 1) / 2;
	}
	for (x = 0; x < b->n; x++)
		offers[x] = reconfig_greedy_best(&g, x);
	for (;;) {
		best = NULL;
		for (x = 0; x < b->n; x++)
			if (offers[x].gain > 0 &&
			    (!best || reconfig_first(r, &offers[x], best)))
				best = &offers[x];
		if (!best)
			break;
		x = best->x;
		y = best->y;
		if (reconfig_greedy_fits(&g, x, y)) {
			reconfig_link(r, x, y, TO_LINK_MP);
			if (b->duplex)
				offers[y] = reconfig_greedy_best(&g, y);
		}
		offers[x] = reconfig_greedy_best(&g, x);
	}
	free(offers);
	free(held);
	reconfig_restore(r);
	return 0;
}

/* One part of the servers: what it can give to be joined with another. */
struct part {
	unsigned int ports;	/* left */
	unsigned int spare;	/* link that it holds without, which is worth least */
	unsigned int any;	/* link of any kind that is worth least */
};

#define NO_LINK UINT32_MAX

struct repair {
	struct to_reconfig *r;
	struct to_graph *graph;
	unsigned int n_parts;
	struct part *parts;
	uint32_t *part;		/* per server */
	bool *bridge;		/* per link */
	/* depth-first search, per server */
	uint32_t *found, *low, *next, *by, *stack;
};

/*
 * Parts and bridges (Tarjan, "A note on finding the bridges of a graph", 1974),
 * from @root; parallel links are no bridges.
 */
static void reconfig_repair_search(struct repair *p, uint32_t root, uint32_t *time)
{
	const struct to_graph *g = p->graph;
	unsigned int depth = 1;
	uint32_t x, y, a;

	p->stack[0] = root;
	p->by[root] = NO_LINK;
	p->found[root] = p->low[root] = ++*time;
	while (depth) {
		x = p->stack[depth - 1];
		p->part[x] = p->n_parts;
		if (p->next[x] < g->out[x + 1]) {
			a = p->next[x]++;
			y = g->to[a];
			if (g->link[a] == p->by[x])
				continue;
			if (p->found[y]) {
				p->low[x] = p->found[y] < p->low[x] ? p->found[y] : p->low[x];
				continue;
			}
			p->found[y] = p->low[y] = ++*time;
			p->by[y] = g->link[a];
			p->stack[depth++] = y;
		} else if (--depth) {
			y = p->stack[depth - 1];
			p->low[y] = p->low[x] < p->low[y] ? p->low[x] : p->low[y];
			p->bridge[p->by[x]] = p->low[x] > p->found[y];
		}
	}
	p->n_parts++;
}

/* What Equation 1 loses with link @at. */
static double reconfig_repair_loss(const struct to_reconfig *r, unsigned int at)
{
	const struct to_link *l = &r->builder->layout.links[at];
	size_t pair = reconfig_pair(r, l->a.server, l->b.server);

	return r->bytes[pair] * reconfig_worth(r->discount, r->count[pair], r->builder->knobs.degree);
}

static void reconfig_repair_cheaper(const struct to_reconfig *r, unsigned int *best,
				    unsigned int at)
{
	if (*best == NO_LINK || reconfig_repair_loss(r, at) < reconfig_repair_loss(r, *best))
		*best = at;
}

/* See which servers are joined. Return: 0 or -ENOMEM. */
static int reconfig_repair_look(struct repair *p)
{
	const struct to_builder *b = p->r->builder;
	const struct to_layout *layout = &b->layout;
	uint32_t x, time = 0;
	unsigned int i;

	to_graph_free(p->graph);
	/* the direction of a link does not matter here */
	p->graph = to_graph_new(b->n, layout->links, layout->n_links, TO_LINKS_DUPLEX);
	if (!p->graph)
		return -ENOMEM;
	memset(p->found, 0, b->n * sizeof(*p->found));
	memset(p->bridge, 0, layout->n_links * sizeof(*p->bridge));
	memcpy(p->next, p->graph->out, b->n * sizeof(*p->next));
	p->n_parts = 0;
	for (x = 0; x < b->n; x++)
		if (!p->found[x])
			reconfig_repair_search(p, x, &time);
	for (i = 0; i < p->n_parts; i++)
		p->parts[i] = (struct part){ 0, NO_LINK, NO_LINK };
	for (x = 0; x < b->n; x++)
		p->parts[p->part[x]].ports += b->transmit[x];
	for (i = p->r->n_kept; i < layout->n_links; i++) {
		struct part *part = &p->parts[p->part[layout->links[i].a.server]];

		reconfig_repair_cheaper(p->r, &part->any, i);
		/* where as many links come as go, none is a bridge */
		if (!b->duplex || !p->bridge[i])
			reconfig_repair_cheaper(p->r, &part->spare, i);
	}
	return 0;
}

/* Join two parts by the ports left of the pair of servers with most demand. */
static void reconfig_repair_join(struct repair *p, uint32_t one, uint32_t other)
{
	struct to_builder *b = p->r->builder;
	uint32_t x, y, from = TO_SERVER_NONE, to = 0, *ends = p->stack, n = 0, i;

	for (y = 0; y < b->n; y++)
		if (p->part[y] == other && b->receive[y])
			ends[n++] = y;
	for (x = 0; x < b->n; x++) {
		if (p->part[x] != one || !b->transmit[x])
			continue;
		for (i = 0; i < n; i++) {
			double more;

			y = ends[i];
			more = from == TO_SERVER_NONE ? 1 :
			       p->r->bytes[reconfig_pair(p->r, x, y)] -
			       p->r->bytes[reconfig_pair(p->r, from, to)];
			if (more < 0 || (more == 0 && b->transmit[x] + b->receive[y] <=
						      b->transmit[from] + b->receive[to]))
				continue;
			from = x;
			to = y;
		}
	}
	reconfig_link(p->r, from, to, TO_LINK_REPAIR);
}

/*
 * Join two parts of duplex links. One that has neither ports nor a link that it
 * holds without is a tree: both halves of it are joined with a part that has
 * ports for both. Return: 0 or -ENOSPC.
 */
static int reconfig_repair_duplex(struct repair *p)
{
	struct part *rigid = NULL, *most = NULL, *next = NULL, *part;
	unsigned int first, second;

	for (part = p->parts; part < p->parts + p->n_parts; part++) {
		if (!part->ports && part->spare == NO_LINK)
			rigid = part;
		else if (!most || (part->ports >= 2 || part->spare != NO_LINK) >
				  (most->ports >= 2 || most->spare != NO_LINK))
			most = part;
	}
	for (part = p->parts; part < p->parts + p->n_parts; part++)
		if (part != most && part != rigid && !next)
			next = part;
	if (!most || (rigid && (rigid->any == NO_LINK ||
				(most->ports < 2 && most->spare == NO_LINK))))
		return -ENOSPC;
	next = rigid ? rigid : next;
	/* the later link first: giving one up moves the last one */
	first = most->ports >= 1 + !!rigid ? NO_LINK : most->spare;
	second = rigid ? rigid->any : next->ports ? NO_LINK : next->spare;
	if (first != NO_LINK && (second == NO_LINK || first > second))
		reconfig_unlink(p->r, first);
	if (second != NO_LINK)
		reconfig_unlink(p->r, second);
	if (first != NO_LINK && second != NO_LINK && first < second)
		reconfig_unlink(p->r, first);
	reconfig_repair_join(p, most - p->parts, next - p->parts);
	if (rigid)
		reconfig_repair_join(p, most - p->parts, next - p->parts);
	return 0;
}

/* A server of @part with ports left, else TO_SERVER_NONE. */
static uint32_t reconfig_repair_idle(const struct repair *p, uint32_t part)
{
	const struct to_builder *b = p->r->builder;
	uint32_t x;

	for (x = 0; x < b->n; x++)
		if (p->part[x] == part && b->transmit[x] && b->receive[x])
			return x;
	return TO_SERVER_NONE;
}

/*
 * Join two parts of simplex links. As many enter a server as leave it, so that
 * in every part there is a path back along every link: exchanging the ends of
 * one link of each joins them. Return: 0 or -ENOSPC.
 */
static int reconfig_repair_simplex(struct repair *p)
{
	uint32_t idle[2] = { reconfig_repair_idle(p, 0), reconfig_repair_idle(p, 1) }, from[2],
		 to[2];
	unsigned int i, k;

	for (i = 0; i < 2; i++) {
		unsigned int at = p->parts[i].any;

		from[i] = to[i] = idle[i];
		if (idle[i] != TO_SERVER_NONE)
			continue;
		if (at == NO_LINK)
			return -ENOSPC;
		from[i] = p->r->builder->layout.links[at].a.server;
		to[i] = p->r->builder->layout.links[at].b.server;
	}
	/* the later link first */
	k = idle[0] == TO_SERVER_NONE && idle[1] == TO_SERVER_NONE &&
	    p->parts[0].any < p->parts[1].any;
	for (i = 0; i < 2; i++)
		if (idle[i ^ k] == TO_SERVER_NONE)
			reconfig_unlink(p->r, p->parts[i ^ k].any);
	reconfig_link(p->r, from[0], to[1], TO_LINK_REPAIR);
	reconfig_link(p->r, from[1], to[0], TO_LINK_REPAIR);
	return 0;
}

/* Is there a path from server 0 to all others, or from them to it when @back? */
static bool reconfig_repair_reaches(struct repair *p, const struct to_graph *g, bool back)
{
	const uint32_t *offset = back ? g->in : g->out, *other = back ? g->in_from : g->to;
	unsigned int n = 1, i;
	uint32_t x, k;

	memset(p->found, 0, g->n * sizeof(*p->found));
	p->stack[0] = 0;
	p->found[0] = 1;
	for (i = 0; i < n; i++) {
		x = p->stack[i];
		for (k = offset[x]; k < offset[x + 1]; k++) {
			if (p->found[other[k]])
				continue;
			p->found[other[k]] = 1;
			p->stack[n++] = other[k];
		}
	}
	return n == g->n;
}

/* Return: 0, -ENOMEM or -ENOSPC. */
static int reconfig_repair_check(struct repair *p)
{
	const struct to_builder *b = p->r->builder;
	struct to_graph *g = to_graph_new(b->n, b->layout.links, b->layout.n_links,
					  b->cluster->link_mode);
	int ret = -ENOMEM;

	if (g)
		ret = reconfig_repair_reaches(p, g, false) && reconfig_repair_reaches(p, g, true)
			      ? 0
			      : -ENOSPC;
	to_graph_free(g);
	return ret;
}

int to_reconfig_repair(struct to_reconfig *r)
{
	struct to_builder *b = r->builder;
	struct repair p = { .r = r };
	unsigned int n_links = b->layout.n_links, i;
	uint32_t *scratch = calloc(6 * (size_t)b->n, sizeof(*scratch));
	int ret = -ENOMEM;

	for (i = 0; i < b->n; i++)
		n_links += b->transmit[i];
	p.parts = calloc(b->n, sizeof(*p.parts));
	p.bridge = calloc(n_links + 1, sizeof(*p.bridge));
	if (!scratch || !p.parts || !p.bridge)
		goto out;
	p.part = scratch;
	p.found = scratch + b->n;
	p.low = p.found + b->n;
	p.next = p.low + b->n;
	p.by = p.next + b->n;
	p.stack = p.by + b->n;
	/* simplex ports are used up first: then as many links come as go */
	ret = b->duplex ? 0 : reconfig_shorten(r);
	while (!ret) {
		ret = reconfig_repair_look(&p);
		if (ret || p.n_parts == 1)
			break;
		ret = b->duplex ? reconfig_repair_duplex(&p) : reconfig_repair_simplex(&p);
	}
	if (!ret && b->duplex)
		ret = reconfig_shorten(r);
	if (!ret)
		ret = reconfig_repair_check(&p);
out:
	to_graph_free(p.graph);
	free(scratch);
	free(p.parts);
	free(p.bridge);
	return ret;
}
