/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CONTINUITY_JSON_H
#define TOPOOPT_CONTINUITY_JSON_H

/* "checks" of cluster.json and plan.json: how servers check that their links pass frames. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/json.h"
#include "data/cluster.h"

/** to_continuity_read() - read "checks" into a struct to_cluster at offset 0 that has its servers */
int to_continuity_read(const struct to_json *at, void *to);

/**
 * to_continuity_print() - print a comma and "checks" as a JSON member
 *
 * What has its default is left out, and all of it when nothing else is left. A file that gets a key is hidden from others.
 */
void to_continuity_print(FILE *out, const struct to_cluster *cluster);

/**
 * to_continuity_json() - return "checks" as an object; NULL: all is by the defaults, or no memory
 * @unable: per server, whether it sends no checks, beside those of @cluster; or NULL
 */
json_t *to_continuity_json(const struct to_cluster *cluster, const bool *unable);

#endif
