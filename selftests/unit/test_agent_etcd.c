// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An agent beside an etcd of a few lines, which forgets tokens, takes no more than it
 * does, tells what was at a revision, falls silent, and goes away. Time passes when the agent
 * waits. Another agent may have had the name of its server before.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <resolv.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lazy_curl.h"
#include "base/limits.h"
#include "base/random.h"
#include "control/agent_etcd.h"
#include "control/etcd_blob.h"
#include "control/etcd_key.h"

#define TTL 6				/* seconds, of the agent's lease */
#define ETCD_REQUEST_MAX 1572864u	/* bytes: 1.5 MiB */
#define ETCD_STEPS_MAX 1000		/* calls in which a test comes to its end */

typedef size_t write_function(char *data, size_t size, size_t n, void *arg);

/* An easy handle, or a multi handle, which is the one that it watches with. */
struct call {
	char *path, *body;
	const struct curl_slist *headers;
	write_function *write;
	void *arg;
	bool kept_alive;
};

/**
 * @keys: by name, the versions of each, the oldest first: as etcd shows them, "deleted"
 *	and "lease" added
 * @revision: of the last change
 * @logins: how often somebody has logged in, which is the number of the token that this gives
 * @forgotten: tokens up to this one are not taken any more
 * @compacted: what was before this revision is forgotten
 * @watch: the open watch; @said: up to which revision it was told
 * @silent: an open watch is told nothing any more
 * @hangs_up: it ends
 * @downloads: how often a part of a plan was asked for
 * @until: time of the world until which it does not answer at all
 * @slow: ns that each of its answers takes
 * @robbed: so many leases end before they have a key
 * @writes: transactions that it has made
 */
static struct {
	json_t *keys;
	int64_t revision, compacted;
	unsigned int logins, forgotten, downloads;
	struct call *watch;
	int64_t said;
	bool silent, hangs_up;
	uint64_t until, slow;
	unsigned int robbed, writes;
} etcd;

/**
 * @now, @since: ns
 * @scene: what happens the next time that the agent waits, NULL: it is told to stop
 * @sleeps: what happens each time that it has slept, or NULL
 * @asked: ops that the agent was asked for, a word each
 * @reply: its reply's "padding"
 * @generation, @ahead: of the last request
 * @notes: what it has noted
 */
static struct {
	uint64_t now, since;
	void (*const *scene)(void);
	void (*sleeps)(void);
	unsigned int steps;
	volatile sig_atomic_t stop;
	char asked[256], notes[2048];
	char *padding;
	json_int_t generation;
	bool ahead;
} world;

/* ---- clocks ---- */

uint64_t __wrap_to_clock_monotonic_ns(void);
uint64_t __wrap_to_clock_monotonic_ns(void)
{
	return world.now;
}

void __wrap_to_clock_sleep(uint64_t ns);
void __wrap_to_clock_sleep(uint64_t ns)
{
	world.now += ns;
	assert_true(++world.steps < ETCD_STEPS_MAX);
	if (world.sleeps)
		world.sleeps();
}

/* ---- etcd's store ---- */

static char *base64(const char *data, size_t len)
{
	const size_t size = 4 * ((len + 2) / 3) + 1;
	char *text = malloc(size);

	assert_true(b64_ntop((const unsigned char *)data, len, text, size) >= 0);
	return text;
}

/* Name of a key of a request, without the prefix. */
static const char *key_of(const json_t *object)
{
	static char name[512];
	const char *text = json_string_value(json_object_get(object, "key"));
	const int len = b64_pton(text, (unsigned char *)name, sizeof(name) - 1);

	assert_true(len > 0);
	name[len] = '\0';
	assert_memory_equal(name, "/topoopt/", 9);
	return name + 9;
}

/* As it was at @revision, 0: as it is; NULL: it is not there. */
static const json_t *version(const char *key, int64_t revision)
{
	const json_t *versions = json_object_get(etcd.keys, key), *found = NULL, *one;
	size_t i;

	json_array_foreach(versions, i, one)
		if (!revision || json_integer_value(json_object_get(one, "mod_revision")) <= revision)
			found = one;
	return json_is_true(json_object_get(found, "deleted")) ? NULL : found;
}

static int64_t created(const char *key, int64_t revision)
{
	return json_integer_value(json_object_get(version(key, revision), "create_revision"));
}

