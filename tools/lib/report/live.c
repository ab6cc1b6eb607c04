// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/live.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "doctor/status_changes.h"
#include "format/plan_diff.h"
#include "report/live_page.h"

/* ---- the page ---- */

static int live_request(void *data, struct to_http_request *request, const char *path)
{
	struct to_live *live = data;
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int ret;

	if (!strcmp(path, "/events"))
		return to_http_reply_events(request, live->events);
	if (strcmp(path, "/"))
		return to_http_reply_line(request, 404, "see /");
	out = open_memstream(&text, &len);
	if (out) {
		to_live_page_print(out, live->options.version);
		fclose(out);
	}
	ret = text ? to_http_reply(request, 200, "text/html; charset=utf-8", text, len) :
		     to_http_reply_line(request, 503, "out of memory");
	free(text);
	return ret;
}

/* Tell the page an event; releases @object. */
static void live_say(struct to_live *live, const char *name, bool state, json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(13));

	if (text)
		to_events_say(live->events, name, state, text);
	free(text);
	json_decref(object);
}

void to_live_log(void *data, const json_t *line)
{
	live_say(data, "happened", false, json_deep_copy(line));
}

/* ---- what a look says ---- */

static json_t *live_links(const struct to_cluster *c, const struct to_link *links, unsigned int n)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < n; i++) {
		const struct to_server *a = &c->servers[links[i].a.server];
		const struct to_server *b = &c->servers[links[i].b.server];

		json_array_append_new(array, json_sprintf("%s:%s - %s:%s", a->name,
			a->ports[links[i].a.port].name, b->name, b->ports[links[i].b.port].name));
	}
	return array;
}

static void live_tell_plan(struct to_live *live, const struct to_plan *plan, double time)
{
	struct to_plan_diff diff;
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (live->shown && !to_plan_diff(live->shown, plan, &diff, NULL)) {
		live_say(live, "happened", false, json_pack("{s:f, s:s, s:o, s:o}", "time", time,
			"event", "plan",
			"cut", live_links(live->shown->cluster, diff.cut, diff.n_cut),
			"made", live_links(plan->cluster, diff.made, diff.n_made)));
		to_plan_diff_free(&diff);
	}
	to_plan_free(live->shown);
	live->shown = to_plan_hold(plan);
	out = open_memstream(&text, &len);
	if (out) {
		int ret = to_live_plan_print(out, plan);

		if (!fclose(out) && !ret)
			to_events_say(live->events, "plan", true, text);
	}
	free(text);
}

/* Data of to_status_changes()'s listener. */
struct live_listener {
	struct to_live *live;
	double time;
};

static void live_tell_change(void *data, const char *subject, const char *check, const char *text)
{
	const struct live_listener *listener = data;

	live_say(listener->live, "happened", false, json_pack("{s:f, s:s, s:s, s:s*, s:s}",
		"time", listener->time, "event", "change", "subject", subject, "check", check,
		"text", text));
}

void to_live_traffic(void *data, const struct to_traffic *traffic)
{
	const size_t cells = (size_t)traffic->n * traffic->n;
	struct to_live *live = data;

	pthread_mutex_lock(&live->lock);
	if (!live->traffic.bytes)
		live->traffic = (struct to_traffic){
			.n = traffic->n, .bytes = calloc(cells, sizeof(*traffic->bytes)),
		};
	for (size_t i = 0; live->traffic.bytes && i < cells; i++)
		live->traffic.bytes[i] += traffic->bytes[i];
	live->traffic.seconds += traffic->seconds;
	pthread_mutex_unlock(&live->lock);
}

static void live_tell_traffic(struct to_live *live)
{
	struct to_traffic traffic;
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	pthread_mutex_lock(&live->lock);
	traffic = live->traffic;
	live->traffic = (struct to_traffic){};
	pthread_mutex_unlock(&live->lock);
	out = traffic.bytes ? open_memstream(&text, &len) : NULL;
	if (out) {
		int ret = to_live_traffic_print(out, &traffic);

		if (!fclose(out) && !ret)
			to_events_say(live->events, "traffic", true, text);
	}
	free(text);
	to_traffic_free(&traffic);
}

/* Tell why looks fail, once for each reason. */
static void live_tell_trouble(struct to_live *live, const char *text)
{
	if (text[0] && strcmp(text, live->trouble))
		live_say(live, "happened", false, json_pack("{s:f, s:s, s:s}",
			"time", to_clock_realtime_ns() * 1e-9, "event", "trouble", "text", text));
	snprintf(live->trouble, sizeof(live->trouble), "%s", text);
}

