// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/agent_etcd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "control/etcd_blob.h"

#define FOLLOW_RETRY_NS 200000000
#define FOLLOW_FRESH_MS 1000

/**
 * struct follower - an agent at work
 * @lease: 0 until our state is there under one
 * @handled: revision of the decision that was carried out last
 * @staged: generation whose stage the agent holds as far as we know, or 0
 * @kept_ms: when the lease was prolonged
 * @unsaid: the last answer, under @what, when etcd did not take it
 * @apart: etcd does not answer
 */
struct follower {
	const struct to_agent_etcd *config;
	struct to_etcd *etcd;
	struct to_etcd_watch *watch;
	int64_t lease, handled;
	uint64_t staged, kept_ms;
	json_t *unsaid;
	const char *what;
	bool apart;
};

const char *to_etcd_plan_key(char key[256], uint64_t generation, const char *what,
			     const char *server)
{
	snprintf(key, 256, "plans/%020" PRIu64 "/%s%s", generation, what, server);
	return key;
}

static uint64_t follow_now_ms(void)
{
	return to_clock_monotonic_ns() / 1000000;
}

static void follow_note(struct follower *f, bool apart, const char *text)
{
	if (apart != f->apart && f->config->note)
		f->config->note(text);
	f->apart = apart;
}

static bool follow_is_ok(const json_t *reply)
{
	return json_is_true(json_object_get(reply, "ok"));
}

static json_int_t follow_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static json_t *follow_refuse(const struct to_error *why)
{
	return json_pack("{s:b, s:s}", "ok", 0, "error", why->text);
}

static int follow_download(struct follower *f, uint64_t plan, const char *what,
			   const char *server, char **text, struct to_error *err)
{
	char key[256];

	return to_etcd_download(f->etcd, to_etcd_plan_key(key, plan, what, server), text, err);
}

/*
 * A stage as @generation of this server's part of the plan kept as @plan; @active as
 * in a request.
 */
static json_t *follow_stage(struct follower *f, uint64_t plan, uint64_t generation,
			    uint64_t active)
{
	char *job = NULL, *cluster = NULL, *table = NULL;
	json_t *request = NULL, *reply;
	struct to_error why = {};
	int ret;

	ret = follow_download(f, plan, "tables/", f->config->server, &table, &why);
	if (ret == -ENOENT)
		to_error_set(&why, ret, "the plan has no server called %s", f->config->server);
	ret = ret ? ret : follow_download(f, plan, "cluster", "", &cluster, &why);
	ret = ret ? ret : follow_download(f, plan, "job", "", &job, &why);
	if (!ret)
		request = json_pack("{s:s, s:I, s:I, s:s, s:s, s:s}", "op", "stage",
				    "generation", (json_int_t)generation, "active",
				    (json_int_t)active, "job", job, "cluster", cluster,
				    "table", table);
	reply = ret ? follow_refuse(&why) : f->config->call(f->config->agent, request);
	json_decref(request);
	free(job);
	free(cluster);
	free(table);
	return reply;
}

static json_t *follow_call(struct follower *f, const char *op, uint64_t generation)
{
	json_t *request = json_pack("{s:s, s:I}", "op", op, "generation",
				    (json_int_t)generation);
	json_t *reply = f->config->call(f->config->agent, request);

	json_decref(request);
	return reply;
}

/* From whatever is active to the plan kept as @plan, under @generation. */
static json_t *follow_catch_up(struct follower *f, uint64_t plan, uint64_t generation,
			       bool confirm)
{
	json_t *reply = follow_stage(f, plan, generation, 0);

	if (follow_is_ok(reply)) {
		json_decref(reply);
		reply = follow_call(f, "commit", generation);
	}
	if (confirm && follow_is_ok(reply)) {
		json_decref(reply);
		reply = follow_call(f, "confirm", generation);
	}
	return reply;
}

