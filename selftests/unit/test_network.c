// SPDX-License-Identifier: GPL-2.0-or-later
/* Fabrics of packet switches and of random links: their shape, and times in closed form. */

#include <math.h>

#include "job.h"
#include "simulate/network_named.h"
#include "simulate/simulate.h"

#define CAPACITY 50e9	/* bytes/s of the four ports of a server */
#define SIZE (1ull << 30)
#define LINK 1e-6

static const struct to_delays delays = { .link = LINK, .relay = 3e-6, .step = 5e-6 };

static void same(double value, double expected)
{
	if (fabs(value - expected) > 1e-9 * expected)
		fail_msg("%.12g instead of %.12g", value, expected);
}

static struct to_network *named(const char *word, uint32_t servers, unsigned int degree)
{
	const struct to_network_setting setting = { .servers = servers, .degree = degree,
						    .bandwidth = 100 * GBPS, .latency = LINK };
	struct to_error err = { "" };
	struct to_network *w = to_network_named(word, &setting, &err);

	assert_string_equal(err.text, "");
	assert_non_null(w);
	return w;
}

/* Time of the tasks, which are freed. */
static double run(struct to_network *w, enum to_spread spread, enum to_algorithm algorithm,
		  uint64_t seed, struct to_taskgraph *g)
{
	const struct to_shortest_options options = { spread, algorithm, seed, delays };
	struct to_error err = { "" };
	struct to_router *router = to_router_shortest(w, &options, &err);
	struct to_simulator *s;
	const struct to_simulation *r;
	double time;

	assert_non_null(router);
	s = to_simulator_on(router, &err);
	assert_non_null(s);
	assert_int_equal(to_taskgraph_finish(g, &err), 0);
	r = to_simulate(s, g, TO_SIMULATE_TRANSFERS, &err);
	assert_string_equal(err.text, "");
	time = r->time;
	to_simulator_free(s);
	to_router_free(router);
	to_taskgraph_free(g);
	return time;
}

static bool linked(const struct to_network *w, uint32_t x, uint32_t y)
{
	uint32_t found = 0;

	for (uint32_t i = w->out[x]; i < w->out[x + 1]; i++)
		found += w->links[i].to == y;
	assert_true(found < 2);
	return found;
}

static void fat_tree_has_its_shape(void **state)
{
	struct to_network *w = named("fat-tree:4", 16, 4);

	(void)state;
	assert_int_equal(w->n_vertices, 16 + 20);
	assert_int_equal(w->n_links, 2 * (16 + 16 + 16));
	for (uint32_t x = 0; x < w->n_vertices; x++)
		assert_int_equal(w->out[x + 1] - w->out[x], x < 16 ? 1 : 4);
	/* servers 2 and 3 are below the second ToR switch of the first pod */
	assert_string_equal(w->names[17], "tor-1");
	assert_true(linked(w, 2, 17) && linked(w, 17, 3));
	to_network_free(w);
	w = named("fat-tree:4,oversub=2", 16, 4);
	assert_int_equal(w->n_links, 2 * (16 + 8 + 16));
	to_network_free(w);
	w = named("ideal", 128, 4);
	assert_int_equal(w->n_vertices, 128 + 80);
	to_network_free(w);
	w = named("rail:4,pod=8", 24, 4);
	assert_int_equal(w->n_vertices, 24 + 3 * 4 + 4);
	assert_int_equal(w->n_links, 2 * (24 * 4 + 12 * 4));
	to_network_free(w);
}

static void expander_is_regular(void **state)
{
	static const struct { unsigned int n, d; } cases[] = { { 16, 3 }, { 24, 4 }, { 9, 2 }, { 5, 4 } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct to_network *w = named("expander:7", cases[i].n, cases[i].d);
		struct to_network *other = named("expander:8", cases[i].n, cases[i].d);
		unsigned int common = 0;

		for (uint32_t x = 0; x < cases[i].n; x++) {
			assert_int_equal(w->out[x + 1] - w->out[x], cases[i].d);
			assert_false(linked(w, x, x));
			for (uint32_t y = 0; y < cases[i].n; y++) {
				assert_true(linked(w, x, y) == linked(w, y, x));
				common += linked(w, x, y) && linked(other, x, y);
			}
		}
		assert_true((common < w->n_links) == (cases[i].n > cases[i].d + 1));
		to_network_free(w);
		to_network_free(other);
	}
}

