// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Expansion of a plan into one server's table and rtnetlink entries, on a
 * triangle with a spare port:
 *
 *	a:0 === b:0	b:1 === c:0	c:1 === a:1	a:2 dark
 *
 * b:0 has a second interface (PCI function), with a relay MAC of its own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/plan_json.h"
#include "kernel/desired_state.h"
#include "kernel/diff.h"

static const char plan_text[] =
"{ \"format\": \"topoopt-plan\", \"version\": 1, \"job\": \"t\", \"seed\": 0,"
"  \"link_mode\": \"duplex\", \"servers\": ["
"  { \"name\": \"a\", \"ipv4\": \"10.0.0.1\", \"ipv6\": \"fd00::1\", \"ports\": ["
"    { \"name\": \"p0\", \"mac\": \"02:00:00:00:00:a0\", \"ipv4\": \"10.1.0.1\", \"ipv6\": \"fd01::1\", \"bandwidth\": 1000 },"
"    { \"name\": \"p1\", \"mac\": \"02:00:00:00:00:a1\", \"ipv4\": \"10.2.0.1\", \"bandwidth\": 1000 },"
"    { \"name\": \"p2\", \"mac\": \"02:00:00:00:00:a2\", \"ipv4\": \"10.3.0.1\", \"bandwidth\": 1000 } ] },"
"  { \"name\": \"b\", \"ipv4\": \"10.0.0.2\", \"ports\": ["
"    { \"name\": \"p0\", \"mac\": \"02:00:00:00:00:b0\", \"relay_mac\": \"02:00:00:00:01:b0\", \"ipv4\": \"10.1.0.2\", \"ipv6\": \"fd01::2\", \"bandwidth\": 1000 },"
"    { \"name\": \"p1\", \"mac\": \"02:00:00:00:00:b1\", \"ipv4\": \"10.2.0.2\", \"bandwidth\": 1000 } ] },"
"  { \"name\": \"c\", \"ipv4\": \"10.0.0.3\", \"ports\": ["
"    { \"name\": \"p0\", \"mac\": \"02:00:00:00:00:c0\", \"ipv4\": \"10.1.0.3\", \"bandwidth\": 1000 },"
"    { \"name\": \"p1\", \"mac\": \"02:00:00:00:00:c1\", \"ipv4\": \"10.2.0.3\", \"bandwidth\": 1000 } ] } ],"
" \"optical_switches\": [],"
" \"links\": [ { \"a\": \"a:p0\", \"b\": \"b:p0\", \"use\": \"fixed\" },"
"   { \"a\": \"b:p1\", \"b\": \"c:p0\", \"use\": \"fixed\" },"
"   { \"a\": \"c:p1\", \"b\": \"a:p1\", \"use\": \"fixed\" } ],"
" \"rings\": [], \"cross_connects\": [],"
" \"demand\": { \"servers\": 3, \"allreduce\": [], \"mp\": [] },"
" \"tables\": ["
"  { \"server\": \"a\", \"groups\": ["
"      [ { \"port\": \"p0\", \"weight\": 2 }, { \"port\": \"p1\", \"backup\": true } ],"
"      [ { \"port\": \"p1\" } ] ],"
"    \"routes\": [ { \"group\": 0, \"nodes\": \"1\", \"ports\": [ \"1\", \"\" ] },"
"                { \"group\": 1, \"nodes\": \"2\", \"ports\": [ \"\", \"1-2\" ] },"
"                { \"group\": 0, \"nodes\": \"\", \"ports\": [ \"2\", \"\" ] } ],"
"    \"pairs\": [ { \"group\": 0, \"from\": \"0\", \"nodes\": \"2\", \"ports\": [ \"\", \"2\" ] } ] },"
"  { \"server\": \"b\", \"groups\": [], \"routes\": [], \"pairs\": [] },"
"  { \"server\": \"c\", \"groups\": [], \"routes\": [], \"pairs\": [] } ],"
" \"predictions\": {} }";

static const uint32_t ifindex[] = { 10, 11, 12 };

