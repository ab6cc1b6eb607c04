// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/store.h"

#include <stdlib.h>
#include <string.h>

void to_packet_store_clear(struct to_packet_store *s)
{
	s->n = s->used = s->used_max = 0;
	s->free = TO_PACKET_NONE;
	s->failed = false;
}

void to_packet_store_free(struct to_packet_store *s)
{
	free(s->packets);
	memset(s, 0, sizeof(*s));
}

uint32_t to_packet_store_add(struct to_packet_store *s, struct to_packet packet)
{
	struct to_packet *grown;
	uint32_t index = s->free;

	if (index != TO_PACKET_NONE) {
		s->free = s->packets[index].next;
	} else {
		if (s->n == s->max) {
			grown = realloc(s->packets, (2 * (size_t)s->max + 1024) * sizeof(*grown));
			if (!grown) {
				s->failed = true;
				return TO_PACKET_NONE;
			}
			s->packets = grown;
			s->max = 2 * s->max + 1024;
		}
		index = s->n++;
	}
	s->packets[index] = packet;
	if (++s->used > s->used_max)
		s->used_max = s->used;
	return index;
}

void to_packet_store_remove(struct to_packet_store *s, uint32_t packet)
{
	s->packets[packet].next = s->free;
	s->free = packet;
	s->used--;
}
