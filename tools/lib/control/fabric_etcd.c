// SPDX-License-Identifier: GPL-2.0-or-later
/* Agents of a cluster, reached through etcd: etcd_key.h has the keys. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "control/etcd_blob.h"
#include "control/etcd_key.h"
#include "control/etcd_lock.h"
#include "control/etcd_owner.h"
#include "control/fabric_link.h"
#include "control/note_limit.h"
#include "format/cluster_json.h"
#include "format/names.h"
#include "format/plan_json.h"
#include "format/plan_slice.h"

#define CLUSTER_RETRY_NS 100000000
#define CLUSTER_COMPACT_MS 60000
#define CLUSTER_SILENCE_MS 3000		/* while agents are waited for */
#define CLUSTER_SWEPT 100u		/* operations of a transaction, of which etcd allows 128 */
#define CLUSTER_LATE 64u		/* events of each server, when none is waited for */

/**
 * struct cluster_signs - signs of an agent's life
 * @seen: revision of what it wrote last, 0: it has gone
 * @missed: revision of the last request that it did not answer in time, 0: none
 * @stray: another name, that of an agent which the server's name fits; "" for none
 *
 * A lease that others keep leaves the keys of an agent that died. So one that does not answer
 * a request is present again when it has written something since.
 */
struct cluster_signs {
	int64_t seen, missed;
	char stray[TO_NAME_MAX];
};

/**
 * struct cluster_link - the connections
 * @note: see to_fabric_options, may be NULL
 * @signs: per server, of its agent
 * @rivals: per server, agent that wanted to be its second, as last told of, or ""
 * @limits: per server, of what is told of its rivals
 * @shard, @decision: of to_fabric_options, and the key of its decisions
 * @observe: we never are the controller
 * @lock: our controller key
 * @uploaded: generation whose plan is in etcd because of us
 * @active, @plan: as in decisions, see agent_etcd.h
 * @stale: whether these two still hold is to be read first
 * @decided, @asked: id of the last decision that is known of, and of the last
 *	that we asked for
 * @theirs: generation that another controller decided since we opened, or 0
 * @revision: of the store, as last seen
 * @epoch: of etcd, which all revisions here are of
 * @old, @compacted_ms: @revision at the last compaction, and when that was
 */
struct cluster_link {
	struct to_fabric_link link;
	const struct to_cluster *cluster;
	struct to_etcd *etcd;
	struct to_etcd_watch *watch;
	void (*note)(const char *text);
	struct cluster_signs *signs;
	char (*rivals)[320];
	struct to_note_limit *limits;
	const char *shard;
	char decision[256];
	bool observe;
	struct to_etcd_lock lock;
	uint64_t uploaded, active, plan, compacted_ms;
	bool stale;
	json_int_t decided, asked;
	uint64_t theirs;
	int64_t revision, old;
	unsigned int epoch;
};

static uint64_t cluster_now_ms(void)
{
	return to_clock_monotonic_ns() / 1000000;
}

static int cluster_keep(struct cluster_link *c, struct to_error *err)
{
	int ret = c->observe ? 0 : to_etcd_lock_keep(&c->lock, err);

	/* It was late. Whoever came in between has made a later generation. */
	c->stale |= ret == 1 || ret == -ESTALE;
	if (ret == -ESTALE)
		return to_error_set(err, ret, "another controller has taken over");
	return ret == 1 ? 0 : ret;
}

/* Server and "state" or "matrix" of a key of agent @name; -1: no server of ours. */
static int cluster_server(const struct cluster_link *c, const char *key, char name[TO_NAME_MAX],
			  const char **what)
{
	const char *const start = key + strlen(TO_ETCD_AGENTS), *const slash = strchr(start, '/');

	name[0] = '\0';
	if (!slash || slash - start >= TO_NAME_MAX)
		return -1;
	snprintf(name, TO_NAME_MAX, "%.*s", (int)(slash - start), start);
	*what = slash + 1;
	return to_cluster_find_server(c->cluster, name);
}

