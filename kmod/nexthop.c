// SPDX-License-Identifier: GPL-2.0
/*
 * Next hop groups.
 *
 * A flow hash picks one of 256 buckets and the bucket a next hop. Buckets are
 * dealt out by rendezvous (highest random weight: Thaler and Ravishankar 1998),
 * so that a group that differs in one next hop differs in few buckets but those
 * of that one, under quotas, so that weights hold to 1/256. What a bucket gets
 * depends on nothing but the next hops: the same group gives the same buckets in
 * the next table.
 */

#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/jhash.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "peers.h"
#include "table.h"

#define TOPOOPT_BUCKETS		256

/* Rehashes of a flow whose next hop is dead, before going through all. */
#define TOPOOPT_REHASHES	8

/*
 * Buckets per next hop in proportion to the weights, which add up to @total:
 * rounded down, then one more for the largest remainders.
 */
static void topoopt_nexthop_quotas(const struct topoopt_nexthop *nexthop,
				   unsigned int count, u32 total, u16 *quota)
{
	u32 remainder[TOPOOPT_MAX_NEXTHOPS];
	unsigned int i, most, left = TOPOOPT_BUCKETS;

	for (i = 0; i < count; i++) {
		u32 share = nexthop[i].weight * TOPOOPT_BUCKETS;

		quota[i] = share / total;
		remainder[i] = share % total;
		left -= quota[i];
	}
	for (; left; left--) {
		for (most = 0, i = 1; i < count; i++)
			if (remainder[i] > remainder[most])
				most = i;
		quota[most]++;
		remainder[most] = 0;
	}
}

/*
 * A bucket goes to the next hop that has the highest hash with it, of those
 * whose quota is not used up.
 */
static void topoopt_nexthop_deal(const struct topoopt_nexthop *nexthop,
				 unsigned int count, u32 total, u8 *bucket)
{
	u32 seed[TOPOOPT_MAX_NEXTHOPS];
	u16 quota[TOPOOPT_MAX_NEXTHOPS];
	unsigned int i, b;

	topoopt_nexthop_quotas(nexthop, count, total, quota);
	for (i = 0; i < count; i++)
		seed[i] = jhash(nexthop[i].mac, ETH_ALEN, nexthop[i].ifindex);

	for (b = 0; b < TOPOOPT_BUCKETS; b++) {
		u32 hash, highest = 0;

		for (i = 0; i < count; i++) {
			if (!quota[i])
				continue;
			hash = jhash_1word(b, seed[i]);
			if (hash >= highest) {
				highest = hash;
				bucket[b] = i;
			}
		}
		quota[bucket[b]]--;
	}
}

/*
 * Check the weights of the primaries or of the backups and fill their
 * buckets, which @bucket is moved past.
 */
static int topoopt_nexthop_spread(const struct topoopt_nexthop *nexthop,
				  unsigned int count, u8 **bucket,
				  struct netlink_ext_ack *extack)
{
	unsigned int i;
	u32 total = 0;

	if (count < 2)
		return 0;
	for (i = 0; i < count; i++)
		total += nexthop[i].weight;
	for (i = 0; i < count; i++) {
		if (nexthop[i].weight * TOPOOPT_BUCKETS < total) {
			NL_SET_ERR_MSG(extack,
				       "Share of a next hop is below 1/256");
			return -EINVAL;
		}
	}
	topoopt_nexthop_deal(nexthop, count, total, *bucket);
	*bucket += TOPOOPT_BUCKETS;
	return 0;
}

struct topoopt_group *topoopt_group_build(u32 id,
					  const struct topoopt_nexthop *nexthop,
					  unsigned int count,
					  struct netlink_ext_ack *extack)
{
	unsigned int i, primaries = 0, backups = 0, buckets;
	struct topoopt_nexthop *primary, *backup, *alternate;
	struct topoopt_group *group;
	size_t size;
	u8 *bucket;
	int err;

	for (i = 0; i < count; i++) {
		primaries += !nexthop[i].ingress && !nexthop[i].backup;
		backups += nexthop[i].backup;
	}
	if (!primaries) {
		NL_SET_ERR_MSG(extack, "Group with nothing but backups and alternates");
		return ERR_PTR(-EINVAL);
	}

	/* A power of two is aligned to itself, see table.c. */
	buckets = struct_size(group, nexthop, count);
	size = buckets + ((primaries > 1) + (backups > 1)) * TOPOOPT_BUCKETS;
	size = roundup_pow_of_two(size);
	group = kzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!group)
		return ERR_PTR(-ENOMEM);

	group->id = id;
	group->size = size;
	group->primaries = primaries;
	group->backups = backups;
	group->alternates = count - primaries - backups;
	group->direct = primaries == 1 && !group->alternates;
	group->buckets = buckets;
	primary = group->nexthop;
	backup = primary + primaries;
	alternate = backup + backups;
	for (i = 0; i < count; i++) {
		if (nexthop[i].ingress) {
			*alternate++ = nexthop[i];
			group->alternate_slots |= BIT_ULL(nexthop[i].ingress_slot);
		} else if (nexthop[i].backup) {
			*backup++ = nexthop[i];
			group->backup_slots |= BIT_ULL(nexthop[i].slot);
		} else {
			*primary++ = nexthop[i];
			group->primary_slots |= BIT_ULL(nexthop[i].slot);
		}
	}

	bucket = (u8 *)topoopt_group_buckets(group);
	err = topoopt_nexthop_spread(group->nexthop, primaries, &bucket, extack);
	if (!err)
		err = topoopt_nexthop_spread(group->nexthop + primaries, backups,
					     &bucket, extack);
	if (err) {
		kfree(group);
		return ERR_PTR(err);
	}
	return group;
}

