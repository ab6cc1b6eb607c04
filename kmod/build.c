// SPDX-License-Identifier: GPL-2.0
/* Building and freeing tables. */

#include <linux/err.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "flow.h"
#include "peers.h"
#include "table.h"
#include "tuple.h"

static struct workqueue_struct *topoopt_build_workqueue;

/*
 * Another multiplier, with other salts, is tried when keys collide more than
 * random ones would.
 */
#define TOPOOPT_BUILD_SEEDS	8

/*
 * Maximum distance of a key from the slot that it hashes to. The first multiplier
 * is known, so somebody may have chosen keys that collide under it; each further
 * one is random, and allowed twice the distance.
 */
#define TOPOOPT_BUILD_FAR	128ULL

#define TOPOOPT_BUILD_TAIL	16	/* slots, until more are needed */

enum topoopt_build_step {
	TOPOOPT_BUILD_BEGIN,
	TOPOOPT_BUILD_TUPLES,
	TOPOOPT_BUILD_DESTINATIONS,
	TOPOOPT_BUILD_SOURCES
};

/**
 * struct topoopt_build - table in the making
 * @table: as far as it is built
 * @routes: what it is built from
 * @v6: the family at work, after IPv4 IPv6
 * @step: in this family
 * @next: rule to go on with in this step
 * @budget: rules that may still be looked at before others get their turn
 * @dst: rules of the family by prefix length of their destination
 * @src: the same of their source, if they have one
 */
struct topoopt_build {
	struct topoopt_table *table;
	const struct topoopt_routes *routes;
	bool v6;
	enum topoopt_build_step step;
	u32 next;
	u32 budget;
	u32 dst[129];
	u32 src[129];
};

static unsigned long topoopt_build_target(const struct topoopt_route *route)
{
	return (unsigned long)route->group | route->type;
}

static struct topoopt_tuple *
topoopt_build_tuple(const struct topoopt_tuples *tuples, u8 len)
{
	struct topoopt_tuple *tuple = tuples->begin;

	while (tuple->len != len)
		tuple++;
	return tuple;
}

/* Whether a tuple takes no more keys for now. */
static bool topoopt_build_closed(const struct topoopt_tuple *tuple)
{
	return tuple->settled || tuple->full || tuple->far;
}

/*
 * Take an empty slot, unless it is the last, or far from where @hash leads.
 *
 * Return: false when it is; then nothing more goes into this tuple, which
 * will be made anew.
 */
static bool topoopt_build_take(struct topoopt_tuple *tuple, u32 index, u32 hash)
{
	u32 distance = index - topoopt_tuple_home(tuple, hash);

	tuple->far = distance > TOPOOPT_BUILD_FAR << tuple->seeds;
	tuple->full = index == topoopt_tuple_slots(tuple) - 1;
	if (topoopt_build_closed(tuple))
		return false;
	tuple->used++;
	tuple->displaced += distance;
	return true;
}

static int topoopt_build_duplicate(const struct topoopt_rule *rule,
				   struct netlink_ext_ack *extack)
{
	const char *source = rule->src_len ? " from one source" : "";

	if (rule->v6)
		NL_SET_ERR_MSG_FMT(extack, "Equal routes: %pI6c/%u%s",
				   &rule->dst, rule->dst_len, source);
	else
		NL_SET_ERR_MSG_FMT(extack, "Equal routes: %pI4/%u%s",
				   &rule->dst, rule->dst_len, source);
	return -EEXIST;
}

/*
 * Whether some of the destinations may be such that packets never leave their
 * link, see topoopt_flow_scoped(): readers then have to look at each.
 */
