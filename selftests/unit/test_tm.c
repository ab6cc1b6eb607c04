// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traffic matrices against a simulated fabric: random topology, random routes
 * and flows, some of which bypass the kernel at either end; every server
 * counts what its kernel would see, every NIC counts all. The merged matrix
 * must be what was sent, to the byte.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/tm.h"
#include "format/tm_json.h"
#include "measure/tm_merge.h"

#define N_MAX 12
#define DEGREE_MAX 4
#define SAMPLES 8
#define INTERVAL 50000000ull

static uint64_t seed;

static uint32_t dice(uint32_t sides)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % sides;
}

/*
 * A fabric of n servers; peer[s][p] is where the transmitter of port p leads,
 * server << 8 | port, and source[s][p] where its receiver is lit from; -1 when
 * dark.
 */
struct fabric {
	unsigned int n, degree;
	int peer[N_MAX][DEGREE_MAX], source[N_MAX][DEGREE_MAX];
	struct to_tm *record[N_MAX];
	/* what was sent, as the oracle knows */
	uint64_t sent[SAMPLES][TO_TM_CLASSES][N_MAX][N_MAX];
	uint64_t packets[N_MAX][N_MAX];
	/* samples that a server's clock may be late; -1, 0 or 1 at random */
	bool jitter;
	/* hardware sends by any port, and is asked for at any */
	bool any_port;
};

static void name_end(struct to_tm_end *end, int peer)
{
	end->server = peer < 0 ? TO_TM_NONE : (uint32_t)peer >> 8;
	if (peer >= 0)
		snprintf(end->port, sizeof(end->port), "eth%d", peer & 255);
}

static void lead(struct fabric *f, unsigned int a, unsigned int p,
		 unsigned int b, unsigned int q)
{
	f->peer[a][p] = b << 8 | q;
	f->source[b][q] = a << 8 | p;
}

static void join(struct fabric *f, unsigned int a, unsigned int p,
		 unsigned int b, unsigned int q)
{
	lead(f, a, p, b, q);
	lead(f, b, q, a, p);
}

/* A ring, so that all are connected, and random links on the other ports. */
static void cable_duplex(struct fabric *f)
{
	for (unsigned int s = 0; s < f->n; s++)
		join(f, s, 0, (s + 1) % f->n, 1);
	for (unsigned int p = 2; p < f->degree; p++)
		for (unsigned int s = 0; s < f->n; s++) {
			unsigned int t = dice(f->n);

			if (t != s && f->peer[s][p] < 0 && f->peer[t][p] < 0)
				join(f, s, p, t, p);
		}
}

/* Transmitters and receivers apart: a ring one way, and random jumps. */
static void cable_simplex(struct fabric *f)
{
	for (unsigned int p = 0; p < f->degree; p++) {
		unsigned int jump = p ? 1 + dice(f->n - 1) : 1;

		for (unsigned int s = 0; s < f->n; s++)
			lead(f, s, p, (s + jump) % f->n, p);
	}
}

static void fabric_init(struct fabric *f, unsigned int n, unsigned int degree,
			bool simplex)
{
	memset(f, 0, sizeof(*f));
	f->n = n;
	f->degree = degree;
	memset(f->peer, -1, sizeof(f->peer));
	memset(f->source, -1, sizeof(f->source));
	if (simplex)
		cable_simplex(f);
	else
		cable_duplex(f);
	for (unsigned int s = 0; s < n; s++) {
		struct to_tm *r = to_tm_new(n);

		assert_non_null(r);
		strcpy(r->job, "oracle");
		strcpy(r->plan, "0123456789abcdef");
		r->generation = 7;
		r->interval_ns = INTERVAL;
		r->server = s;
		r->n_ports = degree;
		r->ports = calloc(degree, sizeof(*r->ports));
		for (unsigned int i = 0; i < n; i++)
			snprintf(r->servers[i], TO_NAME_MAX, "s%u", i);
		for (unsigned int p = 0; p < degree; p++) {
			snprintf(r->ports[p].name, IFNAMSIZ, "eth%u", p);
			name_end(&r->ports[p].to, f->peer[s][p]);
			name_end(&r->ports[p].from, f->source[s][p]);
		}
		for (unsigned int k = 0; k < SAMPLES; k++) {
			struct to_tm_sample *sample = to_tm_add_sample(r);

			sample->start_ns = (1000 + k) * INTERVAL + dice(1000);
			sample->end_ns = (1001 + k) * INTERVAL + dice(1000);
			sample->elapsed_ns = INTERVAL;
			sample->ports = calloc(degree, sizeof(*sample->ports));
		}
		f->record[s] = r;
	}
}

