// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the tables of topoopt_fwd without a NIC: lookups against a linear
 * search, weights and stability of next hop groups, and the cost of a lookup. And how
 * sends are counted where tasks preempt each other with bottom halves off.
 * The kernel log gets TAP; kernel/table.sh reads it.
 */

#define pr_fmt(fmt) "table_test: " fmt

#include <linux/etherdevice.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>

#include "nesting.h"
#include "table.h"
#include "tuple.h"

static unsigned int rules = 10000;
module_param(rules, uint, 0);
MODULE_PARM_DESC(rules, "Rules in a table that is compared with linear search");

static unsigned int bench;
module_param(bench, uint, 0);
MODULE_PARM_DESC(bench, "Measure tables of up to so many routes instead");

static unsigned int test_count;

static const bool test_wanted;	/* not gone */

#define test_ok(condition, fmt, ...)					\
	pr_info("%s %u - " fmt "\n", (condition) ? "ok" : "not ok",	\
		++test_count, ##__VA_ARGS__)

/* The same numbers every time. */
static u64 test_state;

static u32 test_random(u32 below)
{
	test_state = test_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((test_state >> 32) * below) >> 32;
}

/* --- tables ---------------------------------------------------------- */

static bool test_prefix_covers(const struct in6_addr *prefix, u8 len,
			       const struct in6_addr *addr, bool v6)
{
	if (v6)
		return ipv6_prefix_equal(prefix, addr, len);
	return !len || !((ntohl(prefix->s6_addr32[0]) ^
			  ntohl(addr->s6_addr32[0])) >> (32 - len));
}

/* What a lookup has to find, the slow way. */
static const struct topoopt_rule *test_search(const struct topoopt_rule *rule,
					      u32 count,
					      const struct in6_addr *dst,
					      const struct in6_addr *src,
					      bool v6)
{
	const struct topoopt_rule *best = NULL;

	for (; count; count--, rule++) {
		if (rule->v6 != v6 ||
		    !test_prefix_covers(&rule->dst, rule->dst_len, dst, v6) ||
		    !test_prefix_covers(&rule->src, rule->src_len, src, v6))
			continue;
		if (!best || rule->dst_len > best->dst_len ||
		    (rule->dst_len == best->dst_len &&
		     rule->src_len > best->src_len))
			best = rule;
	}
	return best;
}

static u32 test_search_server(const struct topoopt_rule *rule, u32 count,
			      const struct in6_addr *addr, bool v6)
{
	u32 server = TOPOOPT_SERVER_NONE;
	int len = -1;

	for (; count; count--, rule++) {
		if (rule->v6 != v6 || rule->dst_len < len ||
		    !test_prefix_covers(&rule->dst, rule->dst_len, addr, v6))
			continue;
		server = rule->route.server;
		len = rule->dst_len;
	}
	return server;
}

/* An address in a small space, so that prefixes overlap. */
static void test_address(struct in6_addr *addr, bool v6, unsigned int bits)
{
	u32 host = test_random(1 << bits);

	memset(addr, 0, sizeof(*addr));
	if (v6) {
		addr->s6_addr32[0] = htonl(0xfd00746f);
		addr->s6_addr32[1] = htonl(test_random(4));
		addr->s6_addr32[3] = htonl(host);
	} else {
		addr->s6_addr32[0] = htonl(0x0ac80000 | host);
	}
}

static void test_mask(struct in6_addr *addr, u8 len, bool v6)
{
	struct in6_addr full = *addr;

	if (v6)
		ipv6_addr_prefix(addr, &full, len);
	else
		addr->s6_addr32[0] &= htonl(len ? ~0U << (32 - len) : 0);
}

static u8 test_length(bool v6)
{
	static const u8 short_by[] = { 0, 0, 0, 0, 1, 4, 8, 8, 12, 16 };

	return (v6 ? 128 : 32) - short_by[test_random(ARRAY_SIZE(short_by))];
}

static void test_rule(struct topoopt_rule *rule, bool v6, u32 index,
		      struct topoopt_group **group)
{
	memset(rule, 0, sizeof(*rule));
	rule->v6 = v6;
	rule->dst_len = test_length(v6);
	test_address(&rule->dst, v6, 16);
	test_mask(&rule->dst, rule->dst_len, v6);
	if (!test_random(3)) {
		rule->src_len = test_length(v6);
		test_address(&rule->src, v6, 16);
		test_mask(&rule->src, rule->src_len, v6);
	}
	rule->route.type = test_random(3);
	if (rule->route.type == TOPOOPT_ROUTE_TYPE_UNICAST)
		rule->route.group = group[test_random(2)];
	/* The owner of a destination is one, whatever the source. */
	rule->route.server = rule->dst_len << 16 |
			     (rule->v6 ? ntohl(rule->dst.s6_addr32[3]) & 0xffff :
			      ntohl(rule->dst.s6_addr32[0]) & 0xffff);
}

static bool test_rule_is(const struct topoopt_rule *a,
			 const struct topoopt_rule *b)
{
	return a->v6 == b->v6 && a->dst_len == b->dst_len &&
	       a->src_len == b->src_len && ipv6_addr_equal(&a->dst, &b->dst) &&
	       (!a->src_len || ipv6_addr_equal(&a->src, &b->src));
}

static bool test_rule_known(const struct topoopt_rule *rule, u32 count,
			    const struct topoopt_rule *new)
{
	for (; count; count--, rule++)
		if (test_rule_is(rule, new))
			return true;
	return false;
}

/* In many steps, so that each of the tests also shows that nothing is lost between. */
static struct topoopt_table *test_build(struct topoopt_routes *routes, const bool *gone)
{
	struct topoopt_build *build = NULL;
	struct topoopt_table *table;

	do {
		table = topoopt_table_build(&build, 997, routes, gone, NULL);
	} while (table == ERR_PTR(-EINPROGRESS));
	return table;
}

static struct topoopt_group *test_group(u32 id, unsigned int count,
					const u16 *weight, u32 backups)
{
	struct topoopt_nexthop nexthop[TOPOOPT_MAX_NEXTHOPS] = {};
	unsigned int i;

	for (i = 0; i < count; i++) {
		nexthop[i].ifindex = 100 + i;
		nexthop[i].slot = i;
		nexthop[i].weight = weight ? weight[i] : 1;
		nexthop[i].mac[0] = 2;
		nexthop[i].mac[5] = i;
		nexthop[i].backup = backups & BIT(i);
	}
	return topoopt_group_build(id, nexthop, count, NULL);
}

/* Groups 0 and 1 of one next hop each. */
static int test_add_groups(struct topoopt_routes *routes,
			   struct topoopt_group *group[2])
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		group[i] = test_group(i, 1, NULL, 0);
		if (IS_ERR(group[i]))
			return PTR_ERR(group[i]);
		*(struct topoopt_group **)topoopt_array_push(&routes->groups) =
			group[i];
	}
	return 0;
}