/* An agent that has no server's name to the letter, which its keys need, but one that fits. */
static void cluster_note_stray(struct cluster_link *c, const char *name, bool gone)
{
	const int server = to_names_is_name(name) ? to_cluster_find_host(c->cluster, name) : -1;

	if (server >= 0)
		snprintf(c->signs[server].stray, TO_NAME_MAX, "%s", gone ? "" : name);
}

static bool cluster_is_present(const struct cluster_link *c, unsigned int server)
{
	return c->signs[server].seen > c->signs[server].missed;
}

static void cluster_note_rival(struct cluster_link *c, unsigned int server, const char *owner)
{
	char name[320], text[512];

	to_etcd_owner_name(name, owner);
	if (!strcmp(name, c->rivals[server]))
		return;
	strcpy(c->rivals[server], name);
	snprintf(text, sizeof(text), "%s: a second agent was refused: %s",
		 c->cluster->servers[server].name, name);
	if (c->note)
		to_note_limit_note(&c->limits[server], c->cluster->servers[server].name, text, c->note);
}

static void cluster_note_rest(struct cluster_link *c, bool end)
{
	for (unsigned int i = 0; c->note && i < c->cluster->n_servers; i++)
		to_note_limit_note_rest(&c->limits[i], c->cluster->servers[i].name, end, c->note);
}

/*
 * Fetch a reply that says it is large, as it was at revision @at, when it said so: its parts
 * may have been overwritten by the next one, for somebody else. NULL: out of memory.
 */
static json_t *cluster_fetch(struct cluster_link *c, unsigned int server, const char *what,
			     int64_t at, json_t *word)
{
	struct to_error why = {};
	json_t *reply = NULL;
	char key[256], *text;

	if (!json_is_true(json_object_get(word, "large")))
		return word;
	to_etcd_key_sample(key, c->cluster->servers[server].name, what);
	if (!to_etcd_download_at(c->etcd, key, at, &text, &why)) {
		if (strlen(text) <= TO_ETCD_REPLY_MAX)
			reply = to_json_load(text, strlen(text), 2 * TO_ETCD_REPLY_MAX, "reply",
					     &why);
		free(text);
		if (!json_equal(json_object_get(reply, "id"), json_object_get(word, "id"))) {
			to_error_set(&why, -ESTALE, "its reply is not the one that it announced");
			json_decref(reply);
			reply = NULL;
		}
	}
	json_decref(word);
	return reply ? reply : json_pack("{s:b, s:s}", "ok", 0, "error", why.text);
}

/* @call is what is waited for, or NULL. */
static void cluster_event(struct cluster_link *c, const struct to_fabric_call *call,
			  const struct to_etcd_kv *kv)
{
	const char *what;
	char name[TO_NAME_MAX];
	int server = cluster_server(c, kv->key, name, &what);
	json_t *reply;

	if (server < 0) {
		cluster_note_stray(c, name, kv->deleted);
		return;
	}
	if (kv->deleted) {
		if (!strcmp(what, "state"))
			c->signs[server].seen = 0;
		return;
	}
	if (!strcmp(what, TO_ETCD_RIVAL))
		cluster_note_rival(c, server, kv->value);
	else if (kv->revision > c->signs[server].seen && strcmp(what, TO_ETCD_OWNER))
		c->signs[server].seen = kv->revision;
	if (!call || !call->who[server] || call->replies[server])
		return;
	reply = to_json_load(kv->value, kv->len, 2 * TO_ETCD_REPLY_MAX, kv->key, NULL);
	if (json_equal(json_object_get(reply, "id"), json_object_get(call->request, "id")))
		call->replies[server] = cluster_fetch(c, server, what, kv->revision, reply);
	else
		json_decref(reply);
}

/* Who is there, and answered; from there on it is watched. */
static int cluster_read_agents(struct cluster_link *c, const struct to_fabric_call *call,
			       struct to_error *err)
{
	struct to_etcd_watch *watch;
	struct to_etcd_kv *kv;
	int64_t revision;
	size_t n;
	int ret;

