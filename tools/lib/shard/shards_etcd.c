// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of a cluster in etcd: shards_store.h has the keys. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "control/etcd_blob.h"
#include "control/etcd_key.h"
#include "control/etcd_lock.h"
#include "shard/shards_store.h"

#define STATE_LOCK TO_ETCD_SHARDS "lock"
#define STATE_CURRENT TO_ETCD_SHARDS "current"
#define STATE_INDEX TO_ETCD_SHARDS "index/"
#define STATE_TEXTS TO_ETCD_SHARDS "texts/"
#define STATE_SWEPT 100u	/* keys in a transaction, of which etcd allows 128 */

/**
 * struct state - the store
 * @lock: of who may change it
 * @current, @revision: of STATE_CURRENT as read or replaced last, "" and 0: is not there
 * @replaced: how often, by us
 */
struct state {
	struct to_shards_store store;
	struct to_etcd *etcd;
	struct to_etcd_lock lock;
	char current[64];
	int64_t revision;
	unsigned int replaced;
};

static int state_read_current(struct state *s, struct to_error *err)
{
	struct to_etcd_kv *kv;
	size_t n;
	int ret = to_etcd_get(s->etcd, STATE_CURRENT, false, &kv, &n, NULL, err);

	if (ret)
		return ret;
	if (n && kv->len >= sizeof(s->current))
		ret = to_error_set(err, -EPROTO, "etcd: " STATE_CURRENT " is damaged");
	snprintf(s->current, sizeof(s->current), "%s", n && !ret ? kv->value : "");
	s->revision = n ? kv->revision : 0;
	to_etcd_kv_free(kv, n);
	return ret;
}

/* The one that was current may have been replaced before it was read. */
static int state_read_index(struct state *s, char **text, struct to_error *err)
{
	char key[128];
	int64_t revision;
	int ret = state_read_current(s, err);

	while (!ret) {
		if (!s->revision)
			return to_error_set(err, -ENOENT, "etcd has no " STATE_CURRENT);
		revision = s->revision;
		snprintf(key, sizeof(key), STATE_INDEX "%s", s->current);
		ret = to_etcd_download(s->etcd, key, text, err);
		if (!ret)
			break;
		/* -ENOENT says that there is no state */
		ret = ret == -ENOENT ? -EPROTO : ret;
		if (!state_read_current(s, err) && s->revision != revision)
			ret = 0;
	}
	return ret;
}

static int state_read(struct to_shards_store *store, const char *name, char **text, size_t *len,
		      struct to_error *err)
{
	struct state *s = (struct state *)store;
	char key[256];
	int ret;

	if (!strcmp(name, TO_SHARDS_INDEX)) {
		ret = state_read_index(s, text, err);
	} else {
		snprintf(key, sizeof(key), STATE_TEXTS "%s", name);
		ret = to_etcd_download(s->etcd, key, text, err);
	}
	if (!ret)
		*len = strlen(*text);
	return ret;
}

static int state_stale(const struct state *s, struct to_error *err)
{
	return to_error_set(err, -ESTALE,
			    "%.300s: another toctl has changed the cluster meanwhile: look, and do it again",
			    s->store.where);
}

/* Under @key, only while the lock is ours. */
static int state_upload(struct state *s, const char *key, to_shards_write *write,
			const void *data, struct to_error *err)
{
	struct to_etcd_upload upload = {
		.etcd = s->etcd, .lock = STATE_LOCK, .created = s->lock.created,
	};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int ret;

	if (!out)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = write(out, data, err);
	if (fclose(out) && !ret)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	if (!ret && len > TO_BLOB_MAX)
		ret = to_error_set(err, -E2BIG,
				   "%.300s: %s has %zu bytes, and etcd gets no more than %u of it: a directory takes it",
				   s->store.where, key, len, TO_BLOB_MAX);
	ret = ret ? ret : to_etcd_upload_add(&upload, key, text, len, err);
	ret = ret ? ret : to_etcd_upload_end(&upload, err);
	free(text);
	return ret == -ESTALE ? state_stale(s, err) : ret;
}

static int state_write(struct to_shards_store *store, const char *name, to_shards_write *write,
		       const void *data, struct to_error *err)
{
	char key[256];

	snprintf(key, sizeof(key), STATE_TEXTS "%s", name);
	return state_upload((struct state *)store, key, write, data, err);
}

/*
 * @id takes the place of the current one. The answer may be lost, and the next member then
 * say that somebody else was first: whose is there now says whether it was us.
 */