static void fabric_free(struct fabric *f)
{
	for (unsigned int s = 0; s < f->n; s++)
		to_tm_free(f->record[s]);
}

/* Next port on a shortest path from @s to @t, at random among several. */
static unsigned int next_port(const struct fabric *f, unsigned int s,
			      unsigned int t)
{
	unsigned int distance[N_MAX], choice = 0, choices = 0;

	for (unsigned int i = 0; i < f->n; i++)
		distance[i] = i == t ? 0 : N_MAX;
	for (unsigned int round = 0; round < f->n; round++)
		for (unsigned int i = 0; i < f->n; i++)
			for (unsigned int p = 0; p < f->degree; p++) {
				int peer = f->peer[i][p];

				if (peer >= 0 && distance[peer >> 8] + 1 < distance[i])
					distance[i] = distance[peer >> 8] + 1;
			}
	for (unsigned int p = 0; p < f->degree; p++) {
		int peer = f->peer[s][p];

		if (peer >= 0 && distance[peer >> 8] + 1 == distance[s] &&
		    !dice(++choices))
			choice = p;
	}
	return choice;
}

static struct to_tm_sample *sample_of(struct fabric *f, unsigned int s,
				      unsigned int k)
{
	if (f->jitter && k > 0 && k < SAMPLES - 1)
		k += (int)dice(3) - 1;
	return &f->record[s]->samples[k];
}

static void see(struct to_tm_sample *sample, const struct to_tm_flow *flow,
		int in, int out)
{
	struct to_tm_flow seen = *flow;

	seen.in = in;
	seen.out = out;
	assert_int_equal(to_tm_add_flow(sample, &seen), 0);
}

/* A packet under way: the server it is at, and the port that it came in by. */
struct packet {
	struct fabric *f;
	const struct to_tm_flow *flow;
	unsigned int k, at;
	int in;
};

/* Out of a port and into the next server; a kernel may not see it sent. */
static void hop(struct packet *p, unsigned int out, bool hidden)
{
	struct to_tm_sample *sample = sample_of(p->f, p->at, p->k);
	const int peer = p->f->peer[p->at][out];

	sample->ports[out].tx_bytes += p->flow->bytes;
	sample->ports[out].tx_packets += p->flow->packets;
	if (!hidden)
		see(sample, p->flow, p->in, out);
	p->at = peer >> 8;
	p->in = peer & 255;
	sample = sample_of(p->f, p->at, p->k);
	sample->ports[p->in].rx_bytes += p->flow->bytes;
	sample->ports[p->in].rx_packets += p->flow->packets;
}

/*
 * One burst of frames along a route; the kernel at the ends may not see it.
 * From the port that hardware sends by, the way may lead through the source
 * again; and when it ends at another port than is asked for, that one's peer
 * sends it back. Kernels see both.
 */
static void burst(struct fabric *f, unsigned int k, const struct to_tm_flow *flow,
		 bool hidden_from_src, bool hidden_from_dst)
{
	struct packet p = { f, flow, k, flow->src, TO_TM_NO_PORT };
	const unsigned int nic = dice(f->degree), asked = dice(f->degree);
	int peer = f->peer[flow->dst][asked];

	f->sent[k][flow->class][flow->src][flow->dst] += flow->bytes;
	f->packets[flow->src][flow->dst] += flow->packets;
	if (f->any_port && hidden_from_src && f->peer[p.at][nic] >= 0)
		hop(&p, nic, true);
	while (p.at != flow->dst)
		hop(&p, next_port(f, p.at, flow->dst),
		    hidden_from_src && p.in == TO_TM_NO_PORT);
	if (f->any_port && hidden_from_dst && p.in != (int)asked && peer >= 0 &&
	    f->peer[peer >> 8][peer & 255] == (int)(flow->dst << 8 | asked)) {
		hop(&p, asked, false);
		hop(&p, p.in, false);
	}
	if (!hidden_from_dst)
		see(sample_of(f, p.at, k), flow, p.in, TO_TM_NO_PORT);
}

