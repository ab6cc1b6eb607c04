// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fluid model against one that knows no events: it lets time pass in small
 * steps, follows every byte through the tables and shares links by repeated
 * search for the bottleneck.
 */

#include <math.h>

#include "graph/ring.h"
#include "job.h"
#include "simulate/simulate.h"

#define PORTS 5
#define SERVERS 8
#define ARCS (SERVERS * PORTS)
#define TASKS 40
#define FLOWS 400
#define STEPS 20000

/* @use: bytes on each arc for each byte of the flow, [server * PORTS + port] */
struct flow {
	unsigned int task;
	double use[ARCS], left, rate;
};

static struct {
	const struct to_plan *plan;
	double capacity[ARCS];
	unsigned int n_flows;
	struct flow flows[FLOWS];
	double end[TASKS];	/* -1 while that is not known */
	double sent[ARCS], busy[ARCS];
	bool started[TASKS];
} o;

/* Follow @bytes from @src, now at @at; returns the hops of the longest way. */
static unsigned int follow(uint32_t at, uint32_t src, uint32_t dst, double bytes, double *use)
{
	const struct to_table *table = &o.plan->tables[at];
	const struct to_group *group = &table->groups[table->route[dst * o.plan->slots]];
	double weights = 0;
	unsigned int most = 0;

	if (at == dst)
		return 0;
	for (unsigned int i = 0; i < table->n_pairs; i++)
		if (table->pairs[i].src == src && table->pairs[i].dst == dst &&
		    table->pairs[i].slot == 0)
			group = &table->groups[table->pairs[i].group];
	for (unsigned int i = 0; i < group->n; i++)
		weights += to_nexthop_primary(&group->nexthops[i]) ? group->nexthops[i].weight : 0;
	for (unsigned int i = 0; i < group->n; i++) {
		struct to_port_ref out = { at, group->nexthops[i].port }, in;
		double part = bytes * group->nexthops[i].weight / weights;
		unsigned int hops;

		if (!to_nexthop_primary(&group->nexthops[i]))
			continue;
		use[at * PORTS + out.port] += part;
		assert_int_equal(to_plan_peer(o.plan, out, &in), 0);
		hops = 1 + follow(in.server, src, dst, part, use);
		most = hops > most ? hops : most;
	}
	return most;
}

/* Does @link carry bytes from @x to @y? @port: of @x, that it is on. */
static bool joins(const struct to_link *link, uint32_t x, uint32_t y, unsigned int *port)
{
	bool forth = link->a.server == x && link->b.server == y;

	*port = forth ? link->a.port : link->b.port;
	return forth || (o.plan->cluster->link_mode == TO_LINKS_DUPLEX && link->b.server == x &&
			 link->a.server == y);
}

/* One hop of ring or tree @owner, on its own link or as the tables say. */
static unsigned int hop(int ring, int tree, uint32_t x, uint32_t y, double bytes, double *use)
{
	bool duplex = o.plan->cluster->link_mode == TO_LINKS_DUPLEX;
	unsigned int direct = 0, port;

	for (unsigned int i = 0; i < o.plan->cluster->n_links; i++) {
		const struct to_link *l = &o.plan->cluster->links[i];

		if (l->ring != ring || l->tree != tree)
			continue;
		if (l->a.server == x && l->b.server == y) {
			use[x * PORTS + l->a.port] += bytes;
			return 1;
		}
		if (duplex && l->b.server == x && l->a.server == y) {
			use[x * PORTS + l->b.port] += bytes;
			return 1;
		}
	}
	for (unsigned int i = 0; tree >= 0 && i < o.plan->cluster->n_links; i++)
		direct += joins(&o.plan->cluster->links[i], x, y, &port);
	for (unsigned int i = 0; direct && i < o.plan->cluster->n_links; i++)
		if (joins(&o.plan->cluster->links[i], x, y, &port))
			use[x * PORTS + port] += bytes / direct;
	return direct ? 1 : follow(x, x, y, bytes, use);
}

static unsigned int around(const struct to_ring *ring, int owner, double bytes, double *use)
{
	unsigned int most = 0, hops;

	for (unsigned int k = 0; k < ring->n; k++) {
		uint32_t x = ring->order[k], y = ring->order[(k + 1) % ring->n];

		hops = hop(owner, -1, x, y, bytes, use);
		most = hops > most ? hops : most;
		hops = ring->reverse ? hop(owner, -1, y, x, bytes, use) : 0;
		most = hops > most ? hops : most;
	}
	return 2 * (ring->n - 1) * most;
}

