/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_SHARD_JOB_H
#define TOCTL_SHARD_JOB_H

/* The job that a shard is for, as commands are told of it. */

#include "base/effort.h"
#include "cli/command.h"
#include "data/demand.h"
#include "shard/shards.h"

/** struct to_shard_job - see TO_SHARD_JOB_OPTIONS; @fixed, @on and @servers: not of all commands */
struct to_shard_job {
	const char *job, *on;
	uint64_t servers, effort, seed;
	bool fixed, rings;
};

/** @member: a struct to_shard_job of @type */
#define TO_SHARD_JOB_OPTIONS(type, member) \
	{ "job", 'j', TO_OPTION_STRING, offsetof(type, member.job), .required = true, \
	  .argument = "FILE", .help = "traffic of one training iteration" }, \
	{ "rings", 0, TO_OPTION_FLAG, offsetof(type, member.rings), \
	  .help = "AllReduce on rings alone, for clients that know no trees (MPI, NCCL)" }, \
	{ "effort", 'e', TO_OPTION_NUMBER, offsetof(type, member.effort), .argument = "E", \
	  .min = TO_EFFORT_MIN, .max = TO_EFFORT_MAX, \
	  .help = "1 to 9: better plans for more time, which each step doubles; default: 5" }, \
	{ "seed", 's', TO_OPTION_NUMBER, offsetof(type, member.seed), .argument = "S", \
	  .max = INT64_MAX, .help = "random seed; same state and seed, same plan; default: 1" }

/** How many servers, and which, for commands that choose them */
#define TO_SHARD_JOB_SERVERS_OPTIONS(type, member) \
	{ "servers", 'n', TO_OPTION_NUMBER, offsetof(type, member.servers), .argument = "K", \
	  .min = 2, .max = TO_SERVERS_MAX, .help = "refuse a job that has not K servers" }, \
	{ "on", 0, TO_OPTION_STRING, offsetof(type, member.on), .argument = "NAME[,NAME...]", \
	  .help = "on these servers, in the job's order; default: chosen" }

#define TO_SHARD_JOB_DEFAULTS { .effort = TO_EFFORT_DEFAULT, .seed = 1 }

/** to_shard_job_load() - its demand; NULL with call->err */
struct to_demand *to_shard_job_load(struct to_call *call, const struct to_shard_job *job);

/**
 * to_shard_job_plan() - a plan for it, as shard @name
 * @of: the shard whose next plan that is; NULL: a new one. Where nobody names servers it
 *	keeps its own, the first ones when it has too many, and gets others near its last
 *
 * Return: the plan, NULL with call->err.
 */
struct to_plan *to_shard_job_plan(struct to_call *call, const struct to_shard_job *job,
				  const struct to_shards *s, const char *name,
				  const struct to_shard *of, const struct to_demand *demand);

#endif
