// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/fabric_ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "control/agent_state.h"
#include "format/plan_slice.h"
#include "kernel/peers.h"

#define ASK_PATIENCE 4				/* times what agents take, for one that is late */
#define ASK_PATIENCE_NS 1000000000ull		/* but this at least */
#define ASK_LOST 2	/* times what agents take, for one whose server no neighbour hears */

void to_fabric_ask_all(struct to_fabric *f)
{
	for (unsigned int i = 0; i < f->cluster->n_servers; i++)
		f->who[i] = !f->out[i];
}

/* Ports of the plan by their names. */
static uint64_t ask_ports(const struct to_server *server, const json_t *names)
{
	uint64_t ports = json_is_array(names) ? 0 : ~0ull;
	const json_t *name;
	size_t i;
	int port;

	json_array_foreach(names, i, name) {
		port = json_is_string(name) ?
		       to_cluster_find_port(server, json_string_value(name)) : -1;
		if (port >= 0)
			ports |= 1ull << port;
	}
	return ports;
}

/* Errors of to_apply_open() begin with the server's name, as a list of them does. */
static const char *ask_without_name(const char *error, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(error, "server ", 7) || strncmp(error + 7, name, len) ||
	    strncmp(error + 7 + len, ": ", 2))
		return error;
	return error + 7 + len + 2;
}

void to_fabric_ask_fail(struct to_fabric_server *server, const char *error)
{
	to_text_clean(server->error, sizeof(server->error), error);
}

/* Make @reply fit to be printed, but for the recording, which is text of several lines. */
static void ask_clean(json_t *reply)
{
	json_t *tm = json_incref(json_object_get(reply, "tm"));

	json_object_del(reply, "tm");
	to_json_clean(reply);
	if (tm)
		json_object_set_new(reply, "tm", tm);
}

static void ask_read_reply(struct to_fabric *f, unsigned int i)
{
	struct to_fabric_server *server = &f->servers[i];
	json_t *reply = f->replies[i];
	json_int_t generation;
	const char *error;

	server->reached = reply;
	to_fabric_ask_fail(server, f->errors[i]);
	if (!reply)
		return;
	ask_clean(reply);
	generation = json_integer_value(json_object_get(reply, "generation"));
	server->generation = generation > 0 ? generation : 0;
	server->staged = json_is_true(json_object_get(reply, "staged"));
	server->knows = !json_is_false(json_object_get(reply, "plan"));
	/* a refusal may be without a state */
	if (json_object_get(reply, "generation")) {
		server->old = to_agent_is_old(reply);
		server->unable = to_agent_is_unable(reply);
	}
	free(server->peers);
	to_peers_read(json_object_get(reply, "peers"), &server->peers, &server->n_peers);
	server->live = ask_ports(&f->cluster->servers[i], json_object_get(reply, "live"));
	server->light = server->live;
	if (json_object_get(reply, "light"))
		server->light |= ask_ports(&f->cluster->servers[i],
					   json_object_get(reply, "light"));
	if (json_is_true(json_object_get(reply, "ok")))
		return;
	error = json_string_value(json_object_get(reply, "error"));
	error = error ? ask_without_name(error, server->name) : "";
	to_fabric_ask_fail(server, *error ? error : "no reason given");
}

void to_fabric_ask_forget(struct to_fabric *f)
{
	for (unsigned int i = 0; i < f->cluster->n_servers; i++) {
		json_decref(f->replies[i]);
		f->replies[i] = NULL;
	}
}

/* Whether a request changes nothing, and will be made again. */
static bool ask_is_query(const json_t *request)
{
	const char *op = json_string_value(json_object_get(request, "op"));

	return op && (!strcmp(op, "hello") || !strcmp(op, "sample") || !strcmp(op, "look"));
}

/* What is waited for before agents can answer: the end of a sample. */
static uint64_t ask_begin(const json_t *request)
{
	const json_int_t until = json_integer_value(json_object_get(request, "until_ns"));
	const json_int_t left = until - (json_int_t)to_clock_realtime_ns();

	return to_clock_monotonic_ns() + (until && left > 0 ? left : 0);
}