/* Up and down a tree; returns the hops from the deepest server to the root and back. */
static unsigned int up_and_down(const struct to_allreduce_tree *tree, const uint32_t *members,
				int owner, double bytes, double *use)
{
	unsigned int deepest = 0, most = 0, hops;

	for (unsigned int k = 0; k < tree->n; k++) {
		unsigned int at = k, depth;

		if (tree->parents[k] != TO_SERVER_NONE) {
			hops = hop(-1, owner, members[k], tree->parents[k], bytes, use);
			most = hops > most ? hops : most;
			hops = hop(-1, owner, tree->parents[k], members[k], bytes, use);
			most = hops > most ? hops : most;
		}
		for (depth = 0; tree->parents[at] != TO_SERVER_NONE; depth++) {
			uint32_t parent = tree->parents[at];

			for (at = 0; members[at] != parent; at++)
				;
		}
		deepest = depth > deepest ? depth : deepest;
	}
	return 2 * deepest * most;
}

static bool same_servers(const struct to_allreduce *group, const uint32_t *members, unsigned int n)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < group->n_members; k++)
			found += group->members[k] == members[i];
	return found == n && group->n_members == n;
}

/* A ring from each server to the nearest, hop by hop. */
static unsigned int reduce_routed(const uint32_t *members, unsigned int n, double bytes,
				  double *use)
{
	const struct to_cluster *c = o.plan->cluster;
	bool duplex = c->link_mode == TO_LINKS_DUPLEX;
	struct to_graph *graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	uint32_t order[SERVERS];
	struct to_ring ring = { .n = n, .order = order, .reverse = duplex };

	assert_non_null(graph);
	assert_int_equal(to_ring_nearest(graph, members, n, order), 0);
	to_graph_free(graph);
	return around(&ring, -2, bytes / (1 + duplex), use);
}

static unsigned int reduce(const uint32_t *members, unsigned int n, double buffer, double *use)
{
	const struct to_allreduce *groups = o.plan->demand->groups;
	unsigned int directions = 0, most = 0, hops, i;
	double bytes = 2.0 * (n - 1) / n * buffer;
	int group = -1;

	for (i = 0; i < o.plan->n_rings && group < 0; i++)
		if (same_servers(&groups[o.plan->rings[i].group], members, n))
			group = o.plan->rings[i].group;
	for (i = 0; i < o.plan->n_trees && group < 0; i++)
		if (same_servers(&groups[o.plan->trees[i].group], members, n))
			group = o.plan->trees[i].group;
	if (group < 0)
		return reduce_routed(members, n, bytes, use);
	for (i = 0; i < o.plan->n_rings; i++)
		if (o.plan->rings[i].group == (unsigned int)group)
			directions += 1 + o.plan->rings[i].reverse;
	for (i = 0; i < o.plan->n_rings; i++) {
		if (o.plan->rings[i].group != (unsigned int)group)
			continue;
		hops = around(&o.plan->rings[i], i, bytes / directions, use);
		most = hops > most ? hops : most;
	}
	for (i = 0; i < o.plan->n_trees; i++) {
		if (o.plan->trees[i].group != (unsigned int)group)
			continue;
		hops = up_and_down(&o.plan->trees[i], groups[group].members, i,
				   buffer * o.plan->trees[i].share, use);
		most = hops > most ? hops : most;
	}
	return most;
}

/* A flow of @bytes; @use is for all of them. */
static void add_flow(unsigned int task, const double *use, double bytes)
{
	struct flow *flow = &o.flows[o.n_flows++];

	assert_true(o.n_flows <= FLOWS);
	flow->task = task;
	flow->left = bytes;
	for (unsigned int a = 0; a < ARCS; a++)
		flow->use[a] = use[a] / bytes;
}

/* Returns the latency in hops; there may be no flows. */
static unsigned int start(const struct to_taskgraph *g, unsigned int t,
			  enum to_simulate_detail detail)
{
	const struct to_task *task = &g->tasks[t];
	const struct to_transfer *transfer = g->transfers + task->first;
	double use[ARCS] = { 0 }, bytes = 0;
	unsigned int most = 0, hops;

	if (task->kind == TO_TASK_ALLREDUCE) {
		most = reduce(g->members + task->first, task->n, task->bytes, use);
		for (unsigned int a = 0; a < ARCS; a++)
			bytes = fmax(bytes, use[a]);
		add_flow(t, use, bytes);
		return most;
	}
	for (unsigned int i = 0; i < task->n; i++, transfer++) {
		if (detail == TO_SIMULATE_TRANSFERS)
			memset(use, 0, sizeof(use));
		hops = follow(transfer->src, transfer->src, transfer->dst, transfer->bytes, use);
		most = hops > most ? hops : most;
		bytes += transfer->bytes;
		if (detail == TO_SIMULATE_TRANSFERS)
			add_flow(t, use, transfer->bytes);
	}
	if (detail == TO_SIMULATE_TASKS && task->n)
		add_flow(t, use, bytes / task->n);
	return most;
}

