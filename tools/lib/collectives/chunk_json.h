/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHUNK_JSON_H
#define TOPOOPT_CHUNK_JSON_H

/* A schedule of chunks as JSON: schedule.json. */

#include <jansson.h>

#include "collectives/chunk_run.h"

/**
 * to_chunk_json() - @run of @s
 *
 * Its keys are in Documentation/schemas/schedule.schema.json; the caller adds how the
 * schedule was made. Return: a new object, NULL when out of memory.
 */
json_t *to_chunk_json(const struct to_chunk_schedule *s, const struct to_chunk_run *run);

#endif
