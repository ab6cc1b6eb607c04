// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/agent_presence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "control/etcd_blob.h"
#include "control/etcd_key.h"

#define PRESENCE_VALUE_MAX 250000u	/* controllers read those of all agents at once */

static const char *presence_key(char key[256], const struct to_agent_presence *p,
				const char *what)
{
	snprintf(key, 256, TO_ETCD_AGENTS "%s/%s", p->server, what);
	return key;
}

void to_agent_presence_init(struct to_agent_presence *p, struct to_etcd *etcd,
			    const char *server, unsigned int ttl)
{
	*p = (struct to_agent_presence){ .etcd = etcd, .server = server };
	p->owner.key = presence_key(p->key, p, TO_ETCD_OWNER);
	p->owner.ttl = ttl;
}

bool to_agent_presence_is_claimed(const struct to_agent_presence *p)
{
	return p->owner.created;
}

/* Tell controllers that this server has two agents; no failure matters. */
static void presence_complain(struct to_agent_presence *p)
{
	char *value = to_etcd_owner_value(&p->owner), key[256];
	struct to_etcd_txn txn;
	int64_t lease;

	if (value && !to_etcd_lease(p->etcd, p->owner.ttl, &lease, NULL) &&
	    !to_etcd_txn_begin(&txn, p->etcd)) {
		to_etcd_txn_put(&txn, presence_key(key, p, TO_ETCD_RIVAL), value, strlen(value),
				lease);
		to_etcd_txn_commit(&txn, NULL, NULL);
	}
	free(value);
}

int to_agent_presence_claim(struct to_agent_presence *p, struct to_error *err)
{
	const uint64_t now = to_clock_monotonic_ns() / 1000000;
	int ret = to_etcd_owner_claim(&p->owner, p->etcd, err);

	if (ret == -EBUSY)
		presence_complain(p);
	if (ret == -EBUSY)
		return to_error_set(err, ret, "server %s has an agent already: %s", p->server,
				    p->owner.other);
	if (ret == -EAGAIN)
		return to_error_set(err, ret, "server %s had an agent: asking whether %s lives",
				    p->server, p->owner.other);
	if (!ret)
		p->kept_ms = now;
	return ret;
}

void to_agent_presence_lose(struct to_agent_presence *p)
{
	p->owner.created = 0;
}

int to_agent_presence_keep(struct to_agent_presence *p, struct to_error *err)
{
	const uint64_t now = to_clock_monotonic_ns() / 1000000;
	int ret = to_etcd_owner_keep(&p->owner, p->etcd, err);

	if (!ret)
		p->kept_ms = now;
	return ret;
}

static int presence_put(struct to_agent_presence *p, const char *what, const char *text,
			struct to_error *err)
{
	struct to_etcd_txn txn;
	char key[256];
	int ret;

	if (to_etcd_txn_begin(&txn, p->etcd))
		return to_error_set(err, -ENOMEM, "out of memory");
	to_etcd_txn_created(&txn, p->owner.key, p->owner.created);
	to_etcd_txn_put(&txn, presence_key(key, p, what), text, strlen(text), p->owner.lease);
	ret = to_etcd_txn_commit(&txn, NULL, err);
	return ret == -ESTALE ? -ENOENT : ret;
}

/* In pieces first, then a word that they are there. */
static int presence_put_large(struct to_agent_presence *p, const char *what,
			      const json_t *reply, const char *text, size_t len,
			      struct to_error *err)
{
	struct to_etcd_upload upload = {
		.etcd = p->etcd, .lock = p->owner.key, .created = p->owner.created,
		.lease = p->owner.lease,
	};
	char key[256];
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

	if (!p->owner.created)
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

/* Delete what was said, while the name is ours; no failure matters. */
static int presence_delete(struct to_agent_presence *p)
{
	static const char *const said[] = { "state", "matrix", "look" };
	struct to_etcd_txn txn;
	char key[256], end[256];

	if (to_etcd_txn_begin(&txn, p->etcd))
		return -ENOMEM;
	to_etcd_txn_created(&txn, p->owner.key, p->owner.created);
	for (unsigned int i = 0; i < sizeof(said) / sizeof(*said); i++)
		to_etcd_txn_delete(&txn, presence_key(key, p, said[i]), NULL);
	snprintf(key, sizeof(key), TO_ETCD_SAMPLES "%s/", p->server);
	snprintf(end, sizeof(end), TO_ETCD_SAMPLES "%s0", p->server);
	to_etcd_txn_delete(&txn, key, end);
	return to_etcd_txn_commit(&txn, NULL, NULL);
}

void to_agent_presence_end(struct to_agent_presence *p)
{
	/* An etcd that does not answer costs its time once. */
	if (p->owner.created && presence_delete(p) == -EHOSTUNREACH)
		p->owner.created = p->owner.lease = 0;
	to_etcd_owner_release(&p->owner, p->etcd);
}
