// SPDX-License-Identifier: GPL-2.0-or-later
/* Links that lose packets, and all that only looks like it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/random.h"
#include "measure/link_loss.h"

static const struct to_link_loss_config config = TO_LINK_LOSS_DEFAULTS;

/** struct wire - a direction whose ends count, and who looks at them */
struct wire {
	uint64_t pps;			/* packets a second */
	double loss;			/* share of packets and checks lost */
	uint64_t span_ns;		/* time that a look takes */
	unsigned int filtered;		/* frames a second that the receiver's NIC keeps */
	unsigned int full;		/* packets a second without a buffer */
	double aggregate;		/* packets received for one that was sent; 0: one */
	unsigned int checks;		/* checks a second */
	uint64_t now_ns, random;
	double lost, checks_lost;	/* fractions carried over */
	struct to_link_end from, to;
	uint64_t heard, unheard;
	struct to_link_loss l;
};

/* A second passes. */
static void wire_second(struct wire *w)
{
	const uint64_t sent = w->pps + w->checks + w->filtered;
	uint64_t lost;

	w->now_ns += TO_NS_PER_S;
	w->lost += w->loss * (w->pps + w->checks);
	lost = w->lost;
	w->lost -= lost;
	w->from.device.tx += sent;
	w->to.device.rx += (sent - lost - w->filtered - w->full) * (w->aggregate ? w->aggregate : 1);
	w->to.missed += w->full;
	w->checks_lost += w->loss * w->checks;
	lost = w->checks_lost;
	w->checks_lost -= lost;
	w->heard += w->checks - lost;
	w->unheard += lost;
}

/* Look at both ends, each at any time of the span. */
static enum to_link_verdict wire_look(struct wire *w)
{
	struct to_link_end from = w->from, to = w->to;
	struct to_link_point point;
	double late;

	late = to_random_below(&w->random, 1000) / 1000.0 * w->span_ns / TO_NS_PER_S;
	from.device.tx += late * w->pps;
	late = to_random_below(&w->random, 1000) / 1000.0 * w->span_ns / TO_NS_PER_S;
	to.device.rx += late * w->pps;
	point = to_link_point(&from, &to, w->heard, w->unheard, w->now_ns + w->span_ns, w->span_ns);
	to_link_loss_add(&w->l, &config, &point);
	return to_link_loss_verdict(&w->l);
}

/* Let seconds pass, with a look after each. Return: seconds until @verdict, 0: never. */
static unsigned int wire_until(struct wire *w, enum to_link_verdict verdict, unsigned int seconds)
{
	for (unsigned int i = 1; i <= seconds; i++) {
		wire_second(w);
		if (wire_look(w) == verdict)
			return i;
	}
	return 0;
}

static struct wire wire(uint64_t pps, double loss)
{
	return (struct wire){ .pps = pps, .loss = loss, .span_ns = 5000000, .random = 1,
			      .now_ns = 1000 * TO_NS_PER_S };
}

static void test_loses(void **state)
{
	static const double losses[] = { 0.003, 0.01, 0.05, 0.3 };
	char text[TO_LINK_LOSS_TEXT];

	(void)state;
	for (unsigned int i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
		struct wire w = wire(100000, losses[i]);
		const unsigned int seconds = wire_until(&w, TO_LINK_LOSSY, 60);

		assert_in_range(seconds, 2, losses[i] < 0.01 ? 12 : 4);
		assert_float_equal((double)w.l.figures.lost / w.l.figures.sent, losses[i],
				   (double)w.l.figures.error / w.l.figures.sent);
		assert_non_null(strstr(to_link_figures_text(&w.l.figures, text), "packets (off by"));
		/* mended, it is clean as soon as a window is */
		w.loss = 0;
		assert_in_range(wire_until(&w, TO_LINK_CLEAN, 60), 1, 30);
	}
}

static void test_clean(void **state)
{
	static const uint64_t rates[] = { 1000, 100000, 10000000 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		struct wire w = wire(rates[i], 0);

		w.span_ns = 50000000;
		w.checks = 10;
		assert_int_equal(wire_until(&w, TO_LINK_LOSSY, 1000), 0);
		assert_int_equal(to_link_loss_verdict(&w.l), TO_LINK_CLEAN);
	}
}

