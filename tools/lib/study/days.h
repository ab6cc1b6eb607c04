/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DAYS_H
#define TOPOOPT_DAYS_H

/* Days of jobs that share a cluster, as text, JSON and HTML. */

#include <jansson.h>

#include "shard/shard_schedule.h"

/** struct to_days - how jobs are scheduled, and how long they wait */
struct to_days {
	struct to_shard_schedule_options options;
	struct to_shard_schedule schedule;
	struct to_shard_times waiting, completion;
};

/**
 * to_days_run() - schedule @trace on the cluster of @shards
 * @s: its options are set; for to_days_free() on success
 * @trace: outlives @s
 *
 * Return: 0, or the negative errno of to_shard_schedule() with @err set.
 */
int to_days_run(struct to_days *s, const struct to_shards *shards,
		const struct to_shard_trace *trace, struct to_error *err);
void to_days_free(struct to_days *s);

/** to_days_print() - print waiting, completion and shares of servers as text */
void to_days_print(const struct to_days *s);

/** to_days_json() - make what --json prints; NULL when out of memory */
json_t *to_days_json(const struct to_days *s);

/** to_days_save() - write that JSON to @path; 0 or a negative errno */
int to_days_save(const struct to_days *s, const char *path, struct to_error *err);

/** to_days_report() - write an HTML page to @path; 0 or a negative errno */
int to_days_report(const struct to_days *s, const char *version, const char *path,
		   struct to_error *err);

#endif
