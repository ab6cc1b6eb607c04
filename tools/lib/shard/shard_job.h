/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARD_JOB_H
#define TOPOOPT_SHARD_JOB_H

/* The job of a shard, and how it is planned. */

#include "data/demand.h"
#include "shard/shards.h"

/** struct to_shard_job - a job that wants a shard; all strings are borrowed */
struct to_shard_job {
	const char *job;	/* file of its demand, for errors */
	const char *on;		/* names of servers with commas between them; NULL: chosen */
	uint64_t effort;	/* TO_EFFORT_MIN to TO_EFFORT_MAX */
	bool fixed;		/* keep the links in place */
	bool rings;		/* AllReduce on rings alone */
};

/**
 * to_shard_job_plan() - plan a job on servers of a shared cluster
 * @name: of the shard
 * @of: shard whose next plan is wanted; NULL: a new shard. Without names of servers it keeps its
 *	own servers, the first ones if it has too many, and gets more servers near its last one
 *
 * Return: the plan for to_plan_free(), NULL with @err.
 */
struct to_plan *to_shard_job_plan(const struct to_shard_job *job, const struct to_shards *s,
				  const char *name, const struct to_shard *of,
				  const struct to_demand *demand, struct to_error *err);

#endif
