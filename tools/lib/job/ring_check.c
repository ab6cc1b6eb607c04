// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "job/ring_check.h"

int to_ring_traffic_init(struct to_ring_traffic *traffic, unsigned int n, struct to_error *err)
{
	*traffic = (struct to_ring_traffic){ .n = n };
	traffic->bytes = calloc(traffic->n * n, sizeof(*traffic->bytes));
	traffic->carried = calloc(traffic->n * n, sizeof(*traffic->carried));
	if (traffic->bytes && traffic->carried)
		return 0;
	to_ring_traffic_free(traffic);
	return to_error_set(err, -ENOMEM, "out of memory");
}

void to_ring_traffic_free(struct to_ring_traffic *traffic)
{
	free(traffic->bytes);
	free(traffic->carried);
	*traffic = (struct to_ring_traffic){};
}

int to_ring_traffic_add(struct to_ring_traffic *traffic, const struct to_tm *tm,
			struct to_error *err)
{
	const size_t n = traffic->n;
	uint64_t *more = calloc(n * n, sizeof(*more));

	if (!more)
		return to_error_set(err, -ENOMEM, "out of memory");
	to_tm_matrix(tm, -1, -1, TO_TM_ALL, more);
	for (size_t i = 0; i < n * n; i++)
		traffic->bytes[i] += i / n == i % n ? 0 : more[i];
	free(more);
	for (unsigned int s = 0; s < tm->n_samples; s++)
		for (unsigned int l = 0; tm->samples[s].links && l < tm->n_links; l++) {
			const struct to_tm_link_bytes *link = &tm->samples[s].links[l];
			/* software NICs count a GSO packet as one frame */
			const uint64_t seen = link->seen + link->bypass;

			traffic->carried[tm->links[l].from.server * n + tm->links[l].to.server] +=
				link->carried > seen ? link->carried : seen;
		}
	return 0;
}

/* The rest is as large, row = source. */
struct ring_check {
	size_t n;
	const uint64_t *bytes, *carried;
	bool *linked, *shared, *neighbours;
};

static void ring_check_mark(struct ring_check *c, uint32_t x, uint32_t y)
{
	c->neighbours[x * c->n + y] = c->neighbours[y * c->n + x] = true;
}

static void ring_check_neighbours(struct ring_check *c, const struct to_plan *plan)
{
	for (unsigned int i = 0; i < plan->n_rings; i++) {
		const struct to_ring *ring = &plan->rings[i];

		for (unsigned int k = 0; k < ring->n; k++)
			ring_check_mark(c, ring->order[k], ring->order[(k + 1) % ring->n]);
	}
	for (unsigned int i = 0; i < plan->n_trees; i++) {
		const struct to_allreduce_tree *tree = &plan->trees[i];

		for (unsigned int k = 0; k < tree->n; k++)
			if (tree->parents[k] != TO_SERVER_NONE)
				ring_check_mark(c, plan->demand->groups[tree->group].members[k],
						tree->parents[k]);
	}
}

static void ring_check_links(struct ring_check *c, const struct to_cluster *cluster)
{
	for (unsigned int i = 0; i < cluster->n_links; i++) {
		const uint32_t a = cluster->links[i].a.server, b = cluster->links[i].b.server;

		const bool shared = to_link_is_shared(cluster, &cluster->links[i]);

		c->linked[a * c->n + b] = true;
		c->shared[a * c->n + b] |= shared;
		if (cluster->link_mode != TO_LINKS_DUPLEX)
			continue;
		c->linked[b * c->n + a] = true;
		c->shared[b * c->n + a] |= shared;
	}
}

static void ring_check_ring(const struct ring_check *c, const struct to_ring *ring,
			    struct to_ring_bytes *sum)
{
	sum->linked = true;
	for (unsigned int k = 0; k < ring->n; k++) {
		const uint32_t x = ring->order[k], y = ring->order[(k + 1) % ring->n];
		const size_t pair = sum->reverse ? y * c->n + x : x * c->n + y;
		const uint64_t on = c->shared[pair] || c->bytes[pair] < c->carried[pair] ?
				    c->bytes[pair] : c->carried[pair];

		sum->bytes += c->bytes[pair];
		sum->on_links += on;
		sum->linked &= c->linked[pair];
		sum->shared |= c->shared[pair];
	}
}

static int ring_check_compare(const void *a, const void *b)
{
	const struct to_stray *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : 1;
}

static void ring_check_pairs(const struct ring_check *c, const struct to_plan *plan,
			     double iterations, uint64_t slack, struct to_ring_check *check)
{
	for (size_t pair = 0; pair < c->n * c->n; pair++) {
		const uint64_t bytes = c->bytes[pair];
		/* headers and acknowledgements of MP transfers, either way */
		const size_t back = pair % c->n * c->n + pair / c->n;
		const double mp = 1.1 * iterations * ((double)plan->demand->mp[pair] +
						      0.1 * plan->demand->mp[back]);

		check->bytes += bytes;
		if (!c->linked[pair])
			check->relayed += bytes;
		else if (bytes > c->carried[pair])
			*(c->shared[pair] ? &check->shared : &check->off_links) +=
				bytes - c->carried[pair];
		if (c->neighbours[pair] || bytes <= mp + slack)
			continue;
		check->strays[check->n_strays++] = (struct to_stray){
			pair / c->n, pair % c->n, bytes - mp };
		check->stray += bytes - mp;
	}
	qsort(check->strays, check->n_strays, sizeof(*check->strays), ring_check_compare);
}

int to_ring_check(struct to_ring_check *check, const struct to_plan *plan,
		  const struct to_ring_traffic *traffic, double iterations, uint64_t slack,
		  struct to_error *err)
{
	struct ring_check c = {
		.n = traffic->n, .bytes = traffic->bytes, .carried = traffic->carried,
	};
	const size_t cells = c.n * c.n;
	int ret = -ENOMEM;

	*check = (struct to_ring_check){};
	c.linked = calloc(cells, sizeof(*c.linked));
	c.shared = calloc(cells, sizeof(*c.shared));
	c.neighbours = calloc(cells, sizeof(*c.neighbours));
	check->rings = calloc(2 * (size_t)plan->n_rings + 1, sizeof(*check->rings));
	check->strays = calloc(cells, sizeof(*check->strays));
	if (!c.linked || !c.shared || !c.neighbours || !check->rings || !check->strays) {
		to_error_set(err, ret, "out of memory");
		goto out;
	}
	ring_check_links(&c, plan->cluster);
	ring_check_neighbours(&c, plan);
	for (unsigned int i = 0; i < plan->n_rings; i++) {
		const unsigned int directions = plan->rings[i].reverse ? 2 : 1;

		for (unsigned int reverse = 0; reverse < directions; reverse++) {
			struct to_ring_bytes *sum = &check->rings[check->n_rings++];

			*sum = (struct to_ring_bytes){ .ring = i, .reverse = reverse };
			ring_check_ring(&c, &plan->rings[i], sum);
		}
	}
	ring_check_pairs(&c, plan, iterations, slack, check);
	ret = 0;
out:
	if (ret)
		to_ring_check_free(check);
	free(c.linked);
	free(c.shared);
	free(c.neighbours);
	return ret;
}

void to_ring_check_free(struct to_ring_check *check)
{
	free(check->rings);
	free(check->strays);
	*check = (struct to_ring_check){};
}
