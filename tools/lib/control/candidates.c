// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/candidates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "measure/phases.h"
#include "plan/rewire_steps.h"

#define CANDIDATES_MEMORY (256u << 20)	/* bytes of matrices that are remembered */
#define CANDIDATES_INTERVALS 256	/* and so many of them at most */
#define CANDIDATES_REROUTE 0.05		/* seconds lost by flows that change their path */
#define CANDIDATES_LEAST 0.25		/* seconds that a change of links costs at least */
#define CANDIDATES_NEW 3		/* that a look at the traffic makes, at most */
#define CANDIDATES_BETTER 0.05		/* share of the busy time that one must save */
#define CANDIDATES_WORK 5e7		/* bytes added to links when plans are compared */
#define CANDIDATES_PRICED 2.5e7		/* the same of an interval: fewer candidates of many servers */
#define CANDIDATES_SMALL 256		/* servers up to which phases are planned for */
#define CANDIDATES_COMMON 0.1		/* share of the busy time of a phase that is */
#define CANDIDATES_HORIZON 1e6		/* seconds: what counts is the busy time alone */
#define CANDIDATES_FADE 10		/* memories in which what was saved fades */
#define CANDIDATES_LIKELY 0.5		/* share of what must be lost before a change */
#define CANDIDATES_NEWER 32		/* intervals since planning began that are priced at its end */
#define CANDIDATES_POOL (TO_REPLAN_SOURCES * (TO_PHASES_MAX + 3))

/* Seconds: what the slowest switch takes, as slow ones are those that wear out; 0.25 at least. */
static double candidates_change_cost(const struct to_cluster *cluster)
{
	double cost = CANDIDATES_LEAST;

	for (unsigned int i = 0; i < cluster->n_switches; i++)
		cost = fmax(cost, cluster->switches[i].reconfiguration_ns * 1e-9);
	return cost;
}

static const struct to_plan *candidates_at(const struct to_candidates *c)
{
	return c->candidate[c->regret.at].busy.plan;
}

static size_t candidates_cells(const struct to_candidates *c)
{
	const size_t n = candidates_at(c)->cluster->n_servers;

	return n * n;
}

/* ---- start and end ---- */

/* What the first plan promised for its own job; the bound itself where it has none. */
static int candidates_promise(struct to_candidates_plan *first)
{
	const struct to_plan *plan = first->busy.plan;
	const struct to_rings rings = to_allreduce_of(plan);
	const size_t cells = (size_t)plan->demand->n * plan->demand->n;
	uint64_t *bytes = malloc(cells * sizeof(*bytes) + 1);
	double seconds, bound;
	int ret;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, plan->demand->mp, cells * sizeof(*bytes));
	to_allreduce_add(&rings, 1, bytes);
	bound = to_busy_time_bound(plan->cluster, bytes);
	free(bytes);
	ret = to_busy_time_of(&first->busy, plan->demand, NULL, &seconds);
	first->promise = bound > 0 && seconds > bound ? seconds / bound : 1;
	return ret;
}

int to_candidates_init(struct to_candidates *c, const struct to_candidates_config *config,
		       const struct to_plan *plan)
{
	size_t room;
	int ret;

	*c = (struct to_candidates){ .config = *config, .next_id = 1, .dark = -1 };
	to_regret_init(&c->regret);
	if (config->change_cost < 0)
		c->config.change_cost = candidates_change_cost(plan->cluster);
	c->candidate[0].source = "first";
	ret = to_busy_time_init(&c->candidate[0].busy, plan);
	ret = ret ? ret : candidates_promise(&c->candidate[0]);
	if (ret)
		return ret;
	room = CANDIDATES_MEMORY / (3 * sizeof(uint64_t) * (candidates_cells(c) + 1));
	c->room = room < 2 ? 2 : room < CANDIDATES_INTERVALS ? room : CANDIDATES_INTERVALS;
	c->intervals = calloc(c->room, sizeof(*c->intervals));
	to_shift_init(&c->shift, c->candidate[0].promise, c->config.change_cost / 2,
		      config->memory_ns * 1e-9);
	return c->intervals ? 0 : -ENOMEM;
}

