// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The live matrix against what was sent. Packets cross a simulated fabric of duplex
 * links along shortest paths, one of several at random. Every server has a clock and
 * NICs of its own: kernels count what they see by that clock, NICs are read too late or
 * too early, were reset, or renew what they tell more rarely. Recording begins and ends
 * in the middle of the traffic. What comes out, interval by interval, is compared with
 * what was sent by the true time.
 *
 * A byte at the begin or end of a burst is in the wrong interval by as much as clocks
 * and NICs are off, whatever one does: so phases take seconds.
 *
 *	test_tm_live report	prints how much is wrong, seed by seed
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "data/tm.h"
#include "measure/tm_live.h"
#include "measure/tm_merge.h"

#define N 8
#define DEGREE 3
#define SLOTS 600
#define MS 1000000ll
#define INTERVAL (50 * MS)
#define STEP (2 * MS)
#define FLOWS_MAX 256

static bool reporting;
static uint64_t seed;

static uint32_t dice(uint32_t sides)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % sides;
}

/**
 * struct faults - how servers measure
 * @skew: clocks are off by up to so much
 * @late: NICs are read so much after the kernel's epoch ended; negative: before
 * @refresh: NICs renew what they tell so often, 0: always
 * @resets: of NICs
 */
struct faults {
	int64_t skew, late, refresh;
	unsigned int resets;
	bool one_refreshes;	/* only the NICs of s0 do so */
};

/**
 * struct stream - what a pair sends
 * @from, @to: when, in each @period
 */
struct stream {
	uint32_t src, dst;
	enum to_tm_class class;
	bool hidden_src, hidden_dst;
	int64_t period, from, to;
	uint64_t bytes;
};

struct sample {
	struct to_tm_flow flows[FLOWS_MAX];
	unsigned int n;
	struct to_tm_counters ports[DEGREE];
};

static struct fabric {
	struct faults faults;
	int peer[N][DEGREE];	/* server << 8 | port, -1: dark */
	unsigned int distance[N][N];
	int64_t clock[N], phase[N];
	struct sample sample[N][SLOTS];
	uint64_t sent[SLOTS][N][N];
} f;

/* ---- the fabric ---- */

static void join(unsigned int a, unsigned int p, unsigned int b, unsigned int q)
{
	f.peer[a][p] = b << 8 | q;
	f.peer[b][q] = a << 8 | p;
}

static void cable(void)
{
	memset(f.peer, -1, sizeof(f.peer));
	for (unsigned int s = 0; s < N; s++)
		join(s, 0, (s + 1) % N, 1);
	for (unsigned int s = 0; s < N; s++) {
		unsigned int t = dice(N);

		if (t != s && f.peer[s][2] < 0 && f.peer[t][2] < 0)
			join(s, 2, t, 2);
	}
	for (unsigned int s = 0; s < N; s++)
		for (unsigned int t = 0; t < N; t++)
			f.distance[s][t] = s == t ? 0 : N;
	for (unsigned int round = 0; round < N; round++)
		for (unsigned int s = 0; s < N; s++)
			for (unsigned int p = 0; p < DEGREE; p++)
				for (unsigned int t = 0; t < N && f.peer[s][p] >= 0; t++)
					if (f.distance[f.peer[s][p] >> 8][t] + 1 < f.distance[s][t])
						f.distance[s][t] =
							f.distance[f.peer[s][p] >> 8][t] + 1;
}

static unsigned int next_port(unsigned int s, unsigned int t)
{
	unsigned int choice = 0, choices = 0;

	for (unsigned int p = 0; p < DEGREE; p++)
		if (f.peer[s][p] >= 0 && f.distance[f.peer[s][p] >> 8][t] + 1 == f.distance[s][t] &&
		    !dice(++choices))
			choice = p;
	return choice;
}

/* ---- what servers count ---- */

static unsigned int slot(int64_t time)
{
	return time < 0 ? 0 : time / INTERVAL >= SLOTS ? SLOTS - 1 : time / INTERVAL;
}