	ret = to_etcd_get(c->etcd, TO_ETCD_AGENTS, true, &kv, &n, &revision, err);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < c->cluster->n_servers; i++) {
		c->signs[i].seen = 0;
		c->signs[i].stray[0] = '\0';
	}
	for (size_t i = 0; i < n; i++)
		cluster_event(c, call, &kv[i]);
	to_etcd_kv_free(kv, n);
	watch = to_etcd_watch(c->etcd, TO_ETCD_AGENTS, revision + 1, CLUSTER_SILENCE_MS, err);
	if (!watch)
		return -ENOMEM;
	to_etcd_watch_close(c->watch);
	c->watch = watch;
	return 0;
}

/* Decision @op of @generation was made. */
static void cluster_decided(struct cluster_link *c, const char *op, uint64_t generation)
{
	if (!strcmp(op, "confirm"))
		c->plan = c->active = generation;
	else if (!strcmp(op, "revert"))
		c->active = generation;
	else if (!strcmp(op, "clear"))
		c->plan = c->active = 0;
}

/* What was decided last. */
static int cluster_read(struct cluster_link *c, struct to_error *err)
{
	struct to_etcd_kv *kv;
	const char *op;
	json_int_t id;
	json_t *last;
	size_t n;
	int ret;

	ret = to_etcd_get(c->etcd, c->decision, false, &kv, &n, &c->revision, err);
	if (ret)
		return ret;
	last = n ? json_loads(kv->value, 0, NULL) : NULL;
	to_etcd_kv_free(kv, n);
	op = json_string_value(json_object_get(last, "op"));
	c->link.generation = json_integer_value(json_object_get(last, "generation"));
	c->active = json_integer_value(json_object_get(last, "active"));
	c->plan = json_integer_value(json_object_get(last, "plan"));
	c->link.staged = op && !strcmp(op, "stage");
	c->link.committed = op && !strcmp(op, "commit");
	cluster_decided(c, op ? op : "", c->link.generation);
	/* What is dropped may be older than what is active. */
	if (c->link.generation < c->active)
		c->link.generation = c->active;
	id = json_integer_value(json_object_get(last, "id"));
	if (c->stale && id != c->decided && id != c->asked)
		c->theirs = c->link.generation;
	c->decided = id;
	c->stale = false;
	json_decref(last);
	return 0;
}

/* A generation chosen before another controller decided is none to bring servers to. */
static int cluster_check_later(const struct cluster_link *c, const char *op,
			       uint64_t generation, struct to_error *err)
{
	if (generation > c->theirs ||
	    (strcmp(op, "stage") && strcmp(op, "commit") && strcmp(op, "revert")))
		return 0;
	return to_error_set(err, -ESTALE,
			    "generation %" PRIu64 " was decided by another controller",
			    c->theirs);
}

/* Upload the rest of a plan, or nothing without one. */
static int cluster_upload_rest(const struct cluster_link *c, struct to_etcd_upload *upload,
			       const json_t *rest, uint64_t generation, struct to_error *err)
{
	char key[256], *text = rest ? json_dumps(rest, JSON_COMPACT) : NULL;
	int ret;

	if (!text)
		return rest ? to_error_set(err, -ENOMEM, "out of memory") : 0;
	ret = to_etcd_upload_add(upload, to_etcd_key_plan(key, c->shard, generation, "rest", ""),
				 text, strlen(text), err);
	free(text);
	return ret;
}

