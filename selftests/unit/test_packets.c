// SPDX-License-Identifier: GPL-2.0-or-later
/* The packet level: times in closed form to 1 ns, packets conserved, losses made good. */

#include <errno.h>
#include <math.h>

#include "job.h"
#include "simulate/network_named.h"
#include "packets/simulator.h"

#define CAPACITY 12.5e9	/* bytes/s */
#define LINK 1e-6
#define MTU 4096
#define WIRE (MTU + 82)
#define TAKES (WIRE / CAPACITY)

static const struct to_delays delays = { .link = LINK, .relay = 1350e-9 };

/* What a test changes; the rest is the default. */
static struct to_packet_options setting(enum to_transport transport)
{
	struct to_packet_options o = to_packet_options_default(transport);

	o.queue_pairs = 1;
	return o;
}

struct run {
	struct to_packet_paths *paths;
	struct to_packet_simulator *simulator;
	const struct to_packets *packets;
	struct to_error err;
	struct to_network *network;
};

static void end(struct run *run, struct to_taskgraph *g)
{
	to_packet_simulator_free(run->simulator);
	to_packet_paths_free(run->paths);
	to_network_free(run->network);
	if (g)
		to_taskgraph_free(g);
}

/* Run @g on @w; @run->packets is NULL where that fails. */
static struct run begin(struct to_network *w, const struct to_packet_options *o,
			enum to_spread spread, struct to_taskgraph *g)
{
	const struct to_shortest_options shortest = { spread, TO_ALGORITHM_RING, 7, delays };
	struct run run = { .network = w };

	assert_non_null(w);
	assert_int_equal(to_taskgraph_finish(g, &run.err), 0);
	run.paths = to_packet_paths_shortest(w, &shortest, &run.err);
	assert_non_null(run.paths);
	run.simulator = to_packet_simulator_new(run.paths, &delays, o, &run.err);
	if (!run.simulator)
		return run;
	run.packets = to_packet_simulate(run.simulator, g, &run.err);
	if (run.packets)
		assert_int_equal(run.packets->sent, run.packets->received +
				 run.packets->dropped + run.packets->queued);
	return run;
}

static struct run run(struct to_network *w, const struct to_packet_options *o, struct to_taskgraph *g)
{
	struct run run = begin(w, o, TO_SPREAD_HASH, g);

	assert_string_equal(run.err.text, "");
	assert_non_null(run.packets);
	return run;
}

static void takes(const struct run *run, double seconds)
{
	if (fabs(run->packets->simulation.time - seconds) > 1e-9)
		fail_msg("%.9f s instead of %.9f s", run->packets->simulation.time, seconds);
}

/* @n servers in a row, or @switches between the first and the last. */
static struct to_network *chain(uint32_t servers, uint32_t switches, double capacity)
{
	struct to_network *w = to_network_new(servers, switches);

	assert_non_null(w);
	for (uint32_t x = 0; x + 1 < servers && !switches; x++)
		to_network_join(w, x, x + 1, capacity, LINK);
	for (uint32_t x = 0; x < switches; x++)
		to_network_join(w, x ? servers + x - 1 : 0, servers + x, capacity, LINK);
	if (switches)
		to_network_join(w, servers + switches - 1, 1, capacity, LINK);
	assert_int_equal(to_network_finish(w), 0);
	return w;
}

/* @n servers on a switch. */
static struct to_network *star(uint32_t n)
{
	struct to_network *w = to_network_new(n, 1);

	assert_non_null(w);
	for (uint32_t x = 0; x < n; x++)
		to_network_join(w, x, n, CAPACITY, LINK);
	assert_int_equal(to_network_finish(w), 0);
	return w;
}

static void switches_store_and_forward(void **state)
{
	(void)state;
	for (uint32_t switches = 1; switches < 6; switches++) {
		const struct to_packet_options o = setting(TO_TRANSPORT_NONE);
		struct to_taskgraph g;
		struct run r;

		to_taskgraph_init(&g, 2);
		/* 99 packets and one of 1 byte, which waits for the one before it on each link */
		to_taskgraph_transfer(&g, 0, 1, 99 * MTU + 1);
		r = run(chain(2, switches, CAPACITY), &o, &g);
		takes(&r, (switches + 1) * (TAKES + LINK) + 98 * TAKES + 83 / CAPACITY);
		assert_int_equal(r.packets->simulation.link_bytes[0], 99 * MTU + 1);
		end(&r, &g);
	}
}