static int state_take_place(struct state *s, const char *id, struct to_error *err)
{
	char old[128], end[128];
	struct to_error why;
	struct to_etcd_txn txn;
	int64_t revision;
	int ret;

	if (to_etcd_txn_begin(&txn, s->etcd))
		return to_error_set(err, -ENOMEM, "out of memory");
	to_etcd_txn_created(&txn, STATE_LOCK, s->lock.created);
	to_etcd_txn_changed(&txn, STATE_CURRENT, s->revision);
	to_etcd_txn_put(&txn, STATE_CURRENT, id, strlen(id), 0);
	if (s->revision) {
		snprintf(old, sizeof(old), STATE_INDEX "%s/", s->current);
		snprintf(end, sizeof(end), STATE_INDEX "%s0", s->current);
		to_etcd_txn_delete(&txn, old, end);
	}
	ret = to_etcd_txn_commit(&txn, &revision, err);
	if (!ret) {
		snprintf(s->current, sizeof(s->current), "%s", id);
		s->revision = revision;
		return 0;
	}
	if (state_read_current(s, &why))
		return to_error_set(err, ret, "%.300s: nobody knows whether the cluster was changed: look",
				    why.text);
	if (!strcmp(s->current, id))
		return 0;
	return ret == -ESTALE ? state_stale(s, err) : ret;
}

static int state_replace(struct to_shards_store *store, to_shards_write *write, const void *data,
			 struct to_error *err)
{
	struct state *s = (struct state *)store;
	char id[sizeof(s->current)], key[128];
	int ret;

	snprintf(id, sizeof(id), "%lld-%u", (long long)s->lock.created, ++s->replaced);
	snprintf(key, sizeof(key), STATE_INDEX "%s", id);
	ret = state_upload(s, key, write, data, err);
	return ret ? ret : state_take_place(s, id, err);
}

/* Whether @key, a part of a text, is of one that counts. */
static bool state_is_kept(const struct state *s, const char *key,
			  bool (*keep)(const void *data, const char *name), const void *data)
{
	const char *end = strrchr(key, '/');
	char name[256];

	if (!strncmp(key, STATE_INDEX, strlen(STATE_INDEX))) {
		key += strlen(STATE_INDEX);
		return !strncmp(key, s->current, end - key) && !s->current[end - key];
	}
	key += strlen(STATE_TEXTS);
	snprintf(name, sizeof(name), "%.*s", (int)(end - key), key);
	return keep(data, name);
}

static void state_sweep_below(struct state *s, const char *prefix,
			      bool (*keep)(const void *data, const char *name), const void *data)
{
	struct to_etcd_txn txn;
	struct to_etcd_kv *kv;
	unsigned int ops = 0;
	size_t n;

	if (to_etcd_list(s->etcd, prefix, &kv, &n, NULL))
		return;
	for (size_t i = 0; i < n; i++) {
		if (state_is_kept(s, kv[i].key, keep, data))
			continue;
		if (!ops && to_etcd_txn_begin(&txn, s->etcd))
			break;
		if (!ops)
			to_etcd_txn_created(&txn, STATE_LOCK, s->lock.created);
		to_etcd_txn_delete(&txn, kv[i].key, NULL);
		if (++ops == STATE_SWEPT) {
			to_etcd_txn_commit(&txn, NULL, NULL);
			ops = 0;
		}
	}
	if (ops)
		to_etcd_txn_commit(&txn, NULL, NULL);
	to_etcd_kv_free(kv, n);
}

static void state_sweep(struct to_shards_store *store,
			bool (*keep)(const void *data, const char *name), const void *data)
{
	struct state *s = (struct state *)store;

	state_sweep_below(s, STATE_TEXTS TO_SHARDS_PLANS, keep, data);
	state_sweep_below(s, STATE_INDEX, keep, data);
}

static void state_close(struct to_shards_store *store)
{
	struct state *s = (struct state *)store;

	to_etcd_lock_release(&s->lock);
	to_etcd_close(s->etcd);
	free(s);
}

struct to_shards_store *to_shards_etcd(const struct to_etcd_options *options, bool change,
				       int *ret, struct to_error *err)
{
	struct to_etcd_options controller = *options;
	struct state *s = calloc(1, sizeof(*s));
	char what[512];

	if (!s) {
		*ret = to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	s->store.read = state_read;
	s->store.write = state_write;
	s->store.replace = state_replace;
	s->store.sweep = state_sweep;
	s->store.close = state_close;
	snprintf(s->store.where, sizeof(s->store.where), "etcd:%s/" TO_ETCD_SHARDS,
		 options->prefix ? options->prefix : TO_ETCD_PREFIX);
	s->store.where[strlen(s->store.where) - 1] = '\0';
	snprintf(what, sizeof(what), "%.300s: another toctl is changing the cluster", s->store.where);
	controller.role = TO_ETCD_CONTROLLER;
	s->etcd = to_etcd_open(&controller, err);
	*ret = s->etcd ? 0 : -EHOSTUNREACH;
	if (!*ret && change)
		*ret = to_etcd_lock_take(&s->lock, s->etcd, &controller, STATE_LOCK,
					 TO_ETCD_LOCK_WAIT, what, err);
	if (!*ret)
		return &s->store;
	state_close(&s->store);
	return NULL;
}
