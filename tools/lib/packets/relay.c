// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/relay.h"

#include "packets/port.h"

void to_packet_relay_arrive(struct to_packet_simulator *s, uint32_t packet)
{
	const struct to_packet *arrived = &s->store.packets[packet];
	const uint32_t link = packet_link(s, arrived->at);
	struct packet_port *port = &s->ports[link];
	uint64_t done = s->now + s->relay_latency;

	if (port->ring >= s->options.relay_ring || !to_packet_port_hold(s, link, arrived->wire)) {
		to_packet_port_drop(s, link, packet);
		return;
	}
	port->ring++;
	if (done < port->softirq + s->relay_cost)
		done = port->softirq + s->relay_cost;
	port->softirq = done;
	packet_schedule(s, done, PACKET_RELAYED, packet);
}

void to_packet_relay_forward(struct to_packet_simulator *s, uint32_t packet)
{
	struct to_packet *relayed = &s->store.packets[packet];
	const uint32_t link = packet_link(s, relayed->at);

	s->ports[link].ring--;
	to_packet_port_release(s, link, relayed->wire);
	relayed->at++;
	to_packet_port_queue(s, packet);
}