static bool test_same_route(const struct topoopt_route *a,
			    const struct topoopt_route *b)
{
	return a->type == b->type && a->group == b->group &&
	       a->server == b->server;
}

static void test_lookups(const struct topoopt_table *table,
			 const struct topoopt_rule *rule, u32 count, bool v6)
{
	u32 i, hits = 0, wrong = 0, wrong_match = 0, wrong_server = 0;
	const struct topoopt_rule *expected;
	struct topoopt_route route;
	struct in6_addr dst, src;
	struct topoopt_rule match;
	bool found;

	for (i = 0; i < 4000; i++) {
		/* Half of them where no rule is. */
		test_address(&dst, v6, 17);
		test_address(&src, v6, 16);
		expected = test_search(rule, count, &dst, &src, v6);
		hits += !!expected;
		found = v6 ? topoopt_table_lookup6(table, &dst, &src, &route) :
			     topoopt_table_lookup4(table, dst.s6_addr32[0],
						   src.s6_addr32[0], &route);
		if (found != !!expected ||
		    (found && !test_same_route(&route, &expected->route)))
			wrong++;

		memset(&match, 0, sizeof(match));
		match.v6 = v6;
		match.dst = dst;
		match.src = src;
		found = topoopt_table_match(table, &match);
		if (found != !!expected ||
		    (found && (!test_rule_is(&match, expected) ||
			       !test_same_route(&match.route, &expected->route))))
			wrong_match++;

		if ((v6 ? topoopt_table_server6(table, &dst) :
			  topoopt_table_server4(table, dst.s6_addr32[0])) !=
		    test_search_server(rule, count, &dst, v6))
			wrong_server++;
		if (i % 64 == 0)
			cond_resched();
	}
	test_ok(!wrong && hits && hits < 4000, "IPv%d: 4000 lookups, %u with a route, %u differ",
		v6 ? 6 : 4, hits, wrong);
	test_ok(!wrong_match, "IPv%d: rules found, %u differ", v6 ? 6 : 4,
		wrong_match);
	test_ok(!wrong_server, "IPv%d: owners found, %u differ", v6 ? 6 : 4,
		wrong_server);
}