static bool topoopt_build_scoped(const struct topoopt_rule *rule)
{
	u8 first = rule->dst.s6_addr[0];

	/* Every range of them begins and ends with a prefix of 64 or 16 bits. */
	if (rule->v6 && rule->dst_len >= 64)
		return topoopt_flow_scoped6(&rule->dst);
	if (rule->v6)
		return rule->dst_len < 8 || !first || first >= 0xfe;
	if (rule->dst_len >= 16)
		return topoopt_flow_scoped4(rule->dst.s6_addr32[0]);
	return rule->dst_len < 8 || !first || first >= 127;
}

static int topoopt_build_insert(struct topoopt_family *family,
				const struct topoopt_rule *rule,
				struct netlink_ext_ack *extack)
{
	struct topoopt_tuple *tuple;
	struct topoopt_slot *slot;
	bool v6 = rule->v6;
	u64 key[2];

	tuple = topoopt_build_tuple(&family->dst, rule->dst_len);
	if (topoopt_build_closed(tuple))
		return 0;
	topoopt_tuple_key(key, &rule->dst, v6);
	slot = topoopt_tuple_search(tuple, key[0], key[1], v6);
	if (!slot->target) {
		if (!topoopt_build_take(tuple, topoopt_tuple_index(tuple, slot, v6),
					topoopt_tuple_hash(tuple, key[0], key[1],
							   v6)))
			return 0;
		slot->target = TOPOOPT_TARGET_NONE |
			       (topoopt_build_scoped(rule) ? 0 : TOPOOPT_TARGET_ALONE);
		slot->server = TOPOOPT_SERVER_NONE;
		if (v6)
			memcpy(slot->key6, key, sizeof(key));
		else
			slot->key4 = key[0];
	}

	if (rule->src_len) {
		slot->target &= ~TOPOOPT_TARGET_ALONE;
		slot->target |= TOPOOPT_TARGET_SOURCES;
		if (slot->server == TOPOOPT_SERVER_NONE)
			slot->server = rule->route.server;
		return 0;
	}
	if ((slot->target & TOPOOPT_TARGET_TYPE) != TOPOOPT_TARGET_NONE)
		return topoopt_build_duplicate(rule, extack);
	slot->target &= TOPOOPT_TARGET_ALONE | TOPOOPT_TARGET_SOURCES;
	slot->target |= topoopt_build_target(&rule->route);
	if (rule->route.server != TOPOOPT_SERVER_NONE)
		slot->server = rule->route.server;
	return 0;
}

static int topoopt_build_insert_pair(struct topoopt_family *family,
				     const struct topoopt_rule *rule,
				     struct netlink_ext_ack *extack)
{
	struct topoopt_tuple *dst, *tuple;
	struct topoopt_pair *pair;
	struct topoopt_slot *slot;
	bool v6 = rule->v6;
	u64 key[2];
	u32 id;

	if (!rule->src_len)
		return 0;
	tuple = topoopt_build_tuple(&family->src, rule->src_len);
	if (topoopt_build_closed(tuple))
		return 0;
	dst = topoopt_build_tuple(&family->dst, rule->dst_len);
	topoopt_tuple_key(key, &rule->dst, v6);
	slot = topoopt_tuple_search(dst, key[0], key[1], v6);
	id = dst->base + topoopt_tuple_index(dst, slot, v6);
	topoopt_tuple_key(key, &rule->src, v6);
	pair = topoopt_tuple_search_pair(tuple, id, key[0], key[1]);
	if (pair->target)
		return topoopt_build_duplicate(rule, extack);
	if (!topoopt_build_take(tuple, pair - (struct topoopt_pair *)tuple->slots,
				topoopt_tuple_hash_pair(tuple, id, key[0],
							key[1])))
		return 0;
	pair->target = topoopt_build_target(&rule->route) |
		       TOPOOPT_TARGET_ALONE;
	pair->server = rule->route.server;
	pair->id = id;
	memcpy(pair->src, key, sizeof(key));
	return 0;
}

static void topoopt_build_seed(struct topoopt_tuple *tuple)
{
	tuple->seeds++;
	tuple->seed = get_random_u64() | 1;
	get_random_bytes(tuple->salt, sizeof(tuple->salt));
}

