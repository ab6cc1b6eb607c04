// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of a cluster in a directory. */

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/lock.h"
#include "control/state_file.h"
#include "shard/shards_store.h"

#define DIRECTORY_JOB "cluster"	/* below /var/lib/topoopt */

/* @lock: of who may change it, -1: only read */
struct directory {
	struct to_shards_store store;
	int lock;
};

static void directory_file(const struct to_shards_store *store, const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%s/%s", store->where, name);
}

static int directory_read(struct to_shards_store *store, const char *name, char **text,
			  size_t *len, struct to_error *err)
{
	char path[PATH_MAX];

	directory_file(store, name, path);
	return to_file_read(path, TO_FILE_MAX, text, len, err);
}

static int directory_write(struct to_shards_store *store, const char *name,
			   to_shards_write *write, const void *data, struct to_error *err)
{
	char path[PATH_MAX];

	directory_file(store, name, path);
	return to_file_write(path, write, data, err);
}

/* The lock keeps it as it was read. */
static int directory_replace(struct to_shards_store *store, to_shards_write *write,
			     const void *data, struct to_error *err)
{
	return directory_write(store, TO_SHARDS_INDEX, write, data, err);
}

static void directory_sweep(struct to_shards_store *store,
			    bool (*keep)(const void *data, const char *name), const void *data)
{
	char path[PATH_MAX], name[NAME_MAX + sizeof(TO_SHARDS_PLANS)];
	struct dirent *entry;
	DIR *plans;

	directory_file(store, TO_SHARDS_PLANS, path);
	plans = opendir(path);
	while (plans && (entry = readdir(plans))) {
		snprintf(name, sizeof(name), TO_SHARDS_PLANS "%s", entry->d_name);
		directory_file(store, name, path);
		if (entry->d_name[0] != '.' && !keep(data, name))
			unlink(path);
	}
	if (plans)
		closedir(plans);
}

static void directory_close(struct to_shards_store *store)
{
	struct directory *d = (struct directory *)store;

	if (d->lock >= 0)
		close(d->lock);
	free(d);
}

static int directory_where(struct to_shards_store *store, const char *dir, struct to_error *err)
{
	char path[PATH_MAX];
	int ret;

	if (!dir) {
		ret = to_state_file(DIRECTORY_JOB, TO_SHARDS_INDEX, path, err);
		if (ret)
			return ret;
		*strrchr(path, '/') = '\0';
		dir = path;
	}
	return snprintf(store->where, sizeof(store->where), "%s", dir) < (int)sizeof(store->where) ? 0 :
	       to_error_set(err, -ENAMETOOLONG, "%.300s: %s", dir, strerror(ENAMETOOLONG));
}

static int directory_make(const struct to_shards_store *store, struct to_error *err)
{
	char plans[PATH_MAX];

	directory_file(store, TO_SHARDS_PLANS, plans);
	if ((!mkdir(store->where, 0777) || errno == EEXIST) &&
	    (!mkdir(plans, 0777) || errno == EEXIST))
		return 0;
	return to_error_set(err, -errno, "%.300s: %s", plans, strerror(errno));
}

static int directory_lock(struct directory *d, struct to_error *err)
{
	char path[PATH_MAX], by[32] = "";
	pid_t holder = 0;

	directory_file(&d->store, "lock", path);
	d->lock = to_lock_take(path, 0, &holder, err);
	if (d->lock >= 0)
		return 0;
	if (holder)
		snprintf(by, sizeof(by), " (process %d)", holder);
	return d->lock != -EBUSY ? d->lock :
	       to_error_set(err, -EBUSY, "%.300s: another toctl%s is changing the cluster",
			    d->store.where, by);
}

struct to_shards_store *to_shards_directory(const char *dir, bool make, bool change, int *ret,
					    struct to_error *err)
{
	struct directory *d = calloc(1, sizeof(*d));

	if (!d) {
		*ret = to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	d->lock = -1;
	d->store.read = directory_read;
	d->store.write = directory_write;
	d->store.replace = directory_replace;
	d->store.sweep = directory_sweep;
	d->store.close = directory_close;
	*ret = directory_where(&d->store, dir, err);
	if (!*ret && make)
		*ret = directory_make(&d->store, err);
	if (!*ret && change)
		*ret = directory_lock(d, err);
	if (!*ret)
		return &d->store;
	directory_close(&d->store);
	return NULL;
}
