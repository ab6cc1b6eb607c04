// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the closed loop loses to somebody who knows the future, on traffic that imitates
 * training jobs, drawn from seeds.
 *
 *	loop FILE [SEED [NAME]]
 *
 * Every interval is priced by the tables of the plan in force, every change by what the
 * loop takes it to cost. The oracle has the same candidates from the beginning, and
 * dynamic programming over all intervals; its changes cost --change-cost alone, not
 * what is lost in the dark. FILE gets a JSON array with an object per scenario:
 *
 *	name, servers, seconds, seed
 *	loop_s, oracle_s, never_s: busy seconds of the loop, of the oracle, of the first
 *	plan alone; changes, oracle_changes; regret: (loop - oracle) / oracle
 *	saved: of each change the share of the busy time, predicted and realised
 *	over_time: busy seconds after every second: loop, never, and least, of the best
 *	candidate for each interval, without the price of changes
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "control/candidates.h"
#include "data/allreduce.h"
#include "plan/planner.h"

#define DEGREE 4
#define BANDWIDTH 100000000000
#define INTERVAL 0.05
#define INTERVALS 2400
#define PATTERNS 6
#define PLANS_MAX 512
#define SECOND 20		/* intervals */

enum pattern { NONE, UNIFORM, PAIRS, SHIFT, RINGS, EXPERTS, STORAGE, ELEPHANT, FAR };

/* How much of each pattern there is in interval @t. */
typedef void weights(unsigned int t, unsigned int period, double *w);

static void steady(unsigned int t, unsigned int period, double *w)
{
	(void)t;
	(void)period;
	w[0] = 1;
}

/* MP transfers and AllReduce of an iteration, one after the other. */
static void iteration(unsigned int t, unsigned int period, double *w)
{
	w[t % period < period * 5 / 8 ? 0 : 1] = 1;
}

static void step(unsigned int t, unsigned int period, double *w)
{
	w[t < period ? 0 : 1] = 1;
}

static void step_iteration(unsigned int t, unsigned int period, double *w)
{
	w[t % 8 >= 5 ? 1 : t < period ? 0 : 2] = 1;
}

static void burst(unsigned int t, unsigned int period, double *w)
{
	w[0] = 1;
	w[1] = t % period >= period - 2 ? 1.5 : 0;
}

static void longer_burst(unsigned int t, unsigned int period, double *w)
{
	w[0] = 1;
	w[1] = t % period >= period - 3 ? 1.5 : 0;
}

static void added(unsigned int t, unsigned int period, double *w)
{
	w[0] = t < period ? 1 : 0.72;
	w[1] = t < period ? 0 : 0.28;
}

static void mixed(unsigned int t, unsigned int period, double *w)
{
	w[0] = 0.8;
	w[t < period ? 1 : 2] = 0.2;
}

/* One after the other, never one twice. */
static void turns(unsigned int t, unsigned int period, double *w)
{
	w[t / period % PATTERNS] = 1;
}

static void diurnal(unsigned int t, unsigned int period, double *w)
{
	w[0] = (1 + cos(2 * M_PI * t / period)) / 2;
	w[1] = 1 - w[0];
}

static void oscillation(unsigned int t, unsigned int period, double *w)
{
	w[t / (period / 2) % 2] = 1;
}

static void checkpoint(unsigned int t, unsigned int period, double *w)
{
	w[0] = 1;
	w[1] = t % period >= period - 3 * SECOND ? 0.5 : 0;
}

static void drift(unsigned int t, unsigned int period, double *w)
{
	w[1] = t < period ? 0 : fmin((double)(t - period) / (60 * SECOND), 1);
	w[0] = 1 - w[1];
}

static void pauses(unsigned int t, unsigned int period, double *w)
{
	w[t < INTERVALS / 2 ? 0 : 1] = t / period % 2 ? 0 : 1;
}

/* Little traffic, all of it between two servers. */
static void lull(unsigned int t, unsigned int period, double *w)
{
	w[0] = t < period ? 1 : 0;
	w[1] = t < period ? 0 : 0.03;
}

/**
 * struct scenario - traffic over two minutes
 * @patterns: the first plan is for @patterns[0], and [1] where @both
 */
struct scenario {
	const char *name;
	weights *weights;
	unsigned int n, period;
	bool both;
	enum pattern patterns[PATTERNS];
};

