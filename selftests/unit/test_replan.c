// SPDX-License-Identifier: GPL-2.0-or-later
/* What is done about measured traffic, and that what comes out is a good plan. */

#include <errno.h>
#include <math.h>

#include "data/allreduce.h"
#include "data/cross_connects.h"
#include "format/plan_json.h"
#include "job.h"
#include "plan/replan.h"

#define MS 1000000ull

/* Switches take 10 ms. */
static struct to_plan *planned_on(struct to_plan *plan)
{
	assert_non_null(plan);
	for (unsigned int i = 0; i < plan->cluster->n_switches; i++)
		plan->cluster->switches[i].reconfiguration_ns = 10 * MS;
	return plan;
}

static struct to_plan *planned(struct to_demand *demand, unsigned int degree, enum to_link_mode mode)
{
	struct to_error err = { "" };

	return planned_on(job_plan(demand, degree, mode, &err));
}

/* One that need not be good. */
static struct to_plan *planned_any(struct to_demand *demand, unsigned int degree,
				   enum to_link_mode mode)
{
	struct to_error err = { "" };

	return planned_on(job_plan_any(demand, degree, mode, &err));
}

static struct to_traffic traffic_new(unsigned int n, double seconds)
{
	struct to_traffic t = {
		.n = n, .bytes = calloc((size_t)n * n, sizeof(*t.bytes)), .seconds = seconds,
	};

	assert_non_null(t.bytes);
	return t;
}

/* Servers in pairs, those of @turn, exchange @bytes; all others a little. */
static struct to_traffic pairs(unsigned int n, unsigned int turn, uint64_t bytes)
{
	struct to_traffic t = traffic_new(n, 0.05);

	for (unsigned int x = 0; x < n; x++) {
		unsigned int y = (n + turn - x) % n;

		for (unsigned int k = 0; k < n; k++)
			t.bytes[x * n + k] = k == x ? 0 : 10000 + (x * 31 + k * 17) % 100;
		if (y != x)
			t.bytes[x * n + y] += bytes + x * y;
	}
	return t;
}

static struct to_demand *job_of(const struct to_traffic *t)
{
	struct to_demand *demand = job_new(t->n);

	memcpy(demand->mp, t->bytes, (size_t)t->n * t->n * sizeof(*t->bytes));
	return demand;
}

static struct to_replan_result replan(const struct to_plan *plan, const struct to_traffic *t,
				      const struct to_replan_options *options)
{
	struct to_replan_result result;
	struct to_error err = { "" };
	int ret = to_replan(plan, t, options, &result, &err);

	assert_string_equal(err.text, "");
	assert_int_equal(ret, 0);
	assert_int_equal(result.plan != NULL, result.action != TO_REPLAN_KEEP);
	return result;
}

static const struct to_replan_choice *choice_of(const struct to_replan_result *r,
						enum to_replan_source source)
{
	for (unsigned int i = 0; i < r->n_choices; i++)
		if (r->choices[i].source == source)
			return &r->choices[i];
	return NULL;
}

/* The header's model, from the figures of the choice. */
static void check_price(const struct to_replan_result *r, const struct to_replan_choice *c,
			const struct to_replan_options *o)
{
	double pace = fmax(r->seconds, r->choices[0].comm_time);
	double speedup = pace / (pace - r->choices[0].comm_time + c->comm_time) - 1;

	assert_float_equal(c->gain, fmax(o->horizon - c->dark, 0) * speedup, 1e-9);
	assert_float_equal(c->net, c->gain - c->lost, 1e-9);
	assert_true(c->lost >= 0 && c->lost <= c->dark);
	assert_int_equal(c->steps > 0, c->cut || c->made);
	if (c->action != TO_REPLAN_REWIRE)
		assert_true(!c->cut && !c->made && !c->dark && !c->lost);
	else
		assert_float_equal(c->dark, c->steps * (o->dark < 0 ? 0.01 : o->dark), 1e-9);
}

