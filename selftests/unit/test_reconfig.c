// SPDX-License-Identifier: GPL-2.0-or-later
/* Algorithm 5 against its definition, the best there is, and maximum matching. */

#include <errno.h>

#include "graph/matching.h"
#include "job.h"
#include "topology/reconfig.h"

#define N 6
#define D 3

static const enum to_discount discounts[] = { TO_DISCOUNT_EXPONENTIAL, TO_DISCOUNT_NONE,
					      TO_DISCOUNT_LINEAR };

/* Algorithm 5 of one matrix, on servers with @degree ports. */
struct run {
	struct to_cluster *cluster;
	struct to_demand *demand;
	struct to_builder b;
	struct to_reconfig r;
};

static void start(struct run *run, struct to_demand *demand, unsigned int degree,
		  enum to_link_mode mode, enum to_discount discount, const uint8_t *now)
{
	run->demand = demand;
	run->cluster = to_cluster_synthetic(demand->n, degree, GBPS, mode, NULL);
	assert_non_null(run->cluster);
	assert_int_equal(to_builder_init(&run->b, run->cluster, demand, 0, &(const struct to_planner_knobs){
		.degree = degree, .effort = 5, .seed = 1 }), 0);
	assert_int_equal(to_reconfig_init(&run->r, &run->b, discount, now), 0);
}

static void stop(struct run *run)
{
	to_reconfig_free(&run->r);
	to_builder_free(&run->b);
	to_cluster_free(run->cluster);
	to_demand_free(run->demand);
}

/* Between some pairs, all different: so there is one highest demand. */
static struct to_demand *distinct(unsigned int n, uint64_t *random)
{
	struct to_demand *demand = job_new(n);

	for (unsigned int i = 0; i < n * n; i++)
		if (i % (n + 1) && to_random_below(random, 4))
			demand->mp[i] = 1 + (to_random_next(random) >> 24);
	return demand;
}

/* Equation 1 of the links so far, in bytes. */
static double utility_of(const struct to_reconfig *r)
{
	const struct to_builder *b = r->builder;
	double utility = 0;

	for (uint32_t x = 0; x < b->n; x++)
		for (uint32_t y = b->duplex ? x + 1 : 0; y < b->n; y++)
			utility += r->bytes[x * b->n + y] *
				   to_discount(r->discount, r->count[x * b->n + y], b->knobs.degree);
	return utility;
}

/* The paper's lines 2 to 21; a duplex link takes a port of both, for both ways. */
static void by_the_book(const struct run *run, unsigned int degree, bool duplex, uint8_t *count)
{
	unsigned int n = run->demand->n, tx[N], rx[N];
	double t[N][N];

	memset(count, 0, n * n);
	for (unsigned int i = 0; i < n; i++) {
		tx[i] = rx[i] = degree;
		for (unsigned int j = 0; j < n; j++)
			t[i][j] = run->demand->mp[i * n + j] +
				  (duplex ? run->demand->mp[j * n + i] : 0);
	}
	for (;;) {
		unsigned int a = n, b = n;

		for (unsigned int i = 0; i < n; i++)
			for (unsigned int j = duplex ? i + 1 : 0; j < n; j++)
				if (i != j && tx[i] && (duplex ? tx : rx)[j] && t[i][j] > 0 &&
				    (a == n || t[i][j] > t[a][b])) {
					a = i;
					b = j;
				}
		if (a == n)
			return;
		count[a * n + b]++;
		if (duplex)
			count[b * n + a]++;
		tx[a]--;
		(duplex ? tx : rx)[b]--;
		/* lines 10 and 11, for what the next link is worth beside this one */
		if (run->r.discount == TO_DISCOUNT_EXPONENTIAL)
			t[a][b] /= 2;
		if (run->r.discount == TO_DISCOUNT_LINEAR)
			t[a][b] *= (degree - (double)count[a * n + b]) /
				   (degree + 1.0 - count[a * n + b]);
	}
}

