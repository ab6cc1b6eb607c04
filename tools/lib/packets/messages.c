// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce_steps.h"

#define MESSAGES_PIECE (128 << 10)	/* bytes that a tree passes on at once */

void to_packet_messages_free(struct to_packet_messages *m)
{
	free(m->list);
	free(m->feeders);
	memset(m, 0, sizeof(*m));
}

void to_packet_messages_clear(struct to_packet_messages *m)
{
	m->n = m->n_feeders = 0;
	m->failed = false;
}

static void messages_add(struct to_packet_messages *m, struct to_packet_message message)
{
	struct to_packet_message *grown;

	if (m->failed)
		return;
	if (m->n == m->max) {
		grown = realloc(m->list, (2 * (size_t)m->max + 64) * sizeof(*grown));
		if (!grown) {
			m->failed = true;
			return;
		}
		m->list = grown;
		m->max = 2 * m->max + 64;
	}
	message.first_feeder = m->n_feeders;
	message.n_feeders = 0;
	m->list[m->n++] = message;
}

/* Add @feeder to the message that was added last. */
static void messages_feed(struct to_packet_messages *m, uint32_t feeder)
{
	uint32_t *grown;

	if (m->failed)
		return;
	if (m->n_feeders == m->max_feeders) {
		grown = realloc(m->feeders, (2 * (size_t)m->max_feeders + 64) * sizeof(*grown));
		if (!grown) {
			m->failed = true;
			return;
		}
		m->feeders = grown;
		m->max_feeders = 2 * m->max_feeders + 64;
	}
	m->feeders[m->n_feeders++] = feeder;
	m->list[m->n - 1].n_feeders++;
}

void to_packet_messages_transfer(struct to_packet_messages *m, const struct to_transfer *transfer,
				 uint32_t index)
{
	messages_add(m, (struct to_packet_message){ .from = transfer->src, .to = transfer->dst,
						.link = TO_MESSAGE_ROUTED, .transfer = index,
						.chunk = transfer->bytes, .n_chunks = 1 });
}

void to_packet_messages_ring(struct to_packet_messages *m, const uint32_t *order, uint32_t n,
			     bool reverse, double bytes)
{
	const uint32_t first = m->n;

	for (uint32_t i = 0; i < n; i++) {
		const struct to_allreduce_send send =
			to_allreduce_steps_ring_send(n, reverse, 0, i);

		messages_add(m, (struct to_packet_message){
			.from = order[send.from], .to = order[send.to],
			.link = TO_MESSAGE_ROUTED, .transfer = UINT32_MAX,
			.chunk = fmax(round(bytes / send.pieces), 1),
			.n_chunks = to_allreduce_steps_ring(n), .ahead = 1 });
		/* whom the other way round it would send to is who sends to it */
		messages_feed(m, first + to_allreduce_steps_ring_send(n, !reverse, 0, i).to);
	}
}

void to_packet_messages_tree(struct to_packet_messages *m, const uint32_t *members,
			     const uint32_t *parents, uint32_t n, double bytes)
{
	const uint32_t pieces = fmin(fmax(ceil(bytes / MESSAGES_PIECE), 1), 1 << 20);
	struct to_packet_message message = { .link = TO_MESSAGE_ROUTED, .transfer = UINT32_MAX,
					     .n_chunks = pieces,
					     .chunk = fmax(round(bytes / pieces), 1) };
	uint32_t *up = malloc(n * sizeof(*up)), next = m->n, i, k;

	if (!up) {
		m->failed = true;
		return;
	}
	for (i = 0; i < n; i++) {
		up[i] = next;
		next += parents[i] == TO_SERVER_NONE ? 0 : 2;
	}
	for (i = 0; i < n; i++) {
		if (parents[i] == TO_SERVER_NONE)
			continue;
		message.from = members[i];
		message.to = parents[i];
		messages_add(m, message);
		for (k = 0; k < n; k++)
			if (parents[k] == members[i])
				messages_feed(m, up[k]);
		message.from = parents[i];
		message.to = members[i];
		messages_add(m, message);
		for (k = 0; members[k] != parents[i]; k++)
			;
		if (parents[k] != TO_SERVER_NONE) {
			messages_feed(m, up[k] + 1);
			continue;
		}
		for (k = 0; k < n; k++)
			if (parents[k] == parents[i])
				messages_feed(m, up[k]);
	}
	free(up);
}

void to_packet_messages_halving_doubling(struct to_packet_messages *m, const uint32_t *members,
					 uint32_t n, double bytes)
{
	const unsigned int steps = to_allreduce_steps_halving(n);
	uint32_t before = m->n, first, i, k;
	struct to_allreduce_send send;

	for (unsigned int step = 0; step < steps && !m->failed; step++, before = first) {
		first = m->n;
		for (i = 0; i < n; i++) {
			if (!to_allreduce_steps_halving_send(n, step, i, &send))
				continue;
			messages_add(m, (struct to_packet_message){
				.from = members[send.from], .to = members[send.to],
				.link = TO_MESSAGE_ROUTED, .transfer = UINT32_MAX, .n_chunks = 1,
				.chunk = fmax(round(bytes / send.pieces), 1) });
			for (k = before; k < first; k++)
				if (m->list[k].to == members[send.from])
					messages_feed(m, k);
		}
	}
}