static struct to_plan *load(const char *text)
{
	char path[] = "/tmp/test_expand.XXXXXX";
	int fd = mkstemp(path);
	struct to_error err = {};
	struct to_plan *plan;
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	plan = to_plan_load_shared(path, &err);
	remove(path);
	if (!plan)
		fail_msg("%s", err.text);
	return plan;
}

/* The line that `toctl show routes` would print for @dst, @src or "". */
static void expect_route(const struct to_kernel_table *t, const char *dst,
			 const char *src, const char *line)
{
	const struct to_diff_names names = {};
	char text[TO_ROUTE_TEXT];
	int found = 0;

	for (unsigned int i = 0; i < t->n_routes; i++) {
		const struct to_kernel_route *r = &t->routes[i];
		uint8_t d[16] = {}, s[16] = {};
		int family = strchr(dst, ':') ? AF_INET6 : AF_INET;

		inet_pton(family, dst, d);
		inet_pton(family, src, s);
		if (r->family != family || memcmp(d, r->dst, 16) ||
		    memcmp(s, r->src, 16) || !!r->src_len != !!src[0])
			continue;
		found++;
		to_route_text(r, r->group != TO_KERNEL_GROUP_NONE ?
			      &t->groups[r->group] : NULL, &names, text, sizeof(text));
		assert_string_equal(text, line);
	}
	assert_int_equal(found, line ? 1 : 0);
}

static void test_table(void **state)
{
	struct to_plan *plan = load(plan_text);
	struct to_kernel_table t;
	struct to_error err = {};

	(void)state;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), 0);
	/* a's own addresses, of every port, dark or not; round by the peer where there is one */
	expect_route(&t, "10.0.0.1", "", "10.0.0.1/32 node");
	expect_route(&t, "fd00::1", "", "fd00::1/128 node");
	expect_route(&t, "10.1.0.1", "", "10.1.0.1/32 local via if10 02:00:00:00:01:b0");
	expect_route(&t, "fd01::1", "", "fd01::1/128 local via if10 02:00:00:00:01:b0");
	expect_route(&t, "10.2.0.1", "", "10.2.0.1/32 local via if11 02:00:00:00:00:c1");
	expect_route(&t, "10.3.0.1", "", "10.3.0.1/32 local");
	/* to the node address: the relay MAC, also on the last link */
	expect_route(&t, "10.0.0.2", "", "10.0.0.2/32 via if10 02:00:00:00:01:b0 weight 2, if11 02:00:00:00:00:c1 backup");
	/* to the port at the end of this link: the RDMA MAC there, and only there */
	expect_route(&t, "10.1.0.2", "", "10.1.0.2/32 via if10 02:00:00:00:00:b0 weight 2, if11 02:00:00:00:00:c1 backup");
	expect_route(&t, "fd01::2", "", "fd01::2/128 via if10 02:00:00:00:00:b0 weight 2, if11 02:00:00:00:00:c1 backup");
	/* to another port through the same link: transit, so the relay MAC */
	expect_route(&t, "10.1.0.3", "", "10.1.0.3/32 via if10 02:00:00:00:01:b0 weight 2, if11 02:00:00:00:00:c1 backup");
	expect_route(&t, "10.2.0.2", "", "10.2.0.2/32 via if11 02:00:00:00:00:c1");
	/* per pair: node to node, and every port of the source to the port */
	expect_route(&t, "10.0.0.3", "10.0.0.1", "10.0.0.3/32 from 10.0.0.1/32 via if10 02:00:00:00:01:b0 weight 2, if11 02:00:00:00:00:c1 backup");
	expect_route(&t, "10.2.0.3", "10.1.0.1", "10.2.0.3/32 from 10.1.0.1/32 via if10 02:00:00:00:01:b0 weight 2, if11 02:00:00:00:00:c1 backup");
	expect_route(&t, "10.2.0.3", "10.3.0.1", "10.2.0.3/32 from 10.3.0.1/32 via if10 02:00:00:00:01:b0 weight 2, if11 02:00:00:00:00:c1 backup");
	expect_route(&t, "10.0.0.3", "10.1.0.1", NULL);
	/* two groups of the plan, one variant for the last hop to b:p0, two peers */
	assert_int_equal(t.n_groups, 5);
	/* own 6, nodes 2, ports b0 twice, b1, c0, c1, pairs 1 + 3 */
	assert_int_equal(t.n_routes, 17);
	for (unsigned int i = 0; i < t.n_routes; i++)
		assert_in_range(t.routes[i].server, 0, 2);
	to_kernel_table_free(&t);
	to_plan_free(plan);
}