static void candidates_forget(struct to_candidates_interval *interval)
{
	to_traffic_free(&interval->traffic);
	to_demand_free(interval->demand);
}

void to_candidates_free(struct to_candidates *c)
{
	for (unsigned int i = 0; i < c->n_intervals; i++)
		candidates_forget(&c->intervals[i]);
	free(c->intervals);
	for (unsigned int k = 0; k < TO_REGRET_MAX; k++)
		to_busy_time_free(&c->candidate[k].busy);
	*c = (struct to_candidates){ 0 };
}

/* The oldest @n go. */
static void candidates_forget_first(struct to_candidates *c, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (i < c->n_lent)
			c->kept[c->n_kept++] = c->intervals[i];
		else
			candidates_forget(&c->intervals[i]);
	}
	c->n_lent -= n < c->n_lent ? n : c->n_lent;
	c->n_intervals -= n;
	memmove(c->intervals, c->intervals + n, c->n_intervals * sizeof(*c->intervals));
}

/* ---- what each interval costs ---- */

/* Make room for one more interval, and forget those that are too old. */
static void candidates_age(struct to_candidates *c)
{
	double seconds = 0;
	unsigned int first = c->n_intervals;

	while (first && c->n_intervals - first < c->room - 1 &&
	       seconds < c->config.memory_ns * 1e-9)
		seconds += c->intervals[--first].traffic.seconds;
	candidates_forget_first(c, first);
}

/* What candidate @which of @n saves over the best of all others, if it does. */
static double candidates_saving(const double *cost, unsigned int which, unsigned int n)
{
	double least = INFINITY;

	for (unsigned int k = 0; k < n; k++)
		least = k == which ? least : fmin(least, cost[k]);
	return n > 1 ? fmax(least - cost[which], 0) : 0;
}

static void candidates_credit(struct to_candidates *c, const double *cost, double elapsed)
{
	const double fade = exp(-elapsed / (CANDIDATES_FADE * c->config.memory_ns * 1e-9));

	for (unsigned int k = 0; k < c->regret.n; k++)
		c->candidate[k].worth = c->candidate[k].worth * fade +
					candidates_saving(cost, k, c->regret.n);
}

int to_candidates_observe(struct to_candidates *c, struct to_traffic *traffic,
			  enum to_shift_verdict *verdict)
{
	struct to_candidates_interval *interval;
	int ret;

	*verdict = TO_SHIFT_NONE;
	candidates_age(c);
	interval = &c->intervals[c->n_intervals++];
	*interval = (struct to_candidates_interval){ .traffic = *traffic };
	*traffic = (struct to_traffic){ 0 };
	ret = to_traffic_demand(&interval->traffic, candidates_at(c), &interval->demand);
	for (unsigned int k = 0; !ret && k < c->regret.n; k++)
		ret = to_busy_time_of(&c->candidate[k].busy, interval->demand, NULL,
				      &interval->cost[k]);
	if (ret) {
		candidates_forget(interval);
		c->n_intervals--;
		return ret;
	}
	c->outcome.spent += c->outcome.since ? interval->cost[c->regret.at] : 0;
	c->outcome.kept += c->outcome.since ? interval->cost[c->outcome.before] : 0;
	interval->bound = to_busy_time_bound(candidates_at(c)->cluster, interval->traffic.bytes);
	to_regret_observe(&c->regret, interval->cost);
	candidates_credit(c, interval->cost, interval->traffic.seconds);
	memcpy(interval->work, c->regret.work, sizeof(interval->work));
	c->n_same = c->n_same + 1 < c->n_intervals ? c->n_same + 1 : c->n_intervals;
	*verdict = to_shift_observe(&c->shift, interval->cost[c->regret.at], interval->bound,
				    interval->traffic.seconds);
	return 0;
}

/* ---- what could be in force instead ---- */

