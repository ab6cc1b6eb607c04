// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What ends of links hear, by what agents say: cables that lead elsewhere, and NICs that were
 * replaced.
 *
 *	s0 eth0 == eth1 s1 eth0 == eth1 s2 eth0 == eth1 s3 eth0 == eth1 s0
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "control/carrier.h"
#include "kernel/peers.h"

#define SERVERS 4
#define PORTS 2
#define START (1000 * TO_NS_PER_S)
#define LOOK (TO_NS_PER_S / 4)

/** struct world - the ring, and what is known of it */
struct world {
	struct to_plan plan;
	struct to_carrier carrier;
	struct to_peer peers[SERVERS][PORTS];
	struct to_fabric_server servers[SERVERS];
	uint64_t now;
};

/* Port of "s1:eth0". */
static struct to_port_ref port_of(const char *name)
{
	return (struct to_port_ref){ name[1] - '0', name[6] - '0' };
}

/* The table of @at expects @peer, and checks say so much of it; @stranger is heard instead, or NULL. */
static void hears(struct world *w, const char *at, const char *peer,
		  enum topoopt_check_reason reason, const char *stranger)
{
	struct to_peer *p = &w->peers[port_of(at).server][port_of(at).port];

	*p = (struct to_peer){ .reason = reason };
	p->transit = reason == TOPOOPT_CHECK_REASON_HEARD || reason == TOPOOPT_CHECK_REASON_UNPROVEN;
	sscanf(at, "%*[^:]:%15s", p->port);
	sscanf(peer, "%63[^:]:%15s", p->server, p->server_port);
	if (stranger)
		sscanf(stranger, "%63[^:]:%15s", p->stranger, p->stranger_port);
}

/* Look for so many seconds, and after that. */
static void look_for(struct world *w, double seconds)
{
	const uint64_t end = w->now + seconds * 1e9;
	uint64_t since;

	while (w->now < end) {
		w->now += LOOK;
		to_carrier_look(&w->carrier, w->servers, &w->plan, NULL, w->now);
		to_carrier_settle(&w->carrier, w->now, &since);
	}
}

/* Links that cables make in place of those of the plan, as "s0:eth0-s1:eth0 ". */
static const char *recabled(const struct world *w, char text[256])
{
	struct to_link *links;
	const int n = to_carrier_find_recabled(&w->carrier, &w->plan, w->now, &links);

	text[0] = '\0';
	for (int i = 0; i < n; i++)
		snprintf(text + strlen(text), 256 - strlen(text), "s%u:eth%u-s%u:eth%u ",
			 links[i].a.server, links[i].a.port, links[i].b.server, links[i].b.port);
	free(links);
	return text;
}

static const struct to_carrier_port *port(const struct world *w, const char *name)
{
	return to_carrier_port(&w->carrier, port_of(name));
}

static int set_up(void **state)
{
	static const struct to_carrier_config config = TO_CARRIER_DEFAULTS;
	struct world *w = calloc(1, sizeof(*w));
	struct to_cluster *c;
	struct to_error err;

	w->now = START;
	c = w->plan.cluster = to_cluster_synthetic(SERVERS, PORTS, 0, TO_LINKS_DUPLEX, &err);
	c->n_switches = 0;
	c->links = calloc(SERVERS, sizeof(*c->links));
	c->n_links = SERVERS;
	for (uint32_t s = 0; s < SERVERS; s++) {
		const uint32_t next = (s + 1) % SERVERS;
		char at[16], peer[16];

		c->links[s] = (struct to_link){ .a = { s, 0 }, .b = { next, 1 } };
		c->servers[s].ports[0].optical_switch = c->servers[s].ports[1].optical_switch = -1;
		snprintf(at, sizeof(at), "s%u:eth0", s);
		snprintf(peer, sizeof(peer), "s%u:eth1", next);
		hears(w, at, peer, TOPOOPT_CHECK_REASON_HEARD, NULL);
		hears(w, peer, at, TOPOOPT_CHECK_REASON_HEARD, NULL);
		w->servers[s] = (struct to_fabric_server){
			.name = c->servers[s].name, .reached = true, .generation = 1,
			.live = ~0ull, .peers = w->peers[s], .n_peers = PORTS,
		};
	}
	assert_int_equal(to_carrier_init(&w->carrier, &config, SERVERS, w->now), 0);
	look_for(w, 1);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	to_carrier_free(&w->carrier);
	to_cluster_free(w->plan.cluster);
	free(w);
	return 0;
}