/* Frames of no server, ARP and the like: the receiver's kernel sees them. */
static void chatter(struct fabric *f, unsigned int s, unsigned int k)
{
	const struct to_tm_flow flow = { .src = TO_TM_NONE, .dst = TO_TM_NONE,
					 .class = TO_TM_OTHER, .packets = 1,
					 .bytes = 60 };
	unsigned int p = dice(f->degree);
	int peer = f->peer[s][p];

	if (peer < 0)
		return;
	sample_of(f, s, k)->ports[p].tx_bytes += flow.bytes;
	sample_of(f, s, k)->ports[p].tx_packets++;
	struct to_tm_sample *sample = sample_of(f, peer >> 8, k);

	sample->ports[peer & 255].rx_bytes += flow.bytes;
	sample->ports[peer & 255].rx_packets++;
	see(sample, &flow, peer & 255, TO_TM_NO_PORT);
}

static void traffic(struct fabric *f)
{
	for (unsigned int i = 0; i < 400; i++) {
		uint32_t src = dice(f->n), dst = dice(f->n), k = dice(SAMPLES);
		enum to_tm_class class = dice(TO_TM_CLASSES);
		uint64_t packets = 1 + dice(500);
		bool rdma = class == TO_TM_ROCE;

		chatter(f, dice(f->n), k);
		if (src == dst)
			continue;
		burst(f, k, &(struct to_tm_flow){ .src = src, .dst = dst,
			.class = class, .packets = packets,
			.bytes = packets * (64 + dice(4096)) },
		     rdma && dice(3), rdma && dice(3));
	}
}

static void check_matrix(const struct fabric *f, const struct to_tm *tm,
			 bool by_sample)
{
	uint64_t matrix[N_MAX * N_MAX], want, packets = 0, want_packets = 0;

	for (int k = by_sample ? 0 : -1; k < (by_sample ? SAMPLES : 0); k++)
		for (int class = 0; class < TO_TM_CLASSES; class++) {
			to_tm_matrix(tm, k, class, TO_TM_ALL, matrix);
			for (unsigned int s = 0; s < f->n; s++)
				for (unsigned int t = 0; t < f->n; t++) {
					want = 0;
					for (int i = 0; i < SAMPLES; i++)
						if (k < 0 || i == k)
							want += f->sent[i][class][s][t];
					assert_int_equal(matrix[s * f->n + t], want);
				}
		}
	for (unsigned int k = 0; k < tm->n_samples; k++)
		for (unsigned int i = 0; i < tm->samples[k].n_flows; i++)
			packets += tm->samples[k].flows[i].packets;
	for (unsigned int s = 0; s < f->n; s++)
		for (unsigned int t = 0; t < f->n; t++)
			want_packets += f->packets[s][t];
	assert_int_equal(packets, want_packets);
}

static int64_t residual(const struct to_tm *tm)
{
	int64_t sum = 0;

	for (unsigned int l = 0; l < tm->n_links; l++) {
		int64_t rest = 0;

		for (unsigned int k = 0; k < tm->n_samples; k++) {
			const struct to_tm_link_bytes *link = &tm->samples[k].links[l];

			rest += link->carried - link->seen - link->bypass;
		}
		sum += llabs(rest);
	}
	return sum;
}

static struct to_tm *merge(struct fabric *f)
{
	struct to_error err = {};
	struct to_tm *tm = to_tm_merge(f->record, f->n, false, &err);

	if (!tm)
		fail_msg("%s", err.text);
	return tm;
}

static void run(bool simplex, bool jitter)
{
	for (unsigned int round = 0; round < 60; round++) {
		struct fabric f;
		struct to_tm *tm;

		seed = 1000 + round;
		fabric_init(&f, 3 + dice(N_MAX - 2), 2 + dice(DEGREE_MAX - 1),
			    simplex);
		f.jitter = jitter;
		f.any_port = round & 1;
		traffic(&f);
		tm = merge(&f);
		assert_int_equal(tm->n_samples, SAMPLES);
		check_matrix(&f, tm, !jitter);
		assert_int_equal(residual(tm), 0);
		to_tm_free(tm);
		fabric_free(&f);
	}
}

static void test_synchronous(void **state)
{
	(void)state;
	run(false, false);
}

static void test_simplex(void **state)
{
	(void)state;
	run(true, false);
}

static void test_jitter(void **state)
{
	(void)state;
	run(false, true);
	run(true, true);
}

/* A chain s0 - s1 - s2 of which the middle one is asked about everything. */
static void chain(struct fabric *f)
{
	seed = 1;
	fabric_init(f, 3, 2, false);
	f->peer[2][0] = f->peer[0][1] = -1;
	name_end(&f->record[2]->ports[0].to, -1);
	name_end(&f->record[2]->ports[0].from, -1);
	name_end(&f->record[0]->ports[1].to, -1);
	name_end(&f->record[0]->ports[1].from, -1);
}