/* Settle the flows on the arc with the least for each until all are settled. */
static void share(void)
{
	for (unsigned int f = 0; f < o.n_flows; f++)
		o.flows[f].rate = -1;
	for (;;) {
		double least = INFINITY;
		unsigned int at = 0;

		for (unsigned int a = 0; a < ARCS; a++) {
			double left = o.capacity[a], wanted = 0;

			for (unsigned int f = 0; f < o.n_flows; f++) {
				if (o.flows[f].rate < 0)
					wanted += o.flows[f].use[a];
				else
					left -= o.flows[f].rate * o.flows[f].use[a];
			}
			if (wanted > 1e-9 && left / wanted < least) {
				least = left / wanted;
				at = a;
			}
		}
		if (isinf(least))
			return;
		for (unsigned int f = 0; f < o.n_flows; f++)
			if (o.flows[f].rate < 0 && o.flows[f].use[at] > 1e-9)
				o.flows[f].rate = least;
	}
}

/* Start what may start; true if a flow did. */
static bool start_ready(const struct to_taskgraph *g, double now, enum to_simulate_detail detail,
			double *latency)
{
	bool flows = false;

	for (unsigned int t = 0; t < g->n_tasks; t++) {
		bool ready = !o.started[t];

		for (unsigned int i = 0; i < g->n_edges; i++)
			if (g->edges[i].task == t && (o.end[g->edges[i].after] < 0 ||
						      o.end[g->edges[i].after] > now))
				ready = false;
		if (!ready)
			continue;
		o.started[t] = true;
		if (g->tasks[t].kind == TO_TASK_COMPUTE) {
			o.end[t] = now + g->tasks[t].seconds;
			continue;
		}
		latency[t] = start(g, t, detail) * TO_HOP_SECONDS;
		if (g->tasks[t].n)
			flows = true;
		else
			o.end[t] = now;
	}
	return flows;
}

static void step(double seconds)
{
	double used[ARCS] = { 0 };

	for (unsigned int f = 0; f < o.n_flows; f++) {
		struct flow *flow = &o.flows[f];
		/* the last step is not used up */
		double sent = fmin(flow->rate * seconds, flow->left);

		for (unsigned int a = 0; a < ARCS; a++)
			used[a] += sent * flow->use[a];
		flow->left -= flow->rate * seconds;
	}
	for (unsigned int a = 0; a < ARCS; a++) {
		o.sent[a] += used[a];
		o.busy[a] += used[a] > 0 ? seconds : 0;
	}
}

static void run_in_steps(const struct to_taskgraph *g, enum to_simulate_detail detail,
			 double seconds)
{
	double latency[TASKS] = { 0 };
	unsigned int left;

	for (unsigned int t = 0; t < TASKS; t++)
		o.end[t] = -1;
	memset(o.started, 0, sizeof(o.started));
	memset(o.sent, 0, sizeof(o.sent));
	memset(o.busy, 0, sizeof(o.busy));
	o.n_flows = 0;
	for (double now = 0;; now += seconds) {
		bool changed = start_ready(g, now, detail, latency);

		for (unsigned int f = o.n_flows; f-- > 0;) {
			unsigned int task = o.flows[f].task, others = 0;

			if (o.flows[f].left > 0)
				continue;
			o.flows[f] = o.flows[--o.n_flows];
			for (unsigned int k = 0; k < o.n_flows; k++)
				others += o.flows[k].task == task;
			if (!others)
				o.end[task] = now + latency[task];
			changed = true;
		}
		if (changed)
			share();
		for (unsigned int t = left = 0; t < g->n_tasks; t++)
			left += o.end[t] < 0;
		if (!left)
			return;
		step(seconds);
	}
}

static uint32_t random_task(struct to_taskgraph *g, uint64_t *random)
{
	struct to_transfer transfers[2 * SERVERS];
	uint32_t members[SERVERS], n = g->n_servers, k, i;

	switch (to_random_below(random, 4)) {
	case 0:
		return to_taskgraph_compute(g, to_random_below(random, n),
					    to_random_below(random, 100) * 1e-4);
	case 1:
		return to_taskgraph_transfer(g, to_random_below(random, n),
					     to_random_below(random, n),
					     to_random_below(random, 64) * MIB);
	case 2:
		k = to_random_below(random, 2 * n);
		for (i = 0; i < k; i++)
			transfers[i] = (struct to_transfer){ to_random_below(random, n),
							     to_random_below(random, n),
							     to_random_below(random, 64) * MIB };
		return to_taskgraph_transfers(g, transfers, k);
	default:
		for (i = k = 0; i < n; i++)
			if (to_random_below(random, 3))
				members[k++] = i;
		while (k < 2) {
			members[0] = 0;
			members[1] = n - 1;
			k = 2;
		}
		return to_taskgraph_allreduce(g, members, k,
					      (1 + to_random_below(random, 64)) * MIB);
	}
}