/* Under etcd.revision. @value: base64; NULL: the key goes */
static void change_now(const char *key, const char *value, int64_t lease)
{
	const int64_t since = created(key, 0);
	char full[512], *name;

	snprintf(full, sizeof(full), "/topoopt/%s", key);
	name = base64(full, strlen(full));
	if (!json_object_get(etcd.keys, key))
		json_object_set_new(etcd.keys, key, json_array());
	json_array_append_new(json_object_get(etcd.keys, key), json_pack(
		"{s:s, s:s, s:I, s:I, s:I, s:b}", "key", name, "value", value ? value : "",
		"create_revision", (json_int_t)(since ? since : etcd.revision), "mod_revision",
		(json_int_t)etcd.revision, "lease", (json_int_t)lease, "deleted", !value));
	free(name);
}

static void change(const char *key, const char *value)
{
	etcd.revision++;
	change_now(key, value, 0);
}

static void put(const char *key, const char *text)
{
	char *value = base64(text, strlen(text));

	change(key, value);
	free(value);
}

/* A JSON object that is a key's value; "{}" when the key is not there. */
static json_t *value_of(const char *key)
{
	const char *text = json_string_value(json_object_get(version(key, 0), "value"));
	char *bytes = calloc(1, text ? strlen(text) + 1 : 3);
	json_t *value;

	if (text)
		b64_pton(text, (unsigned char *)bytes, strlen(text) + 1);
	value = json_loads(text ? bytes : "{}", 0, NULL);
	assert_non_null(value);
	free(bytes);
	return value;
}

/* ---- etcd's gateway ---- */

static json_t *refusal(int code, const char *message)
{
	return json_pack("{s:i, s:s}", "code", code, "message", message);
}

/* Of the token that @call has. @without: what it is when it has none. */
static bool knows(const struct call *call, bool without)
{
	unsigned int token;

	for (const struct curl_slist *h = call->headers; h; h = h->next)
		if (sscanf(h->data, "Authorization: token-%u", &token) == 1)
			return token > etcd.forgotten;
	return without;
}

static json_t *answer_range(const json_t *request)
{
	const int64_t at = json_integer_value(json_object_get(request, "revision"));
	const json_t *found = version(key_of(request), at);

	etcd.downloads += !strncmp(key_of(request), TO_ETCD_PLANS, strlen(TO_ETCD_PLANS));
	if (at && at < etcd.compacted)
		return refusal(11, "etcdserver: mvcc: required revision has been compacted");
	return json_pack("{s:{s:I}, s:[O*]}", "header", "revision", (json_int_t)etcd.revision,
			 "kvs", found);
}

static bool txn_holds(const json_t *compare)
{
	const char *target = json_string_value(json_object_get(compare, "target"));
	const json_t *now = version(key_of(compare), 0);

	if (!strcmp(target, "VALUE"))
		return json_equal(json_object_get(compare, "value"), json_object_get(now, "value"));
	return json_integer_value(json_object_get(now, "create_revision")) ==
	       json_integer_value(json_object_get(compare, "create_revision"));
}

static void txn_put(const json_t *put)
{
	const json_t *now = version(key_of(put), 0);
	const bool touch = json_is_true(json_object_get(put, "ignore_value"));

	change_now(key_of(put), json_string_value(json_object_get(touch ? now : put, "value")),
		   json_integer_value(json_object_get(touch ? now : put, "lease")));
}

static json_t *answer_txn(const json_t *request, size_t size)
{
	const json_t *one, *operation;
	bool holds = true;
	size_t i;

	if (size > ETCD_REQUEST_MAX * 4 / 3)
		return refusal(3, "etcdserver: request is too large");
	json_array_foreach(json_object_get(request, "compare"), i, one)
		holds &= txn_holds(one);
	json_array_foreach(json_object_get(request, "success"), i, one) {
		operation = json_object_get(one, "request_put");
		if (holds && json_integer_value(json_object_get(operation, "lease")) && etcd.robbed) {
			etcd.robbed--;
			return refusal(5, "etcdserver: requested lease not found");
		}
	}
	etcd.revision += holds;
	etcd.writes += holds;
	json_array_foreach(json_object_get(request, "success"), i, one) {
		operation = json_object_get(one, "request_put");
		if (holds && operation)
			txn_put(operation);
		operation = json_object_get(one, "request_delete_range");
		if (holds && operation && version(key_of(operation), 0))
			change_now(key_of(operation), NULL, 0);
	}
	return json_pack("{s:{s:I}, s:b}", "header", "revision", (json_int_t)etcd.revision,
			 "succeeded", holds);
}

