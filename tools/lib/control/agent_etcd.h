/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_AGENT_ETCD_H
#define TOPOOPT_AGENT_ETCD_H

/*
 * An agent of a cluster: takes requests (agent.h) from etcd and puts replies
 * there. Keys, below the prefix:
 *
 *	controller		who decides; has a lease
 *	request/decision	the last request that changes tables. Who was
 *				away follows it when coming back
 *	request/decision/SHARD	the same of agents that "servers" names alone
 *	request/query		the last hello, sample or inventory
 *	request/look		the last look or inventory of an observer, who is no controller
 *	plans/GENERATION/job, plans/GENERATION/cluster,
 *	plans/GENERATION/tables/SERVER
 *				parts of the plan staged as GENERATION (etcd_blob.h)
 *	plans/shards/SHARD/GENERATION/...
 *				the same of such a decision
 *	agents/SERVER/owner	its agent (agent_owner.h); has a lease
 *	agents/SERVER/state	last reply of its agent; has the same lease
 *	agents/SERVER/matrix	last sample; has the same lease
 *	agents/SERVER/look	last answer to a look or inventory; has the same lease
 *	agents/SERVER/rival	another one that wanted to be; has a lease
 *	shards/			the state of a cluster that jobs share (shards_store.h); not for agents
 *	samples/SERVER/state, samples/SERVER/matrix, samples/SERVER/look
 *				a reply that one value does not hold, in parts; the key
 *				above then has "id", "ok" and "large": true. Same lease
 *
 * An inventory with "up": true changes something, so only a controller may ask for it.
 *
 * A decision is one that a controller made: "controller" is the revision in which it
 * became that, and so it was when the decision was written, as far as etcd remembers.
 * An agent follows the last one that is for it, whether of all or of some. Who may write
 * these keys is up to etcd's users (etcd_users.h).
 *
 * Decisions have two more members: "active", generation of the last plan that
 * was confirmed, or 0, and "plan", under which GENERATION its parts are. Other
 * parts are there only from a stage until it is confirmed, aborted or reverted.
 */

#include <jansson.h>
#include <signal.h>

#include "control/etcd.h"

#define TO_ETCD_CONTROLLER "controller"
#define TO_ETCD_DECISION "request/decision"
#define TO_ETCD_QUERY "request/query"
#define TO_ETCD_LOOK "request/look"
#define TO_ETCD_REQUESTS "request/"
#define TO_ETCD_PLANS "plans/"
#define TO_ETCD_AGENTS "agents/"
#define TO_ETCD_SAMPLES "samples/"
#define TO_ETCD_SHARDS "shards/"
#define TO_ETCD_OWNER "owner"
#define TO_ETCD_RIVAL "rival"

/** TO_ETCD_PLAN_LAST - a GENERATION behind all others */
#define TO_ETCD_PLAN_LAST UINT64_MAX

/** to_etcd_plan_key() - key of @what of the plan of @shard (NULL: of all) staged as @generation */
const char *to_etcd_plan_key(char key[256], const char *shard, uint64_t generation,
			     const char *what, const char *server);

/** to_etcd_decision_key() - of @shard, NULL: of all */
const char *to_etcd_decision_key(char key[256], const char *shard);

/** to_etcd_is_decision() - whether @key is one of those, below TO_ETCD_REQUESTS */
bool to_etcd_is_decision(const char *key);

/** to_etcd_sample_key() - of the parts of a large reply @what of @server */
const char *to_etcd_sample_key(char key[256], const char *server, const char *what);

/**
 * struct to_agent_etcd - what an agent of a cluster needs
 * @options: the user is that of @server, unless it is given
 * @server: its name in the plan
 * @ttl: seconds without a sign of it until it counts as dead
 * @call: carries out a request, to_agent_call() with @agent or another
 * @stop: set by a signal handler; ends to_agent_follow()
 * @note: told of trouble and its end, may be NULL
 */
struct to_agent_etcd {
	struct to_etcd_options options;
	const char *server;
	unsigned int ttl;
	json_t *(*call)(void *agent, const json_t *request);
	void *agent;
	const volatile sig_atomic_t *stop;
	void (*note)(const char *text);
};

/**
 * to_agent_follow() - do what controllers decide, until told to stop
 *
 * Return: 0, or a negative errno with @err when etcd cannot be reached or has no such
 * user at the start; when it goes away later, it waits for it to come back. -EBUSY when
 * another agent has the name of this server, at the start or later.
 */
int to_agent_follow(const struct to_agent_etcd *config, struct to_error *err);

#endif