/* The best net of what saves enough, unless it is to keep. */
static void check_decision(const struct to_replan_result *r, const struct to_replan_options *o)
{
	const struct to_replan_choice *chosen = &r->choices[r->chosen];
	double least = (1 - o->threshold) * r->choices[0].comm_time;

	assert_int_equal(chosen->action, r->action);
	assert_false(chosen->estimated);
	for (unsigned int i = 0; i < r->n_choices; i++) {
		const struct to_replan_choice *c = &r->choices[i];

		check_price(r, c, o);
		if (!c->estimated && c->comm_time <= least && c->net > 0)
			assert_true(chosen->net >= c->net);
	}
	if (r->action != TO_REPLAN_KEEP)
		assert_true(chosen->net > 0 && chosen->comm_time <= least);
}

/* Rings and trees of the job must be as they were. */
static void check_rings(const struct to_plan *was, const struct to_plan *is)
{
	assert_int_equal(was->n_rings, is->n_rings);
	assert_int_equal(was->n_trees, is->n_trees);
	for (unsigned int i = 0; i < was->n_rings; i++) {
		assert_int_equal(was->rings[i].group, is->rings[i].group);
		assert_memory_equal(was->rings[i].order, is->rings[i].order,
				    was->rings[i].n * sizeof(*was->rings[i].order));
	}
	for (unsigned int i = 0; i < was->n_trees; i++)
		assert_memory_equal(was->trees[i].parents, is->trees[i].parents,
				    was->trees[i].n * sizeof(*was->trees[i].parents));
}

static char *text_of(const struct to_plan *plan)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(to_plan_print(plan, out, NULL), 0);
	fclose(out);
	return text;
}

/* The new plan must be right, move what was said, and take the time that was said. */
static void check_plan(const struct to_plan *was, const struct to_replan_result *r)
{
	const struct to_replan_choice *chosen = &r->choices[r->chosen];
	struct to_cross_connect *cut, *made;
	struct to_verify_report report;
	struct to_error err = { "" };
	unsigned int n_cut, n_made;
	struct to_plan *again;
	char *text;

	if (!r->plan)
		return;
	text = text_of(r->plan);
	again = to_plan_parse(text, strlen(text), "plan", &err);
	assert_string_equal(err.text, "");
	to_plan_free(again);
	free(text);
	report = job_verify(r->plan);
	/* duplex links leave a detour around each failure */
	if (r->plan->cluster->link_mode == TO_LINKS_DUPLEX)
		assert_int_equal(report.links.uncovered, 0);
	assert_float_equal(report.figures.comm_time, chosen->comm_time, 1e-9 * chosen->comm_time);
	check_rings(was, r->plan);
	assert_int_equal(to_cross_connects_diff(was, r->plan, &cut, &n_cut, &made, &n_made), 0);
	assert_int_equal(n_cut, chosen->cut);
	assert_int_equal(n_made, chosen->made);
	free(cut);
	free(made);
}

/* Hot pairs shift: the links follow, and the busiest link is relieved. */
static void shifted_pairs_are_rewired(void **state)
{
	(void)state;
	for (enum to_link_mode mode = TO_LINKS_DUPLEX; mode <= TO_LINKS_SIMPLEX; mode++) {
		struct to_replan_options options = TO_REPLAN_DEFAULTS;
		struct to_traffic before = pairs(12, 1, 60 * MIB), after = pairs(12, 4, 60 * MIB);
		struct to_plan *plan = planned(job_of(&before), 4, mode);
		struct to_replan_result r;

		options.topology_finder = options.predict = true;
		r = replan(plan, &after, &options);
		assert_int_equal(r.action, TO_REPLAN_REWIRE);
		check_decision(&r, &options);
		check_plan(plan, &r);
		assert_int_equal(r.n_choices, 5);
		assert_true(r.choices[r.chosen].comm_time < 0.5 * r.choices[0].comm_time);
		to_plan_free(r.plan);
		to_plan_free(plan);
		free(before.bytes);
		free(after.bytes);
	}
}