static void greedy_is_algorithm_5(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned int round = 0; round < 3000; round++) {
		unsigned int n = 2 + to_random_below(&random, N - 1);
		unsigned int degree = 1 + to_random_below(&random, D);
		enum to_link_mode mode = round % 2 ? TO_LINKS_SIMPLEX : TO_LINKS_DUPLEX;
		uint8_t count[N * N];
		struct run run;

		start(&run, distinct(n, &random), degree, mode, discounts[round % 3], NULL);
		assert_int_equal(to_reconfig_greedy(&run.r), 0);
		by_the_book(&run, degree, mode == TO_LINKS_DUPLEX, count);
		assert_memory_equal(run.r.count, count, n * n);
		stop(&run);
	}
}

/* The most that Equation 1 can be, over all links that the ports allow. */
static double exhaust(const struct run *run, unsigned int at, unsigned int degree,
		      unsigned int *tx, unsigned int *rx)
{
	unsigned int n = run->demand->n, x = at / n, y = at % n, most;
	bool duplex = run->b.duplex;
	double best = 0;

	if (at == n * n)
		return 0;
	if (x == y || (duplex && y < x) || !run->r.bytes[at])
		return exhaust(run, at + 1, degree, tx, rx);
	most = tx[x] < rx[y] ? tx[x] : rx[y];
	for (unsigned int links = 0; links <= most; links++) {
		double sum;

		tx[x] -= links;
		rx[y] -= links;
		sum = run->r.bytes[at] * to_discount(run->r.discount, links, degree) +
		      exhaust(run, at + 1, degree, tx, rx);
		tx[x] += links;
		rx[y] += links;
		best = sum > best ? sum : best;
	}
	return best;
}

static double optimum(const struct run *run, unsigned int degree)
{
	unsigned int ports[2][N];

	for (unsigned int i = 0; i < N; i++)
		ports[0][i] = ports[1][i] = degree;
	return exhaust(run, 0, degree, ports[0], ports[!run->b.duplex]);
}

/*
 * Links that ports allow are such that one takes the place of at most two, so
 * that the greedy is worth half the optimum at least.
 */
static void greedy_is_near_the_optimum(void **state)
{
	uint64_t random = 2;

	(void)state;
	for (unsigned int d = 0; d < 3; d++) {
		double worst = 1, sum = 0;
		unsigned int runs = 0;

		for (unsigned int round = 0; round < 400; round++) {
			enum to_link_mode mode = round % 2 ? TO_LINKS_SIMPLEX : TO_LINKS_DUPLEX;
			unsigned int n = mode ? 2 + round % 3 : 2 + round % 5;
			unsigned int degree = 1 + to_random_below(&random, 2 + (n < N));
			double best, utility;
			struct run run;

			start(&run, distinct(n, &random), degree, mode, discounts[d], NULL);
			assert_int_equal(to_reconfig_greedy(&run.r), 0);
			best = optimum(&run, degree);
			utility = utility_of(&run.r);
			assert_true(utility <= best * (1 + 1e-12));
			assert_true(utility >= best / 2);
			if (best) {
				worst = utility / best < worst ? utility / best : worst;
				sum += utility / best;
				runs++;
			}
			stop(&run);
		}
		printf("# discount %s: on average %.4f of the best utility, %.4f at worst\n",
		       to_discount_names[d], sum / runs, worst);
		assert_true(sum / runs > 0.95);
	}
}

/* With one port, Equation 1 is the weight of a matching, times Discount(1). */
static void one_port_is_a_matching(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (unsigned int round = 0; round < 600; round++) {
		enum to_discount discount = discounts[round % 3];
		bool duplex = round % 2;
		unsigned int n = duplex ? 2 + round % 5 : 2 + round % 3, n_edges = 0;
		struct to_matching_edge edges[N * N];
		uint32_t mate[2 * N];
		double weight = 0, utility;
		struct run run;

		start(&run, distinct(n, &random), 1, duplex ? TO_LINKS_DUPLEX : TO_LINKS_SIMPLEX,
		      discount, NULL);
		for (unsigned int x = 0; x < n; x++)
			for (unsigned int y = duplex ? x + 1 : 0; y < n; y++)
				if (run.r.bytes[x * n + y])
					edges[n_edges++] = (struct to_matching_edge){
						x, duplex ? y : n + y, run.r.bytes[x * n + y] };
		assert_int_equal(to_matching_solve(duplex ? n : 2 * n, edges, n_edges, mate), 0);
		for (unsigned int i = 0; i < n_edges; i++)
			if (mate[edges[i].a] == edges[i].b)
				weight += edges[i].weight;
		weight *= to_discount(discount, 1, 1);
		assert_float_equal(optimum(&run, 1), weight, 0);
		assert_int_equal(to_reconfig_greedy(&run.r), 0);
		utility = utility_of(&run.r);
		assert_true(utility <= weight && utility >= weight / 2);
		stop(&run);
	}
}