static void test_conservation(void **state)
{
	const struct to_tm_flow direct = { .src = 0, .dst = 1, .packets = 10,
					   .bytes = 10000, .class = TO_TM_ROCE };
	const struct to_tm_flow through = { .src = 0, .dst = 2, .packets = 3,
					    .bytes = 300, .class = TO_TM_ROCE };
	uint64_t matrix[9];
	struct to_tm *tm;
	struct fabric f;

	(void)state;
	chain(&f);
	burst(&f, 2, &direct, true, true);
	burst(&f, 2, &through, true, true);
	tm = merge(&f);
	assert_int_equal(to_tm_matrix(tm, 2, TO_TM_ROCE, TO_TM_ALL, matrix), 0);
	assert_int_equal(matrix[0 * 3 + 1], 10000);
	assert_int_equal(matrix[0 * 3 + 2], 300);
	assert_int_equal(tm->n_links, 4);
	/* s0 -> s1 by the order of the links */
	assert_int_equal(tm->samples[2].links[0].carried, 10300);
	assert_int_equal(tm->samples[2].links[0].seen, 300);
	assert_int_equal(tm->samples[2].links[0].bypass, 10000);
	to_tm_free(tm);

	/* What a NIC lost on the way is told, and not taken from the sender. */
	f.record[1]->samples[2].ports[1].rx_bytes -= 500;
	tm = merge(&f);
	to_tm_matrix(tm, -1, -1, TO_TM_ALL, matrix);
	assert_int_equal(matrix[0 * 3 + 1], 10000);
	assert_int_equal(tm->samples[2].links[0].lost, 500);
	to_tm_free(tm);

	/* A NIC that counted less than its kernel leaves a residual. */
	f.record[0]->samples[2].ports[0].tx_bytes = 250;
	tm = merge(&f);
	to_tm_matrix(tm, -1, -1, TO_TM_ALL, matrix);
	assert_int_equal(matrix[0 * 3 + 1], 0);
	assert_int_equal(matrix[0 * 3 + 2], 300);
	assert_int_equal(residual(tm), 50);
	to_tm_free(tm);
	fabric_free(&f);
}

/* What a relay drops was sent all the same. */
static void test_drop(void **state)
{
	const struct to_tm_flow flow = { .src = 0, .dst = 2, .packets = 3,
					 .bytes = 300, .class = TO_TM_TCP };
	uint64_t matrix[9];
	struct to_tm *tm;
	struct fabric f;

	(void)state;
	chain(&f);
	see(&f.record[0]->samples[0], &flow, TO_TM_NO_PORT, 0);
	f.record[0]->samples[0].ports[0].tx_bytes = 300;
	f.record[1]->samples[0].ports[1].rx_bytes = 300;
	tm = merge(&f);
	to_tm_matrix(tm, 0, TO_TM_TCP, TO_TM_ALL, matrix);
	assert_int_equal(matrix[0 * 3 + 2], 300);
	assert_int_equal(residual(tm), 0);
	to_tm_free(tm);
	fabric_free(&f);
}

static void expect_refusal(struct fabric *f, unsigned int n, const char *words)
{
	struct to_error err = {};

	assert_null(to_tm_merge(f->record, n, false, &err));
	if (!strstr(err.text, words))
		fail_msg("\"%s\" lacks \"%s\"", err.text, words);
}

static void test_refusals(void **state)
{
	struct to_tm *twice[2];
	struct to_error err = {};
	struct fabric f;

	(void)state;
	chain(&f);
	expect_refusal(&f, 0, "no recordings");
	expect_refusal(&f, 2,
		       "1 of 3 servers missing, first s2: unknown are what s2 and its peers (s1)");

	strcpy(f.record[1]->plan, "fedcba9876543210");
	expect_refusal(&f, 3, "s0 recorded under plan 0123456789abcdef, s1 under plan fedcba");
	strcpy(f.record[1]->plan, f.record[0]->plan);

	f.record[1]->interval_ns *= 2;
	expect_refusal(&f, 3, "intervals of 50000000 ns, s1 of 100000000 ns");
	f.record[1]->interval_ns = INTERVAL;

	strcpy(f.record[0]->ports[0].to.port, "eth0");
	expect_refusal(&f, 3, "disagree about the link of s1:eth0");
	strcpy(f.record[0]->ports[0].to.port, "eth1");

	for (unsigned int k = 0; k < SAMPLES; k++) {
		f.record[1]->samples[k].start_ns += 100 * INTERVAL;
		f.record[1]->samples[k].end_ns += 100 * INTERVAL;
	}
	expect_refusal(&f, 3, " ends before that of s1 starts");

	twice[0] = twice[1] = f.record[0];
	assert_null(to_tm_merge(twice, 2, false, &err));
	assert_string_equal(err.text, "s0 is there twice");
	fabric_free(&f);
}

