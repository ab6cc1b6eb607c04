/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_TUPLE_H
#define TOPOOPT_TUPLE_H

/*
 * Inside a table: for build.c, which makes it, and table.c and fastpath.h, which
 * read it.
 *
 * A tuple is a hash of all destinations of one family with one prefix length:
 * open addressing with linear probing, half full, multiplicative hash. Tuples
 * exist for the lengths in use, longest first (tuple space search: Srinivasan,
 * Suri and Varghese 1999), so that a table of addresses costs one probe. Rules
 * with a source are found in a second step, only when the destination has any,
 * by (slot of the destination, source), in tuples by source prefix length.
 */

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/etherdevice.h>	/* get_unaligned(); its own header moved */
#include <linux/in6.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct topoopt_group;

/*
 * What a slot leads to: the group, with flags in the bits that its alignment
 * leaves 0. An empty slot is 0.
 */
#define TOPOOPT_TARGET_TYPE	GENMASK(1, 0)	/* enum topoopt_route_type */
#define TOPOOPT_TARGET_NONE	GENMASK(1, 0)	/* only rules with a source */
#define TOPOOPT_TARGET_ALONE	BIT(2)		/* no rules with a source, nothing scoped */
#define TOPOOPT_TARGET_SOURCES	BIT(3)		/* there are rules with a source */
#define TOPOOPT_TARGET_FLAGS	GENMASK(3, 0)

/**
 * struct topoopt_slot - destination
 * @target: see above
 * @server: see struct topoopt_route
 * @key4: IPv4 address
 * @key6: IPv6 address, only there in IPv6 tuples
 */
struct topoopt_slot {
	unsigned long target;
	u32 server;
	u32 key4;
	u64 key6[];
};

/**
 * struct topoopt_pair - source of a destination
 * @target: with TOPOOPT_TARGET_ALONE
 * @server: see struct topoopt_route
 * @id: of the slot of the destination, see struct topoopt_tuple
 * @src: address; IPv4 in the low bits of the first word
 */
struct topoopt_pair {
	unsigned long target;
	u32 server;
	u32 id;
	u64 src[2];
};

/**
 * struct topoopt_tuple - hash of the prefixes with one length
 * @slots: struct topoopt_slot of either size, or struct topoopt_pair
 * @size: number of slots that keys hash to; of 64 bits, as it is multiplied with
 * @tail: further slots, for keys that do not fit where they hash to; the last
 *	one stays empty
 * @base: id of the first slot, unique among the tuples of a family
 * @seed: multiplier of the hash, odd
 * @mask: of an address; IPv4 in the low bits of the first word
 * @salt: of its words, when both halves are hashed
 * @len: prefix length
 * @settled: built
 * @full: a key would have needed the last slot
 * @far: a key would have been too far from the slot it hashes to
 * @seeds: multipliers and salts tried
 * @used: slots in use
 * @displaced: sum over the slots of the distance from the one hashed to
 */
struct topoopt_tuple {
	void *slots;
	u64 size;
	u64 seed;
	u64 mask[2];
	u32 salt[4];
	u32 base;
	u8 len;
	bool settled;
	bool full;
	bool far;
	u8 seeds;
	u32 tail;
	u32 used;
	u64 displaced;
};

/* Tuples, at least one, longest prefix first; @end is past the last. */
struct topoopt_tuples {
	struct topoopt_tuple *begin;
	struct topoopt_tuple *end;
};

/* Rules of IPv4 or IPv6. */
struct topoopt_family {
	struct topoopt_tuples dst;
	struct topoopt_tuples src;
};

struct topoopt_table {
	struct topoopt_family family[2];	/* IPv4, IPv6 */
	struct topoopt_group **group;
	u32 groups;
	u32 routes;
	u64 memory;
	u64 generation;
	struct topoopt_peers *peers;
	u64 id;		/* unlike that of any other table */
	struct rcu_work work;
};

static inline u32 topoopt_tuple_slots(const struct topoopt_tuple *tuple)
{
	return tuple->size + tuple->tail;
}

static __always_inline size_t topoopt_tuple_slot_size(bool v6)
{
	return v6 ? sizeof(struct topoopt_slot) + sizeof(struct in6_addr) :
		    sizeof(struct topoopt_slot);
}