static int live_observe(struct to_live *live, struct to_status *now, struct to_error *err)
{
	int ret;

	if (!live->looking) {
		ret = to_observer_open(&live->observer, live->plan, live->log_path, &live->fabric, err);
		if (ret) {
			to_observer_close(&live->observer);
			return ret;
		}
		live->looking = true;
	}
	return to_observer_look(&live->observer, now, err);
}

int to_live_look(struct to_live *live, struct to_error *err)
{
	struct to_status *now = &live->status[live->looks % 2];
	struct to_status *before = &live->status[(live->looks + 1) % 2];
	struct live_listener listener = { .live = live };
	int ret;

	if (live->log_path)
		to_log_follow(&live->log, live->log_path, to_live_log, live);
	ret = live_observe(live, now, err);
	live_tell_trouble(live, ret ? err->text : "");
	if (ret)
		return ret;
	listener.time = now->time;
	if (live->shown != live->observer.plan)
		live_tell_plan(live, live->observer.plan, now->time);
	to_status_changes(live->looks ? before : NULL, now, live_tell_change, &listener);
	live_tell_traffic(live);
	live_say(live, "status", true, to_observer_json(&live->observer, now));
	to_status_free(before);
	live->looks++;
	return 0;
}

/* ---- start and end ---- */

static void *live_thread(void *data)
{
	struct to_live *live = data;
	struct timespec until;

	pthread_mutex_lock(&live->lock);
	while (!live->stop) {
		struct to_error err;

		pthread_mutex_unlock(&live->lock);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += live->options.interval_ns / TO_NS_PER_S;
		until.tv_nsec += live->options.interval_ns % TO_NS_PER_S;
		until.tv_sec += until.tv_nsec / (long)TO_NS_PER_S;
		until.tv_nsec %= (long)TO_NS_PER_S;
		to_live_look(live, &err);
		pthread_mutex_lock(&live->lock);
		while (!live->stop && pthread_cond_timedwait(&live->wake, &live->lock, &until) != ETIMEDOUT)
			;
	}
	pthread_mutex_unlock(&live->lock);
	return NULL;
}

int to_live_start(struct to_live *live, struct to_error *err)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	ret = pthread_create(&live->thread, NULL, live_thread, live);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	live->threaded = !ret;
	return ret ? to_error_set(err, -ret, "cannot start a thread: %s", strerror(ret)) : 0;
}

int to_live_open(struct to_live *live, const struct to_live_options *options, const char *plan,
		 const char *log, const struct to_fabric_options *fabric, struct to_error *err)
{
	const struct to_http_config config = {
		.address = options->listen, .private = true, .handler = live_request, .data = live,
		.token = options->token_file ? live->token : NULL,
	};
	pthread_condattr_t monotonic;
	char url[128];
	int ret = 0;

	*live = (struct to_live){ .options = *options, .plan = plan, .log_path = log, .fabric = *fabric };
	pthread_mutex_init(&live->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&live->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (options->token_file)
		ret = to_password_read(live->token, options->token_file, NULL, err);
	if (ret)
		return ret;
	live->events = to_events_new();
	if (!live->events)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = to_http_open(&live->http, &config, err);
	if (ret)
		return ret;
	snprintf(url, sizeof(url), "http://%s%.100s/", strchr(options->listen, ':') ? "" : "127.0.0.1:",
		 options->listen);
	if (options->ready)
		options->ready(url);
	return 0;
}

void to_live_close(struct to_live *live)
{
	pthread_mutex_lock(&live->lock);
	live->stop = true;
	pthread_cond_signal(&live->wake);
	pthread_mutex_unlock(&live->lock);
	if (live->threaded)
		pthread_join(live->thread, NULL);
	if (live->events)
		to_events_end(live->events);
	to_http_close(live->http);
	to_events_free(live->events);
	if (live->looking)
		to_observer_close(&live->observer);
	to_log_follow_end(&live->log);
	to_plan_free(live->shown);
	to_status_free(&live->status[0]);
	to_status_free(&live->status[1]);
	to_traffic_free(&live->traffic);
	pthread_cond_destroy(&live->wake);
	pthread_mutex_destroy(&live->lock);
}
