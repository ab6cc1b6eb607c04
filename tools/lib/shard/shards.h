/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARDS_H
#define TOPOOPT_SHARDS_H

/* The state of a cluster that several jobs share, read and changed. */

#include <limits.h>

#include "control/etcd.h"
#include "shard/shards_state.h"

/** struct to_shards_place - place of the state; its strings must outlive the state */
struct to_shards_place {
	const char *dir;	/* directory; NULL: /var/lib/topoopt/cluster, see state_file.h */
	const struct to_etcd_options *etcd;	/* use etcd instead; NULL: use dir */
};

/**
 * to_shards_init() - let jobs share the cluster that is the file @path
 * @place: a directory is made if it is not there
 *
 * Its links are those in place. Where there are shards already they stay, and so do the
 * links in place; @path must have their servers as they are.
 *
 * Return: 0, or a negative errno with @err; -EBUSY as to_shards_open().
 */
int to_shards_init(struct to_shards *s, const struct to_shards_place *place, const char *path,
		   struct to_error *err);

/**
 * to_shards_open() - read the state
 * @change: keep all others from changing it until to_shards_close()
 *
 * Return: 0; -EBUSY with the holder in @err when another process is changing it; another
 * negative errno with @err. Nothing is left open then.
 */
int to_shards_open(struct to_shards *s, const struct to_shards_place *place, bool change,
		   struct to_error *err);
void to_shards_close(struct to_shards *s);

/** to_shards_find() - the shard called @name, or NULL with @err */
struct to_shard *to_shards_find(const struct to_shards *s, const char *name, struct to_error *err);

/**
 * to_shards_find_settled() - find a shard that is neither being changed nor removed
 *
 * Return: the shard, or NULL with @err.
 */
struct to_shard *to_shards_find_settled(const struct to_shards *s, const char *name,
					struct to_error *err);

/**
 * to_shards_owners() - shard of every server of the cluster, its index or -1
 *
 * Return: an array to be freed, NULL when out of memory.
 */
int *to_shards_owners(const struct to_shards *s);

/**
 * to_shards_free() - tell for each server of the cluster whether a shard could have it
 * @of: its own count as free, too; may be NULL
 *
 * Return: an array to be freed, NULL when out of memory.
 */
bool *to_shards_free(const struct to_shards *s, const struct to_shard *of);

/** to_shard_goal() - return the plan that @shard is to have in the end */
const struct to_shard_version *to_shard_goal(const struct to_shard *shard);

/** to_shard_set_next() - make @plan, which is taken over, the next plan of @shard */
void to_shard_set_next(const struct to_shards *s, struct to_shard *shard, struct to_plan *plan);

/** to_shard_settle() - make the next plan of @shard, if any, its plan */
void to_shard_settle(struct to_shard *shard);

/**
 * to_shards_add() - a new shard, TO_SHARD_PLANNED
 * @plan: taken over, also on failure
 *
 * Nobody knows of it before to_shards_save(). Return: it, NULL with @err.
 */
struct to_shard *to_shards_add(struct to_shards *s, const char *name, struct to_plan *plan,
			       struct to_error *err);

/** to_shards_drop() - delete a shard, as of to_shards_save() */
void to_shards_drop(struct to_shards *s, struct to_shard *shard);

/**
 * to_shards_save() - the next generation, as @s is now
 *
 * Return: 0; -ESTALE when etcd lost our lock, and another changed the state meanwhile;
 * another negative errno with @err.
 */
int to_shards_save(struct to_shards *s, struct to_error *err);

/** to_shards_where() - return the directory of the state, or etcd:KEY */
const char *to_shards_where(const struct to_shards *s);

/** to_shards_check_output() - refuse to write a file into the directory of the state; 0 or -EINVAL */
int to_shards_check_output(const struct to_shards *s, const char *path, struct to_error *err);

/** to_shards_read_plan() - a copy of @version of @shard as it was saved; NULL with @err */
struct to_plan *to_shards_read_plan(const struct to_shards *s, const struct to_shard *shard,
				    const struct to_shard_version *version, struct to_error *err);

/** to_shards_plan_file() - set @path, of PATH_MAX bytes, to the file of @version of @shard */
void to_shards_plan_file(const struct to_shards *s, const struct to_shard *shard,
			 const struct to_shard_version *version, char *path);

#endif