static void see(unsigned int s, int64_t time, const struct stream *stream, int in, int out)
{
	struct sample *sample = &f.sample[s][slot(time + f.clock[s])];
	struct to_tm_flow *flow = sample->flows;

	while (flow < sample->flows + sample->n &&
	       !(flow->src == stream->src && flow->dst == stream->dst && flow->in == in &&
		 flow->out == out && flow->class == stream->class))
		flow++;
	if (flow == sample->flows + sample->n) {
		assert_true(sample->n++ < FLOWS_MAX);
		*flow = (struct to_tm_flow){ stream->src, stream->dst, in, out, stream->class,
					     0, 0 };
	}
	flow->packets++;
	flow->bytes += stream->bytes;
}

static struct to_tm_counters *nic(unsigned int s, unsigned int p, int64_t time)
{
	const int64_t refresh = f.faults.refresh;

	if (refresh && (!s || !f.faults.one_refreshes))
		time = ((time + f.phase[s]) / refresh + 1) * refresh - f.phase[s];
	return &f.sample[s][slot(time + f.clock[s] - f.faults.late)].ports[p];
}

struct packet {
	const struct stream *stream;
	int64_t time;
	unsigned int at;
	int in;
};

static void hop(struct packet *p, unsigned int out, bool hidden)
{
	struct to_tm_counters *c = nic(p->at, out, p->time);
	const int peer = f.peer[p->at][out];

	c->tx_packets++;
	c->tx_bytes += p->stream->bytes;
	if (!hidden)
		see(p->at, p->time, p->stream, p->in, out);
	p->time += MS / 20;
	p->at = peer >> 8;
	p->in = peer & 255;
	c = nic(p->at, p->in, p->time);
	c->rx_packets++;
	c->rx_bytes += p->stream->bytes;
}

/*
 * From the port that hardware sends by the way may lead through the source again; and
 * when it ends at another port than is asked for, that one's peer sends it back.
 */
static void transmit(const struct stream *stream, int64_t time)
{
	struct packet p = { stream, time, stream->src, TO_TM_NO_PORT };
	const unsigned int by = stream->bytes % DEGREE, asked = stream->bytes / 7 % DEGREE;
	const bool far = f.distance[stream->src][stream->dst] > 1;
	const int peer = f.peer[stream->dst][asked];

	f.sent[slot(time)][stream->src][stream->dst] += stream->bytes;
	if (stream->hidden_src && far && f.peer[p.at][by] >= 0)
		hop(&p, by, true);
	while (p.at != stream->dst)
		hop(&p, next_port(p.at, stream->dst),
		    stream->hidden_src && p.in == TO_TM_NO_PORT);
	if (stream->hidden_dst && far && p.in != (int)asked && peer >= 0 &&
	    f.peer[peer >> 8][peer & 255] == (int)(stream->dst << 8 | asked)) {
		hop(&p, asked, false);
		hop(&p, p.in, false);
	}
	if (!stream->hidden_dst)
		see(p.at, p.time, stream, p.in, TO_TM_NO_PORT);
}

/* ---- what is sent ---- */

static void reset(void)
{
	for (unsigned int i = 0; i < f.faults.resets; i++) {
		struct sample *sample = &f.sample[dice(N)][40 + dice(SLOTS - 80)];

		sample->ports[dice(DEGREE)] = (struct to_tm_counters){ 0 };
	}
}

static void run(const struct stream *streams, unsigned int n)
{
	for (int64_t time = 0; time < SLOTS * INTERVAL; time += STEP)
		for (unsigned int i = 0; i < n; i++) {
			const struct stream *s = &streams[i];

			if (time % s->period >= s->from && time % s->period < s->to)
				transmit(s, time + dice(STEP));
		}
	reset();
}

