/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RECORD_H
#define TOPOOPT_RECORD_H

/* Records the traffic of this server into samples: one side of tm.json. */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/plan.h"
#include "data/tm.h"
#include "measure/counters.h"
#include "measure/traffic_programs.h"

/**
 * struct to_record_config - what to record
 * @server: index in the plan
 * @generation: under which the plan's table is known to be active, 0: not known
 * @device: name of the topoopt device
 * @interval_ns: length of a sample; samples start at its multiples by
 *	CLOCK_REALTIME, on all servers alike
 * @count: samples, 0 for as many as come until @stop
 * @entries: see to_traffic_config
 * @counter_names: see to_counters_open()
 * @stop: set by a signal handler; ends the sample under way and the recording
 * @started: called with to_traffic_programs_source() when the first sample starts
 */
struct to_record_config {
	const struct to_plan *plan;
	unsigned int server;
	uint64_t generation;
	const char *device;
	uint64_t interval_ns, count;
	enum to_traffic_source source;
	uint32_t entries;
	const struct to_counter_names *counter_names;
	const volatile sig_atomic_t *stop;
	void (*started)(const char *source, void *arg);
	void *arg;
};

/**
 * to_record() - record
 * @tm: the recording, also when it ended early (then with what came before)
 *
 * The active table of the device must be the plan's; the recording ends when
 * another becomes active, as server indices may mean others then.
 *
 * Return: 0, or a negative errno with @err; -ESTALE when the table changed.
 */
int to_record(const struct to_record_config *config, struct to_tm **tm,
	      struct to_error *err);

/** struct to_recorder - a recording that is made one sample at a time */
struct to_recorder;

/**
 * to_recorder_open() - count from now on
 * @config: without count, stop and started; copied, but not what it points to. The plan
 *	is held (to_plan_hold())
 *
 * Return: NULL with @err: the active table is not the plan's, no permission.
 */
struct to_recorder *to_recorder_open(const struct to_record_config *config,
				     struct to_error *err);
void to_recorder_close(struct to_recorder *recorder);

/**
 * to_recorder_follow() - go on under another plan, whose table is active now
 * @plan: of the same servers; what was counted before is dropped
 * @generation: as in the config
 *
 * Loading the programs anew takes a hundred times as long.
 *
 * Return: 0, or a negative errno with @err; then it can only be closed. -EOPNOTSUPP:
 * ports are other interfaces now, or the programs depend on the links.
 */
int to_recorder_follow(struct to_recorder *recorder, const struct to_plan *plan,
		       uint64_t generation, struct to_error *err);

/**
 * to_recorder_cut() - end a sample, which to_recorder_tm() then has, and start
 *	the next
 *
 * Return: 0, or a negative errno with @err; -ESTALE when the table changed.
 */
int to_recorder_cut(struct to_recorder *recorder, struct to_error *err);

/** to_recorder_tm() - the recording so far, owned by @recorder */
struct to_tm *to_recorder_tm(const struct to_recorder *recorder);

/** to_recorder_drop() - forget the last sample */
void to_recorder_drop(struct to_recorder *recorder);

#endif
