// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the tables of topoopt_fwd without a NIC: lookups against a linear
 * search, weights and stability of next hop groups. And how sends are counted where
 * tasks preempt each other with bottom halves off.
 *
 * A KUnit suite in the kernel's tree; selftests/module/kunit.h runs it elsewhere.
 */

#include <linux/etherdevice.h>
#include <linux/hash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>
#if IS_ENABLED(CONFIG_KUNIT)
#include <kunit/test.h>
#else
#include "kunit.h"
#endif

#include "nesting.h"
#include "table.h"
#include "tuple.h"

#define TEST_RULES	10000U	/* in a table that is compared with linear search */

static const bool test_wanted;	/* not gone */

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
static void test_add_groups(struct kunit *test, struct topoopt_routes *routes,
			    struct topoopt_group *group[2])
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		group[i] = test_group(i, 1, NULL, 0);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group[i]);
		*(struct topoopt_group **)topoopt_array_push(&routes->groups) =
			group[i];
	}
}

static struct topoopt_routes *test_routes(struct kunit *test)
{
	struct topoopt_routes *routes = kvzalloc(sizeof(*routes), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, routes);
	topoopt_routes_init(routes);
	return routes;
}

static bool test_same_route(const struct topoopt_route *a,
			    const struct topoopt_route *b)
{
	return a->type == b->type && a->group == b->group &&
	       a->server == b->server;
}

static void test_lookups(struct kunit *test, const struct topoopt_table *table,
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
	KUNIT_EXPECT_EQ_MSG(test, wrong, 0, "IPv%d", v6 ? 6 : 4);
	KUNIT_EXPECT_TRUE_MSG(test, hits && hits < 4000, "IPv%d: %u", v6 ? 6 : 4, hits);
	KUNIT_EXPECT_EQ_MSG(test, wrong_match, 0, "IPv%d", v6 ? 6 : 4);
	KUNIT_EXPECT_EQ_MSG(test, wrong_server, 0, "IPv%d", v6 ? 6 : 4);
}

static void test_walk(struct kunit *test, const struct topoopt_table *table,
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
	KUNIT_EXPECT_EQ(test, seen, count);
	KUNIT_EXPECT_EQ(test, unknown, 0);
}

static void test_random_tables(struct kunit *test)
{
	struct topoopt_rule *rule = vmalloc(array_size(TEST_RULES, sizeof(*rule)));
	struct topoopt_routes *routes = test_routes(test);
	struct topoopt_group *group[2];
	struct topoopt_table *table;
	u32 i = 0;

	KUNIT_ASSERT_NOT_NULL(test, rule);
	test_add_groups(test, routes, group);
	while (i < TEST_RULES) {
		test_rule(&rule[i], i & 1, i, group);
		if (test_rule_known(rule, i, &rule[i]))
			continue;
		KUNIT_ASSERT_EQ(test, topoopt_routes_add(routes, &rule[i]), 0);
		if (++i % 64 == 0)
			cond_resched();
	}

	/* Twice the same: once without and once with a source. */
	for (i = 0; rule[i].src_len; i++)
		;
	topoopt_routes_add(routes, &rule[i]);
	table = test_build(routes, &test_wanted);
	KUNIT_EXPECT_PTR_EQ(test, table, ERR_PTR(-EEXIST));
	topoopt_routes_truncate(routes, (TEST_RULES + 1) / 2, TEST_RULES / 2, 2);
	for (i = 0; !rule[i].src_len; i++)
		;
	topoopt_routes_add(routes, &rule[i]);
	table = test_build(routes, &test_wanted);
	KUNIT_EXPECT_PTR_EQ(test, table, ERR_PTR(-EEXIST));
	topoopt_routes_truncate(routes, (TEST_RULES + 1) / 2, TEST_RULES / 2, 2);

	table = test_build(routes, &test_wanted);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, table);
	KUNIT_EXPECT_EQ(test, topoopt_table_routes(table), TEST_RULES);
	test_lookups(test, table, rule, TEST_RULES, false);
	test_lookups(test, table, rule, TEST_RULES, true);
	test_walk(test, table, rule, TEST_RULES);
	topoopt_table_free(table);

	/* the routes went into the table */
	table = test_build(routes, &test_wanted);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, table);
	KUNIT_EXPECT_FALSE(test, topoopt_table_lookup4(table, 0, 0, &rule->route));
	topoopt_table_free(table);

	topoopt_routes_free(routes);
	kvfree(routes);
	vfree(rule);
}

/*
 * Addresses that collide under the first multiplier, which everybody can know,
 * and under any that could be foretold from it.
 */