/* Alternates, whatever their place in the plan; what matters for the MAC is the port. */
static void test_alternates(void **state)
{
	struct to_nexthop hops[] = {
		{ .port = 0, .weight = 1, .ingress = 1 + 0 },
		{ .port = 1, .weight = 1, .backup = true },
		{ .port = 1, .weight = 1, .ingress = 1 + 2 },
		{ .port = 0, .weight = 2 },
	};
	struct to_plan *plan = load(plan_text);
	struct to_group *group = &plan->tables[0].groups[0], was = *group;
	struct to_kernel_table t;
	struct to_error err = {};

	(void)state;
	*group = (struct to_group){ .n = 4, .nexthops = hops };
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), 0);
	expect_route(&t, "10.0.0.2", "", "10.0.0.2/32 via if10 02:00:00:00:01:b0 weight 2, "
		     "if11 02:00:00:00:00:c1 backup, if10 02:00:00:00:01:b0 ingress if10, "
		     "if11 02:00:00:00:00:c1 ingress if12");
	expect_route(&t, "10.1.0.2", "", "10.1.0.2/32 via if10 02:00:00:00:00:b0 weight 2, "
		     "if11 02:00:00:00:00:c1 backup, if10 02:00:00:00:00:b0 ingress if10, "
		     "if11 02:00:00:00:00:c1 ingress if12");
	assert_int_equal(t.n_groups, 5);
	to_kernel_table_free(&t);
	/* also where no primary leads to the last hop */
	hops[0] = (struct to_nexthop){ .port = 1, .weight = 1 };
	hops[1] = (struct to_nexthop){ .port = 0, .weight = 1, .ingress = 1 + 1 };
	group->n = 2;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), 0);
	expect_route(&t, "10.1.0.2", "", "10.1.0.2/32 via if11 02:00:00:00:00:c1, "
		     "if10 02:00:00:00:00:b0 ingress if11");
	to_kernel_table_free(&t);

	hops[1].ingress = 1 + 3;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), -EINVAL);
	assert_string_equal(err.text, "server a: group 0 names port 3 of 3");
	hops[1].ingress = 1;
	hops[0].ingress = 1 + 1;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), -EINVAL);
	assert_string_equal(err.text, "server a: group 0 has 0 next hops, expected 1 to 32");
	*group = was;
	to_plan_free(plan);
}

static void test_dark_port(void **state)
{
	struct to_plan *plan = load(plan_text);
	struct to_kernel_table t;
	struct to_error err = {};

	(void)state;
	plan->tables[0].groups[1].nexthops[0].port = 2;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), -EINVAL);
	assert_string_equal(err.text, "server a: group 1 leads through port p2, which has no link");
	plan->tables[0].groups[1].nexthops[0].port = 3;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), -EINVAL);
	assert_string_equal(err.text, "server a: group 1 names port 3 of 3");
	plan->tables[0].groups[1].nexthops[0].port = 1;
	plan->tables[0].route[plan->slots] = 2;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), -EINVAL);
	assert_string_equal(err.text, "server a: route to server b names next hop group 2 of 2");
	to_plan_free(plan);
}