static __always_inline struct topoopt_slot *
topoopt_tuple_slot(const struct topoopt_tuple *tuple, u32 index, bool v6)
{
	return tuple->slots + index * topoopt_tuple_slot_size(v6);
}

/* One half of an address as hashed and compared. */
static __always_inline u64 topoopt_tuple_half(const struct in6_addr *addr,
					      unsigned int half)
{
	return get_unaligned((const u64 *)addr + half);
}

/* Both halves; an IPv4 address is the first word of @addr. */
static inline void topoopt_tuple_key(u64 key[2], const struct in6_addr *addr,
				     bool v6)
{
	key[0] = v6 ? topoopt_tuple_half(addr, 0) :
		      (__force u32)addr->s6_addr32[0];
	key[1] = v6 ? topoopt_tuple_half(addr, 1) : 0;
}

/* High half of hash times size: no division, any size. */
static __always_inline u32 topoopt_tuple_home(const struct topoopt_tuple *tuple,
					      u32 hash)
{
	return (hash * tuple->size) >> 32;
}

/*
 * Both halves of a product, one on the other: either alone collides for addresses that
 * count up in two of their bytes.
 */
static __always_inline u32 topoopt_tuple_mix(u64 word, u64 seed)
{
	word *= seed;
	return lower_32_bits(word) ^ upper_32_bits(word);
}

/*
 * One word of two, NH of UMAC (Black, Halevi, Krawczyk, Krovetz and Rogaway 1999):
 * any two addresses give the same with a probability of 2^-32, over the salt. A sum
 * of multiples would not do: for addresses of nothing but a few high bits in both
 * halves it has few values, whatever the multipliers are.
 */
static __always_inline u64 topoopt_tuple_fold(const struct topoopt_tuple *tuple,
					      u64 key0, u64 key1)
{
	const u32 *salt = tuple->salt;

	return (u64)((u32)key0 + salt[0]) * ((u32)(key0 >> 32) + salt[1]) +
	       (u64)((u32)key1 + salt[2]) * ((u32)(key1 >> 32) + salt[3]);
}

static __always_inline u32 topoopt_tuple_hash(const struct topoopt_tuple *tuple,
					      u64 key0, u64 key1, bool v6)
{
	if (v6)
		key0 = topoopt_tuple_fold(tuple, key0, key1);
	return topoopt_tuple_mix(key0, tuple->seed);
}

static inline u32 topoopt_tuple_hash_pair(const struct topoopt_tuple *tuple,
					  u32 id, u64 key0, u64 key1)
{
	u64 seed = tuple->seed;

	key0 = topoopt_tuple_fold(tuple, key0 + topoopt_tuple_mix(id, seed), key1);
	return topoopt_tuple_mix(key0, seed);
}

/*
 * The slot that has this key, already masked, or else the empty one where the
 * search for it ends. There is always one: the last slot stays empty.
 */
static __always_inline struct topoopt_slot *
topoopt_tuple_search(const struct topoopt_tuple *tuple, u64 key0, u64 key1,
		     bool v6)
{
	u32 hash = topoopt_tuple_hash(tuple, key0, key1, v6);
	struct topoopt_slot *slot;

	slot = topoopt_tuple_slot(tuple, topoopt_tuple_home(tuple, hash), v6);
	/* An empty slot may match: its key is 0. It is empty all the same. */
	while (unlikely(v6 ? slot->key6[0] != key0 || slot->key6[1] != key1 :
			     slot->key4 != (u32)key0) && slot->target)
		slot = (void *)slot + topoopt_tuple_slot_size(v6);
	return slot;
}

static inline u32 topoopt_tuple_index(const struct topoopt_tuple *tuple,
				      const struct topoopt_slot *slot, bool v6)
{
	return ((void *)slot - tuple->slots) / topoopt_tuple_slot_size(v6);
}

/* The same for a source of the destination with this id. */
static inline struct topoopt_pair *
topoopt_tuple_search_pair(const struct topoopt_tuple *tuple, u32 id, u64 key0,
			  u64 key1)
{
	u32 hash = topoopt_tuple_hash_pair(tuple, id, key0, key1);
	struct topoopt_pair *pair = tuple->slots;

	pair += topoopt_tuple_home(tuple, hash);
	while (pair->target && (pair->id != id || pair->src[0] != key0 ||
				pair->src[1] != key1))
		pair++;
	return pair;
}

#endif
