/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARDS_STORE_H
#define TOPOOPT_SHARDS_STORE_H

/*
 * Where the state of a cluster is kept (shards.h): texts by name, in a directory or in
 * etcd. shards.json says which of the others count; it is replaced as a whole, and only by
 * who has kept all others from doing so since he read it.
 */

#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "control/etcd.h"

#define TO_SHARDS_INDEX "shards.json"
#define TO_SHARDS_PLANS "plans/"

/** to_shards_write - print @data to @out; 0 or a negative errno with @err */
typedef int to_shards_write(FILE *out, const void *data, struct to_error *err);

/**
 * struct to_shards_store - texts by name
 * @where: the directory, or etcd:PREFIX; a text's name behind it tells where that is
 * @read: TO_SHARDS_INDEX or another; @text for free(). -ENOENT when there is none
 * @write: any other than TO_SHARDS_INDEX
 * @replace: TO_SHARDS_INDEX, which must be as it was read or replaced last. -ESTALE: it is
 *	not, and stays
 * @sweep: forget those of TO_SHARDS_PLANS that @keep does not want, and what is left of
 *	who was killed; no failure matters
 * @close: others may change it; frees the store
 *
 * Functions return 0 or a negative errno with @err.
 */
struct to_shards_store {
	char where[PATH_MAX - 320];
	int (*read)(struct to_shards_store *store, const char *name, char **text, size_t *len,
		    struct to_error *err);
	int (*write)(struct to_shards_store *store, const char *name, to_shards_write *write,
		     const void *data, struct to_error *err);
	int (*replace)(struct to_shards_store *store, to_shards_write *write, const void *data,
		       struct to_error *err);
	void (*sweep)(struct to_shards_store *store, bool (*keep)(const void *data, const char *name),
		      const void *data);
	void (*close)(struct to_shards_store *store);
};

/**
 * to_shards_directory() - in directory @dir
 * @dir: NULL: /var/lib/topoopt/cluster, see state_file.h
 * @make: make it if it is not there
 * @change: keep all others from changing it until it is closed
 *
 * Return: it; NULL with @err, and @ret a negative errno: -EBUSY when another process is
 * changing it.
 */
struct to_shards_store *to_shards_directory(const char *dir, bool make, bool change, int *ret,
					    struct to_error *err);

/**
 * to_shards_etcd() - the same in etcd, below its prefix:
 *
 *	shards/lock			who changes it; has a lease (etcd_lock.h)
 *	shards/current			where shards.json is: ID
 *	shards/index/ID			it, as etcd_blob.h does
 *	shards/texts/NAME		all other texts, the same
 *
 * shards/current is replaced in one transaction, only while it is as it was read and the
 * lock ours.
 */
struct to_shards_store *to_shards_etcd(const struct to_etcd_options *options, bool change,
				       int *ret, struct to_error *err);

#endif
