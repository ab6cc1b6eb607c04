// SPDX-License-Identifier: GPL-2.0
/* Lookups in tables, and walks over them. */

#include <linux/etherdevice.h>
#include <linux/string.h>

#include "peers.h"
#include "table.h"
#include "tuple.h"

/* What a search ended at, with the tuples it was found in. */
struct topoopt_hit {
	struct topoopt_route route;
	const struct topoopt_tuple *dst;
	const struct topoopt_tuple *src;
};

static __always_inline void topoopt_table_route(struct topoopt_route *route,
						unsigned long target, u32 server)
{
	route->group = (void *)(target & ~TOPOOPT_TARGET_FLAGS);
	route->server = server;
	route->type = target & TOPOOPT_TARGET_TYPE;
}

/* The longest source among those of the destination with this id. */
static bool topoopt_table_find_source(const struct topoopt_family *family,
				      u32 id, const u64 src[2],
				      struct topoopt_hit *hit)
{
	const struct topoopt_tuple *tuple;
	const struct topoopt_pair *pair;

	for (tuple = family->src.begin; tuple < family->src.end; tuple++) {
		pair = topoopt_tuple_search_pair(tuple, id,
						 src[0] & tuple->mask[0],
						 src[1] & tuple->mask[1]);
		if (!pair->target)
			continue;
		hit->src = tuple;
		topoopt_table_route(&hit->route, pair->target, pair->server);
		return true;
	}
	return false;
}

/* The complete search. */
static noinline bool topoopt_table_find(const struct topoopt_table *table,
					const struct in6_addr *dst,
					const struct in6_addr *src, bool v6,
					struct topoopt_hit *hit)
{
	const struct topoopt_family *family = &table->family[v6];
	const struct topoopt_tuple *tuple;
	const struct topoopt_slot *slot;
	u64 dst_key[2], src_key[2];

	topoopt_tuple_key(dst_key, dst, v6);
	topoopt_tuple_key(src_key, src, v6);
	for (tuple = family->dst.begin; tuple < family->dst.end; tuple++) {
		slot = topoopt_tuple_search(tuple, dst_key[0] & tuple->mask[0],
					    dst_key[1] & tuple->mask[1], v6);
		if (!slot->target)
			continue;
		hit->dst = tuple;
		if (slot->target & TOPOOPT_TARGET_SOURCES &&
		    topoopt_table_find_source(family, tuple->base +
					      topoopt_tuple_index(tuple, slot, v6),
					      src_key, hit))
			return true;
		if ((slot->target & TOPOOPT_TARGET_TYPE) == TOPOOPT_TARGET_NONE)
			continue;
		hit->src = NULL;
		topoopt_table_route(&hit->route, slot->target, slot->server);
		return true;
	}
	return false;
}

/*
 * All but the common case, out of line to keep its stack frame away from it.
 * Same parameters as the lookup, so that the call is a jump.
 */
static noinline bool topoopt_table_find4(const struct topoopt_table *table,
					 __be32 dst, __be32 src,
					 struct topoopt_route *route)
{
	struct in6_addr dst6, src6;
	struct topoopt_hit hit;

	dst6.s6_addr32[0] = dst;
	src6.s6_addr32[0] = src;
	if (!topoopt_table_find(table, &dst6, &src6, false, &hit))
		return false;
	*route = hit.route;
	return true;
}

static noinline bool topoopt_table_find6(const struct topoopt_table *table,
					 const struct in6_addr *dst,
					 const struct in6_addr *src,
					 struct topoopt_route *route)
{
	struct topoopt_hit hit;

	if (!topoopt_table_find(table, dst, src, true, &hit))
		return false;
	*route = hit.route;
	return true;
}

bool topoopt_table_lookup4(const struct topoopt_table *table, __be32 dst,
			   __be32 src, struct topoopt_route *route)
{
	const struct topoopt_tuple *tuple = table->family[false].dst.begin;
	const struct topoopt_slot *slot;

	slot = topoopt_tuple_search(tuple, (__force u32)dst & tuple->mask[0], 0,
				    false);
	if (unlikely(!(slot->target & TOPOOPT_TARGET_ALONE)))
		return topoopt_table_find4(table, dst, src, route);
	topoopt_table_route(route, slot->target, slot->server);
	return true;
}

