/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETCD_H
#define TOPOOPT_ETCD_H

/*
 * Client of etcd 3.4 or later through its JSON gateway: what agents and
 * controllers of a cluster need of it. Keys and values are bytes; keys get the
 * prefix of the options in front.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define TO_ETCD_PREFIX "/topoopt"
#define TO_ETCD_PASSWORD "TOPOOPT_ETCD_PASSWORD"	/* in the environment */

/**
 * struct to_etcd_options - how to reach etcd; NULL for what is not given
 * @endpoints: URLs, separated by commas; all http or all https
 * @prefix: of all keys; default TO_ETCD_PREFIX
 * @cacert, @cert, @key: PEM files, for https
 * @user: of etcd; default: to_etcd_user() of @role
 * @password_file: its password; default: TO_ETCD_PASSWORD. With neither, no user is
 *	logged in, and etcd must ask for none
 * @role: what the client is, "controller" or "agents/NAME". With neither this nor @user,
 *	nobody is logged in
 */
struct to_etcd_options {
	const char *endpoints;
	const char *prefix;
	const char *cacert, *cert, *key;
	const char *user, *password_file, *role;
};

/** to_etcd_user() - user of etcd, and role, of who is @role below @prefix (NULL: default) */
const char *to_etcd_user(char user[320], const char *prefix, const char *role);

struct to_etcd;

/**
 * to_etcd_open() - see that one of the endpoints answers
 * @options: endpoints and prefix are copied; the names of files must outlive the client
 *
 * Every call goes to the endpoint that answered last, and to the next when it
 * does not any more. A user is logged in first, and again whenever etcd does not know
 * the token any more; the password is read each time, so that it can be changed.
 *
 * Return: NULL with @err: no URL, no password, a password over http to another host, a
 * private key that others may read,
 * etcd cannot be reached, does not know the user, or asks nobody for one.
 */
struct to_etcd *to_etcd_open(const struct to_etcd_options *options, struct to_error *err);
void to_etcd_close(struct to_etcd *etcd);

/** to_etcd_hurry() - let an endpoint take no longer than @ms for an answer, but to a login */
void to_etcd_hurry(struct to_etcd *etcd, unsigned int ms);

/**
 * to_etcd_epoch() - Count how often the store was found to be another one, or an earlier one
 *
 * Reads and transactions tell: the cluster's id changes when etcd was set up anew, and the
 * revision, which otherwise only grows, when it was restored from a snapshot. Nothing that was
 * read before holds then.
 */
unsigned int to_etcd_epoch(const struct to_etcd *etcd);

/** struct to_etcd_kv - a key, without the prefix, and its value */
struct to_etcd_kv {
	char *key;
	char *value;		/* a NUL behind it */
	size_t len;
	int64_t revision;	/* when it was changed last */
	int64_t created;	/* when it came into being */
	bool deleted;		/* events only */
};

/** to_etcd_kv_clear() - free what @kv holds */
void to_etcd_kv_clear(struct to_etcd_kv *kv);

/** to_etcd_kv_free() - free an array of @n */
void to_etcd_kv_free(struct to_etcd_kv *kv, size_t n);

/**
 * to_etcd_get() - values of @key, or of all keys that begin with it
 * @kv: array of @n, for to_etcd_kv_free()
 * @revision: of the store, may be NULL
 */
int to_etcd_get(struct to_etcd *etcd, const char *key, bool prefix, struct to_etcd_kv **kv,
		size_t *n, int64_t *revision, struct to_error *err);

/**
 * to_etcd_get_at() - Read a key as it was at a revision of the store
 * @at: revision; 0: the latest
 * @kv: array of @n, 0 or 1, for to_etcd_kv_free()
 *
 * Return: 0; -ESTALE when etcd has forgotten that revision; another negative errno with @err.
 */
int to_etcd_get_at(struct to_etcd *etcd, const char *key, int64_t at, struct to_etcd_kv **kv,
		   size_t *n, struct to_error *err);

/** to_etcd_list() - all keys that begin with @key, as to_etcd_get() without their values */
int to_etcd_list(struct to_etcd *etcd, const char *key, struct to_etcd_kv **kv, size_t *n,
		 struct to_error *err);

/**
 * to_etcd_created() - since when there was @key, at revision @at of the store
 * @created: 0: there was none
 *
 * Return: 0; -ESTALE when etcd has forgotten what was then.
 */
