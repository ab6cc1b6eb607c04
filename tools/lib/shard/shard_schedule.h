/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARD_SCHEDULE_H
#define TOPOOPT_SHARD_SCHEDULE_H

/* How long the jobs of a trace would wait for servers and links of a shared cluster. */

#include "shard/shard_trace.h"
#include "shard/shards.h"

/**
 * enum to_shard_policy - who is next
 * @TO_SHARD_FIFO: the job that has waited longest, and nobody before it
 * @TO_SHARD_BACKFILL: also others that do not delay it, by what they said they take at most
 *	(EASY: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995)
 */
enum to_shard_policy { TO_SHARD_FIFO, TO_SHARD_BACKFILL };

/**
 * enum to_shard_switching - how links of a job are made
 * @TO_SHARD_PANEL: people or a robot move fibres, while its servers wait
 * @TO_SHARD_OCS: optical switches set all of them at once
 * @TO_SHARD_LOOK_AHEAD: those of the first job that waits are moved on second fibres behind
 *	1x2 switches, while jobs before it run on its servers; then these flip. A job that
 *	need not wait for servers has its fibres moved as on a panel
 */
enum to_shard_switching { TO_SHARD_PANEL, TO_SHARD_OCS, TO_SHARD_LOOK_AHEAD };

/** Words for both; they end with NULL. */
extern const char *const to_shard_policies[];
extern const char *const to_shard_switchings[];

/**
 * struct to_shard_schedule_options - how the cluster is run
 * @move: seconds until a cross-connect is made by hand
 * @movers: pairs of hands; each makes one after the other, job by job
 * @dark: seconds in which optical switches, or 1x2 switches, change
 * @effort: of plans
 * @watch: called with the jobs that have ended, of all; not 0 ends it. May be NULL
 */
struct to_shard_schedule_options {
	enum to_shard_policy policy;
	enum to_shard_switching switching;
	double move, dark;
	unsigned int movers, effort;
	int (*watch)(void *data, unsigned int done, unsigned int all);
	void *data;
};

/**
 * struct to_shard_run - a job of the trace
 * @granted: seconds at which it gets its servers, @ready: and its links, @end
 * @made: cross-connects that were made for it
 * @servers: indices in the cluster, ascending
 * @ahead: it overtook a job that had waited longer
 */
struct to_shard_run {
	double granted, ready, end;
	unsigned int made;
	uint32_t *servers;
	bool ahead;
};

/**
 * enum to_shard_share - what a server does at a time
 * @TO_SHARE_RUNS: a job
 * @TO_SHARE_SWITCHES: it waits for its job's links
 * @TO_SHARE_FRAGMENTED: nothing, though as many are free as the first job that waits takes:
 *	they are not on the same optical switches, or not those whose look-ahead fibres
 *	are its own
 * @TO_SHARE_FEW: nothing, for fewer are free than that job takes
 * @TO_SHARE_IDLE: nothing, and no job waits
 */
enum to_shard_share {
	TO_SHARE_RUNS, TO_SHARE_SWITCHES, TO_SHARE_FRAGMENTED, TO_SHARE_FEW, TO_SHARE_IDLE,
	TO_SHARES
};

/**
 * struct to_shard_schedule - what came out
 * @runs: per job of @trace
 * @begin: seconds, the first job is submitted; @end: the last one ends
 * @servers: of the cluster, without those that are drained
 * @shares: of @servers times (@end - @begin); their sum is 1
 */
struct to_shard_schedule {
	const struct to_shard_trace *trace;
	struct to_cluster *cluster;
	struct to_shard_run *runs;
	double begin, end, shares[TO_SHARES];
	unsigned int servers;
};

/**
 * to_shard_schedule() - run @trace on the cluster of @s, as if no shard were there
 * @s: its links are those in place at the beginning; drained servers get no job
 * @trace: outlives @schedule
 *
 * Servers are chosen and links planned as to_shard_plan() does, for an AllReduce over the
 * servers of the job, on rings; all servers of a job are on the same optical switches.
 *
 * Return: 0; -ENOSPC with @err for a job that the cluster is too small for, -EINTR when
 * @watch ended it, or another negative errno with @err. Nothing is to be freed then.
 */
int to_shard_schedule(struct to_shard_schedule *schedule, const struct to_shards *s,
		      const struct to_shard_trace *trace,
		      const struct to_shard_schedule_options *options, struct to_error *err);
void to_shard_schedule_free(struct to_shard_schedule *schedule);

/** struct to_shard_times - of all jobs, seconds; @p99: nearest rank */
struct to_shard_times {
	double mean, median, p99, max;
};

/**
 * to_shard_schedule_times() - from submission until links are there, and until the end
 *
 * Return: 0 or -ENOMEM.
 */
int to_shard_schedule_times(const struct to_shard_schedule *schedule, struct to_shard_times *waiting,
			    struct to_shard_times *completion);

#endif
