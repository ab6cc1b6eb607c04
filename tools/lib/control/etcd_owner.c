// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/etcd_owner.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "format/names.h"

#define OWNER_GRACE_MS 3000	/* beyond the TTL, for an answer that is under way */
#define OWNER_LOOK_MS 1000	/* most that the time between two looks counts as silence */

/* Write where a process id means the same process: since this boot, in this pid namespace. */
static void owner_place(char place[128])
{
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot[40] = "", space[64] = "";
	ssize_t n = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);

	if (in) {
		if (!fgets(boot, sizeof(boot), in))
			boot[0] = '\0';
		fclose(in);
	}
	space[n < 0 ? 0 : n] = '\0';
	boot[strcspn(boot, "\n")] = '\0';
	snprintf(place, 128, "%s %s", boot, space);
}

char *to_etcd_owner_value(const struct to_etcd_owner *o)
{
	char place[128], host[256] = "", *text;
	json_t *self;

	owner_place(place);
	gethostname(host, sizeof(host) - 1);
	self = json_pack("{s:i, s:s, s:s, s:i, s:I}", "pid", (int)getpid(), "host", host,
			 "place", place, "ttl", (int)o->ttl, "answers", (json_int_t)o->answers);
	text = self ? json_dumps(self, JSON_COMPACT) : NULL;
	json_decref(self);
	return text;
}

const char *to_etcd_owner_name(char name[320], const char *value)
{
	json_t *owner = json_loads(value, 0, NULL);
	const char *host = json_string_value(json_object_get(owner, "host"));

	snprintf(name, 320, "process %d on %.256s",
		 (int)json_integer_value(json_object_get(owner, "pid")),
		 host && to_names_is_name(host) ? host : "?");
	json_decref(owner);
	return name;
}

/* Tell whether the process of @value ran here and has ended. A predecessor with our id has. */
static bool owner_has_ended(const char *value)
{
	json_t *owner = json_loads(value, 0, NULL);
	const char *there = json_string_value(json_object_get(owner, "place"));
	const int pid = json_integer_value(json_object_get(owner, "pid"));
	char here[128];
	bool ended;

	owner_place(here);
	ended = pid > 0 && there && !strcmp(here, there) &&
		(pid == getpid() || (kill(pid, 0) && errno == ESRCH));
	json_decref(owner);
	return ended;
}

/* Return how long the owner of @value may take to answer. */
static uint64_t owner_patience_ms(const struct to_etcd_owner *o, const char *value)
{
	json_t *owner = json_loads(value, 0, NULL);
	const json_int_t ttl = json_integer_value(json_object_get(owner, "ttl"));

	json_decref(owner);
	return (ttl > 0 && ttl <= UINT32_MAX ? ttl : o->ttl) * 1000ull + OWNER_GRACE_MS;
}

static void owner_forget(struct to_etcd_owner *o)
{
	free(o->question);
	o->question = NULL;
	o->asked = 0;
}

/* Put the key with the lease while it was created at @created, 0: while there is none. */
static int owner_put(struct to_etcd_owner *o, struct to_etcd *etcd, int64_t created,
		     struct to_error *err)
{
	char *value = to_etcd_owner_value(o);
	struct to_etcd_txn txn;
	int ret;

	if (!value || to_etcd_txn_begin(&txn, etcd)) {
		free(value);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	to_etcd_txn_created(&txn, o->key, created);
	to_etcd_txn_put(&txn, o->key, value, strlen(value), o->lease);
	free(value);
	ret = to_etcd_txn_commit(&txn, &o->revision, err);
	if (!ret && !created)
		o->created = o->revision;
	return ret;
}

/* Write the key with a lease, or without one where others end each before it has a key. */
static int owner_write(struct to_etcd_owner *o, struct to_etcd *etcd, int64_t created,
		       struct to_error *err)
{
	int ret = o->lease ? 0 : to_etcd_lease(etcd, o->ttl, &o->lease, err);

	ret = ret ? ret : owner_put(o, etcd, created, err);
	if (ret != -ENOENT)
		return ret;
	o->lease = 0;
	return owner_put(o, etcd, created, err);
}

/* Take the key that nobody has. */
static int owner_take(struct to_etcd_owner *o, struct to_etcd *etcd, struct to_error *err)
{
	int ret;

	o->lease = 0;
	ret = owner_write(o, etcd, 0, err);
	if (ret && o->lease)
		to_etcd_revoke(etcd, o->lease, NULL);
	/* A key that etcd wrote without saying so names this process, and is free to it. */
	if (ret)
		o->lease = 0;
	return ret;
}

/* Ask the owner of @kv for an answer. */
static int owner_ask(struct to_etcd_owner *o, struct to_etcd *etcd, const struct to_etcd_kv *kv,
		     struct to_error *err)
{
	struct to_etcd_txn txn;
	int ret;