static void slow_links_queue(void **state)
{
	const struct to_packet_options o = setting(TO_TRANSPORT_NONE);
	struct to_network *w = to_network_new(2, 1);
	struct to_taskgraph g;
	struct run r;

	(void)state;
	to_network_join(w, 0, 2, CAPACITY, LINK);
	to_network_join(w, 2, 1, CAPACITY / 4, LINK);
	to_network_finish(w);
	to_taskgraph_init(&g, 2);
	to_taskgraph_transfer(&g, 0, 1, 40 * MTU);
	r = run(w, &o, &g);
	takes(&r, TAKES + LINK + 40 * 4 * TAKES + LINK);
	/* three quarters of what came had to wait, but for the first */
	assert_in_range(r.packets->links[w->out[2] + 1].queue, 28 * WIRE, 30 * WIRE);
	end(&r, &g);
}

static void incast_keeps_the_port_busy(void **state)
{
	struct to_packet_options o = setting(TO_TRANSPORT_NONE);
	const uint32_t n = 16, each = 400;

	(void)state;
	for (int small = 0; small < 2; small++) {
		struct to_taskgraph g;
		struct run r;

		to_taskgraph_init(&g, n);
		for (uint32_t x = 1; x < n; x++)
			to_taskgraph_transfer(&g, x, 0, each * MTU);
		o.buffer = small ? 100000 : 1 << 22;
		r = run(star(n), &o, &g);
		takes(&r, TAKES + LINK + (n - 1) * each * TAKES + LINK);
		assert_int_equal(r.packets->dropped, 0);
		assert_int_equal(r.packets->pauses > 0, small);
		assert_true(r.packets->links[r.network->out[n]].queue <= (n - 1) * o.buffer);
		end(&r, &g);
	}
}

static void without_pfc_a_switch_drops(void **state)
{
	struct to_packet_options o = setting(TO_TRANSPORT_NONE);
	struct to_taskgraph g;
	struct run r;

	(void)state;
	to_taskgraph_init(&g, 4);
	for (uint32_t x = 1; x < 4; x++)
		to_taskgraph_transfer(&g, x, 0, 400 * MTU);
	o.pfc = false;
	o.buffer = 50 * WIRE;
	r = run(star(4), &o, &g);
	/* the tail of a flow: nothing behind it tells, but time */
	assert_true(r.packets->dropped > 0 && r.packets->again > 0 && r.packets->timeouts > 0);
	assert_int_equal(r.packets->pauses, 0);
	assert_true(r.packets->links[r.network->out[4]].queue <= o.buffer);
	/* what was dropped counts for the link that was full */
	assert_int_equal(r.packets->links[r.network->out[4]].drops, r.packets->dropped);
	end(&r, &g);
}

static void relays_take_one_packet_after_the_other(void **state)
{
	struct to_packet_options o = setting(TO_TRANSPORT_NONE);
	struct to_taskgraph g;
	struct run r;

	(void)state;
	to_taskgraph_init(&g, 3);
	to_taskgraph_transfer(&g, 0, 2, 100 * MTU);
	r = run(chain(3, 0, CAPACITY), &o, &g);
	takes(&r, 2 * (TAKES + LINK) + 1350e-9 + 99 * TAKES);
	end(&r, &g);

	to_taskgraph_init(&g, 3);
	to_taskgraph_transfer(&g, 0, 2, 100 * MTU);
	o.relay_cost = 1e-6;
	r = run(chain(3, 0, CAPACITY), &o, &g);
	takes(&r, 2 * (TAKES + LINK) + 1350e-9 + 99 * 1e-6);
	end(&r, &g);
}

