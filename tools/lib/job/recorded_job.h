/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RECORDED_JOB_H
#define TOPOOPT_RECORDED_JOB_H

/* A job that runs on the fabric of a plan while the traffic of all servers is recorded. */

#include "control/fabric.h"
#include "job/launcher.h"
#include "job/ring_report.h"

/** struct to_recorded_job - a job to run; all pointers are borrowed */
struct to_recorded_job {
	const struct to_plan *plan;	/* plan that must be valid, and active on all servers */
	const char *path;		/* file of the plan, for errors */
	struct to_launcher_job launcher;	/* what the launcher is told */
	struct to_fabric_options fabric;	/* how to reach the agents, and who gets warnings */
	uint64_t interval_ns;		/* time between two readings of the counters */
	struct to_ring_limits limits;	/* what the job may send beside its rings */
	bool json;			/* report as JSON in place of text */
};

/**
 * to_recorded_job_run() - run a command, then report on @out what its rings carried
 *
 * The command is started only when the plan is valid and active on all servers, and when the
 * traffic can be recorded. Bytes that strayed are a warning. Through etcd, the fabric is only
 * observed: a user of etcd that may look suffices, and the recording ends when a controller
 * begins.
 *
 * Return: exit status of the command, 128 + signal if a signal ended it; a negative errno with
 * @err when it was not started.
 */
int to_recorded_job_run(const struct to_recorded_job *job, char **command, FILE *out,
			struct to_error *err);

#endif
