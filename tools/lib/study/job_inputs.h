/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_JOB_INPUTS_H
#define TOPOOPT_JOB_INPUTS_H

/* Files of a study of one job: a plan, a workload, prices. */

#include "cost/prices.h"
#include "data/plan.h"
#include "study/job_setting.h"
#include "workload/chakra_replay.h"
#include "workload/dnn_model.h"

/** struct to_job_inputs - what the files have, and servers and ports that follow */
struct to_job_inputs {
	struct to_plan *plan;		/* or NULL */
	struct to_demand *job;		/* of the job or the traces, or NULL */
	struct to_dnn_model *model;	/* or NULL */
	struct to_replay replay;	/* of the traces */
	struct to_prices *prices;
	uint32_t n_servers;
	unsigned int degree;		/* ports of a server, 0 if nothing says */
	uint64_t bandwidth;		/* of a port, bits/s */
};

/**
 * to_job_inputs_load() - read the files that @setting names
 * @in: overwritten; for to_job_inputs_free(), also on failure
 *
 * Return: 0, or a negative errno with @err set: no such file, files for different numbers of
 * servers, a plan whose servers have different ports where these are asked for.
 */
int to_job_inputs_load(struct to_job_inputs *in, const struct to_job_setting *setting,
		       struct to_error *err);
void to_job_inputs_free(struct to_job_inputs *in);

#endif