/* Whatever the job and the traffic, the outcome is a plan that verifies, and settles. */
static void any_traffic(void **state)
{
	uint64_t random = 7;
	unsigned int actions[3] = { 0 };

	(void)state;
	for (unsigned int round = 0; round < 90; round++) {
		unsigned int n = 3 + to_random_below(&random, 14);
		unsigned int degree = 2 + to_random_below(&random, 3), steps;
		struct to_replan_options options = TO_REPLAN_DEFAULTS;
		struct to_traffic t = traffic_new(n, 0.05);
		struct to_plan *plan = planned_any(job_random(n, &random), degree,
					       round % 2 ? TO_LINKS_SIMPLEX : TO_LINKS_DUPLEX);
		unsigned int kind = to_random_below(&random, 3);

		if (kind)
			to_allreduce_and_mp(plan, 0.5 + kind, t.bytes);
		for (unsigned int i = 0; i < n * n && kind != 1; i++)
			if (!to_random_below(&random, 4))
				t.bytes[i] += to_random_below(&random, 100) * MIB;
		options.topology_finder = round % 3 == 0;
		for (steps = 0; steps < 6; steps++) {
			struct to_replan_result r = replan(plan, &t, &options);

			check_decision(&r, &options);
			check_plan(plan, &r);
			actions[r.action]++;
			if (r.action == TO_REPLAN_KEEP)
				break;
			to_plan_free(plan);
			plan = r.plan;
		}
		assert_true(steps < 6);
		to_plan_free(plan);
		free(t.bytes);
	}
	printf("# kept %u times, rerouted %u, rewired %u\n", actions[0], actions[1], actions[2]);
	assert_true(actions[TO_REPLAN_REROUTE] && actions[TO_REPLAN_REWIRE] > 10);
}

/* Port q of every server is on switch q modulo @n_switches. NULL where that has no plan. */
static struct to_plan *planned_over(unsigned int n_switches, struct to_demand *demand,
				    unsigned int degree, enum to_link_mode mode)
{
	struct to_planner_knobs options = { .degree = degree, .seed = 1 };
	struct to_cluster *c = to_cluster_synthetic(demand->n, degree, 100 * GBPS, mode, NULL);
	struct to_error err = { "" };

	assert_non_null(c);
	c->switches = realloc(c->switches, n_switches * sizeof(*c->switches));
	assert_non_null(c->switches);
	c->n_switches = n_switches;
	for (unsigned int i = 0; i < n_switches; i++) {
		c->switches[i] = c->switches[0];
		c->switches[i].reconfiguration_ns = 10 * MS;
		c->switches[i].n_ports = c->n_servers * degree;
		snprintf(c->switches[i].name, sizeof(c->switches[i].name), "ocs%u", i);
	}
	for (unsigned int x = 0; x < c->n_servers; x++)
		for (unsigned int q = 0; q < degree; q++) {
			c->servers[x].ports[q].optical_switch = q % n_switches;
			c->servers[x].ports[q].optical_port = x * degree + q + 1;
		}
	return to_planner_make(c, demand, &options, &err);
}

/*
 * Nine servers fill no duplex switch: links must be left out, and those of a new
 * topology can fit and yet not from where the old ones are.
 */
static void odd_servers_on_four_switches_are_rewired(void **state)
{
	(void)state;
	for (unsigned int turn = 2; turn < 9; turn++) {
		struct to_replan_options options = TO_REPLAN_DEFAULTS;
		struct to_traffic before = pairs(9, 1, 60 * MIB), after = pairs(9, turn, 60 * MIB);
		struct to_plan *plan = planned_over(4, job_of(&before), 4, TO_LINKS_DUPLEX);
		struct to_replan_result r;

		assert_non_null(plan);
		options.topology_finder = true;
		r = replan(plan, &after, &options);
		check_decision(&r, &options);
		check_plan(plan, &r);
		assert_int_equal(r.action, TO_REPLAN_REWIRE);
		assert_non_null(choice_of(&r, TO_REPLAN_RECONFIG));
		assert_non_null(choice_of(&r, TO_REPLAN_RECONFIG_SPREAD));
		assert_non_null(choice_of(&r, TO_REPLAN_FINDER));
		assert_int_equal(r.n_none, 0);
		to_plan_free(r.plan);
		to_plan_free(plan);
		free(before.bytes);
		free(after.bytes);
	}
}