/**
 * struct pool - plans that may become candidates
 * @source: of the links of each, see to_replan_source_names
 * @compared: indices of intervals
 * @cost: per plan and interval that is compared, seconds
 */
struct pool {
	struct to_busy_time busy[CANDIDATES_POOL];
	const char *source[CANDIDATES_POOL];
	unsigned int n, n_compared, compared[CANDIDATES_INTERVALS];
	double cost[CANDIDATES_POOL][CANDIDATES_INTERVALS];
};

/* Plans for the intervals with @phase, or for all from @first on where @phase is NULL. */
static int candidates_make(struct to_candidates *c, struct pool *pool, unsigned int first,
			   const uint32_t *phase, uint32_t which, struct to_error *err)
{
	const size_t cells = candidates_cells(c);
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_traffic sum = { .n = candidates_at(c)->cluster->n_servers };
	struct to_plan *plans[TO_REPLAN_SOURCES] = { NULL };
	struct to_replan_result result;
	int ret = 0;

	if (c->stop && atomic_load(c->stop))
		return to_error_set(err, -ECANCELED, "told to stop");
	sum.bytes = calloc(cells + 1, sizeof(*sum.bytes));
	sum.tcp = calloc(cells + 1, sizeof(*sum.tcp));
	if (!sum.bytes || !sum.tcp)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = first; !ret && i < c->n_intervals; i++) {
		const struct to_traffic *traffic = &c->intervals[i].traffic;

		if (phase && phase[i] != which)
			continue;
		for (size_t p = 0; p < cells; p++) {
			sum.bytes[p] += traffic->bytes[p];
			sum.tcp[p] += traffic->tcp[p];
		}
		sum.seconds += traffic->seconds;
	}
	options.horizon = CANDIDATES_HORIZON;
	options.dark = c->dark;
	if (!ret)
		ret = to_replan_all(candidates_at(c), &sum, &options, plans, &result, err);
	for (unsigned int s = 0; s < TO_REPLAN_SOURCES; s++) {
		if (plans[s] && !ret && to_busy_time_init(&pool->busy[pool->n], plans[s]))
			ret = to_error_set(err, -ENOMEM, "out of memory");
		else if (plans[s] && !ret)
			pool->source[pool->n++] = to_replan_source_names[s];
		to_plan_free(plans[s]);
	}
	to_traffic_free(&sum);
	return ret;
}

/*
 * Plans for each phase that is common, and for all since the newest one came; @since gets the
 * interval in which it did.
 */
static int candidates_make_phases(struct to_candidates *c, struct pool *pool, unsigned int onset,
				  unsigned int *since, struct to_error *err)
{
	const uint64_t *bytes[CANDIDATES_INTERVALS];
	double distance[CANDIDATES_INTERVALS], busy[TO_PHASES_MAX] = { 0 }, all = 0;
	uint32_t phase[CANDIDATES_INTERVALS];
	unsigned int n, i;
	int ret = 0;

	for (i = 0; i < c->n_intervals; i++)
		bytes[i] = c->intervals[i].traffic.bytes;
	n = to_phases_find(bytes, c->n_intervals, candidates_cells(c), phase, distance);
	*since = to_phases_newest(phase, c->n_intervals);
	if (*since && *since != onset)
		ret = candidates_make(c, pool, *since, NULL, 0, err);
	for (i = 0; i < c->n_intervals; i++) {
		if (phase[i] == UINT32_MAX)
			continue;
		busy[phase[i]] += c->intervals[i].cost[c->regret.at];
		all += c->intervals[i].cost[c->regret.at];
	}
	for (i = 0; !ret && n > 1 && i < n; i++)
		if (busy[i] > CANDIDATES_COMMON * all)
			ret = candidates_make(c, pool, 0, phase, i, err);
	return ret;
}

/* How many intervals can be priced on @plans plans without holding up the loop. */
static unsigned int candidates_affordable(const struct to_candidates *c, unsigned int plans)
{
	const double one = (double)candidates_at(c)->cluster->n_servers *
			   c->candidate[c->regret.at].busy.graph->n_arcs * (plans + 1.0);
	const double most = CANDIDATES_WORK / one;

	return most < 1 ? 1 : most < c->n_intervals ? most : c->n_intervals;
}