/*
 * Whether all tuples are good as they are. Those that are not have been
 * emptied: their keys collide too much, or the rules with a source counted
 * for more destinations than they have.
 */
static bool topoopt_build_settle(const struct topoopt_tuples *tuples)
{
	struct topoopt_tuple *tuple;
	bool settled = true;

	for (tuple = tuples->begin; tuple < tuples->end; tuple++) {
		if (tuple->settled)
			continue;
		if (tuple->far) {
			topoopt_build_seed(tuple);
		} else if (tuple->full) {
			tuple->tail *= 2;
		} else if (tuple->used && tuple->size > 3 * tuple->used) {
			tuple->size = 2 * tuple->used;
		} else if (tuple->displaced > tuple->used + 16ULL &&
			   tuple->seeds < TOPOOPT_BUILD_SEEDS) {
			topoopt_build_seed(tuple);
		} else {
			tuple->settled = true;
			continue;
		}
		kvfree(tuple->slots);
		tuple->slots = NULL;
		tuple->full = false;
		tuple->far = false;
		tuple->used = 0;
		tuple->displaced = 0;
		settled = false;
	}
	return settled;
}

typedef int topoopt_build_insert_t(struct topoopt_family *family,
				   const struct topoopt_rule *rule,
				   struct netlink_ext_ack *extack);