static void test_partial(void **state)
{
	const struct to_tm_flow through = { .src = 0, .dst = 2, .packets = 3,
					    .bytes = 300, .class = TO_TM_ROCE };
	const struct to_tm_flow hidden = { .src = 1, .dst = 2, .packets = 1,
					   .bytes = 1000, .class = TO_TM_ROCE };
	struct to_error err = {};
	uint64_t matrix[9];
	struct to_tm *tm;
	struct fabric f;

	(void)state;
	chain(&f);
	burst(&f, 0, &through, true, true);
	burst(&f, 0, &hidden, true, true);
	/* Without s2, the relay still knows s0 -> s2; nothing is made up. */
	tm = to_tm_merge(f.record, 2, true, &err);
	assert_non_null(tm);
	assert_false(tm->missing[0]);
	assert_true(tm->missing[2]);
	to_tm_matrix(tm, -1, -1, TO_TM_ALL, matrix);
	assert_int_equal(matrix[0 * 3 + 2], 300);
	assert_int_equal(matrix[1 * 3 + 2], 0);
	assert_int_equal(residual(tm), 1000);
	to_tm_free(tm);
	fabric_free(&f);
}

static void test_absent_sample(void **state)
{
	const struct to_tm_flow hidden = { .src = 0, .dst = 1, .packets = 1,
					   .bytes = 1000, .class = TO_TM_ROCE };
	struct to_error err = {};
	uint64_t matrix[9];
	struct to_tm *tm;
	struct fabric f;

	(void)state;
	chain(&f);
	/* Not to be told from chatter when s1 did not record. */
	burst(&f, 0, &hidden, true, true);
	burst(&f, SAMPLES - 1, &hidden, true, true);
	free(f.record[1]->samples[SAMPLES - 1].ports);
	f.record[1]->n_samples--;
	tm = to_tm_merge(f.record, 3, false, &err);
	assert_non_null(tm);
	assert_int_equal(tm->n_samples, SAMPLES);
	assert_int_equal(tm->samples[SAMPLES - 2].absent, 0);
	assert_int_equal(tm->samples[SAMPLES - 1].absent, 1);
	to_tm_matrix(tm, -1, -1, TO_TM_ALL, matrix);
	assert_int_equal(matrix[0 * 3 + 1], 1000);
	assert_int_equal(residual(tm), 1000);
	to_tm_free(tm);
	fabric_free(&f);
}

/* A server that is late to end a sample misses none of it. */
static void test_long_sample(void **state)
{
	const struct to_tm_flow hidden = { .src = 0, .dst = 1, .packets = 1,
					   .bytes = 1000, .class = TO_TM_ROCE };
	struct to_tm_sample *late, *next;
	uint64_t matrix[9];
	struct to_tm *tm;
	struct fabric f;

	(void)state;
	chain(&f);
	for (unsigned int k = 2; k < 6; k++)
		burst(&f, k, &hidden, true, true);
	late = &f.record[1]->samples[3];
	next = late + 1;
	late->end_ns = next->end_ns;
	late->elapsed_ns += next->elapsed_ns;
	late->ports[1].rx_bytes += next->ports[1].rx_bytes;
	late->ports[1].rx_packets += next->ports[1].rx_packets;
	free(next->ports);
	memmove(next, next + 1, (SAMPLES - 5) * sizeof(*next));
	f.record[1]->n_samples--;
	tm = merge(&f);
	to_tm_matrix(tm, -1, -1, TO_TM_ALL, matrix);
	assert_int_equal(matrix[0 * 3 + 1], 4000);
	assert_int_equal(residual(tm), 0);
	for (unsigned int k = 0; k < SAMPLES; k++)
		assert_int_equal(tm->samples[k].absent, 0);
	to_tm_free(tm);
	fabric_free(&f);
}

/* File. */

