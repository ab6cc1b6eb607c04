/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CROSSCONNECT_H
#define TOPOOPT_CROSSCONNECT_H

/* Links between servers become links between ports and cross-connects. */

#include "data/cluster.h"

#define TO_PORT_NONE UINT32_MAX

/**
 * to_crossconnect_assign() - give every link its ports
 * @cluster: servers and switches
 * @links: their servers are set, their ports are written; the links of one
 *	ring stand together, in ring order
 * @degree: only the first @degree ports of a server are used
 *
 * A link joins two ports of the same optical switch, or two ports on none.
 * Choosing the switches is an edge colouring: with simplex links and port q of
 * every server on switch q (TopoOpt, Figure 7) one always exists (König); with
 * duplex links and several switches it may not.
 *
 * Return: 0, -ENOMEM, or -ENOSPC with the link that did not fit.
 */
int to_crossconnect_assign(const struct to_cluster *cluster,
			   struct to_link *links, unsigned int n_links,
			   unsigned int degree, struct to_error *err);

/**
 * to_crossconnect_assign_most() - assign ports, and drop links for MP transfers that do not fit
 * @n_links: less those that were taken out of @links
 *
 * They only shorten paths; all others are needed.
 *
 * Return: as to_crossconnect_assign().
 */
int to_crossconnect_assign_most(const struct to_cluster *cluster,
				struct to_link *links, unsigned int *n_links,
				unsigned int degree, struct to_error *err);

/**
 * to_crossconnect_reassign() - assign ports so that few cross-connects move
 * @now: present links, with their ports
 * @links: new ones; get ports on optical switches only
 *
 * Ports of a server on one switch are alike, so a link stays where it is when
 * there is one between the same servers on the same switch before and after. The
 * number of links that stay is the largest there is for any choice of switches,
 * when a search of limited length can prove it, which with one switch or few
 * links it can; else it is a local optimum under exchanges of two switches along
 * a chain of links (Kempe).
 *
 * Return: as to_crossconnect_assign().
 */
int to_crossconnect_reassign(const struct to_cluster *cluster, const struct to_link *now,
			     unsigned int n_now, struct to_link *links, unsigned int n_links,
			     struct to_error *err);

/**
 * to_crossconnect_reassign_most() - assign ports so that few cross-connects move, and drop links
 *	that do not fit
 * @links: needed ones first, then the more wanted; those with ports, together, can
 *	have them, and begin there; all others have TO_PORT_NONE
 * @n_needed: the first so many must fit
 * @n_links: less those that were taken out of @links
 *
 * Where to_crossconnect_reassign() finds switches for all, it may move fewer.
 *
 * Return: as to_crossconnect_assign().
 */
int to_crossconnect_reassign_most(const struct to_cluster *cluster, const struct to_link *now,
				  unsigned int n_now, struct to_link *links, unsigned int n_needed,
				  unsigned int *n_links, struct to_error *err);

#endif
