// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traffic behind packet switches: four servers with a port on "tor", of which s3 has one on
 * "top" too, with s4. What kernels see and NICs count is written down by hand.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/tm.h"
#include "measure/tm_merge.h"

#define N 5
#define SAMPLES 12
#define INTERVAL 50000000ull
#define NONE TO_TM_NO_PORT

static struct to_tm *records[N];

static void add_port(struct to_tm *r, const char *name, const char *on)
{
	struct to_tm_port *port = &r->ports[r->n_ports++];

	strcpy(port->name, name);
	strcpy(port->packet_switch, on);
	port->to.server = port->from.server = TO_TM_NONE;
}

static int begin(void **state)
{
	(void)state;
	for (unsigned int s = 0; s < N; s++) {
		struct to_tm *r = records[s] = to_tm_new(N);

		strcpy(r->plan, "0123456789abcdef");
		r->interval_ns = INTERVAL;
		r->server = s;
		for (unsigned int i = 0; i < N; i++)
			snprintf(r->servers[i], TO_NAME_MAX, "s%u", i);
		r->ports = calloc(2, sizeof(*r->ports));
		add_port(r, "eth0", s == 4 ? "top" : "tor");
		if (s == 3)
			add_port(r, "eth1", "top");
		for (unsigned int k = 0; k < SAMPLES; k++) {
			struct to_tm_sample *sample = to_tm_add_sample(r);

			sample->start_ns = (100 + k) * INTERVAL;
			sample->end_ns = sample->start_ns + INTERVAL;
			sample->elapsed_ns = INTERVAL;
			sample->ports = calloc(r->n_ports, sizeof(*sample->ports));
		}
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned int s = 0; s < N; s++)
		to_tm_free(records[s]);
	return 0;
}

/* @bytes in packets of 1000 over the wire of a segment, from one NIC to another. */
static void wire(unsigned int k, unsigned int from, unsigned int p, unsigned int to,
		 unsigned int q, uint64_t bytes)
{
	struct to_tm_counters *tx = &records[from]->samples[k].ports[p];
	struct to_tm_counters *rx = &records[to]->samples[k].ports[q];

	tx->tx_bytes += bytes;
	tx->tx_packets += bytes / 1000;
	rx->rx_bytes += bytes;
	rx->rx_packets += bytes / 1000;
}

/* The kernel of @at sees that. */
static void see(unsigned int k, unsigned int at, int in, int out, uint32_t src, uint32_t dst,
		enum to_tm_class class, uint64_t bytes)
{
	const struct to_tm_flow flow = { .src = src, .dst = dst, .in = in, .out = out,
					 .class = class, .packets = bytes / 1000, .bytes = bytes };

	assert_int_equal(to_tm_add_flow(&records[at]->samples[k], &flow), 0);
}

/* Bytes of all pairs, over all samples. */
static void merge(uint64_t *bytes, uint64_t *unknown)
{
	struct to_error err = { "" };
	struct to_tm *tm = to_tm_merge(records, N, false, &err);

	assert_string_equal(err.text, "");
	assert_non_null(tm);
	*unknown = to_tm_matrix(tm, -1, -1, TO_TM_ALL, bytes);
	to_tm_free(tm);
}

static void expect(const uint64_t *bytes, const uint64_t (*pairs)[3], unsigned int n)
{
	uint64_t want[N * N] = { 0 };

	for (unsigned int i = 0; i < n; i++)
		want[pairs[i][0] * N + pairs[i][1]] = pairs[i][2];
	for (unsigned int i = 0; i < N * N; i++)
		if (bytes[i] != want[i])
			fail_msg("s%u > s%u: %lu, expected %lu", i / N, i % N, (unsigned long)bytes[i],
				 (unsigned long)want[i]);
}

/* Over TCP kernels see everything; what they relay is the source's. */
static void kernels(void **state)
{
	uint64_t bytes[N * N], unknown;

	(void)state;
	for (unsigned int k = 2; k < 8; k++) {
		wire(k, 0, 0, 3, 0, 5000);
		wire(k, 3, 1, 4, 0, 5000);
		see(k, 0, NONE, 0, 0, 4, TO_TM_TCP, 5000);
		see(k, 3, 0, 1, 0, 4, TO_TM_TCP, 5000);
		see(k, 4, 0, NONE, 0, 4, TO_TM_TCP, 5000);
		wire(k, 1, 0, 2, 0, 3000);
		see(k, 1, NONE, 0, 1, 2, TO_TM_TCP, 3000);
		see(k, 2, 0, NONE, 1, 2, TO_TM_TCP, 3000);
	}
	merge(bytes, &unknown);
	expect(bytes, (const uint64_t[][3]){ { 0, 4, 30000 }, { 1, 2, 18000 } }, 2);
	assert_int_equal(unknown, 0);
}

