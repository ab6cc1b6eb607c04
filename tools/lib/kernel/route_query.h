/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ROUTE_QUERY_H
#define TOPOOPT_ROUTE_QUERY_H

/* What the kernel does with packets between two addresses. */

#include <jansson.h>

#include "base/error.h"
#include "kernel/genl.h"

/**
 * to_route_query() - ask a topoopt device for a route
 * @key: family, destination, and source if its src_len is not 0
 * @answer: gets the route as of to_route_json() with the "generation" of its table, to be
 *	released
 *
 * Return: 0; -ENODEV with @err: there is no device; another negative errno with @err.
 */
int to_route_query(const char *device, const struct to_kernel_route *key, json_t **answer,
		   struct to_error *err);

#endif
