// SPDX-License-Identifier: GPL-2.0-or-later
/* Prices of fabrics: TopoOpt section 5.2, by hand, and what assumptions change. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cost/cost.h"

#define NEAR 1e-9	/* of sums of a few numbers */

#define assert_near(a, b, epsilon) assert_true(fabs((a) - (b)) <= (epsilon))

static struct to_cost_setting setting(unsigned int degree, uint64_t gbps)
{
	struct to_cost_setting s = { .servers = 128, .degree = degree, .bandwidth = gbps * 1000000000 };

	to_cost_assume_defaults(&s);
	return s;
}

static struct to_cost priced(const struct to_cost_setting *s, enum to_cost_fabric fabric)
{
	struct to_prices *prices = to_prices_default();
	struct to_error err = {};
	struct to_cost cost;

	if (to_cost(s, prices, fabric, &cost, &err))
		fail_msg("%s", err.text);
	to_prices_free(prices);
	return cost;
}

static double usd(const struct to_cost_setting *s, enum to_cost_fabric fabric)
{
	struct to_cost cost = priced(s, fabric);
	double sum = 0, watts = 0;

	for (unsigned int i = 0; i < cost.n_parts; i++) {
		sum += cost.parts[i].count * cost.parts[i].each.usd;
		watts += cost.parts[i].count * cost.parts[i].each.watts;
	}
	assert_near(sum, cost.server.usd, NEAR);
	assert_near(watts, cost.server.watts, NEAR);
	return sum;
}

/* Table 3, a server of both settings of Figure 11. */
static void test_table_3(void **state)
{
	struct to_cost_setting small = setting(4, 100), large = setting(8, 200);

	(void)state;
	assert_near(usd(&small, TO_COST_TOPOOPT), 4536, NEAR);
	assert_near(usd(&small, TO_COST_TOPOOPT_RECONFIG), 5716, NEAR);
	assert_near(usd(&small, TO_COST_IDEAL), 11316, NEAR);
	assert_near(usd(&small, TO_COST_EXPANDER), 3336, NEAR);
	assert_near(usd(&large, TO_COST_TOPOOPT), 10904, NEAR);
	assert_near(usd(&large, TO_COST_TOPOOPT_RECONFIG), 13264, NEAR);
	assert_near(usd(&large, TO_COST_IDEAL), 37424, NEAR);
	assert_near(priced(&large, TO_COST_IDEAL).bandwidth, 1600e9, NEAR);
}

/* The tree that costs as much has the bandwidth in the ratio of the prices. */
static void test_cost_equivalent(void **state)
{
	static const unsigned int speeds[] = { 10, 25, 40, 100, 200 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(speeds) / sizeof(*speeds); i++)
		for (unsigned int d = 1; d <= 16; d++) {
			struct to_cost_setting s = setting(d, speeds[i]);
			struct to_cost equal = priced(&s, TO_COST_EQUIVALENT);
			double part = usd(&s, TO_COST_TOPOOPT) / usd(&s, TO_COST_IDEAL);

			assert_near(equal.server.usd, usd(&s, TO_COST_TOPOOPT), 1e-6);
			assert_near(equal.bandwidth, d * s.bandwidth * part, 1);
		}
}

/* A tree of one level has one link and one switch port a lane, and each level two more. */
static void test_levels(void **state)
{
	(void)state;
	for (unsigned int levels = 1; levels <= 3; levels++) {
		struct to_cost_setting s = setting(2, 100);

		s.assume[TO_COST_TREE_LEVELS] = levels;
		assert_near(usd(&s, TO_COST_IDEAL),
				    2 * (660 + 2 * levels * 99 + (2 * levels - 1) * 225 + levels * 150),
				    NEAR);
		s.assume[TO_COST_OVERSUBSCRIPTION] = 1;
		assert_near(usd(&s, TO_COST_OVERSUBSCRIBED), usd(&s, TO_COST_IDEAL), NEAR);
	}
}