/* Traffic that comes and goes; a look may fall into the busy seconds. */
static void test_bursts(void **state)
{
	struct wire w = wire(0, 0);

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		w.pps = to_random_below(&w.random, 4) ? 1000 : 1000000;
		wire_second(&w);
		assert_int_not_equal(wire_look(&w), TO_LINK_LOSSY);
	}
}

static void test_little(void **state)
{
	struct wire w = wire(0, 0);

	(void)state;
	wire_look(&w);
	w.from.device.tx += 10;
	assert_int_equal(wire_until(&w, TO_LINK_LOSSY, 60), 0);
	assert_int_equal(to_link_loss_verdict(&w.l), TO_LINK_UNPROVEN);
}

/* LLDP and multicast that the receiver's NIC keeps, on a link that carries little else. */
static void test_filtered(void **state)
{
	struct wire w = wire(200, 0);

	(void)state;
	w.filtered = 1;
	assert_int_equal(wire_until(&w, TO_LINK_LOSSY, 1000), 0);
	w.loss = 0.02;
	assert_in_range(wire_until(&w, TO_LINK_LOSSY, 200), 1, 120);
}

/* A receiver without buffers is no lossy link. */
static void test_full(void **state)
{
	struct wire w = wire(100000, 0);

	(void)state;
	w.full = 5000;
	assert_int_equal(wire_until(&w, TO_LINK_LOSSY, 60), 0);
	assert_true(w.l.figures.missed >= 5000);
	assert_true(w.l.figures.lost <= w.l.figures.error);
}

/* Aggregates count once at the sender: nothing is known. */
static void test_aggregates(void **state)
{
	struct wire w = wire(100000, 0.05);

	(void)state;
	w.aggregate = 10;
	assert_int_equal(wire_until(&w, TO_LINK_LOSSY, 60), 0);
	assert_false(w.l.figures.comparable);
	assert_int_equal(to_link_loss_verdict(&w.l), TO_LINK_UNPROVEN);
}

static void test_resets(void **state)
{
	(void)state;
	for (unsigned int end = 0; end < 2; end++) {
		struct wire w = wire(100000, 0);

		for (unsigned int i = 0; i < 100; i++) {
			wire_second(&w);
			assert_int_not_equal(wire_look(&w), TO_LINK_LOSSY);
			/* 32 bits that wrap begin anew, too */
			if (i % 7 == 6)
				*(end ? &w.to.device.rx : &w.from.device.tx) = 0;
		}
		w.loss = 0.05;
		assert_in_range(wire_until(&w, TO_LINK_LOSSY, 60), 1, 4);
		*(end ? &w.to.device.rx : &w.from.device.tx) = 0;
		wire_second(&w);
		assert_int_equal(wire_look(&w), TO_LINK_LOSSY);
	}
}

/* An end that does not answer for a while: its counters went on. */
static void test_silence(void **state)
{
	struct wire w = wire(100000, 0);

	(void)state;
	wire_until(&w, TO_LINK_LOSSY, 10);
	w.loss = 0.05;
	for (unsigned int i = 0; i < 60; i++)
		wire_second(&w);
	assert_int_equal(wire_look(&w), TO_LINK_LOSSY);
	/* after longer than the window it is too long ago */
	w = wire(100000, 0);
	wire_until(&w, TO_LINK_LOSSY, 10);
	w.loss = 0.05;
	for (unsigned int i = 0; i < 700; i++)
		wire_second(&w);
	w.loss = 0;
	assert_int_equal(wire_look(&w), TO_LINK_UNPROVEN);
}

/* What is sent into a cut is lost, but the link is not lossy. */
static void test_cut(void **state)
{
	struct wire w = wire(100000, 0);
	struct to_link_figures seen;

	(void)state;
	wire_until(&w, TO_LINK_LOSSY, 10);
	w.loss = 0.5;
	wire_second(&w);
	w.to.carrier_changes += 2;
	w.loss = 0;
	assert_int_equal(wire_until(&w, TO_LINK_LOSSY, 60), 0);
	assert_int_equal(to_link_loss_verdict(&w.l), TO_LINK_CLEAN);
	/* three cuts: the longest window tells how often */
	for (unsigned int i = 0; i < 3; i++) {
		w.to.carrier_changes += 2;
		wire_until(&w, TO_LINK_LOSSY, 1);
	}
	to_link_loss_longest(&w.l, &seen);
	assert_int_equal(seen.carrier_changes, 8);
	assert_true(to_link_flaps(&seen));
}

