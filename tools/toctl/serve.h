/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SERVE_H
#define TOPOOPT_SERVE_H

#include "base/error.h"

/**
 * to_serve_metrics() - answer GET /metrics until SIGINT or SIGTERM
 * @address: "PORT", "ADDRESS:PORT" or "[ADDRESS]:PORT", addresses in numbers
 * @device: topoopt device, NULL for all
 *
 * Reads the counters anew for every request.
 */
int to_serve_metrics(const char *address, const char *device, struct to_error *err);

#endif