static const struct scenario scenarios[] = {
	{ "steady all-to-all", steady, 16, 1, false, { UNIFORM } },
	{ "steady DLRM", iteration, 16, 8, true, { UNIFORM, RINGS } },
	{ "steady DLRM", iteration, 32, 8, true, { UNIFORM, RINGS } },
	{ "pipeline shifts", step, 16, 30 * SECOND, false, { SHIFT, SHIFT } },
	{ "pipeline shifts", step, 32, 30 * SECOND, false, { SHIFT, SHIFT } },
	{ "DLRM, tables move", step_iteration, 16, 40 * SECOND, true, { PAIRS, RINGS, PAIRS } },
	{ "DLRM, tables move", step_iteration, 32, 40 * SECOND, true, { PAIRS, RINGS, PAIRS } },
	{ "hot pairs move", step, 16, 20 * SECOND, false, { PAIRS, PAIRS } },
	{ "hot pairs move", step, 32, 20 * SECOND, false, { PAIRS, PAIRS } },
	{ "bursts of 100 ms every 5 s", burst, 16, 5 * SECOND, false, { PAIRS, PAIRS } },
	{ "bursts of 100 ms every 10 s", burst, 16, 10 * SECOND, false, { UNIFORM, PAIRS } },
	{ "bursts of 150 ms every 20 s", longer_burst, 16, 20 * SECOND, false, { PAIRS, PAIRS } },
	{ "bursts of 100 ms every 5 s", burst, 32, 5 * SECOND, true, { RINGS, PAIRS } },
	{ "one elephant", added, 16, 20 * SECOND, false, { UNIFORM, ELEPHANT } },
	{ "one elephant", added, 32, 20 * SECOND, false, { PAIRS, ELEPHANT } },
	{ "28 % to far pairs", added, 16, 20 * SECOND, false, { UNIFORM, FAR } },
	{ "28 % to far pairs", added, 32, 20 * SECOND, false, { RINGS, FAR } },
	{ "AllReduce and hot pairs", mixed, 32, 30 * SECOND, true, { RINGS, PAIRS, PAIRS } },
	{ "AllReduce, 20 % elsewhere", mixed, 32, 1, true, { RINGS, UNIFORM, PAIRS } },
	{ "MoE, new experts every 4 s", turns, 16, 4 * SECOND, false,
	  { EXPERTS, EXPERTS, EXPERTS, EXPERTS, EXPERTS, EXPERTS } },
	{ "MoE, new experts every 20 s", turns, 16, 20 * SECOND, false,
	  { EXPERTS, EXPERTS, EXPERTS, EXPERTS, EXPERTS, EXPERTS } },
	{ "MoE, new experts every 20 s", turns, 32, 20 * SECOND, false,
	  { EXPERTS, EXPERTS, EXPERTS, EXPERTS, EXPERTS, EXPERTS } },
	{ "diurnal, 60 s", diurnal, 16, 60 * SECOND, false, { PAIRS, PAIRS } },
	{ "diurnal, 60 s", diurnal, 32, 60 * SECOND, false, { UNIFORM, PAIRS } },
	{ "oscillation, 0.5 s", oscillation, 16, SECOND / 2, false, { PAIRS, PAIRS } },
	{ "oscillation, 2.5 s", oscillation, 16, 5 * SECOND / 2, false, { PAIRS, PAIRS } },
	{ "oscillation, 5 s", oscillation, 16, 5 * SECOND, false, { PAIRS, PAIRS } },
	{ "oscillation, 10 s", oscillation, 16, 10 * SECOND, false, { PAIRS, PAIRS } },
	{ "oscillation, 10 s", oscillation, 32, 10 * SECOND, false, { PAIRS, UNIFORM } },
	{ "checkpoint of 3 s every 30 s", checkpoint, 16, 30 * SECOND, false, { PAIRS, STORAGE } },
	{ "checkpoint of 3 s every 60 s", checkpoint, 32, 60 * SECOND, true, { RINGS, STORAGE } },
	{ "drift over 60 s", drift, 16, 20 * SECOND, false, { PAIRS, PAIRS } },
	{ "drift over 60 s", drift, 32, 20 * SECOND, false, { UNIFORM, PAIRS } },
	{ "jobs change every 20 s", turns, 16, 20 * SECOND, false,
	  { PAIRS, SHIFT, UNIFORM, RINGS, PAIRS, EXPERTS } },
	{ "jobs change every 20 s", turns, 32, 20 * SECOND, false,
	  { PAIRS, SHIFT, UNIFORM, RINGS, PAIRS, EXPERTS } },
	{ "pauses of 5 s", pauses, 16, 5 * SECOND, false, { PAIRS, PAIRS } },
	{ "a lull, two servers busy", lull, 16, 20 * SECOND, false, { UNIFORM, ELEPHANT } },
};