static json_t *answer(const struct call *call)
{
	json_t *request = json_loads(call->body, 0, NULL), *reply;
	char token[16];

	assert_non_null(request);
	if (!strcmp(call->path, "/v3/auth/authenticate") && knows(call, true)) {
		snprintf(token, sizeof(token), "token-%u", ++etcd.logins);
		reply = json_pack("{s:s}", "token", token);
	} else if (!knows(call, false)) {
		reply = refusal(16, "etcdserver: invalid auth token");
	} else if (!strcmp(call->path, "/v3/kv/range")) {
		reply = answer_range(request);
	} else if (!strcmp(call->path, "/v3/kv/txn")) {
		reply = answer_txn(request, strlen(call->body));
	} else if (!strcmp(call->path, "/v3/lease/grant")) {
		reply = json_pack("{s:s}", "ID", "7");
	} else if (!strcmp(call->path, "/v3/lease/keepalive")) {
		reply = json_pack("{s:{s:s}}", "result", "TTL", "6");
	} else {
		assert_string_equal(call->path, "/v3/lease/revoke");
		reply = json_object();
	}
	json_decref(request);
	return reply;
}

/* To the watch, a line. */
static void tell(json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT), *copy;

	copy = malloc(strlen(text) + 2);
	strcpy(stpcpy(copy, text), "\n");
	etcd.watch->write(copy, 1, strlen(copy), etcd.watch->arg);
	free(copy);
	free(text);
	json_decref(line);
}

/* ---- libcurl, to it ---- */

static void *handle(void)
{
	return calloc(1, sizeof(struct call));
}

static void reset(CURL *curl)
{
	struct call *call = curl;

	free(call->path);
	free(call->body);
	memset(call, 0, sizeof(*call));
}

static void cleanup(CURL *curl)
{
	reset(curl);
	free(curl);
}

static CURLcode set(CURL *curl, CURLoption option, ...)
{
	struct call *call = curl;
	va_list ap;

	va_start(ap, option);
	if (option == CURLOPT_URL)
		call->path = strdup(strstr(va_arg(ap, char *), "/v3/"));
	else if (option == CURLOPT_COPYPOSTFIELDS)
		call->body = strdup(va_arg(ap, char *));
	else if (option == CURLOPT_HTTPHEADER)
		call->headers = va_arg(ap, struct curl_slist *);
	else if (option == CURLOPT_WRITEFUNCTION)
		call->write = va_arg(ap, write_function *);
	else if (option == CURLOPT_WRITEDATA)
		call->arg = va_arg(ap, void *);
	else if (option == CURLOPT_TCP_KEEPALIVE)
		call->kept_alive = va_arg(ap, long);
	va_end(ap);
	return CURLE_OK;
}

static long status;

static CURLcode perform(CURL *curl)
{
	struct call *call = curl;
	json_t *reply;
	char *text;

	assert_true(call->kept_alive);
	assert_true(++world.steps < ETCD_STEPS_MAX);
	world.now += etcd.slow;
	reply = world.now < etcd.until ? json_object() : answer(call);
	text = json_dumps(reply, JSON_COMPACT);
	status = world.now < etcd.until ? 503 : json_object_get(reply, "message") ? 400 : 200;
	call->write(text, 1, strlen(text), call->arg);
	free(text);
	json_decref(reply);
	return CURLE_OK;
}

static CURLcode get(CURL *curl, CURLINFO info, ...)
{
	va_list ap;

	(void)curl;
	va_start(ap, info);
	if (info == CURLINFO_RESPONSE_CODE)
		*va_arg(ap, long *) = status;
	va_end(ap);
	return CURLE_OK;
}

static CURLMcode add(CURLM *multi, CURL *curl)
{
	json_t *request;

	(void)multi;
	etcd.watch = curl;
	assert_true(etcd.watch->kept_alive);
	request = json_loads(etcd.watch->body, 0, NULL);
	assert_int_equal(json_unpack(request, "{s:{s:I}}", "create_request", "start_revision",
				     &etcd.said), 0);
	etcd.said--;
	json_decref(request);
	etcd.silent = false;
	if (knows(etcd.watch, false))
		return CURLM_OK;
	tell(json_pack("{s:{s:b, s:s}}", "result", "canceled", 1, "cancel_reason",
		       "rpc error: code = Unauthenticated desc = etcdserver: invalid auth token"));
	etcd.watch = NULL;
	return CURLM_OK;
}

static CURLMcode leave(CURLM *multi, CURL *curl)
{
	(void)multi;
	(void)curl;
	etcd.watch = NULL;
	return CURLM_OK;
}

/* What was changed of requests since the watch was told. */
static CURLMcode go_on(CURLM *multi, int *running)
{
	static const char *const keys[] = { TO_ETCD_DECISION, TO_ETCD_QUERY, TO_ETCD_LOOK };

	(void)multi;
	*running = 1;
	if (!etcd.watch || etcd.silent)
		return CURLM_OK;
	for (unsigned int i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const json_t *now = version(keys[i], 0);

		if (now && json_integer_value(json_object_get(now, "mod_revision")) > etcd.said)
			tell(json_pack("{s:{s:[{s:O}]}}", "result", "events", "kv", now));
	}
	etcd.said = etcd.revision;
	return CURLM_OK;
}