static void test_walk(const struct topoopt_table *table,
		      const struct topoopt_rule *rule, u32 count)
{
	struct topoopt_rule next;
	u32 seen = 0, unknown = 0;
	u64 pos = 0;

	while (topoopt_table_next(table, &pos, &next)) {
		seen++;
		unknown += !test_rule_known(rule, count, &next);
		if (seen % 64 == 0)
			cond_resched();
	}
	test_ok(seen == count && !unknown,
		"walk: %u of %u rules, %u not in the table", seen, count, unknown);
}

static int test_tables(void)
{
	struct topoopt_routes *routes = kvzalloc(sizeof(*routes), GFP_KERNEL);
	struct topoopt_rule *rule = vmalloc(array_size(rules, sizeof(*rule)));
	struct topoopt_group *group[2];
	struct topoopt_table *table;
	u32 i = 0;
	int err;

	if (!routes || !rule)
		return -ENOMEM;
	topoopt_routes_init(routes);
	err = test_add_groups(routes, group);
	if (err)
		return err;
	while (i < rules) {
		test_rule(&rule[i], i & 1, i, group);
		if (test_rule_known(rule, i, &rule[i]))
			continue;
		if (topoopt_routes_add(routes, &rule[i]))
			return -ENOMEM;
		if (++i % 64 == 0)
			cond_resched();
	}

	/* Twice the same: once without and once with a source. */
	for (i = 0; rule[i].src_len; i++)
		;
	topoopt_routes_add(routes, &rule[i]);
	table = test_build(routes, &test_wanted);
	test_ok(table == ERR_PTR(-EEXIST), "equal rules are refused");
	topoopt_routes_truncate(routes, (rules + 1) / 2, rules / 2, 2);
	for (i = 0; !rule[i].src_len; i++)
		;
	topoopt_routes_add(routes, &rule[i]);
	table = test_build(routes, &test_wanted);
	test_ok(table == ERR_PTR(-EEXIST), "equal rules with source are refused");
	topoopt_routes_truncate(routes, (rules + 1) / 2, rules / 2, 2);

	table = test_build(routes, &test_wanted);
	test_ok(!IS_ERR(table), "%u rules make a table", rules);
	if (!IS_ERR(table)) {
		test_ok(topoopt_table_routes(table) == rules,
			"the table counts its rules");
		test_lookups(table, rule, rules, false);
		test_lookups(table, rule, rules, true);
		test_walk(table, rule, rules);
		topoopt_table_free(table);
	}

	table = test_build(routes, &test_wanted);
	test_ok(!IS_ERR(table) &&
		!topoopt_table_lookup4(table, 0, 0, &rule->route),
		"an empty table has no routes");
	if (!IS_ERR(table))
		topoopt_table_free(table);

	topoopt_routes_free(routes);
	kvfree(routes);
	vfree(rule);
	return 0;
}

/*
 * Addresses that collide under the first multiplier, which everybody can know,
 * and under any that could be foretold from it.
 */
#define TEST_CHOSEN_SEEDS	9U
#define TEST_CHOSEN		1000U

