// SPDX-License-Identifier: GPL-2.0-or-later
/* Ports that run at a lower rate than the plan's are planned for as they are. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "control/slow.h"

#define GBPS 1000000000ull
#define HOLD_S 30

static const struct to_port_ref at = { 0, 1 };

/** struct world - ports of 100 Gbit/s */
struct world {
	struct to_cluster *cluster;
	struct to_slow slow;
	uint64_t now_ns;
};

static int set_up(void **state)
{
	static struct world w;
	struct to_error err;

	w = (struct world){
		.cluster = to_cluster_synthetic(2, 2, 100 * GBPS, TO_LINKS_DUPLEX, &err),
		.now_ns = 1000 * TO_NS_PER_S,
	};
	assert_int_equal(to_slow_init(&w.slow, HOLD_S * TO_NS_PER_S, w.cluster, w.cluster, w.now_ns),
			 0);
	*state = &w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	to_slow_free(&w->slow);
	to_cluster_free(w->cluster);
	return 0;
}

/* One second later, the port has so many Gbit/s. Return: whether that changes anything. */
static bool look(struct world *w, double gbits)
{
	w->now_ns += TO_NS_PER_S;
	return to_slow_look(&w->slow, w->cluster, at, gbits * 1e3, w->now_ns);
}

/* Gbit/s that the port is planned for with. */
static unsigned int planned(const struct world *w)
{
	return to_slow_bandwidth(&w->slow, w->cluster, at) / GBPS;
}

/* Return: seconds at the plan's rate until that is planned for. */
static unsigned int recovers(struct world *w)
{
	unsigned int seconds = 1;

	while (!look(w, 100) && seconds < 10000)
		seconds++;
	return seconds;
}

static void test_threshold(void **state)
{
	struct world *w = *state;

	for (unsigned int i = 0; i < 5; i++)
		assert_false(look(w, 95) || look(w, 400) || look(w, 0));
	assert_false(look(w, 94));
	assert_int_equal(planned(w), 100);
	assert_true(look(w, 94));
	assert_int_equal(planned(w), 94);
	assert_int_equal(w->slow.n_held, 1);
}

/* One look is no evidence: a link that trains may run at any rate. */
static void test_one_look(void **state)
{
	struct world *w = *state;

	for (unsigned int i = 0; i < 5; i++)
		assert_false(look(w, 25) || look(w, 100));
	for (unsigned int i = 0; i < 5; i++)
		assert_false(look(w, 25) || look(w, 0));
	assert_int_equal(w->slow.n_held, 0);
}

static void test_rates(void **state)
{
	struct world *w = *state;

	look(w, 25);
	assert_true(look(w, 25));
	assert_int_equal(planned(w), 25);
	assert_false(look(w, 25));
	assert_true(look(w, 50));
	assert_int_equal(planned(w), 50);
	assert_int_equal(w->slow.n_held, 1);
}

/* The hold-down begins anew with each look without the plan's rate, and doubles with relapses. */
static void test_back(void **state)
{
	struct world *w = *state;

	look(w, 25);
	look(w, 25);
	assert_int_equal(recovers(w), HOLD_S);
	assert_int_equal(planned(w), 100);
	assert_int_equal(w->slow.n_held, 0);
	look(w, 25);
	look(w, 25);
	for (unsigned int i = 0; i < HOLD_S; i++)
		assert_false(look(w, 100));
	assert_false(look(w, 0));
	assert_int_equal(recovers(w), 2 * HOLD_S);
	for (unsigned int i = 0; i < 8 * 2 * HOLD_S; i++)
		assert_false(look(w, 100));
	look(w, 25);
	look(w, 25);
	assert_int_equal(recovers(w), HOLD_S);
}

/* Functions of a NIC each have a share of their cable's rate. */
static void test_shared_cable(void **state)
{
	struct world *w = *state;

	strcpy(w->cluster->servers[0].ports[0].cable, "p0");
	strcpy(w->cluster->servers[0].ports[1].cable, "p0");
	for (unsigned int i = 0; i < 5; i++)
		assert_false(look(w, 200));
	look(w, 100);
	assert_true(look(w, 100));
	assert_int_equal(planned(w), 50);
}

/* A controller that finds a plan for slow ports goes on from there. */
static void test_adopt(void **state)
{
	struct world *w = *state;
	struct to_cluster *now = to_cluster_copy(w->cluster);

	now->servers[0].ports[1].bandwidth = 25 * GBPS;
	to_slow_free(&w->slow);
	assert_int_equal(to_slow_init(&w->slow, HOLD_S * TO_NS_PER_S, w->cluster, now, w->now_ns), 0);
	to_cluster_free(now);
	assert_int_equal(w->slow.n_held, 1);
	assert_int_equal(planned(w), 25);
	assert_int_equal(recovers(w), HOLD_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_threshold, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_look, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rates, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_shared_cable, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_adopt, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