static void expect_entry(const struct to_entries *list, const char *line, int times)
{
	static const char *const names[] = { [1] = "topo0", [10] = "p0", [11] = "p1", [12] = "p2" };
	char text[192];
	int found = 0;

	for (unsigned int i = 0; i < list->n; i++) {
		uint32_t at = list->items[i].ifindex;

		to_entry_text(&list->items[i], at ? names[at] : "", text, sizeof(text));
		found += !strcmp(text, line);
	}
	if (found != times)
		fail_msg("%d times, expected %d: %s", found, times, line);
}

/* What the kernel refuses is refused before it is asked: less than 1/256 of a kind. */
static void test_least_share(void **state)
{
	struct to_plan *plan = load(plan_text);
	struct to_nexthop *hops = plan->tables[0].groups[0].nexthops;
	struct to_kernel_table t;
	struct to_error err = {};

	(void)state;
	hops[0].weight = 255;
	hops[1] = (struct to_nexthop){ .port = 1, .weight = 1 };
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), 0);
	to_kernel_table_free(&t);
	hops[0].weight = 256;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), -EINVAL);
	assert_string_equal(err.text, "server a: group 0 gives port p1 less than 1/256 of what its primaries carry");
	hops[1].backup = true;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), 0);
	to_kernel_table_free(&t);
	hops[0].backup = true;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), -EINVAL);
	assert_string_equal(err.text, "server a: group 0 gives port p1 less than 1/256 of what its backups carry");
	to_plan_free(plan);
}

static void test_entries(void **state)
{
	struct to_plan *plan = load(plan_text);
	struct to_entries e = {};
	struct to_error err = {};

	(void)state;
	assert_int_equal(to_desired_state_entries(plan, 0, ifindex, 1, &e, &err), 0);
	expect_entry(&e, "address 10.0.0.1/32 dev topo0", 1);
	expect_entry(&e, "address fd00::1/128 dev topo0", 1);
	expect_entry(&e, "address 10.1.0.1/32 dev p0", 1);
	expect_entry(&e, "address 10.3.0.1/32 dev p2", 1);
	/* .2 and .3 are one prefix, .1 and .0 are not in it */
	expect_entry(&e, "route 10.0.0.2/31 dev topo0 src 10.0.0.1", 1);
	/* the peer's port by its RDMA MAC, the relay behind it by its own */
	expect_entry(&e, "neighbour 10.1.0.2 lladdr 02:00:00:00:00:b0 dev p0", 1);
	expect_entry(&e, "neighbour 10.0.0.2 lladdr 02:00:00:00:01:b0 dev p0", 1);
	expect_entry(&e, "neighbour fd01::2 lladdr 02:00:00:00:00:b0 dev p0", 1);
	expect_entry(&e, "neighbour fe80::ff:fe00:1b0 lladdr 02:00:00:00:01:b0 dev p0", 1);
	/* main table: the plan's choice of port, the pair's where there is one */
	expect_entry(&e, "route 10.1.0.2/32 dev p0 src 10.1.0.1", 1);
	expect_entry(&e, "route 10.1.0.3/32 via 10.0.0.2 dev p0 src 10.1.0.1", 1);
	expect_entry(&e, "route 10.2.0.2/32 via 10.0.0.3 dev p1 src 10.2.0.1", 1);
	expect_entry(&e, "route 10.2.0.3/32 via 10.0.0.2 dev p0 src 10.1.0.1", 1);
	/* the ports' own tables reach everything, nothing leads to a dark port */
	expect_entry(&e, "rule from 10.1.0.1 lookup 1953431562", 1);
	expect_entry(&e, "rule from 10.2.0.1 lookup 1953431563", 1);
	expect_entry(&e, "rule from 10.3.0.1 lookup 1953431564", 0);
	expect_entry(&e, "route 10.1.0.2/32 dev p0 src 10.1.0.1 table 1953431562", 1);
	expect_entry(&e, "route 10.1.0.2/31 via 10.0.0.2 dev p0 src 10.1.0.1 table 1953431562", 1);
	expect_entry(&e, "route 10.2.0.3/32 dev p1 src 10.2.0.1 table 1953431563", 1);
	/* p1 has no IPv6 address, so no IPv6 */
	expect_entry(&e, "rule from fd01::1 lookup 1953431562", 1);
	for (unsigned int i = 0; i < e.n; i++)
		if (e.items[i].family == AF_INET6)
			assert_int_not_equal(e.items[i].ifindex, 11);
	to_entries_free(&e);
	to_plan_free(plan);
}