/* Half of the links above the ToR switches: two links a lane are left of three. */
static void test_oversubscribed(void **state)
{
	struct to_cost_setting s = setting(4, 100);

	(void)state;
	assert_near(usd(&s, TO_COST_OVERSUBSCRIBED), 4 * (660 + 4 * 99 + 3 * 225 + 2 * 150),
			    NEAR);
}

static void test_assumptions(void **state)
{
	struct to_cost_setting s = setting(4, 100);
	struct to_error err = {};

	(void)state;
	assert_int_equal(to_cost_assume(&s, "optical-fibres=2", &err), 0);
	assert_near(usd(&s, TO_COST_TOPOOPT), 5136, NEAR);
	assert_int_equal(to_cost_assume(&s, "optical-fibres=0", &err), 0);
	assert_int_equal(to_cost_assume(&s, "ocs-extra=75", &err), 0);
	assert_near(usd(&s, TO_COST_TOPOOPT), 3936, NEAR);
	assert_near(usd(&s, TO_COST_TOPOOPT_RECONFIG), 4 * (99 + 660 + 520 + 75), NEAR);
	assert_int_equal(to_cost_assume(&s, "look-ahead=0", &err), 0);
	assert_near(usd(&s, TO_COST_TOPOOPT), 3936 - 4 * 125, NEAR);
	assert_int_equal(to_cost_assume(&s, "fibre-length=10", &err), 0);
	assert_near(usd(&s, TO_COST_EXPANDER), 4 * (99 + 660 + 1.5), NEAR);
}

/* Nobody sold a wavelength of SiP-ML: there is a price where somebody gives one. */
static void test_sip_ml(void **state)
{
	struct to_cost_setting s = setting(4, 100);
	struct to_prices *prices = to_prices_default();
	struct to_error err = {};
	struct to_cost cost;

	(void)state;
	assert_int_equal(to_cost(&s, prices, TO_COST_SIP_ML, &cost, &err), -ENOENT);
	assert_non_null(strstr(err.text, "sip_ml_port"));
	prices->sip_ml = true;
	prices->sip_ml_port.usd = 3000;
	assert_int_equal(to_cost(&s, prices, TO_COST_SIP_ML, &cost, &err), 0);
	assert_near(cost.server.usd, 4 * 3150, NEAR);
	to_prices_free(prices);
}

/* What a cluster needs of a panel, and what there is. */
static void test_ports(void **state)
{
	struct to_cost_setting s = setting(8, 200);
	struct to_cost cost;

	(void)state;
	s.servers = 2000;
	cost = priced(&s, TO_COST_TOPOOPT);
	assert_int_equal(cost.ports, 2000);
	assert_int_equal(cost.ports_sold, 1008);
	assert_int_equal(priced(&s, TO_COST_TOPOOPT_RECONFIG).ports_sold, 384);
	assert_int_equal(priced(&s, TO_COST_IDEAL).ports, 0);
}

/* The file that people copy has the default prices. */
static void test_example(void **state)
{
	struct to_prices *built_in = to_prices_default(), *file;
	struct to_error err = {};

	(void)state;
	file = to_prices_load("examples/papers/prices-topoopt.json", &err);
	if (!file)
		fail_msg("%s", err.text);
	assert_string_equal(file->name, built_in->name);
	assert_int_equal(file->n_speeds, built_in->n_speeds);
	assert_memory_equal(file->speeds, built_in->speeds, file->n_speeds * sizeof(*file->speeds));
	for (unsigned int f = 0; f < TO_COST_FABRICS; f++) {
		struct to_cost_setting s = setting(8, 200);
		struct to_cost a, b;

		if (f == TO_COST_SIP_ML)
			continue;
		assert_int_equal(to_cost(&s, built_in, f, &a, &err), 0);
		assert_int_equal(to_cost(&s, file, f, &b, &err), 0);
		assert_near(a.server.usd, b.server.usd, NEAR);
		assert_near(a.server.watts, b.server.watts, NEAR);
		assert_int_equal(a.ports_sold, b.ports_sold);
	}
	to_prices_free(built_in);
	to_prices_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_3),
		cmocka_unit_test(test_cost_equivalent),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_oversubscribed),
		cmocka_unit_test(test_assumptions),
		cmocka_unit_test(test_sip_ml),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_example),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
