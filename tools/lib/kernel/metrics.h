/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_METRICS_H
#define TOPOOPT_METRICS_H

/*
 * Counters and state of topoopt devices as metrics. Time series are per counter, port and
 * neighbour: their number does not grow with the fabric.
 */

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"
#include "kernel/genl.h"
#include "kernel/peers.h"
#include "kernel/link_counters.h"

/** enum to_metrics_format - of to_metrics_print() */
enum to_metrics_format {
	TO_METRICS_OPENMETRICS,		/* OpenMetrics 1.0 */
	TO_METRICS_PROMETHEUS,		/* Prometheus text 0.0.4, for node_exporter */
};

/** struct to_metrics_device - a topoopt device, its ports and its neighbours */
struct to_metrics_device {
	struct to_device device;
	bool up;			/* the interface is set up */
	struct to_kernel_port *ports;
	struct to_link_end *links;	/* what the NICs of @ports count */
	struct to_peer *peers;
	unsigned int n_ports, n_peers;
};

/** struct to_metrics - what was read; @version is that of the tool */
struct to_metrics {
	const char *version;
	struct to_metrics_device *devices;
	unsigned int n_devices;
};

/**
 * to_metrics_read() - read all topoopt devices of the network namespace
 * @device: only the one of this name, NULL for all
 *
 * Needs no privilege. Return: 0, or a negative errno: -ENODEV when @device is
 * not there, -ENOENT without the module.
 */
int to_metrics_read(struct to_metrics *metrics, const char *device,
		    struct to_error *err);
void to_metrics_free(struct to_metrics *metrics);

/** to_metrics_print() - all families, even those without a sample */
void to_metrics_print(const struct to_metrics *metrics,
		      enum to_metrics_format format, FILE *out);

/** to_metrics_json() - the same as an array of families */
json_t *to_metrics_json(const struct to_metrics *metrics);

#endif