/* On a packet switch each next hop has the MAC of its peer, and all peers are neighbours. */
static void test_packet_switch(void **state)
{
	struct to_error err = {};
	struct to_plan *plan = to_plan_load_shared("selftests/unit/formats/plan-tor.json", &err);
	struct to_entries e = {};
	struct to_kernel_table t;

	(void)state;
	assert_non_null(plan);
	assert_int_equal(to_plan_index(plan), 0);
	/* a relay MAC of c's own, to tell the last hop from transit */
	plan->cluster->servers[2].ports[0].relay_mac[4] = 1;
	plan->tables[0].route[2 * plan->slots + 1] = 1;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &t, &err), 0);
	expect_route(&t, "10.0.0.2", "", "10.0.0.2/32 via if10 02:00:00:00:00:03, if11 02:00:00:00:00:04 weight 2");
	expect_route(&t, "10.0.0.3", "", "10.0.0.3/32 via if10 02:00:00:00:01:05");
	expect_route(&t, "10.1.0.3", "", "10.1.0.3/32 via if10 02:00:00:00:00:05");
	/* what is for a's port and came in by the other one goes round by the first neighbour */
	expect_route(&t, "10.1.0.1", "", "10.1.0.1/32 local via if10 02:00:00:00:00:03");
	to_kernel_table_free(&t);
	assert_int_equal(to_desired_state_entries(plan, 0, ifindex, 1, &e, &err), 0);
	expect_entry(&e, "neighbour 10.1.0.2 lladdr 02:00:00:00:00:03 dev p0", 1);
	expect_entry(&e, "neighbour 10.0.0.2 lladdr 02:00:00:00:00:03 dev p0", 1);
	expect_entry(&e, "neighbour 10.1.0.3 lladdr 02:00:00:00:00:05 dev p0", 1);
	expect_entry(&e, "neighbour 10.0.0.3 lladdr 02:00:00:00:01:05 dev p0", 1);
	expect_entry(&e, "route 10.1.0.2/32 dev p0 src 10.1.0.1 table 1953431562", 1);
	expect_entry(&e, "route 10.1.0.3/32 dev p0 src 10.1.0.1 table 1953431562", 1);
	/* b's other port, by another server on the switch than b */
	expect_entry(&e, "route 10.2.0.2/32 via 10.0.0.3 dev p0 src 10.1.0.1 table 1953431562", 1);
	expect_entry(&e, "route 10.1.0.3/32 dev p0 src 10.1.0.1", 1);
	to_entries_free(&e);
	to_plan_free(plan);
}

static unsigned int cover(struct to_prefix *p, unsigned int n, const unsigned int *hosts)
{
	memset(p, 0, n * sizeof(*p));
	for (unsigned int i = 0; i < n; i++) {
		uint32_t address = htonl(hosts[i]);

		memcpy(p[i].address, &address, 4);
	}
	return to_prefix_cover(p, n, 4);
}

