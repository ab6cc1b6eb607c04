/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_JOB_SETTING_H
#define TOPOOPT_JOB_SETTING_H

/* What a study of one job is asked to simulate. */

#include <stdbool.h>
#include <stdint.h>

#include "data/taskgraph.h"
#include "simulate/network.h"
#include "study/packet_level.h"

#define TO_STUDY_UNSAID (-1)	/* the fabric's own routing or algorithm */

struct to_simulated;

/** struct to_job_setting - one workload on one fabric */
struct to_job_setting {
	const char *fabric;		/* "topoopt", a name of to_router_named(), or a file */
	const char *plan;		/* file of a plan, or NULL */
	const char *job;		/* file of a job, or NULL */
	const char *model;		/* file of a model, or NULL */
	char *const *traces;		/* files of Chakra traces, one a rank */
	uint32_t n_traces;
	uint64_t servers;		/* that train the model, 0: as the plan or file has */
	uint64_t degree;		/* ports of a server, 0: as the plan has */
	uint64_t bandwidth;		/* of a port, bits/s, 0: as the plan has, else 100G */
	int routing;			/* enum to_spread, or TO_STUDY_UNSAID */
	int algorithm;			/* enum to_algorithm, or TO_STUDY_UNSAID */
	struct to_delays delays;
	uint64_t iterations;		/* 0 for the level's default */
	const char *stragglers;		/* for to_stragglers_parse(), or NULL */
	const char *placement;		/* "search", "sip", or for to_given_strategy() */
	uint64_t batch;			/* samples of a GPU, 0: as the model says */
	uint64_t budget;		/* strategies that the search tries */
	uint64_t seed;			/* of searches, hashes, marks and stragglers */
	const char *prices;		/* prices.json, or NULL for the paper's */
	bool large;			/* allow more than TO_SERVERS_USUAL servers */
	bool record;			/* record how busy links are over an iteration */
	bool packet_level;		/* simulate packets, not flows */
	struct to_packet_level_options packets;

	/* Called now and then with what is done of all; not 0 ends the study. */
	int (*watch)(void *data, unsigned int done, unsigned int all);
	/* Called after each iteration but the last. Return: 0, or negative with @err set. */
	int (*iterated)(void *data, const struct to_simulated *result, struct to_error *err);
	void *data;			/* for both */
};

#endif