/* Nothing comes; the agent waits. */
static CURLMcode wait(CURLM *multi, struct curl_waitfd fds[], unsigned int n, int ms, int *ready)
{
	(void)multi;
	(void)fds;
	(void)n;
	(void)ready;
	assert_true(++world.steps < ETCD_STEPS_MAX);
	if (etcd.silent) {
		world.now += (uint64_t)ms * 1000000;
	} else if (*world.scene) {
		(*world.scene++)();
	} else {
		world.stop = 1;
		world.now += (uint64_t)ms * 1000000;
	}
	return CURLM_OK;
}

static CURLMsg *ended(CURLM *multi, int *queued)
{
	static CURLMsg message = { .msg = CURLMSG_DONE };
	const bool hangs_up = etcd.hangs_up;

	(void)multi;
	*queued = 0;
	etcd.hangs_up = false;
	return hangs_up ? &message : NULL;
}

static struct curl_slist *append(struct curl_slist *list, const char *text)
{
	struct curl_slist *more = calloc(1, sizeof(*more)), *last = list;

	more->data = strdup(text);
	while (last && last->next)
		last = last->next;
	if (last)
		last->next = more;
	return list ? list : more;
}

static void free_list(struct curl_slist *list)
{
	while (list) {
		struct curl_slist *next = list->next;

		free(list->data);
		free(list);
		list = next;
	}
}

static CURLMcode free_multi(CURLM *multi)
{
	free(multi);
	return CURLM_OK;
}

CURL *__wrap_to_curl_handle(void);
CURL *__wrap_to_curl_handle(void)
{
	return handle();
}

void __wrap_to_curl_reset(CURL *curl);
void __wrap_to_curl_reset(CURL *curl)
{
	reset(curl);
}

int __wrap_to_lazy_curl(struct to_error *err);
int __wrap_to_lazy_curl(struct to_error *err)
{
	(void)err;
	to_curl = (struct to_curl){
		.easy_cleanup = cleanup, .easy_getinfo = get,
		.easy_perform = perform, .easy_setopt = set,
		.multi_add_handle = add, .multi_cleanup = free_multi,
		.multi_info_read = ended, .multi_init = handle, .multi_perform = go_on,
		.multi_poll = wait, .multi_remove_handle = leave, .slist_append = append,
		.slist_free_all = free_list,
	};
	return 0;
}

/* ---- the agent ---- */

static json_t *call(void *agent, const json_t *request)
{
	const char *op = json_string_value(json_object_get(request, "op"));

	(void)agent;
	assert_true(strlen(world.asked) + strlen(op) + 2 < sizeof(world.asked));
	strcat(strcat(world.asked, op), " ");
	world.generation = json_integer_value(json_object_get(request, "generation"));
	world.ahead = json_is_true(json_object_get(request, "ahead"));
	return json_pack("{s:b, s:i, s:s*}", "ok", 1, "generation", 3, "padding", world.padding);
}

static void note(const char *text)
{
	assert_true(strlen(world.notes) + strlen(text) + 2 < sizeof(world.notes));
	strcat(strcat(world.notes, text), "\n");
}

/* As play(), with @sleeps; the agent ends with @result. */
static void play_until(void (*const *scenes)(void), void (*sleeps)(void), int result)
{
	const struct to_agent_etcd config = {
		.options = { .endpoints = "http://127.0.0.1:1" },
		.server = "s0", .ttl = TTL, .call = call, .stop = &world.stop, .note = note,
	};
	struct to_error err = {};

	memset(&world, 0, sizeof(world));
	world.now = TO_NS_PER_S;
	world.scene = scenes;
	world.sleeps = sleeps;
	assert_int_equal(to_agent_follow(&config, &err), result);
	if (result)
		assert_string_equal(err.text, "server s0 has an agent already: process 1 on elsewhere");
	assert_null(*world.scene);
}

/* An agent that is there when it waits first; then what @scenes, ended by NULL, says. */
static void play(void (*const *scenes)(void))
{
	play_until(scenes, NULL, 0);
}

/* Decision @op with @id of the controller that was there since @controller. */
static void decide(const char *op, int id, int64_t controller)
{
	char text[256];

	snprintf(text, sizeof(text), "{\"op\":\"%s\",\"id\":%d,\"generation\":3,\"controller\":%d}",
		 op, id, (int)controller);
	world.asked[0] = '\0';
	put(TO_ETCD_DECISION, text);
}