/* Whatever switches the ports are on, no source is lost without a reason. */
static void any_switches(void **state)
{
	unsigned int offered = 0, none = 0;
	uint64_t random = 11;

	(void)state;
	for (unsigned int round = 0; round < 90; round++) {
		unsigned int n = 4 + to_random_below(&random, 12);
		unsigned int degree = 2 + to_random_below(&random, 4);
		struct to_replan_options options = TO_REPLAN_DEFAULTS;
		struct to_traffic t = traffic_new(n, 0.05);
		struct to_plan *plan = planned_over(2 + to_random_below(&random, degree - 1),
						    job_random(n, &random), degree,
						    round % 3 ? TO_LINKS_DUPLEX : TO_LINKS_SIMPLEX);
		struct to_replan_result r;

		for (unsigned int i = 0; i < n * n; i++)
			t.bytes[i] = 1000 + !to_random_below(&random, 4) *
					    to_random_below(&random, 100) * MIB;
		options.topology_finder = round % 2;
		if (plan) {
			r = replan(plan, &t, &options);
			check_decision(&r, &options);
			check_plan(plan, &r);
			assert_true(r.n_choices + r.n_none >= 4u + options.topology_finder);
			for (unsigned int i = 0; i < r.n_none; i++)
				assert_string_not_equal(r.none[i].why.text, "");
			offered += r.n_choices;
			none += r.n_none;
			to_plan_free(r.plan);
		}
		to_plan_free(plan);
		free(t.bytes);
	}
	printf("# %u choices, %u sources had none\n", offered, none);
	assert_true(offered > 200);
	assert_true(none < offered / 20);
}

/* Where much is sent between all, demand of pairs must not take every port. */
static void pairs_leave_ports_for_the_rest(void **state)
{
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_traffic before = pairs(64, 1, 20 * MIB), after = pairs(64, 8, 20 * MIB);
	const struct to_replan_choice *all, *half;
	struct to_replan_result r;
	struct to_plan *plan;

	(void)state;
	plan = planned(job_of(&before), 4, TO_LINKS_DUPLEX);
	for (unsigned int i = 0; i < 64 * 64; i++)
		after.bytes[i] += i % 65 ? 100000 : 0;
	r = replan(plan, &after, &options);
	check_decision(&r, &options);
	check_plan(plan, &r);
	all = choice_of(&r, TO_REPLAN_RECONFIG);
	half = choice_of(&r, TO_REPLAN_RECONFIG_SPREAD);
	assert_true(half->comm_time < 0.7 * all->comm_time);
	assert_int_equal(r.choices[r.chosen].source, TO_REPLAN_RECONFIG_SPREAD);
	to_plan_free(r.plan);
	to_plan_free(plan);
	free(before.bytes);
	free(after.bytes);
}

/* Estimates that routes turn round: half of the links do more than all of them. */
static void what_moves_less_is_routed_first(void **state)
{
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_traffic before = pairs(128, 1, 34 * MIB), after = pairs(128, 8, 34 * MIB);
	const struct to_replan_choice *all, *half;
	struct to_replan_result r;
	struct to_plan *plan;
	uint64_t random = 1;

	(void)state;
	for (unsigned int i = 0; i < 128 * 128; i++)
		after.bytes[i] += i % 129 ? to_random_below(&random, 10000) : 0;
	plan = planned_any(job_of(&before), 4, TO_LINKS_DUPLEX);
	r = replan(plan, &after, &options);
	check_decision(&r, &options);
	all = choice_of(&r, TO_REPLAN_RECONFIG);
	half = choice_of(&r, TO_REPLAN_RECONFIG_SPREAD);
	assert_true(all->estimated);
	assert_true(half->comm_time < all->comm_time && half->made < 0.6 * all->made);
	assert_ptr_equal(half, &r.choices[r.chosen]);
	to_plan_free(r.plan);
	to_plan_free(plan);
	free(before.bytes);
	free(after.bytes);
}

