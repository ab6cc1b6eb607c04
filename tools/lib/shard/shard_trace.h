/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARD_TRACE_H
#define TOPOOPT_SHARD_TRACE_H

/* The jobs that users of a shared cluster submit in a day: trace.json. */

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/**
 * struct to_shard_trace_job - times in seconds
 * @place: in the file; jobs of one time are submitted in its order
 * @submit: since the trace begins
 * @run: how long it runs once its links are there
 * @limit: how long its user says that it may, as far as schedulers know; @run or more
 */
struct to_shard_trace_job {
	char name[TO_NAME_MAX];
	unsigned int place, servers;
	double submit, run, limit;
};

/** struct to_shard_trace - jobs by the time at which they are submitted */
struct to_shard_trace {
	char name[TO_NAME_MAX];
	unsigned int n;
	struct to_shard_trace_job *jobs;
};

/** to_shard_trace_parse() - trace.json from memory; @name is for errors; as to_shard_trace_load() */
int to_shard_trace_parse(struct to_shard_trace *trace, const char *data, size_t len,
			 const char *name, struct to_error *err);

/** to_shard_trace_load() - read @path; 0, or a negative errno with @err and nothing to free */
int to_shard_trace_load(struct to_shard_trace *trace, const char *path, struct to_error *err);
void to_shard_trace_free(struct to_shard_trace *trace);

#endif