/**
 * struct scene - a scenario at work
 * @pattern: shares, n x n, sum 1 each
 * @volume: bytes in an interval
 * @plans: all candidates that there ever were
 * @over_time: loop, never, least
 */
struct scene {
	const struct scenario *scenario;
	unsigned int n;
	uint64_t random;
	double *pattern[PATTERNS], volume;
	struct to_plan *first;
	struct to_busy_time plans[PLANS_MAX];
	unsigned int ids[PLANS_MAX], n_plans;
	json_t *over_time[3];
};

/* ---- traffic ---- */

static void shuffle(struct scene *s, uint32_t *order)
{
	for (uint32_t i = 0; i < s->n; i++)
		order[i] = i;
	for (uint32_t i = s->n - 1; i; i--) {
		const uint32_t k = to_random_below(&s->random, i + 1), other = order[i];

		order[i] = order[k];
		order[k] = other;
	}
}

static void draw(struct scene *s, enum pattern pattern, unsigned int turn, double *m)
{
	const unsigned int n = s->n;
	uint32_t order[1024];
	double sum = 0;

	shuffle(s, order);
	for (unsigned int i = 0; i < n; i++) {
		const unsigned int x = order[i], y = order[i ^ 1];

		for (unsigned int k = 0; k < n; k++)
			m[i * n + k] += i == k ? 0 : pattern == UNIFORM ? 1 : 0.1 / n;
		if (pattern == PAIRS)
			m[x * n + y] += 1;
		if (pattern == SHIFT)
			m[i * n + (i + 1 + 2 * turn) % n] += 1;
		if (pattern == STORAGE && i != 0 && i != 1)
			m[i * n + i % 2] += 1;
		if (pattern == EXPERTS)
			for (unsigned int k = 0; k < 4; k++)
				m[x * n + order[(i + 1 + k * (1 + turn)) % n]] += x != order[(i + 1 + k * (1 + turn)) % n];
		if (pattern == FAR && i < 4)
			m[x * n + order[i + 4]] += 1;
	}
	if (pattern == ELEPHANT)
		m[order[0] * n + order[1]] += 2;
	for (unsigned int i = 0; i < n * n; i++)
		sum += m[i];
	for (unsigned int i = 0; i < n * n; i++)
		m[i] /= sum;
}

/* AllReduce as the rings of the first plan send it. */
static void draw_rings(struct scene *s, double *m)
{
	const struct to_rings rings = to_allreduce_of(s->first);
	uint64_t *bytes = calloc((size_t)s->n * s->n, sizeof(*bytes));
	double sum = 0;

	to_allreduce_add(&rings, 1, bytes);
	for (unsigned int i = 0; i < s->n * s->n; i++)
		sum += bytes[i];
	for (unsigned int i = 0; i < s->n * s->n; i++)
		m[i] = sum > 0 ? bytes[i] / sum : 0;
	free(bytes);
}

static struct to_traffic interval(struct scene *s, unsigned int t)
{
	const size_t cells = (size_t)s->n * s->n;
	struct to_traffic traffic = {
		.n = s->n, .bytes = calloc(cells, sizeof(uint64_t)),
		.tcp = calloc(cells, sizeof(uint64_t)), .seconds = INTERVAL,
	};
	double w[PATTERNS] = { 0 };

	s->scenario->weights(t, s->scenario->period, w);
	for (size_t i = 0; i < cells; i++) {
		double bytes = 0;

		for (unsigned int p = 0; p < PATTERNS; p++)
			bytes += w[p] ? w[p] * s->pattern[p][i] : 0;
		traffic.bytes[i] = bytes * s->volume *
				   (0.9 + 0.2 * to_random_below(&s->random, 1001) / 1000);
	}
	return traffic;
}