/* What was planned for the traffic stays, on every measurement of it, with noise. */
static void steady_traffic_is_kept(void **state)
{
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_traffic t = pairs(12, 1, 60 * MIB);
	struct to_plan *plan = planned(job_of(&t), 4, TO_LINKS_DUPLEX);
	struct to_replan_result r = replan(plan, &t, &options);
	uint64_t random = 8;

	(void)state;
	if (r.plan) {
		to_plan_free(plan);
		plan = r.plan;
	}
	for (unsigned int round = 0; round < 50; round++) {
		struct to_traffic noisy = pairs(12, 1, 60 * MIB);

		for (unsigned int i = 0; i < 144; i++)
			noisy.bytes[i] = noisy.bytes[i] * (0.99 + to_random_below(&random, 20) / 1000.0);
		r = replan(plan, &noisy, &options);
		assert_int_equal(r.action, TO_REPLAN_KEEP);
		free(noisy.bytes);
	}
	to_plan_free(plan);
	free(t.bytes);
}

/* Algorithm 5 on its own links has the same again, where they are. */
static void the_same_again_moves_nothing(void **state)
{
	(void)state;
	for (unsigned int turn = 2; turn < 12; turn++) {
		struct to_replan_options options = TO_REPLAN_DEFAULTS;
		struct to_traffic before = pairs(12, 1, 60 * MIB), after = pairs(12, turn, 60 * MIB);
		struct to_plan *plan = planned(job_of(&before), 4,
					       turn % 2 ? TO_LINKS_SIMPLEX : TO_LINKS_DUPLEX);
		struct to_replan_result r = replan(plan, &after, &options), again;

		assert_int_equal(r.choices[r.chosen].source, TO_REPLAN_RECONFIG);
		again = replan(r.plan, &after, &options);
		assert_int_equal(choice_of(&again, TO_REPLAN_RECONFIG)->cut, 0);
		assert_int_equal(choice_of(&again, TO_REPLAN_RECONFIG)->made, 0);
		to_plan_free(again.plan);
		to_plan_free(r.plan);
		to_plan_free(plan);
		free(before.bytes);
		free(after.bytes);
	}
}

/* Rewiring is worth it from its payback on, not before. */
static void horizon_must_cover_the_price(void **state)
{
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_traffic before = pairs(12, 1, 60 * MIB), after = pairs(12, 4, 60 * MIB);
	struct to_plan *plan = planned(job_of(&before), 4, TO_LINKS_DUPLEX);
	struct to_replan_result r = replan(plan, &after, &options), again;
	double payback = r.choices[r.chosen].payback;

	(void)state;
	assert_int_equal(r.action, TO_REPLAN_REWIRE);
	assert_true(payback > 0.01 && payback < options.horizon);
	for (unsigned int i = 0; i < r.n_choices; i++) {
		const struct to_replan_choice *c = &r.choices[i];

		if (c->action != TO_REPLAN_REWIRE)
			continue;
		options.horizon = c->payback * 1.001;
		again = replan(plan, &after, &options);
		assert_true(choice_of(&again, c->source)->net > 0);
		check_decision(&again, &options);
		to_plan_free(again.plan);
		options.horizon = c->payback * 0.999;
		again = replan(plan, &after, &options);
		assert_true(choice_of(&again, c->source)->net < 0);
		assert_int_not_equal(again.choices[again.chosen].source, c->source);
		to_plan_free(again.plan);
	}
	/* a patch panel takes minutes: routes cost nothing */
	options.horizon = 10;
	options.dark = 120;
	again = replan(plan, &after, &options);
	assert_int_equal(again.action, TO_REPLAN_REROUTE);
	check_plan(plan, &again);
	to_plan_free(again.plan);
	/* but if it stays for a day, even that pays back */
	options.horizon = 86400;
	again = replan(plan, &after, &options);
	assert_int_equal(again.action, TO_REPLAN_REWIRE);
	to_plan_free(again.plan);
	/* and no change is worth nothing */
	options.threshold = 0.999;
	again = replan(plan, &after, &options);
	assert_int_equal(again.action, TO_REPLAN_KEEP);
	to_plan_free(r.plan);
	to_plan_free(plan);
	free(before.bytes);
	free(after.bytes);
}