static void decide_now(const char *op, int id)
{
	decide(op, id, created(TO_ETCD_CONTROLLER, 0));
}

static void ask(int id)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"op\":\"hello\",\"id\":%d}", id);
	put(TO_ETCD_QUERY, text);
}

/* What the agent has said last at @key is its reply to @id: @error, or NULL when it has done it. */
static void replied_at(const char *key, int id, const char *error)
{
	json_t *state = value_of(key);

	assert_int_equal(json_integer_value(json_object_get(state, "id")), id);
	if (error)
		assert_string_equal(json_string_value(json_object_get(state, "error")), error);
	assert_int_equal(json_is_true(json_object_get(state, "ok")), !error);
	json_decref(state);
}

static void replied(int id, const char *error)
{
	replied_at("agents/s0/state", id, error);
}

/* ---- tokens ---- */

static void token_ends(void)
{
	etcd.forgotten = etcd.logins;
	decide_now("confirm", 1);
}

static void token_ends_with_the_watch(void)
{
	replied(1, NULL);
	assert_string_equal(world.asked, "confirm ");
	assert_int_equal(etcd.logins, 2);
	etcd.forgotten = etcd.logins;
	etcd.hangs_up = true;
	world.since = world.now;
}

static void watches_again(void)
{
	assert_int_equal(etcd.logins, 3);
	assert_true(world.now < world.since + TO_NS_PER_S);
	decide_now("confirm", 2);
}

static void follows_again(void)
{
	replied(2, NULL);
	assert_int_equal(etcd.logins, 3);
}

static void logs_in_again(void **state)
{
	static void (*const scenes[])(void) = {
		token_ends, token_ends_with_the_watch, watches_again, follows_again, NULL,
	};

	(void)state;
	play(scenes);
}

/* ---- large replies ---- */

/* So that the reply to a request of one digit has @size bytes. */
static void pad(size_t size)
{
	const size_t rest = strlen("{'ok':true,'generation':3,'padding':'','id':1}");
	uint64_t dice = 1;

	world.padding = malloc(size - rest + 1);
	for (size_t i = 0; i < size - rest; i++)
		world.padding[i] = 'A' + to_random_below(&dice, 26);
	world.padding[size - rest] = '\0';
}

static void largest(void)
{
	pad(TO_ETCD_REPLY_MAX);
	ask(1);
}

static void has_parts(void)
{
	const struct to_etcd_options options = { .endpoints = "http://127.0.0.1:1", .role = "test" };
	struct to_error err = {};
	json_t *word = value_of("agents/s0/state"), *reply;
	struct to_etcd *client = to_etcd_open(&options, &err);
	char *text;

	assert_non_null(client);
	assert_true(json_is_true(json_object_get(word, "large")));
	replied(1, NULL);
	assert_non_null(version("samples/s0/state/4", 0));
	assert_int_equal(to_etcd_download(client, "samples/s0/state", &text, &err), 0);
	assert_int_equal(strlen(text), TO_ETCD_REPLY_MAX);
	reply = json_loads(text, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(reply, "padding")), world.padding);
	free(text);
	json_decref(reply);
	json_decref(word);
	to_etcd_close(client);
	free(world.padding);
	pad(TO_ETCD_REPLY_MAX + 1);
	ask(2);
}

static void is_told_of(void)
{
	replied(2, "a reply of 8388609 bytes; 8388608 are the most");
	free(world.padding);
	world.padding = NULL;
	ask(3);
}

static void is_heard(void)
{
	replied(3, NULL);
}

static void says_what_is_large_in_parts(void **state)
{
	static void (*const scenes[])(void) = { largest, has_parts, is_told_of, is_heard, NULL };

	(void)state;
	play(scenes);
}

/* ---- who decides ---- */

#define IGNORED "a decision that no controller made is ignored"

static void another_decides(void)
{
	decide("clear", 1, created(TO_ETCD_CONTROLLER, 0) - 1);
}

static void one_that_is_gone_decides(void)
{
	const int64_t controller = created(TO_ETCD_CONTROLLER, 0);

	replied(1, IGNORED);
	assert_string_equal(world.asked, "");
	change(TO_ETCD_CONTROLLER, NULL);
	decide("clear", 2, controller);
}

static void nobody_decides(void)
{
	replied(2, IGNORED);
	assert_string_equal(world.asked, "");
	decide("clear", 3, 0);
}

static void the_next_one_decides(void)
{
	replied(3, IGNORED);
	assert_string_equal(world.asked, "");
	put(TO_ETCD_CONTROLLER, "another");
	decide_now("confirm", 4);
}

static void which_is_obeyed(void)
{
	replied(4, NULL);
	assert_string_equal(world.asked, "confirm ");
}

