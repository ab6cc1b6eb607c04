/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_TABLE_H
#define TOPOOPT_TABLE_H

/*
 * A table: routes and next hop groups, built once and then read-only until it
 * is freed as a whole. Lookups run under RCU.
 */

#include <linux/bits.h>
#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/netlink.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/topoopt.h>

#include "array.h"

/**
 * struct topoopt_nexthop - one choice of a group
 * @slot: index into topoopt_dev.ports
 * @ifindex: the port meant; a slot that another NIC took over does not match
 * @weight: share among the next hops of the group with the same @backup
 * @mac: destination MAC address; so aligned that eight bytes can be read
 * @backup: used only when no other kind of next hop is live
 */
struct topoopt_nexthop {
	u32 ifindex;
	u16 slot;
	u16 weight;
	u8 mac[ETH_ALEN] __aligned(8);
	bool backup;
};

/**
 * struct topoopt_group - next hops that routes share
 * @primary_slots: port slots of the next hops that are not backups
 * @backup_slots: port slots of the backups
 * @primaries: number of next hops that are not backups, at least 1
 * @backups: number of backups
 * @size: bytes allocated
 * @id: chosen by user space
 * @nexthop: primaries, then backups, followed by the bucket table of either
 *	that has more than one
 */
struct topoopt_group {
	u64 primary_slots;
	u64 backup_slots;
	u8 primaries;
	u8 backups;
	u16 size;
	u32 id;
	struct topoopt_nexthop nexthop[];
};

/**
 * struct topoopt_route - what a lookup finds
 * @group: for TOPOOPT_ROUTE_TYPE_UNICAST, and for TOPOOPT_ROUTE_TYPE_LOCAL or
 *	NULL
 * @server: index of the server that owns the destination, or
 *	TOPOOPT_SERVER_NONE
 * @type: enum topoopt_route_type
 */
struct topoopt_route {
	const struct topoopt_group *group;
	u32 server;
	u8 type;
};

/**
 * struct topoopt_rule - a route with what it matches
 * @dst: destination; IPv4 in the first word
 * @src: source; unused when @src_len is 0
 * @route: what happens to a packet that matches
 * @dst_len: prefix length
 * @src_len: prefix length, 0 for any source
 * @v6: IPv6 rather than IPv4
 */
struct topoopt_rule {
	struct in6_addr dst;
	struct in6_addr src;
	struct topoopt_route route;
	u8 dst_len;
	u8 src_len;
	bool v6;
};

/*
 * Readers; all under rcu_read_lock(), @table is not NULL. False is a miss and
 * leaves @route alone.
 *
 * The longest destination prefix wins, in it the longest source; when there
 * are only routes for other sources, shorter destination prefixes are tried.
 */
struct topoopt_table;
bool topoopt_table_lookup4(const struct topoopt_table *table, __be32 dst,
			   __be32 src, struct topoopt_route *route);
bool topoopt_table_lookup6(const struct topoopt_table *table,
			   const struct in6_addr *dst,
			   const struct in6_addr *src,
			   struct topoopt_route *route);

/* The server that owns an address, for counting; TOPOOPT_SERVER_NONE if none. */
u32 topoopt_table_server4(const struct topoopt_table *table, __be32 addr);
u32 topoopt_table_server6(const struct topoopt_table *table,
			  const struct in6_addr *addr);

/**
 * topoopt_table_match() - the rule that a lookup would find
 * @table: built table
 * @rule: family, @dst and @src to look up; replaced by the rule found
 *
 * Return: false when there is none.
 */
bool topoopt_table_match(const struct topoopt_table *table,
			 struct topoopt_rule *rule);

/**
 * topoopt_table_next() - walk over all rules, in no particular order
 * @table: built table
 * @pos: 0 at first; belongs to this function
 * @rule: the next rule
 *
 * Return: false at the end.
 */
bool topoopt_table_next(const struct topoopt_table *table, u64 *pos,
			struct topoopt_rule *rule);

const struct topoopt_group *
topoopt_table_group(const struct topoopt_table *table, u32 index);
u32 topoopt_table_groups(const struct topoopt_table *table);
u32 topoopt_table_routes(const struct topoopt_table *table);
u64 topoopt_table_memory(const struct topoopt_table *table);

