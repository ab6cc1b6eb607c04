// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/network_named.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/random.h"
#include "cost/cost.h"

#define NAMED_ARITY_MAX 128	/* of a fat-tree: 524288 servers */
#define NAMED_RAILS_MAX 64
#define NAMED_CLUSTER 8		/* GPUs of a server, and what it sends: SiP-ML, section 4.1 */
#define NAMED_CLUSTER_RATE 400000000000ull
#define NAMED_SWITCHES 20	/* tried for each edge of a random graph */
#define NAMED_TRIES 1000	/* random graphs, until one is connected */

static struct to_network *named_finish(struct to_network *w, struct to_error *err)
{
	if (w && !to_network_finish(w))
		return w;
	to_network_free(w);
	to_error_set(err, -ENOMEM, "out of memory");
	return NULL;
}

static void *named_refuse(const char *word, struct to_error *err)
{
	to_error_set(err, -EINVAL, "expected one of " TO_FABRIC_WORDS ", not \"%s\"", word);
	return NULL;
}

/* Bytes/s of a server's ports together. */
static double named_capacity(const struct to_network_setting *s)
{
	return s->degree * (double)s->bandwidth / 8;
}

static struct to_network *named_switch(const struct to_network_setting *s, struct to_error *err)
{
	struct to_network *w = to_network_new(s->servers, 1);

	if (w)
		strcpy(w->names[s->servers], "switch");
	for (uint32_t x = 0; w && x < s->servers; x++)
		to_network_join(w, x, s->servers, named_capacity(s), s->latency);
	return named_finish(w, err);
}

/* Links of @capacity bytes/s, @uplinks of @k / 2 above each ToR switch. */
static struct to_network *named_fat_tree(const struct to_network_setting *s, unsigned int k,
					 unsigned int uplinks, double capacity,
					 struct to_error *err)
{
	const uint32_t half = k / 2, n = s->servers, room = k * half * half;
	const uint32_t edge = n, aggregation = edge + k * half, core = aggregation + k * half;
	struct to_network *w;

	if (n > room) {
		to_error_set(err, -EINVAL, "a fat-tree of arity %u has room for %u servers, not %u",
			     k, room, n);
		return NULL;
	}
	w = to_network_new(n, 2 * k * half + half * half);
	if (!w)
		return named_finish(w, err);
	for (uint32_t x = 0; x < n; x++)
		to_network_join(w, x, edge + x / half, capacity, s->latency);
	for (uint32_t i = 0; i < k * half; i++) {
		const uint32_t pod = i / half;

		snprintf(w->names[edge + i], TO_NAME_MAX, "tor-%u", i);
		snprintf(w->names[aggregation + i], TO_NAME_MAX, "aggregation-%u", i);
		for (uint32_t j = 0; j < uplinks; j++)
			to_network_join(w, edge + i, aggregation + pod * half + j, capacity,
					s->latency);
		for (uint32_t j = 0; j < half; j++)
			to_network_join(w, aggregation + i, core + i % half * half + j, capacity,
					s->latency);
	}
	for (uint32_t i = 0; i < half * half; i++)
		snprintf(w->names[core + i], TO_NAME_MAX, "core-%u", i);
	return named_finish(w, err);
}

static struct to_network *named_full_tree(const struct to_network_setting *s, double capacity,
					  struct to_error *err)
{
	unsigned int k = 2;

	while (k < NAMED_ARITY_MAX && k * k * k / 4 < s->servers)
		k += 2;
	return named_fat_tree(s, k, k / 2, capacity, err);
}

/* "K" or "K,oversub=R" */
static struct to_network *named_read_fat_tree(const char *word, const char *text,
					      const struct to_network_setting *s,
					      struct to_error *err)
{
	unsigned int k, over = 1;
	int used = 0;

	if (sscanf(text, "%u%n,oversub=%u%n", &k, &used, &over, &used) < 1 || text[used] ||
	    k < 2 || k > NAMED_ARITY_MAX || k % 2)
		return named_refuse(word, err);
	if (!over || k / 2 % over) {
		to_error_set(err, -EINVAL,
			     "\"%s\": %u uplinks of a ToR switch are not divided by %u", word,
			     k / 2, over);
		return NULL;
	}
	return named_fat_tree(s, k, k / 2 / over, named_capacity(s), err);
}

static struct to_network *named_equivalent(const struct to_network_setting *s,
					   struct to_error *err)
{
	struct to_cost_setting setting = { .servers = s->servers, .degree = s->degree,
					   .bandwidth = s->bandwidth };
	struct to_cost cost;

