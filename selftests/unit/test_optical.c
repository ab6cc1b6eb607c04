// SPDX-License-Identifier: GPL-2.0-or-later
/* Links that follow the demand, in closed form; and servers that compute slower. */

#include <math.h>

#include "job.h"
#include "simulate/optical.h"
#include "simulate/simulate.h"
#include "simulate/stragglers.h"

#define CAPACITY 12.5e9		/* bytes/s of a port */
#define LINK 1e-6
#define RELAY 3e-6

static const struct to_optical_setting slow = { .dark = 10e-3, .every = 50e-3,
						.discount = TO_DISCOUNT_EXPONENTIAL };

/* A fabric at work: what happened is good until it is freed. */
struct run {
	struct to_router *router;
	struct to_simulator *simulator;
	struct to_taskgraph g;
	const struct to_simulation *r;
};

static void same(double value, double expected)
{
	if (fabs(value - expected) > 1e-9 * expected)
		fail_msg("%.12g instead of %.12g", value, expected);
}

static struct to_router *optical(uint32_t servers, unsigned int degree,
				 const struct to_optical_setting *setting)
{
	const struct to_network_setting ports = { .servers = servers, .degree = degree,
						  .bandwidth = 100 * GBPS, .latency = LINK };
	const struct to_shortest_options options = {
		.spread = TO_SPREAD_SPRAY, .algorithm = TO_ALGORITHM_RING_BOTH_WAYS, .seed = 1,
		.delays = { .link = LINK, .relay = RELAY } };
	struct to_error err = { "" };
	struct to_router *router = to_router_optical(&ports, setting, &options, &err);

	assert_string_equal(err.text, "");
	assert_non_null(router);
	return router;
}

static void start(struct run *run, uint32_t servers, unsigned int degree,
		  const struct to_optical_setting *setting)
{
	struct to_error err = { "" };

	run->router = optical(servers, degree, setting);
	run->simulator = to_simulator_on(run->router, &err);
	assert_non_null(run->simulator);
	to_taskgraph_init(&run->g, servers);
}

static void simulate(struct run *run)
{
	struct to_error err = { "" };

	assert_int_equal(to_taskgraph_finish(&run->g, &err), 0);
	run->r = to_simulate(run->simulator, &run->g, TO_SIMULATE_TRANSFERS, &err);
	assert_string_equal(err.text, "");
	assert_non_null(run->r);
}

static void end(struct run *run)
{
	to_simulator_free(run->simulator);
	to_router_free(run->router);
	to_taskgraph_free(&run->g);
}

static double sent(const struct run *run)
{
	double bytes = 0;

	for (uint32_t i = 0; i < run->router->network->n_links; i++)
		bytes += run->r->link_bytes[i];
	return bytes;
}

static void parallel_links_add_up(void **state)
{
	struct run run;

	(void)state;
	start(&run, 2, 4, &slow);
	to_taskgraph_transfer(&run.g, 0, 1, 100000000000);
	simulate(&run);
	/* no other links are better, so that nothing goes dark */
	same(run.r->time, 2 + LINK);
	assert_int_equal(run.r->n_changes, 0);
	same(run.r->link_bytes[3], 25e9);
	same(run.r->link_busy[3], 2);
	end(&run);
}

/*
 * The one port of s0 serves who has most left: s1 until 50 ms, after a dark time s2 from
 * 60 ms on, decided again at 100 ms, s1 from 110 ms on.
 */
static void a_port_serves_who_has_most_left(void **state)
{
	struct run run;

	(void)state;
	start(&run, 4, 1, &slow);
	to_taskgraph_transfer(&run.g, 0, 1, 700000000);
	to_taskgraph_transfer(&run.g, 0, 2, 100000000);
	simulate(&run);
	same(run.r->transfer_finish[1], 60e-3 + 100e6 / CAPACITY + LINK);
	same(run.r->transfer_finish[0], 110e-3 + 75e6 / CAPACITY + LINK);
	assert_int_equal(run.r->n_changes, 2);
	same(run.r->link_bytes[0], 800e6);
	same(run.r->link_busy[0], 800e6 / CAPACITY);
	end(&run);
}