/* A decision; also one that was made while this agent was away. */
static json_t *follow_decision(struct follower *f, const json_t *request)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	uint64_t generation = follow_number(request, "generation"), plan = generation;
	const bool held = f->staged && f->staged == generation;
	bool confirm = true;
	json_t *reply;

	if (!op)
		op = "";
	f->staged = 0;
	if (!strcmp(op, "stage")) {
		reply = follow_stage(f, generation, generation, follow_number(request, "active"));
		f->staged = follow_is_ok(reply) ? generation : 0;
		return reply;
	}
	reply = f->config->call(f->config->agent, request);
	if (!strcmp(op, "commit")) {
		confirm = false;
	} else if (!strcmp(op, "abort")) {
		plan = follow_number(request, "plan");
		generation = follow_number(request, "active");
	} else if (!strcmp(op, "revert")) {
		plan = follow_number(request, "plan");
	} else if (strcmp(op, "confirm")) {
		return reply;
	}
	if ((uint64_t)follow_number(reply, "generation") == generation) {
		/* Another plan has it: a commit that this agent had staged was refused. */
		if (held && !strcmp(op, "commit"))
			return reply;
		/* As wanted, whether or not this agent did it. */
		json_object_set_new(reply, "ok", json_true());
		json_object_del(reply, "error");
	} else if ((uint64_t)follow_number(reply, "generation") < generation && plan) {
		json_decref(reply);
		reply = follow_catch_up(f, plan, generation, confirm);
	}
	return reply;
}

/* Puts @reply under @what of this server, which goes when @lease does. */
static int follow_put(struct follower *f, const char *what, json_t *reply, int64_t lease,
		      struct to_error *err)
{
	char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
	struct to_etcd_txn txn;
	char key[256];

	snprintf(key, sizeof(key), TO_ETCD_AGENTS "%s/%s", f->config->server, what);
	if (!text || to_etcd_txn_begin(&txn, f->etcd)) {
		free(text);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	to_etcd_txn_put(&txn, key, text, strlen(text), lease);
	free(text);
	return to_etcd_txn_commit(&txn, NULL, err);
}

/* A new lease: what was put under the old one is gone. */
static int follow_renew(struct follower *f, struct to_error *err)
{
	json_t *reply = follow_call(f, "hello", 0);
	uint64_t now = follow_now_ms();
	int64_t lease;
	int ret;

	f->lease = 0;
	ret = to_etcd_lease(f->etcd, f->config->ttl, &lease, err);
	ret = ret ? ret : follow_put(f, "state", reply, lease, err);
	json_decref(reply);
	if (ret)
		return ret;
	f->lease = lease;
	f->kept_ms = now;
	return 0;
}

/* The lease may have ended while etcd was away, or the agent busy. */
static int follow_publish(struct follower *f, const char *what, json_t *reply,
			  struct to_error *err)
{
	int ret = f->lease ? follow_put(f, what, reply, f->lease, err) : -ENOENT;

