// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Routes, rules and addresses of others that win over those of a plan are found in a real
 * kernel, and the command that is told removes each. Two servers, of which this is a:
 *
 *	a:p0 === b:p0
 *
 * The topoopt device t0 and the port p0 are veths of a network namespace of the test's own.
 */
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/plan_json.h"
#include "kernel/desired_state.h"
#include "kernel/diff.h"
#include "kernel/route_conflicts.h"

static const char plan_text[] =
"{ \"format\": \"topoopt-plan\", \"version\": 1, \"job\": \"t\", \"seed\": 0,"
"  \"link_mode\": \"duplex\", \"optical_switches\": [], \"rings\": [], \"cross_connects\": [],"
"  \"servers\": ["
"  { \"name\": \"a\", \"ipv4\": \"10.0.0.1\", \"ipv6\": \"fd00::1\", \"ports\": ["
"    { \"name\": \"p0\", \"mac\": \"02:00:00:00:00:a0\", \"ipv4\": \"10.1.0.1\", \"ipv6\": \"fd01::1\", \"bandwidth\": 1000 } ] },"
"  { \"name\": \"b\", \"ipv4\": \"10.0.0.2\", \"ipv6\": \"fd00::2\", \"ports\": ["
"    { \"name\": \"p0\", \"mac\": \"02:00:00:00:00:b0\", \"ipv4\": \"10.1.0.2\", \"ipv6\": \"fd01::2\", \"bandwidth\": 1000 } ] } ],"
"  \"links\": [ { \"a\": \"a:p0\", \"b\": \"b:p0\", \"use\": \"fixed\" } ],"
"  \"demand\": { \"servers\": 2, \"allreduce\": [], \"mp\": [] }, \"predictions\": {},"
"  \"tables\": [ { \"server\": \"a\", \"groups\": [ [ { \"port\": \"p0\" } ] ],"
"      \"routes\": [ { \"group\": 0, \"nodes\": \"1\", \"ports\": [ \"1\" ] } ], \"pairs\": [] },"
"    { \"server\": \"b\", \"groups\": [], \"routes\": [], \"pairs\": [] } ] }";

/* The namespace, and what apply made in it. */
static struct {
	struct to_netlink rt;
	struct to_plan *plan;
	struct to_interfaces found;
	struct to_entries entries;
} here;

static void run(const char *command)
{
	if (system(command))
		fail_msg("%s", command);
}

/* Closes @fd. Return: whether all of @text is written. */
static bool write_all(int fd, const char *text)
{
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* Return: whether the process may do so. */
static bool enter_namespace(void)
{
	char map[32];

	snprintf(map, sizeof(map), "0 %u 1", geteuid());
	if (!geteuid())
		return !unshare(CLONE_NEWNET);
	return !unshare(CLONE_NEWUSER | CLONE_NEWNET) && write_all(open("/proc/self/uid_map", O_WRONLY), map);
}

static void make_interface(const char *name)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "ip link add %s type veth peer name %s-far && ip link set %s up && ip link set %s-far up",
		 name, name, name, name);
	run(command);
}

/* What apply does beside the table. */
static void apply_entries(void)
{
	struct to_entries own = {}, foreign = {}, want = {};
	struct to_error err = {};
	struct to_change *changes = NULL;
	unsigned int n = 0, added = 0;

	assert_int_equal(to_rtnl_entries(&here.rt, &own, &foreign, &err), 0);
	assert_int_equal(to_desired_state_entries(here.plan, 0, here.found.rdma, here.found.device,
						  &want, &err), 0);
	assert_int_equal(to_diff_entries(&own, &foreign, &want, &changes, &n, &added, &err), 0);
	if (to_rtnl_change(&here.rt, changes, n, &err))
		fail_msg("%s", err.text);
	to_entries_free(&here.entries);
	here.entries = want;
	to_entries_free(&own);
	to_entries_free(&foreign);
	free(changes);
}

static int set_up(void **state)
{
	char path[] = "/tmp/test_route_conflicts.XXXXXX";
	struct to_error err = {};

	(void)state;
	if (!enter_namespace())
		return 0;
	run("ip link set lo up");
	make_interface("t0");
	make_interface("p0");
	make_interface("other");
	if (!write_all(mkstemp(path), plan_text))
		return -1;
	here.plan = to_plan_load_shared(path, &err);
	unlink(path);
	if (!here.plan || to_netlink_open(&here.rt, NETLINK_ROUTE, &err) ||
	    to_rtnl_nics(&here.rt, &here.found.nics, &here.found.n_nics, &err)) {
		print_error("%s\n", err.text);
		return -1;
	}
	here.found.device = if_nametoindex("t0");
	here.found.port[0] = here.found.transmit[0] = here.found.rdma[0] = if_nametoindex("p0");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	to_entries_free(&here.entries);
	to_interfaces_free(&here.found);
	to_plan_free(here.plan);
	to_netlink_close(&here.rt);
	return 0;
}

