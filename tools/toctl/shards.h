/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_SHARDS_H
#define TOCTL_SHARDS_H

/* What the toctl shard commands have in common. */

#include <jansson.h>

#include "command.h"
#include "control/fabric.h"
#include "shard/shards.h"

/** Where the state of the cluster is; @member: a string */
#define TO_SHARDS_STATE_OPTION(type, member) \
	{ "state", 0, TO_OPTION_STRING, offsetof(type, member), .argument = "DIR", \
	  .help = "state of the cluster; default: /var/lib/topoopt/cluster" }

/**
 * struct to_shards_apply - how a shard is made active
 * @allow: see to_switch_allow_check()
 * @moved: what has to be moved by hand was moved
 */
struct to_shards_apply {
	struct to_fabric_options fabric;
	const char *allow;
	bool moved;
};

/**
 * to_shards_activate() - optical switches, then tables: @shard becomes active
 *
 * Refused when it touches what another shard has, by its plan or by what the optical
 * switches have now, and when fibres have to be moved by hand first. State, switches and
 * tables stay as they were then. What fails later, or is killed, leaves it
 * TO_SHARD_CHANGING; the same again completes it.
 *
 * Return: 0 or a negative errno with call->err.
 */
int to_shards_activate(struct to_call *call, struct to_shards *s, struct to_shard *shard,
		       const struct to_shards_apply *how);

/** to_shards_verify() - that the plan of @shard is valid, by itself and beside all others */
int to_shards_verify(const struct to_shards *s, const struct to_shard *shard, struct to_error *err);

/** to_shards_print() - a shard with what is still to be moved for it, as text or as JSON */
int to_shards_print(struct to_call *call, const struct to_shards *s, const struct to_shard *shard);

/** to_shards_json() - the same as an object; NULL with @err */
json_t *to_shards_json(const struct to_shards *s, const struct to_shard *shard, struct to_error *err);

#endif
