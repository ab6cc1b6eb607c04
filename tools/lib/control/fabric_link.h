/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FABRIC_LINK_H
#define TOPOOPT_FABRIC_LINK_H

/* How a controller's requests get to the agents; fabric.c knows what they mean. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/fabric_server.h"
#include "data/plan.h"

#define TO_FABRIC_LOOK_NS 250000000ull

/**
 * struct to_fabric_call - one request to many agents
 * @request: see agent.h, with an "id" that no other has
 * @query: it changes nothing and will be made again: nobody waits for an agent that owes the
 *	reply to the last one
 * @plan: every server's part goes with it, of which @request has what all get; NULL: none
 * @once: number of @plan, whose parts go to agents alone that have not got them yet; 0: to all
 * @who: servers to ask
 * @deadline_ns: CLOCK_MONOTONIC
 * @limit_ns: of agents that have begun to reply by then; not before @deadline_ns
 * @look: called every TO_FABRIC_LOOK_NS while agents are waited for, NULL: never. It may make
 *	another call to agents that have answered
 * @data: of @look
 * @look_ns: CLOCK_MONOTONIC, not before
 * @lost: per server, set by @look: nobody waits for its agent any more
 * @replies: per server; stays NULL where none came
 * @errors: per server, why
 */
struct to_fabric_call {
	json_t *request;
	const struct to_plan *plan;
	uint64_t once;
	bool query;
	const bool *who;
	uint64_t deadline_ns, limit_ns;
	void (*look)(void *data);
	void *data;
	uint64_t look_ns;
	const bool *lost;
	json_t **replies;
	char (*errors)[256];
};

/**
 * struct to_fabric_link - connections to the agents
 * @call: carry out a request on all of to_fabric_call.who at once. Return: 0
 *	also when agents did not answer; a negative errno with @err when
 *	nothing can be asked
 * @generation: the latest of the last decision, when it was opened or another
 *	controller may have made it
 * @controller: who controls the fabric while it is only observed, or ""
 * @staged, @committed: that one ended before it had decided whether to commit,
 *	before it had confirmed
 * @learns: agents that are started get to know by themselves what was decided
 * @forgot: what was decided last is not known to agents that are started: etcd was set back
 * @late_ns: what the slowest agent took that owed a reply and gave it since this was zeroed
 */
struct to_fabric_link {
	uint64_t generation, late_ns;
	char controller[320];
	bool staged, committed, learns, forgot;
	int (*call)(struct to_fabric_link *link, const struct to_fabric_call *call,
		    struct to_error *err);
	void (*close)(struct to_fabric_link *link);
};

/*
 * Both borrow @cluster and the strings of their options until they are closed.
 */

/** to_fabric_pipes() - agents started by a command each; see fabric_pipe.c */
struct to_fabric_link *to_fabric_pipes(const struct to_cluster *cluster,
				       const char *command, struct to_error *err);

/** to_fabric_cluster() - agents reached through etcd; see fabric_etcd.c */
struct to_fabric_link *to_fabric_cluster(const struct to_cluster *cluster,
					 const struct to_fabric_options *options,
					 struct to_error *err);

#endif
