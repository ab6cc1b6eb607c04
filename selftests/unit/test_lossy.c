// SPDX-License-Identifier: GPL-2.0-or-later
/* Links that lose packets are held down, tried again with checks, and used again. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "control/lossy.h"

#define SERVERS 2

/** struct world - a cable between two servers, both ends of which count */
struct world {
	struct to_cluster *cluster;
	struct to_lossy lossy;
	uint64_t now_ns;
	double loss;			/* share of what s0 sends that is lost */
	unsigned int traffic;		/* packets a second, while the link is used */
	unsigned int checks;		/* checks a second; 0: none are sent */
	bool mute;			/* s1 hears no check of s0 */
	uint64_t sent, received, heard, lost;
	double rest;
};

static int set_up(void **state)
{
	static const struct to_lossy_config config = TO_LOSSY_DEFAULTS;
	struct world *w = calloc(1, sizeof(*w));
	struct to_error err;

	w->cluster = to_cluster_synthetic(SERVERS, 1, 0, TO_LINKS_DUPLEX, &err);
	w->cluster->links = calloc(1, sizeof(*w->cluster->links));
	w->cluster->links[0] = (struct to_link){ .a = { 0, 0 }, .b = { 1, 0 } };
	w->cluster->n_links = 1;
	w->now_ns = 1000 * TO_NS_PER_S;
	w->traffic = 100000;
	w->checks = 10;
	assert_int_equal(to_lossy_init(&w->lossy, &config, w->cluster), 0);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	to_lossy_free(&w->lossy);
	to_cluster_free(w->cluster);
	free(w);
	return 0;
}

static json_t *world_reply(const struct world *w, bool receiver)
{
	const struct to_link_end end = {
		.device = { receiver ? w->received : w->sent, receiver ? w->sent : w->sent },
	};
	json_t *reply = json_pack("{s:[{s:s, s:o}]}", "ports", "name", "eth0", "link",
				  to_link_end_json(&end));

	if (w->checks)
		json_object_set_new(reply, "peers", json_pack("[{s:s, s:s, s:s, s:I, s:I}]",
			"port", "eth0", "server", receiver ? "s0" : "s1", "server_port", "eth0",
			"received", (json_int_t)(receiver ? w->heard : w->heard + w->lost + 1),
			"missing", (json_int_t)(receiver ? w->lost : 0)));
	return reply;
}

/* Let a second pass, then look. Return: whether the link is held or used again since. */
static bool world_second(struct world *w)
{
	const uint64_t sent = w->checks + (w->lossy.n_held ? 0 : w->traffic);
	const uint64_t checks = w->mute ? 0 : w->checks;
	json_t *replies[SERVERS];
	uint64_t lost;
	bool changed;

	w->now_ns += TO_NS_PER_S;
	w->sent += sent;
	w->received += sent - (uint64_t)(w->loss * sent);
	w->rest += w->loss * checks;
	lost = w->rest;
	w->rest -= lost;
	w->lost += lost;
	w->heard += checks - lost;
	replies[0] = world_reply(w, false);
	replies[1] = world_reply(w, true);
	changed = to_lossy_look(&w->lossy, w->cluster, (const json_t *const *)replies, w->now_ns, 1000);
	json_decref(replies[0]);
	json_decref(replies[1]);
	return changed;
}

/* Return: seconds until the link is held or used again, 0: not within @most. */
static unsigned int world_until(struct world *w, unsigned int most)
{
	for (unsigned int i = 1; i <= most; i++)
		if (world_second(w))
			return i;
	return 0;
}

static void test_held(void **state)
{
	struct world *w = *state;
	const struct to_lossy_link *link = &w->lossy.links[0];

	assert_int_equal(world_until(w, 100), 0);
	w->loss = 0.01;
	assert_in_range(world_until(w, 100), 1, 12);
	assert_true(link->hold.held);
	assert_int_equal(w->lossy.n_held, 1);
	assert_int_equal(link->from.server, 0);
	assert_non_null(strstr(link->why, "packets (off by"));
	/* mended: a clean hold-down later it is used */
	w->loss = 0;
	assert_in_range(world_until(w, 100), 30, 31);
	assert_false(link->hold.held);
	assert_int_equal(world_until(w, 1000), 0);
}

/* A check in a hundred is lost: each begins the hold-down anew. */
static void test_tried(void **state)
{
	struct world *w = *state;

	w->loss = 0.01;
	world_until(w, 100);
	assert_int_equal(world_until(w, 3600), 0);
	w->loss = 0;
	assert_in_range(world_until(w, 100), 20, 31);
	/* so does silence */
	w->loss = 0.01;
	world_until(w, 100);
	w->loss = 0;
	w->mute = true;
	assert_int_equal(world_until(w, 3600), 0);
	w->mute = false;
	assert_in_range(world_until(w, 100), 30, 61);
}

/* A link that loses when it is used, and no check: ever longer. */
static void test_relapses(void **state)
{
	struct world *w = *state;
	unsigned int hold = 30;

	for (unsigned int i = 0; i < 10; i++) {
		w->loss = 0.01;
		assert_in_range(world_until(w, 100), 1, 12);
		w->loss = 0;
		assert_in_range(world_until(w, 64 * 30 + 1), hold, hold + 1);
		hold = hold < 64 * 30 ? 2 * hold : hold;
	}
	/* long after it came back it is trusted again */
	assert_int_equal(world_until(w, 8 * 64 * 30), 0);
	w->loss = 0.01;
	world_until(w, 100);
	w->loss = 0;
	assert_in_range(world_until(w, 100), 30, 31);
}

/* Without checks, time alone counts. */
static void test_no_checks(void **state)
{
	struct world *w = *state;

	w->checks = 0;
	w->loss = 0.01;
	assert_in_range(world_until(w, 100), 1, 12);
	assert_in_range(world_until(w, 100), 30, 31);
	assert_in_range(world_until(w, 100), 1, 12);
	assert_in_range(world_until(w, 100), 60, 61);
}

static void test_off(void **state)
{
	struct world *w = *state;

	w->lossy.config.rate = 0;
	w->loss = 0.5;
	assert_int_equal(world_until(w, 100), 0);
}

/* An agent that does not answer, or says nothing of its links, proves nothing. */
static void test_silent_agent(void **state)
{
	const json_t *const replies[SERVERS] = { NULL, NULL };
	struct world *w = *state;

	world_until(w, 20);
	for (unsigned int i = 0; i < 20; i++) {
		w->now_ns += TO_NS_PER_S;
		assert_false(to_lossy_look(&w->lossy, w->cluster, replies, w->now_ns, 1000));
	}
	assert_int_equal(world_until(w, 20), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_held, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tried, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_relapses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_checks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_off, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_silent_agent, set_up, tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