static void path_init(char path[32])
{
	int fd;

	strcpy(path, "/tmp/test_tm.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

static char *file_text(const char *path)
{
	static char text[1 << 20];
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	return strdup(text);
}

/* What is read is written again to the byte. */
static void round_trip(const struct to_tm *tm, const char *path)
{
	struct to_error err = {};
	struct to_tm *copy;
	char *before, *after;

	assert_int_equal(to_tm_save(tm, path, &err), 0);
	before = file_text(path);
	copy = to_tm_load(path, &err);
	if (!copy)
		fail_msg("%s", err.text);
	assert_int_equal(to_tm_save(copy, path, &err), 0);
	after = file_text(path);
	assert_string_equal(before, after);
	free(before);
	free(after);
	to_tm_free(copy);
}

static void test_file(void **state)
{
	struct fabric f;
	struct to_tm *tm;
	char path[32];

	(void)state;
	path_init(path);
	chain(&f);
	traffic(&f);
	f.record[1]->samples[3].lost.packets = 2;
	f.record[1]->samples[3].lost.bytes = 120;
	round_trip(f.record[0], path);
	round_trip(f.record[1], path);
	tm = merge(&f);
	assert_int_equal(tm->samples[3].lost.bytes, 120);
	round_trip(tm, path);
	to_tm_free(tm);
	fabric_free(&f);
	unlink(path);
}

static void expect_bad_file(const char *path, const char *good, const char *from,
			    const char *to, const char *words)
{
	const char *at = strstr(good, from);
	struct to_error err = {};
	struct to_tm *tm;
	FILE *out;

	assert_non_null(at);
	out = fopen(path, "w");
	fprintf(out, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
	fclose(out);
	tm = to_tm_load(path, &err);
	assert_null(tm);
	if (!strstr(err.text, words) || !strstr(err.text, path))
		fail_msg("\"%s\" lacks \"%s\"", err.text, words);
}

static void test_bad_file(void **state)
{
	const struct to_tm_flow flow = { .src = 0, .dst = 2, .packets = 3,
					 .bytes = 300, .class = TO_TM_TCP };
	struct to_error err = {};
	struct fabric f;
	char path[32], *good;

	(void)state;
	path_init(path);
	chain(&f);
	burst(&f, 0, &flow, false, false);
	assert_int_equal(to_tm_save(f.record[1], path, &err), 0);
	good = file_text(path);
	expect_bad_file(path, good, "topoopt-tm", "topoopt-plan", ":2: format: ");
	expect_bad_file(path, good, "\"version\": 1", "\"version\": 2", "version 2 is unknown");
	expect_bad_file(path, good, "\"tcp\", ", "", "classes: expected");
	expect_bad_file(path, good, "\"s1\", ", "\"s0\", ", "servers[1]: \"s0\" is there twice");
	expect_bad_file(path, good, "\"server\": \"s1\"", "\"server\": \"s9\"",
			"server: no server is called \"s9\"");
	expect_bad_file(path, good, "s2:eth1", "s2-eth1", "expected \"SERVER:PORT\"");
	expect_bad_file(path, good, "[1, 0, 0, 2, 1, 3, 300]", "[1, 7, 0, 2, 1, 3, 300]",
			"samples[0].flows[0][1]: expected an egress port, -1 to 1");
	expect_bad_file(path, good, "[1, 0, 0, 2, 1, 3, 300]", "[1, 0, 0, 3, 1, 3, 300]",
			"samples[0].flows[0][3]: expected a destination server, -1 to 2");
	expect_bad_file(path, good, "[1, 0, 0, 2, 1, 3, 300]", "[1, 0, 0, 2, 1, 3, -300]",
			"expected bytes");
	expect_bad_file(path, good, "[1, 0, 0, 2, 1, 3, 300]", "[1, 0, 0, 2, 1, 3]",
			"expected an array of 7 numbers");
	expect_bad_file(path, good, "], \"ports\": [[", "], \"ports\": [[0, 0, 0, 0], [",
			"expected a row for each port");
	expect_bad_file(path, good, "\"lost\"", "\"found\"", "unknown key");
	expect_bad_file(path, good, "\n]\n}\n", "", "the file ends early");
	free(good);
	fabric_free(&f);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_synchronous),
		cmocka_unit_test(test_simplex),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_conservation),
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_absent_sample),
		cmocka_unit_test(test_long_sample),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_bad_file),
	};

	return cmocka_run_group_tests_name("tm", tests, NULL, NULL);
}