bool topoopt_table_lookup6(const struct topoopt_table *table,
			   const struct in6_addr *dst,
			   const struct in6_addr *src,
			   struct topoopt_route *route)
{
	const struct topoopt_tuple *tuple = table->family[true].dst.begin;
	const struct topoopt_slot *slot;

	slot = topoopt_tuple_search(tuple,
				    topoopt_tuple_half(dst, 0) & tuple->mask[0],
				    topoopt_tuple_half(dst, 1) & tuple->mask[1],
				    true);
	if (unlikely(!(slot->target & TOPOOPT_TARGET_ALONE)))
		return topoopt_table_find6(table, dst, src, route);
	topoopt_table_route(route, slot->target, slot->server);
	return true;
}

static __always_inline u32 topoopt_table_server(const struct topoopt_table *table,
						u64 key0, u64 key1, bool v6)
{
	const struct topoopt_family *family = &table->family[v6];
	const struct topoopt_tuple *tuple;
	const struct topoopt_slot *slot;

	for (tuple = family->dst.begin; tuple < family->dst.end; tuple++) {
		slot = topoopt_tuple_search(tuple, key0 & tuple->mask[0],
					    key1 & tuple->mask[1], v6);
		if (slot->target)
			return slot->server;
	}
	return TOPOOPT_SERVER_NONE;
}

u32 topoopt_table_server4(const struct topoopt_table *table, __be32 addr)
{
	return topoopt_table_server(table, (__force u32)addr, 0, false);
}

u32 topoopt_table_server6(const struct topoopt_table *table,
			  const struct in6_addr *addr)
{
	return topoopt_table_server(table, topoopt_tuple_half(addr, 0),
				    topoopt_tuple_half(addr, 1), true);
}

/* @addr becomes what is left of it, or of @key, under the mask of a tuple. */
static void topoopt_table_prefix(struct in6_addr *addr, const u64 key[2],
				 const struct topoopt_tuple *tuple, bool v6)
{
	u64 word[2] = { key[0] & tuple->mask[0], key[1] & tuple->mask[1] };

	if (v6)
		memcpy(addr, word, sizeof(*addr));
	else
		addr->s6_addr32[0] = (__force __be32)word[0];
}

bool topoopt_table_match(const struct topoopt_table *table,
			 struct topoopt_rule *rule)
{
	struct topoopt_hit hit;
	u64 key[2];

	if (!topoopt_table_find(table, &rule->dst, &rule->src, rule->v6, &hit))
		return false;

	rule->route = hit.route;
	topoopt_tuple_key(key, &rule->dst, rule->v6);
	topoopt_table_prefix(&rule->dst, key, hit.dst, rule->v6);
	rule->dst_len = hit.dst->len;
	rule->src_len = 0;
	if (hit.src) {
		topoopt_tuple_key(key, &rule->src, rule->v6);
		topoopt_table_prefix(&rule->src, key, hit.src, rule->v6);
		rule->src_len = hit.src->len;
	}
	return true;
}

static void topoopt_table_rule_dst(struct topoopt_rule *rule,
				   const struct topoopt_tuple *tuple,
				   const struct topoopt_slot *slot, bool v6)
{
	u64 key4[2] = { slot->key4 };

	topoopt_table_prefix(&rule->dst, v6 ? slot->key6 : key4, tuple, v6);
	rule->dst_len = tuple->len;
	rule->v6 = v6;
}

/* The rule in slot @index of a tuple; false when there is none. */
static bool topoopt_table_rule(const struct topoopt_tuple *tuple, u32 index,
			       bool v6, struct topoopt_rule *rule)
{
	const struct topoopt_slot *slot = topoopt_tuple_slot(tuple, index, v6);

	if (!slot->target ||
	    (slot->target & TOPOOPT_TARGET_TYPE) == TOPOOPT_TARGET_NONE)
		return false;
	memset(rule, 0, sizeof(*rule));
	topoopt_table_rule_dst(rule, tuple, slot, v6);
	topoopt_table_route(&rule->route, slot->target, slot->server);
	return true;
}

