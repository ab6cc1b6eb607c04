/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DEVICE_VIEW_H
#define TOPOOPT_DEVICE_VIEW_H

/* A topoopt device as it is now, with its ports and, on request, its routes. */

#include <jansson.h>

#include "base/error.h"
#include "kernel/diff.h"
#include "kernel/genl.h"
#include "kernel/peers.h"

/** struct to_device_view - a device that is looked at */
struct to_device_view {
	struct to_genl genl;
	struct to_diff_names names;	/* of all interfaces */
	struct to_nic *nics;		/* behind @names */
	struct to_device device;
	struct to_kernel_port *ports;
	struct to_peer *peers;
	unsigned int n_ports, n_peers;	/* numbers of @ports and @peers */
};

/**
 * to_device_view_open() - read a device, its ports and its neighbours
 * @device: name of the topoopt device
 *
 * Return: 0; -ENODEV or another negative errno with @err and nothing to close.
 */
int to_device_view_open(struct to_device_view *view, const char *device, struct to_error *err);

/** to_device_view_close() - free all that was read */
void to_device_view_close(struct to_device_view *view);

/** to_device_view_json() - return the device with its counters, ports and neighbours, or NULL */
json_t *to_device_view_json(const struct to_device_view *view);

/** to_device_view_ports_json() - return an array of the ports, or NULL */
json_t *to_device_view_ports_json(const struct to_device_view *view);

/** to_device_view_counters_json() - return counters by device and port, or NULL */
json_t *to_device_view_counters_json(const struct to_device_view *view);

/** to_device_view_drops() - return the sum of counters of dropped packets */
uint64_t to_device_view_drops(const uint64_t *counters);

/**
 * to_device_view_routes() - read the routes of the active table
 * @route: called for each; @group is NULL for a route without next hops
 * @generation: gets the table's generation before the first call of @route
 *
 * Return: 0, or a negative errno with @err.
 */
int to_device_view_routes(struct to_device_view *view, uint64_t *generation,
			  void (*route)(void *data, const struct to_kernel_route *route,
					const struct to_kernel_group *group),
			  void *data, struct to_error *err);

#endif
