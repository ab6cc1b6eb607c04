/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_AGENT_LOOK_H
#define TOPOOPT_AGENT_LOOK_H

/* What an agent tells who looks at its server. */

#include <jansson.h>

#include "base/error.h"
#include "measure/counters.h"

/**
 * to_agent_look() - counters of a topoopt device and its ports
 * @names: see to_counters_open()
 * @reply: gets "time_ns" (CLOCK_MONOTONIC), "device" (its ifindex), "backups" (groups of
 *	which a backup is in use), "counters", and "ports": "name", "live", "rx_bytes" and
 *	"tx_bytes" of the NIC, "counters"
 *
 * Changes nothing. Return: 0, also when there is no such device, and then no more than the
 * time is told; a negative errno with @err.
 */
int to_agent_look(const char *device, const struct to_counter_names *names, json_t *reply,
		  struct to_error *err);

#endif
