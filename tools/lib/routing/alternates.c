// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "routing/alternates.h"
#include "routing/detours.h"
#include "routing/forwarding.h"

/*
 * A new group: the next hops of an old one, a backup, an alternate per arc into the
 * server. Compared as words.
 */
struct group_key {
	uint16_t old;
	uint8_t backup;		/* 1 + arc, 0 for none */
	uint8_t alternate[];	/* per arc into the server, 1 + arc out of it */
};

#define KEY_WORDS ((sizeof(struct group_key) + TO_PORTS_MAX) / sizeof(uint64_t) + 1)

/* The new groups of a server. */
struct regroup {
	unsigned int n, room;	/* of keys; slots are twice the room, a power of two */
	size_t size;		/* of a key, a multiple of 8 */
	uint64_t *keys;
	uint32_t *slots;	/* 1 + group, 0 when empty */
	struct to_table table;	/* groups only */
};

struct alternates {
	struct to_plan *plan;
	const struct to_graph *graph;
	struct to_forwarding f;
	struct to_detours detours;
	struct regroup *regroups;	/* per server */
	uint64_t *keys;			/* of the routes to one server, see alternates_at() */
	unsigned int words;		/* of the longest key */
};

static uint64_t alternates_hash(const uint64_t *key, size_t size)
{
	uint64_t hash = 0;
	size_t i;

	for (i = 0; i < size / sizeof(*key); i++)
		hash = ((hash ^ hash >> 29) + key[i]) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static bool alternates_same(const struct regroup *r, uint32_t group, const uint64_t *key)
{
	size_t words = r->size / sizeof(*key), i;

	for (i = 0; i < words && r->keys[group * words + i] == key[i]; i++)
		;
	return i == words;
}

static uint32_t *alternates_slot(const struct regroup *r, const uint64_t *key)
{
	uint32_t mask = 2 * r->room - 1, at = alternates_hash(key, r->size) & mask;

	while (r->slots[at] && !alternates_same(r, r->slots[at] - 1, key))
		at = (at + 1) & mask;
	return &r->slots[at];
}

static int alternates_grow(struct regroup *r)
{
	unsigned int room = r->room ? 2 * r->room : 32, i;
	uint64_t *keys = realloc(r->keys, room * r->size);
	uint32_t *slots = calloc(2 * room, sizeof(*slots));

	if (keys)
		r->keys = keys;
	if (!keys || !slots) {
		free(slots);
		return -ENOMEM;
	}
	free(r->slots);
	r->slots = slots;
	r->room = room;
	for (i = 0; i < r->n; i++)
		*alternates_slot(r, &r->keys[i * r->size / sizeof(*keys)]) = i + 1;
	return 0;
}

/* The group that a key stands for. Return: its index, or a negative errno. */
static int alternates_new_group(struct alternates *s, uint32_t x, const struct group_key *key)
{
	const struct to_graph *g = s->graph;
	const uint32_t *in_arc = &g->in_arc[g->in[x]];
	const struct to_group *old = &s->plan->tables[x].groups[key->old];
	struct to_nexthop hops[2 * TO_PORTS_MAX + 1];
	unsigned int n = old->n, k;

	memcpy(hops, old->nexthops, n * sizeof(*hops));
	if (key->backup) {
		hops[n] = to_nexthop_on(s->plan, g, g->out[x] + key->backup - 1);
		hops[n++].backup = true;
	}
	for (k = 0; k < g->in[x + 1] - g->in[x]; k++) {
		if (!key->alternate[k])
			continue;
		hops[n] = to_nexthop_on(s->plan, g, g->out[x] + key->alternate[k] - 1);
		hops[n++].ingress = 1 + g->peer_port[in_arc[k]];
	}
	return to_plan_new_group(&s->regroups[x].table, hops, n);
}

/* What group @old of server @x becomes with the detours that were found. */
static void alternates_key(const struct alternates *s, uint32_t x, unsigned int old, uint64_t *to)
{
	const struct to_graph *g = s->graph;
	struct group_key *key = (struct group_key *)to;
	unsigned int k;

	memset(key, 0, s->regroups[x].size);
	key->old = old;
	if (s->detours.backup[x] < TO_DETOUR_PLAIN)
		key->backup = 1 + s->detours.backup[x] - g->out[x];
	for (k = 0; k < g->in[x + 1] - g->in[x]; k++) {
		uint32_t in = g->in_arc[g->in[x] + k], onward = s->detours.onward[in];

		if (s->detours.entry[in] == in && onward < TO_DETOUR_PLAIN)
			key->alternate[k] = 1 + onward - g->out[x];
	}
}

/* Return: index of the group, or a negative errno. */
static int alternates_group(struct alternates *s, uint32_t x, const uint64_t *key)
{
	struct regroup *r = &s->regroups[x];
	uint32_t *slot;
	int ret;

	if (r->n == r->room && alternates_grow(r))
		return -ENOMEM;
	slot = alternates_slot(r, key);
	if (*slot)
		return *slot - 1;
	ret = alternates_new_group(s, x, (const struct group_key *)key);
	if (ret < 0)
		return ret;
	memcpy(&r->keys[r->n * r->size / sizeof(*r->keys)], key, r->size);
	*slot = ++r->n;
	return ret;
}

/* The entry of a table that f->qualified[@i] was read from. */
static struct to_source_route *alternates_pair(struct alternates *s, unsigned int i)
{
	const struct to_qualified *q = &s->f.qualified[i];
	const struct to_table *table = &s->plan->tables[q->server];
	unsigned int low = 0, high = table->n_pairs;

	while (low < high) {
		unsigned int middle = (low + high) / 2;
		const struct to_source_route *at = &table->pairs[middle];

		if (at->dst != q->dst ? at->dst < q->dst :
		    at->slot != q->slot ? at->slot < q->slot : at->src < q->src)
			low = middle + 1;
		else
			high = middle;
	}
	return &table->pairs[low];
}

/* Routes of one source: servers without one of them do what they do for all. */
static int alternates_fill_pair(struct alternates *s, unsigned int first, unsigned int last)
{
	struct to_detours *d = &s->detours;
	uint64_t key[KEY_WORDS];
	unsigned int i;
	int group;

	to_forwarding_qualify(&s->f, first, last);
	to_detours_release(d, &s->f, first, last);
	to_detours_find(d, &s->f);
	for (i = first; i < last; i++) {
		uint32_t x = s->f.qualified[i].server;

		alternates_key(s, x, s->f.qualified[i].group, key);
		group = alternates_group(s, x, key);
		if (group < 0)
			return group;
		alternates_pair(s, i)->group = group;
	}
	return 0;
}

static uint64_t *alternates_at(const struct alternates *s, uint32_t x, unsigned int slot)
{
	return &s->keys[((size_t)x * s->plan->slots + slot) * s->words];
}

static int alternates_fill_address(struct alternates *s, uint32_t dst, unsigned int slot,
				   unsigned int *pairs)
{
	struct to_forwarding *f = &s->f;
	unsigned int last;
	uint32_t x;
	int ret = 0;

	to_forwarding_resolve(f, dst, slot);
	to_detours_reset(&s->detours);
	to_detours_find(&s->detours, f);
	for (x = 0; x < s->graph->n; x++)
		if (f->group[x] != UINT32_MAX)
			alternates_key(s, x, f->group[x] - f->first_group[x],
				       alternates_at(s, x, slot));
	for (; !ret && *pairs < f->n_qualified && f->qualified[*pairs].dst == dst &&
	       f->qualified[*pairs].slot == slot; *pairs = last) {
		for (last = *pairs; last < f->n_qualified && f->qualified[last].dst == dst &&
		     f->qualified[last].slot == slot &&
		     f->qualified[last].src == f->qualified[*pairs].src; last++)
			;
		to_forwarding_resolve(f, dst, slot);
		ret = alternates_fill_pair(s, *pairs, last);
	}
	return ret;
}

/* Detours come by destination, tables go by server. */
static int alternates_fill_server(struct alternates *s, uint32_t dst, unsigned int *pairs)
{
	const unsigned int slots = s->plan->slots;
	unsigned int slot;
	uint32_t x;
	int ret = 0;

	for (slot = 0; !ret && slot < slots; slot++)
		ret = alternates_fill_address(s, dst, slot, pairs);
	for (x = 0; !ret && x < s->graph->n; x++) {
		uint16_t *route = &s->plan->tables[x].route[(size_t)dst * slots];

		for (slot = 0; slot < slots; slot++) {
			if (route[slot] == TO_GROUP_NONE)
				continue;
			ret = alternates_group(s, x, alternates_at(s, x, slot));
			if (ret < 0)
				return ret;
			route[slot] = ret;
			ret = 0;
		}
	}
	return ret;
}

static int alternates_init(struct alternates *s)
{
	const struct to_graph *g = s->graph;
	uint32_t x;

	if (to_forwarding_init(&s->f, s->plan, g) || to_detours_init(&s->detours, g, s->plan->cluster))
		return -ENOMEM;
	s->regroups = calloc(g->n, sizeof(*s->regroups));
	if (!s->regroups)
		return -ENOMEM;
	for (x = 0; x < g->n; x++) {
		size_t size = (sizeof(struct group_key) + g->in[x + 1] - g->in[x] + 7) & ~7u;

		s->regroups[x].size = size;
		if (s->words < size / sizeof(*s->keys))
			s->words = size / sizeof(*s->keys);
	}
	s->keys = calloc((size_t)g->n * s->plan->slots * s->words, sizeof(*s->keys));
	if (!s->keys)
		return -ENOMEM;
	return 0;
}

/* The new groups take the place of the old ones. */
static void alternates_install(struct alternates *s)
{
	for (uint32_t x = 0; x < s->graph->n; x++) {
		struct to_table *table = &s->plan->tables[x], *fresh = &s->regroups[x].table;
		struct to_table old = *table;

		table->groups = fresh->groups;
		table->n_groups = fresh->n_groups;
		fresh->groups = old.groups;
		fresh->n_groups = old.n_groups;
	}
}

static void alternates_free(struct alternates *s)
{
	for (uint32_t x = 0; s->regroups && x < s->graph->n; x++) {
		struct regroup *r = &s->regroups[x];

		for (unsigned int i = 0; i < r->table.n_groups; i++)
			free(r->table.groups[i].nexthops);
		free(r->table.groups);
		free(r->keys);
		free(r->slots);
	}
	free(s->regroups);
	free(s->keys);
	to_detours_free(&s->detours);
	to_forwarding_free(&s->f);
}

int to_alternates_fill(struct to_plan *plan, const struct to_graph *graph)
{
	struct alternates s = { .plan = plan, .graph = graph };
	unsigned int pairs = 0;
	uint32_t dst;
	int ret = alternates_init(&s);

	for (dst = 0; !ret && dst < graph->n; dst++)
		ret = alternates_fill_server(&s, dst, &pairs);
	if (!ret)
		alternates_install(&s);
	alternates_free(&s);
	return ret;
}
