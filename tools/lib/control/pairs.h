/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PAIRS_H
#define TOPOOPT_PAIRS_H

/*
 * Traffic between pairs of servers, counted in a thread by agents of its own at pipes. The
 * counting does not follow changes of the plan: whoever sees one stops it and starts another.
 */

#include <pthread.h>

#include "control/fabric.h"
#include "plan/traffic.h"

/** struct to_pairs - the counting; zeroed while there is none */
struct to_pairs {
	struct to_plan *plan;		/* counted under this plan, which is held */
	struct to_fabric *fabric;	/* of the thread */
	uint64_t interval_ns;		/* length of a sample */
	pthread_t thread;
	pthread_mutex_t lock;		/* of the fields below */
	bool stop;			/* the thread is to end */
	struct to_traffic traffic;	/* counted since to_pairs_take() */
	char trouble[160];		/* why nothing is counted, or "" */
};

/**
 * to_pairs_start() - count until to_pairs_stop()
 * @options: how to reach the agents; its strings must outlive the counting
 * @interval_ns: length of a sample
 *
 * Return: 0, or a negative errno with @err. -EOPNOTSUPP through etcd: samples of a second
 * controller would lack what agents count for the first.
 */
int to_pairs_start(struct to_pairs *pairs, const struct to_plan *plan,
		   const struct to_fabric_options *options, uint64_t interval_ns,
		   struct to_error *err);

/** to_pairs_stop() - wait for the sample under way and stop counting, if it was started */
void to_pairs_stop(struct to_pairs *pairs);

/**
 * to_pairs_take() - take what was counted since the last call
 * @traffic: for to_traffic_free(); without bytes while there is nothing yet
 * @trouble: gets the reason why nothing is counted, or ""
 */
void to_pairs_take(struct to_pairs *pairs, struct to_traffic *traffic, char trouble[160]);

#endif