static int test_add_chosen(struct topoopt_routes *routes, u64 seed, u8 first)
{
	struct topoopt_tuple tuple = {
		.size = 2 * TEST_CHOSEN_SEEDS * TEST_CHOSEN, .seed = seed,
	};
	struct topoopt_rule rule = {
		.dst_len = 32, .route.type = TOPOOPT_ROUTE_TYPE_NODE,
		.route.server = TOPOOPT_SERVER_NONE,
	};
	u32 i, n = 0, hash;

	for (i = 0; n < TEST_CHOSEN; i++) {
		rule.dst.s6_addr32[0] = htonl(first << 24 | i);
		hash = topoopt_tuple_hash(&tuple, (__force u32)rule.dst.s6_addr32[0],
					  0, false);
		if (topoopt_tuple_home(&tuple, hash) >= tuple.size / 64)
			continue;
		if (topoopt_routes_add(routes, &rule))
			return -ENOMEM;
		n++;
	}
	return 0;
}

/* Slots between a key of the longest prefixes and the one it hashes to. */
static u32 test_farthest(const struct topoopt_table *table, bool v6)
{
	const struct topoopt_tuple *tuple = table->family[v6].dst.begin;
	u32 i, farthest = 0;

	for (i = 0; i < topoopt_tuple_slots(tuple); i++) {
		const struct topoopt_slot *slot = topoopt_tuple_slot(tuple, i, v6);
		u32 hash = topoopt_tuple_hash(tuple, v6 ? slot->key6[0] : slot->key4,
					      v6 ? slot->key6[1] : 0, v6);

		if (slot->target)
			farthest = max(farthest, i - topoopt_tuple_home(tuple, hash));
	}
	return farthest;
}

/* A table of routes that were chosen to collide; frees them. */
static void test_collide(struct topoopt_routes *routes, bool v6, const char *name, u32 limit)
{
	struct topoopt_table *table = test_build(routes, &test_wanted);
	u32 farthest;

	test_ok(!IS_ERR(table), "%s make a table", name);
	if (!IS_ERR(table)) {
		farthest = test_farthest(table, v6);
		test_ok(farthest <= limit, "%s: none is far from where it hashes to: %u slots",
			name, farthest);
		topoopt_table_free(table);
	}
	topoopt_routes_free(routes);
	kvfree(routes);
}

static int test_chosen(void)
{
	struct topoopt_routes *routes = kvzalloc(sizeof(*routes), GFP_KERNEL);
	const bool gone = true;
	struct topoopt_table *table;
	u64 seed = GOLDEN_RATIO_64;
	int err = 0;
	u32 i;

	if (!routes)
		return -ENOMEM;
	topoopt_routes_init(routes);
	for (i = 0; i < TEST_CHOSEN_SEEDS && !err; i++) {
		err = test_add_chosen(routes, seed, 20 + i);
		seed = hash_64(seed, 64) | 1;
	}
	if (err)
		return err;
	table = test_build(routes, &gone);
	test_ok(table == ERR_PTR(-ENODEV), "nobody builds what nobody wants");
	test_collide(routes, false, "chosen addresses", 256);
	return 0;
}

/*
 * IPv6 addresses whose halves have no bits but the highest: with them a sum of
 * multiples of both has few values, whatever the multipliers are.
 */
#define TEST_HIGH_BITS		8

static int test_high_bits(void)
{
	struct topoopt_routes *routes = kvzalloc(sizeof(*routes), GFP_KERNEL);
	struct topoopt_rule rule = {
		.v6 = true, .dst_len = 128, .route.type = TOPOOPT_ROUTE_TYPE_NODE,
		.route.server = TOPOOPT_SERVER_NONE,
	};
	u64 i, j, half[2];

	if (!routes)
		return -ENOMEM;
	topoopt_routes_init(routes);
	for (i = 0; i < BIT(2 * TEST_HIGH_BITS); i++) {
		j = i >> TEST_HIGH_BITS;
		half[0] = i << (64 - TEST_HIGH_BITS);
		half[1] = -((j << (64 - TEST_HIGH_BITS)) + (j << (32 - TEST_HIGH_BITS)));
		memcpy(&rule.dst, half, sizeof(half));
		if (topoopt_routes_add(routes, &rule))
			return -ENOMEM;
	}
	test_collide(routes, true, "addresses of few bits", 128);
	return 0;
}

/* --- groups ---------------------------------------------------------- */

static unsigned int test_slot(const struct topoopt_group *group, u64 live,
			      u32 hash)
{
	const struct topoopt_nexthop *nexthop;

	nexthop = topoopt_group_select(group, live, hash);
	return nexthop ? nexthop->slot : TOPOOPT_MAX_PORTS;
}