/* Price all plans of the pool on intervals spread over the memory, the last one included. */
static int candidates_compare(struct to_candidates *c, struct pool *pool)
{
	const unsigned int n = candidates_affordable(c, pool->n);
	int ret = 0;

	for (unsigned int i = 0; i < n; i++)
		pool->compared[i] = c->n_intervals - 1 - (size_t)i * c->n_intervals / n;
	pool->n_compared = n;
	for (unsigned int k = 0; !ret && k < pool->n; k++)
		for (unsigned int i = 0; !ret && i < n; i++)
			ret = to_busy_time_of(&pool->busy[k], c->intervals[pool->compared[i]].demand,
					      NULL, &pool->cost[k][i]);
	return ret;
}

/*
 * The plan of the pool that saves most over @least from interval @first on; @together with
 * what it is compared with, each interval on the better one. Return: its index, UINT32_MAX
 * when none saves enough.
 */
static unsigned int candidates_best(const struct pool *pool, const double *least,
				    unsigned int first, bool together)
{
	unsigned int best = UINT32_MAX;
	double all = 0, most = 0;

	for (unsigned int i = 0; i < pool->n_compared; i++)
		all += pool->compared[i] >= first ? least[i] : 0;
	for (unsigned int k = 0; k < pool->n; k++) {
		double saved = 0;

		for (unsigned int i = 0; i < pool->n_compared; i++) {
			const double less = least[i] - pool->cost[k][i];

			if (pool->compared[i] >= first && (!together || less > 0))
				saved += less;
		}
		if (saved > most && saved > CANDIDATES_BETTER * all) {
			most = saved;
			best = k;
		}
	}
	return best;
}

/* Price of a change between the plans of @a and @b, under the traffic that is remembered. */
static int candidates_price(const struct to_candidates *c, struct to_busy_time *a,
			    const struct to_busy_time *b, double *price)
{
	const struct to_candidates_interval *last = &c->intervals[c->n_intervals - 1];
	const struct to_cluster *to = b->plan->cluster;
	struct to_change_from from = {
		.cluster = a->plan->cluster, .graph = a->graph, .bytes = last->traffic.bytes,
		.seconds = last->traffic.seconds, .dark = c->dark,
	};
	double *load = calloc(a->graph->n_arcs + 1, sizeof(*load));
	struct to_change_price change = { 0 };
	int ret = load ? to_busy_time_of(a, last->demand, load, &from.busy) : -ENOMEM;

	from.load = load;
	if (!ret)
		ret = to_change_price(&from, to->links, to->n_links, &change);
	*price = change.lost + (change.cut || change.made ? c->config.change_cost :
				fmin(c->config.change_cost, CANDIDATES_REROUTE));
	free(load);
	return ret;
}

/* So many candidates are priced; when all are new but one and the first, that one may go. */
static unsigned int candidates_most(const struct to_candidates *c)
{
	const double one = (double)candidates_at(c)->cluster->n_servers *
			   c->candidate[c->regret.at].busy.graph->n_arcs;
	const double most = fmax(CANDIDATES_PRICED / one, CANDIDATES_NEW + 2);

	return most < TO_REGRET_MAX ? most : TO_REGRET_MAX;
}

/* The candidate that would be missed least makes room. */
static void candidates_evict(struct to_candidates *c, unsigned int below)
{
	unsigned int worst = 0;

	for (unsigned int k = 1; k < below; k++)
		if (k != c->regret.at &&
		    (!worst || c->candidate[k].worth < c->candidate[worst].worth))
			worst = k;
	to_candidates_drop(c, worst);
}

/* Busy time over the bound, of candidate @k in the last @n intervals. */
static double candidates_ratio(const struct to_candidates *c, unsigned int k, unsigned int n)
{
	double seconds = 0, bound = 0;

	if (!n || n > c->n_intervals)
		n = c->n_intervals;
	for (unsigned int i = c->n_intervals - n; i < c->n_intervals; i++) {
		seconds += c->intervals[i].cost[k];
		bound += c->intervals[i].bound;
	}
	return bound > 0 && seconds > bound ? seconds / bound : 1;
}

