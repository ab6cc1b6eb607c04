// SPDX-License-Identifier: GPL-2.0-or-later
#include "shard/shard_schedule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shard/shard_plan.h"
#include "shard/shard_servers.h"

#define SCHEDULE_NONE UINT32_MAX
#define SCHEDULE_BYTES (1ull << 30)	/* of the AllReduce that jobs are planned for */

const char *const to_shard_policies[] = { "fifo", "backfill", NULL };
const char *const to_shard_switchings[] = { "panel", "ocs", "look-ahead", NULL };

/*
 * @shards: the cluster with the links in place, and no shard
 * @n: servers, drained ones included; @busy: per server its job, SCHEDULE_NONE when free
 * @until: per server, when it is free by the limit of its job; INFINITY of drained ones
 * @group, @size: per server, which are on the same optical switches; how many these are
 * @queue: jobs that wait, @running: those that have servers
 * @hands: when each mover has nothing left to do
 * @first: the job whose servers are @held, from the time @begins on
 * @plan: of that job, whose look-ahead fibres are in place at @prepared
 */
struct schedule {
	const struct to_shard_schedule_options *o;
	const struct to_shard_trace *trace;
	struct to_shard_schedule *out;
	struct to_shards shards;
	struct to_error *err;
	unsigned int n, n_groups, n_queue, n_running, submitted, ended;
	uint32_t *busy, *queue, *running, *chosen;
	unsigned int *group, *size;
	double *until, *hands, *sorted, now;
	bool *held, *mask;
	uint32_t first;
	double begins, prepared;
	struct to_plan *plan;
};

static const struct to_shard_trace_job *schedule_job(const struct schedule *d, uint32_t job)
{
	return &d->trace->jobs[job];
}

static int schedule_no_memory(struct schedule *d)
{
	return to_error_set(d->err, -ENOMEM, "out of memory");
}

/* ---- servers and links of a job ---- */

/* Of those in d->mask leave the groups that have room for @n. Return: is there one? */
static bool schedule_room(struct schedule *d, unsigned int n)
{
	bool room = false;

	memset(d->size, 0, d->n_groups * sizeof(*d->size));
	for (unsigned int x = 0; x < d->n; x++)
		d->size[d->group[x]] += d->mask[x];
	for (unsigned int x = 0; x < d->n; x++) {
		d->mask[x] &= d->size[d->group[x]] >= n;
		room |= d->mask[x];
	}
	return room;
}

static struct to_demand *schedule_demand(unsigned int n)
{
	struct to_demand *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->n = n;
	d->mp = calloc((size_t)n * n, sizeof(*d->mp));
	d->groups = calloc(1, sizeof(*d->groups));
	d->n_groups = d->groups ? 1 : 0;
	if (d->groups)
		d->groups[0].members = calloc(n, sizeof(*d->groups[0].members));
	if (!d->mp || !d->groups || !d->groups[0].members) {
		to_demand_free(d);
		return NULL;
	}
	d->groups[0].n_members = n;
	d->groups[0].bytes = SCHEDULE_BYTES;
	for (unsigned int i = 0; i < n; i++)
		d->groups[0].members[i] = i;
	return d;
}

/*
 * A plan for @job on servers of d->mask, which go to d->chosen. A job on one server has none.
 */
static int schedule_plan(struct schedule *d, uint32_t job, struct to_plan **plan)
{
	const unsigned int n = schedule_job(d, job)->servers;
	struct to_shard_request request = {
		.name = "simulated", .allowed = d->mask,
		.planner = { .effort = d->o->effort, .rings = true, .seed = 1 } };
	struct to_demand *demand;

	*plan = NULL;
	if (n == 1)
		return to_shard_servers_near(d->shards.cluster, d->mask, 1, d->chosen, d->err);
	request.demand = demand = schedule_demand(n);
	if (!demand)
		return schedule_no_memory(d);
	*plan = to_shard_plan(&d->shards, &request, d->err);
	to_demand_free(demand);
	if (!*plan)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		d->chosen[i] = to_cluster_find_server(d->shards.cluster,
						      (*plan)->cluster->servers[i].name);
	return 0;
}

/* The first pair of hands that is free makes @n cross-connects. Return: when it has. */
static double schedule_hands(struct schedule *d, unsigned int n)
{
	double *first = &d->hands[0];

	if (!n)
		return d->now;
	for (unsigned int i = 1; i < d->o->movers; i++)
		if (d->hands[i] < *first)
			first = &d->hands[i];
	*first = fmax(*first, d->now) + n * d->o->move;
	return *first;
}