/* What comes while links change waits for them too. */
static void what_comes_in_the_dark_waits(void **state)
{
	struct run run;
	uint32_t compute, late;

	(void)state;
	start(&run, 4, 1, &slow);
	to_taskgraph_transfer(&run.g, 0, 1, 700000000);
	to_taskgraph_transfer(&run.g, 0, 2, 100000000);
	compute = to_taskgraph_compute(&run.g, 3, 55e-3);
	late = to_taskgraph_transfer(&run.g, 0, 2, 12500000);
	to_taskgraph_after(&run.g, late, compute);
	simulate(&run);
	/* it shares the link with the other until it is done */
	same(run.r->finish[late], 60e-3 + 2 * 1e-3 + LINK);
	same(run.r->transfer_finish[1], 60e-3 + 9e-3 + LINK);
	end(&run);
}

/* Four servers in a ring of two ports: s0 reaches s2 by one that relays, or must wait. */
static void relays_save_the_wait(void **state)
{
	struct to_optical_setting relayed = slow;
	struct run run;
	double finish[2];

	(void)state;
	relayed.relayed = true;
	for (int i = 0; i < 2; i++) {
		start(&run, 4, 2, i ? &relayed : &slow);
		for (uint32_t x = 0; x < 4; x++) {
			to_taskgraph_transfer(&run.g, x, (x + 1) % 4, 1000000000);
			to_taskgraph_transfer(&run.g, (x + 1) % 4, x, 1000000000);
		}
		to_taskgraph_transfer(&run.g, 0, 2, 1);
		simulate(&run);
		finish[i] = run.r->transfer_finish[8];
		same(sent(&run), 8e9 + 1 + i);
		end(&run);
	}
	assert_true(finish[0] > 60e-3);
	assert_true(finish[1] > 2 * LINK + RELAY && finish[1] < 2 * LINK + RELAY + 1e-8);
}

