// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/agent_etcd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/agent_presence.h"
#include "control/etcd_blob.h"
#include "control/etcd_key.h"

#define FOLLOW_RETRY_NS 200000000
#define FOLLOW_REFUSED_NS 2000000000	/* a wrong password costs etcd 100 ms */
#define FOLLOW_FRESH_MS 1000
#define FOLLOW_LOOKS 16u		/* looks of observers that wait */
#define FOLLOW_LOOK_MS 90u		/* from one to the next, but half the time is for decisions */
#define FOLLOW_AGAIN_MS 100u		/* from one change of the state that is said to the next */
#define FOLLOW_SAMPLE_NS 10000000000ull	/* as long as an agent waits for a controller's sample */

/**
 * struct follower - an agent at work
 * @presence: what others see of it
 * @handled, @obeyed: revision of the decision that was looked at last, and of the
 *	one that was carried out
 * @decided: id of the decision that was looked at last
 * @epoch: of etcd, which these revisions are of
 * @past: id of the last decision of earlier epochs: what is not later was carried out, or
 *	was never to be
 * @staged: generation whose stage the agent holds as far as we know, or 0
 * @known: plan that the agent caught up with last, or 0
 * @shard: of the decision that is being followed, NULL: it is for all
 * @unsaid: the last answer, under @what, when etcd did not take it
 * @apart: etcd does not answer
 * @looks: those of observers that wait, @n_looks of them, the oldest first
 * @looks_ms: when the next answer to an observer may begin
 * @sample: that an observer waits for, NULL: none
 * @sample_ns: when to end it, CLOCK_REALTIME
 * @state: the last answer under "state", NULL: none yet
 * @changed: the server's state is another one than that
 * @again_ms: when it may be said again
 */
struct follower {
	const struct to_agent_etcd *config;
	struct to_etcd *etcd;
	struct to_etcd_watch *watch;
	struct to_agent_presence presence;
	int64_t handled, obeyed;
	json_int_t decided, past;
	unsigned int epoch;
	uint64_t staged, known;
	const char *shard;
	json_t *unsaid;
	const char *what;
	bool apart;
	json_t *looks[FOLLOW_LOOKS], *sample;
	unsigned int n_looks;
	uint64_t looks_ms;
	json_int_t sample_ns;
	json_t *state;
	bool changed;
	uint64_t again_ms;
};

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

	return to_etcd_download(f->etcd, to_etcd_key_plan(key, f->shard, plan, what, server), text,
				err);
}

/* The rest of a plan, which not all plans have. @rest: gets it, or NULL. */
static int follow_download_rest(struct follower *f, uint64_t plan, json_t **rest,
				struct to_error *err)
{
	char *text;
	int ret = follow_download(f, plan, "rest", "", &text, err);

	*rest = NULL;
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	*rest = json_loads(text, 0, NULL);
	free(text);
	return 0;
}

/*
 * A stage as @generation of this server's part of the plan kept as @plan; @active and
 * @ahead as in a request.
 */
