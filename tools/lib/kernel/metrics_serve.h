/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_METRICS_SERVE_H
#define TOPOOPT_METRICS_SERVE_H

#include "base/error.h"

/**
 * to_metrics_serve() - answer GET /metrics until SIGINT or SIGTERM
 * @address: "PORT", "ADDRESS:PORT" or "[ADDRESS]:PORT", addresses in numbers
 * @device: topoopt device; NULL: all
 * @version: version of the program, a label of one metric
 * @ready: called with the address of the metrics once requests are answered, or NULL
 *
 * Reads the counters anew for every request. Return: 0, or a negative errno with @err.
 */
int to_metrics_serve(const char *address, const char *device, const char *version,
		     void (*ready)(const char *url), struct to_error *err);

#endif
