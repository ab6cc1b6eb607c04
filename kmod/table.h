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
 * @ingress: ifindex of the port whose packets an alternate takes; 0 for a primary
 *	or a backup
 * @ingress_slot: slot of that port
 * @weight: share among the next hops of the group with the same @backup
 * @peer: the neighbour there, 1 is the first of the table's; 0: none is expected, so that
 *	nothing but light counts
 * @mac: destination MAC address; so aligned that eight bytes can be read
 * @backup: used only when no primary is live
 */
struct topoopt_nexthop {
	u32 ifindex;
	u32 ingress;
	u16 slot;
	u16 ingress_slot;
	u16 weight;
	u16 peer;
	u8 mac[ETH_ALEN] __aligned(8);
	bool backup;
};

/**
 * struct topoopt_group - next hops that routes share
 * @primary_slots: port slots of the primaries
 * @backup_slots: port slots of the backups
 * @alternate_slots: slots of the ports that alternates take packets from
 * @primaries: number of primaries, at least 1
 * @backups: number of backups
 * @alternates: number of alternates, one per ingress port
 * @direct: one primary and no alternates: the first next hop is the first choice of all
 *	packets
 * @backup_told: listeners know the group as one that runs on its backups; the only field
 *	that is ever written, under topoopt_dev.live_lock
 * @size: bytes allocated
 * @buckets: where the bucket tables are, in bytes from the start of the group:
 *	that of the primaries, that of the backups, of either that has several
 * @id: chosen by user space
 * @nexthop: primaries, then backups, then alternates
 */
struct topoopt_group {
	u64 primary_slots;
	u64 backup_slots;
	u64 alternate_slots;
	u8 primaries;
	u8 backups;
	u8 alternates;
	bool direct;
	u16 size;
	u16 buckets;
	u32 id;
	bool backup_told;
	struct topoopt_nexthop nexthop[];
};

/* One per port of the device beside the primaries and backups. */
#define TOPOOPT_GROUP_MAX	(TOPOOPT_MAX_NEXTHOPS + TOPOOPT_MAX_PORTS)

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

struct topoopt_group *topoopt_table_group(const struct topoopt_table *table, u32 index);
u32 topoopt_table_groups(const struct topoopt_table *table);
u32 topoopt_table_routes(const struct topoopt_table *table);
u64 topoopt_table_memory(const struct topoopt_table *table);

/*
 * Neighbours that the table expects, NULL without continuity checks; freed with it. Set
 * before it is published, which tells next hops which neighbour is theirs.
 */
struct topoopt_peers;
struct topoopt_peers *topoopt_table_peers(const struct topoopt_table *table);
void topoopt_table_set_peers(struct topoopt_table *table, struct topoopt_peers *peers);

/* Index of the first neighbour that does not come before a port and a MAC address. */
u32 topoopt_table_peer(const struct topoopt_peers *peers, u16 slot, const u8 *mac);

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

struct topoopt_build;

/**
 * topoopt_table_build() - make a table, or go on with it
 * @state: NULL at first; then what is left to do, as long as there is something
 * @rules: look at no more than so many now; each is looked at several times
 * @routes: rules and groups; the groups move into the table and @routes
 *	becomes empty, unless there is an error; must not change before
 * @gone: set by somebody else when the table is not wanted any more
 * @extack: told why not
 *
 * Return: the table, or an error pointer: -EINPROGRESS when there is more to do,
 * -EEXIST when two rules match the same, -ENOMEM, -ENODEV when @gone is set,
 * -EINTR when the caller is killed.
 */
struct topoopt_table *topoopt_table_build(struct topoopt_build **state, u32 rules,
					  struct topoopt_routes *routes,
					  const bool *gone,
					  struct netlink_ext_ack *extack);

/* Frees what was made so far; the groups stay in the routes. NULL is fine. */
void topoopt_build_cancel(struct topoopt_build *build);

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
 * @nexthop: in any order: up to TOPOOPT_MAX_NEXTHOPS primaries and backups, and up to
 *	one alternate per ingress slot
 * @count: 1..TOPOOPT_GROUP_MAX
 * @extack: told why not
 *
 * Return: the group, or an error pointer: -EINVAL when there is no primary or a
 * share is smaller than 1/256, -ENOMEM.
 */
struct topoopt_group *topoopt_group_build(u32 id,
					  const struct topoopt_nexthop *nexthop,
					  unsigned int count,
					  struct netlink_ext_ack *extack);
void topoopt_group_free(struct topoopt_group *group);

/*
 * Whether select needs a flow hash at all: false when the group has a single
 * primary and at most one backup.
 */
static inline bool topoopt_group_needs_hash(const struct topoopt_group *group)
{
	return group->primaries > 1 || group->backups > 1;
}

/**
 * struct topoopt_liveness - what decides which next hops a packet may take
 * @light: bit per port slot, set when the port is present, up and with carrier
 * @live: of these, those whose neighbours all take transit
 * @peers: that the table expects, NULL while checks are off
 * @server: that the packet is for, as topoopt_route.server: it may have lost its table
 * @resort: there is no other way
 */
struct topoopt_liveness {
	u64 light;
	u64 live;
	const struct topoopt_peers *peers;
	u32 server;
	bool resort;
};

/* Whether a next hop may be taken. */
bool topoopt_nexthop_usable(const struct topoopt_nexthop *nexthop,
			    const struct topoopt_liveness *liveness);

/*
 * The same, if the port meant is the one in the slot: @slot_ifindex has the port of each
 * slot. A table outlives ports, and others take their slots.
 */
bool topoopt_nexthop_works(const struct topoopt_nexthop *nexthop,
			   const struct topoopt_liveness *liveness, const u32 *slot_ifindex);

/* Whether the group runs on its backups; arguments as above. */
bool topoopt_group_on_backup(const struct topoopt_group *group,
			     const struct topoopt_liveness *liveness, const u32 *slot_ifindex);

static inline const u8 *topoopt_group_buckets(const struct topoopt_group *group)
{
	return (const u8 *)group + group->buckets;
}

/* What topoopt_group_select() tries first, of a group with several primaries. */
static inline const struct topoopt_nexthop *
topoopt_group_first(const struct topoopt_group *group, u32 hash)
{
	return &group->nexthop[topoopt_group_buckets(group)[hash >> 24]];
}

/**
 * topoopt_group_select() - primary or backup for a flow
 * @group: from a lookup
 * @liveness: of ports and neighbours
 * @hash: flow hash, uniform in all bits; ignored when the group has a single
 *	choice
 *
 * Weights hold to 1/256. When a port dies only its flows move, and they
 * return when it is back; backups are chosen only when no primary is live, neighbours that
 * recover only when nothing else is.
 * The caller checks ifindex against the port found in the slot.
 *
 * Return: the next hop, or NULL when none is live.
 */
const struct topoopt_nexthop *
topoopt_group_select(const struct topoopt_group *group,
		     const struct topoopt_liveness *liveness, u32 hash);

/**
 * topoopt_group_alternate() - next hop for packets that arrived at a port
 * @group: from a lookup
 * @ingress: ifindex of the port; topoopt_group.alternate_slots tells sooner that
 *	there is none
 *
 * The caller checks that the next hop's own port works, and selects as for other
 * packets when it does not.
 *
 * Return: the alternate, or NULL when the group has none for the port.
 */
const struct topoopt_nexthop *
topoopt_group_alternate(const struct topoopt_group *group, u32 ingress);

#endif