/* The parts of @plan, to be staged as @generation; @rest: of to_plan_slice_rest(). */
static int cluster_upload(struct cluster_link *c, const struct to_plan *plan,
			  const json_t *rest, uint64_t generation, struct to_error *err)
{
	struct to_etcd_upload upload = {
		.etcd = c->etcd, .lock = TO_ETCD_CONTROLLER, .created = c->lock.created,
	};
	char key[256], *text = NULL;
	size_t len = 0;
	FILE *out;
	int ret;

	ret = to_etcd_upload_add(&upload, to_etcd_key_plan(key, c->shard, generation, "job", ""),
				 plan->demand->name, strlen(plan->demand->name), err);
	ret = ret ? ret : cluster_upload_rest(c, &upload, rest, generation, err);
	for (unsigned int i = 0; !ret && i <= c->cluster->n_servers; i++) {
		const bool all = i == c->cluster->n_servers;

		out = open_memstream(&text, &len);
		if (!out)
			return to_error_set(err, -ENOMEM, "out of memory");
		if (all)
			to_cluster_print_unchecked(out, plan->cluster);
		else
			ret = to_plan_print_table(out, plan, i);
		fclose(out);
		to_etcd_key_plan(key, c->shard, generation, all ? "cluster" : "tables/",
				 all ? "" : c->cluster->servers[i].name);
		ret = ret ? to_error_set(err, ret, "out of memory") :
			    to_etcd_upload_add(&upload, key, text, len, err);
		free(text);
		if (!ret)
			ret = cluster_keep(c, err);
		upload.created = c->lock.created;
	}
	ret = ret ? ret : to_etcd_upload_end(&upload, err);
	if (!ret)
		c->uploaded = generation;
	return ret;
}

static bool cluster_is_query(const char *op)
{
	return !strcmp(op, "hello") || !strcmp(op, "sample") || !strcmp(op, "look") ||
	       !strcmp(op, "inventory") || !strcmp(op, "doctor") || !strcmp(op, "load");
}

/* With decision @op of @generation nobody needs the parts of some plans any more. */
static void cluster_delete_plans(const struct cluster_link *c, struct to_etcd_txn *txn,
				 const char *op, uint64_t generation)
{
	uint64_t first = 0, end = TO_ETCD_PLAN_LAST;
	char from[256], to[256];

	if (!strcmp(op, "confirm"))
		end = generation;	/* what was before */
	else if (!strcmp(op, "abort") || !strcmp(op, "revert"))
		first = c->plan + 1;	/* what was to come */
	else if (strcmp(op, "clear"))
		return;
	to_etcd_txn_delete(txn, to_etcd_key_plan(from, c->shard, first, "", ""),
			   to_etcd_key_plan(to, c->shard, end, "", ""));
}

/* Whom decision @request is for. */
static void cluster_address(const struct cluster_link *c, json_t *request)
{
	json_t *servers;

	if (!c->shard)
		return;
	servers = json_array();
	for (unsigned int i = 0; i < c->cluster->n_servers; i++)
		json_array_append_new(servers, json_string(c->cluster->servers[i].name));
	json_object_set_new(request, "shard", json_string(c->shard));
	json_object_set_new(request, "servers", servers);
}

/* One transaction, only while we are the controller. */
static int cluster_ask(struct cluster_link *c, const char *op, json_t *request,
		       struct to_error *err)
{
	uint64_t generation = json_integer_value(json_object_get(request, "generation"));
	struct to_etcd_txn txn;
	char *text;
	int ret;

