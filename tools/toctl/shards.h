/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_SHARDS_H
#define TOCTL_SHARDS_H

/* What the toctl shard commands have in common. */

#include <jansson.h>

#include "cli/command.h"
#include "control/fabric.h"
#include "shard/shards.h"

#define TO_SHARDS_ETCD "etcd"	/* shards.state if the state is in etcd */

/** TO_SHARDS_STATE_KEY - where the state of the cluster is; @member: a string */
#define TO_SHARDS_STATE_KEY(type, member) \
	TO_KEY("shards.state", offsetof(type, member))

/**
 * TO_SHARDS_STATE_KEYS - where the state is, for commands that reach no agents
 * @member: a string
 * @etcd: a struct to_etcd_options; include fabric_options.h
 */
#define TO_SHARDS_STATE_KEYS(type, member, etcd) \
	TO_SHARDS_STATE_KEY(type, member), \
	TO_ETCD_KEYS(type, etcd)

/** What becomes of a new plan; @member: a struct to_shards_apply; after fabric_options.h */
#define TO_SHARDS_CONCLUDE_OPTIONS(type, member) \
	{ "dry-run", 0, TO_OPTION_FLAG, offsetof(type, member.dry_run), \
	  .help = "print servers and moves; change nothing, take nothing" }, \
	{ "apply", 'a', TO_OPTION_FLAG, offsetof(type, member.apply), \
	  .help = "set the optical switches and all servers' tables, as toctl shard apply does" }, \
	TO_ALLOW_KEY(type, member.allow), \
	TO_FABRIC_KEYS(type, member.fabric)

/** struct to_shards_at - where the state of the cluster is */
struct to_shards_at {
	const char *state;			/* shards.state; NULL: the default directory */
	const struct to_etcd_options *etcd;	/* where etcd is, if it is there */
};

/** to_shards_find_place() - 0 with @place, or as to_usage() */
int to_shards_find_place(struct to_call *call, const struct to_shards_at *at,
			 struct to_shards_place *place);

/** to_shards_open_at() - as to_shards_open(), with call->err, or as to_usage() */
int to_shards_open_at(struct to_call *call, struct to_shards *s, const struct to_shards_at *at,
		      bool change);

/**
 * struct to_shards_apply - how a shard is made active
 * @apply: now
 * @dry_run: not at all: only print
 * @allow: see to_switch_allow_check()
 * @moved: what has to be moved by hand was moved
 * @flip: to the look-ahead ports, which to_shards_prepare() has made ready
 */
struct to_shards_apply {
	struct to_fabric_options fabric;
	const char *allow;
	bool apply, dry_run, moved, flip;
};

/**
 * to_shards_activate() - optical switches, then tables: the plan that @shard is to have is active
 *
 * Servers that it has no more are asked to remove their tables; that one does not is no failure.
 * Refused when it touches what another shard has, by its plan or by what the optical
 * switches have now, and when fibres have to be moved by hand first. State, switches and
 * tables stay as they were then. What fails later, or is killed, leaves it
 * TO_SHARD_CHANGING; the same again completes it.
 *
 * Return: 0 or a negative errno with call->err.
 */
int to_shards_activate(struct to_call *call, struct to_shards *s, struct to_shard *shard,
		       const struct to_shards_apply *how);

/**
 * to_shards_conclude() - verify what @shard is to have, then apply or save it, and print it
 *
 * Return: 0 or a negative errno with call->err.
 */
int to_shards_conclude(struct to_call *call, struct to_shards *s, struct to_shard *shard,
		       const struct to_shards_apply *how);

/** to_shards_find_settled() - as to_shards_find(), one that is not being changed or removed */
struct to_shard *to_shards_find_settled(const struct to_shards *s, const char *name,
					struct to_error *err);

/**
 * to_shards_prepare() - the next plan of @shard on the look-ahead ports of its servers
 *
 * It goes on with its plan meanwhile. Return: 0 or a negative errno with call->err.
 */
int to_shards_prepare(struct to_call *call, struct to_shards *s, struct to_shard *shard,
		      const struct to_shards_apply *how);

/**
 * to_shards_leave() - no tables on the servers that @from has and @to has not
 *
 * Return: 0 or a negative errno with @err.
 */
int to_shards_leave(const struct to_plan *from, const struct to_plan *to,
		    const struct to_fabric_options *options, struct to_error *err);

/** to_shards_verify() - that the plan that @shard is to have is valid, by itself and beside all others */
int to_shards_verify(const struct to_shards *s, const struct to_shard *shard, struct to_error *err);

/** to_shards_print() - a shard with what is still to be moved for it, as text or as JSON */
int to_shards_print(struct to_call *call, const struct to_shards *s, const struct to_shard *shard);

/** to_shards_json() - the same as an object; NULL with @err */
json_t *to_shards_json(const struct to_shards *s, const struct to_shard *shard, struct to_error *err);

#endif