/* Intervals since the shift, if there is one, or since the newest phase came. */
static unsigned int candidates_lately(const struct to_candidates *c)
{
	const struct to_shift *shift = &c->shift;
	const unsigned int n = shift->excess > shift->limit ? shift->n :
			       shift->relief > shift->limit ? shift->n_relief : c->n_same;

	return n < c->n_intervals ? n : c->n_intervals;
}

/*
 * Take the plan of @busy, which is taken over, in as if it had been there since interval
 * @since: @price of changes to the others, @work after interval @first - 1, from which on
 * it is priced.
 */
static int candidates_enter(struct to_candidates *c, struct to_busy_time *busy,
			    const double *price, double work, unsigned int first,
			    unsigned int since)
{
	const unsigned int n = c->regret.n;
	double worth = 0;
	int ret = 0;

	for (unsigned int i = first; !ret && i < c->n_intervals; i++) {
		struct to_candidates_interval *interval = &c->intervals[i];

		ret = to_busy_time_of(busy, interval->demand, NULL, &interval->cost[n]);
		work = fmin(i < since ? INFINITY : work + interval->cost[n],
			    to_regret_work(&c->regret, interval->work, price));
		interval->work[n] = work;
	}
	if (ret)
		return ret;
	for (unsigned int i = first; i < c->n_intervals; i++)
		worth += candidates_saving(c->intervals[i].cost, n, n + 1);
	to_regret_add(&c->regret, price, work, c->intervals[c->n_intervals - 1].cost[n]);
	c->candidate[n] = (struct to_candidates_plan){ .busy = *busy, .worth = worth };
	*busy = (struct to_busy_time){ 0 };
	return 0;
}

/* Not compared: as the one in force. */
static void candidates_assume(struct to_candidates *c, unsigned int first, unsigned int end,
			      const double *price)
{
	const unsigned int n = c->regret.n;

	for (unsigned int i = first; i < end; i++) {
		struct to_candidates_interval *interval = &c->intervals[i];

		interval->cost[n] = interval->cost[c->regret.at];
		interval->work[n] = to_regret_work(&c->regret, interval->work, price);
	}
}

/* The plan of @busy, which is taken over, becomes a candidate, as of interval @since. */
static int candidates_add(struct to_candidates *c, struct to_busy_time *busy, const char *source,
			  unsigned int pooled, unsigned int since)
{
	const unsigned int n = c->regret.n;
	const unsigned int first = c->n_intervals - candidates_affordable(c, pooled);
	double price[TO_REGRET_MAX] = { 0 }, there, back;
	int ret = 0;

	for (unsigned int k = 0; !ret && k < n; k++) {
		ret = candidates_price(c, &c->candidate[k].busy, busy, &there);
		ret = ret ? ret : candidates_price(c, busy, &c->candidate[k].busy, &back);
		price[k] = ret ? 0 : (there + back) / 2;
	}
	if (ret)
		return ret;
	candidates_assume(c, 0, first + 1, price);
	ret = to_busy_time_of(busy, c->intervals[first].demand, NULL, &c->intervals[first].cost[n]);
	ret = ret ? ret : candidates_enter(c, busy, price, c->intervals[first].work[n], first + 1,
				     since);
	if (ret)
		return ret;
	c->candidate[n].id = c->next_id++;
	c->candidate[n].source = source;
	c->candidate[n].promise = fmin(candidates_ratio(c, n, candidates_lately(c)),
				       candidates_ratio(c, n, 0));
	return 0;
}

/*
 * What the intervals that are compared cost, from interval @first on: on the candidate
 * that is best for all of them, or each on the one that is best for it where @together.
 */