/* How long to wait for agents: for a query that comes again, longer than they usually take. */
static uint64_t ask_patience(const struct to_fabric *f, bool query)
{
	const uint64_t usual = ASK_PATIENCE * f->usual_ns;
	const uint64_t patience = usual > ASK_PATIENCE_NS ? usual : ASK_PATIENCE_NS;

	return query && f->usual_ns && patience < f->timeout_ns ? patience : f->timeout_ns;
}

/* Note what agents took for a query that began at @begin and that @failed did not answer. */
static void ask_note_time(struct to_fabric *f, uint64_t begin, int failed)
{
	const uint64_t now = to_clock_monotonic_ns();
	uint64_t took = now > begin ? now - begin : 0;

	if (failed)
		took = f->link->late_ns;
	else if (took < f->link->late_ns)
		took = f->link->late_ns;
	f->link->late_ns = 0;
	f->usual_ns -= f->usual_ns / 8;
	if (f->usual_ns < took)
		f->usual_ns = took;
	if (!f->usual_ns)
		f->usual_ns = 1;
}

/* Add to a request what all servers get of @plan. */
static void ask_add_plan(const struct to_fabric *f, json_t *request, const struct to_plan *plan)
{
	json_t *rest = to_plan_slice_rest(plan, f->unable);

	json_object_set_new(request, "job", json_string(plan->demand->name));
	if (rest)
		json_object_set_new(request, "rest", rest);
}

/**
 * struct ask_look - a look at neighbours of servers whose agents are late
 * @begin_ns: of the request, CLOCK_MONOTONIC
 * @answered_ns: when the last look was that found more answers than the one before
 * @n: answers by then
 */
struct ask_look {
	struct to_fabric *f;
	uint64_t begin_ns, answered_ns;
	unsigned int n;
};

/* Whether, by @replies, server @name is expected somewhere, and heard nowhere. */
static bool ask_is_lost(json_t *const *replies, unsigned int n, const char *name)
{
	bool expected = false, heard = false;
	const json_t *peer;
	size_t k;

	for (unsigned int i = 0; i < n; i++) {
		json_array_foreach(json_object_get(replies[i], "peers"), k, peer) {
			const char *server = json_string_value(json_object_get(peer, "server"));
			const char *reason = json_string_value(json_object_get(peer, "reason"));

			if (!server || !reason || strcmp(server, name))
				continue;
			expected = true;
			heard |= strcmp(reason, to_peer_reasons[TOPOOPT_CHECK_REASON_SILENT]) &&
				 strcmp(reason, to_peer_reasons[TOPOOPT_CHECK_REASON_STRANGER]);
		}
	}
	return expected && !heard;
}

/* Ask those who have answered again, to learn who is lost of those who have not. */
static void ask_neighbours(struct to_fabric *f, const bool *answered, json_t **replies,
			   char (*errors)[256])
{
	const uint64_t deadline = to_clock_monotonic_ns() + TO_FABRIC_LOOK_NS;
	const unsigned int n = f->cluster->n_servers;
	const struct to_fabric_call call = {
		.request = json_pack("{s:s, s:I}", "op", "hello", "id", (json_int_t)++f->id),
		.query = true, .who = answered, .deadline_ns = deadline, .limit_ns = deadline,
		.replies = replies, .errors = errors,
	};
	struct to_error ignored;

	if (!call.request || f->link->call(f->link, &call, &ignored))
		goto out;
	for (unsigned int i = 0; i < n; i++)
		f->lost[i] = !answered[i] && ask_is_lost(replies, n, f->servers[i].name);
out:
	for (unsigned int i = 0; i < n; i++)
		json_decref(replies[i]);
	json_decref(call.request);
}

