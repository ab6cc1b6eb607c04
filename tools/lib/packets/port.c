// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/port.h"

#include "base/random.h"
#include "packets/capture.h"
#include "packets/pcie.h"
#include "packets/sender.h"

#define PORT_PAUSE_WIRE 84	/* a PFC frame, with preamble and gap */
#define PORT_MARK_MOST 0.2	/* of the packets, where not yet all are marked */

static void port_add(struct to_packet_store *store, struct packet_queue *queue, uint32_t packet)
{
	store->packets[packet].next = PACKET_NONE;
	if (queue->first == PACKET_NONE)
		queue->first = packet;
	else
		store->packets[queue->last].next = packet;
	queue->last = packet;
}

static uint32_t port_take(struct to_packet_store *store, struct packet_queue *queue)
{
	const uint32_t packet = queue->first;

	queue->first = store->packets[packet].next;
	return packet;
}

static bool port_has_data(const struct packet_port *port)
{
	return !port->paused && (port->data.first != PACKET_NONE || port->ready.first != PACKET_NONE);
}

void to_packet_port_drop(struct to_packet_simulator *s, uint32_t link, uint32_t packet)
{
	s->ports[link].count.drops++;
	s->result.dropped++;
	to_packet_sender_lost(s, s->store.packets[packet].flow);
	to_packet_store_remove(&s->store, packet);
}

/* Take a packet of the first flow that is ready. */
static uint32_t port_take_ready(struct to_packet_simulator *s, uint32_t link)
{
	struct packet_queue *ready = &s->ports[link].ready;
	const uint32_t flow = ready->first;

	ready->first = s->flows[flow].next_ready;
	return to_packet_sender_next(s, flow);
}

/* Note that @packet leaves the queue and, of a switch, its buffer. */
static void port_dequeue(struct to_packet_simulator *s, struct packet_port *port,
			 const struct to_packet *packet)
{
	port->queued -= packet->wire;
	port->queued_packets--;
	if (!port->from_server)
		to_packet_port_release(s, packet_link(s, packet->at - 1), packet->wire);
}

static uint32_t port_take_data(struct to_packet_simulator *s, uint32_t link)
{
	struct packet_port *port = &s->ports[link];
	const bool ready = port->ready.first != PACKET_NONE;
	uint32_t packet;

	if (ready && (port->turn || port->data.first == PACKET_NONE)) {
		port->turn = false;
		return port_take_ready(s, link);
	}
	port->turn = true;
	packet = port_take(&s->store, &port->data);
	port_dequeue(s, port, &s->store.packets[packet]);
	return packet;
}

/* Take a packet of data, or wait for the PCIe links before it. */
static uint32_t port_take_data_from_host(struct to_packet_simulator *s, uint32_t link)
{
	const uint64_t at = to_packet_pcie_free_at(s, link, false);
	uint32_t packet;

	if (at > s->now) {
		s->ports[link].waits = true;
		packet_schedule(s, at, PACKET_FREE, link);
		return PACKET_NONE;
	}
	packet = port_take_data(s, link);
	if (packet != PACKET_NONE)
		to_packet_pcie_cross(s, link, false, s->now, s->store.packets[packet].wire);
	return packet;
}

static void port_send(struct to_packet_simulator *s, uint32_t link)
{
	struct packet_port *port = &s->ports[link];
	struct to_packet *sent;
	uint32_t packet;
	uint64_t takes;

	if (port->control.first != PACKET_NONE)
		packet = port_take(&s->store, &port->control);
	else if (port_has_data(port))
		packet = port_take_data_from_host(s, link);
	else
		return;
	if (packet == PACKET_NONE)
		return;
	sent = &s->store.packets[packet];
	takes = packet_time(port, sent->wire);
	port->free_at = s->now + takes;
	port->count.busy += takes;
	port->count.packets++;
	if (sent->kind == TO_PACKET_DATA) {
		port->count.bytes += sent->wire - s->options.headers;
		s->result.hops++;
	}
	if (port->captured)
		to_packet_capture_add(s, sent);
	packet_schedule(s, port->free_at + port->latency, PACKET_ARRIVE, packet);
	if (port->control.first != PACKET_NONE || port_has_data(port)) {
		port->waits = true;
		packet_schedule(s, port->free_at, PACKET_FREE, link);
	}
}

void to_packet_port_free(struct to_packet_simulator *s, uint32_t link)
{
	s->ports[link].waits = false;
	port_send(s, link);
}