static void obeys_who_is_the_controller(void **state)
{
	static void (*const scenes[])(void) = {
		another_decides, one_that_is_gone_decides, nobody_decides,
		the_next_one_decides, which_is_obeyed, NULL,
	};

	(void)state;
	play(scenes);
}

static void obeyed(void)
{
	replied(1, NULL);
	assert_non_null(strstr(world.asked, "confirm "));
}

static void ignored(void)
{
	replied(1, IGNORED);
	assert_null(strstr(world.asked, "confirm "));
}

/* An agent that was away when it was decided, and by whom. */
static void obeys_who_was_the_controller(void **state)
{
	static void (*const obeys[])(void) = { obeyed, NULL }, (*const ignores[])(void) = {
		ignored, NULL,
	};
	const int64_t first = created(TO_ETCD_CONTROLLER, 0);

	(void)state;
	decide("confirm", 1, first);
	change(TO_ETCD_CONTROLLER, NULL);
	put(TO_ETCD_CONTROLLER, "another");
	play(obeys);
	decide("confirm", 1, first);
	play(ignores);
	/* nobody can know any more */
	etcd.compacted = etcd.revision;
	put(TO_ETCD_CONTROLLER, "another");
	etcd.compacted = etcd.revision;
	play(obeys);
}

/* ---- staged ahead ---- */

static void upload_plan(uint64_t generation)
{
	static const char *const parts[] = { "job", "cluster", "tables/s0" };
	const struct to_etcd_options options = { .endpoints = "http://127.0.0.1:1", .role = "test" };
	struct to_error err = {};
	struct to_etcd_upload upload = {
		.etcd = to_etcd_open(&options, &err), .lock = TO_ETCD_CONTROLLER,
		.created = created(TO_ETCD_CONTROLLER, 0),
	};
	char key[256];

	assert_non_null(upload.etcd);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(to_etcd_upload_add(&upload, to_etcd_key_plan(key, NULL, generation, parts[i], ""),
						    "text", 4, &err), 0);
	assert_int_equal(to_etcd_upload_end(&upload, &err), 0);
	to_etcd_close(upload.etcd);
}

static void knows_its_plan_and_has_staged(void)
{
	replied(1, NULL);
	assert_string_equal(world.asked, "hello stage stage abort stage ");
	assert_int_equal(world.generation, 3);
	assert_true(world.ahead);
}

/* It may be long until that is decided: an agent that starts meanwhile samples. */
static void starts_while_one_is_staged(void **state)
{
	static void (*const scenes[])(void) = { knows_its_plan_and_has_staged, NULL };
	char text[256];

	(void)state;
	upload_plan(2);
	upload_plan(3);
	snprintf(text, sizeof(text), "{\"op\":\"stage\",\"id\":1,\"generation\":3,\"plan\":2,"
		 "\"active\":2,\"ahead\":true,\"controller\":%d}",
		 (int)created(TO_ETCD_CONTROLLER, 0));
	put(TO_ETCD_DECISION, text);
	play(scenes);
}

/* ---- a change ---- */

static void stages(void)
{
	decide_now("stage", 1);
}

static void commits(void)
{
	replied(1, NULL);
	assert_int_equal(etcd.downloads, 4);
	decide_now("commit", 2);
}

static void confirms(void)
{
	replied(2, NULL);
	decide_now("confirm", 3);
}

static void has_read_once(void)
{
	replied(3, NULL);
	assert_int_equal(etcd.downloads, 4);
}

/* What it has staged it commits, and asks etcd for no part of the plan again. */
static void reads_a_plan_once(void **state)
{
	static void (*const scenes[])(void) = { stages, commits, confirms, has_read_once, NULL };

	(void)state;
	upload_plan(3);
	play(scenes);
}

/* ---- silence ---- */

static void decided(void)
{
	decide_now("confirm", 1);
}

static void falls_silent(void)
{
	replied(1, NULL);
	etcd.silent = true;
	world.since = world.now;
	decide_now("confirm", 2);
}

static void hears_all_the_same(void)
{
	replied(2, NULL);
	assert_true(world.now <= world.since + TTL * TO_NS_PER_S / 2);
	assert_string_equal(world.notes, "etcd: a decision was missed, and is followed now\n"
			    "etcd answers again\n");
}

static void notices_silence(void **state)
{
	static void (*const scenes[])(void) = {
		decided, falls_silent, hears_all_the_same, NULL,
	};

	(void)state;
	play(scenes);
}

/* ---- etcd set back ---- */

static void decided_late(void)
{
	decide_now("confirm", 5);
}