/* Nobody waits for an agent whose server no neighbour hears, once the others have long answered. */
static void ask_look(void *data)
{
	struct ask_look *look = data;
	struct to_fabric *f = look->f;
	const uint64_t now = to_clock_monotonic_ns();
	const unsigned int n = f->cluster->n_servers;
	bool *answered = calloc(n, sizeof(*answered));
	char (*errors)[256] = calloc(n, sizeof(*errors));
	json_t **replies = calloc(n, sizeof(*replies));
	unsigned int n_answered = 0;

	for (unsigned int i = 0; answered && i < n; i++) {
		answered[i] = f->replies[i];
		n_answered += answered[i];
	}
	if (look->n && n_answered > look->n)
		look->answered_ns = now;
	look->n = n_answered;
	if (answered && errors && replies && n_answered &&
	    now - look->begin_ns >= ASK_LOST * (look->answered_ns - look->begin_ns) &&
	    now - look->begin_ns >= ASK_LOST * f->usual_ns)
		ask_neighbours(f, answered, replies, errors);
	free(answered);
	free(errors);
	free(replies);
}

int to_fabric_ask(struct to_fabric *f, json_t *request, const struct to_plan *plan,
		  struct to_error *err)
{
	const bool query = ask_is_query(request) && !f->observes;
	const uint64_t begin = ask_begin(request);
	struct ask_look look = { .f = f, .begin_ns = begin, .answered_ns = begin };
	const struct to_fabric_call call = {
		.request = request, .plan = plan,
		.once = plan && plan == f->shown ? f->n_shown : 0, .query = query, .who = f->who,
		.deadline_ns = begin + ask_patience(f, query),
		.limit_ns = begin + f->timeout_ns,
		.look = query ? ask_look : NULL, .data = &look,
		.look_ns = begin + TO_FABRIC_LOOK_NS, .lost = f->lost,
		.replies = f->replies, .errors = f->errors,
	};
	int ret, failed = 0;

	if (!request || json_object_set_new(request, "id", json_integer(++f->id))) {
		json_decref(request);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	if (plan)
		ask_add_plan(f, request, plan);
	to_fabric_ask_forget(f);
	for (unsigned int i = 0; i < f->cluster->n_servers; i++) {
		f->lost[i] = false;
		if (f->who[i])
			f->errors[i][0] = '\0';
	}
	ret = f->link->call(f->link, &call, err);
	json_decref(request);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < f->cluster->n_servers; i++) {
		if (!f->who[i])
			continue;
		ask_read_reply(f, i);
		f->who[i] = f->servers[i].error[0];
		failed += f->who[i];
	}
	if (query)
		ask_note_time(f, begin, failed);
	return failed;
}

int to_fabric_ask_hello(struct to_fabric *f, struct to_error *err)
{
	int ret, failed = 0;

	for (unsigned int i = 0; i < f->cluster->n_servers; i++)
		f->who[i] = true;
	ret = to_fabric_ask(f, json_pack("{s:s}", "op", "hello"), NULL, err);
	for (unsigned int i = 0; i < f->cluster->n_servers; i++) {
		f->who[i] &= !f->out[i];
		failed += f->who[i];
	}
	return ret < 0 ? ret : failed;
}

int to_fabric_ask_blame(const struct to_fabric *f, const char *what, int failed,
			struct to_error *err)
{
	unsigned int n = f->cluster->n_servers;
	int ret = -EIO, left = failed;
	struct to_error list = {};
	size_t len = 0;

	for (unsigned int i = 0; i < n && left; i++) {
		const char *error = f->servers[i].error;

		if (!f->who[i])
			continue;
		if (!f->servers[i].reached)
			ret = -EHOSTUNREACH;
		if (len + strlen(f->servers[i].name) + strlen(error) + 32 > sizeof(list.text)) {
			snprintf(list.text + len, sizeof(list.text) - len, "; and %d more", left);
			break;
		}
		len += snprintf(list.text + len, sizeof(list.text) - len, "%s%s: %s",
				len ? "; " : "", f->servers[i].name, error);
		left--;
	}
	if (failed == 1)
		return to_error_set(err, ret, "%s: %s", what, list.text);
	return to_error_set(err, ret, "%s failed on %d of %u servers: %s", what, failed, n,
			    list.text);
}