static bool reaches_all(const struct run *run, bool back)
{
	const struct to_layout *layout = &run->b.layout;
	unsigned int n = run->demand->n, found = 1;
	bool *seen = calloc(n, sizeof(*seen));
	bool more = true;

	seen[0] = true;
	while (more) {
		more = false;
		for (unsigned int i = 0; i < layout->n_links; i++) {
			uint32_t a = layout->links[i].a.server, b = layout->links[i].b.server;

			for (int turn = 0; turn < 2; turn++) {
				uint32_t from = turn ? b : a, to = turn ? a : b;

				if ((turn != back && !run->b.duplex) || !seen[from] || seen[to])
					continue;
				more = seen[to] = true;
				found++;
			}
		}
	}
	free(seen);
	return found == n;
}

/* Ports and counts must be those of the links. */
static void check_links(const struct run *run, unsigned int degree)
{
	unsigned int n = run->demand->n, x;
	unsigned int *tx = calloc(2 * n, sizeof(*tx)), *rx = run->b.duplex ? tx : tx + n;
	uint8_t *count = calloc(n * n, 1);

	for (unsigned int i = 0; i < run->b.layout.n_links; i++) {
		uint32_t a = run->b.layout.links[i].a.server;
		uint32_t b = run->b.layout.links[i].b.server;

		assert_int_not_equal(a, b);
		tx[a]++;
		rx[b]++;
		count[a * n + b]++;
		if (run->b.duplex)
			count[b * n + a]++;
	}
	for (x = 0; x < n; x++) {
		assert_int_equal(tx[x] + run->b.transmit[x], degree);
		assert_int_equal(rx[x] + run->b.receive[x], degree);
	}
	assert_memory_equal(run->r.count, count, n * n);
	free(tx);
	free(count);
}

/* Demand in islands, stars, pairs, or nowhere. */
static struct to_demand *scattered(unsigned int n, unsigned int kind, uint64_t *random)
{
	struct to_demand *demand = job_new(n);
	unsigned int island = 2 + to_random_below(random, 4);

	for (unsigned int x = 0; x < n; x++) {
		for (unsigned int y = 0; y < n; y++) {
			bool sends = kind == 0 ? x / island == y / island :
				     kind == 1 ? x % island == 0 && x / island == y / island :
				     kind == 2 ? y == (x ^ 1) : false;

			if (sends && x != y)
				demand->mp[x * n + y] = 1 + to_random_below(random, 1000);
		}
	}
	if (kind == 3)
		demand->mp[1] = 1ull << 59;
	return demand;
}

static void repair_connects(void **state)
{
	uint64_t random = 4;

	(void)state;
	for (unsigned int round = 0; round < 3000; round++) {
		enum to_link_mode mode = round % 2 ? TO_LINKS_SIMPLEX : TO_LINKS_DUPLEX;
		unsigned int n = 2 + to_random_below(&random, 30);
		unsigned int degree = (mode || n == 2 ? 1 : 2) + to_random_below(&random, 4);
		struct run run;

		start(&run, scattered(n, round / 2 % 5, &random), degree, mode,
		      discounts[round % 3], NULL);
		run.r.spread = round % 4 < 2;
		assert_int_equal(to_reconfig_greedy(&run.r), 0);
		check_links(&run, degree);
		for (unsigned int x = 0; run.r.spread && x < n; x++) {
			assert_true(run.b.transmit[x] >= (degree + 1) / 2);
			assert_true(run.b.receive[x] >= (degree + 1) / 2);
		}
		assert_int_equal(to_reconfig_repair(&run.r), 0);
		check_links(&run, degree);
		assert_true(reaches_all(&run, false));
		assert_true(reaches_all(&run, true));
		stop(&run);
	}
}