static void rings_of_relays_pause(void **state)
{
	struct to_packet_options o = setting(TO_TRANSPORT_NONE);
	struct to_taskgraph g;
	struct run r;

	(void)state;
	to_taskgraph_init(&g, 3);
	to_taskgraph_transfer(&g, 0, 2, 300 * MTU);
	o.relay_cost = 1e-6;
	o.relay_ring = 20;
	r = run(chain(3, 0, CAPACITY), &o, &g);
	takes(&r, 2 * (TAKES + LINK) + 1350e-9 + 299 * 1e-6);
	assert_true(r.packets->pauses > 0);
	assert_int_equal(r.packets->dropped, 0);
	end(&r, &g);

	to_taskgraph_init(&g, 3);
	to_taskgraph_transfer(&g, 0, 2, 300 * MTU);
	o.pfc = false;
	r = run(chain(3, 0, CAPACITY), &o, &g);
	assert_true(r.packets->dropped > 0);
	end(&r, &g);
}

/* Two servers send through a third to a fourth: its queue for that grows. */
static struct run relay_incast(struct to_packet_options *o, struct to_taskgraph *g)
{
	struct to_network *w = to_network_new(4, 0);

	to_network_join(w, 0, 2, CAPACITY, LINK);
	/* not in step with the other, or one of them would lose all, and never out of order */
	to_network_join(w, 1, 2, 0.7 * CAPACITY, LINK);
	to_network_join(w, 2, 3, CAPACITY, LINK);
	to_network_finish(w);
	to_taskgraph_init(g, 4);
	to_taskgraph_transfer(g, 0, 3, 20000 * MTU);
	to_taskgraph_transfer(g, 1, 3, 20000 * MTU);
	return run(w, o, g);
}

static void relays_drop_and_transports_make_good(void **state)
{
	const double least = 40000 * TAKES;

	(void)state;
	for (int t = TO_TRANSPORT_DCQCN; t <= TO_TRANSPORT_NONE; t++) {
		struct to_packet_options o = setting(t);
		struct to_taskgraph g;
		struct run r;
		double time;

		o.headers = 82;
		/* the first round trip is more than DCQCN's first cut can take back */
		o.relay_queue = t == TO_TRANSPORT_DCQCN ? 400 : 300;
		r = relay_incast(&o, &g);
		time = r.packets->simulation.time;
		if (t == TO_TRANSPORT_NONE || t == TO_TRANSPORT_TCP)
			assert_true(r.packets->dropped > 0 && r.packets->again > 0);
		else
			assert_int_equal(r.packets->dropped, 0);
		printf("# %s: %.4g s of %.4g s, %u dropped, %u sent again, %u NAKs, %u timeouts\n",
		       to_transport_names[t], time, least, (unsigned)r.packets->dropped,
		       (unsigned)r.packets->again, (unsigned)r.packets->naks,
		       (unsigned)r.packets->timeouts);
		assert_true(time > least);
		/* DCQCN takes milliseconds to find what it gave up in the first cuts */
		if (t == TO_TRANSPORT_DCQCN || t == TO_TRANSPORT_DCTCP)
			assert_true(time < (t == TO_TRANSPORT_DCTCP ? 1.1 : 1.4) * least);
		assert_int_equal(r.packets->naks > 0, t == TO_TRANSPORT_NONE);
		assert_int_equal(r.packets->cnps > 0, t == TO_TRANSPORT_DCQCN);
		/* the shared link carried all, and what was sent again beyond it */
		assert_true(r.packets->simulation.link_bytes[r.network->out[2] + 2] >= 40000. * MTU);
		end(&r, &g);
	}
}

static void timeouts_bring_back_the_last_packet(void **state)
{
	struct to_packet_options o = setting(TO_TRANSPORT_NONE);
	struct to_taskgraph g;
	struct run r;

	(void)state;
	o.relay_queue = 300;
	o.timeout = 1e-3;
	r = relay_incast(&o, &g);
	assert_true(r.packets->timeouts > 0);
	assert_true(r.packets->simulation.time < 1);
	end(&r, &g);
}

