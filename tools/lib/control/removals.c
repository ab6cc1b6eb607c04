// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/removals.h"

#include <stdlib.h>
#include <string.h>

/** struct to_removal - removals of one thing */
struct to_removal {
	enum to_lost_kind kind;
	uint32_t ifindex;
	uint8_t key[TO_ENTRY_KEY];		/* of an entry, else zeroed */
	uint64_t at_ns[TO_REMOVALS_MAX];	/* the last ones, 0: there were fewer */
	unsigned int next;			/* index of @at_ns that is written next */
	bool lost;				/* it was not restored since the last removal */
	bool left;				/* it is left alone */
	bool seen;				/* it was noted in this look */
};

static struct to_removal *removals_find(const struct to_removals *r, const struct to_lost *lost)
{
	for (unsigned int i = 0; i < r->n; i++) {
		struct to_removal *one = &r->items[i];

		if (one->kind == lost->kind && one->ifindex == lost->ifindex &&
		    (lost->kind != TO_LOST_ENTRY ||
		     !memcmp(one->key, &lost->change.entry, TO_ENTRY_KEY)))
			return one;
	}
	return NULL;
}

static struct to_removal *removals_add(struct to_removals *r, const struct to_lost *lost)
{
	const unsigned int room = r->room ? 2 * r->room : 16;
	struct to_removal *items = r->items, *one;

	if (r->n == r->room) {
		items = realloc(items, room * sizeof(*items));
		if (!items)
			return NULL;
		r->items = items;
		r->room = room;
	}
	one = &items[r->n++];
	*one = (struct to_removal){ .kind = lost->kind, .ifindex = lost->ifindex };
	if (lost->kind == TO_LOST_ENTRY)
		memcpy(one->key, &lost->change.entry, TO_ENTRY_KEY);
	return one;
}

static unsigned int removals_count(const struct to_removal *one, uint64_t now_ns)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < TO_REMOVALS_MAX; i++)
		n += one->at_ns[i] && now_ns - one->at_ns[i] < TO_REMOVALS_NS;
	return n;
}

bool to_removals_note(struct to_removals *r, const struct to_lost *lost, bool excused,
		      uint64_t now_ns)
{
	struct to_removal *one = removals_find(r, lost);

	if (!one && !excused)
		one = removals_add(r, lost);
	if (!one)
		return true;
	one->seen = true;
	if (!one->left && !one->lost && !excused) {
		one->at_ns[one->next] = now_ns;
		one->next = (one->next + 1) % TO_REMOVALS_MAX;
		one->left = removals_count(one, now_ns) == TO_REMOVALS_MAX;
	}
	one->lost = true;
	return !one->left;
}

void to_removals_restored(struct to_removals *r, const struct to_lost *lost)
{
	struct to_removal *one = removals_find(r, lost);

	if (one)
		one->lost = false;
}

void to_removals_end(struct to_removals *r, uint64_t now_ns)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->n; i++) {
		struct to_removal one = r->items[i];

		if (!one.seen)
			one.lost = one.left = false;
		if (!one.seen && !removals_count(&one, now_ns))
			continue;
		one.seen = false;
		r->items[n++] = one;
	}
	r->n = n;
}

void to_removals_free(struct to_removals *r)
{
	free(r->items);
	*r = (struct to_removals){};
}
