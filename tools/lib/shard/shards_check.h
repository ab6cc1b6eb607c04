/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARDS_CHECK_H
#define TOPOOPT_SHARDS_CHECK_H

/* That no shard touches what another has. */

#include "shard/shards_state.h"

/** to_shards_line - what is wrong, a line without newline */
typedef void to_shards_line(void *data, const char *line);

/**
 * to_shards_check() - check the union of all shards
 * @line: called for everything that is wrong
 * @data: for @line
 *
 * - a server is in one shard only, and its addresses and ports are those of the
 *   cluster, which are unique: so no route of a shard leads to another's servers
 * - a cross-connect joins ports of the shard's own servers
 * - links of an active shard's plan are in place, and no other link through an optical
 *   switch ends at its servers
 *
 * What a plan does inside its shard, to_verify() says.
 *
 * Return: how many lines, or -ENOMEM.
 */
long to_shards_check(const struct to_shards *s, to_shards_line *line, void *data);

/**
 * to_shards_optical_owner() - whose fibre is behind a port of an optical switch
 *
 * Also the second fibre of a port, and those of its 1x2 switch.
 *
 * Return: index of the cluster's server, or -1.
 */
int to_shards_optical_owner(const struct to_cluster *cluster, unsigned int optical_switch,
			    unsigned int optical_port);

#endif