/* Send as soon as the link is free. */
static void port_kick(struct to_packet_simulator *s, uint32_t link)
{
	struct packet_port *port = &s->ports[link];

	if (port->waits)
		return;
	if (port->free_at <= s->now) {
		port_send(s, link);
		return;
	}
	port->waits = true;
	packet_schedule(s, port->free_at, PACKET_FREE, link);
}

void to_packet_port_offer(struct to_packet_simulator *s, uint32_t flow)
{
	to_packet_sender_queue(s, flow);
	port_kick(s, s->flows[flow].link);
}

/* RED on the queue as it is (DCQCN, section 3.1). */
static bool port_marks(struct to_packet_simulator *s, const struct packet_port *port)
{
	if (port->queued <= port->mark_min)
		return false;
	if (port->queued >= port->mark_max)
		return true;
	return (to_random_next(&s->random) >> 11) * 0x1p-53 <
	       PORT_MARK_MOST * (port->queued - port->mark_min) / (port->mark_max - port->mark_min);
}

/* Is the queue, of a relay or of a switch without PFC, too long? */
static bool port_full(const struct to_packet_simulator *s, const struct packet_port *port,
		      uint32_t wire)
{
	if (port->from_server)
		return port->queued_packets >= s->options.relay_queue;
	return !s->options.pfc && port->queued + wire > s->options.buffer;
}

static void port_queue_data(struct to_packet_simulator *s, uint32_t link, uint32_t packet)
{
	struct packet_port *port = &s->ports[link];
	struct to_packet *queued = &s->store.packets[packet];

	if (port_full(s, port, queued->wire)) {
		if (!port->from_server)
			to_packet_port_release(s, packet_link(s, queued->at - 1), queued->wire);
		to_packet_port_drop(s, link, packet);
		return;
	}
	if (port->mark_min && port_marks(s, port)) {
		queued->marked = true;
		port->count.marks++;
		s->result.marks++;
	}
	port->queued += queued->wire;
	port->queued_packets++;
	if (port->queued > port->count.queue)
		port->count.queue = port->queued;
	port_add(&s->store, &port->data, packet);
	port_kick(s, link);
}

void to_packet_port_queue(struct to_packet_simulator *s, uint32_t packet)
{
	const uint32_t link = packet_link(s, s->store.packets[packet].at);

	if (s->store.packets[packet].kind == TO_PACKET_DATA) {
		port_queue_data(s, link, packet);
		return;
	}
	port_add(&s->store, &s->ports[link].control, packet);
	port_kick(s, link);
}

bool to_packet_port_hold(struct to_packet_simulator *s, uint32_t link, uint32_t wire)
{
	struct packet_port *port = &s->ports[link];

	if (s->options.pfc && port->held + wire > port->room)
		return false;
	port->held += wire;
	if (s->options.pfc && !port->stopped && port->held > port->stop) {
		port->stopped = true;
		packet_schedule(s, s->now + packet_time(port, PORT_PAUSE_WIRE) + port->latency,
				PACKET_PAUSE, link);
	}
	return true;
}

void to_packet_port_release(struct to_packet_simulator *s, uint32_t link, uint32_t wire)
{
	struct packet_port *port = &s->ports[link];

	port->held -= wire;
	if (port->stopped && port->held <= port->go) {
		port->stopped = false;
		packet_schedule(s, s->now + packet_time(port, PORT_PAUSE_WIRE) + port->latency,
				PACKET_RESUME, link);
	}
}

void to_packet_port_pause(struct to_packet_simulator *s, uint32_t link)
{
	struct packet_port *port = &s->ports[link];

	port->paused = true;
	port->paused_since = s->now;
	port->count.pauses++;
	s->result.pauses++;
}

void to_packet_port_resume(struct to_packet_simulator *s, uint32_t link)
{
	struct packet_port *port = &s->ports[link];

	port->paused = false;
	port->count.paused += s->now - port->paused_since;
	port_kick(s, link);
}

void to_packet_port_arrive(struct to_packet_simulator *s, uint32_t packet)
{
	struct to_packet *arrived = &s->store.packets[packet];
	const uint32_t link = packet_link(s, arrived->at);

	if (arrived->kind == TO_PACKET_DATA && !to_packet_port_hold(s, link, arrived->wire)) {
		to_packet_port_drop(s, link, packet);
		return;
	}
	arrived->at++;
	to_packet_port_queue(s, packet);
}