static void begin(uint64_t number, const struct faults *faults)
{
	seed = number;
	memset(&f, 0, sizeof(f));
	f.faults = *faults;
	cable();
	for (unsigned int s = 0; s < N; s++) {
		f.clock[s] = faults->skew ? (int64_t)dice(2 * faults->skew) - faults->skew : 0;
		f.phase[s] = faults->refresh ? dice(faults->refresh) : 0;
	}
}

/* Phases of a job: rings over RDMA, transfers over RDMA and TCP near and far. */
static void job(void)
{
	const int64_t period = (4000 + dice(2000)) * MS;
	struct stream streams[N + 24];
	unsigned int n = 0;

	for (uint32_t s = 0; s < N; s++)
		streams[n++] = (struct stream){ s, (s + 1) % N, TO_TM_ROCE, true, true,
						period, period / 3, period, 40000 };
	while (n < N + 24) {
		struct stream *s = &streams[n];

		*s = (struct stream){ .src = dice(N), .dst = dice(N), .class = dice(3) ?
				      TO_TM_ROCE : TO_TM_TCP, .period = period,
				      .from = dice(period / 3),
				      .bytes = 5000 + dice(40000) };
		s->to = s->from + period / 3 + dice(period / 3);
		s->hidden_src = s->class == TO_TM_ROCE && dice(4);
		s->hidden_dst = s->class == TO_TM_ROCE && dice(4);
		n += s->src != s->dst;
	}
	run(streams, n);
}

/* Bursts of some ms, many pairs in each interval, other ones in the next. */
static void bursts(bool far, bool direct)
{
	for (int64_t time = 0; time < SLOTS * INTERVAL; time += INTERVAL)
		for (unsigned int i = 0; i < 24; i++) {
			struct stream s = { .src = dice(N), .dst = dice(N), .class = TO_TM_ROCE,
					    .bytes = 5000 + dice(40000) };
			const int64_t from = time + dice(INTERVAL), length = (5 + dice(25)) * MS;
			const bool near = f.distance[s.src][s.dst] == 1;

			s.hidden_src = s.hidden_dst = near || dice(2);
			if (s.src == s.dst || !(near ? direct : far))
				continue;
			for (int64_t t = from; t < from + length && t < SLOTS * INTERVAL; t += STEP)
				transmit(&s, t + dice(STEP));
		}
	reset();
}

/* ---- recordings ---- */

#define FIRST 10	/* slots recorded, of all that there was traffic in */
#define LAST (SLOTS - 10)

static struct to_tm *record(unsigned int s, unsigned int from, unsigned int to)
{
	struct to_tm *r = to_tm_new(N);

	strcpy(r->job, "job");
	strcpy(r->plan, "0123456789abcdef");
	r->interval_ns = INTERVAL;
	r->server = s;
	r->n_ports = DEGREE;
	r->ports = calloc(DEGREE, sizeof(*r->ports));
	for (unsigned int i = 0; i < N; i++)
		snprintf(r->servers[i], TO_NAME_MAX, "s%u", i);
	for (unsigned int p = 0; p < DEGREE; p++) {
		const int peer = f.peer[s][p];

		snprintf(r->ports[p].name, IFNAMSIZ, "eth%u", p);
		r->ports[p].to.server = peer < 0 ? TO_TM_NONE : (uint32_t)peer >> 8;
		if (peer >= 0)
			snprintf(r->ports[p].to.port, IFNAMSIZ, "eth%u", peer & 255);
		r->ports[p].from = r->ports[p].to;
	}
	for (unsigned int k = from; k < to; k++) {
		const struct sample *have = &f.sample[s][k];
		struct to_tm_sample *sample = to_tm_add_sample(r);

		sample->start_ns = k * INTERVAL;
		sample->end_ns = (k + 1) * INTERVAL;
		sample->elapsed_ns = INTERVAL;
		sample->ports = calloc(DEGREE, sizeof(*sample->ports));
		memcpy(sample->ports, have->ports, sizeof(have->ports));
		for (unsigned int i = 0; i < have->n; i++)
			assert_int_equal(to_tm_add_flow(sample, &have->flows[i]), 0);
	}
	return r;
}