static json_t *follow_stage(struct follower *f, uint64_t plan, uint64_t generation,
			    uint64_t active, bool ahead)
{
	char *job = NULL, *cluster = NULL, *table = NULL;
	json_t *request = NULL, *rest = NULL, *reply;
	struct to_error why = {};
	int ret;

	ret = follow_download(f, plan, "tables/", f->config->server, &table, &why);
	if (ret == -ENOENT)
		to_error_set(&why, ret, "the plan has no server called %s", f->config->server);
	ret = ret ? ret : follow_download(f, plan, "cluster", "", &cluster, &why);
	ret = ret ? ret : follow_download(f, plan, "job", "", &job, &why);
	ret = ret ? ret : follow_download_rest(f, plan, &rest, &why);
	if (!ret)
		request = json_pack("{s:s, s:I, s:I, s:s, s:s, s:s, s:O*, s:b}", "op", "stage",
				    "generation", (json_int_t)generation, "active",
				    (json_int_t)active, "job", job, "cluster", cluster,
				    "table", table, "rest", rest, "ahead", ahead);
	reply = ret ? follow_refuse(&why) : f->config->call(f->config->agent, request);
	json_decref(request);
	json_decref(rest);
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

/*
 * From whatever is active to the plan kept as @plan, under @generation; when it is
 * active as that already, to all of it.
 */
static json_t *follow_catch_up(struct follower *f, uint64_t plan, uint64_t generation,
			       bool confirm)
{
	json_t *reply = follow_stage(f, plan, generation, 0, false);

	if (follow_is_ok(reply)) {
		json_decref(reply);
		reply = follow_call(f, "commit", generation);
	}
	if (confirm && follow_is_ok(reply)) {
		json_decref(reply);
		reply = follow_call(f, "confirm", generation);
	}
	f->known = follow_is_ok(reply) ? plan : 0;
	return reply;
}

/* A decision; also one that was made while this agent was away. */
static json_t *follow_decision(struct follower *f, const json_t *request)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	uint64_t generation = follow_number(request, "generation"), plan = generation;
	const bool held = f->staged && f->staged == generation;
	bool confirm = true;
	uint64_t active;
	json_t *reply;

	if (!op)
		op = "";
	f->staged = 0;
	if (!strcmp(op, "clear"))
		f->known = 0;
	if (!strcmp(op, "stage")) {
		reply = follow_stage(f, generation, generation, follow_number(request, "active"),
				     json_is_true(json_object_get(request, "ahead")));
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
	active = follow_number(reply, "generation");
	/* Another plan has it: a commit that this agent had staged was refused. */
	if (active > generation ||
	    (active == generation && (follow_is_ok(reply) || (held && !strcmp(op, "commit")))))
		return reply;
	if (plan) {
		json_decref(reply);
		reply = follow_catch_up(f, plan, generation, confirm);
	} else if (active == generation) {
		/* As wanted, whether or not this agent did it. */
		json_object_set_new(reply, "ok", json_true());
		json_object_del(reply, "error");
	}
	return reply;
}

static void follow_keep_state(struct follower *f, json_t *reply)
{
	json_decref(f->state);
	f->state = json_incref(reply);
}

/* Take the name, and say the state anew: etcd may have nothing of what was said before. */
static int follow_claim(struct follower *f, struct to_error *err)
{
	int ret = to_agent_presence_claim(&f->presence, err);
	json_t *reply;

	if (ret)
		return ret;
	reply = follow_call(f, "hello", 0);
	ret = to_agent_presence_say(&f->presence, "state", reply, err);
	follow_keep_state(f, reply);
	json_decref(reply);
	if (ret)
		to_agent_presence_lose(&f->presence);
	return ret;
}

/* The name may be lost: etcd was away, or the agent busy, for longer than its TTL. */
static int follow_publish(struct follower *f, struct to_error *err)
{
	int ret = to_agent_presence_say(&f->presence, f->what, f->unsaid, err);

	if (ret != -ENOENT)
		return ret;
	ret = follow_claim(f, err);
	return ret ? ret : to_agent_presence_say(&f->presence, f->what, f->unsaid, err);
}

static bool follow_is_apart(int ret)
{
	return ret == -EHOSTUNREACH || ret == -ENOENT || ret == -EAGAIN || ret == -EBUSY;
}

/*
 * Until etcd has taken it, or there is a newer one. What it will never take, it is
 * told of instead; an agent that waits for that would hear nothing any more.
 */
static int follow_say(struct follower *f, struct to_error *err)
{
	struct to_error why = {};
	int ret = follow_publish(f, &why);
	json_t *refusal;

	if (ret && !follow_is_apart(ret)) {
		follow_note(f, true, why.text);
		refusal = follow_refuse(&why);
		json_object_set(refusal, "id", json_object_get(f->unsaid, "id"));
		json_decref(f->unsaid);
		f->unsaid = refusal;
		ret = follow_publish(f, &why);
	}
	if (follow_is_apart(ret))
		return to_error_set(err, ret, "%s", why.text);
	json_decref(f->unsaid);
	f->unsaid = NULL;
	return ret ? to_error_set(err, ret, "%s", why.text) : 0;
}

/*
 * Return: 0 when a controller made decision @kv, -EPERM when not. What is too old for
 * etcd to tell was made before an agent that was away could see it: it passes.
 */
static int follow_vouch(struct follower *f, const struct to_etcd_kv *kv,
			const json_t *request, struct to_error *err)
{
	int64_t created = 0;
	int ret = to_etcd_created(f->etcd, TO_ETCD_CONTROLLER, kv->revision, &created, err);

	if (ret)
		return ret == -ESTALE ? 0 : ret;
	if (created && created == follow_number(request, "controller"))
		return 0;
	return to_error_set(err, -EPERM, "a decision that no controller made is ignored");
}

/* Whether decision @request is for this server. */
static bool follow_is_meant(const struct follower *f, const json_t *request)
{
	const json_t *servers = json_object_get(request, "servers");
	const char *name;

	if (!json_string_value(json_object_get(request, "shard")))
		return true;
	for (size_t i = 0; i < json_array_size(servers); i++) {
		name = json_string_value(json_array_get(servers, i));
		if (name && !strcmp(name, f->config->server))
			return true;
	}
	return false;
}

/* Return: 0; a negative errno: it is not known yet whether to obey. */
static int follow_obey(struct follower *f, const struct to_etcd_kv *kv, const json_t *request,
		       json_t **reply, struct to_error *err)
{
	struct to_error why;
	int ret;

	*reply = NULL;
	if (kv->revision <= f->handled || !follow_is_meant(f, request))
		return 0;
	if (f->past && follow_number(request, "id") <= f->past) {
		f->handled = kv->revision;
		return 0;
	}
	ret = follow_vouch(f, kv, request, &why);
	if (ret && ret != -EPERM)
		return to_error_set(err, ret, "%s", why.text);
	f->handled = kv->revision;
	f->decided = follow_number(request, "id");
	if (ret)
		follow_note(f, true, why.text);
	else
		f->obeyed = kv->revision;
	f->shard = json_string_value(json_object_get(request, "shard"));
	*reply = ret ? follow_refuse(&why) : follow_decision(f, request);
	return 0;
}

/* Return: 0; -EBUSY with @err when a controller is at work, whose samples end with this one's. */
static int follow_check_alone(struct follower *f, struct to_error *err)
{
	struct to_etcd_kv *kv;
	size_t n;
	int ret = to_etcd_get(f->etcd, TO_ETCD_CONTROLLER, false, &kv, &n, NULL, err);

	if (ret)
		return ret;
	if (n)
		ret = to_error_set(err, -EBUSY, "a controller is at work: %s", kv->value);
	to_etcd_kv_free(kv, n);
	return ret;
}

/* Queries change nothing, whoever asks; but a controller may have interfaces set up. */
static json_t *follow_query(struct follower *f, const char *key, const char *op,
			    const json_t *request)
{
	const bool inventory = !strcmp(op, "inventory"), load = !strcmp(op, "load");
	struct to_error why;

	if (inventory && json_is_true(json_object_get(request, "up")) && strcmp(key, TO_ETCD_QUERY))
		to_error_set(&why, -EPERM, "only a controller may set interfaces up");
	else if (load && strcmp(key, TO_ETCD_QUERY))
		to_error_set(&why, -EPERM, "only a controller may load cables");
	else if (inventory || load || !strcmp(op, "doctor") || !strcmp(op, "hello") || !strcmp(op, "sample") || !strcmp(op, "look"))
		return f->config->call(f->config->agent, request);
	else
		to_error_set(&why, -EINVAL, "no query is called \"%s\"", op);
	return follow_refuse(&why);
}

/* Answer @request with @reply, which is taken over, under the key @what. */
static void follow_reply(struct follower *f, const json_t *request, json_t *reply, const char *what)
{
	struct to_error why = {};

	json_object_set(reply, "id", json_object_get(request, "id"));
	json_decref(f->unsaid);
	f->unsaid = reply;
	f->what = what;
	if (!strcmp(what, "state"))
		follow_keep_state(f, reply);
	if (follow_say(f, &why))
		follow_note(f, true, why.text);
}

/*
 * Say the last answer again, with the state of now: who waits for that answer finds it, whichever
 * of the two is read.
 */
static void follow_say_again(struct follower *f)
{
	json_t *now = follow_call(f, "hello", 0), *reply = json_copy(f->state);
	struct to_error why = {};

	f->changed = false;
	f->again_ms = follow_now_ms() + FOLLOW_AGAIN_MS;
	json_object_del(now, "ok");
	json_object_del(now, "error");
	/* what is not as planned may be so now, and there may be no device any more */
	json_object_del(reply, "deviations");
	json_object_del(reply, "peers");
	json_object_del(reply, "features");
	json_object_update(reply, now);
	json_decref(now);
	f->unsaid = reply;
	f->what = "state";
	follow_keep_state(f, reply);
	if (follow_say(f, &why))
		follow_note(f, true, why.text);
}

/* Return: time until a change of the state is said, in ms; UINT64_MAX: there is none. */
static uint64_t follow_again_wait(struct follower *f)
{
	const uint64_t now = follow_now_ms();
	uint64_t woken;

	if (f->config->wake && read(f->config->wake, &woken, sizeof(woken)) > 0)
		f->changed = true;
	if (!f->changed || !f->state)
		return UINT64_MAX;
	return f->again_ms > now ? f->again_ms - now : 0;
}

/* An agent must not wait for the end of an observer's sample. */
static int follow_check_past(const json_t *request, struct to_error *err)
{
	if (follow_number(request, "until_ns") <= (json_int_t)to_clock_realtime_ns())
		return 0;
	return to_error_set(err, -EINVAL, "sample: the observer's clock is more than %llu s ahead",
			    FOLLOW_SAMPLE_NS / TO_NS_PER_S);
}

/*
 * Let the look of an observer wait until no decision does, and a sample until its time has
 * come: an agent that waits for that obeys nobody. Takes @request over. One too many is
 * dropped, and of samples the last one counts.
 */
static void follow_queue_look(struct follower *f, json_t *request)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	const json_int_t latest = to_clock_realtime_ns() + FOLLOW_SAMPLE_NS;
	const json_int_t until = follow_number(request, "until_ns");

	if (!json_is_integer(json_object_get(request, "id"))) {
		/* every agent would repeat it, however long it is */
		json_decref(request);
	} else if (op && !strcmp(op, "sample")) {
		json_decref(f->sample);
		f->sample = request;
		f->sample_ns = until < latest ? until : 0;
	} else if (f->n_looks < FOLLOW_LOOKS) {
		f->looks[f->n_looks++] = request;
	} else {
		json_decref(request);
	}
}