/* Ports that differ from server to server: a tree needs 2(n - 1) of them. */
static void repair_knows_when_it_cannot(void **state)
{
	uint64_t random = 5;
	unsigned int failed = 0;

	(void)state;
	for (unsigned int round = 0; round < 3000; round++) {
		unsigned int n = 3 + to_random_below(&random, 10), sum = 0, x;
		struct run run;
		int ret;

		start(&run, scattered(n, round % 5, &random), 4, TO_LINKS_DUPLEX, 0, NULL);
		for (x = 0; x < n; x++)
			sum += run.b.transmit[x] = 1 + to_random_below(&random, 2 + round % 2);
		assert_int_equal(to_reconfig_greedy(&run.r), 0);
		ret = to_reconfig_repair(&run.r);
		assert_int_equal(ret, sum >= 2 * (n - 1) ? 0 : -ENOSPC);
		assert_true(ret || reaches_all(&run, false));
		failed += !!ret;
		stop(&run);
	}
	assert_true(failed > 100 && failed < 2900);
}

static void both_ways(struct to_demand *demand, uint32_t x, uint32_t y, uint64_t bytes)
{
	demand->mp[x * demand->n + y] = demand->mp[y * demand->n + x] = bytes;
}

/* Two triangles without ports left: the worst side of each makes way. */
static struct to_demand *triangles(void)
{
	struct to_demand *demand = job_new(6);

	for (unsigned int x = 0; x < 6; x += 3) {
		both_ways(demand, x, x + 1, 100);
		both_ways(demand, x + 1, x + 2, 90);
		both_ways(demand, x, x + 2, 10);
	}
	return demand;
}

static void the_least_worth_makes_way(void **state)
{
	struct run run;

	(void)state;
	start(&run, triangles(), 2, TO_LINKS_DUPLEX, TO_DISCOUNT_EXPONENTIAL, NULL);
	assert_int_equal(to_reconfig_greedy(&run.r), 0);
	assert_int_equal(run.b.layout.n_links, 6);
	assert_int_equal(to_reconfig_repair(&run.r), 0);
	for (unsigned int x = 0; x < 6; x += 3) {
		assert_int_equal(run.r.count[x * 6 + x + 1], 1);
		assert_int_equal(run.r.count[(x + 1) * 6 + x + 2], 1);
		assert_int_equal(run.r.count[x * 6 + x + 2], 0);
	}
	stop(&run);
}

/* A triangle with a tail, and a pair: the tail is worth least, but holds a server. */
static void what_a_part_hangs_on_stays(void **state)
{
	static const unsigned int ports[] = { 2, 2, 3, 1, 1, 1 };
	struct to_demand *demand = triangles();
	struct run run;

	(void)state;
	memset(demand->mp + 3 * 6, 0, 3 * 6 * sizeof(*demand->mp));
	both_ways(demand, 2, 3, 1);
	both_ways(demand, 4, 5, 50);
	start(&run, demand, 3, TO_LINKS_DUPLEX, TO_DISCOUNT_EXPONENTIAL, NULL);
	memcpy(run.b.transmit, ports, sizeof(ports));
	assert_int_equal(to_reconfig_greedy(&run.r), 0);
	assert_int_equal(run.r.count[2 * 6 + 3], 1);
	assert_int_equal(to_reconfig_repair(&run.r), 0);
	assert_true(reaches_all(&run, false));
	assert_int_equal(run.r.count[2 * 6 + 3], 1);
	assert_int_equal(run.r.count[0 * 6 + 2], 0);
	stop(&run);
}