	json_object_del(request, "rest");	/* it is among the plan's parts, and has the key */
	if (!cluster_is_query(op)) {
		cluster_address(c, request);
		json_object_set_new(request, "active", json_integer(c->active));
		json_object_set_new(request, "plan", json_integer(c->plan));
		json_object_set_new(request, "controller", json_integer(c->lock.created));
		c->asked = json_integer_value(json_object_get(request, "id"));
	}
	text = json_dumps(request, JSON_COMPACT);
	if (!text || to_etcd_txn_begin(&txn, c->etcd)) {
		free(text);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	if (!c->observe)
		to_etcd_txn_created(&txn, TO_ETCD_CONTROLLER, c->lock.created);
	to_etcd_txn_put(&txn, c->observe ? TO_ETCD_LOOK :
			cluster_is_query(op) ? TO_ETCD_QUERY : c->decision, text,
			strlen(text), 0);
	free(text);
	cluster_delete_plans(c, &txn, op, generation);
	ret = to_etcd_txn_commit(&txn, &c->revision, err);
	if (ret)
		c->stale = true;	/* it may have been made all the same */
	else
		cluster_decided(c, op, generation);
	if (!ret && !cluster_is_query(op))
		c->decided = c->asked;
	if (ret == -ESTALE)
		to_error_set(err, ret, "another controller has taken over");
	return ret;
}

/*
 * etcd keeps every change until it is told who needs it: nobody, once it is a
 * minute old. It is no failure when it does not do as told.
 */
static void cluster_compact(struct cluster_link *c)
{
	uint64_t now = cluster_now_ms();

	if (c->observe || now < c->compacted_ms + CLUSTER_COMPACT_MS)
		return;
	to_etcd_compact(c->etcd, c->old, NULL);
	c->old = c->revision;
	c->compacted_ms = now;
}

/*
 * An agent that is away carries out what was decided when it comes back, so it is worth
 * waiting for it. A query can be made again, so it waits for agents that answered the last
 * request. Other requests wait for agents that have a key.
 */
static bool cluster_waits(const struct cluster_link *c, const struct to_fabric_call *call,
			  bool decided, bool query)
{
	for (unsigned int i = 0; i < c->cluster->n_servers; i++)
		if (call->who[i] && !call->replies[i] &&
		    (decided || (query ? cluster_is_present(c, i) : c->signs[i].seen > 0)))
			return true;
	return false;
}

static int cluster_read_controller(struct cluster_link *c, struct to_error *err)
{
	struct to_etcd_kv *kv;
	size_t n;
	int ret = to_etcd_get(c->etcd, TO_ETCD_CONTROLLER, false, &kv, &n, NULL, err);

	if (ret)
		return ret;
	c->link.controller[0] = '\0';
	if (n)
		to_etcd_owner_name(c->link.controller, kv->value);
	to_etcd_kv_free(kv, n);
	return 0;
}

/* Say why @server did not answer. */
static void cluster_silent(const struct cluster_link *c, unsigned int server, char text[256])
{
	const struct cluster_signs *const signs = &c->signs[server];

	if (signs->seen)
		snprintf(text, 256, "its agent does not answer");
	else if (signs->stray[0])
		snprintf(text, 256, "no agent of it is there; one is called %s: if that is it, start it with --node %s",
			 signs->stray, c->cluster->servers[server].name);
	else
		snprintf(text, 256, "no agent of it is there");
}

static int cluster_gather(struct cluster_link *c, const struct to_fabric_call *call,
			  struct to_error *err)
{
	const char *op = json_string_value(json_object_get(call->request, "op"));
	const bool decided = !strcmp(op, "commit") || !strcmp(op, "confirm") ||
			     !strcmp(op, "revert");
	const uint64_t deadline = call->deadline_ns / 1000000;
	const int64_t asked = c->revision;
	unsigned int late = CLUSTER_LATE * c->cluster->n_servers;
	bool answered = false;
	struct to_error why;
	uint64_t timeout;
	int ret;