/**
 * struct wrong - how far matrices are from what was sent
 * @samples, @intervals: there were
 * @bytes: sent
 * @each: of these wrong in samples, added up; @all: in the sum of all samples
 * @worst: share of a sample
 * @within: in the sum of those between the first and the last sample
 */
struct wrong {
	unsigned int samples, intervals, stale;
	double bytes, each, all, worst, within;
};

/* Bytes that are where they do not belong, or nowhere. */
static double distance(const double *got, const double *sent)
{
	double more = 0, less = 0;

	for (unsigned int i = 0; i < N * N; i++) {
		if (got[i] > sent[i])
			more += got[i] - sent[i];
		else
			less += sent[i] - got[i];
	}
	return more > less ? more : less;
}

static double got_all[N * N], sent_all[N * N], got_first[N * N], sent_first[N * N];

static double distance_since_first(void)
{
	double got[N * N], sent[N * N];

	for (unsigned int i = 0; i < N * N; i++) {
		got[i] = got_all[i] - got_first[i];
		sent[i] = sent_all[i] - sent_first[i];
	}
	return distance(got, sent);
}

static void compare(struct wrong *wrong, const struct to_tm *tm)
{
	uint64_t matrix[N * N];

	wrong->stale = tm->n_stale > wrong->stale ? tm->n_stale : wrong->stale;
	for (unsigned int k = 0; k < tm->n_samples; k++) {
		const struct to_tm_sample *sample = &tm->samples[k];
		double got[N * N], sent[N * N] = { 0 }, sum = 0, far;

		assert_int_equal(sample->absent, 0);
		to_tm_matrix(tm, k, -1, TO_TM_ALL, matrix);
		wrong->within = distance_since_first();
		for (uint64_t t = sample->start_ns; t < sample->end_ns; t += INTERVAL) {
			wrong->intervals++;
			for (unsigned int i = 0; i < N * N; i++)
				sent[i] += f.sent[t / INTERVAL][i / N][i % N];
		}
		for (unsigned int i = 0; i < N * N; i++) {
			got[i] = matrix[i];
			got_all[i] += got[i];
			sent_all[i] += sent[i];
			sum += sent[i];
		}
		far = distance(got, sent);
		if (!wrong->samples++) {
			memcpy(got_first, got_all, sizeof(got_all));
			memcpy(sent_first, sent_all, sizeof(sent_all));
		}
		wrong->bytes += sum;
		wrong->each += far;
		if (sum && far / sum > wrong->worst)
			wrong->worst = far / sum;
	}
	wrong->all = distance(got_all, sent_all);
}

static struct wrong wrong_begin(void)
{
	memset(got_all, 0, sizeof(got_all));
	memset(sent_all, 0, sizeof(sent_all));
	memset(got_first, 0, sizeof(got_first));
	memset(sent_first, 0, sizeof(sent_first));
	return (struct wrong){ 0 };
}

/* An interval after the other, as a controller does. */
static struct wrong live(void)
{
	struct wrong wrong = wrong_begin();
	struct to_tm_live *live = NULL;
	struct to_error err = { 0 };

	for (unsigned int k = FIRST; k < LAST; k++) {
		const struct to_tm *records[N];
		struct to_tm *tm;

		for (unsigned int s = 0; s < N; s++)
			records[s] = record(s, k, k + 1);
		if (!live)
			live = to_tm_live_new(records, N, &err);
		if (!live || to_tm_live_add(live, records, &err) ||
		    to_tm_live_settle(live, k + 1 == LAST, &err))
			fail_msg("%s", err.text);
		tm = to_tm_live_take(live);
		assert_non_null(tm);
		compare(&wrong, tm);
		to_tm_free(tm);
		for (unsigned int s = 0; s < N; s++)
			to_tm_free((struct to_tm *)records[s]);
	}
	to_tm_live_free(live);
	assert_int_equal(wrong.intervals, LAST - FIRST);
	return wrong;
}

