/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STUDY_ARGS_H
#define TOPOOPT_STUDY_ARGS_H

/* Options of commands that simulate on a fabric. */

#include "cli/large.h"
#include "data/plan.h"
#include "plan/parallelize.h"
#include "simulate/router_named.h"
#include "study/job_setting.h"

/** struct to_study_args - arguments of the options; start as TO_STUDY_DEFAULTS */
struct to_study_args {
	const char *fabric;		/* name, or file of a network */
	const char *prices;		/* file, or NULL */
	uint64_t latency, relay_latency, step_latency;	/* ns */
	uint64_t budget, seed;
	int routing, algorithm;		/* or TO_STUDY_UNSAID */
	bool large;
};

#define TO_STUDY_DEFAULTS \
	{ .fabric = "topoopt", .latency = 1000, .relay_latency = TO_RELAY_LATENCY_DEFAULT, \
	  .step_latency = TO_STEP_LATENCY_DEFAULT, .budget = TO_PARALLELIZE_BUDGET, .seed = 1, \
	  .routing = TO_STUDY_UNSAID, .algorithm = TO_STUDY_UNSAID }

/**
 * TO_STUDY_OPTIONS - rows of a command's option table
 * @type: arguments of the command
 * @member: member of @type that is a struct to_study_args
 */
#define TO_STUDY_OPTIONS(type, member) \
	{ "fabric", 0, TO_OPTION_STRING, offsetof(type, member.fabric), .argument = "FABRIC", \
	  .help = "what joins servers, listed in tosim-simulate(8); default: topoopt" }, \
	{ "routing", 0, TO_OPTION_CHOICE, offsetof(type, member.routing), \
	  .choices = to_spread_names, .advanced = true, \
	  .help = "choice of shortest paths on other fabrics; default: hash on fat-tree and expander, else spray" }, \
	{ "algorithm", 0, TO_OPTION_CHOICE, offsetof(type, member.algorithm), \
	  .choices = to_algorithm_names, .advanced = true, \
	  .help = "AllReduce on other fabrics; default: ring-both-ways on direct links, else ring" }, \
	{ "latency", 0, TO_OPTION_DURATION, offsetof(type, member.latency), .argument = "TIME", \
	  .max = 1000000000, .advanced = true, .help = "latency of a link; default: 1us" }, \
	{ "relay-latency", 0, TO_OPTION_DURATION, offsetof(type, member.relay_latency), \
	  .argument = "TIME", .max = 1000000000, .advanced = true, \
	  .help = "latency of a server that relays; default: 1350ns" }, \
	{ "step-latency", 0, TO_OPTION_DURATION, offsetof(type, member.step_latency), \
	  .argument = "TIME", .max = 1000000000, .advanced = true, \
	  .help = "time to begin a step of AllReduce or an MP transfer; default: 8us" }, \
	{ "prices", 0, TO_OPTION_STRING, offsetof(type, member.prices), .argument = "FILE", \
	  .advanced = true, .help = "prices.json; default: Table 3 of the TopoOpt paper" }, \
	{ "budget", 0, TO_OPTION_NUMBER, offsetof(type, member.budget), .argument = "N", \
	  .min = 4, .max = 100000000, .advanced = true, \
	  .help = "strategies that the search tries for a model; default: 1000" }, \
	{ "seed", 's', TO_OPTION_NUMBER, offsetof(type, member.seed), .argument = "S", \
	  .max = INT64_MAX, .help = "random seed; same seed, same result; default: 1" }, \
	TO_LARGE_OPTION(offsetof(type, member.large))

/** to_study_args_delays() - convert latencies to seconds */
static inline struct to_delays to_study_args_delays(const struct to_study_args *args)
{
	return (struct to_delays){ args->latency * 1e-9, args->relay_latency * 1e-9,
				   args->step_latency * 1e-9 };
}

#endif