	if (ret != -ENOENT)
		return ret;
	ret = follow_renew(f, err);
	return ret ? ret : follow_put(f, what, reply, f->lease, err);
}

/* Until etcd has taken it, or there is a newer one. */
static int follow_say(struct follower *f, struct to_error *err)
{
	int ret = follow_publish(f, f->what, f->unsaid, err);

	if (ret)
		return ret;
	json_decref(f->unsaid);
	f->unsaid = NULL;
	return 0;
}

static void follow_answer(struct follower *f, const struct to_etcd_kv *kv)
{
	json_t *request = json_loads(kv->value, 0, NULL), *reply;
	const char *op = json_string_value(json_object_get(request, "op"));
	struct to_error why = {};

	if (!strcmp(kv->key, TO_ETCD_DECISION)) {
		if (kv->revision <= f->handled)
			goto out;
		f->handled = kv->revision;
		reply = follow_decision(f, request);
	} else {
		reply = f->config->call(f->config->agent, request);
	}
	if (reply)
		json_object_set(reply, "id", json_object_get(request, "id"));
	json_decref(f->unsaid);
	f->unsaid = reply;
	f->what = op && !strcmp(op, "sample") ? "matrix" : "state";
	if (follow_say(f, &why))
		follow_note(f, true, why.text);
out:
	json_decref(request);
}

/*
 * After a start, what is active may be right already, but the agent does not
 * know its plan, which samples need: a stage says whether it is.
 */
static void follow_learn(struct follower *f, const struct to_etcd_kv *kv)
{
	json_t *last = json_loads(kv->value, 0, NULL);
	const char *op = json_string_value(json_object_get(last, "op"));
	uint64_t plan = follow_number(last, op && !strcmp(op, "confirm") ? "generation" : "plan");

	if (plan && op && (!strcmp(op, "confirm") || !strcmp(op, "abort") ||
			   !strcmp(op, "revert"))) {
		json_decref(follow_stage(f, plan, plan + 1, 0));
		json_decref(follow_call(f, "abort", 0));
	}
	json_decref(last);
}

/* Reads where things stand and goes on from there. */
static int follow_start(struct follower *f, struct to_error *err)
{
	struct to_etcd_kv *kv;
	int64_t revision;
	size_t n;
	int ret;

	to_etcd_watch_close(f->watch);
	f->watch = NULL;
	ret = to_etcd_get(f->etcd, TO_ETCD_DECISION, false, &kv, &n, &revision, err);
	if (ret)
		return ret;
	ret = f->lease ? 0 : follow_renew(f, err);
	if (!ret && n && kv->revision > f->handled) {
		follow_answer(f, kv);
		follow_learn(f, kv);
	}
	to_etcd_kv_free(kv, n);
	if (ret)
		return ret;
	f->watch = to_etcd_watch(f->etcd, "request/", revision + 1, err);
	return f->watch ? 0 : -ENOMEM;
}

static int follow_keep(struct follower *f, struct to_error *err)
{
	int ret = f->lease ? to_etcd_keep(f->etcd, f->lease, err) : -ENOENT;

	if (ret == -ENOENT)
		return follow_renew(f, err);
	if (!ret)
		f->kept_ms = follow_now_ms();
	return ret;
}

static int follow_step(struct follower *f, struct to_error *err)
{
	const uint64_t due = f->kept_ms + f->config->ttl * 1000ull / 3;
	uint64_t now = follow_now_ms();
	struct to_etcd_kv kv;
	int ret;

	if (!f->watch)
		return follow_start(f, err);
	if (now >= due)
		return follow_keep(f, err);
	if (f->unsaid)
		return follow_say(f, err);
	ret = to_etcd_watch_next(f->watch, due - now, &kv, err);
	if (ret == 1) {
		/* It may take a while. */
		if (follow_now_ms() > f->kept_ms + FOLLOW_FRESH_MS)
			follow_keep(f, err);
		follow_answer(f, &kv);
		to_etcd_kv_clear(&kv);
		return 0;
	}
	if (ret == -ESTALE) {
		to_etcd_watch_close(f->watch);
		f->watch = NULL;
		return 0;
	}
	return ret == -EINTR ? 0 : ret;
}

int to_agent_follow(const struct to_agent_etcd *config, struct to_error *err)
{
	struct follower f = { .config = config };
	int ret;

	f.etcd = to_etcd_open(&config->options, err);
	if (!f.etcd)
		return -EHOSTUNREACH;
	/* A member that hangs must not cost the lease. */
	to_etcd_hurry(f.etcd, config->ttl * 1000 / 2);
	ret = follow_start(&f, err);
	while (!*config->stop && (!ret || f.watch)) {
		ret = follow_step(&f, err);
		if (ret) {
			follow_note(&f, true, err->text);
			to_clock_sleep(FOLLOW_RETRY_NS);
			ret = 0;
		} else if (f.watch) {
			follow_note(&f, false, "etcd answers again");
		}
	}
	if (f.lease)
		to_etcd_revoke(f.etcd, f.lease, NULL);
	to_etcd_watch_close(f.watch);
	to_etcd_close(f.etcd);
	json_decref(f.unsaid);
	return ret;
}