/* Every address of the input is covered, and no other one. */
static void test_cover(void **state)
{
	struct to_prefix p[256];
	unsigned int hosts[256] = {}, n, seed = 7;

	(void)state;
	assert_int_equal(cover(p, 0, hosts), 0);
	for (unsigned int i = 0; i < 256; i++)
		hosts[i] = 0x0a000000 + 255 - i;
	assert_int_equal(cover(p, 256, hosts), 1);
	assert_int_equal(p[0].len, 24);
	hosts[0] = hosts[1] = 0;
	assert_int_equal(cover(p, 2, hosts), 1);
	assert_int_equal(p[0].len, 32);
	for (int round = 0; round < 100; round++) {
		bool in[256] = {}, covered[256] = {};

		for (n = 0; n < 100; n++) {
			hosts[n] = rand_r(&seed) % 256;
			in[hosts[n]] = true;
		}
		n = cover(p, n, hosts);
		for (unsigned int i = 0; i < n; i++) {
			uint32_t first;

			memcpy(&first, p[i].address, 4);
			first = ntohl(first);
			for (uint32_t a = first; a < first + (1u << (32 - p[i].len)); a++) {
				assert_in_range(a, 0, 255);
				assert_false(covered[a]);
				covered[a] = true;
			}
			/* fewest: no two neighbours could be one */
			if (i && p[i].len == p[i - 1].len) {
				uint32_t before;

				memcpy(&before, p[i - 1].address, 4);
				before = ntohl(before);
				assert_true(first - before != 1u << (32 - p[i].len) ||
					    before >> (32 - p[i].len) & 1);
			}
		}
		assert_memory_equal(in, covered, sizeof(in));
	}
}

static void expect_peer(const struct to_kernel_table *t, uint32_t ifindex, const char *mac,
			uint32_t index, const char *server, const char *port)
{
	int found = 0;

	for (unsigned int i = 0; i < t->n_peers; i++) {
		const struct to_peer *p = &t->peers[i];
		char text[18];

		snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", p->mac[0], p->mac[1],
			 p->mac[2], p->mac[3], p->mac[4], p->mac[5]);
		if (p->ifindex != ifindex || strcmp(text, mac))
			continue;
		found++;
		assert_int_equal(p->index, index);
		assert_string_equal(p->server, server);
		assert_string_equal(p->server_port, port);
	}
	assert_int_equal(found, 1);
}

static struct to_kernel_table checked(const struct to_plan *plan, unsigned int server)
{
	struct to_kernel_table t;
	struct to_error err = {};

	assert_int_equal(to_desired_state_table(plan, server, ifindex, &t, &err), 0);
	return t;
}

/* A plan without checks has the defaults; who transit goes to is expected. */
static void test_peers(void **state)
{
	struct to_plan *plan = load(plan_text);
	struct to_continuity *checks = &plan->cluster->continuity;
	struct to_kernel_table t = checked(plan, 0);
	const uint64_t fabric = t.check.fabric;

	(void)state;
	assert_int_equal(t.check.interval, TOPOOPT_CHECK_INTERVAL_100MS);
	assert_int_equal(t.check.grace_ms, 5000);
	assert_string_equal(t.check.server, "a");
	/* the relay MAC; the dark port expects nobody */
	assert_int_equal(t.n_peers, 2);
	expect_peer(&t, 10, "02:00:00:00:01:b0", 1, "b", "p0");
	expect_peer(&t, 11, "02:00:00:00:00:c1", 2, "c", "p1");
	to_kernel_table_free(&t);

	/* the other end; a fabric is its name, on whatever server */
	strcpy(checks->fabric, "other");
	checks->interval = TO_CONTINUITY_3MS;
	checks->has_grace = true;
	t = checked(plan, 1);
	assert_int_equal(t.check.interval, TOPOOPT_CHECK_INTERVAL_3MS);
	assert_int_equal(t.check.grace_ms, 0);
	assert_int_not_equal(t.check.fabric, fabric);
	assert_int_equal(t.n_peers, 2);
	expect_peer(&t, 10, "02:00:00:00:00:a0", 0, "a", "p0");
	expect_peer(&t, 11, "02:00:00:00:00:c0", 2, "c", "p0");
	to_kernel_table_free(&t);
	strcpy(checks->fabric, "topoopt");
	t = checked(plan, 1);
	assert_int_equal(t.check.fabric, fabric);
	to_kernel_table_free(&t);

	/* nobody is expected of a module without checks, and it expects nobody */
	plan->cluster->servers[1].unable = true;
	t = checked(plan, 0);
	assert_int_equal(t.n_peers, 1);
	expect_peer(&t, 11, "02:00:00:00:00:c1", 2, "c", "p1");
	to_kernel_table_free(&t);
	t = checked(plan, 1);
	assert_int_equal(t.check.interval, TOPOOPT_CHECK_INTERVAL_OFF);
	assert_int_equal(t.n_peers, 0);
	to_kernel_table_free(&t);
	plan->cluster->servers[1].unable = false;
	checks->interval = TO_CONTINUITY_OFF;
	t = checked(plan, 0);
	assert_int_equal(t.check.interval, TOPOOPT_CHECK_INTERVAL_OFF);
	assert_int_equal(t.n_peers, 0);
	to_kernel_table_free(&t);
	to_plan_free(plan);
}