/* The two cables of s1 in each other's place; another port of s1 is no stranger. */
static void swap(struct world *w)
{
	hears(w, "s0:eth0", "s1:eth1", TOPOOPT_CHECK_REASON_SILENT, NULL);
	hears(w, "s1:eth0", "s2:eth1", TOPOOPT_CHECK_REASON_STRANGER, "s0:eth0");
	hears(w, "s1:eth1", "s0:eth0", TOPOOPT_CHECK_REASON_STRANGER, "s2:eth1");
	hears(w, "s2:eth1", "s1:eth0", TOPOOPT_CHECK_REASON_SILENT, NULL);
}

/* Swapped cables are found when their ports go down, and go on being found under their own plan. */
static void test_swapped(void **state)
{
	static const char *const made = "s0:eth0-s1:eth0 s1:eth1-s2:eth1 ";
	struct world *w = *state;
	char text[256];

	swap(w);
	look_for(w, 1);
	assert_false(port(w, "s1:eth0")->down);
	assert_string_equal(recabled(w, text), "");
	look_for(w, 0.25);
	assert_true(port(w, "s1:eth0")->down && port(w, "s0:eth0")->down);
	assert_string_equal(recabled(w, text), made);
	/* the plan for them is in force: at first an end was not heard yet */
	hears(w, "s0:eth0", "s1:eth0", TOPOOPT_CHECK_REASON_UNPROVEN, NULL);
	hears(w, "s1:eth0", "s0:eth0", TOPOOPT_CHECK_REASON_HEARD, NULL);
	hears(w, "s1:eth1", "s2:eth1", TOPOOPT_CHECK_REASON_UNPROVEN, NULL);
	hears(w, "s2:eth1", "s1:eth1", TOPOOPT_CHECK_REASON_HEARD, NULL);
	for (unsigned int i = 0; i < 20; i++) {
		look_for(w, 0.25);
		assert_string_equal(recabled(w, text), made);
	}
	/* one of them misses checks for a moment, and then for good */
	hears(w, "s1:eth0", "s0:eth0", TOPOOPT_CHECK_REASON_RECOVERING, NULL);
	look_for(w, 0.5);
	assert_string_equal(recabled(w, text), made);
	hears(w, "s1:eth0", "s0:eth0", TOPOOPT_CHECK_REASON_SILENT, NULL);
	hears(w, "s0:eth0", "s1:eth0", TOPOOPT_CHECK_REASON_SILENT, NULL);
	look_for(w, 1);
	assert_string_equal(recabled(w, text), "s1:eth1-s2:eth1 ");
	/* they are put back while their own plan is in force */
	hears(w, "s1:eth0", "s0:eth0", TOPOOPT_CHECK_REASON_STRANGER, "s2:eth1");
	hears(w, "s1:eth1", "s2:eth1", TOPOOPT_CHECK_REASON_STRANGER, "s0:eth0");
	hears(w, "s2:eth1", "s1:eth1", TOPOOPT_CHECK_REASON_SILENT, NULL);
	look_for(w, 1.25);
	assert_string_equal(recabled(w, text), "");
	assert_true(port(w, "s1:eth0")->lit && port(w, "s1:eth1")->lit);
}

/* A stranger that one end alone has just begun to hear may be gone as fast. */
static void test_one_end(void **state)
{
	struct world *w = *state;
	char text[256];

	hears(w, "s0:eth0", "s1:eth1", TOPOOPT_CHECK_REASON_SILENT, NULL);
	hears(w, "s1:eth0", "s2:eth1", TOPOOPT_CHECK_REASON_SILENT, NULL);
	look_for(w, 2);
	hears(w, "s1:eth0", "s2:eth1", TOPOOPT_CHECK_REASON_STRANGER, "s0:eth0");
	look_for(w, 0.25);
	assert_string_equal(recabled(w, text), "");
	look_for(w, 0.5);
	assert_string_equal(recabled(w, text), "s0:eth0-s1:eth0 ");
	/* the other end is expected by another server, and does not hear it */
	hears(w, "s1:eth0", "s2:eth1", TOPOOPT_CHECK_REASON_STRANGER, "s3:eth1");
	look_for(w, 2);
	assert_string_equal(recabled(w, text), "");
}