/* Let others run, unless nobody wants the table any more. */
static int topoopt_build_pause(const bool *gone, struct netlink_ext_ack *extack)
{
	cond_resched();
	if (READ_ONCE(*gone)) {
		NL_SET_ERR_MSG(extack, "The device is being removed");
		return -ENODEV;
	}
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/*
 * Put the rules @begin..@end into the tuples by @insert, from build->next on.
 *
 * Return: 0, -EINPROGRESS when the budget is used up, or another error.
 */
static int topoopt_build_fill(struct topoopt_build *build,
			      const struct topoopt_tuples *tuples,
			      size_t slot_size, topoopt_build_insert_t *insert,
			      u32 begin, u32 end, const bool *gone,
			      struct netlink_ext_ack *extack)
{
	struct topoopt_family *family = &build->table->family[build->v6];
	struct topoopt_tuple *tuple;
	struct topoopt_rule rule;
	int err;

	do {
		for (tuple = tuples->begin; tuple < tuples->end; tuple++) {
			if (tuple->slots)
				continue;
			tuple->slots = kvcalloc(topoopt_tuple_slots(tuple),
						slot_size, GFP_KERNEL_ACCOUNT);
			if (!tuple->slots)
				return -ENOMEM;
		}
		for (; build->next < end; build->next++) {
			if (!build->budget)
				return -EINPROGRESS;
			build->budget--;
			topoopt_routes_at(build->routes, build->next, &rule);
			err = insert(family, &rule, extack);
			if (!err && build->next % 1024 == 0)
				err = topoopt_build_pause(gone, extack);
			if (err)
				return err;
		}
		build->next = begin;
	} while (!topoopt_build_settle(tuples));
	return 0;
}

/*
 * Tuples for the prefix lengths that occur; @count has the rules of each. When
 * there is none, one without slots in use spares readers a test.
 */
static int topoopt_build_tuples(struct topoopt_tuples *tuples,
				const u32 count[129], bool v6)
{
	struct topoopt_tuple *tuple;
	unsigned int i, lengths = 0;
	struct in6_addr mask;
	int len;

	for (len = 0; len <= 128; len++)
		lengths += !!count[len];
	tuple = kcalloc(max(lengths, 1u), sizeof(*tuple), GFP_KERNEL_ACCOUNT);
	if (!tuple)
		return -ENOMEM;
	tuples->begin = tuple;
	tuples->end = tuple + max(lengths, 1u);

	for (len = 128; len >= 0; len--) {
		if (!count[len] && lengths)
			continue;
		memset(&mask, 0, sizeof(mask));
		memset(&mask, 0xff, len / 8);
		if (len % 8)
			mask.s6_addr[len / 8] = 0xff00 >> len % 8;
		topoopt_tuple_key(tuple->mask, &mask, v6);
		tuple->len = len;
		tuple->size = max(2 * count[len], 1u);
		tuple->tail = TOPOOPT_BUILD_TAIL;
		tuple->seed = GOLDEN_RATIO_64;
		for (i = 0; i < ARRAY_SIZE(tuple->salt); i++)
			tuple->salt[i] = (i + 1) * GOLDEN_RATIO_32;
		if (++tuple == tuples->end)
			break;
	}
	return 0;
}

static void topoopt_build_free_tuples(const struct topoopt_tuples *tuples)
{
	struct topoopt_tuple *tuple;

	for (tuple = tuples->begin; tuple < tuples->end; tuple++)
		kvfree(tuple->slots);
	kfree(tuples->begin);
}

static u64 topoopt_build_tuples_memory(const struct topoopt_tuples *tuples,
				       size_t slot_size)
{
	const struct topoopt_tuple *tuple;
	u64 memory = 0;

	for (tuple = tuples->begin; tuple < tuples->end; tuple++)
		memory += sizeof(*tuple) +
			  topoopt_tuple_slots(tuple) * slot_size;
	return memory;
}

/* Tuples of a family, for its rules up to @end. Return: as topoopt_build_fill(). */
static int topoopt_build_count(struct topoopt_build *build,
			       struct topoopt_family *family, u32 end)
{
	struct topoopt_rule rule;
	int err;

	for (; build->next < end; build->next++) {
		if (!build->budget)
			return -EINPROGRESS;
		build->budget--;
		topoopt_routes_at(build->routes, build->next, &rule);
		build->dst[rule.dst_len]++;
		if (rule.src_len)
			build->src[rule.src_len]++;
	}
	err = topoopt_build_tuples(&family->dst, build->dst, build->v6);
	return err ?: topoopt_build_tuples(&family->src, build->src, build->v6);
}

/* Go on with the family at work. Return: as topoopt_build_fill(). */
static int topoopt_build_family(struct topoopt_build *build, const bool *gone,
				struct netlink_ext_ack *extack)
{
	const struct topoopt_routes *routes = build->routes;
	struct topoopt_table *table = build->table;
	bool v6 = build->v6;
	struct topoopt_family *family = &table->family[v6];
	size_t slot_size = topoopt_tuple_slot_size(v6);
	u32 begin = v6 ? routes->rules4.count : 0;
	u32 end = begin + (v6 ? routes->rules6 : routes->rules4).count;
	struct topoopt_tuple *tuple;
	u32 base = 0;
	int err;

	switch (build->step) {
	case TOPOOPT_BUILD_BEGIN:
		build->next = begin;
		memset(build->dst, 0, sizeof(build->dst));
		memset(build->src, 0, sizeof(build->src));
		build->step = TOPOOPT_BUILD_TUPLES;
		fallthrough;
	case TOPOOPT_BUILD_TUPLES:
		err = topoopt_build_count(build, family, end);
		if (err)
			return err;
		build->next = begin;
		build->step = TOPOOPT_BUILD_DESTINATIONS;
		fallthrough;
	case TOPOOPT_BUILD_DESTINATIONS:
		err = topoopt_build_fill(build, &family->dst, slot_size,
					 topoopt_build_insert, begin, end, gone,
					 extack);
		if (err)
			return err;
		for (tuple = family->dst.begin; tuple < family->dst.end; tuple++) {
			tuple->base = base;
			base += topoopt_tuple_slots(tuple);
		}
		build->step = TOPOOPT_BUILD_SOURCES;
		fallthrough;
	case TOPOOPT_BUILD_SOURCES:
		err = topoopt_build_fill(build, &family->src,
					 sizeof(struct topoopt_pair),
					 topoopt_build_insert_pair, begin, end,
					 gone, extack);
		if (err)
			return err;
	}

	table->memory += topoopt_build_tuples_memory(&family->dst, slot_size) +
			 topoopt_build_tuples_memory(&family->src,
						     sizeof(struct topoopt_pair));
	return 0;
}

void topoopt_table_free(struct topoopt_table *table)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table->family); i++) {
		topoopt_build_free_tuples(&table->family[i].dst);
		topoopt_build_free_tuples(&table->family[i].src);
	}
	for (i = 0; i < table->groups; i++)
		topoopt_group_free(table->group[i]);
	kvfree(table->group);
	topoopt_peers_put(table->peers);
	kfree(table);
}

