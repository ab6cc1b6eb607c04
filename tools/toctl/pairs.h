/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_PAIRS_H
#define TOCTL_PAIRS_H

/*
 * Who sends to whom, counted beside the looks at a fabric: in a thread, by agents of its
 * own at pipes. What is counted follows no change of the plan.
 */

#include <pthread.h>

#include "control/fabric.h"
#include "plan/traffic.h"

/**
 * struct to_pairs - the counting, zeroed while there is none
 * @plan: counted under, held
 * @fabric: of the thread
 * @interval_ns: of samples
 * @lock: of the members below
 * @traffic: counted since it was last taken
 * @trouble: why nothing is counted, "" when something is
 */
struct to_pairs {
	struct to_plan *plan;
	struct to_fabric *fabric;
	uint64_t interval_ns;
	pthread_t thread;
	pthread_mutex_t lock;
	bool stop;
	struct to_traffic traffic;
	char trouble[160];
};

/**
 * to_pairs_start() - count until to_pairs_stop()
 * @options: its strings must outlive the counting
 *
 * Return: 0, or a negative errno with @err: -EOPNOTSUPP through etcd, where a controller's
 * samples would lack what is counted for others.
 */
int to_pairs_start(struct to_pairs *pairs, const struct to_plan *plan,
		   const struct to_fabric_options *options, uint64_t interval_ns,
		   struct to_error *err);

/** to_pairs_stop() - also when it was not started; waits for the sample under way */
void to_pairs_stop(struct to_pairs *pairs);

/**
 * to_pairs_take() - what was counted since
 * @traffic: gets it, to be freed; without bytes when there is nothing yet
 * @trouble: gets why not, "" when there is no reason
 */
void to_pairs_take(struct to_pairs *pairs, struct to_traffic *traffic, char trouble[160]);

#endif