static bool topoopt_table_rule_pair(const struct topoopt_family *family,
				    const struct topoopt_tuple *tuple,
				    u32 index, bool v6,
				    struct topoopt_rule *rule)
{
	const struct topoopt_pair *pair = tuple->slots;
	const struct topoopt_tuple *dst = family->dst.begin;

	pair += index;
	if (!pair->target)
		return false;
	while (pair->id - dst->base >= topoopt_tuple_slots(dst))
		dst++;
	memset(rule, 0, sizeof(*rule));
	topoopt_table_rule_dst(rule, dst,
			       topoopt_tuple_slot(dst, pair->id - dst->base, v6),
			       v6);
	topoopt_table_prefix(&rule->src, pair->src, tuple, v6);
	rule->src_len = tuple->len;
	topoopt_table_route(&rule->route, pair->target, pair->server);
	return true;
}

bool topoopt_table_next(const struct topoopt_table *table, u64 *pos,
			struct topoopt_rule *rule)
{
	const struct topoopt_family *family;
	const struct topoopt_tuple *tuple;
	u64 start = 0;	/* of a tuple, as a position */
	bool v6 = false;

	do {
		family = &table->family[v6];
		for (tuple = family->dst.begin; tuple < family->dst.end;
		     start += topoopt_tuple_slots(tuple++))
			while (*pos - start < topoopt_tuple_slots(tuple))
				if (topoopt_table_rule(tuple, (*pos)++ - start,
						       v6, rule))
					return true;
		for (tuple = family->src.begin; tuple < family->src.end;
		     start += topoopt_tuple_slots(tuple++))
			while (*pos - start < topoopt_tuple_slots(tuple))
				if (topoopt_table_rule_pair(family, tuple,
							    (*pos)++ - start,
							    v6, rule))
					return true;
		v6 = !v6;
	} while (v6);
	return false;
}

struct topoopt_group *topoopt_table_group(const struct topoopt_table *table, u32 index)
{
	return table->group[index];
}

u32 topoopt_table_groups(const struct topoopt_table *table)
{
	return table->groups;
}

u32 topoopt_table_routes(const struct topoopt_table *table)
{
	return table->routes;
}

u64 topoopt_table_memory(const struct topoopt_table *table)
{
	return table->memory;
}

struct topoopt_peers *topoopt_table_peers(const struct topoopt_table *table)
{
	return table->peers;
}

u32 topoopt_table_peer(const struct topoopt_peers *peers, u16 slot, const u8 *mac)
{
	u32 low = 0, high = peers->count, middle;
	struct topoopt_peer key = { .slot = slot };

	ether_addr_copy(key.mac, mac);
	while (low < high) {
		middle = low + (high - low) / 2;
		if (topoopt_peer_order(&peers->peer[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The neighbour of a next hop, as topoopt_nexthop.peer. */
static u16 topoopt_table_nexthop_peer(const struct topoopt_peers *peers,
				      const struct topoopt_nexthop *nexthop)
{
	u32 i = topoopt_table_peer(peers, nexthop->slot, nexthop->mac);

	return i < peers->count && peers->peer[i].slot == nexthop->slot &&
	       ether_addr_equal(peers->peer[i].mac, nexthop->mac) ? i + 1 : 0;
}

void topoopt_table_set_peers(struct topoopt_table *table, struct topoopt_peers *peers)
{
	struct topoopt_group *group;
	unsigned int i, n;
	u32 g;

	table->peers = peers;
	if (!peers)
		return;
	for (g = 0; g < table->groups; g++) {
		group = table->group[g];
		n = group->primaries + group->backups + group->alternates;
		for (i = 0; i < n; i++)
			group->nexthop[i].peer =
				topoopt_table_nexthop_peer(peers, &group->nexthop[i]);
	}
}

u64 topoopt_table_generation(const struct topoopt_table *table)
{
	return table->generation;
}

void topoopt_table_set_generation(struct topoopt_table *table, u64 generation)
{
	table->generation = generation;
}