static struct wrong batch(void)
{
	struct wrong wrong = wrong_begin();
	struct to_tm *records[N], *tm;
	struct to_error err = { 0 };

	for (unsigned int s = 0; s < N; s++)
		records[s] = record(s, FIRST, LAST);
	tm = to_tm_merge(records, N, false, &err);
	if (!tm)
		fail_msg("%s", err.text);
	compare(&wrong, tm);
	to_tm_free(tm);
	for (unsigned int s = 0; s < N; s++)
		to_tm_free(records[s]);
	return wrong;
}

static void check(const char *what, uint64_t number, const struct wrong *wrong, double each,
		  double all)
{
	if (reporting)
		printf("# %-22s seed %3lu: %5.2f %% of samples, worst %6.2f %%, %6.3f %% of all, %6.3f %% within; %u samples, %u stale\n",
		       what, (unsigned long)number, 100 * wrong->each / wrong->bytes,
		       100 * wrong->worst, 100 * wrong->all / wrong->bytes,
		       100 * wrong->within / wrong->bytes, wrong->samples, wrong->stale);
	else if (wrong->each > each * wrong->bytes || wrong->all > all * wrong->bytes)
		fail_msg("%s, seed %lu: %.2f %% of samples wrong, %.3f %% of all", what,
			 (unsigned long)number, 100 * wrong->each / wrong->bytes,
			 100 * wrong->all / wrong->bytes);
}

#define SEEDS 4