static void all_on_one_switch(void **state)
{
	enum { N = 12 };
	uint64_t bytes[N * N];
	struct to_taskgraph g;

	(void)state;
	to_taskgraph_init(&g, N);
	for (unsigned int i = 0; i < N * N; i++)
		bytes[i] = SIZE;
	to_taskgraph_matrix(&g, bytes);
	same(run(named("switch", N, 4), TO_SPREAD_HASH, 0, 1, &g),
	     (N - 1) * SIZE / CAPACITY + 2 * LINK + delays.step);
	to_taskgraph_init(&g, N);
	for (unsigned int i = 1; i < N; i++)
		to_taskgraph_transfer(&g, i, 0, SIZE);
	same(run(named("switch", N, 4), TO_SPREAD_HASH, 0, 1, &g),
	     (N - 1) * SIZE / CAPACITY + 2 * LINK + delays.step);
}

/* S bytes over n servers on a switch; each step has two links. */
static double allreduce(uint32_t n, enum to_algorithm algorithm)
{
	uint32_t members[16];
	struct to_taskgraph g;

	to_taskgraph_init(&g, n);
	for (uint32_t i = 0; i < n; i++)
		members[i] = i;
	to_taskgraph_allreduce(&g, members, n, SIZE);
	return run(named("switch", n, 4), TO_SPREAD_HASH, algorithm, 1, &g);
}

static void allreduce_in_steps(void **state)
{
	const double step = 2 * LINK + delays.step, once = SIZE / CAPACITY;

	(void)state;
	for (unsigned int n = 2; n <= 16; n++)
		same(allreduce(n, TO_ALGORITHM_RING), 2. * (n - 1) / n * once + 2 * (n - 1) * step);
	for (unsigned int n = 2, rounds = 1; n <= 16; n *= 2, rounds++)
		same(allreduce(n, TO_ALGORITHM_HALVING_DOUBLING),
		     2. * (n - 1) / n * once + 2 * rounds * step);
	/* two of six fold into others and back, the rest is among four */
	same(allreduce(6, TO_ALGORITHM_HALVING_DOUBLING), (2 + 1.5) * once + 6 * step);
	/* inside one tree with two children, a leaf of the other; both are 3 deep */
	same(allreduce(15, TO_ALGORITHM_DOUBLE_TREE), 2 * once + 6 * step);
}

/* Neighbours send each other half, then those farther away less, and all the way back. */
static void halving_goes_out_and_back(void **state)
{
	static const unsigned int distances[] = { 1, 2, 4, 4, 2, 1 };
	uint32_t members[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct to_transfer transfers[32];
	unsigned int steps;

	(void)state;
	assert_int_equal(to_collective_phases(TO_ALGORITHM_HALVING_DOUBLING, 8), 6);
	for (unsigned int phase = 0; phase < 6; phase++) {
		assert_int_equal(to_collective_phase(TO_ALGORITHM_HALVING_DOUBLING, members, 8, phase,
						     transfers, &steps), 8);
		for (uint32_t i = 0; i < 8; i++) {
			assert_int_equal(transfers[i].src ^ transfers[i].dst, distances[phase]);
			assert_int_equal(transfers[i].bytes * 2 * distances[phase],
					 TO_COLLECTIVE_BUFFER);
		}
	}
}

/* Two transfers from below one ToR switch to below another meet, or do not. */
static void hashes_collide(void **state)
{
	unsigned int met = 0, apart = 0;
	struct to_taskgraph g;

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		double time;

		to_taskgraph_init(&g, 16);
		to_taskgraph_transfer(&g, 0, 2, SIZE);
		to_taskgraph_transfer(&g, 1, 3, SIZE);
		time = run(named("fat-tree:4", 16, 4), TO_SPREAD_HASH, 0, seed, &g);
		met += fabs(time - 2 * SIZE / CAPACITY) < 1e-4;
		apart += fabs(time - SIZE / CAPACITY) < 1e-4;
	}
	assert_int_equal(met + apart, 40);
	assert_true(met >= 8 && apart >= 8);
	/* 4 links in a pod; 6 to another one, which takes as long */
	to_taskgraph_init(&g, 16);
	to_taskgraph_transfer(&g, 0, 2, SIZE);
	to_taskgraph_transfer(&g, 1, 3, SIZE);
	same(run(named("fat-tree:4", 16, 4), TO_SPREAD_SPRAY, 0, 1, &g),
	     SIZE / CAPACITY + 4 * LINK + delays.step);
	to_taskgraph_init(&g, 16);
	to_taskgraph_transfer(&g, 0, 15, SIZE);
	same(run(named("fat-tree:4", 16, 4), TO_SPREAD_SPRAY, 0, 1, &g),
	     SIZE / CAPACITY + 6 * LINK + delays.step);
}