	/*
	 * Also when there is nobody to wait for: events tell who came back. What a server
	 * writes without end is left for the next time.
	 */
	do {
		uint64_t now = cluster_now_ms();
		struct to_etcd_kv kv;

		timeout = 0;
		if (now < deadline && cluster_waits(c, call, decided, cluster_is_query(op))) {
			timeout = TO_ETCD_LOCK_TTL * 1000 / 3;
			if (timeout > deadline - now)
				timeout = deadline - now;
			ret = cluster_keep(c, err);
			if (ret == -ESTALE)
				return ret;
		}
		ret = to_etcd_watch_next(c->watch, timeout, &kv, &why);
		if (ret == 1) {
			cluster_event(c, call, &kv);
			to_etcd_kv_clear(&kv);
		} else if (ret == -EAGAIN) {
			to_clock_sleep(CLUSTER_RETRY_NS);
		} else if (ret == -ESTALE || ret == -ETIMEDOUT) {
			/* an answer that is not the last one any more is only in the watch */
			ret = ret == -ESTALE ? cluster_read_agents(c, call, err) :
					       cluster_read_controller(c, err);
			if (ret)
				return ret;
		} else if (ret < 0 && ret != -EINTR) {
			return to_error_set(err, ret, "%s", why.text);
		}
	} while (timeout || (ret == 1 && late--));
	for (unsigned int i = 0; i < c->cluster->n_servers; i++)
		answered |= call->who[i] && call->replies[i];
	for (unsigned int i = 0; i < c->cluster->n_servers; i++) {
		if (!call->who[i] || call->replies[i])
			continue;
		cluster_silent(c, i, call->errors[i]);
		/* When nobody answers, the watch may be what is silent: waiting shows it. */
		if (c->signs[i].seen && answered)
			c->signs[i].missed = asked;
	}
	return 0;
}

/* Per server, the revision of the last decision of a shard that names it. */
static json_t *cluster_newest(json_t *const *requests, const struct to_etcd_kv *kv, size_t n)
{
	json_t *newest = json_object(), *server;
	size_t k;

	for (size_t i = 0; i < n; i++)
		json_array_foreach(json_object_get(requests[i], "servers"), k, server)
			if (json_is_string(server) && kv[i].revision >
			    json_integer_value(json_object_get(newest, json_string_value(server))))
				json_object_set_new(newest, json_string_value(server),
						    json_integer(kv[i].revision));
	return newest;
}

/* Whether each server of decision @request of revision @at has a later one. */
static bool cluster_is_past(const json_t *request, int64_t at, const json_t *newest)
{
	const json_t *servers = json_object_get(request, "servers"), *server;
	size_t k;

	json_array_foreach(servers, k, server)
		if (json_is_string(server) &&
		    json_integer_value(json_object_get(newest, json_string_value(server))) <= at)
			return false;
	return json_string_value(json_object_get(request, "shard")) && json_array_size(servers);
}

/*
 * Shards come and go: what was decided for one that nobody will follow any more is
 * forgotten, so that there are never more than servers. No failure matters.
 */
static void cluster_sweep(struct cluster_link *c)
{
	char from[256], to[256];
	struct to_etcd_txn txn;
	struct to_etcd_kv *kv;
	json_t **requests, *newest;
	unsigned int ops = 0;
	const char *shard;
	size_t n;

	if (to_etcd_get(c->etcd, TO_ETCD_DECISION "/", true, &kv, &n, NULL, NULL))
		return;
	requests = calloc(n + 1, sizeof(*requests));
	for (size_t i = 0; requests && i < n; i++)
		requests[i] = json_loads(kv[i].value, 0, NULL);
	newest = requests ? cluster_newest(requests, kv, n) : NULL;
	for (size_t i = 0; newest && i < n && ops < CLUSTER_SWEPT; i++) {
		if (!cluster_is_past(requests[i], kv[i].revision, newest) ||
		    !strcmp(kv[i].key, c->decision))
			continue;
		if (!ops && to_etcd_txn_begin(&txn, c->etcd))
			break;
		if (!ops)
			to_etcd_txn_created(&txn, TO_ETCD_CONTROLLER, c->lock.created);
		shard = json_string_value(json_object_get(requests[i], "shard"));
		to_etcd_txn_delete(&txn, kv[i].key, NULL);
		to_etcd_txn_delete(&txn, to_etcd_key_plan(from, shard, 0, "", ""),
				   to_etcd_key_plan(to, shard, TO_ETCD_PLAN_LAST, "", ""));
		ops += 2;
	}
	if (ops)
		to_etcd_txn_commit(&txn, NULL, NULL);
	json_decref(newest);
	for (size_t i = 0; requests && i < n; i++)
		json_decref(requests[i]);
	free(requests);
	to_etcd_kv_free(kv, n);
}

/* etcd is another one, or was set back: nothing that was read or written holds any more. */
static int cluster_begin_epoch(struct cluster_link *c, struct to_error *err)
{
	c->epoch = to_etcd_epoch(c->etcd);
	c->stale = true;
	c->link.forgot = true;
	c->uploaded = 0;
	c->old = 0;
	for (unsigned int i = 0; i < c->cluster->n_servers; i++)
		c->signs[i].missed = 0;
	if (c->note)
		c->note("etcd is not the one that it was, or was set back: all servers are told again what was decided");
	return cluster_read_agents(c, NULL, err);
}

static int cluster_call(struct to_fabric_link *link, const struct to_fabric_call *call,
			struct to_error *err)
{
	struct cluster_link *c = (struct cluster_link *)link;
	const char *op = json_string_value(json_object_get(call->request, "op"));
	uint64_t generation = json_integer_value(json_object_get(call->request, "generation"));
	int ret = cluster_keep(c, err);

