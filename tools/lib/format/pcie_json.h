/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PCIE_JSON_H
#define TOPOOPT_PCIE_JSON_H

/* PCIe links, cards and shared cables in cluster.json. */

#include <stdio.h>

#include "base/json.h"
#include "data/cluster.h"

/** to_pcie_read() - "pcie" of a server, into a struct to_server at offset 0 */
int to_pcie_read(const struct to_json *at, void *to);

/** to_pcie_read_name() - check a name that to_pcie_read_port() resolves; stores nothing */
int to_pcie_read_name(const struct to_json *at, void *to);

/** to_pcie_read_port() - set to_port.pcie; @at: @port, an object of @server's "ports" */
int to_pcie_read_port(const struct to_json *at, const struct to_server *server,
		      struct to_port *port);

/** to_pcie_read_transit() - "transit" of a port, an enum to_transit */
int to_pcie_read_transit(const struct to_json *at, void *to);

/**
 * to_pcie_check_cables() - refuse links that a shared cable cannot have
 * @at: "links"
 *
 * All functions that share a cable lead to functions that share the cable at its other end.
 */
int to_pcie_check_cables(const struct to_json *at, const struct to_cluster *cluster);

/** to_pcie_print() - print "pcie" as a JSON member after a comma; nothing if there is none */
void to_pcie_print(FILE *out, const struct to_server *server);

/** to_pcie_print_port() - print what is set of "cable", "card", "pcie" and "transit" */
void to_pcie_print_port(FILE *out, const struct to_server *server, const struct to_port *port);

#endif
