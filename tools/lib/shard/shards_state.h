/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARDS_STATE_H
#define TOPOOPT_SHARDS_STATE_H

/*
 * The state of a cluster that several jobs share, in a directory or in etcd (shards_store.h):
 *
 *	cluster.json		all servers, ports and optical switches
 *	shards.json		the shards, and the links that are in place now
 *	plans/NAME.N.json	a plan that shard NAME has since generation N
 *
 * shards.json is replaced whole, after the plans that it names are written: what is
 * killed leaves the state before or the one after. A shard is a job's part of the
 * cluster; servers that no shard has are free.
 */

#include "data/plan.h"

/**
 * enum to_shard_state - how far a shard is
 * @TO_SHARD_PLANNED: its servers are taken; no fibre was moved, no table set
 * @TO_SHARD_CHANGING: fibres are in place; switches and tables may be set or not
 * @TO_SHARD_ACTIVE: its plan is active on all its servers
 * @TO_SHARD_REMOVING: some of its servers may have no table any more
 */
enum to_shard_state {
	TO_SHARD_PLANNED, TO_SHARD_CHANGING, TO_SHARD_ACTIVE, TO_SHARD_REMOVING
};

/** Words for enum to_shard_state; ends with NULL. */
extern const char *const to_shard_states[];

/**
 * struct to_shard_version - a plan of a shard
 * @generation: of the whole state, since which the shard has it
 * @plan: NULL when there is none
 * @unsaved: no file has it yet
 */
struct to_shard_version {
	uint64_t generation;
	struct to_plan *plan;
	bool unsaved;
};

/**
 * struct to_shard - one job's part of the cluster
 * @name: also the name of the job in its plans
 * @now: its plan
 * @next: the one that it is to have instead, if any; servers of both are its own
 */
struct to_shard {
	char name[TO_NAME_MAX];
	enum to_shard_state state;
	struct to_shard_version now, next;
};

/**
 * struct to_shards - the state of a cluster
 * @store: where it is kept; NULL: nowhere
 * @generation: one more with each change
 * @cluster: links: those that are in place, of shards and of free servers
 * @drained: per server: no shard is given it, for it is broken
 * @list: the shards, the oldest first
 */
struct to_shards {
	struct to_shards_store *store;
	uint64_t generation;
	struct to_cluster *cluster;
	bool *drained;
	unsigned int n;
	struct to_shard *list;
};

#endif
