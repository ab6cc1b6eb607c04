/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DOWN_H
#define TOPOOPT_DOWN_H

/* What of a fabric is down: ports, servers, and the links that are dark with them. */

#include <stdbool.h>
#include <stdint.h>

#include "data/cluster.h"

#define TO_DOWN_SERVER UINT32_MAX	/* to_port_ref.port: the server, all its ports */

/**
 * struct to_down - what is down in one cluster
 * @n: of @list
 * @list: what was named, in that order and each once: a port, or a server with
 *	TO_DOWN_SERVER for its port
 * @n_servers: of the cluster
 * @servers: per server, whether it was named itself
 * @ports: per server, a bit for each port that was named, alone or with its server;
 *	not for the port at the other end of its link
 * @n_links: of the cluster
 * @n_dark: how many of them are dark
 * @links: per link of the cluster, whether it is dark: a port at either of its ends
 *	is down. Behind a packet switch, and where other functions keep the light of the
 *	cable, only the server at that end sees it
 */
struct to_down {
	unsigned int n, n_servers, n_links, n_dark;
	struct to_port_ref *list;
	bool *servers;
	uint64_t *ports;
	bool *links;
};

/** to_down_init() - begin with nothing of @cluster down. Return: 0 or -ENOMEM. */
int to_down_init(struct to_down *down, const struct to_cluster *cluster);
void to_down_free(struct to_down *down);

/**
 * to_down_add() - take a port or server down, too; nothing changes if it is down
 * @at: a port of @cluster, or a server with TO_DOWN_SERVER
 *
 * Return: 0 or -ENOMEM.
 */
int to_down_add(struct to_down *down, const struct to_cluster *cluster, struct to_port_ref at);

/**
 * to_down_parse() - add what a word of the command line names
 * @word: SERVER or SERVER:PORT, as in "s3" and "s0:eth0", or a packet switch that no server
 *	is called like: all ports on it
 *
 * Return: 0; -ENOENT when the cluster has none of that; -ENOMEM.
 */
int to_down_parse(struct to_down *down, const struct to_cluster *cluster, const char *word,
		  struct to_error *err);

/**
 * to_down_parse_all() - begin with what @n words say is down
 * @words: as in to_down_parse(), but a port stands for its cable: all functions that
 *	share the cable are down with it
 * @path: file of the plan, for @err
 *
 * Return: 0, then @down is for to_down_free(); or a negative errno with @err.
 */
int to_down_parse_all(struct to_down *down, const struct to_cluster *cluster,
		      const char *const *words, unsigned int n, const char *path,
		      struct to_error *err);

/** to_down_has() - tell whether port @at was named, alone or with its server */
static inline bool to_down_has(const struct to_down *down, struct to_port_ref at)
{
	return down->ports[at.server] >> at.port & 1;
}

/**
 * to_down_cuts() - tell whether the cable of port @at is without light for @at's end
 *
 * One function of several on a cable that is down alone leaves the light to the other end,
 * which goes on to send.
 */
bool to_down_cuts(const struct to_down *down, const struct to_cluster *cluster,
		  struct to_port_ref at);

/**
 * to_down_darkens() - tell whether the port @at is without light, from whatever end
 *
 * A port is dark when its link is; a port on a packet switch when it is down itself.
 */
bool to_down_darkens(const struct to_down *down, const struct to_cluster *cluster,
		     struct to_port_ref at);

/**
 * to_down_name() - write a name that to_down_parse() reads
 * @text: set
 *
 * Return: @text.
 */
#define TO_DOWN_NAME_MAX (TO_NAME_MAX + 1 + IFNAMSIZ)
const char *to_down_name(const struct to_cluster *cluster, struct to_port_ref at,
			 char text[TO_DOWN_NAME_MAX]);

#endif