void topoopt_group_free(struct topoopt_group *group)
{
	kfree(group);
}

bool topoopt_nexthop_usable(const struct topoopt_nexthop *nexthop,
			    const struct topoopt_liveness *liveness)
{
	u64 bit = BIT_ULL(nexthop->slot);
	const struct topoopt_peer *peer;
	u8 takes;

	if (liveness->live & bit)
		return true;
	if (!(liveness->light & bit) || !liveness->peers)
		return false;
	if (!nexthop->peer)
		return true;
	peer = &liveness->peers->peer[nexthop->peer - 1];
	takes = READ_ONCE(peer->takes);
	return takes & TOPOOPT_PEER_TRANSIT ||
	       (takes & TOPOOPT_PEER_RESORT && liveness->resort) ||
	       (takes & TOPOOPT_PEER_LOCAL && peer->index == liveness->server);
}

/* Bit per next hop that may be taken. */
static u32 topoopt_nexthop_mask(const struct topoopt_nexthop *nexthop, unsigned int count,
				const struct topoopt_liveness *liveness)
{
	unsigned int i;
	u32 mask = 0;

	for (i = 0; i < count; i++)
		if (topoopt_nexthop_usable(&nexthop[i], liveness))
			mask |= BIT(i);
	return mask;
}

/* One of several next hops, at least one of which is in @usable. */
static const struct topoopt_nexthop *
topoopt_nexthop_pick(const struct topoopt_nexthop *nexthop, unsigned int count,
		     const u8 *bucket, u32 usable, u32 hash)
{
	const struct topoopt_nexthop *best = NULL;
	u32 score, highest = 0;
	unsigned int i;

	/*
	 * A flow goes through its own sequence of buckets up to the first live
	 * one: one whose next hop stays live does not move.
	 */
	for (i = 0; i <= TOPOOPT_REHASHES; i++) {
		unsigned int choice = bucket[hash >> 24];

		if (likely(usable & BIT(choice)))
			return &nexthop[choice];
		hash = jhash_1word(hash, i);
	}

	/* Few are left; rendezvous over the next hops has the same property. */
	for (i = 0; i < count; i++) {
		if (!(usable & BIT(i)))
			continue;
		score = jhash_1word(hash, nexthop[i].ifindex);
		if (!best || score > highest) {
			best = &nexthop[i];
			highest = score;
		}
	}
	return best;
}

static const struct topoopt_nexthop *
topoopt_nexthop_choose(const struct topoopt_group *group,
		       const struct topoopt_liveness *liveness, u32 hash)
{
	const struct topoopt_nexthop *nexthop = group->nexthop;
	const u8 *bucket;
	u32 usable;

	usable = topoopt_nexthop_mask(nexthop, group->primaries, liveness);
	if (likely(usable)) {
		if (group->primaries == 1)
			return nexthop;
		return topoopt_nexthop_pick(nexthop, group->primaries,
					    topoopt_group_buckets(group),
					    usable, hash);
	}
	nexthop += group->primaries;
	usable = topoopt_nexthop_mask(nexthop, group->backups, liveness);
	if (!usable)
		return NULL;
	if (group->backups == 1)
		return nexthop;
	bucket = topoopt_group_buckets(group);
	if (group->primaries > 1)
		bucket += TOPOOPT_BUCKETS;
	return topoopt_nexthop_pick(nexthop, group->backups, bucket, usable, hash);
}

const struct topoopt_nexthop *
topoopt_group_select(const struct topoopt_group *group,
		     const struct topoopt_liveness *liveness, u32 hash)
{
	const struct topoopt_nexthop *nexthop = topoopt_nexthop_choose(group, liveness, hash);
	struct topoopt_liveness last;

	if (likely(nexthop) || !liveness->peers)
		return nexthop;
	last = *liveness;
	last.resort = true;
	return topoopt_nexthop_choose(group, &last, hash);
}

bool topoopt_nexthop_works(const struct topoopt_nexthop *nexthop,
			   const struct topoopt_liveness *liveness, const u32 *slot_ifindex)
{
	return topoopt_nexthop_usable(nexthop, liveness) &&
	       READ_ONCE(slot_ifindex[nexthop->slot]) == nexthop->ifindex;
}

static bool topoopt_nexthop_any_works(const struct topoopt_nexthop *nexthop,
				      unsigned int count,
				      const struct topoopt_liveness *liveness,
				      const u32 *slot_ifindex)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (topoopt_nexthop_works(&nexthop[i], liveness, slot_ifindex))
			return true;
	return false;
}

bool topoopt_group_on_backup(const struct topoopt_group *group,
			     const struct topoopt_liveness *liveness, const u32 *slot_ifindex)
{
	/* Most groups do not, and slots alone tell. */
	return group->backup_slots & liveness->light &&
	       !topoopt_nexthop_any_works(group->nexthop, group->primaries, liveness,
					  slot_ifindex) &&
	       topoopt_nexthop_any_works(group->nexthop + group->primaries,
					 group->backups, liveness, slot_ifindex);
}

const struct topoopt_nexthop *
topoopt_group_alternate(const struct topoopt_group *group, u32 ingress)
{
	const struct topoopt_nexthop *nexthop;
	unsigned int i;

	nexthop = &group->nexthop[group->primaries + group->backups];
	for (i = 0; i < group->alternates; i++)
		if (nexthop[i].ingress == ingress)
			return &nexthop[i];
	return NULL;
}