static void candidates_least(const struct to_candidates *c, const struct pool *pool,
			     unsigned int first, bool together, double *least)
{
	unsigned int best = c->regret.at;
	double all[TO_REGRET_MAX] = { 0 };

	for (unsigned int i = 0; i < pool->n_compared; i++)
		for (unsigned int k = 0; pool->compared[i] >= first && k < c->regret.n; k++)
			all[k] += c->intervals[pool->compared[i]].cost[k];
	for (unsigned int k = 0; k < c->regret.n; k++)
		best = all[k] < all[best] ? k : best;
	for (unsigned int i = 0; i < pool->n_compared; i++) {
		const double *cost = c->intervals[pool->compared[i]].cost;

		least[i] = cost[best];
		for (unsigned int k = 0; together && k < c->regret.n; k++)
			least[i] = fmin(least[i], cost[k]);
	}
}

/* The best of the pool become candidates. Return: how many, or -ENOMEM. */
static int candidates_take(struct to_candidates *c, struct pool *pool, unsigned int onset,
			   unsigned int since)
{
	int n = 0;

	/* for what came lately, for all, and for what none of the others is good at */
	for (int round = 0; round < CANDIDATES_NEW; round++) {
		double least[CANDIDATES_INTERVALS];
		unsigned int best;
		int ret;

		candidates_least(c, pool, round ? 0 : onset, round == 2, least);
		best = candidates_best(pool, least, round ? 0 : onset, round == 2);
		if (best == UINT32_MAX)
			continue;
		if (c->regret.n == candidates_most(c))
			candidates_evict(c, c->regret.n - n);
		ret = candidates_add(c, &pool->busy[best], pool->source[best], pool->n, since);
		if (ret)
			return ret;
		n++;
		/* keep the pool dense */
		pool->n--;
		pool->busy[best] = pool->busy[pool->n];
		pool->source[best] = pool->source[pool->n];
		memcpy(pool->cost[best], pool->cost[pool->n], sizeof(pool->cost[best]));
		pool->busy[pool->n] = (struct to_busy_time){ 0 };
	}
	return n;
}

int to_candidates_plan(struct to_candidates *c, struct to_error *err)
{
	const unsigned int onset = c->n_intervals - candidates_lately(c);
	struct pool *pool = calloc(1, sizeof(*pool));
	unsigned int since = onset;
	int ret, n = 0;

	if (!pool)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = candidates_make(c, pool, onset, NULL, 0, err);
	if (!ret && onset)
		ret = candidates_make(c, pool, 0, NULL, 0, err);
	if (!ret && candidates_at(c)->cluster->n_servers <= CANDIDATES_SMALL)
		ret = candidates_make_phases(c, pool, onset, &since, err);
	if (!ret) {
		n = candidates_compare(c, pool);
		n = n ? n : candidates_take(c, pool, onset, since);
		ret = n < 0 ? to_error_set(err, n, "out of memory") : 0;
	}
	for (unsigned int k = 0; k < pool->n; k++)
		to_busy_time_free(&pool->busy[k]);
	free(pool);
	c->n_same = c->n_intervals - since;
	to_shift_looked(&c->shift, candidates_ratio(c, c->regret.at, candidates_lately(c)), n > 0);
	return ret ? ret : n;
}

/* ---- planned for beside the loop ---- */

int to_candidates_lend(struct to_candidates *c, struct to_candidates *copy)
{
	*copy = *c;
	copy->intervals = calloc(c->n_intervals + 1, sizeof(*copy->intervals));
	c->kept = calloc(c->n_intervals + 1, sizeof(*c->kept));
	if (!copy->intervals || !c->kept) {
		free(copy->intervals);
		free(c->kept);
		c->kept = NULL;
		return -ENOMEM;
	}
	memcpy(copy->intervals, c->intervals, c->n_intervals * sizeof(*c->intervals));
	for (unsigned int k = 0; k < TO_REGRET_MAX; k++)
		copy->candidate[k].busy = (struct to_busy_time){
			.plan = k < c->regret.n ? to_plan_hold(c->candidate[k].busy.plan) : NULL,
		};
	c->n_lent = c->n_intervals;
	return 0;
}