/* Time until a look may be answered, in ms; UINT64_MAX: none waits. */
static uint64_t follow_look_wait(const struct follower *f)
{
	const uint64_t now_ms = follow_now_ms(), pause = f->looks_ms - now_ms;
	const json_int_t now = to_clock_realtime_ns();
	uint64_t wait = f->n_looks ? 0 : UINT64_MAX;

	if (f->sample && !f->n_looks)
		wait = now < f->sample_ns ? (f->sample_ns - now + 999999) / 1000000 : 0;
	return now_ms < f->looks_ms && wait < pause ? pause : wait;
}

/* The last decision among @kv that is for this server, or NULL. */
static const struct to_etcd_kv *follow_last(const struct follower *f, const struct to_etcd_kv *kv,
					    size_t n)
{
	const struct to_etcd_kv *last = NULL;

	for (size_t i = 0; i < n; i++) {
		json_t *request = json_loads(kv[i].value, 0, NULL);

		if (to_etcd_key_is_decision(kv[i].key) && follow_is_meant(f, request) &&
		    (!last || kv[i].revision > last->revision))
			last = &kv[i];
		json_decref(request);
	}
	return last;
}

/* Return: 0 when the last decision was looked at; -EAGAIN when not yet; another errno with @err. */
static int follow_check_decision(struct follower *f, struct to_error *err)
{
	const struct to_etcd_kv *last;
	struct to_etcd_kv *kv;
	size_t n;
	int ret = to_etcd_get(f->etcd, TO_ETCD_DECISION, true, &kv, &n, NULL, err);

	if (ret)
		return ret;
	last = follow_last(f, kv, n);
	if (f->epoch != to_etcd_epoch(f->etcd) || (last && last->revision > f->handled))
		ret = to_error_set(err, -EAGAIN, "a decision that is in etcd has not reached this agent yet");
	to_etcd_kv_free(kv, n);
	return ret;
}