/* Each step waits for the one before; ACKs take less than a thousandth of the links. */
static void a_ring_goes_step_by_step(void **state)
{
	const uint32_t members[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const struct to_packet_options o = setting(TO_TRANSPORT_DCQCN);
	const uint32_t each = 512;
	struct to_taskgraph g;
	struct run r;
	double steps;

	(void)state;
	to_taskgraph_init(&g, 8);
	to_taskgraph_allreduce(&g, members, 8, 8 * each * MTU);
	r = run(star(8), &o, &g);
	steps = 14 * (each * TAKES + TAKES + 2 * LINK);
	assert_in_range(r.packets->simulation.time * 1e9, steps * 1e9, steps * 1.001e9);
	assert_true(r.packets->simulation.link_bytes[0] == 14 * each * MTU);
	end(&r, &g);
}

static void all_packets_of_a_fat_tree_arrive(void **state)
{
	const struct to_network_setting servers = { .servers = 16, .degree = 4,
		.bandwidth = 25 * GBPS, .latency = LINK };
	struct to_error err = { "" };

	(void)state;
	for (int spread = 0; spread < 2; spread++) {
		struct to_packet_options o = setting(TO_TRANSPORT_NONE);
		double times[2], bytes = 0;

		for (int again = 0; again < 2; again++) {
			struct to_taskgraph g;
			struct run r;

			to_taskgraph_init(&g, 16);
			for (uint32_t x = 0; x < 16; x++)
				to_taskgraph_transfer(&g, x, (x + 5) % 16, 300 * MTU);
			r = begin(to_network_named("fat-tree:4", &servers, &err), &o, spread, &g);
			assert_non_null(r.packets);
			assert_int_equal(r.packets->dropped, 0);
			times[again] = r.packets->simulation.time;
			for (uint32_t i = 0; i < r.network->n_links; i++)
				bytes += r.network->links[i].to < 16 ?
					 r.packets->simulation.link_bytes[i] : 0;
			end(&r, &g);
		}
		assert_true(times[0] == times[1]);
		assert_true(bytes == 2 * 16 * 300. * MTU);
		/* sprayed, no link is shared unevenly */
		if (spread == TO_SPREAD_SPRAY)
			assert_true(times[0] < 1.1 * (300 * TAKES + 6 * (TAKES + LINK)));
	}
}

/* Five switches in a circle, and all send past one. */
static void a_circle_of_switches_locks(void **state)
{
	struct to_packet_options o = setting(TO_TRANSPORT_NONE);
	struct to_network *w = to_network_new(5, 5);
	struct to_taskgraph g;
	struct run r;

	(void)state;
	to_taskgraph_init(&g, 5);
	for (uint32_t x = 0; x < 5; x++) {
		snprintf(w->names[5 + x], sizeof(w->names[5 + x]), "leaf%u", x);
		to_network_join(w, x, 5 + x, CAPACITY, LINK);
		to_network_join(w, 5 + x, 5 + (x + 1) % 5, CAPACITY, LINK);
		to_taskgraph_transfer(&g, x, (x + 2) % 5, 2000 * MTU);
	}
	to_network_finish(w);
	o.buffer = 100000;
	r = begin(w, &o, TO_SPREAD_HASH, &g);
	assert_null(r.packets);
	assert_non_null(strstr(r.err.text, "PFC deadlock after "));
	assert_non_null(strstr(r.err.text, "leaf4 to leaf0 to leaf1 to leaf2 to leaf3 to leaf4"));
	end(&r, &g);
}

static void what_cannot_work_is_refused(void **state)
{
	struct to_packet_options o = setting(TO_TRANSPORT_NONE);
	struct to_taskgraph g;
	struct run r;

	(void)state;
	to_taskgraph_init(&g, 2);
	o.buffer = 40000;
	r = begin(star(2), &o, TO_SPREAD_HASH, &g);
	assert_null(r.simulator);
	assert_string_equal(r.err.text,
		"PFC needs a buffer of 45974 bytes for head-room on the link from s0 to ");
	end(&r, &g);

	to_taskgraph_init(&g, 2);
	to_taskgraph_transfer(&g, 0, 1, 100);
	r = begin(to_network_named("rail:2", &(struct to_network_setting){
			.servers = 2, .degree = 2, .bandwidth = 100 * GBPS, .latency = LINK }, &r.err),
		  &(struct to_packet_options){ .mtu = MTU, .queue_pairs = 1, .buffer = 1 << 20,
					       .relay_ring = 1000 }, TO_SPREAD_SPRAY, &g);
	assert_null(r.packets);
	assert_string_equal(r.err.text,
		"without PFC packets get lost, which is not seen where they are sprayed: --routing hash");
	end(&r, &g);
}

/* An AllReduce, whose steps are skipped, and two transfers that share a link. */
static struct run some_is_steady(enum to_transport transport, bool forward, struct to_taskgraph *g)
{
	const uint32_t members[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct to_packet_options o = setting(transport);

	o.fast_forward = forward;
	to_taskgraph_init(g, 12);
	to_taskgraph_allreduce(g, members, 8, 8 * 1260 * MTU);
	to_taskgraph_transfer(g, 8, 9, 30000 * MTU);
	to_taskgraph_transfer(g, 10, 9, 20000 * MTU + 5);
	return run(star(12), &o, g);
}

/* AllReduces of different chunks that share the links of a ring of servers. */
static struct run rings_share(enum to_transport transport, bool forward, struct to_taskgraph *g)
{
	const uint32_t members[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct to_packet_options o = setting(transport);
	struct to_network *w = to_network_new(8, 0);

	assert_non_null(w);
	for (uint32_t x = 0; x < 8; x++)
		to_network_join(w, x, (x + 1) % 8, CAPACITY, LINK);
	assert_int_equal(to_network_finish(w), 0);
	o.fast_forward = forward;
	to_taskgraph_init(g, 8);
	to_taskgraph_allreduce(g, members, 8, 8ull * 1500 * MTU);
	to_taskgraph_allreduce(g, members, 8, 8ull * (1111 * MTU + 5));
	to_taskgraph_allreduce(g, members, 8, 8ull * 800 * MTU);
	return run(w, &o, g);
}

static void skips_count(struct run (*work)(enum to_transport, bool, struct to_taskgraph *))
{
	static const enum to_transport transports[] = { TO_TRANSPORT_NONE, TO_TRANSPORT_DCQCN,
							TO_TRANSPORT_TCP };

	for (unsigned int i = 0; i < sizeof(transports) / sizeof(*transports); i++) {
		struct to_taskgraph tasks[2];
		const struct run whole = work(transports[i], false, &tasks[0]);
		const struct run skips = work(transports[i], true, &tasks[1]);
		const struct to_packets *w = whole.packets, *s = skips.packets;
		const double wrong = fabs(s->simulation.time - w->simulation.time);

		print_message("# %s: %.6f s instead of %.6f s, %llu times %.6f s skipped\n",
			      to_transport_names[transports[i]], s->simulation.time,
			      w->simulation.time, (unsigned long long)s->skips, s->skipped * 1e-12);
		/* DCQCN seeks its rate all the time */
		assert_true(s->skipped * 1e-12 > w->simulation.time / 2 ||
			    transports[i] == TO_TRANSPORT_DCQCN);
		assert_true(wrong <= s->skip_error + 1e-9 && s->skip_error < w->simulation.time / 100);
		assert_true(s->hops == w->hops && s->sent == w->sent);
		for (uint32_t l = 0; l < whole.network->n_links; l++) {
			assert_int_equal(s->links[l].bytes, w->links[l].bytes);
			assert_int_equal(s->links[l].busy, w->links[l].busy);
		}
		end((struct run *)&whole, &tasks[0]);
		end((struct run *)&skips, &tasks[1]);
	}
}

static void what_is_skipped_counts(void **state)
{
	(void)state;
	skips_count(some_is_steady);
	skips_count(rings_share);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches_store_and_forward),
		cmocka_unit_test(slow_links_queue),
		cmocka_unit_test(incast_keeps_the_port_busy),
		cmocka_unit_test(without_pfc_a_switch_drops),
		cmocka_unit_test(relays_take_one_packet_after_the_other),
		cmocka_unit_test(rings_of_relays_pause),
		cmocka_unit_test(relays_drop_and_transports_make_good),
		cmocka_unit_test(timeouts_bring_back_the_last_packet),
		cmocka_unit_test(a_ring_goes_step_by_step),
		cmocka_unit_test(all_packets_of_a_fat_tree_arrive),
		cmocka_unit_test(a_circle_of_switches_locks),
		cmocka_unit_test(what_is_skipped_counts),
		cmocka_unit_test(what_cannot_work_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