	if (!ret && c->observe)
		ret = cluster_read_controller(c, err);
	if (!ret && c->epoch != to_etcd_epoch(c->etcd))
		ret = cluster_begin_epoch(c, err);
	if (!ret && c->stale)
		ret = cluster_read(c, err);
	ret = ret ? ret : cluster_check_later(c, op, generation, err);
	if (!ret && call->plan && !cluster_is_query(op) && c->uploaded != generation)
		ret = cluster_upload(c, call->plan, json_object_get(call->request, "rest"),
				     generation, err);
	ret = ret ? ret : cluster_ask(c, op, call->request, err);
	ret = ret ? ret : cluster_gather(c, call, err);
	if (!ret)
		cluster_compact(c);
	cluster_note_rest(c, false);
	return ret;
}

static void cluster_close(struct to_fabric_link *link)
{
	struct cluster_link *c = (struct cluster_link *)link;

	cluster_note_rest(c, true);
	to_etcd_watch_close(c->watch);
	to_etcd_lock_release(&c->lock);
	to_etcd_close(c->etcd);
	free(c->signs);
	free(c->rivals);
	free(c->limits);
	free(c);
}

struct to_fabric_link *to_fabric_cluster(const struct to_cluster *cluster,
					 const struct to_fabric_options *options,
					 struct to_error *err)
{
	struct cluster_link *c = calloc(1, sizeof(*c));
	struct to_etcd_options etcd = options->etcd;

	if (c) {
		c->signs = calloc(cluster->n_servers, sizeof(*c->signs));
		c->rivals = calloc(cluster->n_servers, sizeof(*c->rivals));
		c->limits = calloc(cluster->n_servers, sizeof(*c->limits));
	}
	if (!c || !c->signs || !c->rivals || !c->limits) {
		if (c) {
			free(c->signs);
			free(c->rivals);
			free(c->limits);
		}
		free(c);
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	etcd.role = TO_ETCD_CONTROLLER;
	c->note = options->note;
	c->shard = options->shard;
	to_etcd_key_decision(c->decision, c->shard);
	c->link.learns = true;
	c->observe = options->observe;
	c->link.call = cluster_call;
	c->link.close = cluster_close;
	c->cluster = cluster;
	c->etcd = to_etcd_open(&etcd, err);
	if (c->etcd && (c->observe || !to_etcd_lock_take(&c->lock, c->etcd, &etcd, TO_ETCD_CONTROLLER,
						     0, "another controller is at work", err)) &&
	    !cluster_read(c, err) &&
	    !cluster_read_agents(c, NULL, err)) {
		c->old = c->revision;
		c->epoch = to_etcd_epoch(c->etcd);
		c->compacted_ms = cluster_now_ms();
		if (c->shard && !c->observe)
			cluster_sweep(c);
		return &c->link;
	}
	cluster_close(&c->link);
	return NULL;
}