/* RDMA hardware that a kernel relays is seen there alone, and belongs to the source. */
static void relayed(void **state)
{
	uint64_t bytes[N * N], unknown;

	(void)state;
	for (unsigned int k = 2; k < 8; k++) {
		wire(k, 0, 0, 3, 0, 8000);
		wire(k, 3, 1, 4, 0, 8000);
		see(k, 3, 0, 1, 0, 4, TO_TM_ROCE, 8000);
		/* and back, into hardware on the first switch */
		wire(k, 4, 0, 3, 1, 2000);
		wire(k, 3, 0, 0, 0, 2000);
		see(k, 3, 1, 0, 4, 0, TO_TM_ROCE, 2000);
	}
	merge(bytes, &unknown);
	expect(bytes, (const uint64_t[][3]){ { 0, 4, 48000 }, { 4, 0, 12000 } }, 2);
	assert_int_equal(unknown, 0);
}

/* No kernel sees what one port sends to several: it is what entered these. */
static void one_sender(void **state)
{
	uint64_t bytes[N * N], unknown;

	(void)state;
	for (unsigned int k = 2; k < 8; k++) {
		wire(k, 0, 0, 1, 0, 7000);
		wire(k, 0, 0, 2, 0, 11000);
		/* beside TCP that arrives there, and RoCEv2 that is relayed to s2 */
		wire(k, 1, 0, 2, 0, 3000);
		see(k, 1, NONE, 0, 1, 2, TO_TM_TCP, 3000);
		see(k, 2, 0, NONE, 1, 2, TO_TM_TCP, 3000);
		wire(k, 4, 0, 3, 1, 4000);
		wire(k, 3, 0, 2, 0, 4000);
		see(k, 3, 1, 0, 4, 2, TO_TM_ROCE, 4000);
	}
	merge(bytes, &unknown);
	expect(bytes, (const uint64_t[][3]){ { 0, 1, 42000 }, { 0, 2, 66000 }, { 1, 2, 18000 },
					     { 4, 2, 24000 } }, 4);
	assert_int_equal(unknown, 0);
}

/* When several send to several, it is right what each sent and received. */
static void many_senders(void **state)
{
	uint64_t bytes[N * N], unknown;

	(void)state;
	for (unsigned int k = 2; k < 8; k++) {
		wire(k, 0, 0, 1, 0, 10000);
		wire(k, 1, 0, 0, 0, 10000);
		wire(k, 2, 0, 3, 0, 30000);
		/* a NIC that is read early counts it in the next interval */
		records[3]->samples[k].ports[0].rx_bytes -= 5000;
		records[3]->samples[k + 1].ports[0].rx_bytes += 5000;
	}
	merge(bytes, &unknown);
	assert_int_equal(unknown, 0);
	for (unsigned int s = 0; s < 4; s++) {
		static const uint64_t sent[] = { 60000, 60000, 180000, 0 };
		static const uint64_t received[] = { 60000, 60000, 0, 180000 };
		uint64_t out = 0, in = 0;

		for (unsigned int i = 0; i < N; i++) {
			out += bytes[s * N + i];
			in += bytes[i * N + s];
		}
		assert_int_equal(out, sent[s]);
		assert_in_range(in, received[s] - received[s] / 50, received[s] + 180000 / 50);
		assert_int_equal(bytes[s * N + s], 0);
	}
}

/* RDMA that software does is seen where it arrives, and is not counted twice. */
static void software(void **state)
{
	uint64_t bytes[N * N], unknown;

	(void)state;
	for (unsigned int k = 2; k < 8; k++) {
		wire(k, 0, 0, 1, 0, 9000);
		see(k, 1, 0, NONE, 0, 1, TO_TM_ROCE, 9000);
		wire(k, 4, 0, 3, 1, 4000);
		wire(k, 3, 0, 1, 0, 4000);
		see(k, 3, 1, 0, 4, 1, TO_TM_ROCE, 4000);
		see(k, 1, 0, NONE, 4, 1, TO_TM_ROCE, 4000);
	}
	merge(bytes, &unknown);
	expect(bytes, (const uint64_t[][3]){ { 0, 1, 54000 }, { 4, 1, 24000 } }, 2);
	assert_int_equal(unknown, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kernels, begin, end),
		cmocka_unit_test_setup_teardown(relayed, begin, end),
		cmocka_unit_test_setup_teardown(one_sender, begin, end),
		cmocka_unit_test_setup_teardown(many_senders, begin, end),
		cmocka_unit_test_setup_teardown(software, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