/* Half of the buffer each way, over links that are there when it begins. */
static void allreduce_goes_both_ways(void **state)
{
	const uint32_t members[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct run run;

	(void)state;
	start(&run, 8, 2, &slow);
	to_taskgraph_allreduce(&run.g, members, 8, 1000000000);
	simulate(&run);
	same(run.r->time, 2. * 7 / 8 * 1e9 / (2 * CAPACITY) + 14 * LINK);
	same(sent(&run), 2 * 7 * 1e9);
	end(&run);
}

/* Less than a byte is left to send, too, and gets a link in its turn. */
static void parts_of_a_byte_are_sent(void **state)
{
	const uint32_t members[] = { 0, 1, 2, 3 };
	struct run run;

	(void)state;
	start(&run, 4, 1, &slow);
	to_taskgraph_allreduce(&run.g, members, 4, 1);
	simulate(&run);
	same(sent(&run), 2 * 3);
	end(&run);
}

/* Whatever is asked for, and whenever: all is sent, each byte over one link. */
static void all_is_sent(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (unsigned int round = 0; round < 200; round++) {
		const double dark = (1 + to_random_below(&random, 100)) * 1e-6;
		const struct to_optical_setting fast = {
			.dark = dark, .every = dark * 1.5, .discount = to_random_below(&random, 3) };
		const uint32_t n = 2 + to_random_below(&random, 9);
		struct run run;
		double bytes = 0;

		start(&run, n, 1 + to_random_below(&random, 4), &fast);
		for (unsigned int i = 0; i < 30; i++) {
			const uint32_t x = to_random_below(&random, n);
			const uint64_t size = 1 + to_random_below(&random, 10000000);
			const uint32_t y = (x + 1 + to_random_below(&random, n - 1)) % n;
			const uint32_t task = to_taskgraph_transfer(&run.g, x, y, size);

			if (i % 3)
				to_taskgraph_after(&run.g, task, i % 3 - 1);
			bytes += size;
		}
		simulate(&run);
		same(sent(&run), bytes);
		for (uint32_t i = 0; i < run.router->network->n_links; i++)
			assert_true(run.r->link_bytes[i] <= run.r->link_busy[i] * CAPACITY * (1 + 1e-9));
		end(&run);
	}
}

static struct to_optical_setting named(const char *word)
{
	struct to_optical_setting setting;
	struct to_error err = { "" };

	assert_int_equal(to_optical_named(word, &setting, &err), 1);
	return setting;
}

/*
 * Two ports' worth in four wavelengths, two of them each way round. s0 sends to two at once, and
 * when one has all, at 16.05 ms, the other gets both from the next decision on, after 25 us.
 */
static void wavelengths_follow_the_demand(void **state)
{
	const struct to_optical_setting ring = named("sip-ring:4,3");
	const double each = CAPACITY / 2;
	struct run run;

	(void)state;
	start(&run, 8, 2, &ring);
	to_taskgraph_transfer(&run.g, 0, 1, 1000000000);
	simulate(&run);
	same(run.r->time, 1e9 / (2 * each) + LINK);
	assert_int_equal(run.r->n_changes, 0);
	end(&run);

	start(&run, 8, 2, &ring);
	to_taskgraph_transfer(&run.g, 0, 1, 700000000);
	to_taskgraph_transfer(&run.g, 0, 3, 100312500);
	simulate(&run);
	same(run.r->transfer_finish[1], 16.05e-3 + LINK);
	same(run.r->transfer_finish[0], 16.125e-3 + (700e6 - 16.1e-3 * each) / (2 * each) + LINK);
	assert_int_equal(run.r->n_changes, 1);
	end(&run);
}

/* Six segments are two lightpaths of three, where a server relays. */
static void far_lightpaths_are_relayed(void **state)
{
	const struct to_optical_setting ring = named("sip-ring:4,3");
	struct run run;

	(void)state;
	start(&run, 14, 2, &ring);
	to_taskgraph_transfer(&run.g, 0, 6, 1000000000);
	simulate(&run);
	assert_true(run.r->time > 1e9 / CAPACITY && run.r->time < 2 * 1e9 / CAPACITY + 1e-3);
	assert_true(sent(&run) > 2e9 - 1);
	end(&run);
}

/* Two ports to one, both its circuits; one port to two others, and s1 relays to s2. */
static void circuits_are_set_once(void **state)
{
	struct to_optical_setting circuits = named("sip-ocs:2");
	struct run run;

	(void)state;
	start(&run, 4, 2, &circuits);
	to_taskgraph_transfer(&run.g, 0, 1, 1000000000);
	simulate(&run);
	same(run.r->time, 1e9 / (2 * CAPACITY) + LINK);
	assert_int_equal(run.r->n_changes, 0);
	end(&run);

	circuits = named("sip-ocs:1");
	start(&run, 4, 1, &circuits);
	to_taskgraph_transfer(&run.g, 0, 1, 1000000000);
	to_taskgraph_transfer(&run.g, 0, 2, 1000000000);
	simulate(&run);
	same(run.r->time, 2e9 / CAPACITY + 2 * LINK + RELAY);
	same(sent(&run), 3e9);
	assert_int_equal(run.r->n_changes, 0);
	end(&run);
}

/* Whatever is asked for, and whenever: it ends. */
static void all_is_sent_over_wavelengths(void **state)
{
	uint64_t random = 6;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		const uint32_t n = 2 + to_random_below(&random, 11);
		const struct to_optical_setting setting = {
			.dark = 25e-6, .every = 100e-6,
			.sip = { .ring = true, .ports = 2 + 2 * to_random_below(&random, 4),
				 .reach = 1 + to_random_below(&random, 6) } };
		struct run run;
		double bytes = 0;

		start(&run, n, 1 + to_random_below(&random, 4), &setting);
		for (unsigned int i = 0; i < 20; i++) {
			const uint32_t x = to_random_below(&random, n);
			const uint32_t y = (x + 1 + to_random_below(&random, n - 1)) % n;
			const uint64_t size = 1 + to_random_below(&random, 10000000);
			const uint32_t task = to_taskgraph_transfer(&run.g, x, y, size);

			if (i % 3)
				to_taskgraph_after(&run.g, task, i % 3 - 1);
			bytes += size;
		}
		simulate(&run);
		assert_true(sent(&run) >= bytes * (1 - 1e-9));
		end(&run);
	}
}