#define TEST_CHOSEN_SEEDS	9U
#define TEST_CHOSEN		1000U

static void test_add_chosen(struct kunit *test, struct topoopt_routes *routes, u64 seed,
			    u8 first)
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
		KUNIT_ASSERT_EQ(test, topoopt_routes_add(routes, &rule), 0);
		n++;
	}
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
static void test_collide(struct kunit *test, struct topoopt_routes *routes, bool v6, u32 limit)
{
	struct topoopt_table *table = test_build(routes, &test_wanted);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, table);
	KUNIT_EXPECT_LE_MSG(test, test_farthest(table, v6), limit, "slots");
	topoopt_table_free(table);
	topoopt_routes_free(routes);
	kvfree(routes);
}

static void test_chosen_addresses(struct kunit *test)
{
	struct topoopt_routes *routes = test_routes(test);
	u64 seed = GOLDEN_RATIO_64;
	const bool gone = true;
	u32 i;

	for (i = 0; i < TEST_CHOSEN_SEEDS; i++) {
		test_add_chosen(test, routes, seed, 20 + i);
		seed = hash_64(seed, 64) | 1;
	}
	/* Nobody builds what nobody wants. */
	KUNIT_EXPECT_PTR_EQ(test, test_build(routes, &gone), ERR_PTR(-ENODEV));
	test_collide(test, routes, false, 256);
}

/*
 * IPv6 addresses whose halves have no bits but the highest: with them a sum of
 * multiples of both has few values, whatever the multipliers are.
 */
#define TEST_HIGH_BITS		8

static void test_high_bits(struct kunit *test)
{
	struct topoopt_routes *routes = test_routes(test);
	struct topoopt_rule rule = {
		.v6 = true, .dst_len = 128, .route.type = TOPOOPT_ROUTE_TYPE_NODE,
		.route.server = TOPOOPT_SERVER_NONE,
	};
	u64 i, j, half[2];

	for (i = 0; i < BIT(2 * TEST_HIGH_BITS); i++) {
		j = i >> TEST_HIGH_BITS;
		half[0] = i << (64 - TEST_HIGH_BITS);
		half[1] = -((j << (64 - TEST_HIGH_BITS)) + (j << (32 - TEST_HIGH_BITS)));
		memcpy(&rule.dst, half, sizeof(half));
		KUNIT_ASSERT_EQ(test, topoopt_routes_add(routes, &rule), 0);
	}
	test_collide(test, routes, true, 128);
}

/* --- groups ---------------------------------------------------------- */

static unsigned int test_slot(const struct topoopt_group *group, u64 live,
			      u32 hash)
{
	struct topoopt_liveness liveness = { .light = live, .live = live };
	const struct topoopt_nexthop *nexthop;

	nexthop = topoopt_group_select(group, &liveness, hash);
	return nexthop ? nexthop->slot : TOPOOPT_MAX_PORTS;
}

static bool test_on_backup(const struct topoopt_group *group, u64 live, const u32 *ports)
{
	struct topoopt_liveness liveness = { .light = live, .live = live };

	return topoopt_group_on_backup(group, &liveness, ports);
}

static void test_share(struct kunit *test, const char *name, const u16 *weight,
		       unsigned int count)
{
	struct topoopt_group *group = test_group(0, count, weight, 0);
	unsigned int i, buckets[TOPOOPT_MAX_NEXTHOPS] = {}, total = 0, off = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	for (i = 0; i < 256; i++)
		buckets[test_slot(group, ~0ULL, i << 24)]++;
	for (i = 0; i < count; i++)
		total += weight[i];
	for (i = 0; i < count; i++)
		off += abs((int)(buckets[i] * total) - weight[i] * 256) >= total;
	KUNIT_EXPECT_EQ_MSG(test, off, 0, "weights %s", name);
	topoopt_group_free(group);
}

/* Every next hop in turn, then every two, dies: who moves? */
static void test_death(struct kunit *test, unsigned int count)
{
	struct topoopt_group *group = test_group(0, count, NULL, 0);
	unsigned int i, j, before, after, moved = 0, dead = 0, most = 0;
	unsigned int orphans, gained[TOPOOPT_MAX_NEXTHOPS];
	u32 hash;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
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
	KUNIT_EXPECT_EQ_MSG(test, moved, 0, "flows of live next hops, of %u", count);
	KUNIT_EXPECT_EQ_MSG(test, dead, 0, "flows to a dead one, of %u", count);
	KUNIT_EXPECT_LE_MSG(test, most, 199, "%% of its fair share get one of %u", count);
	topoopt_group_free(group);
}