/* All that stays lit counts while the rest is dark. */
static void darkness_costs_what_it_slows(void **state)
{
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_demand *demand = job_new(12);
	struct to_traffic t = pairs(12, 4, 60 * MIB);
	const struct to_replan_choice *kept_rings, *all;
	struct to_replan_result r;
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 12, 100 * MIB);
	for (unsigned int x = 0; x < 12; x++)
		demand->mp[x * 12 + 11 - x] = 60 * MIB;
	plan = planned(demand, 6, TO_LINKS_DUPLEX);
	r = replan(plan, &t, &options);
	kept_rings = choice_of(&r, TO_REPLAN_RECONFIG_MP);
	all = choice_of(&r, TO_REPLAN_RECONFIG);
	assert_non_null(kept_rings);
	/* rings stay lit, and carry all meanwhile */
	assert_true(kept_rings->cut && kept_rings->cut < all->cut);
	assert_true(kept_rings->lost < kept_rings->dark);
	assert_true(kept_rings->delayed < all->delayed);
	assert_int_equal(kept_rings->steps, 1);
	to_plan_free(r.plan);
	to_plan_free(plan);
	free(t.bytes);
}

/* With three ports there are links to all servers in every step, with two there are none. */
static void all_links_take_steps(void **state)
{
	(void)state;
	for (unsigned int degree = 2; degree <= 3; degree++) {
		struct to_replan_options options = TO_REPLAN_DEFAULTS;
		struct to_traffic was = pairs(12, 11, 60 * MIB), t = pairs(12, 4, 60 * MIB);
		struct to_plan *plan = planned(job_of(&was), degree, TO_LINKS_DUPLEX);
		struct to_replan_result r = replan(plan, &t, &options);
		const struct to_replan_choice *all = choice_of(&r, TO_REPLAN_RECONFIG);

		assert_non_null(all);
		check_price(&r, all, &options);
		if (degree == 2) {
			assert_int_equal(all->steps, 1);
			assert_float_equal(all->lost, all->dark, 1e-9);
		} else {
			assert_true(all->steps > 1);
			assert_true(all->lost < all->dark);
		}
		to_plan_free(r.plan);
		to_plan_free(plan);
		free(was.bytes);
		free(t.bytes);
	}
}

/* AllReduce in what was measured is that of the rings, the rest is MP transfers. */
static void allreduce_is_recognised(void **state)
{
	uint64_t random = 9;

	(void)state;
	for (unsigned int round = 0; round < 100; round++) {
		unsigned int n = 5 + to_random_below(&random, 12);
		struct to_demand *demand = job_new(n);
		double times = 0.25 * (1 + to_random_below(&random, 12));
		struct to_traffic t = traffic_new(n, 0.05);
		struct to_rings rings;
		struct to_plan *plan;
		uint64_t buffer;

		job_group(demand, 0, 1, n, (1 + to_random_below(&random, 100)) * MIB);
		/* two servers that send to no one but on rings leave hops bare */
		for (unsigned int i = 0; i < n; i++)
			demand->mp[(2 + i % (n - 2)) * n + (i / 2) % n] += i % 3 * MIB;
		for (unsigned int i = 0; i < n; i++)
			demand->mp[i * n + i] = 0;
		plan = planned_any(demand, 4, round % 2 ? TO_LINKS_SIMPLEX : TO_LINKS_DUPLEX);
		to_allreduce_and_mp(plan, times, t.bytes);
		rings = to_allreduce_of(plan);
		assert_int_equal(to_allreduce_take(&rings, t.bytes, &buffer), 0);
		assert_float_equal((double)buffer, times * demand->groups[0].bytes, 64 * n);
		for (unsigned int i = 0; i < n * n; i++)
			assert_float_equal((double)t.bytes[i], times * demand->mp[i], 64 * n);
		to_plan_free(plan);
		free(t.bytes);
	}
}

