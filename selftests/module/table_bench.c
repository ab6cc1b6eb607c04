// SPDX-License-Identifier: GPL-2.0
/*
 * Measures lookups in tables of topoopt_fwd, and how fast tables are built; see
 * selftests/bench/bench.sh.
 */

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "table.h"

static unsigned int limit = 1000000;
module_param(limit, uint, 0);
MODULE_PARM_DESC(limit, "Measure tables of up to so many routes");

#define BENCH_KEYS	1024
#define BENCH_PASSES	10

struct bench_key {
	struct in6_addr dst;
	struct in6_addr src;
};

static noinline u64 bench_time(const struct topoopt_table *table,
			      const struct bench_key *key, int family)
{
	struct topoopt_route route = {};
	unsigned int i, pass;
	u64 start, sum = 0;

	start = ktime_get_ns();
	for (pass = 0; pass < BENCH_PASSES; pass++) {
		for (i = 0; i < BENCH_KEYS; i++) {
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
static int bench_table(u32 count, bool v6, bool sources)
{
	struct topoopt_routes *routes = kvzalloc(sizeof(*routes), GFP_KERNEL);
	struct bench_key *key = kvcalloc(BENCH_KEYS, sizeof(*key), GFP_KERNEL);
	struct topoopt_rule rule = {
		.v6 = v6, .dst_len = v6 ? 128 : 32,
		.route.type = TOPOOPT_ROUTE_TYPE_NODE,
	};
	struct topoopt_build *build = NULL;
	static const bool gone;
	struct topoopt_table *table;
	u64 start, built, empty, time;
	u32 i;

	if (!routes || !key)
		return -ENOMEM;
	topoopt_routes_init(routes);
	rule.src_len = sources ? rule.dst_len : 0;
	for (i = 0; i < count; i++) {
		u32 at = sources ? i / 16 : i;

		rule.dst.s6_addr32[0] = htonl(v6 ? 0xfd00746f : 0x0a000000 + at);
		rule.dst.s6_addr32[3] = htonl(v6 ? at : 0);
		if (sources)
			rule.src.s6_addr32[v6 ? 3 : 0] = htonl(0x0b000000 + i % 16);
		rule.route.server = at / 8;
		if (topoopt_routes_add(routes, &rule))
			return -ENOMEM;
		if (i < BENCH_KEYS || get_random_u32() % (count / BENCH_KEYS) == 0) {
			u32 k = i < BENCH_KEYS ? i : get_random_u32() % BENCH_KEYS;

			key[k].dst = rule.dst;
			key[k].src = rule.src;
		}
	}
	for (i = count; i < BENCH_KEYS; i++)
		key[i] = key[i % count];

	start = ktime_get_ns();
	table = topoopt_table_build(&build, U32_MAX, routes, &gone, NULL);
	if (IS_ERR(table))
		return PTR_ERR(table);
	built = ktime_get_ns() - start;
	empty = bench_time(table, key, 0);
	time = bench_time(table, key, v6 ? 6 : 4) - empty;
	pr_info("table_bench: IPv%d%s %7u routes: lookup %3llu.%llu ns, %3llu bytes/route, built at %llu routes/s\n",
		v6 ? 6 : 4, sources ? " sources" : "", count,
		div_u64(time, BENCH_PASSES * BENCH_KEYS),
		div_u64(time * 10, BENCH_PASSES * BENCH_KEYS) % 10,
		div_u64(topoopt_table_memory(table), count),
		div64_u64(count * (u64)NSEC_PER_SEC, built));
	topoopt_table_free(table);
	topoopt_routes_free(routes);
	kvfree(routes);
	kvfree(key);
	return 0;
}

static int __init bench_init(void)
{
	u32 count;
	int err = 0;

	for (count = 1; count <= limit && !err; count *= 10)
		err = bench_table(count, false, false);
	for (count = 1; count <= limit && !err; count *= 10)
		err = bench_table(count, true, false);
	for (count = 100; count <= limit && !err; count *= 100)
		err = bench_table(count, false, true);
	return err;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_DESCRIPTION("Cost of the tables of topoopt_fwd");
MODULE_LICENSE("GPL");