/* Links that stay are not given up, not even to connect. */
static void kept_links_are_not_given_up(void **state)
{
	struct run run;

	(void)state;
	start(&run, triangles(), 2, TO_LINKS_DUPLEX, TO_DISCOUNT_EXPONENTIAL, NULL);
	to_reconfig_free(&run.r);
	for (unsigned int x = 0; x < 3; x++)
		to_builder_link(&run.b, x, (x + 1) % 3, TO_LINK_ALLREDUCE, 0);
	assert_int_equal(to_reconfig_init(&run.r, &run.b, TO_DISCOUNT_EXPONENTIAL, NULL), 0);
	assert_int_equal(to_reconfig_greedy(&run.r), 0);
	assert_int_equal(to_reconfig_repair(&run.r), -ENOSPC);
	stop(&run);
}

/* What stays is there in the end, first and as it was. */
static void kept_links_stay(void **state)
{
	uint64_t random = 6;

	(void)state;
	for (unsigned int round = 0; round < 500; round++) {
		enum to_link_mode mode = round % 2 ? TO_LINKS_SIMPLEX : TO_LINKS_DUPLEX;
		unsigned int n = 3 + to_random_below(&random, 12);
		struct to_link *links;
		struct run run;

		start(&run, scattered(n, round % 5, &random), 4, mode, 0, NULL);
		to_reconfig_free(&run.r);
		for (unsigned int x = 0; x < n; x++)
			to_builder_link(&run.b, x, (x + 1) % n, TO_LINK_ALLREDUCE, 0);
		assert_int_equal(to_reconfig_init(&run.r, &run.b, 0, NULL), 0);
		assert_int_equal(to_reconfig_greedy(&run.r), 0);
		assert_int_equal(to_reconfig_repair(&run.r), 0);
		check_links(&run, 4);
		links = run.b.layout.links;
		for (unsigned int x = 0; x < n; x++) {
			assert_int_equal(links[x].a.server, x);
			assert_int_equal(links[x].b.server, (x + 1) % n);
			assert_int_equal(links[x].use, TO_LINK_ALLREDUCE);
		}
		stop(&run);
	}
}

/* Where all pairs are equal, or none sends, links of the moment win. */
static void equals_stay_where_they_are(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 4; round++) {
		enum to_link_mode mode = round % 2 ? TO_LINKS_SIMPLEX : TO_LINKS_DUPLEX;
		unsigned int n = 16;
		struct to_demand *demand = job_new(n), *same;
		struct run first, second;

		for (unsigned int i = 0; i < n * n && round < 2; i++)
			demand->mp[i] = i % (n + 1) ? MIB : 0;
		same = to_demand_copy(demand);
		start(&first, demand, 4, mode, 0, NULL);
		/* another seed, or they would be drawn the same way */
		first.b.knobs.seed = 99;
		assert_int_equal(to_reconfig_greedy(&first.r), 0);
		assert_int_equal(to_reconfig_repair(&first.r), 0);
		start(&second, same, 4, mode, 0, first.r.count);
		assert_int_equal(to_reconfig_greedy(&second.r), 0);
		assert_int_equal(to_reconfig_repair(&second.r), 0);
		assert_memory_equal(first.r.count, second.r.count, n * n);
		stop(&first);
		stop(&second);
	}
}

/* Equation 2 and its alternatives. */
static void discounts_diminish(void **state)
{
	(void)state;
	assert_float_equal(to_discount(TO_DISCOUNT_EXPONENTIAL, 3, 4), 0.875, 0);
	assert_float_equal(to_discount(TO_DISCOUNT_NONE, 3, 4), 3, 0);
	assert_float_equal(to_discount(TO_DISCOUNT_LINEAR, 3, 4), 1 + 0.75 + 0.5, 1e-12);
	assert_float_equal(to_discount(TO_DISCOUNT_LINEAR, 0, 4), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(discounts_diminish),
		cmocka_unit_test(greedy_is_algorithm_5),
		cmocka_unit_test(greedy_is_near_the_optimum),
		cmocka_unit_test(one_port_is_a_matching),
		cmocka_unit_test(repair_connects),
		cmocka_unit_test(repair_knows_when_it_cannot),
		cmocka_unit_test(the_least_worth_makes_way),
		cmocka_unit_test(what_a_part_hangs_on_stays),
		cmocka_unit_test(kept_links_stay),
		cmocka_unit_test(kept_links_are_not_given_up),
		cmocka_unit_test(equals_stay_where_they_are),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
