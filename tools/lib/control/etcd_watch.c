// SPDX-License-Identifier: GPL-2.0-or-later
/* Watching of keys: an answer without end, a JSON object a line. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "control/etcd_http.h"

/**
 * struct to_etcd_watch - see etcd.h
 * @revision: the next event is not older
 * @endpoint: that is asked, NULL: none
 * @in: what came and was not read yet
 * @events: of the last line, from @next on
 * @ended: the answer has ended
 * @silence_ms, @waited_ms: how long to wait for a word, and since the last one
 * @headers: of the call
 * @wake: file that ends a wait when it can be read, 0: none
 * @woken: it could be
 */
struct to_etcd_watch {
	struct to_etcd *etcd;
	const char *prefix;
	int64_t revision;
	const char *endpoint;
	CURLM *multi;
	CURL *curl;
	char *in;
	size_t in_len, in_room;
	json_t *events;
	size_t next;
	bool ended;
	uint64_t silence_ms, waited_ms;
	struct curl_slist *headers;
	int wake;
	bool woken;
};

static uint64_t watch_now_ms(void)
{
	return to_clock_monotonic_ns() / 1000000;
}

static size_t watch_collect(char *data, size_t size, size_t n, void *arg)
{
	struct to_etcd_watch *w = arg;
	size_t len = size * n;

	if (w->in_len + len > TO_ETCD_ANSWER_MAX)
		return 0;
	if (w->in_len + len > w->in_room) {
		size_t room = 2 * (w->in_len + len);
		char *in = realloc(w->in, room);

		if (!in)
			return 0;
		w->in = in;
		w->in_room = room;
	}
	memcpy(w->in + w->in_len, data, len);
	w->in_len += len;
	w->waited_ms = 0;
	return len;
}

static void watch_stop(struct to_etcd_watch *w)
{
	if (w->endpoint)
		to_curl.multi_remove_handle(w->multi, w->curl);
	to_curl.slist_free_all(w->headers);
	w->headers = NULL;
	w->endpoint = NULL;
	w->in_len = 0;
	w->waited_ms = 0;
}