/* What a job sends in phases of some seconds, in recordings of half a minute. */
static void test_job(void **state)
{
	static const struct {
		const char *what;
		struct faults faults;
		double each, all;
	} cases[] = {
		{ "no faults", { 0 }, 0.005, 0.0001 },
		{ "5 ms late", { .late = 5 * MS }, 0.02, 0.001 },
		{ "10 ms early", { .late = -10 * MS }, 0.02, 0.001 },
		{ "40 resets", { .resets = 40 }, 0.005, 0.0025 },
		{ "clocks, late, reset", { .skew = 10 * MS, .late = 5 * MS, .resets = 1 },
		  0.02, 0.001 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint64_t number = 1; number <= SEEDS; number++) {
			struct wrong wrong;

			begin(number, &cases[i].faults);
			job();
			wrong = live();
			check(cases[i].what, number, &wrong, cases[i].each, cases[i].all);
			assert_int_equal(wrong.samples, LAST - FIRST);
			assert_int_equal(wrong.stale, 0);
			wrong = batch();
			check("all at once", number, &wrong, cases[i].each, cases[i].all);
		}
}

/*
 * Bursts of some ms that relays see: NICs that are read late or early, or tell old
 * counts, invent nothing.
 */
static void test_relayed(void **state)
{
	static const struct {
		const char *what;
		struct faults faults;
		double each, all;
		unsigned int samples;
	} cases[] = {
		{ "relayed, 5 ms late", { .late = 5 * MS }, 0.005, 0.002, LAST - FIRST },
		{ "relayed, 10 ms early", { .late = -10 * MS }, 0.006, 0.003, LAST - FIRST },
		{ "relayed, each second", { .refresh = 1000 * MS }, 0.01, 0.01, 40 },
		{ "relayed, s0 each second", { .refresh = 1000 * MS, .one_refreshes = true },
		  0.005, 0.001, LAST - FIRST },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint64_t number = 1; number <= SEEDS; number++) {
			struct wrong wrong;

			begin(number, &cases[i].faults);
			bursts(true, false);
			wrong = live();
			check(cases[i].what, number, &wrong, cases[i].each, cases[i].all);
			assert_true(wrong.samples <= cases[i].samples);
			assert_int_equal(wrong.stale > 0, cases[i].faults.refresh > 0);
		}
}

/*
 * NICs that renew their counters each second, at another time on every server, are named,
 * and samples are as long. What they hid at both ends is known a second later; what
 * passed before the first time and after the last one is a guess.
 */
static void test_stale(void **state)
{
	static const struct {
		const char *what;
		struct faults faults;
		double each, within, with_ends;
		unsigned int samples[2];
	} cases[] = {
		{ "each second", { .refresh = 1000 * MS }, 0.02, 0.0012, 0.01, { 24, 30 } },
		{ "each 1037 ms", { .refresh = 1037 * MS }, 0.02, 0.0025, 0.01, { 24, 30 } },
		{ "each 730 ms", { .refresh = 730 * MS }, 0.015, 0.0025, 0.01, { 34, 40 } },
		{ "each 1500 ms", { .refresh = 1500 * MS }, 0.04, 0.004, 0.011, { 17, 22 } },
		{ "each second, clocks, late", { .refresh = 1000 * MS, .skew = 10 * MS,
						 .late = 5 * MS }, 0.03, 0.005, 0.01, { 24, 30 } },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint64_t number = 1; number <= SEEDS; number++) {
			struct wrong wrong;

			begin(number, &cases[i].faults);
			job();
			wrong = live();
			check(cases[i].what, number, &wrong, cases[i].each, cases[i].with_ends);
			if (!reporting && wrong.within > cases[i].within * wrong.bytes)
				fail_msg("%s, seed %lu: %.3f %% of the sum wrong", cases[i].what,
					 (unsigned long)number, 100 * wrong.within / wrong.bytes);
			assert_true(wrong.stale >= N);
			assert_in_range(wrong.samples, cases[i].samples[0], cases[i].samples[1]);
		}
}

/* Only the NIC that is stale is named; where the other end's is not, nothing is joined. */
static void test_stale_named(void **state)
{
	const struct faults faults = { .refresh = 1000 * MS, .one_refreshes = true };
	struct to_tm *records[N], *tm;
	struct to_error err = { 0 };

	(void)state;
	begin(1, &faults);
	job();
	for (unsigned int s = 0; s < N; s++)
		records[s] = record(s, FIRST, LAST);
	tm = to_tm_merge(records, N, false, &err);
	assert_non_null(tm);
	assert_int_equal(tm->n_samples, LAST - FIRST);
	assert_true(tm->n_stale > 0);
	for (unsigned int i = 0; i < tm->n_stale; i++)
		assert_int_equal(tm->stale[i].server, 0);
	to_tm_free(tm);
	for (unsigned int s = 0; s < N; s++)
		to_tm_free(records[s]);
}

/* One interval of all servers into @live; server @without is missing. Takes what settled. */
static struct to_tm *add(struct to_tm_live **live, unsigned int k, unsigned int without,
			 int *ret)
{
	const struct to_tm *records[N] = { NULL };
	struct to_error err = { 0 };
	struct to_tm *tm = NULL;

	for (unsigned int s = 0; s < N; s++)
		records[s] = s == without ? NULL : record(s, k, k + 1);
	if (!*live)
		*live = to_tm_live_new(records, N, &err);
	assert_non_null(*live);
	*ret = to_tm_live_add(*live, records, &err);
	if (!*ret) {
		assert_int_equal(to_tm_live_settle(*live, false, &err), 0);
		tm = to_tm_live_take(*live);
	}
	for (unsigned int s = 0; s < N; s++)
		to_tm_free((struct to_tm *)records[s]);
	return tm;
}

/* What is silent is known to be, where counters should have been renewed meanwhile. */
static void test_stale_silent(void **state)
{
	const struct faults faults = { .refresh = 1000 * MS };
	struct to_tm_live *live = NULL;
	unsigned int settled = 0;
	int ret;

	(void)state;
	begin(1, &faults);
	for (int64_t time = 0; time < 10000 * MS; time += STEP)
		for (uint32_t s = 0; s < N; s++)
			transmit(&(struct stream){ .src = s, .dst = (s + 1) % N, .class = TO_TM_TCP,
						   .bytes = 10000 }, time + dice(STEP));
	for (unsigned int k = FIRST; k < 500; k++) {
		struct to_tm *tm = add(&live, k, N, &ret);

		assert_int_equal(ret, 0);
		for (unsigned int i = 0; i < tm->n_samples; i++)
			settled = tm->samples[i].end_ns / INTERVAL;
		to_tm_free(tm);
		if (k > 260)
			assert_in_range(k + 1 - settled, 0, 60);
	}
	to_tm_live_free(live);
}

/* A server that is missing for one interval: its sample says so, and no other does. */
static void test_missing(void **state)
{
	const struct faults faults = { 0 };
	struct to_tm_live *live = NULL;
	unsigned int samples = 0;
	int ret;

	(void)state;
	begin(1, &faults);
	job();
	for (unsigned int k = FIRST; k < FIRST + 40; k++) {
		struct to_tm *tm = add(&live, k, k == FIRST + 20 ? 3 : N, &ret);

		assert_int_equal(ret, 0);
		assert_int_equal(tm->missing && tm->missing[3], k == FIRST + 20);
		for (unsigned int i = 0; i < tm->n_samples; i++, samples++) {
			assert_int_equal(tm->samples[i].start_ns, (FIRST + samples) * INTERVAL);
			assert_int_equal(tm->samples[i].absent, samples == 20);
		}
		assert_int_equal(samples, k + 1 - FIRST < TO_TM_LIVE_BEGIN ? 0 :
				 k + 1 - FIRST - TO_TM_LIVE_DELAY);
		to_tm_free(tm);
	}
	to_tm_live_free(live);
}

/* Counters that stand still for longer than anybody waits for them. */
static void test_stand_still(void **state)
{
	const struct faults faults = { .refresh = 8000 * MS };
	struct to_tm_live *live = NULL;
	unsigned int settled = FIRST, lag = 0;
	int ret;

	(void)state;
	begin(1, &faults);
	job();
	for (unsigned int k = FIRST; k < LAST; k++) {
		struct to_tm *tm = add(&live, k, N, &ret);

		assert_int_equal(ret, 0);
		for (unsigned int i = 0; i < tm->n_samples; i++) {
			const unsigned int end = tm->samples[i].end_ns / INTERVAL;

			assert_true(end - settled <= TO_LIVE_JOIN_MAX);
			settled = end;
		}
		lag = k + 1 - settled > lag ? k + 1 - settled : lag;
		to_tm_free(tm);
	}
	print_message("# at most %u intervals late\n", lag);
	/* one that is being joined, and columns that wait */
	assert_in_range(lag, TO_LIVE_JOIN_MAX, 2 * TO_LIVE_JOIN_MAX);
	to_tm_live_free(live);
}

/* What is sent into a port that the plan has dark counts all the same. */
static void test_dark_port(void **state)
{
	const struct faults faults = { 0 };
	const struct to_tm *records[N] = { NULL };
	struct to_tm *r, *tm;
	struct to_tm_live *live;
	uint64_t matrix[N * N];
	struct to_error err = { 0 };

	(void)state;
	begin(1, &faults);
	r = record(0, FIRST, FIRST + 1);
	r->ports[0].to.server = r->ports[0].from.server = TO_TM_NONE;
	assert_int_equal(to_tm_add_flow(&r->samples[0], &(struct to_tm_flow){
		.src = 0, .dst = 3, .class = TO_TM_TCP, .in = TO_TM_NO_PORT, .out = 0,
		.packets = 1, .bytes = 1000 }), 0);
	/* relayed: its source has counted it */
	assert_int_equal(to_tm_add_flow(&r->samples[0], &(struct to_tm_flow){
		.src = 5, .dst = 3, .class = TO_TM_TCP, .in = TO_TM_NO_PORT, .out = 0,
		.packets = 1, .bytes = 1000 }), 0);
	records[0] = r;
	live = to_tm_live_new(records, N, &err);
	assert_non_null(live);
	assert_int_equal(to_tm_live_add(live, records, &err), 0);
	assert_int_equal(to_tm_live_settle(live, true, &err), 0);
	tm = to_tm_live_take(live);
	assert_int_equal(tm->n_samples, 1);
	to_tm_matrix(tm, 0, TO_TM_TCP, TO_TM_ALL, matrix);
	assert_int_equal(matrix[0 * N + 3], 1000);
	assert_int_equal(matrix[5 * N + 3], 0);
	to_tm_free(tm);
	to_tm_free(r);
	to_tm_live_free(live);
}

/* Another plan, another interval, or a link that nobody told of, begin anew. */
static void test_begin_anew(void **state)
{
	const struct faults faults = { 0 };
	struct to_tm_live *live = NULL;
	const struct to_tm *records[N] = { NULL };
	struct to_error err = { 0 };
	int ret;

	(void)state;
	begin(1, &faults);
	job();
	to_tm_free(add(&live, FIRST, N, &ret));
	assert_int_equal(ret, 0);
	records[0] = record(0, FIRST + 1, FIRST + 2);
	strcpy(((struct to_tm *)records[0])->plan, "fedcba9876543210");
	assert_int_equal(to_tm_live_add(live, records, &err), -ESTALE);
	strcpy(((struct to_tm *)records[0])->plan, "0123456789abcdef");
	((struct to_tm *)records[0])->interval_ns *= 2;
	assert_int_equal(to_tm_live_add(live, records, &err), -ESTALE);
	((struct to_tm *)records[0])->interval_ns /= 2;
	strcpy(records[0]->ports[0].to.port, "eth9");
	assert_int_equal(to_tm_live_add(live, records, &err), -ESTALE);
	assert_string_equal(err.text, "the link of s0:eth0 is new");
	to_tm_free((struct to_tm *)records[0]);
	to_tm_free(add(&live, FIRST + 1, N, &ret));
	assert_int_equal(ret, 0);
	to_tm_live_free(live);
}

/* Who makes up counts for hours changes nothing for others, and nothing overflows. */
static void test_made_up(void **state)
{
	const struct faults faults = { 0 };
	struct to_tm_live *live = NULL;
	uint64_t matrix[N * N], sent;
	unsigned int slot = FIRST, k = 0;
	int ret;

	(void)state;
	begin(1, &faults);
	job();
	for (unsigned int i = FIRST; i < LAST; i++) {
		f.sample[0][i].ports[0].tx_bytes = i & 1 ? 1ull << 56 : 0;
		f.sample[0][i].flows[0].bytes = i & 2 ? 1ull << 55 : 0;
	}
	for (; k < 3000; k++, slot = slot + 1 < LAST ? slot + 1 : FIRST) {
		struct to_tm *tm = add(&live, slot, N, &ret);

		assert_int_equal(ret, 0);
		for (unsigned int i = 0; i < tm->n_samples; i++) {
			assert_true(tm->samples[i].end_ns - tm->samples[i].start_ns <=
				    TO_LIVE_JOIN_MAX * INTERVAL);
			to_tm_matrix(tm, i, TO_TM_TCP, TO_TM_ALL, matrix);
			sent = f.sent[tm->samples[i].start_ns / INTERVAL][4][6];
			assert_true(matrix[4 * N + 6] <= 2 * sent + 1000000);
		}
		to_tm_free(tm);
	}
	to_tm_live_free(live);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job),
		cmocka_unit_test(test_relayed),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_stale_named),
		cmocka_unit_test(test_stale_silent),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_begin_anew),
		cmocka_unit_test(test_made_up),
		cmocka_unit_test(test_stand_still),
		cmocka_unit_test(test_dark_port),
	};

	reporting = argc > 1 && !strcmp(argv[1], "report");
	return cmocka_run_group_tests_name("tm_live", tests, NULL, NULL);
}