void topoopt_build_cancel(struct topoopt_build *build)
{
	if (!build)
		return;
	topoopt_table_free(build->table);
	kfree(build);
}

static struct topoopt_build *topoopt_build_begin(const struct topoopt_routes *routes)
{
	u32 groups = routes->groups.count;
	struct topoopt_build *build;
	struct topoopt_table *table;
	static atomic64_t ids;

	build = kzalloc(sizeof(*build), GFP_KERNEL_ACCOUNT);
	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!build || !table)
		goto err_free;
	build->table = table;
	build->routes = routes;
	table->id = atomic64_inc_return(&ids);
	table->routes = routes->rules4.count + routes->rules6.count;
	table->memory = sizeof(*table) + groups * sizeof(*table->group);

	table->group = kvmalloc_array(groups, sizeof(*table->group),
				      GFP_KERNEL_ACCOUNT);
	if (!table->group)
		goto err_free;
	return build;

err_free:
	kfree(table);
	kfree(build);
	return NULL;
}

struct topoopt_table *topoopt_table_build(struct topoopt_build **state, u32 rules,
					  struct topoopt_routes *routes,
					  const bool *gone,
					  struct netlink_ext_ack *extack)
{
	u32 i, groups = routes->groups.count;
	struct topoopt_table *table;
	struct topoopt_build *build;
	int err;

	if (!*state)
		*state = topoopt_build_begin(routes);
	build = *state;
	if (!build)
		return ERR_PTR(-ENOMEM);
	build->budget = rules;
	do {
		err = topoopt_build_family(build, gone, extack);
		if (err == -EINPROGRESS)
			return ERR_PTR(err);
		if (err) {
			topoopt_build_cancel(build);
			*state = NULL;
			return ERR_PTR(err);
		}
		build->step = TOPOOPT_BUILD_BEGIN;
		build->v6 = !build->v6;
	} while (build->v6);
	table = build->table;
	kfree(build);
	*state = NULL;

	for (i = 0; i < groups; i++) {
		table->group[i] = *(struct topoopt_group **)
				  topoopt_array_at(&routes->groups, i);
		table->memory += table->group[i]->size;
	}
	table->groups = groups;
	topoopt_routes_truncate(routes, 0, 0, 0);
	return table;
}

static void topoopt_build_free_work(struct work_struct *work)
{
	topoopt_table_free(container_of(to_rcu_work(work), struct topoopt_table,
					work));
}

void topoopt_table_free_rcu(struct topoopt_table *table)
{
	if (!table)
		return;
	INIT_RCU_WORK(&table->work, topoopt_build_free_work);
	queue_rcu_work(topoopt_build_workqueue, &table->work);
}

int topoopt_table_init(void)
{
	topoopt_build_workqueue = alloc_workqueue("topoopt_table", WQ_UNBOUND, 0);
	return topoopt_build_workqueue ? 0 : -ENOMEM;
}

void topoopt_table_exit(void)
{
	/* Tables wait for RCU first, then for the workqueue. */
	rcu_barrier();
	destroy_workqueue(topoopt_build_workqueue);
}
