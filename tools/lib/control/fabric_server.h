/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FABRIC_SERVER_H
#define TOPOOPT_FABRIC_SERVER_H

/* How the agents of a fabric are reached, and what is known of each server. */

#include <stdbool.h>
#include <stdint.h>

#include "control/etcd.h"

/**
 * struct to_fabric_options - how to reach the agents
 * @command: starts an agent that speaks on its standard input and output; split by
 *	to_argv_split(), then {} stands for the server's name. NULL: through etcd
 * @shard: what is decided is for the servers of the plan alone, under this name; NULL:
 *	for all that there are agents of. At pipes there are no others
 * @timeout_ns: how long all agents together may take for one request
 * @observe: only look: nothing but to_fabric_look(), to_fabric_inventory(),
 *	to_fabric_servers(), to_fabric_status(), to_fabric_assume() and to_fabric_sample() may
 *	be asked of the fabric; a controller may be at work meanwhile, and agents reached
 *	through etcd then refuse samples
 * @note: told of what is no failure, such as a server with two agents; may be NULL
 */
struct to_fabric_options {
	const char *command;
	struct to_etcd_options etcd;
	const char *shard;
	uint64_t timeout_ns;
	bool observe;
	void (*note)(const char *text);
};

#define TO_FABRIC_COMMAND "ssh {} toctl agent --stdio"

struct to_peer;

/**
 * struct to_fabric_server - what is known of one server
 * @name: as in the plan
 * @reached: its agent answered the last request
 * @generation: of its active table, 0 while it has none
 * @staged: it holds a prepared stage
 * @knows: its agent knows a plan to count under; so do those that do not say
 * @live: ports of the plan that are up, have carrier, and hear their neighbours where there
 *	are checks, bit by index; all of those of an agent that does not say
 * @light: ports of the plan that are up and have carrier; @live of an agent that does not say
 * @old: its agent is older than this toctl, see agent_state.h
 * @unable: it sends no continuity checks: its module or its agent is too old
 * @peers: @n_peers neighbours that its table expects, and what checks say of them; none where
 *	there are no checks
 * @error: why the last request failed here, "" when it did not; as of to_text_clean()
 */
struct to_fabric_server {
	const char *name;
	bool reached;
	uint64_t generation;
	bool staged, knows, old, unable;
	uint64_t live, light;
	struct to_peer *peers;
	unsigned int n_peers;
	char error[256];
};

#endif