	to_cost_assume_defaults(&setting);
	if (to_cost(&setting, s->prices, TO_COST_EQUIVALENT, &cost, err))
		return NULL;
	return named_full_tree(s, cost.bandwidth / 8, err);
}

/* A regular graph: @edges pairs of servers, and the @degree neighbours of each. */
struct named_graph {
	uint32_t n, degree, edges;
	uint32_t *ends, *neighbours, *group;
};

static uint32_t *named_neighbour(const struct named_graph *g, uint32_t x, uint32_t y)
{
	for (uint32_t i = 0; i < g->degree; i++)
		if (g->neighbours[(size_t)x * g->degree + i] == y)
			return &g->neighbours[(size_t)x * g->degree + i];
	return NULL;
}

static void named_add_edge(struct named_graph *g, uint32_t x, uint32_t y)
{
	*named_neighbour(g, x, UINT32_MAX) = y;
	*named_neighbour(g, y, UINT32_MAX) = x;
	g->ends[2 * (size_t)g->edges] = x;
	g->ends[2 * (size_t)g->edges++ + 1] = y;
}

/* Join each to the next ones round a circle, and to its opposite where the degree is odd. */
static int named_circulant(struct named_graph *g)
{
	const size_t cells = (size_t)g->n * g->degree;

	g->ends = calloc(cells, sizeof(*g->ends));
	g->neighbours = malloc(cells * sizeof(*g->neighbours));
	g->group = calloc(g->n, sizeof(*g->group));
	if (!g->ends || !g->neighbours || !g->group)
		return -ENOMEM;
	memset(g->neighbours, 0xff, cells * sizeof(*g->neighbours));
	for (uint32_t j = 1; j <= g->degree / 2; j++)
		for (uint32_t x = 0; x < g->n; x++)
			named_add_edge(g, x, (x + j) % g->n);
	for (uint32_t x = 0; g->degree % 2 && x < g->n / 2; x++)
		named_add_edge(g, x, x + g->n / 2);
	return 0;
}

/* a-b and c-d become a-d and c-b, unless that makes a loop or a second edge. */
static void named_switch_edges(struct named_graph *g, uint64_t *random)
{
	uint32_t *ab = &g->ends[2 * (size_t)to_random_below(random, g->edges)];
	uint32_t *cd = &g->ends[2 * (size_t)to_random_below(random, g->edges)];
	const bool flip = to_random_below(random, 2);
	const uint32_t a = ab[0], b = ab[1], c = cd[flip], d = cd[!flip];

	if (a == c || a == d || b == c || b == d || named_neighbour(g, a, d) ||
	    named_neighbour(g, c, b))
		return;
	*named_neighbour(g, a, b) = d;
	*named_neighbour(g, d, c) = a;
	*named_neighbour(g, c, d) = b;
	*named_neighbour(g, b, a) = c;
	ab[1] = d;
	cd[flip] = c;
	cd[!flip] = b;
}

static uint32_t named_group(struct named_graph *g, uint32_t x)
{
	while (g->group[x] != x)
		x = g->group[x] = g->group[g->group[x]];
	return x;
}

static bool named_connected(struct named_graph *g)
{
	uint32_t groups = g->n;

	for (uint32_t x = 0; x < g->n; x++)
		g->group[x] = x;
	for (uint32_t i = 0; i < g->edges; i++) {
		const uint32_t x = named_group(g, g->ends[2 * (size_t)i]);
		const uint32_t y = named_group(g, g->ends[2 * (size_t)i + 1]);

		groups -= x != y;
		g->group[x] = y;
	}
	return groups == 1;
}

/* Switches of random pairs of edges, until nothing is left of where they began. */
static struct to_network *named_expander(const struct to_network_setting *s, uint64_t seed,
					 struct to_error *err)
{
	struct named_graph g = { .n = s->servers, .degree = s->degree };
	struct to_network *w = NULL;
	bool connected = false;

	if (g.degree < 2 || g.degree >= g.n || (g.degree % 2 && g.n % 2)) {
		to_error_set(err, -EINVAL,
			     "there is no connected %u-regular graph of %u servers that repeats no link",
			     g.degree, g.n);
		return NULL;
	}
	if (!named_circulant(&g))
		w = to_network_new(g.n, 0);
	for (unsigned int i = 0; w && i < NAMED_TRIES && !connected; i++) {
		for (uint32_t k = 0; k < NAMED_SWITCHES * g.edges; k++)
			named_switch_edges(&g, &seed);
		connected = named_connected(&g);
	}
	for (uint32_t i = 0; w && i < g.edges; i++)
		to_network_join(w, g.ends[2 * (size_t)i], g.ends[2 * (size_t)i + 1],
				s->bandwidth / 8., s->latency);
	free(g.ends);
	free(g.neighbours);
	free(g.group);
	if (connected || !w)
		return named_finish(w, err);
	to_network_free(w);
	to_error_set(err, -EAGAIN, "found no connected random graph: try another seed");
	return NULL;
}