/* What a repaired plan does without is still listened to: that is how it comes back. */
static void test_dark_peers(void **state)
{
	struct to_plan *plan = load(plan_text);
	struct to_link dark = { .a = { 0, 2 }, .b = { 2, 0 } };
	struct to_kernel_table t;

	(void)state;
	plan->dark = &dark;
	plan->n_dark = 1;
	t = checked(plan, 0);
	assert_int_equal(t.n_peers, 3);
	expect_peer(&t, 12, "02:00:00:00:00:c0", 2, "c", "p0");
	to_kernel_table_free(&t);
	plan->dark = NULL;
	plan->n_dark = 0;
	to_plan_free(plan);
}

/* A simplex link is checked when another one leads back to its port. */
static void test_simplex_peers(void **state)
{
	struct to_plan *plan = load(plan_text);
	struct to_link *l = plan->cluster->links;
	struct to_kernel_table t;

	(void)state;
	plan->cluster->link_mode = TO_LINKS_SIMPLEX;
	l[0] = (struct to_link){ .a = { 0, 0 }, .b = { 1, 0 } };
	l[1] = (struct to_link){ .a = { 1, 0 }, .b = { 0, 0 } };
	l[2] = (struct to_link){ .a = { 0, 1 }, .b = { 2, 0 } };
	assert_int_equal(to_plan_index(plan), 0);
	t = checked(plan, 0);
	assert_int_equal(t.n_peers, 1);
	expect_peer(&t, 10, "02:00:00:00:01:b0", 1, "b", "p0");
	to_kernel_table_free(&t);
	to_plan_free(plan);
}

/* A port on a packet switch has many neighbours. */
static void test_shared_peers(void **state)
{
	struct to_error err = {};
	struct to_plan *plan = to_plan_load_shared("selftests/unit/formats/plan-tor.json", &err);
	struct to_kernel_table t;
	unsigned int on[2] = {};

	(void)state;
	assert_non_null(plan);
	t = checked(plan, 0);
	for (unsigned int i = 0; i < t.n_peers; i++)
		on[t.peers[i].ifindex - 10]++;
	assert_int_equal(on[0], 2);
	expect_peer(&t, 10, "02:00:00:00:00:03", 1, "b", "eth0");
	to_kernel_table_free(&t);
	to_plan_free(plan);
}

static void count_line(char sign, const char *what, const char *text, void *arg)
{
	(void)what;
	(void)text;
	((int *)arg)[sign == '+']++;
}

