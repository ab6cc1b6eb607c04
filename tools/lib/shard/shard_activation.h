/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARD_ACTIVATION_H
#define TOPOOPT_SHARD_ACTIVATION_H

/* Shards on the fabric: optical switches and tables as the plan of a shard has them. */

#include "control/fabric.h"
#include "shard/shards.h"

/** struct to_shard_activation - how a shard becomes active; all pointers are borrowed */
struct to_shard_activation {
	struct to_fabric_options fabric;	/* how to reach the agents, and who gets warnings */
	const char *allow;	/* what plans may do, see to_switch_allow_check() */
	bool moved;		/* people have moved what has to be moved by hand */
	bool flip;		/* flip to the look-ahead ports, see to_shard_activation_prepare() */
};

/**
 * to_shard_activation_check() - check that the goal of a shard is valid, by itself and beside all others
 *
 * Return: 0; -EINVAL with the first line that is wrong in @err; -ENOMEM.
 */
int to_shard_activation_check(const struct to_shards *s, const struct to_shard *shard,
			      struct to_error *err);

/**
 * to_shard_activation_make() - set the optical switches and tables to the goal of a shard
 *
 * Servers that leave the shard are asked to remove their tables; one that does not answer is a
 * warning. Refused, with nothing changed, when the plan touches what another shard has by its
 * plan or on the optical switches, and when cross-connects have to be moved by hand first. After
 * a later failure the shard is TO_SHARD_CHANGING, and another call completes the change.
 *
 * Return: 0 or a negative errno with @err.
 */
int to_shard_activation_make(const struct to_shard_activation *a, struct to_shards *s,
			     struct to_shard *shard, struct to_error *err);

/**
 * to_shard_activation_prepare() - make the next plan of a shard ready on its look-ahead ports
 *
 * The current plan stays active. Return: 0 or a negative errno with @err.
 */
int to_shard_activation_prepare(const struct to_shard_activation *a, struct to_shards *s,
				struct to_shard *shard, struct to_error *err);

/**
 * to_shard_activation_undo() - drop the next plan of a shard
 *
 * Removes tables from the servers of the next plan alone, if its activation had begun.
 *
 * Return: 0 or a negative errno with @err; -ENOENT: the shard has no next plan.
 */
int to_shard_activation_undo(const struct to_shard_activation *a, struct to_shards *s,
			     struct to_shard *shard, struct to_error *err);

/**
 * to_shard_activation_remove() - remove the tables of a shard, then the shard
 * @forget: ask no server
 *
 * Return: 0; a negative errno with @err: then the shard stays, TO_SHARD_REMOVING.
 */
int to_shard_activation_remove(const struct to_shard_activation *a, struct to_shards *s,
			       struct to_shard *shard, bool forget, struct to_error *err);

#endif