static int schedule_compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* @job has the servers in d->chosen, and the links of @plan at the time @ready. */
static int schedule_begin(struct schedule *d, uint32_t job, const struct to_plan *plan,
			  unsigned int made, double ready)
{
	const struct to_shard_trace_job *asked = schedule_job(d, job);
	struct to_shard_run *run = &d->out->runs[job];
	struct to_cluster *c = d->shards.cluster;
	struct to_link *links;
	unsigned int n_links;

	run->servers = malloc(asked->servers * sizeof(*run->servers));
	links = plan ? to_shard_cabling(&d->shards, plan, &n_links) : NULL;
	if (!run->servers || (plan && !links))
		return schedule_no_memory(d);
	if (plan) {
		free(c->links);
		c->links = links;
		c->n_links = n_links;
	}
	memcpy(run->servers, d->chosen, asked->servers * sizeof(*run->servers));
	qsort(run->servers, asked->servers, sizeof(*run->servers), schedule_compare);
	run->granted = d->now;
	run->ready = ready;
	run->end = ready + asked->run;
	run->made = made;
	for (unsigned int i = 0; i < asked->servers; i++) {
		d->busy[run->servers[i]] = job;
		d->until[run->servers[i]] = ready + asked->limit;
	}
	d->running[d->n_running++] = job;
	return 0;
}

/* Begin @job on servers of d->mask. Return: 1, 0 when there is no room, or a negative errno. */
static int schedule_place(struct schedule *d, uint32_t job)
{
	struct to_shard_moves moves = {};
	struct to_plan *plan;
	double ready = d->now;
	int ret;

	if (!schedule_room(d, schedule_job(d, job)->servers))
		return 0;
	ret = schedule_plan(d, job, &plan);
	if (!ret && plan)
		ret = to_shard_moves(&d->shards, plan, &moves, d->err);
	if (!ret) {
		if (d->o->switching != TO_SHARD_OCS)
			ready = schedule_hands(d, moves.n_made);
		else if (moves.n_made + moves.n_cut)
			ready += d->o->dark;
		ret = schedule_begin(d, job, plan, moves.n_made, ready);
	}
	to_shard_moves_free(&moves);
	to_plan_free(plan);
	return ret ? ret : 1;
}

/* ---- the first job that waits ---- */

