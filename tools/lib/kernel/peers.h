/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PEERS_H
#define TOPOOPT_PEERS_H

/* What continuity checks say of a server's neighbours, from the kernel and as JSON. */

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "kernel/genl.h"

extern const char *const to_peer_reasons[];	/* words of enum topoopt_check_reason; ends with NULL */

/**
 * to_peers_get() - read the neighbours of the active table, with the names of their ports
 * @device: ifindex of the topoopt device
 * @peers: gets them, for free()
 *
 * Return: 0, with none from a module without checks or a table without them; a negative errno.
 */
int to_peers_get(struct to_genl *genl, uint32_t device, struct to_peer **peers, unsigned int *n,
		 struct to_error *err);

/** to_peer_name_port() - fill in to_peer.port from its ifindex */
void to_peer_name_port(struct to_peer *peer);

/** to_peer_json() - return a neighbour as an object, NULL when out of memory */
json_t *to_peer_json(const struct to_peer *peer);

/** to_peers_json() - return neighbours as an array: "peers" of toctl show and of agents' replies */
json_t *to_peers_json(const struct to_peer *peers, unsigned int n);

/**
 * to_peer_read() - read what to_peer_json() wrote, on whatever host
 *
 * Return: false when a member is missing, has another type, or is not fit to be printed.
 */
bool to_peer_read(const json_t *object, struct to_peer *peer);

/**
 * to_peers_read() - read what to_peers_json() wrote
 * @peers: gets those that to_peer_read() reads, for free()
 *
 * Return: 0; -ENOENT when @array is no array, as of an agent without checks; -ENOMEM.
 */
int to_peers_read(const json_t *array, struct to_peer **peers, unsigned int *n);

/** to_peers_find() - find the neighbour expected at @port from @server, NULL: any; or NULL */
const struct to_peer *to_peers_find(const struct to_peer *peers, unsigned int n,
				    const char *port, const char *server);

#define TO_PEER_WORDS 400

/**
 * to_peer_reason_words() - say in a sentence what checks say of a neighbour
 * @self: name of the server that has the port
 * @text: set, as in "s1:eth0 hears s3:eth1; the plan says s2:eth1"
 *
 * Return: @text.
 */
const char *to_peer_reason_words(const struct to_peer *peer, const char *self,
				 char text[TO_PEER_WORDS]);

#endif