/* Number of the table among those committed; written before it is published. */
u64 topoopt_table_generation(const struct topoopt_table *table);
void topoopt_table_set_generation(struct topoopt_table *table, u64 generation);

/**
 * struct topoopt_routes - rules and groups to build a table from
 * @rules4: IPv4, packed
 * @rules6: IPv6, packed
 * @groups: struct topoopt_group *
 *
 * routes.c. Zeroed, then initialised; 24 KiB.
 */
struct topoopt_routes {
	struct topoopt_array rules4;
	struct topoopt_array rules6;
	struct topoopt_array groups;
};

void topoopt_routes_init(struct topoopt_routes *routes);

/* Frees the groups, too; @routes is empty then. */
void topoopt_routes_free(struct topoopt_routes *routes);

/* Forget what was added since the counts were these. Groups stay allocated. */
void topoopt_routes_truncate(struct topoopt_routes *routes, u32 rules4,
			     u32 rules6, u32 groups);

/* Return: 0 or -ENOMEM. The caller checked the rule. */
int topoopt_routes_add(struct topoopt_routes *routes,
		       const struct topoopt_rule *rule);

/* IPv4 rules come first. Return: false when @index is beyond the last. */
bool topoopt_routes_at(const struct topoopt_routes *routes, u32 index,
		       struct topoopt_rule *rule);

/**
 * topoopt_table_build() - make a table
 * @routes: rules and groups; the groups move into the table and @routes
 *	becomes empty, unless there is an error
 * @gone: set by somebody else when the table is not wanted any more
 * @extack: told why not
 *
 * Return: the table, or an error pointer: -EEXIST when two rules match the
 * same, -ENOMEM, -ENODEV when @gone is set, -EINTR when the caller is killed.
 */
struct topoopt_table *topoopt_table_build(struct topoopt_routes *routes,
					  const bool *gone,
					  struct netlink_ext_ack *extack);

/* Frees the table and its groups, at once: there are no readers. */
void topoopt_table_free(struct topoopt_table *table);

/* The same after an RCU grace period, in process context. NULL is fine. */
void topoopt_table_free_rcu(struct topoopt_table *table);

int topoopt_table_init(void);
void topoopt_table_exit(void);

/* nexthop.c */

/**
 * topoopt_group_build() - make a group
 * @id: chosen by user space
 * @nexthop: next hops, primaries and backups in any order
 * @count: 1..TOPOOPT_MAX_NEXTHOPS
 * @extack: told why not
 *
 * Return: the group, or an error pointer: -EINVAL when all are backups or a
 * share is smaller than 1/256, -ENOMEM.
 */
struct topoopt_group *topoopt_group_build(u32 id,
					  const struct topoopt_nexthop *nexthop,
					  unsigned int count,
					  struct netlink_ext_ack *extack);
void topoopt_group_free(struct topoopt_group *group);

/*
 * Whether select needs a flow hash at all: false when the group has a single
 * next hop of each kind.
 */
static inline bool topoopt_group_needs_hash(const struct topoopt_group *group)
{
	return group->primaries > 1 || group->backups > 1;
}

/* Whether the group runs on its backups, @live as for topoopt_group_select(). */
static inline bool topoopt_group_on_backup(const struct topoopt_group *group,
					   u64 live)
{
	return !(group->primary_slots & live) && (group->backup_slots & live);
}

static inline const u8 *topoopt_group_buckets(const struct topoopt_group *group)
{
	return (const u8 *)&group->nexthop[group->primaries + group->backups];
}

/* What topoopt_group_select() tries first, of a group with several primaries. */
static inline const struct topoopt_nexthop *
topoopt_group_first(const struct topoopt_group *group, u32 hash)
{
	return &group->nexthop[topoopt_group_buckets(group)[hash >> 24]];
}

/**
 * topoopt_group_select() - next hop for a flow
 * @group: from a lookup
 * @live: bit per port slot, set when the port is present, up and with carrier
 * @hash: flow hash, uniform in all bits; ignored when the group has a single
 *	choice
 *
 * Weights hold to 1/256. When a port dies only its flows move, and they
 * return when it is back; backups are chosen only when no primary is live.
 * The caller checks ifindex against the port found in the slot.
 *
 * Return: the next hop, or NULL when none is live.
 */
const struct topoopt_nexthop *
topoopt_group_select(const struct topoopt_group *group, u64 live, u32 hash);

#endif