static void words(void **state)
{
	static const char *const refused[] = {
		"sip-ring:0,4", "sip-ring:3,4", "sip-ring:4,0", "sip-ring:4,65", "sip-ring:4", "sip-ring:4,2,relay",
		"sip-ring:-4,2", "sip-ocs:", "sip-ocs:0", "sip-ocs:65", "sip-ocs:4x",
		"ocs:", "ocs:10", "ocs:1us,every=", "ocs:1us,relay,every=2us", "ocs:1us,every=1us",
		"sip-ring,x", "topoopt-reconfig,", "ocs:0us"
	};
	struct to_optical_setting s;
	struct to_error err = { "" };

	(void)state;
	assert_int_equal(to_optical_named("topoopt-reconfig", &s, &err), 1);
	assert_memory_equal(&s.dark, &slow.dark, sizeof(s.dark));
	assert_true(s.every == 50e-3 && s.discount == TO_DISCOUNT_EXPONENTIAL && !s.relayed);
	assert_int_equal(to_optical_named("sip-ring,relay", &s, &err), 1);
	assert_true(s.dark == 25e-6 && s.every == 100e-6 && s.relayed);
	assert_int_equal(s.discount, TO_DISCOUNT_NONE);
	assert_int_equal(to_optical_named("ocs:2us", &s, &err), 1);
	same(s.every, 10e-6);
	assert_int_equal(to_optical_named("ocs:2us,every=3us,relay", &s, &err), 1);
	same(s.every, 3e-6);
	assert_int_equal(to_optical_named("sip-rings", &s, &err), 0);
	s = named("sip-ring:40,8");
	assert_true(s.sip.ring && s.sip.ports == 40 && s.sip.reach == 8 && s.dark == 25e-6);
	s = named("sip-ocs:16");
	assert_true(!s.sip.ring && s.sip.ports == 16 && isinf(s.every));
	assert_string_equal(err.text, "");
	for (unsigned int i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		assert_true(to_optical_named(refused[i], &s, &err) < 0);
}

static void draw(const char *text, uint32_t n, double *factors)
{
	struct to_stragglers stragglers;
	struct to_error err = { "" };
	uint64_t random = 1;

	assert_int_equal(to_stragglers_parse(text, &stragglers, &err), 0);
	to_stragglers_draw(&stragglers, n, factors, &random);
}

static void slow_servers_compute_longer(void **state)
{
	static const char *const refused[] = { "slow:1.5,2", "slow:0.5,0.5", "slow:0.5", "lognormal:-1",
					       "lognormal:nan", "exponential:1x", "pareto:2", "" };
	enum { N = 100000 };
	double *factors = calloc(N, sizeof(*factors)), most = 0, sum = 0, log_sum = 0, squares = 0;
	struct to_stragglers stragglers;
	struct to_error err = { "" };
	struct run run;

	(void)state;
	assert_non_null(factors);
	draw("slow:0.25,3", N, factors);
	for (unsigned int i = 0; i < N; i++) {
		assert_true(factors[i] == 1 || factors[i] == 3);
		sum += factors[i] / N;
	}
	assert_true(fabs(sum - 1.5) < 0.02);
	draw("exponential:0.5", N, factors);
	for (sum = 0, most = 0; most < N; most++)
		sum += factors[(unsigned int)most] / N;
	assert_true(fabs(sum - 1.5) < 0.02);
	draw("lognormal:0.5", N, factors);
	for (unsigned int i = 0; i < N; i++) {
		log_sum += log(factors[i]) / N;
		squares += log(factors[i]) * log(factors[i]) / N;
	}
	assert_true(fabs(log_sum) < 0.01 && fabs(squares - 0.25) < 0.01);
	for (unsigned int i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		assert_true(to_stragglers_parse(refused[i], &stragglers, &err) < 0);

	start(&run, 2, 1, &slow);
	to_taskgraph_compute(&run.g, 0, 1e-3);
	to_taskgraph_compute(&run.g, 1, 1e-3);
	draw("slow:1,4", 2, factors);
	factors[0] = 1;
	to_simulator_slow(run.simulator, factors);
	simulate(&run);
	same(run.r->finish[0], 1e-3);
	same(run.r->finish[1], 4e-3);
	end(&run);
	free(factors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parallel_links_add_up),
		cmocka_unit_test(a_port_serves_who_has_most_left),
		cmocka_unit_test(what_comes_in_the_dark_waits),
		cmocka_unit_test(relays_save_the_wait),
		cmocka_unit_test(allreduce_goes_both_ways),
		cmocka_unit_test(parts_of_a_byte_are_sent),
		cmocka_unit_test(all_is_sent),
		cmocka_unit_test(wavelengths_follow_the_demand),
		cmocka_unit_test(far_lightpaths_are_relayed),
		cmocka_unit_test(circuits_are_set_once),
		cmocka_unit_test(all_is_sent_over_wavelengths),
		cmocka_unit_test(words),
		cmocka_unit_test(slow_servers_compute_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
