/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_SWITCHES_JSON_H
#define TOPOOPT_PACKET_SWITCHES_JSON_H

/* Packet switches in cluster.json. to_json_doc.context is the cluster. */

#include <stdio.h>

#include "base/json.h"
#include "data/cluster.h"

/** to_packet_switches_read() - "packet_switches", into a struct to_cluster at offset 0 */
int to_packet_switches_read(const struct to_json *at, void *to);

/** to_packet_switch_read() - the name of one, into to_port.packet_switch */
int to_packet_switch_read(const struct to_json *at, void *to);

/** to_packet_switches_check_server() - refuse two ports on one; @at: ports of @server */
int to_packet_switches_check_server(const struct to_json *at, const struct to_server *server);

/**
 * to_packet_switches_check() - refuse what servers cannot be cabled or routed like
 * @at: servers of @cluster
 *
 * That is a switch with more ports on it than it has, and a server with more than
 * TO_NEIGHBOURS_MAX neighbours.
 */
int to_packet_switches_check(const struct to_json *at, const struct to_cluster *cluster);

/** to_packet_switches_print() - print them as a JSON member and a comma; nothing if there are none */
void to_packet_switches_print(FILE *out, const struct to_cluster *cluster);

#endif