static void test_shares(const char *name, const u16 *weight, unsigned int count)
{
	struct topoopt_group *group = test_group(0, count, weight, 0);
	unsigned int i, buckets[TOPOOPT_MAX_NEXTHOPS] = {}, total = 0, off = 0;

	if (IS_ERR(group)) {
		test_ok(false, "weights %s: %ld", name, PTR_ERR(group));
		return;
	}
	for (i = 0; i < 256; i++)
		buckets[test_slot(group, ~0ULL, i << 24)]++;
	for (i = 0; i < count; i++)
		total += weight[i];
	for (i = 0; i < count; i++)
		off += abs((int)(buckets[i] * total) - weight[i] * 256) >= total;
	test_ok(!off, "weights %s hold to 1/256", name);
	topoopt_group_free(group);
}

/* Every next hop in turn, then every two, dies: who moves? */
static void test_deaths(const char *name, unsigned int count)
{
	struct topoopt_group *group = test_group(0, count, NULL, 0);
	unsigned int i, j, before, after, moved = 0, dead = 0, most = 0;
	unsigned int orphans, gained[TOPOOPT_MAX_NEXTHOPS];
	u32 hash;

	if (IS_ERR(group)) {
		test_ok(false, "%s: %ld", name, PTR_ERR(group));
		return;
	}
	for (i = 0; i < count; i++) {
		orphans = 0;
		memset(gained, 0, sizeof(gained));
		for (hash = 1; hash < 20000; hash++) {
			u32 h = hash * 2654435761U;

			before = test_slot(group, ~0ULL, h);
			after = test_slot(group, ~BIT_ULL(i), h);
			moved += before != i && after != before;
			dead += after == i || after >= count;
			orphans += before == i;
			if (before == i && after < count)
				gained[after]++;

			before = after;
			j = (i + 1) % count;
			after = test_slot(group, ~BIT_ULL(i) & ~BIT_ULL(j), h);
			moved += before != j && after != before;
			dead += count > 2 && (after == i || after == j);
		}
		for (j = 0; j < count; j++)
			most = max(most, gained[j] * 100 * (count - 1) /
					 max(orphans, 1U));
	}
	test_ok(!moved && !dead, "%s: flows of live next hops stay, %u moved",
		name, moved);
	test_ok(most < 200, "%s: flows of a dead one spread, to one at most %u %% of fair",
		name, most);
	topoopt_group_free(group);
}

/* The same group without its last next hop, in another table. */
static void test_change(const char *name, const u16 *weight, unsigned int count)
{
	struct topoopt_group *old = test_group(0, count, weight, 0);
	struct topoopt_group *new = test_group(1, count - 1, weight, 0);
	unsigned int i, before, after, moved = 0, share = 0;

	if (IS_ERR(old) || IS_ERR(new)) {
		test_ok(false, "%s", name);
		return;
	}
	for (i = 0; i < 256; i++) {
		before = test_slot(old, ~0ULL, i << 24);
		after = test_slot(new, ~0ULL, i << 24);
		share += before == count - 1;
		moved += before != count - 1 && before != after;
	}
	test_ok(moved * 10 <= 256, "%s: without a next hop of %u/256, %u/256 of the others move",
		name, share, moved);
	topoopt_group_free(old);
	topoopt_group_free(new);
}

