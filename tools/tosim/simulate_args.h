/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SIMULATE_ARGS_H
#define TOPOOPT_SIMULATE_ARGS_H

/* Arguments of tosim simulate: its options, what they may be together, what they mean. */

#include "study_args.h"
#include "packet_args.h"
#include "rank_args.h"
#include "study/rank_study.h"

/** enum to_simulate_level - what is simulated */
enum to_simulate_level { TO_SIMULATE_FLOWS, TO_SIMULATE_PACKETS };

/** struct to_simulate_args - arguments of the options */
struct to_simulate_args {
	const char *model, *job, *output, *report, *stragglers, *placement;
	uint64_t servers, degree, bandwidth, iterations, batch;
	int level;			/* enum to_simulate_level */
	bool chakra;			/* operands are traces, and at most one plan */
	struct to_study_args fabric;
	struct to_packet_args packets;
	struct to_rank_args rank;
};

extern const struct to_option to_simulate_options[];
extern const struct to_simulate_args to_simulate_defaults;

/** struct to_simulate_operands - what the operands are; @traces is for free() */
struct to_simulate_operands {
	const char *plan;		/* file of a plan, or NULL */
	char **traces;			/* files of Chakra traces */
	uint32_t n_traces;
};

/** to_simulate_find_operands() - tell traces from the plan; 0, or for run() to return */
int to_simulate_find_operands(struct to_call *call, const struct to_simulate_args *args,
			      struct to_simulate_operands *operands);

/**
 * to_simulate_read() - check arguments of a study of one job, and make its setting
 * @setting: without callbacks
 *
 * Return: 0, or to_usage(), for run() to return.
 */
int to_simulate_read(struct to_call *call, const struct to_simulate_args *args,
		     const struct to_simulate_operands *operands,
		     struct to_job_setting *setting);

/** to_simulate_read_rank() - check arguments of --network, and make its study */
int to_simulate_read_rank(struct to_call *call, const struct to_simulate_args *args,
			  struct to_rank_study *study);

#endif