static void test_checks(void **state)
{
	char text[TO_LINK_LOSS_TEXT];
	struct wire w = wire(0, 0.2);

	(void)state;
	w.checks = 10;
	assert_in_range(wire_until(&w, TO_LINK_LOSSY, 60), 3, 4);
	assert_string_equal(to_link_figures_text(&w.l.figures, text), "loses 4 of 20 checks");
	w.loss = 0;
	assert_in_range(wire_until(&w, TO_LINK_CLEAN, 60), 1, 3);
	/* two of 20 are not enough */
	w = wire(0, 0.1);
	w.checks = 10;
	assert_int_equal(wire_until(&w, TO_LINK_LOSSY, 200), 0);
}

/* Lossy above the threshold, clean below half of it, and as before in between. */
static void test_hysteresis(void **state)
{
	struct wire w = wire(100000, 0.0008);

	(void)state;
	w.span_ns = 1000;
	assert_int_equal(wire_until(&w, TO_LINK_LOSSY, 100), 0);
	w.loss = 0.0012;
	assert_in_range(wire_until(&w, TO_LINK_LOSSY, 100), 1, 100);
	w.loss = 0.0008;
	assert_int_equal(wire_until(&w, TO_LINK_CLEAN, 100), 0);
	w.loss = 0.0003;
	assert_in_range(wire_until(&w, TO_LINK_CLEAN, 100), 1, 100);
}

/* A verdict that no traffic supports ends with the window. */
static void test_forgets(void **state)
{
	struct wire w = wire(100000, 0.05);
	unsigned int seconds;

	(void)state;
	wire_until(&w, TO_LINK_LOSSY, 10);
	w.pps = 0;
	seconds = wire_until(&w, TO_LINK_UNPROVEN, 2000);
	assert_in_range(seconds, 300, 700);
}

static void test_damage(void **state)
{
	struct to_link_figures f = { .sent = 1000, .errors = 9 };

	(void)state;
	assert_false(to_link_damages(&f));
	f.errors++;
	assert_true(to_link_damages(&f));
	f.sent = 2000000;
	assert_false(to_link_damages(&f));
}

static void test_counters(void **state)
{
	const struct to_link_end phy = { .device = { 1, 2 }, .phy = { 10, 20 }, .has_phy = true,
					 .missed = 3, .errors = 4, .carrier_changes = 5 };
	struct to_link_end plain = phy, read;
	struct to_link_point point;
	json_t *object;

	(void)state;
	plain.has_phy = false;
	plain.phy = (struct to_link_packets){};
	point = to_link_point(&phy, &phy, 0, 0, 1, 0);
	assert_int_equal(point.sent, 20);
	assert_int_equal(point.received, 10);
	assert_int_equal(point.missed, 0);
	assert_int_equal(point.carrier_changes, 10);
	point = to_link_point(&phy, &plain, 0, 0, 1, 0);
	assert_int_equal(point.sent, 2);
	assert_int_equal(point.received, 1);
	assert_int_equal(point.missed, 3);

	object = to_link_end_json(&phy);
	assert_true(to_link_end_take(&read, object));
	assert_memory_equal(&read, &phy, sizeof(read));
	json_object_set_new(object, "rx_packets_phy", json_integer(-1));
	assert_true(to_link_end_take(&read, object));
	assert_false(read.has_phy);
	json_object_set_new(object, "missed", json_string("3"));
	assert_false(to_link_end_take(&read, object));
	json_decref(object);
	assert_false(to_link_end_take(&read, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loses),
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_filtered),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_aggregates),
		cmocka_unit_test(test_resets),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_checks),
		cmocka_unit_test(test_hysteresis),
		cmocka_unit_test(test_forgets),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_counters),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