int to_candidates_open(struct to_candidates *copy)
{
	int ret = 0;

	for (unsigned int k = 0; !ret && k < copy->regret.n; k++) {
		struct to_plan *plan = copy->candidate[k].busy.plan;

		ret = to_busy_time_init(&copy->candidate[k].busy, plan);
		to_plan_free(plan);
	}
	return ret;
}

static unsigned int candidates_find(const struct to_candidates *c, unsigned int id)
{
	unsigned int k = 0;

	while (k < c->regret.n && c->candidate[k].id != id)
		k++;
	return k;
}

/* Candidate @from of @copy, of which it is taken, becomes one of @c. */
static int candidates_adopt(struct to_candidates *c, struct to_candidates *copy, unsigned int from)
{
	const unsigned int n = c->regret.n, gone = copy->n_intervals - c->n_lent;
	const unsigned int newer = c->n_intervals - c->n_lent;
	const unsigned int some = newer < CANDIDATES_NEWER ? newer : CANDIDATES_NEWER;
	const unsigned int most = candidates_affordable(c, CANDIDATES_NEW);
	const unsigned int first = c->n_intervals - (some < most ? some : most);
	struct to_candidates_plan *taken = &copy->candidate[from];
	double price[TO_REGRET_MAX] = { 0 }, work;
	int ret = 0;

	for (unsigned int k = 0; !ret && k < n; k++) {
		const unsigned int other = candidates_find(copy, c->candidate[k].id);

		if (other < copy->regret.n)
			price[k] = copy->regret.price[from][other];
		else
			ret = candidates_price(c, &c->candidate[k].busy, &taken->busy, &price[k]);
	}
	if (ret)
		return ret;
	for (unsigned int i = 0; i < c->n_lent; i++) {
		c->intervals[i].cost[n] = copy->intervals[i + gone].cost[from];
		c->intervals[i].work[n] = copy->intervals[i + gone].work[from];
	}
	candidates_assume(c, c->n_lent, first, price);
	work = first ? c->intervals[first - 1].work[n] : copy->regret.work[from];
	ret = candidates_enter(c, &taken->busy, price, work, first, 0);
	if (ret)
		return ret;
	c->candidate[n].id = taken->id;
	c->candidate[n].promise = taken->promise;
	c->candidate[n].worth += taken->worth;
	c->candidate[n].source = taken->source;
	return 0;
}

int to_candidates_return(struct to_candidates *c, struct to_candidates *copy, int made,
			 struct to_error *err)
{
	int ret = made < 0 ? made : 0, n = 0;

	for (unsigned int k = 0; !ret && k < copy->regret.n; k++) {
		if (copy->candidate[k].id < c->next_id)
			continue;
		if (c->regret.n == candidates_most(c))
			candidates_evict(c, c->regret.n - n);
		ret = candidates_adopt(c, copy, k);
		n += !ret;
		if (ret)
			to_error_set(err, ret, "out of memory");
	}
	c->next_id = copy->next_id;
	c->n_same = copy->n_same + c->n_intervals - c->n_lent;
	if (c->n_same > c->n_intervals)
		c->n_same = c->n_intervals;
	for (unsigned int k = 0; k < TO_REGRET_MAX; k++)
		to_busy_time_free(&copy->candidate[k].busy);
	free(copy->intervals);
	for (unsigned int i = 0; i < c->n_kept; i++)
		candidates_forget(&c->kept[i]);
	free(c->kept);
	c->kept = NULL;
	c->n_kept = c->n_lent = 0;
	to_shift_looked(&c->shift, candidates_ratio(c, c->regret.at, candidates_lately(c)), n > 0);
	return ret ? ret : n;
}

/* ---- which of them ---- */

unsigned int to_candidates_choose(const struct to_candidates *c)
{
	return to_regret_choose(&c->regret);
}

