// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/deadlock.h"

#include <errno.h>
#include <stdio.h>

/* A link out of where @link ends that is paused and has packets from it. */
static uint32_t deadlock_next(const struct to_packet_simulator *s, uint32_t link)
{
	const struct to_network *w = s->network;
	const uint32_t x = w->links[link].to;

	for (uint32_t i = w->out[x]; i < w->out[x + 1]; i++) {
		if (!s->ports[i].paused)
			continue;
		for (uint32_t p = s->ports[i].data.first; p != PACKET_NONE; p = s->store.packets[p].next)
			if (packet_link(s, s->store.packets[p].at - 1) == link)
				return i;
	}
	return UINT32_MAX;
}

int to_packet_deadlock_tell(struct to_packet_simulator *s)
{
	const struct to_network *w = s->network;
	uint32_t link = UINT32_MAX, first, steps, i;
	char text[sizeof(s->err->text) / 2] = "";
	size_t at = 0;

	for (i = 0; i < w->n_links && link == UINT32_MAX; i++)
		if (s->ports[i].paused)
			link = i;
	/* after as many steps as there are links it is on the cycle */
	for (steps = 0; link != UINT32_MAX && steps < w->n_links; steps++)
		link = deadlock_next(s, link);
	if (link == UINT32_MAX)
		return to_error_set(s->err, -EDEADLK, "nothing is on its way any more, at %g s",
				    s->now * 1e-12);
	first = link;
	do {
		i = snprintf(text + at, sizeof(text) - at, "%s to ", w->names[w->links[link].from]);
		at = at + i < sizeof(text) ? at + i : sizeof(text) - 1;
		link = deadlock_next(s, link);
	} while (link != first);
	return to_error_set(s->err, -EDEADLK,
			    "PFC deadlock after %g s: each waits for the next, %s%s",
			    s->now * 1e-12, text, w->names[w->links[first].from]);
}