int to_etcd_created(struct to_etcd *etcd, const char *key, int64_t at, int64_t *created,
		    struct to_error *err);

/**
 * struct to_etcd_txn - what happens in one transaction, or not at all
 * @compare, @success: arrays, built by the functions below
 */
struct to_etcd_txn {
	struct to_etcd *etcd;
	json_t *compare, *success;
};

int to_etcd_txn_begin(struct to_etcd_txn *txn, struct to_etcd *etcd);

/** to_etcd_txn_created() - only if @key was created at @revision, 0: is not there */
void to_etcd_txn_created(struct to_etcd_txn *txn, const char *key, int64_t revision);

/** to_etcd_txn_changed() - only if @key was changed last at @revision, 0: is not there */
void to_etcd_txn_changed(struct to_etcd_txn *txn, const char *key, int64_t revision);

/** to_etcd_txn_value() - Require that @key has @value, of @len bytes */
void to_etcd_txn_value(struct to_etcd_txn *txn, const char *key, const void *value, size_t len);

/** to_etcd_txn_touch() - Write @key, which is there, with the value and the lease that it has */
void to_etcd_txn_touch(struct to_etcd_txn *txn, const char *key);

/** to_etcd_txn_put() - @lease: the key goes when it ends; 0 for none */
void to_etcd_txn_put(struct to_etcd_txn *txn, const char *key, const void *value, size_t len,
		     int64_t lease);

/** to_etcd_txn_delete() - keys from @key to before @end, NULL: just @key */
void to_etcd_txn_delete(struct to_etcd_txn *txn, const char *key, const char *end);

/**
 * to_etcd_txn_commit() - do it, and forget the transaction
 * @revision: of the store afterwards, may be NULL
 *
 * Return: 0; -ESTALE when a comparison did not hold; another errno.
 */
int to_etcd_txn_commit(struct to_etcd_txn *txn, int64_t *revision, struct to_error *err);

/** to_etcd_compact() - forget what was before @revision and is not there any more */
int to_etcd_compact(struct to_etcd *etcd, int64_t revision, struct to_error *err);

/** to_etcd_lease() - a lease of @ttl seconds; Return: 0 or a negative errno */
int to_etcd_lease(struct to_etcd *etcd, unsigned int ttl, int64_t *lease, struct to_error *err);

/** to_etcd_keep() - prolong @lease; Return: 0; -ENOENT when it has ended */
int to_etcd_keep(struct to_etcd *etcd, int64_t lease, struct to_error *err);

/** to_etcd_revoke() - end @lease now */
int to_etcd_revoke(struct to_etcd *etcd, int64_t lease, struct to_error *err);

/** struct to_etcd_watch - events of keys that begin with the same */
struct to_etcd_watch;

/**
 * to_etcd_watch() - changes of keys that begin with @prefix from @revision on
 * @silence_ms: when it was waited for that long without a word, the connection counts
 *	as dead: etcd does not say that there is nothing to say
 *
 * @prefix must live as long. Goes on with another endpoint by itself.
 */
struct to_etcd_watch *to_etcd_watch(struct to_etcd *etcd, const char *prefix,
				    int64_t revision, unsigned int silence_ms,
				    struct to_error *err);
void to_etcd_watch_close(struct to_etcd_watch *watch);

/** to_etcd_watch_wake() - have to_etcd_watch_next() end early while @fd can be read */
void to_etcd_watch_wake(struct to_etcd_watch *watch, int fd);

/**
 * to_etcd_watch_next() - the next change
 * @timeout_ms: how long to wait for one; 0 takes what is there already
 * @kv: for to_etcd_kv_clear()
 *
 * Return: 1 with @kv, 0 when the time ran out or it was woken, -EINTR on a signal, -ESTALE
 * when the changes are too old for etcd (read all, then watch from there), -ETIMEDOUT when
 * it was silent (see by another call whether it answers, and call again: no change is lost),
 * -EAGAIN with @err when no endpoint answers: call again after a while. -EACCES or
 * another errno when etcd does not let us watch: read all, which may tell why.
 */
int to_etcd_watch_next(struct to_etcd_watch *watch, unsigned int timeout_ms,
		       struct to_etcd_kv *kv, struct to_error *err);

#endif