	owner_forget(o);
	o->question = strdup(kv->value);
	if (!o->question || to_etcd_txn_begin(&txn, etcd))
		return to_error_set(err, -ENOMEM, "out of memory");
	to_etcd_txn_value(&txn, o->key, kv->value, kv->len);
	to_etcd_txn_created(&txn, o->key, kv->created);
	to_etcd_txn_touch(&txn, o->key);
	ret = to_etcd_txn_commit(&txn, NULL, err);
	o->asked = kv->created;
	o->silent_ms = 0;
	return ret;
}

/* Delete the key of an owner that does not live, while it has not written again, and take it. */
static int owner_replace(struct to_etcd_owner *o, struct to_etcd *etcd,
			 const struct to_etcd_kv *kv, struct to_error *err)
{
	struct to_etcd_txn txn;
	int ret;

	if (to_etcd_txn_begin(&txn, etcd))
		return to_error_set(err, -ENOMEM, "out of memory");
	to_etcd_txn_value(&txn, o->key, kv->value, kv->len);
	to_etcd_txn_created(&txn, o->key, kv->created);
	to_etcd_txn_delete(&txn, o->key, NULL);
	ret = to_etcd_txn_commit(&txn, NULL, err);
	return ret ? ret : owner_take(o, etcd, err);
}

/* Go on with the key @kv, which another process owns or owned. */
static int owner_succeed(struct to_etcd_owner *o, struct to_etcd *etcd,
			 const struct to_etcd_kv *kv, struct to_error *err)
{
	const uint64_t now = to_clock_monotonic_ns() / 1000000, since = now - o->looked_ms;
	int ret = 0;

	o->looked_ms = now;
	to_etcd_owner_name(o->other, kv->value);
	if (owner_has_ended(kv->value))
		return owner_replace(o, etcd, kv, err);
	if (o->asked != kv->created)
		ret = owner_ask(o, etcd, kv, err);
	else if (strcmp(o->question, kv->value))
		ret = -EBUSY;
	else
		o->silent_ms += since < OWNER_LOOK_MS ? since : OWNER_LOOK_MS;
	if (ret && ret != -EBUSY)
		return ret;
	if (!ret && o->silent_ms >= owner_patience_ms(o, kv->value))
		return owner_replace(o, etcd, kv, err);
	return to_error_set(err, ret ? ret : -EAGAIN, "%s is owned by %s", o->key, o->other);
}

int to_etcd_owner_claim(struct to_etcd_owner *o, struct to_etcd *etcd, struct to_error *err)
{
	struct to_etcd_kv *kv;
	size_t n;
	int ret = to_etcd_get(etcd, o->key, false, &kv, &n, NULL, err);

	if (!ret) {
		ret = n ? owner_succeed(o, etcd, kv, err) : owner_take(o, etcd, err);
		to_etcd_kv_free(kv, n);
	}
	/* It has changed since it was read. */
	if (ret == -ESTALE)
		ret = to_error_set(err, -EAGAIN, "%s changes its owner", o->key);
	if (ret != -EAGAIN)
		owner_forget(o);
	return ret;
}

int to_etcd_owner_keep(struct to_etcd_owner *o, struct to_etcd *etcd, struct to_error *err)
{
	struct to_etcd_kv *kv;
	size_t n;
	int ret = o->lease ? to_etcd_keep(etcd, o->lease, err) : 0;

	if (ret == -ENOENT)
		o->lease = 0;
	else if (ret)
		return ret;
	ret = to_etcd_get(etcd, o->key, false, &kv, &n, NULL, err);
	if (ret)
		return ret;
	if (!o->created || !n || kv->created != o->created) {
		ret = -ESTALE;
	} else if (kv->revision != o->revision || !o->lease) {
		o->answers++;
		ret = owner_write(o, etcd, o->created, err);
	}
	to_etcd_kv_free(kv, n);
	if (ret != -ESTALE)
		return ret;
	o->created = 0;
	return to_error_set(err, -ENOENT, "%s is not ours any more", o->key);
}

void to_etcd_owner_release(struct to_etcd_owner *o, struct to_etcd *etcd)
{
	struct to_etcd_txn txn;
	int ret = 0;

	owner_forget(o);
	if (o->created && !to_etcd_txn_begin(&txn, etcd)) {
		to_etcd_txn_created(&txn, o->key, o->created);
		to_etcd_txn_delete(&txn, o->key, NULL);
		ret = to_etcd_txn_commit(&txn, NULL, NULL);
	}
	/* etcd refuses while keys of others are attached; the lease ends by itself then. */
	if (o->lease && ret != -EHOSTUNREACH)
		to_etcd_revoke(etcd, o->lease, NULL);
	o->created = 0;
	o->lease = 0;
}
