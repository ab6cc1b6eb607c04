/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_AGENT_LOOK_H
#define TOPOOPT_AGENT_LOOK_H

/* What an agent tells who looks at its server. */

#include <jansson.h>

#include "base/error.h"
#include "kernel/genl.h"
#include "measure/counters.h"

/**
 * struct to_agent_seen - the table of the last look, zeroed before the first
 * @device: whose it was: its ifindex
 * @generation: what is active under one does not change
 * @digest: see to_table_digest()
 */
struct to_agent_seen {
	uint32_t device;
	uint64_t generation, digest;
};

/**
 * to_agent_look() - counters of a topoopt device and its ports
 * @names: see to_counters_open()
 * @seen: spares reading the same table twice
 * @reply: gets "time_ns" (CLOCK_MONOTONIC), "device" (its ifindex), "table" (digest of the
 *	active one, 16 hexadecimal digits; see table_digest.h), "backups" (groups of which a
 *	backup is in use), "counters", "up" (whether the device is), and "ports": "name", "live",
 *	"light" (older agents say it by "live"), "mtu" of what the port transmits through,
 *	"rx_bytes" and "tx_bytes" of the NIC, "mbits" where its rate is known (see
 *	to_sysfs_mbits()), "link" (see to_link_end_json()), "counters"
 *
 * Changes nothing. Return: 0, also when there is no such device, and then no more than the
 * time is told; a negative errno with @err.
 */
int to_agent_look(const char *device, const struct to_counter_names *names,
		  struct to_agent_seen *seen, json_t *reply, struct to_error *err);

/** to_agent_look_lit() - tell by socket @fd whether a port, and what it transmits through, have light */
bool to_agent_look_lit(int fd, const struct to_kernel_port *port);

#endif