/* The same group without its last next hop, in another table. */
static void test_change(struct kunit *test, const char *name, const u16 *weight,
			unsigned int count)
{
	struct topoopt_group *old = test_group(0, count, weight, 0);
	struct topoopt_group *new = test_group(1, count - 1, weight, 0);
	unsigned int i, before, after, moved = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, old);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, new);
	for (i = 0; i < 256; i++) {
		before = test_slot(old, ~0ULL, i << 24);
		after = test_slot(new, ~0ULL, i << 24);
		moved += before != count - 1 && before != after;
	}
	KUNIT_EXPECT_LE_MSG(test, moved, 25, "of 256 of the others, of %s", name);
	topoopt_group_free(old);
	topoopt_group_free(new);
}

static void test_backups(struct kunit *test)
{
	/* 0, 2: primaries; 1, 3: backups */
	struct topoopt_group *group = test_group(0, 4, NULL, 0xa);
	u32 ports[] = { 100, 101, 102, 103 };
	unsigned int i, used = 0, early = 0, wrong = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	for (i = 0; i < 256; i++) {
		u32 hash = i << 24 | i;

		early |= BIT(test_slot(group, 0xf, hash)) |
			 BIT(test_slot(group, 0xe, hash));
		used |= BIT(test_slot(group, 0xa, hash));
		wrong += test_slot(group, 0x8, hash) != 3;
		wrong += test_slot(group, 0x0, hash) != TOPOOPT_MAX_PORTS;
	}
	/* Backups wait for the last primary, then share the flows. */
	KUNIT_EXPECT_EQ(test, early, 0x5);
	KUNIT_EXPECT_EQ(test, used, 0xa);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_TRUE(test, test_on_backup(group, 0xa, ports));
	KUNIT_EXPECT_FALSE(test, test_on_backup(group, 0xb, ports));
	KUNIT_EXPECT_FALSE(test, test_on_backup(group, 0, ports));
	/* Another NIC in the slot of a primary does not count, */
	ports[0] = 200;
	KUNIT_EXPECT_TRUE(test, test_on_backup(group, 0xb, ports));
	/* nor does one in the slot of a backup. */
	ports[1] = 201;
	ports[3] = 201;
	KUNIT_EXPECT_FALSE(test, test_on_backup(group, 0xb, ports));
	topoopt_group_free(group);

	/* Backups alone are no group. */
	KUNIT_EXPECT_PTR_EQ(test, test_group(0, 2, NULL, 0x3), ERR_PTR(-EINVAL));
}

static void test_alternates(struct kunit *test)
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
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	/* Alternates are known by the port that packets arrive at, not by its slot. */
	KUNIT_EXPECT_EQ(test, group->primary_slots, 0x3);
	KUNIT_EXPECT_EQ(test, group->backup_slots, 0x4);
	KUNIT_EXPECT_EQ(test, group->alternate_slots, BIT_ULL(3) | BIT_ULL(63));
	alternate = topoopt_group_alternate(group, 103);
	KUNIT_ASSERT_NOT_NULL(test, alternate);
	KUNIT_EXPECT_EQ(test, alternate->slot, 5);
	alternate = topoopt_group_alternate(group, 163);
	KUNIT_ASSERT_NOT_NULL(test, alternate);
	KUNIT_EXPECT_EQ(test, alternate->slot, 4);
	KUNIT_EXPECT_NULL(test, topoopt_group_alternate(group, 104));
	KUNIT_EXPECT_NULL(test, topoopt_group_alternate(group, 0));
	/* Other packets use the primaries alone, then the backups, never an alternate. */
	for (i = 0; i < 256; i++)
		share[test_slot(group, ~0ULL, i << 24)]++;
	KUNIT_EXPECT_EQ(test, share[0], 64);
	KUNIT_EXPECT_EQ(test, share[1], 192);
	KUNIT_EXPECT_EQ(test, test_slot(group, ~0x3ULL, 7), 2);
	KUNIT_EXPECT_EQ(test, test_slot(group, ~0x7ULL, 7), TOPOOPT_MAX_PORTS);
	topoopt_group_free(group);

	/* without a primary */
	nexthop[2].ingress = 101;
	nexthop[4].ingress = 100;
	group = topoopt_group_build(0, nexthop, ARRAY_SIZE(nexthop), NULL);
	KUNIT_EXPECT_PTR_EQ(test, group, ERR_PTR(-EINVAL));
}