/* "G" or "G,pod=P" */
static struct to_network *named_rail(const char *word, const char *text,
				     const struct to_network_setting *s, struct to_error *err)
{
	const uint32_t n = s->servers;
	unsigned int rails, pod = n;
	int used = 0;
	double capacity;
	uint32_t pods, spine;
	struct to_network *w;

	if (sscanf(text, "%u%n,pod=%u%n", &rails, &used, &pod, &used) < 1 || text[used] || !rails ||
	    rails > NAMED_RAILS_MAX || !pod)
		return named_refuse(word, err);
	capacity = named_capacity(s) / rails;
	pods = n / pod + !!(n % pod);
	spine = n + pods * rails;
	w = to_network_new(n, pods * rails + (pods > 1 ? rails : 0));
	for (uint32_t i = 0; w && i < pods * rails; i++)
		snprintf(w->names[n + i], TO_NAME_MAX, "leaf-%u.%u", i / rails, i % rails);
	for (uint32_t i = 0; w && pods > 1 && i < rails; i++)
		snprintf(w->names[spine + i], TO_NAME_MAX, "spine-%u", i);
	for (uint32_t x = 0; w && x < n; x++)
		for (uint32_t g = 0; g < rails; g++)
			to_network_join(w, x, n + x / pod * rails + g, capacity, s->latency);
	for (uint32_t i = 0; w && pods > 1 && i < pods * rails; i++)
		for (uint32_t g = 0; g < rails; g++)
			to_network_join(w, n + i, spine + g, capacity * pod / rails, s->latency);
	return named_finish(w, err);
}

/* "", or ":G,RATE" */
static struct to_network *named_cluster(const char *word, const char *text,
					const struct to_network_setting *s, struct to_error *err)
{
	unsigned int size = NAMED_CLUSTER;
	uint64_t rate = NAMED_CLUSTER_RATE;
	uint32_t n = s->servers, clusters;
	int used = 0;
	struct to_network *w;

	if (*text && (sscanf(text, ":%5u,%n", &size, &used) < 1 || !used || !size ||
		      strpbrk(text, "+- ") || !to_quantity_rate(text + used, &rate) || !rate))
		return named_refuse(word, err);
	clusters = n / size + !!(n % size);
	w = to_network_new(n, clusters + 1);
	if (w)
		strcpy(w->names[n + clusters], "core");
	for (uint32_t i = 0; w && i < clusters; i++) {
		snprintf(w->names[n + i], TO_NAME_MAX, "cluster-%u", i);
		to_network_join(w, n + i, n + clusters, rate / 8., s->latency);
	}
	for (uint32_t x = 0; w && x < n; x++)
		to_network_join(w, x, n + x / size, named_capacity(s), s->latency);
	return named_finish(w, err);
}

struct to_network *to_network_named(const char *word, const struct to_network_setting *s,
				    struct to_error *err)
{
	unsigned long long seed = 1;
	int used = 0;

	if (!strcmp(word, "switch") || !strcmp(word, "elect-flat"))
		return named_switch(s, err);
	if (!strcmp(word, "ideal"))
		return named_full_tree(s, named_capacity(s), err);
	if (!strcmp(word, "cost-equivalent"))
		return named_equivalent(s, err);
	if (!strncmp(word, "fat-tree:", 9))
		return named_read_fat_tree(word, word + 9, s, err);
	if (!strncmp(word, "rail:", 5))
		return named_rail(word, word + 5, s, err);
	if (!strncmp(word, "elect-cluster", 13))
		return named_cluster(word, word + 13, s, err);
	if (!strcmp(word, "expander"))
		return named_expander(s, seed, err);
	if (sscanf(word, "expander:%llu%n", &seed, &used) == 1 && !word[used] && word[9] != '-')
		return named_expander(s, seed, err);
	return named_refuse(word, err);
}

bool to_network_named_balanced(const char *word)
{
	return strncmp(word, "fat-tree", 8) && strncmp(word, "expander", 8);
}
