/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_JOB_STUDY_H
#define TOPOOPT_JOB_STUDY_H

/* Iterations of one job on one fabric: make what is missing, simulate, sum up. */

#include "study/job_setting.h"
#include "study/simulated.h"

struct to_job_study;

/**
 * to_job_study_new() - read inputs, and make the plan, strategy and network that are missing
 * @setting: outlives the study
 *
 * A plan is made for the fabric topoopt: as toctl plan makes it for a job, as toctl
 * parallelize does for a model. On other fabrics a model gets the strategy that is fastest
 * there. Where links change while an iteration runs, strategies are chosen on one switch.
 *
 * Return: the study, for to_job_study_free(); NULL with @err set.
 */
struct to_job_study *to_job_study_new(const struct to_job_setting *setting, struct to_error *err);
void to_job_study_free(struct to_job_study *study);

/**
 * to_job_study_run() - simulate the iterations
 *
 * One iteration is enough unless hashes, marks or stragglers differ from one to the next.
 * When @setting.watch ends the study, iterations that are done count.
 *
 * Return: what they were, good as long as @study; NULL with @err set, also when none is done.
 */
const struct to_simulated *to_job_study_run(struct to_job_study *study, struct to_error *err);

#endif