static struct to_route_conflicts find(void)
{
	struct to_route_conflicts conflicts;
	struct to_error err = {};

	if (to_route_conflicts_find(&here.rt, here.plan, 0, &here.found, &here.entries, &conflicts,
				    &err))
		fail_msg("%s", err.text);
	return conflicts;
}

static void none_at_first(void **state)
{
	(void)state;
	if (!here.plan)
		skip();
	apply_entries();
	assert_int_equal(find().n, 0);
}

static const struct conflict {
	const char *make;	/* commands of who is in the way */
	const char *subject, *text, *fix;	/* as of struct to_route_conflict */
} cases[] = {
	{ "ip route replace default dev other table 77; ip rule add to 10.0.0.2 lookup 77 pref 100",
	  "10.0.0.2", "route 0.0.0.0/0 dev other of table 77, by rule 100 wins over the plan's to t0",
	  "ip rule del priority 100" },
	{ "ip -6 route replace default dev other table 77; ip -6 rule add to fd00::2 lookup 77 pref 100",
	  "fd00::2", "route ::/0 dev other of table 77, by rule 100 wins over the plan's to t0",
	  "ip -6 rule del priority 100" },
	{ "ip rule add prohibit to 10.0.0.2 pref 100", "10.0.0.2",
	  "rejected, by rule 100: Permission denied; the plan's route leads to t0",
	  "ip rule del priority 100" },
	{ "ip route replace unreachable default table 78; ip rule add to 10.0.0.2 lookup 78 pref 100",
	  "10.0.0.2", "rejected, by rule 100: No route to host; the plan's route leads to t0",
	  "ip rule del priority 100" },
	{ "ip route replace 10.0.0.2 dev other", "10.0.0.2",
	  "route 10.0.0.2/32 dev other of table main wins over the plan's to t0",
	  "ip route del 10.0.0.2/32 dev other table main" },
	{ "ip route replace blackhole 10.0.0.2", "10.0.0.2",
	  "rejected: Invalid argument; the plan's route leads to t0",
	  "ip route del blackhole 10.0.0.2/32 table main" },
	{ "ip -6 route add prohibit fd00::2 metric 10", "fd00::2",
	  "rejected: Permission denied; the plan's route leads to t0",
	  "ip -6 route del prohibit fd00::2/128 table main metric 10" },
	{ "ip address add 10.0.0.2/24 dev other", "10.0.0.2",
	  "an address of this server, too; the plan's route leads to t0",
	  "ip address del 10.0.0.2/24 dev other" },
	{ "ip -6 address add fd00::2/64 dev other nodad", "fd00::2",
	  "an address of this server, too; the plan's route leads to t0",
	  "ip -6 address del fd00::2/64 dev other" },
	{ "ip route add local 10.0.0.2 dev lo", "10.0.0.2",
	  "an address of this server, too; the plan's route leads to t0",
	  "ip route del local 10.0.0.2/32 dev lo table local" },
};

/* Each is found, and gone after the command that is told. */
static void fixes_mend(void **state)
{
	(void)state;
	if (!here.plan)
		skip();
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct conflict *c = &cases[i];
		struct to_route_conflicts found;

		run(c->make);
		found = find();
		/* the kernel adds the route of an IPv6 address a moment later */
		for (unsigned int wait = 0; wait < 1000 && !found.n; wait++) {
			usleep(10000);
			found = find();
		}
		if (found.n != 1)
			fail_msg("%s: %u conflicts", c->make, found.n);
		assert_string_equal(found.items[0].subject, c->subject);
		assert_string_equal(found.items[0].text, c->text);
		assert_string_equal(found.items[0].fix, c->fix);
		assert_int_equal(found.items[0].n, 1);
		run(found.items[0].fix);
		found = find();
		if (found.n)
			fail_msg("%s: %s", c->make, found.items[0].text);
		apply_entries();
	}
}

/* What takes packets only as the plan's route is missing is in nobody's way. */
static void missing_is_no_conflict(void **state)
{
	(void)state;
	if (!here.plan)
		skip();
	run("ip route del 10.0.0.2");
	run("ip route add unreachable 10.0.0.0/8");
	assert_int_equal(find().n, 0);
	run("ip route replace 10.0.0.0/8 dev other");
	assert_int_equal(find().n, 0);
	apply_entries();
	run("ip route replace 10.1.0.2 dev other proto 116");
	assert_int_equal(find().n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_at_first),
		cmocka_unit_test(fixes_mend),
		cmocka_unit_test(missing_is_no_conflict),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