static void test_diff(void **state)
{
	const struct to_diff_names names = {};
	struct to_plan *plan = load(plan_text);
	struct to_kernel_table a, b;
	struct to_kernel_route swap;
	struct to_diff_count count;
	struct to_error err = {};
	int lines[2] = {};

	(void)state;
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &a, &err), 0);
	assert_int_equal(to_desired_state_table(plan, 0, ifindex, &b, &err), 0);
	/* other order, other group ids, same table */
	swap = b.routes[3];
	b.routes[3] = b.routes[b.n_routes - 1];
	b.routes[b.n_routes - 1] = swap;
	for (unsigned int i = 0; i < b.n_groups; i++)
		b.groups[i].id += 100;
	for (unsigned int i = 0; i < b.n_routes; i++)
		if (b.routes[i].group != TO_KERNEL_GROUP_NONE)
			b.routes[i].group += 100;
	assert_int_equal(to_diff_tables(&a, &b, &count, count_line, &names, lines, &err), 0);
	assert_int_equal(count.added + count.removed + count.changed, 0);
	assert_int_equal(lines[0] + lines[1], 0);
	/* a MAC differs: all routes of that group change, to c, b:1 and c:1 */
	b.groups[1].nexthops[0].mac[5] ^= 1;
	assert_int_equal(to_diff_tables(&a, &b, &count, count_line, &names, lines, &err), 0);
	assert_int_equal(count.changed, 3);
	assert_int_equal(lines[0], 3);
	assert_int_equal(lines[1], 3);
	b.groups[1].nexthops[0].mac[5] ^= 1;
	/* an alternate for another port */
	a.groups[0].nexthops[1].ingress = 10;
	b.groups[0].nexthops[1].ingress = 12;
	assert_int_equal(to_diff_tables(&a, &b, &count, NULL, NULL, NULL, &err), 0);
	assert_true(count.changed > 0);
	b.groups[0].nexthops[1].ingress = 10;
	b.n_routes--;
	assert_int_equal(to_diff_tables(&a, &b, &count, NULL, NULL, NULL, &err), 0);
	assert_int_equal(count.removed, 1);
	assert_int_equal(count.added + count.changed, 0);
	to_kernel_table_free(&a);
	to_kernel_table_free(&b);
	to_plan_free(plan);
}

static void keep_line(char sign, const char *what, const char *text, void *arg)
{
	char *lines = arg;

	assert_string_equal(what, "check");
	sprintf(lines + strlen(lines), "%c %s\n", sign, text);
}

/* Settings and neighbours that come and go are told, a key never. */
static void test_diff_checks(void **state)
{
	const struct to_diff_names names = {};
	struct to_plan *plan = load(plan_text);
	struct to_continuity *checks = &plan->cluster->continuity;
	struct to_kernel_table a = checked(plan, 0), b;
	char lines[1024] = "";

	(void)state;
	checks->interval = TO_CONTINUITY_10MS;
	checks->has_key = true;
	memset(checks->key, 0xab, sizeof(checks->key));
	b = checked(plan, 0);
	b.peers[0].mac[5] ^= 1;
	strcpy(b.peers[1].server_port, "p7");
	assert_int_equal(to_diff_checks(&a, &a, NULL, NULL, NULL), 0);
	assert_int_equal(to_diff_checks(&a, &b, NULL, NULL, NULL), 6);
	assert_int_equal(to_diff_checks(&a, &b, keep_line, &names, lines), 6);
	assert_non_null(strstr(lines, "- every 100ms as a, fabric "));
	assert_non_null(strstr(lines, "+ every 10ms as a, fabric "));
	assert_non_null(strstr(lines, ", grace 5000 ms, with a key\n"));
	assert_non_null(strstr(lines, "- if10 of b:p0 02:00:00:00:01:b0\n+ if10 of b:p0 02:00:00:00:01:b1\n"));
	assert_non_null(strstr(lines, "- if11 of c:p1 02:00:00:00:00:c1\n+ if11 of c:p7 02:00:00:00:00:c1\n"));
	assert_null(strstr(lines, "abab"));
	to_kernel_table_free(&a);
	/* a key alone, which some may not read */
	a = checked(plan, 0);
	to_kernel_table_free(&b);
	b = checked(plan, 0);
	a.check.key[3] = 0;
	assert_int_equal(to_diff_checks(&a, &b, NULL, NULL, NULL), 2);
	a.check.hidden = true;
	assert_int_equal(to_diff_checks(&a, &b, NULL, NULL, NULL), 0);
	to_kernel_table_free(&a);
	to_kernel_table_free(&b);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_alternates),
		cmocka_unit_test(test_dark_port),
		cmocka_unit_test(test_least_share),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_packet_switch),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_dark_peers),
		cmocka_unit_test(test_simplex_peers),
		cmocka_unit_test(test_shared_peers),
		cmocka_unit_test(test_diff_checks),
		cmocka_unit_test(test_cover),
		cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests_name("expand", tests, NULL, NULL);
}