static int follow_answer(struct follower *f, const struct to_etcd_kv *kv, struct to_error *err)
{
	const bool look = !strcmp(kv->key, TO_ETCD_LOOK);
	json_t *request, *reply = NULL;
	const char *op;
	int ret = 0;

	if (kv->deleted)
		return 0;
	request = json_loads(kv->value, 0, NULL);
	if (look) {
		follow_queue_look(f, request);
		return 0;
	}
	op = json_string_value(json_object_get(request, "op"));
	op = op ? op : "";
	if (to_etcd_key_is_decision(kv->key))
		ret = follow_obey(f, kv, request, &reply, err);
	else
		reply = follow_query(f, kv->key, op, request);
	if (!ret && reply)
		follow_reply(f, request, reply, !strcmp(op, "sample") ? "matrix" :
						to_etcd_key_is_decision(kv->key) ||
						!strcmp(op, "hello") ? "state" : "look");
	json_decref(request);
	return ret;
}

/*
 * After a start, what is active may be right already, but the agent does not
 * know its plan, which samples need: a stage says whether it is. One that was
 * decided takes its place then.
 */
static void follow_learn(struct follower *f, const struct to_etcd_kv *kv)
{
	json_t *last = json_loads(kv->value, 0, NULL);
	const char *op = json_string_value(json_object_get(last, "op"));
	uint64_t plan = follow_number(last, op && !strcmp(op, "confirm") ? "generation" : "plan");
	const bool staged = op && !strcmp(op, "stage");

	f->shard = json_string_value(json_object_get(last, "shard"));
	if (plan && plan != f->known && op &&
	    (!strcmp(op, "confirm") || !strcmp(op, "abort") || !strcmp(op, "revert") || staged)) {
		json_decref(follow_stage(f, plan, plan + 1, 0, false));
		json_decref(follow_call(f, "abort", 0));
		if (staged)
			json_decref(follow_decision(f, last));
	}
	json_decref(last);
}

