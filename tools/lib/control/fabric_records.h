/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FABRIC_RECORDS_H
#define TOPOOPT_FABRIC_RECORDS_H

/*
 * The agents' recordings of one interval, and which of them count. An agent may
 * send anything: what is not the recording of its own server, of this plan and of
 * this time is told apart from the others', and costs that server's part alone.
 */

#include <stdint.h>

#include "base/error.h"
#include "data/plan.h"
#include "data/tm.h"
#include "format/tm_json.h"
#include "measure/tm_live.h"

/**
 * struct to_fabric_records - recordings of one interval
 * @cluster: the servers of the fabric
 * @names: theirs, NULL when all recordings list them
 * @plan: that is in force, NULL when it is not known; then links are not checked
 * @interval_ns: as asked for
 * @until_ns: CLOCK_REALTIME; when the interval was to end
 * @records: per server, owned, NULL: none
 */
struct to_fabric_records {
	const struct to_cluster *cluster;
	const struct to_tm_names *names;
	const struct to_plan *plan;
	uint64_t interval_ns, until_ns;
	struct to_tm **records;
};

/** to_fabric_records_init() - none yet; 0 or -ENOMEM. The caller sets the rest. */
int to_fabric_records_init(struct to_fabric_records *records, const struct to_cluster *cluster);
void to_fabric_records_free(struct to_fabric_records *records);

/**
 * to_fabric_records_add() - take what the agent of @server sent
 * @text: of tm.json, @len bytes
 *
 * Return: 0, also when there is no sample in it; -EPROTO with @err when it is not what
 * that agent was asked for.
 */
int to_fabric_records_add(struct to_fabric_records *records, unsigned int server,
			  const char *text, size_t len, struct to_error *err);

/**
 * to_fabric_records_merge() - the matrix of those that agree, and of those before
 * @errors: per server, gets why its recording does not count; else left alone
 * @live: of the intervals before, NULL: none; it begins anew under another plan or with
 *	other links, and intervals that had not settled by then are dropped
 * @tm: the samples that settled now, perhaps none, of the fabric's servers in their
 *	order; NULL when there is no recording
 *
 * Those agree that began in one interval under one plan, which are the most. The length of
 * an interval is the median of theirs. Return: 0 or a negative errno with @err.
 */
int to_fabric_records_merge(struct to_fabric_records *records, char (*errors)[256],
			    struct to_tm_live **live, struct to_tm **tm, struct to_error *err);

#endif
