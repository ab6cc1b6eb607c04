// SPDX-License-Identifier: GPL-2.0-or-later
#include "shard/shard_servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHARD_SERVERS_STARTS 1024	/* grown from, at most */

/*
 * @order: free servers, @n of them, by group and optical port
 * @on: [server * n_switches + switch]: has ports there
 */
struct shard_servers {
	const struct to_cluster *c;
	unsigned int n;
	uint32_t *order;
	bool *on;
};

static int shard_servers_compare(const void *a, const void *b, void *data)
{
	const struct shard_servers *f = data;
	const unsigned int k = f->c->n_switches;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct to_port *p = &f->c->servers[x].ports[0], *q = &f->c->servers[y].ports[0];
	int group = memcmp(&f->on[(size_t)x * k], &f->on[(size_t)y * k], k);

	if (group)
		return group;
	if (p->optical_switch != q->optical_switch)
		return p->optical_switch < q->optical_switch ? -1 : 1;
	if (p->optical_port != q->optical_port && p->optical_switch >= 0)
		return p->optical_port < q->optical_port ? -1 : 1;
	return (x > y) - (x < y);
}

static void shard_servers_close(struct shard_servers *f)
{
	free(f->order);
	free(f->on);
}

/* Return: 0, else nothing is left open. */
static int shard_servers_open(struct shard_servers *f, const struct to_cluster *c,
			      const bool *available, unsigned int n, struct to_error *err)
{
	*f = (struct shard_servers){ .c = c };
	f->order = calloc(c->n_servers, sizeof(*f->order));
	f->on = calloc((size_t)c->n_servers * c->n_switches + 1, sizeof(*f->on));
	if (!f->order || !f->on) {
		shard_servers_close(f);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	for (unsigned int i = 0; i < c->n_servers; i++) {
		if (available[i])
			f->order[f->n++] = i;
		for (unsigned int q = 0; q < c->servers[i].n_ports; q++)
			if (c->servers[i].ports[q].optical_switch >= 0)
				f->on[(size_t)i * c->n_switches +
				      c->servers[i].ports[q].optical_switch] = true;
	}
	if (f->n < n) {
		to_error_set(err, -ENOSPC, "%u servers are needed, %u of %u are free", n, f->n, c->n_servers);
		shard_servers_close(f);
		return -ENOSPC;
	}
	qsort_r(f->order, f->n, sizeof(*f->order), shard_servers_compare, f);
	return 0;
}

/* One after the last of the group that begins at @first. */
static unsigned int shard_servers_group(const struct shard_servers *f, unsigned int first)
{
	const unsigned int k = f->c->n_switches;
	unsigned int end = first + 1;

	while (end < f->n && !memcmp(&f->on[(size_t)f->order[first] * k],
				     &f->on[(size_t)f->order[end] * k], k))
		end++;
	return end;
}

int to_shard_servers_groups(const struct to_cluster *c, unsigned int *groups)
{
	bool *all = malloc(c->n_servers * sizeof(*all));
	struct shard_servers f;
	int n = 0, ret = -ENOMEM;

	for (unsigned int i = 0; all && i < c->n_servers; i++)
		all[i] = true;
	if (all)
		ret = shard_servers_open(&f, c, all, 0, NULL);
	free(all);
	if (ret)
		return ret;
	for (unsigned int first = 0, end; first < f.n; first = end, n++) {
		end = shard_servers_group(&f, first);
		for (unsigned int i = first; i < end; i++)
			groups[f.order[i]] = n;
	}
	shard_servers_close(&f);
	return n;
}

/* Optical ports, or servers where there are none on one switch, from @first to @last. */
static unsigned int shard_servers_span(const struct shard_servers *f, unsigned int first,
				       unsigned int last)
{
	const uint32_t x = f->order[first], y = f->order[last];
	const struct to_port *p = &f->c->servers[x].ports[0], *q = &f->c->servers[y].ports[0];

	if (p->optical_switch >= 0 && p->optical_switch == q->optical_switch)
		return q->optical_port - p->optical_port;
	return last - first;
}

int to_shard_servers_near(const struct to_cluster *c, const bool *available, unsigned int n,
			  uint32_t *servers, struct to_error *err)
{
	unsigned int first = 0, last, least = 0, best, i;
	struct shard_servers f;
	int ret = shard_servers_open(&f, c, available, n, err);

	if (ret)
		return ret;
	last = f.n;
	for (i = 0; i < f.n; i = best) {
		best = shard_servers_group(&f, i);
		if (best - i >= n && (!least || best - i < least)) {
			first = i;
			last = best;
			least = best - i;
		}
	}
	best = first;
	for (i = first; i + n <= last; i++)
		if (shard_servers_span(&f, i, i + n - 1) < shard_servers_span(&f, best, best + n - 1))
			best = i;
	memcpy(servers, f.order + best, n * sizeof(*servers));
	shard_servers_close(&f);
	return 0;
}

/* How far @y is from @x: optical ports, beyond all of these when they are on other switches. */
static uint64_t shard_servers_apart(const struct shard_servers *f, uint32_t x, uint32_t y)
{
	const unsigned int k = f->c->n_switches;
	const struct to_port *p = &f->c->servers[x].ports[0], *q = &f->c->servers[y].ports[0];
	bool same = !memcmp(&f->on[(size_t)x * k], &f->on[(size_t)y * k], k);
	uint64_t apart = x > y ? x - y : y - x;

	if (p->optical_switch >= 0 && p->optical_switch == q->optical_switch)
		apart = p->optical_port > q->optical_port ? p->optical_port - q->optical_port :
							    q->optical_port - p->optical_port;
	return same ? apart : apart + UINT32_MAX;
}

int to_shard_servers_more(const struct to_cluster *c, const bool *available, unsigned int has,
			  unsigned int n, uint32_t *servers, struct to_error *err)
{
	struct shard_servers f;
	int ret = shard_servers_open(&f, c, available, 0, err);

	if (ret)
		return ret;
	for (unsigned int at = has; at < n && !ret; at++) {
		uint64_t least = UINT64_MAX, apart;

		for (unsigned int i = 0; i < f.n; i++) {
			unsigned int k = 0;

			while (k < at && servers[k] != f.order[i])
				k++;
			apart = shard_servers_apart(&f, servers[at - 1], f.order[i]);
			if (k == at && apart < least) {
				least = apart;
				servers[at] = f.order[i];
			}
		}
		if (least == UINT64_MAX)
			ret = to_error_set(err, -ENOSPC, "%u more servers are needed, %u are free",
					   n - has, at - has);
	}
	shard_servers_close(&f);
	return ret;
}

/* ---- links in place ---- */

/*
 * @place: per server, 1 + its place in the order of free ones, 0 when it is taken
 * @links: per place, to servers chosen so far
 * @degree: per place, to free servers
 */
struct shard_growth {
	unsigned int *place, *links, *degree;
	bool *chosen;
};

static void shard_servers_choose(const struct shard_servers *f, struct shard_growth *g,
				 unsigned int at)
{
	g->chosen[at] = true;
	for (unsigned int i = 0; i < f->c->n_links; i++) {
		const struct to_link *l = &f->c->links[i];
		unsigned int a = g->place[l->a.server], b = g->place[l->b.server];

		if (a && b && a - 1 == at)
			g->links[b - 1]++;
		else if (a && b && b - 1 == at)
			g->links[a - 1]++;
	}
}

/* From @start on. @outside: links to free servers that were not chosen. Return: links inside. */
static unsigned int shard_servers_grow(const struct shard_servers *f, struct shard_growth *g,
				       unsigned int start, unsigned int n, unsigned int *outside)
{
	unsigned int inside = 0, next = start, i;

	memset(g->links, 0, f->n * sizeof(*g->links));
	memset(g->chosen, 0, f->n * sizeof(*g->chosen));
	*outside = 0;
	for (unsigned int k = 0; k < n; k++) {
		for (i = 0; k && i < f->n; i++)
			if (!g->chosen[i] && (g->chosen[next] || g->links[i] > g->links[next]))
				next = i;
		inside += g->links[next];
		*outside += g->degree[next];
		shard_servers_choose(f, g, next);
	}
	*outside -= 2 * inside;
	return inside;
}

static int shard_servers_most(const struct shard_servers *f, struct shard_growth *g, unsigned int n,
			      unsigned int *start)
{
	const unsigned int starts = f->n < SHARD_SERVERS_STARTS ? f->n : SHARD_SERVERS_STARTS;
	unsigned int most = 0, fewest = 0, inside, outside, i;

	*start = 0;
	for (i = 0; i < f->n; i++)
		g->place[f->order[i]] = i + 1;
	for (i = 0; i < f->c->n_links; i++) {
		const struct to_link *l = &f->c->links[i];

		if (g->place[l->a.server] && g->place[l->b.server]) {
			g->degree[g->place[l->a.server] - 1]++;
			g->degree[g->place[l->b.server] - 1]++;
		}
	}
	for (i = 0; i < starts; i++) {
		if (!g->degree[i])
			continue;
		inside = shard_servers_grow(f, g, i, n, &outside);
		if (inside > most || (inside == most && outside < fewest)) {
			most = inside;
			fewest = outside;
			*start = i;
		}
	}
	return most ? 0 : -ENOLINK;
}

int to_shard_servers_linked(const struct to_cluster *c, const bool *available, unsigned int n,
			    uint32_t *servers, struct to_error *err)
{
	struct shard_growth g = {};
	unsigned int start, outside, k = 0;
	struct shard_servers f;
	int ret = shard_servers_open(&f, c, available, n, err);

	if (ret)
		return ret;
	g.place = calloc(c->n_servers, sizeof(*g.place));
	g.links = calloc(f.n, sizeof(*g.links));
	g.degree = calloc(f.n, sizeof(*g.degree));
	g.chosen = calloc(f.n, sizeof(*g.chosen));
	if (!g.place || !g.links || !g.degree || !g.chosen)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	else if (shard_servers_most(&f, &g, n, &start))
		ret = to_error_set(err, -ENOLINK, "no link in place joins servers that are free");
	else
		shard_servers_grow(&f, &g, start, n, &outside);
	for (unsigned int i = 0; !ret && i < f.n; i++)
		if (g.chosen[i])
			servers[k++] = f.order[i];
	free(g.place);
	free(g.links);
	free(g.degree);
	free(g.chosen);
	shard_servers_close(&f);
	return ret;
}