/*
 * etcd is another one, or was restored: it counts revisions anew, and may have decisions that
 * were followed long ago, or none.
 */
static void follow_begin_epoch(struct follower *f)
{
	f->epoch = to_etcd_epoch(f->etcd);
	f->past = f->decided > f->past ? f->decided : f->past;
	f->handled = f->obeyed = 0;
	f->staged = 0;
	to_agent_presence_lose(&f->presence);
	if (f->config->note)
		f->config->note("etcd is not the one that it was, or was set back: only decisions from now on are followed");
}

/* Reads where things stand and goes on from there. */
static int follow_start(struct follower *f, struct to_error *err)
{
	const struct to_etcd_kv *last;
	struct to_etcd_kv *kv;
	int64_t revision, handled;
	size_t n;
	int ret;

	to_etcd_watch_close(f->watch);
	f->watch = NULL;
	ret = to_agent_presence_is_claimed(&f->presence) ? 0 : follow_claim(f, err);
	ret = ret ? ret : to_etcd_get(f->etcd, TO_ETCD_DECISION, true, &kv, &n, &revision, err);
	if (ret)
		return ret;
	/* the name is claimed first in what etcd is now */
	if (f->epoch != to_etcd_epoch(f->etcd)) {
		to_etcd_kv_free(kv, n);
		follow_begin_epoch(f);
		return 0;
	}
	handled = f->handled;
	last = follow_last(f, kv, n);
	if (last && last->revision > handled) {
		if (handled)
			follow_note(f, true, "etcd: a decision was missed, and is followed now");
		ret = follow_answer(f, last, err);
		if (!ret && f->obeyed == last->revision)
			follow_learn(f, last);
	}
	to_etcd_kv_free(kv, n);
	if (ret)
		return ret;
	f->watch = to_etcd_watch(f->etcd, TO_ETCD_REQUESTS, revision + 1,
				 f->config->ttl * 1000 / 2, err);
	if (f->watch && f->config->wake)
		to_etcd_watch_wake(f->watch, f->config->wake);
	return f->watch ? 0 : -ENOMEM;
}

/* Follow a decision that the watch did not tell of. Return: as follow_check_decision(). */
static int follow_catch_decision(struct follower *f, struct to_error *err)
{
	int ret = follow_check_decision(f, err);

	if (ret == -EAGAIN && f->epoch == to_etcd_epoch(f->etcd)) {
		ret = follow_start(f, err);
		ret = ret ? ret : follow_check_decision(f, err);
	}
	return ret;
}

/*
 * Answer an observer; a sample only while no controller is at work. An agent that decisions do
 * not reach must not look healthy.
 */
