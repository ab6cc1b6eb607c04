// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/agent_presence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "control/agent_owner.h"
#include "control/etcd_blob.h"
#include "control/etcd_key.h"

#define PRESENCE_VALUE_MAX 250000u	/* controllers read those of all agents at once */
#define PRESENCE_GRACE_S 2u		/* etcd ends leases late */

static uint64_t presence_now_ms(void)
{
	return to_clock_monotonic_ns() / 1000000;
}

static const char *presence_key(char key[256], const struct to_agent_presence *p,
				const char *what)
{
	snprintf(key, 256, TO_ETCD_AGENTS "%s/%s", p->server, what);
	return key;
}

/* Takes the name that nobody has (@created: 0), or that of who took it at @created. */
static int presence_take(struct to_agent_presence *p, int64_t lease, int64_t created,
			 const json_t *state, struct to_error *err)
{
	char *self = to_agent_owner_self(), *text = json_dumps(state, JSON_COMPACT), key[256];
	struct to_etcd_txn txn;
	int64_t now;
	int ret;

	if (!self || !text || to_etcd_txn_begin(&txn, p->etcd)) {
		free(self);
		free(text);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	to_etcd_txn_created(&txn, presence_key(key, p, TO_ETCD_OWNER), created);
	to_etcd_txn_put(&txn, key, self, strlen(self), lease);
	to_etcd_txn_put(&txn, presence_key(key, p, "state"), text, strlen(text), lease);
	free(self);
	free(text);
	ret = to_etcd_txn_commit(&txn, &now, err);
	if (!ret)
		p->created = created ? created : now;
	return ret;
}

/* So that controllers can say that this server has two agents. */
static void presence_complain(struct to_agent_presence *p, int64_t lease)
{
	char *self = to_agent_owner_self(), key[256];
	struct to_etcd_txn txn;

	if (self && !to_etcd_txn_begin(&txn, p->etcd)) {
		to_etcd_txn_put(&txn, presence_key(key, p, TO_ETCD_RIVAL), self, strlen(self),
				lease);
		to_etcd_txn_commit(&txn, NULL, NULL);
	}
	free(self);
}

/* The name is taken: by an agent that is gone, or by one to wait for, or by a rival. */
static int presence_succeed(struct to_agent_presence *p, int64_t lease, const json_t *state,
			    struct to_error *err)
{
	enum to_agent_owner_state who;
	struct to_etcd_kv *owner;
	char key[256], name[320];
	size_t n;
	int ret;

	ret = to_etcd_get(p->etcd, presence_key(key, p, TO_ETCD_OWNER), false, &owner, &n, NULL,
			  err);
	if (ret)
		return ret;
	if (!n) {
		to_etcd_kv_free(owner, n);
		return to_error_set(err, -EAGAIN, "the agent before has just gone");
	}
	who = to_agent_owner_state(owner->value);
	to_agent_owner_name(name, owner->value);
	if (who == TO_AGENT_OWNER_SELF || who == TO_AGENT_OWNER_GONE) {
		ret = presence_take(p, lease, owner->created, state, err);
		ret = ret == -ESTALE ? -EAGAIN : ret;
		to_etcd_kv_free(owner, n);
		return ret;
	}
	to_etcd_kv_free(owner, n);
	if (!p->patience_ms)
		p->patience_ms = presence_now_ms() + (p->ttl + PRESENCE_GRACE_S) * 1000;
	ret = who == TO_AGENT_OWNER_ELSEWHERE && presence_now_ms() < p->patience_ms ? -EAGAIN :
										      -EBUSY;
	return to_error_set(err, ret, "server %s has an agent already: %s", p->server, name);
}

int to_agent_presence_claim(struct to_agent_presence *p, const json_t *state,
			    struct to_error *err)
{
	const uint64_t now = presence_now_ms();
	int64_t lease;
	int ret;

	p->lease = 0;
	ret = to_etcd_lease(p->etcd, p->ttl, &lease, err);
	if (ret)
		return ret;
	ret = presence_take(p, lease, 0, state, err);
	if (ret == -ESTALE)
		ret = presence_succeed(p, lease, state, err);
	if (ret == -EBUSY)
		presence_complain(p, lease);
	else if (ret)
		to_etcd_revoke(p->etcd, lease, NULL);
	if (ret)
		return ret;
	p->lease = lease;
	p->kept_ms = now;
	p->patience_ms = 0;
	return 0;
}

int to_agent_presence_keep(struct to_agent_presence *p, struct to_error *err)
{
	const uint64_t now = presence_now_ms();
	int ret = p->lease ? to_etcd_keep(p->etcd, p->lease, err) : -ENOENT;

	if (!ret)
		p->kept_ms = now;
	return ret;
}

static int presence_put(struct to_agent_presence *p, const char *what, const char *text,
			struct to_error *err)
{
	struct to_etcd_txn txn;
	char key[256];

	if (to_etcd_txn_begin(&txn, p->etcd))
		return to_error_set(err, -ENOMEM, "out of memory");
	to_etcd_txn_put(&txn, presence_key(key, p, what), text, strlen(text), p->lease);
	return to_etcd_txn_commit(&txn, NULL, err);
}

/* In pieces first, then a word that they are there. */
static int presence_put_large(struct to_agent_presence *p, const char *what,
			      const json_t *reply, const char *text, size_t len,
			      struct to_error *err)
{
	char owner[256], key[256];
	struct to_etcd_upload upload = {
		.etcd = p->etcd, .lock = presence_key(owner, p, TO_ETCD_OWNER),
		.created = p->created, .lease = p->lease,
	};
	json_t *word;
	char *said;
	int ret;

	if (len > TO_ETCD_REPLY_MAX)
		return to_error_set(err, -E2BIG, "a reply of %zu bytes; %u are the most", len,
				    TO_ETCD_REPLY_MAX);
	ret = to_etcd_upload_add(&upload, to_etcd_key_sample(key, p->server, what), text, len,
				 err);
	ret = ret ? ret : to_etcd_upload_end(&upload, err);
	if (ret)
		return ret == -ESTALE ? -ENOENT : ret;
	word = json_pack("{s:O*, s:O*, s:b}", "id", json_object_get(reply, "id"), "ok",
			 json_object_get(reply, "ok"), "large", 1);
	said = word ? json_dumps(word, JSON_COMPACT) : NULL;
	ret = said ? presence_put(p, what, said, err) :
		     to_error_set(err, -ENOMEM, "out of memory");
	free(said);
	json_decref(word);
	return ret;
}

int to_agent_presence_say(struct to_agent_presence *p, const char *what, const json_t *reply,
			  struct to_error *err)
{
	char *text;
	size_t len;
	int ret;

	if (!p->lease)
		return -ENOENT;
	text = json_dumps(reply, JSON_COMPACT);
	if (!text)
		return to_error_set(err, -ENOMEM, "out of memory");
	len = strlen(text);
	ret = len <= PRESENCE_VALUE_MAX ? presence_put(p, what, text, err) :
					  presence_put_large(p, what, reply, text, len, err);
	free(text);
	return ret;
}

void to_agent_presence_end(struct to_agent_presence *p)
{
	if (p->lease)
		to_etcd_revoke(p->etcd, p->lease, NULL);
	p->lease = 0;
}
