/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ROUTER_NAMED_H
#define TOPOOPT_ROUTER_NAMED_H

/* Fabrics by the word that people give: all but the one of a plan. */

#include "simulate/network_named.h"
#include "simulate/router.h"

/** to_fabric_is_file() - is @word the path of a network.json? */
bool to_fabric_is_file(const char *word);

/** to_fabric_changes() - is @word one whose links change, see simulate/optical.h? */
bool to_fabric_changes(const char *word);

/** to_fabric_spread() - how bytes divide on it, unless one says so */
enum to_spread to_fabric_spread(const char *word);

/** to_fabric_algorithm() - how an AllReduce goes on it: both ways round where links are direct */
enum to_algorithm to_fabric_algorithm(const char *word);

/**
 * to_router_named() - the router of @word: a name, or the path of a network.json
 *
 * Return: NULL with @err set.
 */
struct to_router *to_router_named(const char *word, const struct to_network_setting *setting,
				  const struct to_shortest_options *options, struct to_error *err);

#endif