static void follow_look(struct follower *f)
{
	const bool sample = f->sample && f->sample_ns <= (json_int_t)to_clock_realtime_ns();
	json_t *request = sample ? f->sample : f->looks[0], *reply;
	const char *op = json_string_value(json_object_get(request, "op"));
	const uint64_t since = follow_now_ms();
	struct to_error why = {};
	uint64_t took;

	if (sample)
		f->sample = NULL;
	else
		memmove(f->looks, f->looks + 1, --f->n_looks * sizeof(*f->looks));
	if (sample && (follow_check_past(request, &why) || follow_check_alone(f, &why)))
		reply = follow_refuse(&why);
	else if (!sample && follow_catch_decision(f, &why))
		reply = follow_refuse(&why);
	else
		reply = follow_query(f, TO_ETCD_LOOK, op ? op : "", request);
	follow_reply(f, request, reply, "look");
	json_decref(request);
	took = follow_now_ms() - since;
	f->looks_ms = since + (2 * took > FOLLOW_LOOK_MS ? 2 * took : FOLLOW_LOOK_MS);
}

static int follow_keep(struct follower *f, struct to_error *err)
{
	int ret = to_agent_presence_keep(&f->presence, err);

	return ret == -ENOENT ? follow_claim(f, err) : ret;
}

static int follow_step(struct follower *f, struct to_error *err)
{
	const uint64_t due = f->presence.kept_ms + f->config->ttl * 1000ull / 3;
	const uint64_t look = follow_look_wait(f), again = follow_again_wait(f);
	const uint64_t wait = look < again ? look : again;
	uint64_t now = follow_now_ms();
	struct to_etcd_kv kv;
	int ret;

	if (f->epoch != to_etcd_epoch(f->etcd)) {
		to_etcd_watch_close(f->watch);
		f->watch = NULL;
		follow_begin_epoch(f);
	}
	if (!f->watch)
		return follow_start(f, err);
	if (now >= due)
		return follow_keep(f, err);
	if (f->unsaid)
		return follow_say(f, err);
	ret = to_etcd_watch_next(f->watch, wait < due - now ? wait : due - now, &kv, err);
	if (!ret && !look)
		follow_look(f);
	else if (!ret && !again)
		follow_say_again(f);
	if (ret == 1) {
		/* It may take a while. */
		if (follow_now_ms() > f->presence.kept_ms + FOLLOW_FRESH_MS)
			follow_keep(f, err);
		ret = follow_answer(f, &kv, err);
		to_etcd_kv_clear(&kv);
		if (!ret)
			return 0;
	}
	/* Or there was nothing to hear, or it is heard no more. */
	if (ret && ret != -EAGAIN && ret != -EINTR) {
		to_etcd_watch_close(f->watch);
		f->watch = NULL;
	}
	return ret == -EINTR || ret == -ESTALE || ret == -ETIMEDOUT ? 0 : ret;
}

int to_agent_follow(const struct to_agent_etcd *config, struct to_error *err)
{
	struct to_etcd_options options = config->options;
	struct follower f = { .config = config };
	bool begun = false;
	char role[256];
	int ret = 0;

	snprintf(role, sizeof(role), TO_ETCD_AGENTS "%s", config->server);
	options.role = role;
	f.etcd = to_etcd_open(&options, err);
	if (!f.etcd)
		return -EHOSTUNREACH;
	to_agent_presence_init(&f.presence, f.etcd, config->server, config->ttl);
	/* A member that hangs must not cost the lease. */
	to_etcd_hurry(f.etcd, config->ttl * 1000 / 2);
	while (!*config->stop) {
		ret = follow_step(&f, err);
		begun |= !ret || ret == -EAGAIN;
		if (ret == -EBUSY || (ret && !begun))
			break;
		if (ret) {
			follow_note(&f, true, err->text);
			to_clock_sleep(ret == -EACCES ? FOLLOW_REFUSED_NS : FOLLOW_RETRY_NS);
			ret = 0;
		} else if (f.watch) {
			follow_note(&f, false, "etcd answers again");
		}
	}
	to_agent_presence_end(&f.presence);
	to_etcd_watch_close(f.watch);
	to_etcd_close(f.etcd);
	json_decref(f.unsaid);
	json_decref(f.state);
	while (f.n_looks)
		json_decref(f.looks[--f.n_looks]);
	json_decref(f.sample);
	return ret;
}