/* A line of servers: those between the ends relay, all NICs of rails are used. */
static void servers_relay(void **state)
{
	struct to_network *w = to_network_new(4, 0);
	struct to_taskgraph g;

	(void)state;
	assert_non_null(w);
	for (uint32_t x = 0; x < 3; x++)
		to_network_join(w, x, x + 1, CAPACITY, (x + 1) * LINK);
	assert_int_equal(to_network_finish(w), 0);
	to_taskgraph_init(&g, 4);
	to_taskgraph_transfer(&g, 3, 0, SIZE);
	same(run(w, TO_SPREAD_HASH, 0, 1, &g),
	     SIZE / CAPACITY + 6 * LINK + 2 * delays.relay + delays.step);
	to_taskgraph_init(&g, 8);
	to_taskgraph_transfer(&g, 0, 7, SIZE);
	same(run(named("rail:4,pod=2", 8, 4), TO_SPREAD_SPRAY, 0, 1, &g),
	     SIZE / CAPACITY + 4 * LINK + delays.step);
}

/* Some links of a word's network, or random ones. */
static struct to_network *cut(const char *word, uint64_t *random)
{
	struct to_network *all = word ? named(word, 16, 4) : NULL;
	const uint32_t servers = all ? 16 : 6, vertices = all ? all->n_vertices : 12;
	struct to_network *w = to_network_new(servers, vertices - servers);

	assert_non_null(w);
	for (uint32_t i = 0; all && i < all->n_links; i++) {
		const struct to_network_link *link = &all->links[i];

		/* servers keep theirs; a switch may lose one, or have a slower one */
		if (link->from >= servers && link->to >= servers && !to_random_below(random, 20))
			continue;
		to_network_add(w, link->from, link->to,
			       link->capacity / (1 + !to_random_below(random, 20)), LINK);
	}
	for (uint32_t x = 1; !all && x < vertices; x++) {
		to_network_join(w, x, to_random_below(random, x), CAPACITY, LINK);
		to_network_join(w, x, to_random_below(random, x), CAPACITY, LINK);
	}
	assert_int_equal(to_network_finish(w), 0);
	to_network_free(all);
	return w;
}

/* Time, bytes and busy time per link are those without links that are alike. */
static void compare_alike(struct to_network *w, struct to_taskgraph *g)
{
	const struct to_shortest_options options = { TO_SPREAD_SPRAY, TO_ALGORITHM_RING, 1, delays };
	const uint32_t n = w->n_links;
	struct to_error err = { "" };
	struct to_router *router = to_router_shortest(w, &options, &err);
	struct to_simulator *s;
	const struct to_simulation *r;
	double time, *kept = calloc(2 * (size_t)n, sizeof(*kept));

	assert_true(router && router->alike && kept);
	s = to_simulator_on(router, &err);
	assert_non_null(s);
	r = to_simulate(s, g, TO_SIMULATE_TRANSFERS, &err);
	assert_non_null(r);
	time = r->time;
	memcpy(kept, r->link_bytes, n * sizeof(*kept));
	memcpy(kept + n, r->link_busy, n * sizeof(*kept));
	to_simulator_free(s);
	free(router->alike);
	router->alike = NULL;
	s = to_simulator_on(router, &err);
	assert_non_null(s);
	r = to_simulate(s, g, TO_SIMULATE_TRANSFERS, &err);
	assert_non_null(r);
	same(time, r->time);
	for (uint32_t i = 0; i < n; i++) {
		same(kept[i], r->link_bytes[i]);
		same(kept[n + i], r->link_busy[i]);
	}
	free(kept);
	to_simulator_free(s);
	to_router_free(router);
}