static int watch_start(struct to_etcd_watch *w, struct to_error *err)
{
	json_t *request = json_pack("{s:{s:o*, s:o*, s:I, s:b}}", "create_request",
		"key", to_etcd_key(w->etcd, w->prefix, false),
		"range_end", to_etcd_key(w->etcd, w->prefix, true),
		"start_revision", (json_int_t)w->revision,
		/* else what many keys of 1.5 MB were changed to is one line */
		"fragment", 1);
	char *body = request ? json_dumps(request, JSON_COMPACT) : NULL;

	json_decref(request);
	w->headers = to_etcd_headers(w->etcd);
	if (!body || !w->headers) {
		free(body);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	w->endpoint = to_etcd_endpoint(w->etcd);
	w->ended = false;
	to_curl_reset(w->curl);
	to_etcd_set_options(w->etcd, w->curl, "/v3/watch", body, w->headers);
	/* one that fell silent is not to be used again */
	to_curl.easy_setopt(w->curl, CURLOPT_FORBID_REUSE, 1l);
	to_curl.easy_setopt(w->curl, CURLOPT_WRITEFUNCTION, watch_collect);
	to_curl.easy_setopt(w->curl, CURLOPT_WRITEDATA, w);
	to_curl.multi_add_handle(w->multi, w->curl);
	free(body);
	return 0;
}

struct to_etcd_watch *to_etcd_watch(struct to_etcd *etcd, const char *prefix,
				    int64_t revision, unsigned int silence_ms,
				    struct to_error *err)
{
	struct to_etcd_watch *w = calloc(1, sizeof(*w));

	if (w) {
		w->etcd = etcd;
		w->prefix = prefix;
		w->revision = revision;
		w->silence_ms = silence_ms;
		w->multi = to_curl.multi_init();
		w->curl = to_curl_handle();
	}
	if (!w || !w->multi || !w->curl) {
		to_error_set(err, -ENOMEM, "out of memory");
		to_etcd_watch_close(w);
		return NULL;
	}
	return w;
}

void to_etcd_watch_close(struct to_etcd_watch *w)
{
	if (!w)
		return;
	watch_stop(w);
	json_decref(w->events);
	if (w->curl)
		to_curl.easy_cleanup(w->curl);
	if (w->multi)
		to_curl.multi_cleanup(w->multi);
	free(w->in);
	free(w);
}

void to_etcd_watch_wake(struct to_etcd_watch *w, int fd)
{
	w->wake = fd;
}

/* Return: 1 with @kv, 0 when there is no event left. */
static int watch_take(struct to_etcd_watch *w, struct to_etcd_kv *kv)
{
	while (w->next < json_array_size(w->events)) {
		const json_t *event = json_array_get(w->events, w->next++);
		const char *type = json_string_value(json_object_get(event, "type"));

		if (to_etcd_read_kv(w->etcd, json_object_get(event, "kv"), kv))
			continue;
		kv->deleted = type && !strcmp(type, "DELETE");
		if (kv->revision >= w->revision && kv->revision < INT64_MAX)
			w->revision = kv->revision + 1;
		return 1;
	}
	return 0;
}

/*
 * Return: 1 when a line was there, 0 when not, -ESTALE, -EACCES when etcd does not let
 * us watch, another errno when we cannot log in.
 */
static int watch_read_line(struct to_etcd_watch *w, struct to_error *err)
{
	char *end = w->in ? memchr(w->in, '\n', w->in_len) : NULL;
	json_t *line, *result;
	const char *reason;
	size_t len;
	int ret = 1;

	if (!end)
		return 0;
	len = end + 1 - w->in;
	line = json_loadb(w->in, len, 0, NULL);
	memmove(w->in, end + 1, w->in_len - len);
	w->in_len -= len;
	result = json_object_get(line, "result");
	reason = json_string_value(json_object_get(result, "cancel_reason"));
	if (to_etcd_number(result, "compact_revision") > 0)
		ret = to_error_set(err, -ESTALE, "etcd has forgotten what was changed");
	else if (to_etcd_is_logged_out(w->etcd, reason))
		ret = to_etcd_login(w->etcd, err) ?: 1;
	else if (reason)
		ret = to_error_set(err, -EACCES, "etcd %s: %s", w->endpoint, reason);
	if (reason)
		watch_stop(w);
	else if (json_object_get(line, "error") || json_is_true(json_object_get(result, "canceled")))
		w->ended = true;
	json_decref(w->events);
	w->events = json_incref(json_object_get(result, "events"));
	w->next = 0;
	json_decref(line);
	return ret;
}

/* One round of input. */
static void watch_poll(struct to_etcd_watch *w, uint64_t timeout_ms)
{
	struct curl_waitfd wake = { .fd = w->wake, .events = CURL_WAIT_POLLIN };
	const uint64_t since = watch_now_ms();
	int running = 0, queued;
	CURLMsg *message;

	to_curl.multi_perform(w->multi, &running);
	if (!w->in_len && timeout_ms > 0 && running) {
		to_curl.multi_poll(w->multi, &wake, w->wake ? 1 : 0, timeout_ms, NULL);
		w->woken = wake.revents;
		w->waited_ms += watch_now_ms() - since;
		to_curl.multi_perform(w->multi, &running);
	}
	while ((message = to_curl.multi_info_read(w->multi, &queued)))
		w->ended |= message->msg == CURLMSG_DONE;
}

/* Makes the connection again when it has ended, or another endpoint is asked now. */
static int watch_connect(struct to_etcd_watch *w, struct to_error *err)
{
	const bool other = w->endpoint && w->endpoint != to_etcd_endpoint(w->etcd);
	const bool failed = w->endpoint && w->ended && !other;

	if (other || failed)
		watch_stop(w);
	if (failed) {
		to_etcd_next_endpoint(w->etcd);
		return to_error_set(err, -EAGAIN, "etcd: a watch has ended");
	}
	if (w->endpoint && w->waited_ms >= w->silence_ms) {
		to_error_set(err, -ETIMEDOUT, "etcd %s: silent for %u s", w->endpoint,
			     (unsigned int)(w->waited_ms / 1000));
		watch_stop(w);
		return -ETIMEDOUT;
	}
	return w->endpoint ? 0 : watch_start(w, err);
}

int to_etcd_watch_next(struct to_etcd_watch *w, unsigned int timeout_ms,
		       struct to_etcd_kv *kv, struct to_error *err)
{
	const uint64_t deadline = watch_now_ms() + timeout_ms;

	while (!watch_take(w, kv)) {
		uint64_t now = watch_now_ms(), left;
		int ret = watch_read_line(w, err);

		if (ret < 0)
			return ret;
		if (ret)
			continue;
		ret = watch_connect(w, err);
		if (ret)
			return ret;
		if (now >= deadline && timeout_ms)
			return 0;
		left = deadline > now ? deadline - now : 0;
		if (left > w->silence_ms - w->waited_ms)
			left = w->silence_ms - w->waited_ms;
		w->woken = false;
		watch_poll(w, left);
		if ((!timeout_ms || w->woken) && !w->in_len)
			return 0;
	}
	return 1;
}