static int schedule_compare_times(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* When @n servers of @group are free, by the limits of those that run. */
static double schedule_group_time(struct schedule *d, unsigned int group, unsigned int n)
{
	unsigned int k = 0;

	for (unsigned int x = 0; x < d->n; x++)
		if (d->group[x] == group)
			d->sorted[k++] = fmax(d->until[x], d->now);
	if (k < n)
		return INFINITY;
	qsort(d->sorted, k, sizeof(*d->sorted), schedule_compare_times);
	return d->sorted[n - 1];
}

/* Which servers @job is to have, and when: the earliest that some group has enough. */
static int schedule_hold(struct schedule *d, uint32_t job)
{
	const unsigned int n = schedule_job(d, job)->servers;
	unsigned int best = 0;
	int ret;

	d->begins = INFINITY;
	for (unsigned int g = 0; g < d->n_groups; g++) {
		const double time = schedule_group_time(d, g, n);

		if (time < d->begins) {
			d->begins = time;
			best = g;
		}
	}
	for (unsigned int x = 0; x < d->n; x++)
		d->mask[x] = d->group[x] == best && d->until[x] <= d->begins;
	ret = to_shard_servers_near(d->shards.cluster, d->mask, n, d->chosen, d->err);
	memset(d->held, 0, d->n * sizeof(*d->held));
	for (unsigned int i = 0; !ret && i < n; i++)
		d->held[d->chosen[i]] = true;
	d->first = job;
	return ret;
}

/* Move the fibres of the first job on its look-ahead ports. */
static int schedule_prepare(struct schedule *d, uint32_t job)
{
	int ret = schedule_hold(d, job);

	if (ret)
		return ret;
	memcpy(d->mask, d->held, d->n * sizeof(*d->mask));
	ret = schedule_plan(d, job, &d->plan);
	if (!ret)
		d->prepared = schedule_hands(d, d->plan ? d->plan->n_cross_connects : 0);
	return ret;
}

/* Are all servers that the first job is to have free? */
static bool schedule_held_free(const struct schedule *d)
{
	for (unsigned int x = 0; x < d->n; x++)
		if (d->held[x] && d->busy[x] != SCHEDULE_NONE)
			return false;
	return true;
}

static void schedule_let_go(struct schedule *d)
{
	to_plan_free(d->plan);
	d->plan = NULL;
	d->first = SCHEDULE_NONE;
	memset(d->held, 0, d->n * sizeof(*d->held));
}

/* Begin the job that is prepared, if it can. Return: as schedule_place(). */
static int schedule_flip(struct schedule *d)
{
	unsigned int k = 0;
	int ret;

	if (!schedule_held_free(d) || d->now < d->prepared)
		return 0;
	for (unsigned int x = 0; x < d->n; x++)
		if (d->held[x])
			d->chosen[k++] = x;
	ret = schedule_begin(d, d->first, d->plan, d->plan ? d->plan->n_cross_connects : 0,
			     d->now + (d->plan ? d->o->dark : 0));
	schedule_let_go(d);
	return ret ? ret : 1;
}

static void schedule_mask_free(struct schedule *d)
{
	for (unsigned int x = 0; x < d->n; x++)
		d->mask[x] = d->busy[x] == SCHEDULE_NONE && !isinf(d->until[x]);
}

/* Begin the first job of the queue. Return: as schedule_place(). */
static int schedule_try_first(struct schedule *d)
{
	int ret;

	if (d->first == d->queue[0] && d->o->switching == TO_SHARD_LOOK_AHEAD)
		return schedule_flip(d);
	schedule_mask_free(d);
	ret = schedule_place(d, d->queue[0]);
	if (!ret && d->o->switching == TO_SHARD_LOOK_AHEAD)
		ret = schedule_prepare(d, d->queue[0]);
	else if (!ret && d->o->policy == TO_SHARD_BACKFILL)
		ret = schedule_hold(d, d->queue[0]);
	return ret;
}

/* ---- others ---- */

/* Seconds that the links of a job of @n servers take at most. */
static double schedule_switching_most(const struct schedule *d, unsigned int n)
{
	const struct to_cluster *c = d->shards.cluster;
	unsigned int ports = 0;
	double first = INFINITY;

	if (d->o->switching == TO_SHARD_OCS)
		return d->o->dark;
	if (n == 1)
		return 0;
	for (unsigned int x = 0; x < d->n; x++)
		ports = c->servers[x].n_ports > ports ? c->servers[x].n_ports : ports;
	for (unsigned int i = 0; i < d->o->movers; i++)
		first = fmin(first, d->hands[i]);
	return fmax(first - d->now, 0) +
	       (double)n * ports / (c->link_mode == TO_LINKS_DUPLEX ? 2 : 1) * d->o->move;
}

/* Begin @job where it does not delay the first one. Return: as schedule_place(). */
static int schedule_backfill(struct schedule *d, uint32_t job)
{
	const struct to_shard_trace_job *asked = schedule_job(d, job);
	const double switching = schedule_switching_most(d, asked->servers);
	const double begins = d->o->switching == TO_SHARD_LOOK_AHEAD ? fmax(d->begins, d->prepared) :
								      d->begins;

	schedule_mask_free(d);
	/* hands that are at work for it then are not there for the first one */
	if (d->o->switching == TO_SHARD_PANEL && d->now + switching > begins)
		return 0;
	if (d->now + switching + asked->limit <= begins)
		return schedule_place(d, job);
	for (unsigned int x = 0; x < d->n; x++)
		d->mask[x] &= !d->held[x];
	return schedule_place(d, job);
}

static void schedule_dequeue(struct schedule *d, unsigned int at)
{
	d->n_queue--;
	memmove(&d->queue[at], &d->queue[at + 1], (d->n_queue - at) * sizeof(*d->queue));
}

static int schedule_grant(struct schedule *d)
{
	int ret = 0;

	while (d->n_queue) {
		ret = schedule_try_first(d);
		if (ret <= 0)
			break;
		schedule_dequeue(d, 0);
		ret = 0;
	}
	for (unsigned int i = 1; !ret && d->o->policy == TO_SHARD_BACKFILL && i < d->n_queue;) {
		ret = schedule_backfill(d, d->queue[i]);
		if (ret <= 0) {
			i++;
			continue;
		}
		d->out->runs[d->queue[i]].ahead = true;
		schedule_dequeue(d, i);
		ret = 0;
	}
	return ret;
}

/* ---- time ---- */

/* What free servers are for @seconds. */
static void schedule_count(struct schedule *d, double seconds)
{
	const unsigned int wanted = d->n_queue ? schedule_job(d, d->queue[0])->servers : 0;
	double *shares = d->out->shares;
	unsigned int free = 0;

	for (unsigned int x = 0; x < d->n; x++)
		free += d->busy[x] == SCHEDULE_NONE && !isinf(d->until[x]);
	if (wanted && d->first == d->queue[0] && d->o->switching == TO_SHARD_LOOK_AHEAD &&
	    schedule_held_free(d)) {
		shares[TO_SHARE_SWITCHES] += wanted * seconds;
		shares[d->n_queue > 1 ? TO_SHARE_FRAGMENTED : TO_SHARE_IDLE] += (free - wanted) * seconds;
		return;
	}
	shares[!wanted ? TO_SHARE_IDLE : free < wanted ? TO_SHARE_FEW : TO_SHARE_FRAGMENTED] +=
		free * seconds;
}

/* To the next time at which something happens. Return: false when nothing does. */
static bool schedule_pass(struct schedule *d)
{
	double next = INFINITY;

	if (d->submitted < d->trace->n)
		next = schedule_job(d, d->submitted)->submit;
	for (unsigned int i = 0; i < d->n_running; i++)
		next = fmin(next, d->out->runs[d->running[i]].end);
	if (d->plan && d->prepared > d->now)
		next = fmin(next, d->prepared);
	if (isinf(next))
		return false;
	if (d->submitted)
		schedule_count(d, next - d->now);
	d->now = next;
	return true;
}

static void schedule_end(struct schedule *d)
{
	for (unsigned int i = 0; i < d->n_running;) {
		const uint32_t job = d->running[i];
		const struct to_shard_run *run = &d->out->runs[job];

		if (run->end > d->now) {
			i++;
			continue;
		}
		for (unsigned int k = 0; k < schedule_job(d, job)->servers; k++) {
			d->busy[run->servers[k]] = SCHEDULE_NONE;
			d->until[run->servers[k]] = 0;
		}
		d->running[i] = d->running[--d->n_running];
		d->ended++;
	}
}

static int schedule_run(struct schedule *d)
{
	const unsigned int all = d->trace->n;
	int ret = 0;

	while (!ret && schedule_pass(d)) {
		schedule_end(d);
		while (d->submitted < all && schedule_job(d, d->submitted)->submit <= d->now)
			d->queue[d->n_queue++] = d->submitted++;
		ret = schedule_grant(d);
		if (!ret && d->o->watch && d->o->watch(d->o->data, d->ended, all))
			ret = to_error_set(d->err, -EINTR, "interrupted");
	}
	return ret;
}

/* ---- begin and end ---- */

static int schedule_check(struct schedule *d)
{
	unsigned int most = 0;

	for (unsigned int x = 0; x < d->n; x++)
		d->mask[x] = !isinf(d->until[x]);
	schedule_room(d, 0);
	for (unsigned int g = 0; g < d->n_groups; g++)
		most = d->size[g] > most ? d->size[g] : most;
	for (unsigned int i = 0; i < d->trace->n; i++)
		if (d->trace->jobs[i].servers > most)
			return to_error_set(d->err, -ENOSPC,
					    "job %s takes %u servers, at most %u are on the same optical switches",
					    d->trace->jobs[i].name, d->trace->jobs[i].servers, most);
	return 0;
}

static int schedule_open(struct schedule *d, const struct to_shards *s)
{
	const unsigned int n = s->cluster->n_servers, jobs = d->trace->n;
	int groups;

	d->n = n;
	d->first = SCHEDULE_NONE;
	d->shards.cluster = to_cluster_copy(s->cluster);
	d->shards.drained = calloc(n, sizeof(*d->shards.drained));
	d->out->runs = calloc(jobs, sizeof(*d->out->runs));
	d->busy = malloc(n * sizeof(*d->busy));
	d->queue = calloc(jobs, sizeof(*d->queue));
	d->running = calloc(n, sizeof(*d->running));
	d->chosen = calloc(n, sizeof(*d->chosen));
	d->group = calloc(n, sizeof(*d->group));
	d->size = calloc(n, sizeof(*d->size));
	d->until = calloc(n, sizeof(*d->until));
	d->sorted = calloc(n, sizeof(*d->sorted));
	d->hands = calloc(d->o->movers, sizeof(*d->hands));
	d->held = calloc(n, sizeof(*d->held));
	d->mask = calloc(n, sizeof(*d->mask));
	if (!d->shards.cluster || !d->shards.drained || !d->out->runs || !d->busy || !d->queue ||
	    !d->running || !d->chosen || !d->group || !d->size || !d->until || !d->sorted ||
	    !d->hands || !d->held || !d->mask)
		return schedule_no_memory(d);
	memset(d->busy, 0xff, n * sizeof(*d->busy));
	for (unsigned int x = 0; x < n; x++)
		if (s->drained && s->drained[x])
			d->until[x] = INFINITY;
		else
			d->out->servers++;
	groups = to_shard_servers_groups(d->shards.cluster, d->group);
	if (groups < 0)
		return schedule_no_memory(d);
	d->n_groups = groups;
	return schedule_check(d);
}

static void schedule_close(struct schedule *d)
{
	to_plan_free(d->plan);
	to_cluster_free(d->shards.cluster);
	free(d->shards.drained);
	free(d->busy);
	free(d->queue);
	free(d->running);
	free(d->chosen);
	free(d->group);
	free(d->size);
	free(d->until);
	free(d->sorted);
	free(d->hands);
	free(d->held);
	free(d->mask);
}

static void schedule_conclude(struct to_shard_schedule *out)
{
	double all;

	out->begin = out->trace->jobs[0].submit;
	for (unsigned int i = 0; i < out->trace->n; i++) {
		const struct to_shard_run *run = &out->runs[i];
		const unsigned int n = out->trace->jobs[i].servers;

		out->end = fmax(out->end, run->end);
		out->shares[TO_SHARE_RUNS] += n * (run->end - run->ready);
		out->shares[TO_SHARE_SWITCHES] += n * (run->ready - run->granted);
	}
	all = out->servers * (out->end - out->begin);
	for (unsigned int k = 0; k < TO_SHARES; k++)
		out->shares[k] = all > 0 ? out->shares[k] / all : k == TO_SHARE_IDLE;
}

int to_shard_schedule(struct to_shard_schedule *out, const struct to_shards *s,
		      const struct to_shard_trace *trace,
		      const struct to_shard_schedule_options *options, struct to_error *err)
{
	struct schedule d = { .o = options, .trace = trace, .out = out, .err = err };
	int ret;

	*out = (struct to_shard_schedule){ .trace = trace };
	ret = schedule_open(&d, s);
	if (!ret)
		ret = schedule_run(&d);
	if (!ret) {
		schedule_conclude(out);
		out->cluster = to_cluster_copy(s->cluster);
		if (!out->cluster)
			ret = schedule_no_memory(&d);
	}
	schedule_close(&d);
	if (ret)
		to_shard_schedule_free(out);
	return ret;
}

void to_shard_schedule_free(struct to_shard_schedule *out)
{
	for (unsigned int i = 0; out->runs && i < out->trace->n; i++)
		free(out->runs[i].servers);
	free(out->runs);
	to_cluster_free(out->cluster);
	*out = (struct to_shard_schedule){};
}

static struct to_shard_times schedule_times(double *times, unsigned int n)
{
	struct to_shard_times t = {};

	qsort(times, n, sizeof(*times), schedule_compare_times);
	for (unsigned int i = 0; i < n; i++)
		t.mean += times[i] / n;
	t.median = times[(n - 1) / 2];
	t.p99 = times[(unsigned int)ceil(0.99 * n) - 1];
	t.max = times[n - 1];
	return t;
}

int to_shard_schedule_times(const struct to_shard_schedule *out, struct to_shard_times *waiting,
			    struct to_shard_times *completion)
{
	const unsigned int n = out->trace->n;
	double *times = calloc(n, sizeof(*times));

	if (!times)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++)
		times[i] = out->runs[i].ready - out->trace->jobs[i].submit;
	*waiting = schedule_times(times, n);
	for (unsigned int i = 0; i < n; i++)
		times[i] = out->runs[i].end - out->trace->jobs[i].submit;
	*completion = schedule_times(times, n);
	free(times);
	return 0;
}
