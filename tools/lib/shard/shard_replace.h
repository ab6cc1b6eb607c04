/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARD_REPLACE_H
#define TOPOOPT_SHARD_REPLACE_H

/* A broken server of a shard out, a spare in. */

#include "shard/shards.h"

/**
 * to_shard_replace() - the plan of @shard with another server in the place of @server
 * @spare: its name; NULL: the one for which the fewest cross-connects move, of these the
 *	nearest on the optical switches
 *
 * The spare has as many ports, as fast, each on the same optical switch as the one that it
 * stands for. Links, rings, tables and ranks of all other servers stay; so the moves are
 * the links of @server, and those that the spare has.
 *
 * Return: the plan, NULL with @err.
 */
struct to_plan *to_shard_replace(const struct to_shards *s, const struct to_shard *shard,
				 const char *server, const char *spare, struct to_error *err);

/**
 * to_shard_replace_server() - give the shard of a server its to_shard_replace() as next plan
 *
 * Drains the server. Return: the shard, which must be settled; NULL with @err. Not saved yet.
 */
struct to_shard *to_shard_replace_server(struct to_shards *s, const char *server,
					 const char *spare, struct to_error *err);

#endif
