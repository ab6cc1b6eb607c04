/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NETWORK_JSON_H
#define TOPOOPT_NETWORK_JSON_H

/* network.json: servers, packet switches and links of anybody's own. */

#include <stddef.h>

#include "simulate/network.h"

/**
 * to_network_load() - read network.json
 * @latency: of links that do not say theirs, seconds
 *
 * Return: the network, all of whose servers reach each other; NULL with @err set.
 */
struct to_network *to_network_load(const char *path, double latency, struct to_error *err);

/** to_network_parse() - network.json from memory; @name is for errors */
struct to_network *to_network_parse(const char *data, size_t len, const char *name,
				    double latency, struct to_error *err);

#endif