static void test_backups(void)
{
	/* 0, 2: primaries; 1, 3: backups */
	struct topoopt_group *group = test_group(0, 4, NULL, 0xa);
	u32 ports[] = { 100, 101, 102, 103 };
	unsigned int i, used = 0, early = 0, wrong = 0;

	if (IS_ERR(group)) {
		test_ok(false, "group with backups: %ld", PTR_ERR(group));
		return;
	}
	for (i = 0; i < 256; i++) {
		u32 hash = i << 24 | i;

		early |= BIT(test_slot(group, 0xf, hash)) |
			 BIT(test_slot(group, 0xe, hash));
		used |= BIT(test_slot(group, 0xa, hash));
		wrong += test_slot(group, 0x8, hash) != 3;
		wrong += test_slot(group, 0x0, hash) != TOPOOPT_MAX_PORTS;
	}
	test_ok(early == 0x5, "backups wait for the last primary");
	test_ok(used == 0xa && !wrong, "backups share the flows");
	test_ok(topoopt_group_on_backup(group, 0xa, ports) &&
		!topoopt_group_on_backup(group, 0xb, ports) &&
		!topoopt_group_on_backup(group, 0, ports),
		"a group knows when it runs on backups");
	ports[0] = 200;
	test_ok(topoopt_group_on_backup(group, 0xb, ports) &&
		!topoopt_nexthop_live(&group->nexthop[0], 0xb, ports),
		"another NIC in the slot of a primary does not count");
	ports[1] = ports[3] = 201;
	test_ok(!topoopt_group_on_backup(group, 0xb, ports),
		"nor does one in the slot of a backup");
	topoopt_group_free(group);

	group = test_group(0, 2, NULL, 0x3);
	test_ok(group == ERR_PTR(-EINVAL), "a group of backups is refused");
}

static void test_alternates(void)
{
	/* in an order in which they are not kept */
	struct topoopt_nexthop nexthop[] = {
		{ .ifindex = 105, .slot = 5, .ingress = 103, .ingress_slot = 3 },
		{ .ifindex = 102, .slot = 2, .weight = 1, .backup = true },
		{ .ifindex = 100, .slot = 0, .weight = 1 },
		{ .ifindex = 104, .slot = 4, .ingress = 163, .ingress_slot = 63 },
		{ .ifindex = 101, .slot = 1, .weight = 3 },
	};
	const struct topoopt_nexthop *alternate;
	unsigned int i, share[TOPOOPT_MAX_PORTS + 1] = {};
	struct topoopt_group *group;

	group = topoopt_group_build(0, nexthop, ARRAY_SIZE(nexthop), NULL);
	if (IS_ERR(group)) {
		test_ok(false, "group with alternates: %ld", PTR_ERR(group));
		return;
	}
	test_ok(group->primary_slots == 0x3 && group->backup_slots == 0x4 &&
		group->alternate_slots == (BIT_ULL(3) | BIT_ULL(63)),
		"alternates are known by the port that packets arrive at");
	alternate = topoopt_group_alternate(group, 103);
	test_ok(alternate && alternate->slot == 5, "alternate for one port");
	alternate = topoopt_group_alternate(group, 163);
	test_ok(alternate && alternate->slot == 4, "alternate for another");
	test_ok(!topoopt_group_alternate(group, 104) && !topoopt_group_alternate(group, 0),
		"none for other ports, in whatever slot they are");
	for (i = 0; i < 256; i++)
		share[test_slot(group, ~0ULL, i << 24)]++;
	test_ok(share[0] == 64 && share[1] == 192, "other packets use the primaries alone");
	test_ok(test_slot(group, ~0x3ULL, 7) == 2 &&
		test_slot(group, ~0x7ULL, 7) == TOPOOPT_MAX_PORTS,
		"then the backups, and never an alternate");
	topoopt_group_free(group);

	nexthop[2].ingress = 101;
	nexthop[4].ingress = 100;
	test_ok(topoopt_group_build(0, nexthop, ARRAY_SIZE(nexthop), NULL) == ERR_PTR(-EINVAL),
		"a group without a primary is refused");
}

/* As large as groups get. */
static void test_largest(void)
{
	struct topoopt_nexthop *nexthop;
	struct topoopt_group *group;
	unsigned int i, wrong = 0;

	nexthop = kcalloc(TOPOOPT_GROUP_MAX, sizeof(*nexthop), GFP_KERNEL);
	if (!nexthop)
		return;
	for (i = 0; i < TOPOOPT_GROUP_MAX; i++) {
		nexthop[i].ifindex = 100 + i % TOPOOPT_MAX_PORTS;
		nexthop[i].slot = i % TOPOOPT_MAX_PORTS;
		nexthop[i].weight = 1;
		nexthop[i].backup = i < 16;
		if (i < TOPOOPT_MAX_NEXTHOPS)
			continue;
		nexthop[i].ingress = 100 + i - TOPOOPT_MAX_NEXTHOPS;
		nexthop[i].ingress_slot = i - TOPOOPT_MAX_NEXTHOPS;
	}
	group = topoopt_group_build(0, nexthop, TOPOOPT_GROUP_MAX, NULL);
	if (!IS_ERR(group)) {
		for (i = 0; i < TOPOOPT_MAX_PORTS; i++)
			wrong += topoopt_group_alternate(group, 100 + i)->slot !=
				 (i + TOPOOPT_MAX_NEXTHOPS) % TOPOOPT_MAX_PORTS;
		for (i = 0; i < 256; i++)
			wrong += test_slot(group, ~0ULL, i << 24) / 16 != 1 ||
				 test_slot(group, 0xffff, i << 24) >= 16;
		topoopt_group_free(group);
	}
	test_ok(!IS_ERR(group) && !wrong,
		"a group of 32 next hops with an alternate for each of 64 ports");
	kfree(nexthop);
}