/* Fibres that no switch moves stay where they are; without switches all do. */
static void fixed_links_stay(void **state)
{
	uint64_t random = 10;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		struct to_replan_options options = TO_REPLAN_DEFAULTS;
		struct to_traffic before = pairs(12, 1, 60 * MIB), after = pairs(12, 4, 60 * MIB);
		struct to_plan *plan = planned_any(job_of(&before), 4,
					       round % 2 ? TO_LINKS_SIMPLEX : TO_LINKS_DUPLEX);
		struct to_cluster *c = plan->cluster;
		unsigned int fixed = round % 3 ? to_random_below(&random, c->n_links) : c->n_links;
		struct to_replan_result r;

		/* a simplex port is fixed with both its fibres */
		for (unsigned int i = 0; i < fixed; i++) {
			struct to_port_ref ends[2] = { c->links[i].a, c->links[i].b };

			for (unsigned int k = 0; k < 2 && (!round || round % 2 == 0 || fixed == c->n_links); k++)
				c->servers[ends[k].server].ports[ends[k].port].optical_switch = -1;
		}
		if (fixed == c->n_links)
			c->n_switches = 0;
		assert_int_equal(to_cross_connects_fill(plan, NULL), 0);
		r = replan(plan, &after, &options);
		check_decision(&r, &options);
		check_plan(plan, &r);
		if (fixed == c->n_links) {
			assert_int_equal(r.n_choices, 2);
			assert_int_not_equal(r.action, TO_REPLAN_REWIRE);
		}
		for (unsigned int i = 0; r.plan && i < c->n_links; i++) {
			struct to_port_ref a = c->links[i].a, b = c->links[i].b, peer;

			if (c->servers[a.server].ports[a.port].optical_switch >= 0)
				continue;
			assert_int_equal(to_plan_peer(r.plan, a, &peer), 0);
			assert_memory_equal(&peer, &b, sizeof(b));
		}
		to_plan_free(r.plan);
		to_plan_free(plan);
		free(before.bytes);
		free(after.bytes);
	}
}

static void same_inputs_same_bytes(void **state)
{
	struct to_traffic before = pairs(13, 1, 60 * MIB), after = pairs(13, 4, 60 * MIB);
	struct to_plan *plan = planned(job_of(&before), 4, TO_LINKS_DUPLEX);
	struct to_replan_options options = TO_REPLAN_DEFAULTS;

	(void)state;
	options.topology_finder = options.predict = true;
	for (options.horizon = 0.001; options.horizon < 20; options.horizon *= 10000) {
		struct to_replan_result one = replan(plan, &after, &options);
		struct to_replan_result two = replan(plan, &after, &options);
		char *first = text_of(one.plan), *second = text_of(two.plan);

		assert_string_equal(first, second);
		assert_string_equal(one.reason, two.reason);
		free(first);
		free(second);
		to_plan_free(one.plan);
		to_plan_free(two.plan);
	}
	to_plan_free(plan);
	free(before.bytes);
	free(after.bytes);
}

/* TopologyFinder moves all ports, so where one is on no switch it has no links. */
static void a_source_without_links_says_why(void **state)
{
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_traffic before = pairs(12, 1, 60 * MIB), after = pairs(12, 4, 60 * MIB);
	struct to_plan *plan = planned(job_of(&before), 4, TO_LINKS_DUPLEX);
	struct to_link *l = &plan->cluster->links[0];
	struct to_replan_result r;
	json_t *json;

	(void)state;
	plan->cluster->servers[l->a.server].ports[l->a.port].optical_switch = -1;
	plan->cluster->servers[l->b.server].ports[l->b.port].optical_switch = -1;
	assert_int_equal(to_cross_connects_fill(plan, NULL), 0);
	options.topology_finder = true;
	r = replan(plan, &after, &options);
	assert_null(choice_of(&r, TO_REPLAN_FINDER));
	assert_int_equal(r.n_none, 1);
	assert_int_equal(r.none[0].source, TO_REPLAN_FINDER);
	assert_non_null(strstr(r.none[0].why.text, " is on no optical switch"));
	json = to_replan_json(&r);
	assert_int_equal(json_array_size(json_object_get(json, "none")), 1);
	json_decref(json);
	to_plan_free(r.plan);
	to_plan_free(plan);
	free(before.bytes);
	free(after.bytes);
}

