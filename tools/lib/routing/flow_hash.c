// SPDX-License-Identifier: GPL-2.0-or-later
#include "routing/flow_hash.h"

#include <endian.h>
#include <string.h>

#define FLOW_GOLDEN_RATIO 0x61c8864680b583ebull	/* of linux/hash.h */
#define FLOW_JHASH_INITIAL 0xdeadbeef		/* of linux/jhash.h */

static uint64_t flow_stir(uint64_t hash, uint64_t word)
{
	hash = (hash + word) * FLOW_GOLDEN_RATIO;
	return hash ^ hash >> 32;
}

uint32_t to_flow_hash(const struct to_flow_tuple *t, uint32_t seed)
{
	/* words as they lie in the headers of a little-endian machine */
	const uint32_t source = __builtin_bswap32(t->source);
	const uint32_t destination = __builtin_bswap32(t->destination);
	const uint32_t ports = __builtin_bswap16(t->source_port) |
			       (uint32_t)__builtin_bswap16(t->destination_port) << 16;
	uint64_t hash = flow_stir(seed, (uint64_t)destination << 32 | source);

	hash = flow_stir(hash, (uint64_t)((uint32_t)t->protocol << 24 | t->queue_pair) << 32 | ports);
	return (hash * FLOW_GOLDEN_RATIO) >> 32;
}

static uint32_t flow_rotate(uint32_t word, unsigned int bits)
{
	return word << bits | word >> (32 - bits);
}

/* The last mixing of Jenkins' lookup3, public domain, on which jhash() is built. */
static uint32_t flow_jhash_final(uint32_t a, uint32_t b, uint32_t c)
{
	c ^= b; c -= flow_rotate(b, 14);
	a ^= c; a -= flow_rotate(c, 11);
	b ^= a; b -= flow_rotate(a, 25);
	c ^= b; c -= flow_rotate(b, 16);
	a ^= c; a -= flow_rotate(c, 4);
	b ^= a; b -= flow_rotate(a, 14);
	c ^= b; c -= flow_rotate(b, 24);
	return c;
}

static uint32_t flow_jhash_word(uint32_t word, uint32_t seed)
{
	const uint32_t initial = seed + FLOW_JHASH_INITIAL + (1 << 2);

	return flow_jhash_final(word + initial, initial, initial);
}

static uint32_t flow_jhash_mac(const uint8_t *mac, uint32_t seed)
{
	const uint32_t initial = FLOW_JHASH_INITIAL + 6 + seed;
	uint32_t a;

	memcpy(&a, mac, sizeof(a));
	return flow_jhash_final(initial + le32toh(a), initial + (mac[5] << 8 | mac[4]), initial);
}

/* In proportion to weights: rounded down, then one more for the largest remainders. */
static void flow_quotas(const struct to_group *group, const uint8_t *usable, unsigned int n,
			uint16_t *quota)
{
	uint32_t remainder[TO_PORTS_MAX], total = 0;
	unsigned int left = TO_FLOW_BUCKETS, most, i;

	for (i = 0; i < n; i++)
		total += group->nexthops[usable[i]].weight;
	for (i = 0; i < n; i++) {
		const uint32_t share = group->nexthops[usable[i]].weight * TO_FLOW_BUCKETS;

		quota[i] = share / total;
		remainder[i] = share % total;
		left -= quota[i];
	}
	for (; left; left--) {
		for (most = 0, i = 1; i < n; i++)
			if (remainder[i] > remainder[most])
				most = i;
		quota[most]++;
		remainder[most] = 0;
	}
}

/* Address that the kernel writes into what @hop of @server sends. */
static const uint8_t *flow_peer_mac(const struct to_plan *plan, uint32_t server,
				    const struct to_nexthop *hop)
{
	struct to_port_ref peer;

	if (to_plan_hop_end(plan, server, hop, &peer))
		return NULL;
	return plan->cluster->servers[peer.server].ports[peer.port].relay_mac;
}

void to_flow_buckets(const struct to_plan *plan, uint32_t server, const struct to_group *group,
		     uint8_t *buckets)
{
	uint32_t seed[TO_PORTS_MAX], hash, highest;
	uint8_t usable[TO_PORTS_MAX];
	uint16_t quota[TO_PORTS_MAX];
	unsigned int n = 0, best, i, b;

	memset(buckets, 0xff, TO_FLOW_BUCKETS);
	for (i = 0; i < group->n && n < TO_PORTS_MAX; i++) {
		const struct to_nexthop *hop = &group->nexthops[i];
		const uint8_t *mac = to_nexthop_primary(hop) ?
				     flow_peer_mac(plan, server, hop) : NULL;

		if (!mac)
			continue;
		seed[n] = flow_jhash_mac(mac, 1 + hop->port);
		usable[n++] = i;
	}
	if (!n)
		return;
	flow_quotas(group, usable, n, quota);
	for (b = 0; b < TO_FLOW_BUCKETS; b++) {
		for (i = 0, best = 0, highest = 0; i < n; i++) {
			hash = flow_jhash_word(b, seed[i]);
			if (!quota[i] || hash < highest)
				continue;
			highest = hash;
			best = i;
		}
		quota[best]--;
		buckets[b] = usable[best];
	}
}