static void test_groups(void)
{
	static const u16 equal[] = { 1, 1, 1, 1, 1, 1, 1 };
	static const u16 skewed[] = { 100, 10, 1 };
	static const u16 odd[] = { 7, 5, 3, 2, 1, 11, 13, 17 };
	static const u16 large[] = { 65535, 500, 40000, 12345 };
	static const u16 small[] = { 255, 1 };
	static const u16 smaller[] = { 256, 1 };

	test_shares("1:1:1:1:1:1:1", equal, ARRAY_SIZE(equal));
	test_shares("1:1", equal, 2);
	test_shares("100:10:1", skewed, ARRAY_SIZE(skewed));
	test_shares("7:5:3:2:1:11:13:17", odd, ARRAY_SIZE(odd));
	test_shares("65535:500:40000:12345", large, ARRAY_SIZE(large));
	test_shares("255:1", small, ARRAY_SIZE(small));
	test_ok(test_group(0, 2, smaller, 0) == ERR_PTR(-EINVAL),
		"a share below 1/256 is refused");
	test_deaths("2 next hops", 2);
	test_deaths("4 next hops", 4);
	test_deaths("32 next hops", 32);
	test_change("7 equal", equal, 7);
	test_change("3 equal", equal, 3);
	test_change("8 odd", odd, ARRAY_SIZE(odd));
	test_backups();
	test_alternates();
	test_largest();
}

/* --- cost ------------------------------------------------------------ */

#define TEST_KEYS	1024
#define TEST_PASSES	10

struct test_key {
	struct in6_addr dst;
	struct in6_addr src;
};

static noinline u64 test_time(const struct topoopt_table *table,
			      const struct test_key *key, int family)
{
	struct topoopt_route route = {};
	unsigned int i, pass;
	u64 start, sum = 0;

	start = ktime_get_ns();
	for (pass = 0; pass < TEST_PASSES; pass++) {
		for (i = 0; i < TEST_KEYS; i++) {
			if (family == 4)
				topoopt_table_lookup4(table,
						      key[i].dst.s6_addr32[0],
						      key[i].src.s6_addr32[0],
						      &route);
			else if (family == 6)
				topoopt_table_lookup6(table, &key[i].dst,
						      &key[i].src, &route);
			else
				barrier();
			sum += route.type;
		}
	}
	barrier_data(&sum);
	return ktime_get_ns() - start;
}