static struct to_plan *first_plan(struct scene *s)
{
	const struct to_planner_knobs options = { .effort = TO_EFFORT_MIN, .seed = 1 };
	struct to_demand *demand = calloc(1, sizeof(*demand));
	struct to_error err = { "" };
	struct to_cluster *cluster = to_cluster_synthetic(s->n, DEGREE, BANDWIDTH, TO_LINKS_DUPLEX,
							  &err);
	struct to_plan *plan;
	bool rings = false;

	for (unsigned int p = 0; p < PATTERNS; p++)
		rings |= s->scenario->patterns[p] == RINGS;
	demand->n = s->n;
	demand->mp = calloc((size_t)s->n * s->n, sizeof(*demand->mp));
	demand->groups = calloc(1, sizeof(*demand->groups));
	if (rings) {
		demand->n_groups = 1;
		demand->groups[0].n_members = s->n;
		demand->groups[0].members = calloc(s->n, sizeof(uint32_t));
		demand->groups[0].bytes = s->volume / s->n / 2;
		for (unsigned int i = 0; i < s->n; i++)
			demand->groups[0].members[i] = i;
	}
	for (unsigned int p = 0; p <= s->scenario->both; p++)
		for (unsigned int i = 0; s->pattern[p] && i < s->n * s->n; i++)
			demand->mp[i] += s->pattern[p][i] * s->volume;
	for (unsigned int i = 0; i < cluster->n_switches; i++)
		cluster->switches[i].reconfiguration_ns = 25000000;
	plan = to_planner_make(cluster, demand, &options, &err);
	if (!plan)
		fprintf(stderr, "loop: %s\n", err.text);
	return plan;
}

/* ---- the loop, and who knows better ---- */

static void remember(struct scene *s, const struct to_candidates *c)
{
	for (unsigned int k = 0; k < c->regret.n; k++) {
		unsigned int i = 0;

		while (i < s->n_plans && s->ids[i] != c->candidate[k].id)
			i++;
		if (i < s->n_plans || i == PLANS_MAX ||
		    to_busy_time_init(&s->plans[i], c->candidate[k].busy.plan))
			continue;
		s->ids[s->n_plans++] = c->candidate[k].id;
	}
}

static json_t *outcome(const struct to_candidates *c)
{
	return json_pack("[f, f]", c->outcome.predicted, 1 - c->outcome.spent / c->outcome.kept);
}

/* Busy seconds of the loop with its changes. */
static double loop(struct scene *s, double *change_cost, unsigned int *changes, json_t *saved)
{
	const struct to_candidates_config config = TO_CANDIDATES_DEFAULTS;
	struct to_error err = { "" };
	enum to_shift_verdict verdict;
	struct to_candidates c;
	double seconds = 0;

	if (to_candidates_init(&c, &config, s->first))
		return NAN;
	*change_cost = c.config.change_cost;
	for (unsigned int t = 0; t < INTERVALS; t++) {
		struct to_traffic traffic = interval(s, t);
		unsigned int to;

		if (to_candidates_observe(&c, &traffic, &verdict))
			return NAN;
		seconds += c.intervals[c.n_intervals - 1].cost[c.regret.at];
		if (t % SECOND == 0)
			json_array_append_new(s->over_time[0], json_real(seconds));
		if (verdict != TO_SHIFT_NONE && to_candidates_plan(&c, &err) < 0)
			fprintf(stderr, "loop: %s: %s\n", s->scenario->name, err.text);
		remember(s, &c);
		to = to_candidates_choose(&c);
		if (to == c.regret.at)
			continue;
		if (c.outcome.since && c.outcome.kept > 0)
			json_array_append_new(saved, outcome(&c));
		seconds += c.regret.price[c.regret.at][to];
		(*changes)++;
		to_candidates_moved(&c, to);
	}
	if (c.outcome.since && c.outcome.kept > 0)
		json_array_append_new(saved, outcome(&c));
	to_candidates_free(&c);
	return seconds;
}