/* The plan's port with another MAC address is no other port. */
static void test_replaced(void **state)
{
	struct world *w = *state;
	char text[256];

	hears(w, "s1:eth0", "s2:eth1", TOPOOPT_CHECK_REASON_SILENT, NULL);
	hears(w, "s2:eth1", "s1:eth0", TOPOOPT_CHECK_REASON_STRANGER, "s1:eth0");
	for (unsigned int i = 0; i < 12; i++) {
		look_for(w, 0.25);
		assert_string_equal(recabled(w, text), "");
	}
	assert_true(port(w, "s1:eth0")->down && port(w, "s2:eth1")->down);
	assert_string_equal(to_held_words[port(w, "s2:eth1")->reason], "replaced");
	assert_string_equal(to_held_words[port(w, "s1:eth0")->reason], "silent");
}

/* A server that lost its table gets it back when it answers: its links wait for that. */
static void test_no_table(void **state)
{
	struct world *w = *state;

	w->carrier.brings = true;
	hears(w, "s0:eth0", "s1:eth1", TOPOOPT_CHECK_REASON_NO_TABLE, NULL);
	hears(w, "s2:eth1", "s1:eth0", TOPOOPT_CHECK_REASON_NO_TABLE, NULL);
	look_for(w, 5);
	assert_true(port(w, "s0:eth0")->lit && port(w, "s2:eth1")->lit);
	/* it cannot be brought to it */
	w->carrier.brings = false;
	look_for(w, 1);
	assert_false(port(w, "s0:eth0")->down);
	look_for(w, 0.25);
	assert_true(port(w, "s0:eth0")->down && port(w, "s2:eth1")->down);
	assert_string_equal(to_held_words[port(w, "s0:eth0")->reason], "no-table");
}

/* One whose agent is away does not. */
static void test_no_table_away(void **state)
{
	struct world *w = *state;

	w->carrier.brings = true;
	w->servers[1].reached = false;
	hears(w, "s0:eth0", "s1:eth1", TOPOOPT_CHECK_REASON_NO_TABLE, NULL);
	look_for(w, 1.25);
	assert_true(port(w, "s0:eth0")->down);
}

/* The next look need not be later than a port goes down, which is since it was heard last. */
static void test_left(void **state)
{
	struct world *w = *state;

	assert_true(to_carrier_left(&w->carrier, w->now) == UINT64_MAX);
	hears(w, "s0:eth0", "s1:eth1", TOPOOPT_CHECK_REASON_SILENT, NULL);
	w->peers[0][0].heard = true;
	w->peers[0][0].silence_ms = 400;
	look_for(w, 0.25);
	assert_int_equal(to_carrier_left(&w->carrier, w->now), 600000000);
	assert_int_equal(to_carrier_left(&w->carrier, w->now + TO_NS_PER_S), 0);
	look_for(w, 0.5);
	assert_false(port(w, "s0:eth0")->down);
	look_for(w, 0.25);
	assert_true(port(w, "s0:eth0")->down);
	assert_true(to_carrier_left(&w->carrier, w->now) == UINT64_MAX);
	/* a stranger is heard as soon as the other is not */
	hears(w, "s1:eth0", "s2:eth1", TOPOOPT_CHECK_REASON_STRANGER, "s0:eth0");
	w->peers[1][0].heard = true;
	w->peers[1][0].silence_ms = 400;
	look_for(w, 0.25);
	assert_int_equal(to_carrier_left(&w->carrier, w->now), 600000000);
}

/* A port that was dark when a plan gave it up is no worse for that when another plan uses it. */
static void test_forgotten(void **state)
{
	struct world *w = *state;
	struct to_cluster *c = w->plan.cluster;
	const unsigned int n = c->n_links;

	hears(w, "s3:eth0", "s0:eth1", TOPOOPT_CHECK_REASON_SILENT, NULL);
	hears(w, "s0:eth0", "s1:eth1", TOPOOPT_CHECK_REASON_SILENT, NULL);
	look_for(w, 0.75);
	/* without the link from s3 to s0 */
	c->n_links--;
	assert_int_equal(to_carrier_forget(&w->carrier, &w->plan, NULL, w->now), 0);
	look_for(w, 5);
	assert_true(port(w, "s0:eth0")->down);
	assert_false(port(w, "s3:eth0")->down);
	c->n_links = n;
	hears(w, "s3:eth0", "s0:eth1", TOPOOPT_CHECK_REASON_HEARD, NULL);
	look_for(w, 0.25);
	assert_true(port(w, "s3:eth0")->lit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_swapped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_replaced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_forgotten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_left, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_table_away, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
