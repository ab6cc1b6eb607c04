// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/held.h"

#include <string.h>

#include "kernel/peers.h"

#define HELD_NS_PER_MS 1000000ull

const char *const to_held_words[] = {
	[TO_HELD_NOT] = "up",
	[TO_HELD_CUT] = "cut",
	[TO_HELD_SILENT] = "silent",
	[TO_HELD_SWAPPED] = "swapped",
	[TO_HELD_REPLACED] = "replaced",
	[TO_HELD_NO_TABLE] = "no-table",
	[TO_HELD_DEVICE_DOWN] = "device-down",
	[TO_HELD_FABRIC] = "fabric",
	[TO_HELD_LOSSY] = "lossy",
	NULL
};

static bool held_is(const struct to_cluster *c, struct to_port_ref at, const char *server,
		    const char *port)
{
	return !strcmp(c->servers[at.server].name, server) &&
	       !strcmp(c->servers[at.server].ports[at.port].name, port);
}

/* Port @port of @server, if there is one. Return: whether there is. */
static bool held_find(const struct to_cluster *c, const char *server, const char *port,
		      struct to_port_ref *at)
{
	const int s = to_cluster_find_server(c, server);
	const int p = s < 0 ? -1 : to_cluster_find_port(&c->servers[s], port);

	if (p >= 0)
		*at = (struct to_port_ref){ s, p };
	return p >= 0;
}

static enum to_held held_reason(const struct to_peer *peer, bool live)
{
	if (peer->transit)
		return live ? TO_HELD_NOT : TO_HELD_CUT;
	switch (peer->reason) {
	case TOPOOPT_CHECK_REASON_STRANGER:
		return TO_HELD_SWAPPED;
	case TOPOOPT_CHECK_REASON_NO_TABLE:
		return TO_HELD_NO_TABLE;
	case TOPOOPT_CHECK_REASON_DOWN:
		return TO_HELD_DEVICE_DOWN;
	case TOPOOPT_CHECK_REASON_FABRIC:
		return TO_HELD_FABRIC;
	default:
		return TO_HELD_SILENT;
	}
}

/* The neighbour that the active table expects at @at: @to, or else whoever comes first. */
static const struct to_peer *held_peer(const struct to_fabric_server *server,
				       const struct to_cluster *c, struct to_port_ref at,
				       struct to_port_ref to)
{
	const char *port = c->servers[at.server].ports[at.port].name;
	const struct to_peer *peer = to_peers_find(server->peers, server->n_peers, port,
						   c->servers[to.server].name);

	return peer ? peer : to_peers_find(server->peers, server->n_peers, port, NULL);
}

void to_held_look(const struct to_fabric_server *server, const struct to_cluster *c,
		  struct to_port_ref at, struct to_port_ref to, struct to_held_end *end)
{
	const struct to_peer *peer = held_peer(server, c, at, to);
	const bool live = server->live >> at.port & 1;

	*end = (struct to_held_end){ .reason = live ? TO_HELD_NOT : TO_HELD_CUT };
	if (!peer)
		return;
	if (peer->stranger[0])
		end->stranger = held_find(c, peer->stranger, peer->stranger_port, &end->hears);
	if (held_is(c, to, peer->server, peer->server_port)) {
		end->reason = held_reason(peer, live);
		if (end->reason == TO_HELD_SWAPPED &&
		    held_is(c, to, peer->stranger, peer->stranger_port)) {
			end->reason = TO_HELD_REPLACED;
			end->stranger = false;
		}
		if (!peer->transit && peer->heard)
			end->silence_ns = peer->silence_ms * HELD_NS_PER_MS;
	} else if (peer->transit) {
		/* the plan in force is for the cabling as it is */
		end->stranger = held_find(c, peer->server, peer->server_port, &end->hears);
		end->reason = live ? TO_HELD_SWAPPED : TO_HELD_CUT;
	} else if (end->stranger) {
		end->reason = held_is(c, to, peer->stranger, peer->stranger_port) ? TO_HELD_NOT :
										    TO_HELD_SWAPPED;
	} else {
		end->reason = TO_HELD_SILENT;
	}
}