/* The best that changes between all plans could have done. */
static double oracle(struct scene *s, double change_cost, unsigned int *changes, double *never)
{
	const unsigned int n = s->n_plans;
	double *least = calloc(n, sizeof(*least)), best = INFINITY, sum = 0;
	unsigned int *count = calloc(n, sizeof(*count));

	for (unsigned int k = 1; k < n; k++)
		least[k] = INFINITY;
	*never = 0;
	for (unsigned int t = 0; t < INTERVALS; t++) {
		struct to_traffic traffic = interval(s, t);
		struct to_demand *demand = NULL;
		unsigned int from = 0;
		double seconds, one = INFINITY;

		for (unsigned int k = 1; k < n; k++)
			from = least[k] < least[from] ? k : from;
		best = least[from] + change_cost;
		to_traffic_demand(&traffic, s->first, &demand);
		for (unsigned int k = 0; k < n; k++) {
			if (t && best < least[k]) {
				least[k] = best;
				count[k] = count[from] + 1;
			}
			to_busy_time_of(&s->plans[k], demand, NULL, &seconds);
			least[k] += seconds;
			*never += k ? 0 : seconds;
			one = fmin(one, seconds);
		}
		sum += one;
		if (t % SECOND == 0) {
			json_array_append_new(s->over_time[1], json_real(*never));
			json_array_append_new(s->over_time[2], json_real(sum));
		}
		to_demand_free(demand);
		to_traffic_free(&traffic);
	}
	best = INFINITY;
	for (unsigned int k = 0; k < n; k++) {
		if (least[k] < best) {
			best = least[k];
			*changes = count[k];
		}
	}
	free(least);
	free(count);
	return best;
}

static json_t *play(const struct scenario *scenario, uint64_t seed)
{
	struct scene s = { .scenario = scenario, .n = scenario->n, .random = seed };
	json_t *saved = json_array(), *row;
	double seconds, best, never, cost = 0;
	unsigned int changes = 0, better = 0;
	uint64_t noise;

	s.volume = 0.2 * s.n * DEGREE * BANDWIDTH / 8 * INTERVAL;
	for (unsigned int p = 0; p < PATTERNS; p++) {
		if (scenario->patterns[p] == NONE || scenario->patterns[p] == RINGS)
			continue;
		s.pattern[p] = calloc((size_t)s.n * s.n, sizeof(double));
		draw(&s, scenario->patterns[p], p, s.pattern[p]);
	}
	s.first = first_plan(&s);
	if (!s.first)
		return NULL;
	for (unsigned int p = 0; p < PATTERNS; p++) {
		if (scenario->patterns[p] != RINGS)
			continue;
		s.pattern[p] = calloc((size_t)s.n * s.n, sizeof(double));
		draw_rings(&s, s.pattern[p]);
	}
	for (unsigned int i = 0; i < 3; i++)
		s.over_time[i] = json_array();
	noise = s.random;
	seconds = loop(&s, &cost, &changes, saved);
	s.random = noise;
	best = oracle(&s, cost, &better, &never);
	row = json_pack("{s:s s:i s:f s:I s:f s:f s:f s:i s:i s:f s:f s:i s:o s:{s:o s:o s:o}}", "name",
			scenario->name, "servers", s.n, "seconds", INTERVALS * INTERVAL, "seed",
			(json_int_t)seed, "loop_s", seconds, "oracle_s", best, "never_s", never,
			"changes", changes, "oracle_changes", better, "regret",
			(seconds - best) / best, "change_cost_s", cost, "candidates", s.n_plans,
			"saved", saved, "over_time", "loop", s.over_time[0], "never",
			s.over_time[1], "least", s.over_time[2]);
	printf("%-30s %3u %7.2f %7.2f %7.2f %8.1f %% %8.1f %% %4u %4u %4u\n", scenario->name, s.n,
	       seconds, best, never, 100 * (seconds - best) / best, 100 * (never - best) / best,
	       changes, better, s.n_plans);
	fflush(stdout);
	for (unsigned int k = 0; k < s.n_plans; k++)
		to_busy_time_free(&s.plans[k]);
	for (unsigned int p = 0; p < PATTERNS; p++)
		free(s.pattern[p]);
	to_plan_free(s.first);
	return row;
}