/* 32 next hops with an alternate for each of 64 ports: as large as groups get. */
static void test_largest_group(struct kunit *test)
{
	struct topoopt_nexthop *nexthop;
	struct topoopt_group *group;
	unsigned int i, wrong = 0;

	nexthop = kcalloc(TOPOOPT_GROUP_MAX, sizeof(*nexthop), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, nexthop);
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
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	for (i = 0; i < TOPOOPT_MAX_PORTS; i++)
		wrong += topoopt_group_alternate(group, 100 + i)->slot !=
			 (i + TOPOOPT_MAX_NEXTHOPS) % TOPOOPT_MAX_PORTS;
	for (i = 0; i < 256; i++)
		wrong += test_slot(group, ~0ULL, i << 24) / 16 != 1 ||
			 test_slot(group, 0xffff, i << 24) >= 16;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	topoopt_group_free(group);
	kfree(nexthop);
}

static const u16 test_equal[] = { 1, 1, 1, 1, 1, 1, 1 };
static const u16 test_odd[] = { 7, 5, 3, 2, 1, 11, 13, 17 };

/* Weights hold to 1/256; a share below that is refused. */
static void test_weights(struct kunit *test)
{
	static const u16 skewed[] = { 100, 10, 1 };
	static const u16 large[] = { 65535, 500, 40000, 12345 };
	static const u16 small[] = { 255, 1 };
	static const u16 smaller[] = { 256, 1 };

	test_share(test, "1:1:1:1:1:1:1", test_equal, ARRAY_SIZE(test_equal));
	test_share(test, "1:1", test_equal, 2);
	test_share(test, "100:10:1", skewed, ARRAY_SIZE(skewed));
	test_share(test, "7:5:3:2:1:11:13:17", test_odd, ARRAY_SIZE(test_odd));
	test_share(test, "65535:500:40000:12345", large, ARRAY_SIZE(large));
	test_share(test, "255:1", small, ARRAY_SIZE(small));
	KUNIT_EXPECT_PTR_EQ(test, test_group(0, 2, smaller, 0), ERR_PTR(-EINVAL));
}

/* Flows of live next hops stay, those of a dead one spread. */
static void test_deaths(struct kunit *test)
{
	test_death(test, 2);
	test_death(test, 4);
	test_death(test, 32);
}

/* A next hop less in the next table moves few flows of the others. */
static void test_changes(struct kunit *test)
{
	test_change(test, "7 equal", test_equal, 7);
	test_change(test, "3 equal", test_equal, 3);
	test_change(test, "8 odd", test_odd, ARRAY_SIZE(test_odd));
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

struct test_preempted {
	struct kunit *test;
	unsigned int cpu;
};

static long test_preempted(void *data)
{
	struct topoopt_nesting nesting[TOPOOPT_NESTING_MAX + 1];
	const struct test_preempted *preempted = data;
	struct kunit *test = preempted->test;
	unsigned int count;
	long others;

	if (!topoopt_nesting_enter(&nesting[0]))
		return 0;
	others = work_on_cpu(preempted->cpu, test_preempting, NULL);
	count = test_nest(nesting, 1);
	test_unnest(nesting, count);
	/* Who preempts a sender may nest as many sends as any, and so may the sender. */
	KUNIT_EXPECT_EQ(test, others, TOPOOPT_NESTING_MAX);
	KUNIT_EXPECT_EQ(test, count, TOPOOPT_NESTING_MAX);
	count = test_nest(nesting, 0);
	test_unnest(nesting, count);
	return count;
}

static void test_nesting(struct kunit *test)
{
	struct test_preempted preempted = {
		.test = test, .cpu = cpumask_first(cpu_online_mask),
	};

	if (!TOPOOPT_BH_PREEMPTIBLE)
		kunit_skip(test, "senders do not preempt each other in this kernel");
	/* Once more after these. */
	KUNIT_EXPECT_EQ(test, work_on_cpu(preempted.cpu, test_preempted, &preempted),
			TOPOOPT_NESTING_MAX);
}

static struct kunit_case test_cases[] = {
	KUNIT_CASE(test_random_tables),
	KUNIT_CASE(test_chosen_addresses),
	KUNIT_CASE(test_high_bits),
	KUNIT_CASE(test_weights),
	KUNIT_CASE(test_deaths),
	KUNIT_CASE(test_changes),
	KUNIT_CASE(test_backups),
	KUNIT_CASE(test_alternates),
	KUNIT_CASE(test_largest_group),
	KUNIT_CASE(test_nesting),
	{}
};

static struct kunit_suite test_suite = {
	.name = "topoopt_table",
	.test_cases = test_cases,
};

kunit_test_suite(test_suite);
