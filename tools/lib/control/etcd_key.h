/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETCD_KEY_H
#define TOPOOPT_ETCD_KEY_H

/*
 * The keys of a cluster in etcd, below its prefix:
 *
 *	controller		the controller, as etcd_owner.h names a process; has a lease
 *	request/decision	the last request that changes tables. Who was
 *				away follows it when coming back
 *	request/decision/SHARD	the same of agents that "servers" names alone
 *	request/query		the last hello, sample or inventory
 *	request/look		the last look, inventory or sample of an observer, who is no controller
 *	plans/GENERATION/job, plans/GENERATION/cluster, plans/GENERATION/rest,
 *	plans/GENERATION/tables/SERVER
 *				parts of the plan staged as GENERATION (etcd_blob.h)
 *	plans/shards/SHARD/GENERATION/...
 *				the same of such a decision
 *	agents/SERVER/owner	the server's agent, as etcd_owner.h names a process; has a lease
 *	agents/SERVER/state	last reply of its agent; has the same lease
 *	agents/SERVER/matrix	last sample; has the same lease
 *	agents/SERVER/look	last answer to an observer, or to an inventory; has the same lease
 *	agents/SERVER/rival	another one that wanted to be; has a lease
 *	shards/			the state of a cluster that jobs share (shards_store.h); not for agents
 *	samples/SERVER/state, samples/SERVER/matrix, samples/SERVER/look
 *				a reply that one value does not hold, in parts; the key
 *				above then has "id", "ok" and "large": true. Same lease
 */

#include <stdbool.h>
#include <stdint.h>

#define TO_ETCD_CONTROLLER "controller"
#define TO_ETCD_OBSERVER "observer"	/* role without a key of that name */
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

/** A generation behind all others. */
#define TO_ETCD_PLAN_LAST UINT64_MAX

/**
 * to_etcd_key_plan() - Write the key of a part of a plan
 * @shard: whose plan, NULL for that of all
 * @generation: as which it is staged
 * @what: "job", "cluster", "rest" or "tables/"
 * @server: its name for tables, else empty
 *
 * Return: @key.
 */
const char *to_etcd_key_plan(char key[256], const char *shard, uint64_t generation,
			     const char *what, const char *server);

/** to_etcd_key_decision() - Write the key of the decision for @shard, NULL for all; returns @key */
const char *to_etcd_key_decision(char key[256], const char *shard);

/** to_etcd_key_is_decision() - Tell whether @key, below TO_ETCD_REQUESTS, is that of a decision */
bool to_etcd_key_is_decision(const char *key);

/**
 * to_etcd_key_role() - Name a role that may read or write a key, below the prefix
 * @key: below the prefix
 * @write: whether it is to be written
 *
 * Return: @role: "controller", "observer" or "agents/SERVER".
 */
const char *to_etcd_key_role(char role[256], const char *key, bool write);

/** to_etcd_key_sample() - Write the key of the parts of a large reply; returns @key */
const char *to_etcd_key_sample(char key[256], const char *server, const char *what);

#endif