/* CPU milliseconds that an interval of @n servers takes, with a change to be considered. */
static double cost_of_interval(unsigned int n, double *look)
{
	const struct scenario scenario = { "", steady, n, 1, false, { UNIFORM } };
	const struct to_candidates_config config = TO_CANDIDATES_DEFAULTS;
	struct scene s = { .scenario = &scenario, .n = n, .random = n };
	struct to_error err = { "" };
	enum to_shift_verdict verdict;
	struct to_candidates c;
	clock_t start, spent = 0;
	const unsigned int times = 5;

	s.volume = 0.2 * n * DEGREE * BANDWIDTH / 8 * INTERVAL;
	s.pattern[0] = calloc((size_t)n * n, sizeof(double));
	draw(&s, UNIFORM, 0, s.pattern[0]);
	s.first = first_plan(&s);
	memset(s.pattern[0], 0, (size_t)n * n * sizeof(double));
	draw(&s, PAIRS, 0, s.pattern[0]);
	if (!s.first || to_candidates_init(&c, &config, s.first))
		return NAN;
	for (unsigned int i = 0; i < 2 * times; i++) {
		struct to_traffic traffic = interval(&s, i);

		start = clock();
		to_candidates_observe(&c, &traffic, &verdict);
		spent += i < times ? 0 : clock() - start;
		if (i + 1 != times)
			continue;
		start = clock();
		if (to_candidates_plan(&c, &err) < 0)
			fprintf(stderr, "loop: %s\n", err.text);
		*look = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
	}
	to_candidates_free(&c);
	to_plan_free(s.first);
	free(s.pattern[0]);
	return (double)spent * 1e3 / CLOCKS_PER_SEC / times;
}

/* ---- all of them ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void summary(const json_t *rows)
{
	const size_t n = json_array_size(rows);
	double *regret = calloc(n + 1, sizeof(*regret)), mean = 0, loop_s = 0, oracle_s = 0, never = 0;
	double beyond = -INFINITY, apart = 0, seconds = 0, predicted = 0, realised = 0;
	unsigned int changes = 0, saved = 0;
	json_t *row, *pair;
	size_t i, k;

	json_array_foreach(rows, i, row) {
		const double spent = json_number_value(json_object_get(row, "loop_s"));
		const double kept = json_number_value(json_object_get(row, "never_s"));
		const double cost = json_number_value(json_object_get(row, "change_cost_s"));

		regret[i] = json_number_value(json_object_get(row, "regret"));
		mean += regret[i] / n;
		loop_s += spent;
		never += kept;
		oracle_s += json_number_value(json_object_get(row, "oracle_s"));
		seconds += json_number_value(json_object_get(row, "seconds"));
		changes += json_integer_value(json_object_get(row, "changes"));
		beyond = fmax(beyond, (spent - cost) / kept - 1);
		json_array_foreach(json_object_get(row, "saved"), k, pair) {
			const double p = json_number_value(json_array_get(pair, 0));
			const double r = json_number_value(json_array_get(pair, 1));

			predicted += p;
			realised += r;
			apart += fabs(p - r);
			saved++;
		}
	}
	qsort(regret, n, sizeof(*regret), compare);
	printf("\nbusy seconds: loop %.0f, oracle %.0f, never changing %.0f\n"
	       "regret over the oracle: median %.1f %%, mean %.1f %%, worst %.1f %%\n"
	       "beyond never changing and the price of one change: %.2f %% at worst\n"
	       "changes: %u, %.2f a minute\n"
	       "saving of a change: predicted %.0f %%, realised %.0f %%; apart by %.0f points in the mean\n",
	       loop_s, oracle_s, never, 100 * regret[n / 2], 100 * mean, 100 * regret[n - 1],
	       100 * beyond, changes, changes * 60 / seconds, 100 * predicted / (saved ? saved : 1),
	       100 * realised / (saved ? saved : 1), 100 * apart / (saved ? saved : 1));
	free(regret);
}

int main(int argc, char **argv)
{
	const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	json_t *rows = json_array();
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: loop FILE [SEED [NAME]]\n");
		return 2;
	}
	printf("%-30s %3s %7s %7s %7s %10s %10s %4s %4s %s\n", "busy seconds of 120", "N", "loop",
	       "oracle", "never", "regret", "never's", "chg", "orc", "plans");
	for (unsigned int i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		json_t *row;

		if (argc > 3 && strcmp(argv[3], scenarios[i].name))
			continue;
		row = play(&scenarios[i], seed * 1000 + i);
		if (!row)
			return 1;
		json_array_append_new(rows, row);
	}
	summary(rows);
	for (unsigned int n = 128; n <= 1024 && argc < 4; n *= 8) {
		double look, each = cost_of_interval(n, &look);

		printf("%u servers: %.1f ms of CPU for an interval, %.0f ms to plan for others\n", n, each,
		       look);
	}
	ret = json_dump_file(rows, argv[1], JSON_INDENT(1)) ? 1 : 0;
	json_decref(rows);
	return ret;
}