/* Its revision is far behind, and it has a decision that was made before the last one. */
static void is_set_back(void)
{
	replied(5, NULL);
	world.asked[0] = '\0';
	json_object_clear(etcd.keys);
	etcd.revision = 2;
	etcd.silent = true;	/* of a watch from a revision that is to come */
	put(TO_ETCD_CONTROLLER, "another");
	decide_now("clear", 4);
	world.since = world.now;
}

static void has_its_name_again(void)
{
	assert_true(world.now <= world.since + TTL * TO_NS_PER_S);
	assert_null(strstr(world.asked, "clear"));
	assert_non_null(strstr(world.notes, "was set back"));
	assert_true(created("agents/s0/owner", 0) > 0);
	decide_now("confirm", 6);
}

static void follows_what_is_new(void)
{
	replied(6, NULL);
	assert_string_equal(world.asked, "confirm ");
}

static void notices_that_etcd_is_set_back(void **state)
{
	static void (*const scenes[])(void) = {
		decided_late, is_set_back, has_its_name_again, follows_what_is_new, NULL,
	};

	(void)state;
	for (unsigned int i = 0; i < 20; i++)
		put(TO_ETCD_CONTROLLER, "another");
	play(scenes);
}

/* ---- whose the name is ---- */

#define OWNER "agents/s0/owner"
#define OTHER_TTL 20	/* seconds, of the other agent's lease */

/* An agent on another machine has the name, and has answered @answers times. */
static void other_has_it(unsigned int answers)
{
	char text[128];

	snprintf(text, sizeof(text), "{\"pid\":1,\"host\":\"elsewhere\",\"place\":\"x\",\"ttl\":%d,\"answers\":%u}",
		 OTHER_TTL, answers);
	put(OWNER, text);
}

static bool is_others(void)
{
	json_t *owner = value_of(OWNER);
	const bool others = json_integer_value(json_object_get(owner, "pid")) == 1;

	json_decref(owner);
	return others;
}

/* Somebody wants to know whether the owner lives. */
static bool is_asked(void)
{
	const json_t *now = version(OWNER, 0);

	return json_integer_value(json_object_get(now, "mod_revision")) > created(OWNER, 0);
}

static void has_taken_it(void)
{
	assert_false(is_others());
	assert_true(world.now >= (1 + OTHER_TTL + 3) * TO_NS_PER_S);
	assert_true(world.now < (1 + OTHER_TTL + 5) * TO_NS_PER_S);
	assert_int_equal(created(OWNER, 0), etcd.revision - 1);
}

static void takes_the_name_of_the_silent(void **state)
{
	static void (*const scenes[])(void) = { has_taken_it, NULL };

	(void)state;
	other_has_it(0);
	play(scenes);
}

static void other_answers_late(void)
{
	if (is_asked() && world.now > (1 + OTHER_TTL) * TO_NS_PER_S)
		other_has_it(1);
}

static void etcd_goes_for_a_minute(void)
{
	if (!etcd.until && world.now > OTHER_TTL * TO_NS_PER_S)
		etcd.until = world.now + 60 * TO_NS_PER_S;
	else if (etcd.until && world.now > etcd.until + 10 * TO_NS_PER_S)
		other_has_it(1);
}

static void etcd_takes_its_time(void)
{
	if (is_asked())
		etcd.slow = 9 * TO_NS_PER_S;
	if (world.now > 40 * TO_NS_PER_S)
		other_has_it(1);
}

static void leaves_the_name_to_who_answers(void **state)
{
	static void (*const sleeps[])(void) = {
		other_answers_late, etcd_goes_for_a_minute, etcd_takes_its_time,
	};
	static void (*const scenes[])(void) = { NULL };

	(void)state;
	for (unsigned int i = 0; i < sizeof(sleeps) / sizeof(*sleeps); i++) {
		change(OWNER, NULL);
		etcd.until = 0;
		other_has_it(0);
		play_until(scenes, sleeps[i], -EBUSY);
		assert_true(is_others());
		assert_non_null(version("agents/s0/rival", 0));
	}
}

static void nobody_asks(void)
{
	etcd.writes = 0;
	world.now += TTL * TO_NS_PER_S / 3;
}

static void somebody_asks(void)
{
	const char *value = json_string_value(json_object_get(version(OWNER, 0), "value"));

	assert_int_equal(etcd.writes, 0);
	change(OWNER, value);
	world.now += TTL * TO_NS_PER_S / 3;
}

static void has_answered(void)
{
	json_t *owner = value_of(OWNER);

	assert_int_equal(json_integer_value(json_object_get(owner, "answers")), 1);
	assert_int_equal(etcd.writes, 1);
	assert_true(is_asked());
	json_decref(owner);
}