static void alike_links_carry_the_same(void **state)
{
	static const char *const words[] = { "fat-tree:4", "rail:4,pod=4", NULL };
	struct to_error err = { "" };
	uint64_t random = 5;
	struct to_taskgraph g;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		struct to_network *w = cut(words[round % 3], &random);
		const uint32_t n = w->n_servers;

		to_taskgraph_init(&g, n);
		for (unsigned int i = 0; i < 30; i++) {
			const uint32_t src = to_random_below(&random, n);

			to_taskgraph_transfer(&g, src, (src + 1 + to_random_below(&random, n - 1)) % n,
					      SIZE + to_random_below(&random, 1000000000));
		}
		assert_int_equal(to_taskgraph_finish(&g, &err), 0);
		compare_alike(w, &g);
		to_taskgraph_free(&g);
	}
}

/* What a task sends is sprayed together: the same bytes, after the longest latency. */
static void tasks_load_as_transfers(void **state)
{
	static const char *const words[] = { "fat-tree:4", "rail:4,pod=4", NULL };
	const struct to_shortest_options options = { TO_SPREAD_SPRAY, TO_ALGORITHM_RING, 1, delays };
	struct to_error err = { "" };
	uint64_t random = 7;

	(void)state;
	for (unsigned int round = 0; round < 30; round++) {
		struct to_router *router = to_router_shortest(cut(words[round % 3], &random),
							      &options, &err);
		const uint32_t n = router->network->n_servers, n_links = router->network->n_links;
		struct to_simulator *s = to_simulator_on(router, &err);
		const struct to_simulation *r;
		double time, *bytes = calloc(n_links, sizeof(*bytes));
		uint64_t *matrix = calloc((size_t)n * n, sizeof(*matrix));
		struct to_taskgraph g;

		assert_true(s && bytes && matrix);
		/* so few that latencies are all the time */
		for (uint32_t i = 0; i < n * n; i++)
			matrix[i] = to_random_below(&random, 3) ? 0 : to_random_below(&random, 9);
		to_taskgraph_init(&g, n);
		to_taskgraph_matrix(&g, matrix);
		assert_int_equal(to_taskgraph_finish(&g, &err), 0);
		r = to_simulate(s, &g, TO_SIMULATE_TRANSFERS, &err);
		assert_non_null(r);
		time = r->time;
		memcpy(bytes, r->link_bytes, n_links * sizeof(*bytes));
		r = to_simulate(s, &g, TO_SIMULATE_TASKS, &err);
		assert_non_null(r);
		assert_true(fabs(r->time - time) < 1e-7);
		for (uint32_t i = 0; i < n_links; i++)
			same(r->link_bytes[i], bytes[i]);
		free(bytes);
		free(matrix);
		to_taskgraph_free(&g);
		to_simulator_free(s);
		to_router_free(router);
	}
}

/* Both links of a ToR switch to the aggregation, all four of a pod to the core, and back. */
static void uplinks_are_alike(void **state)
{
	const struct to_shortest_options options = { .spread = TO_SPREAD_SPRAY };
	struct to_error err = { "" };
	struct to_router *router = to_router_shortest(named("fat-tree:4", 16, 4), &options, &err);
	unsigned int n = 0;

	(void)state;
	assert_non_null(router);
	for (uint32_t i = 0; i < router->network->n_links; i++)
		n += router->alike[i] == i;
	assert_int_equal(n, 2 * (16 + 8 + 4));
	to_router_free(router);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fat_tree_has_its_shape),
		cmocka_unit_test(expander_is_regular),
		cmocka_unit_test(all_on_one_switch),
		cmocka_unit_test(allreduce_in_steps),
		cmocka_unit_test(halving_goes_out_and_back),
		cmocka_unit_test(hashes_collide),
		cmocka_unit_test(servers_relay),
		cmocka_unit_test(alike_links_carry_the_same),
		cmocka_unit_test(tasks_load_as_transfers),
		cmocka_unit_test(uplinks_are_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