/* The groups of the plan, and anything else. A server's tasks wait for each other. */
static void random_tasks(struct to_taskgraph *g, const struct to_demand *d, uint64_t *random)
{
	unsigned int n_tasks = 1 + to_random_below(random, 12), t, i;
	uint32_t previous[SERVERS];

	to_taskgraph_clear(g);
	memset(previous, 0xff, sizeof(previous));
	for (i = 0; i < d->n_groups; i++)
		to_taskgraph_allreduce(g, d->groups[i].members, d->groups[i].n_members,
				       d->groups[i].bytes);
	for (i = 0; i < n_tasks; i++) {
		t = random_task(g, random);
		if (t && to_random_below(random, 3))
			to_taskgraph_after(g, t, to_random_below(random, t));
		if (g->tasks[t].kind != TO_TASK_COMPUTE)
			continue;
		if (previous[g->tasks[t].server] != TO_TASK_NONE)
			to_taskgraph_after(g, t, previous[g->tasks[t].server]);
		previous[g->tasks[t].server] = t;
	}
}

static void compare(const struct to_taskgraph *g, const struct to_simulation *r,
		    const struct to_network *network, double seconds)
{
	double tolerance = (g->n_tasks + 2) * seconds, most = 0, total = 0, path = 0;

	for (unsigned int t = 0; t < g->n_tasks; t++) {
		if (fabs(r->finish[t] - o.end[t]) > tolerance + 0.005 * o.end[t])
			fail_msg("task %u ends at %.9g instead of %.9g", t, r->finish[t], o.end[t]);
		most = fmax(most, r->finish[t]);
	}
	assert_true(r->time == most);
	for (unsigned int k = 0; k < TO_TASK_KINDS; k++)
		path += r->critical_time[k];
	assert_true(fabs(path - r->time) <= 1e-9 * r->time);
	for (unsigned int a = 0; a < network->n_links; a++) {
		unsigned int at = network->links[a].from * PORTS + network->links[a].port;

		if (fabs(r->link_bytes[a] - o.sent[at]) > 1e-6 * o.sent[at] + 1)
			fail_msg("arc %u carries %.9g bytes instead of %.9g", a, r->link_bytes[a],
				 o.sent[at]);
		assert_true(fabs(r->link_busy[a] - o.busy[at]) <=
			    2 * tolerance + 0.01 * o.busy[at]);
		total += r->link_bytes[a];
	}
	for (unsigned int a = 0; a < ARCS; a++)
		total -= o.sent[a];
	assert_true(fabs(total) <= 1024);
}

static void as_in_small_steps(void **state)
{
	uint64_t random = 29;
	struct to_taskgraph g;
	unsigned int busy = 0;

	(void)state;
	to_taskgraph_init(&g, 0);
	for (unsigned int round = 0; round < 60; round++) {
		unsigned int n = 2 + to_random_below(&random, SERVERS - 1);
		unsigned int degree = 2 + to_random_below(&random, PORTS - 2);
		enum to_simulate_detail detail = to_random_below(&random, 2);
		struct to_error err = { "" };
		const struct to_simulation *r;
		struct to_simulator *s;
		struct to_plan *plan = job_plan(job_random(n, &random), degree,
						to_random_below(&random, 2), &err);

		assert_string_equal(err.text, "");
		o.plan = plan;
		for (unsigned int a = 0; a < ARCS; a++)
			o.capacity[a] = 100 * GBPS / 8.0;
		s = to_simulator_new(plan, &err);
		assert_non_null(s);
		g.n_servers = n;
		for (unsigned int again = 0; again < 2; again++) {
			random_tasks(&g, plan->demand, &random);
			assert_int_equal(to_taskgraph_finish(&g, &err), 0);
			r = to_simulate(s, &g, detail, &err);
			assert_string_equal(err.text, "");
			assert_non_null(r);
			busy += r->time > 0;
			if (r->time > 0) {
				run_in_steps(&g, detail, r->time / STEPS);
				compare(&g, r, to_simulator_network(s), r->time / STEPS);
			}
		}
		to_simulator_free(s);
		to_plan_free(plan);
	}
	assert_true(busy > 80);
	to_taskgraph_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_in_small_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