unsigned int to_candidates_likely(const struct to_candidates *c, const struct to_plan *staged)
{
	const double margin = CANDIDATES_LIKELY / 2;
	unsigned int best = c->regret.at, now = c->regret.at;
	double most = 0, kept = 0;

	for (unsigned int k = 0; k < c->regret.n; k++) {
		const double share = to_regret_share(&c->regret, k);

		if (c->candidate[k].busy.plan == staged && share >= margin) {
			now = k;
			kept = share;
		}
		if (share > most) {
			most = share;
			best = k;
		}
	}
	best = best == c->regret.at ? best : to_regret_rather(&c->regret, best);
	return most < CANDIDATES_LIKELY || (now != c->regret.at && most < kept + margin) ? now :
											   best;
}

/* The last intervals in which as much was lost against candidate @k as a change costs. */
static unsigned int candidates_evidence(const struct to_candidates *c, unsigned int k)
{
	const unsigned int at = c->regret.at;
	double lost = 0;
	unsigned int n = 0;

	while (n < c->n_intervals && lost < c->regret.caution * c->regret.price[at][k]) {
		const double *cost = c->intervals[c->n_intervals - ++n].cost;

		lost += cost[at] - cost[k];
	}
	return n;
}

double to_candidates_saves(const struct to_candidates *c, unsigned int index)
{
	const unsigned int n = candidates_evidence(c, index);
	double now = 0, then = 0;

	for (unsigned int i = c->n_intervals - n; i < c->n_intervals; i++) {
		now += c->intervals[i].cost[c->regret.at];
		then += c->intervals[i].cost[index];
	}
	return now > 0 ? 1 - then / now : 0;
}

int to_candidates_action(const struct to_candidates *c, unsigned int index,
			 enum to_replan_action *action)
{
	const struct to_cluster *to = c->candidate[index].busy.plan->cluster;
	struct to_rewire_steps steps;
	int ret = to_rewire_steps_make(candidates_at(c)->cluster, to->links, to->n_links, &steps);

	if (ret)
		return ret;
	*action = index == c->regret.at ? TO_REPLAN_KEEP :
		  steps.n ? TO_REPLAN_REWIRE : TO_REPLAN_REROUTE;
	to_rewire_steps_free(&steps);
	return 0;
}

void to_candidates_moved(struct to_candidates *c, unsigned int index)
{
	const double promise = fmin(candidates_ratio(c, index, candidates_evidence(c, index)),
				    c->candidate[index].promise);

	c->outcome = (struct to_candidates_outcome){ .since = true, .before = c->regret.at,
						     .predicted = to_candidates_saves(c, index) };
	to_regret_move(&c->regret, index);
	to_shift_looked(&c->shift, promise, true);
}

void to_candidates_drop(struct to_candidates *c, unsigned int index)
{
	const unsigned int behind = c->regret.n - 1 - index;

	if (c->outcome.before == index)
		c->outcome.since = false;
	c->outcome.before -= c->outcome.before > index;
	to_busy_time_free(&c->candidate[index].busy);
	to_regret_remove(&c->regret, index);
	memmove(&c->candidate[index], &c->candidate[index + 1], behind * sizeof(c->candidate[0]));
	c->candidate[c->regret.n] = (struct to_candidates_plan){ 0 };
	for (unsigned int i = 0; i < c->n_intervals; i++) {
		struct to_candidates_interval *interval = &c->intervals[i];

		memmove(&interval->cost[index], &interval->cost[index + 1],
			behind * sizeof(interval->cost[0]));
		memmove(&interval->work[index], &interval->work[index + 1],
			behind * sizeof(interval->work[0]));
	}
}

json_t *to_candidates_json(const struct to_candidates *c)
{
	json_t *array = json_array();

	for (unsigned int k = 0; k < c->regret.n; k++)
		json_array_append_new(array, json_pack("{s:I s:s s:b s:f s:f s:f}", "id",
			(json_int_t)c->candidate[k].id, "source", c->candidate[k].source,
			"in_force", k == c->regret.at, "regret_s", to_regret_lost(&c->regret, k),
			"price_s", c->regret.price[c->regret.at][k], "saves",
			to_candidates_saves(c, k)));
	return array;
}