static void answers_who_asks(void **state)
{
	static void (*const scenes[])(void) = { nobody_asks, somebody_asks, has_answered, NULL };

	(void)state;
	play(scenes);
}

static void other_takes_it(void)
{
	change(OWNER, NULL);
	other_has_it(0);
	put("agents/s0/state", "{\"id\":9,\"ok\":true}");
	ask(1);
}

static void other_answers(void)
{
	if (is_asked())
		other_has_it(1);
}

/* It stood still for so long that another one has its name. */
static void is_silent_when_it_has_lost_its_name(void **state)
{
	static void (*const scenes[])(void) = { other_takes_it, NULL };

	(void)state;
	play_until(scenes, other_answers, -EBUSY);
	replied(9, NULL);
}

static int64_t lease_of_owner(void)
{
	return json_integer_value(json_object_get(version(OWNER, 0), "lease"));
}

static void has_no_lease(void)
{
	assert_int_equal(lease_of_owner(), 0);
	assert_non_null(version("agents/s0/state", 0));
	world.now += TTL * TO_NS_PER_S / 3;
}

static void has_a_lease(void)
{
	assert_int_equal(lease_of_owner(), 7);
}

/* Others may end a lease that has no key yet. */
static void needs_no_lease(void **state)
{
	static void (*const scenes[])(void) = { has_no_lease, has_a_lease, NULL };

	(void)state;
	etcd.robbed = 1;
	play(scenes);
}

static void leaves_nothing_behind(void **state)
{
	static void (*const scenes[])(void) = { NULL };

	(void)state;
	play(scenes);
	assert_null(version(OWNER, 0));
	assert_null(version("agents/s0/state", 0));
}

/* ---- who may set interfaces up ---- */

static void inventory(const char *key, int id, bool up)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"op\":\"inventory\",\"id\":%d,\"up\":%s}", id,
		 up ? "true" : "false");
	world.asked[0] = '\0';
	put(key, text);
}

static void observer_looks(void)
{
	inventory(TO_ETCD_LOOK, 1, false);
}

static void observer_sets_up(void)
{
	replied_at("agents/s0/look", 1, NULL);
	assert_string_equal(world.asked, "inventory ");
	inventory(TO_ETCD_LOOK, 2, true);
}

/* The agent lets some time pass between two looks. */
static void time_passes(void)
{
	assert_string_equal(world.asked, "");
	world.now += TO_NS_PER_S / 10;
}

static void controller_sets_up(void)
{
	replied_at("agents/s0/look", 2, "only a controller may set interfaces up");
	assert_string_equal(world.asked, "");
	inventory(TO_ETCD_QUERY, 3, true);
}

static void is_set_up(void)
{
	replied_at("agents/s0/look", 3, NULL);
	assert_string_equal(world.asked, "inventory ");
}

static void sets_interfaces_up_for_controllers(void **state)
{
	static void (*const scenes[])(void) = {
		observer_looks, observer_sets_up, time_passes, controller_sets_up, is_set_up, NULL
	};

	(void)state;
	play(scenes);
}

static int begin(void **state)
{
	(void)state;
	memset(&etcd, 0, sizeof(etcd));
	etcd.keys = json_object();
	put("other", "");
	put(TO_ETCD_CONTROLLER, "one");
	return setenv(TO_ETCD_PASSWORD, "secret", 1);
}

static int end(void **state)
{
	(void)state;
	json_decref(etcd.keys);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(logs_in_again, begin, end),
		cmocka_unit_test_setup_teardown(says_what_is_large_in_parts, begin, end),
		cmocka_unit_test_setup_teardown(obeys_who_is_the_controller, begin, end),
		cmocka_unit_test_setup_teardown(obeys_who_was_the_controller, begin, end),
		cmocka_unit_test_setup_teardown(starts_while_one_is_staged, begin, end),
		cmocka_unit_test_setup_teardown(reads_a_plan_once, begin, end),
		cmocka_unit_test_setup_teardown(notices_silence, begin, end),
		cmocka_unit_test_setup_teardown(notices_that_etcd_is_set_back, begin, end),
		cmocka_unit_test_setup_teardown(takes_the_name_of_the_silent, begin, end),
		cmocka_unit_test_setup_teardown(leaves_the_name_to_who_answers, begin, end),
		cmocka_unit_test_setup_teardown(answers_who_asks, begin, end),
		cmocka_unit_test_setup_teardown(is_silent_when_it_has_lost_its_name, begin, end),
		cmocka_unit_test_setup_teardown(needs_no_lease, begin, end),
		cmocka_unit_test_setup_teardown(leaves_nothing_behind, begin, end),
		cmocka_unit_test_setup_teardown(sets_interfaces_up_for_controllers, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
