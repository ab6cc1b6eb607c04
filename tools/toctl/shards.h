/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_SHARDS_H
#define TOCTL_SHARDS_H

/* Options and output that several commands of toctl shard have. */

#include <jansson.h>

#include "base/effort.h"
#include "cli/command.h"
#include "control/fabric.h"
#include "shard/shard_activation.h"
#include "shard/shard_job.h"
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

/** TO_SHARD_JOB_OPTIONS - options that fill @member, a struct to_shard_job */
#define TO_SHARD_JOB_OPTIONS(type, member) \
	{ "job", 'j', TO_OPTION_STRING, offsetof(type, member.job), .required = true, \
	  .argument = "FILE", .help = "traffic of one training iteration" }, \
	{ "rings", 0, TO_OPTION_FLAG, offsetof(type, member.rings), \
	  .help = "AllReduce on rings alone, for MPI and NCCL" }, \
	{ "effort", 'e', TO_OPTION_NUMBER, offsetof(type, member.effort), .argument = "E", \
	  .min = TO_EFFORT_MIN, .max = TO_EFFORT_MAX, \
	  .help = "1 to 9: better plans for more time; default: 5" }

/** TO_SHARD_ON_OPTION - option for commands that choose servers */
#define TO_SHARD_ON_OPTION(type, member) \
	{ "on", 0, TO_OPTION_STRING, offsetof(type, member.on), .argument = "NAME[,NAME...]", \
	  .help = "servers to use, in the job's order; default: chosen" }

#define TO_SHARD_JOB_DEFAULTS { .effort = TO_EFFORT_DEFAULT }

/**
 * TO_SHARDS_CONCLUDE_OPTIONS - options of commands that make a new plan
 * @member: a struct to_shards_apply
 */
#define TO_SHARDS_CONCLUDE_OPTIONS(type, member) \
	{ "dry-run", 0, TO_OPTION_FLAG, offsetof(type, member.dry_run), \
	  .help = "print servers and moves; change nothing" }, \
	{ "apply", 0, TO_OPTION_FLAG, offsetof(type, member.apply), \
	  .help = "also make the plan active, as toctl shard apply does" }, \
	TO_ALLOW_KEY(type, member.allow), \
	TO_FABRIC_KEYS(type, member.fabric)

/** struct to_shards_at - where the state of the cluster is */
struct to_shards_at {
	const char *state;			/* shards.state; NULL: the default directory */
	const struct to_etcd_options *etcd;	/* where etcd is, if it is there */
};

/** to_shards_find_place() - set @place; return 0 or -EINVAL with call->err */
int to_shards_find_place(struct to_call *call, const struct to_shards_at *at,
			 struct to_shards_place *place);

/** to_shards_open_at() - open the state, see to_shards_open(); errors go to call->err */
int to_shards_open_at(struct to_call *call, struct to_shards *s, const struct to_shards_at *at,
		      bool change);

/**
 * to_shards_change() - open the state, call @change for the shard that operand 0 names
 * @args: passed on to @change
 *
 * Return: as @change, or a negative errno or an exit status with call->err.
 */
int to_shards_change(struct to_call *call, const struct to_shards_at *at,
		     int (*change)(struct to_call *call, struct to_shards *s,
				   struct to_shard *shard, const void *args),
		     const void *args);

/** struct to_shards_apply - how a shard is made active */
struct to_shards_apply {
	struct to_fabric_options fabric;	/* how to reach the agents */
	const char *allow;	/* what plans may do, see to_switch_allow_check() */
	bool apply;		/* make a new plan active at once */
	bool dry_run;		/* only print a new plan */
};

/** to_shards_activation() - convert for the library; warnings go to to_note() */
struct to_shard_activation to_shards_activation(const struct to_shards_apply *how);

/** to_shards_apply_check() - refuse both --apply and --dry-run; return 0 or to_usage() */
int to_shards_apply_check(struct to_call *call, const struct to_shards_apply *how);

/**
 * to_shards_conclude() - check the goal of a shard, make it active or save it, and print the shard
 *
 * Return: 0 or a negative errno with call->err.
 */
int to_shards_conclude(struct to_call *call, struct to_shards *s, struct to_shard *shard,
		       const struct to_shards_apply *how);

/**
 * to_shards_activate() - make active what the shard that operand 0 names is to have, print it
 * @state: shards.state
 * @flip: flip to the plan that is prepared on the look-ahead ports
 *
 * Return: as to_shards_change().
 */
int to_shards_activate(struct to_call *call, const char *state, const struct to_shards_apply *how,
		       bool flip);

/** to_shards_print() - print a shard and what has to be moved for it, as text or as JSON */
int to_shards_print(struct to_call *call, const struct to_shards *s, const struct to_shard *shard);

/** to_shards_json() - make the JSON of a shard; return NULL with @err on failure */
json_t *to_shards_json(const struct to_shards *s, const struct to_shard *shard, struct to_error *err);

#endif