static void no_traffic_changes_nothing(void **state)
{
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_traffic before = pairs(12, 1, 60 * MIB), none = traffic_new(12, 0.05);
	struct to_plan *plan = planned(job_of(&before), 4, TO_LINKS_DUPLEX);
	struct to_replan_result r;

	(void)state;
	r = replan(plan, &none, &options);
	assert_int_equal(r.action, TO_REPLAN_KEEP);
	assert_string_equal(r.reason, "no traffic");
	to_plan_free(plan);
	free(before.bytes);
	free(none.bytes);
}

/* The plan made for the traffic stays, and not because a change pays back late. */
static void what_is_best_already_is_kept(void **state)
{
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_traffic traffic = pairs(12, 1, 60 * MIB);
	struct to_plan *plan = planned(job_of(&traffic), 4, TO_LINKS_DUPLEX);
	struct to_replan_result r;

	(void)state;
	options.threshold = 0;
	r = replan(plan, &traffic, &options);
	assert_int_equal(r.action, TO_REPLAN_KEEP);
	assert_string_equal(r.reason, "nothing saves communication time");
	to_plan_free(plan);
	free(traffic.bytes);
}

static void refused(const struct to_plan *plan, const struct to_traffic *t, const char *why)
{
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_replan_result result;
	struct to_error err = { "" };

	assert_int_equal(to_replan(plan, t, &options, &result, &err), -EINVAL);
	assert_string_equal(err.text, why);
	assert_null(result.plan);
}

static void what_is_not_in_force_is_refused(void **state)
{
	struct to_traffic t = pairs(12, 1, 60 * MIB), other = pairs(11, 1, 60 * MIB);
	struct to_plan *plan = planned(job_of(&t), 4, TO_LINKS_DUPLEX);
	unsigned int a = plan->cross_connects[0].a;

	(void)state;
	refused(plan, &other, "traffic of 11 servers, the plan has 12");
	plan->cross_connects[0].a = plan->cross_connects[1].a;
	refused(plan, &t, "links, cross_connects: port 10 of optical switch ocs0 is on two cross-connects");
	plan->cross_connects[0].a = a;
	plan->n_cross_connects--;
	refused(plan, &t, "links, cross_connects: a link needs ports 28 and 32 of optical switch ocs0 joined, and they are not");
	to_plan_free(plan);
	free(t.bytes);
	free(other.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shifted_pairs_are_rewired),
		cmocka_unit_test(any_traffic),
		cmocka_unit_test(odd_servers_on_four_switches_are_rewired),
		cmocka_unit_test(any_switches),
		cmocka_unit_test(pairs_leave_ports_for_the_rest),
		cmocka_unit_test(what_moves_less_is_routed_first),
		cmocka_unit_test(steady_traffic_is_kept),
		cmocka_unit_test(the_same_again_moves_nothing),
		cmocka_unit_test(horizon_must_cover_the_price),
		cmocka_unit_test(darkness_costs_what_it_slows),
		cmocka_unit_test(all_links_take_steps),
		cmocka_unit_test(allreduce_is_recognised),
		cmocka_unit_test(fixed_links_stay),
		cmocka_unit_test(same_inputs_same_bytes),
		cmocka_unit_test(a_source_without_links_says_why),
		cmocka_unit_test(no_traffic_changes_nothing),
		cmocka_unit_test(what_is_best_already_is_kept),
		cmocka_unit_test(what_is_not_in_force_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