/* Tables as a plan makes them: node and port addresses of many servers. */
static int test_bench(u32 count, bool v6, bool sources)
{
	struct topoopt_routes *routes = kvzalloc(sizeof(*routes), GFP_KERNEL);
	struct test_key *key = kvcalloc(TEST_KEYS, sizeof(*key), GFP_KERNEL);
	struct topoopt_rule rule = { .v6 = v6, .dst_len = v6 ? 128 : 32 };
	struct topoopt_group *group[2];
	struct topoopt_table *table;
	u64 start, built, empty, time;
	u32 i;

	if (!routes || !key)
		return -ENOMEM;
	topoopt_routes_init(routes);
	if (test_add_groups(routes, group))
		return -ENOMEM;
	rule.src_len = sources ? rule.dst_len : 0;
	for (i = 0; i < count; i++) {
		u32 at = sources ? i / 16 : i;

		rule.dst.s6_addr32[0] = htonl(v6 ? 0xfd00746f : 0x0a000000 + at);
		rule.dst.s6_addr32[3] = htonl(v6 ? at : 0);
		if (sources)
			rule.src.s6_addr32[v6 ? 3 : 0] = htonl(0x0b000000 + i % 16);
		rule.route.group = group[i & 1];
		rule.route.server = at / 8;
		if (topoopt_routes_add(routes, &rule))
			return -ENOMEM;
		if (i < TEST_KEYS || !test_random(count / TEST_KEYS)) {
			u32 k = i < TEST_KEYS ? i : test_random(TEST_KEYS);

			key[k].dst = rule.dst;
			key[k].src = rule.src;
		}
	}
	for (i = count; i < TEST_KEYS; i++)
		key[i] = key[i % count];

	start = ktime_get_ns();
	table = test_build(routes, &test_wanted);
	if (IS_ERR(table))
		return PTR_ERR(table);
	built = ktime_get_ns() - start;
	empty = test_time(table, key, 0);
	time = test_time(table, key, v6 ? 6 : 4) - empty;
	pr_info("bench IPv%d%s %7u routes: lookup %3llu.%llu ns, %3llu bytes/route, built at %llu routes/s\n",
		v6 ? 6 : 4, sources ? " sources" : "", count,
		div_u64(time, TEST_PASSES * TEST_KEYS),
		div_u64(time * 10, TEST_PASSES * TEST_KEYS) % 10,
		div_u64(topoopt_table_memory(table), count),
		div64_u64(count * (u64)NSEC_PER_SEC, built));
	topoopt_table_free(table);
	topoopt_routes_free(routes);
	kvfree(routes);
	kvfree(key);
	return 0;
}

/* --- sends within sends ---------------------------------------------- */

/* How many a task has under way when it may have no more. */
static unsigned int test_nest(struct topoopt_nesting *nesting, unsigned int count)
{
	while (count <= TOPOOPT_NESTING_MAX && topoopt_nesting_enter(&nesting[count]))
		count++;
	return count;
}

static void test_unnest(struct topoopt_nesting *nesting, unsigned int count)
{
	while (count--)
		topoopt_nesting_leave(&nesting[count]);
}

/* Another task on the CPU, in the midst of the sends of the first. */
static long test_preempting(void *unused)
{
	struct topoopt_nesting nesting[TOPOOPT_NESTING_MAX + 1];
	unsigned int count = test_nest(nesting, 0);

	test_unnest(nesting, count);
	return count;
}

static long test_preempted(void *cpu)
{
	struct topoopt_nesting nesting[TOPOOPT_NESTING_MAX + 1];
	unsigned int count;
	long others;

	if (!topoopt_nesting_enter(&nesting[0]))
		return 0;
	others = work_on_cpu((unsigned long)cpu, test_preempting, NULL);
	count = test_nest(nesting, 1);
	test_unnest(nesting, count);
	test_ok(others == TOPOOPT_NESTING_MAX,
		"a task that preempts a sender may nest as many sends as any: %ld", others);
	test_ok(count == TOPOOPT_NESTING_MAX, "so may the sender: %u", count);
	count = test_nest(nesting, 0);
	test_unnest(nesting, count);
	return count;
}

static void test_nesting(void)
{
	unsigned long cpu = cpumask_first(cpu_online_mask);
	long count = work_on_cpu(cpu, test_preempted, (void *)cpu);

	test_ok(count == TOPOOPT_NESTING_MAX, "and once more after these: %ld", count);
}

static int __init test_init(void)
{
	u32 count;
	int err = 0;

	if (!bench) {
		err = test_tables();
		if (!err)
			err = test_chosen();
		if (!err)
			err = test_high_bits();
		if (!err) {
			test_groups();
			test_nesting();
		}
		pr_info("1..%u\n", test_count);
		return err;
	}
	for (count = 1; count <= bench && !err; count *= 10)
		err = test_bench(count, false, false);
	for (count = 1; count <= bench && !err; count *= 10)
		err = test_bench(count, true, false);
	for (count = 100; count <= bench && !err; count *= 100)
		err = test_bench(count, false, true);
	return err;
}

static void __exit test_exit(void)
{
}

module_init(test_init);
module_exit(test_exit);

MODULE_DESCRIPTION("Tests of the tables of topoopt_fwd");
MODULE_LICENSE("GPL");
