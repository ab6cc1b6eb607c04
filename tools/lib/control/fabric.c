// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "control/fabric_ask.h"
#include "data/down.h"

#define FABRIC_NAMED 4u	/* servers without checks that are named */

/* @plan, which is held, takes the place of what is at @at. */
static void fabric_replace(struct to_plan **at, struct to_plan *plan)
{
	to_plan_free(*at);
	*at = plan;
}

void to_fabric_leave_out(struct to_fabric *f, const bool *out)
{
	for (unsigned int i = 0; i < f->cluster->n_servers; i++)
		f->out[i] = out && out[i];
}

/* Asks all; any failure is one of the whole. */
static int fabric_call_all(struct to_fabric *f, const char *op, struct to_error *err)
{
	int failed;

	to_fabric_ask_all(f);
	failed = to_fabric_ask(f, json_pack("{s:s, s:I}", "op", op, "generation",
					  (json_int_t)f->generation), NULL, err);
	return failed > 0 ? to_fabric_ask_blame(f, op, failed, err) : failed;
}

/*
 * The largest that any server has; but a single one, which is far beyond all others', is no
 * generation that the fabric ever had, and would use them up.
 */
static uint64_t fabric_last_generation(const struct to_fabric *f)
{
	uint64_t last = 0, before = 0;

	for (unsigned int i = 0; i < f->cluster->n_servers; i++) {
		const uint64_t generation = f->servers[i].generation;

		if (generation >= last) {
			before = last;
			last = generation;
		} else if (generation > before) {
			before = generation;
		}
	}
	if (f->cluster->n_servers > 2 && last - before > TO_GENERATIONS_MAX)
		last = before;
	if (f->link->generation > last)
		last = f->link->generation;
	return f->generation > last ? f->generation : last;
}

static uint64_t fabric_next_generation(const struct to_fabric *f)
{
	return fabric_last_generation(f) + 1;
}

static int fabric_commit(struct to_fabric *f, struct to_error *err)
{
	return to_fabric_ask(f, json_pack("{s:s, s:I}", "op", "commit", "generation",
					(json_int_t)f->generation), NULL, err);
}

const struct to_fabric_server *to_fabric_servers(const struct to_fabric *f)
{
	return f->servers;
}

int to_fabric_status(struct to_fabric *f, struct to_error *err)
{
	const int failed = to_fabric_ask_hello(f, err);

	return failed > 0 ? to_fabric_ask_blame(f, "hello", failed, err) : failed;
}

int to_fabric_query(struct to_fabric *f, json_t *request, const struct to_plan *plan,
		    json_t **replies, struct to_error *err)
{
	int ret;

	to_fabric_ask_all(f);
	ret = to_fabric_ask(f, request, plan, err);
	for (unsigned int i = 0; i < f->cluster->n_servers; i++)
		replies[i] = ret < 0 ? NULL : json_incref(f->replies[i]);
	return ret < 0 ? ret : 0;
}

int to_fabric_look(struct to_fabric *f, json_t **replies, struct to_error *err)
{
	const struct to_plan *plan = f->link->learns ? NULL : f->shown;

	return to_fabric_query(f, json_pack("{s:s}", "op", "look"), plan, replies, err);
}

void to_fabric_show(struct to_fabric *f, const struct to_plan *plan)
{
	fabric_replace(&f->shown, to_plan_hold(plan));
	f->n_shown++;
}

int to_fabric_inventory(struct to_fabric *f, const char *ports, const char *ask, bool up,
			json_t **replies, struct to_error *err)
{
	return to_fabric_query(f, json_pack("{s:s, s:s*, s:s*, s:b}", "op", "inventory", "ports",
					    ports, "ask", ask, "up", up), NULL, replies, err);
}

const char *to_fabric_controller(const struct to_fabric *f)
{
	return f->link->controller;
}

int to_fabric_generation(const struct to_fabric *f, uint64_t *generation,
			 struct to_error *err)
{
	const struct to_fabric_server *s = f->servers;
	unsigned int first = 0;

	while (first + 1 < f->cluster->n_servers && f->out[first])
		first++;
	for (unsigned int i = first; i < f->cluster->n_servers; i++) {
		if (f->out[i])
			continue;
		if (!s[i].reached)
			return to_error_set(err, -EHOSTUNREACH, "%s: %s", s[i].name, s[i].error);
		if (s[i].generation != s[first].generation)
			return to_error_set(err, -ESTALE,
					    "%s has generation %" PRIu64 ", %s has %" PRIu64,
					    s[first].name, s[first].generation, s[i].name,
					    s[i].generation);
	}
	*generation = s[first].generation;
	return 0;
}

/* Stages differ in what agents may rely on. */
enum stage_kind { STAGE_ANY, STAGE_AHEAD, STAGE_FURTHER };

static int fabric_stage(struct to_fabric *f, const struct to_plan *plan, enum stage_kind kind,
			struct to_error *err)
{
	return to_fabric_ask(f, json_pack("{s:s, s:I, s:b, s:b}", "op", "stage", "generation",
					  (json_int_t)f->generation, "ahead", kind == STAGE_AHEAD,
					  "further", kind == STAGE_FURTHER),
			     plan, err);
}

static int fabric_check_servers(const struct to_fabric *f, const struct to_plan *plan,
				struct to_error *err)
{
	const struct to_cluster *a = f->cluster, *b = plan->cluster;

	if (a->n_servers != b->n_servers)
		return to_error_set(err, -EINVAL, "the plan has %u servers, the fabric %u",
				    b->n_servers, a->n_servers);
	for (unsigned int i = 0; i < a->n_servers; i++)
		if (strcmp(a->servers[i].name, b->servers[i].name))
			return to_error_set(err, -EINVAL,
					    "server %u of the plan is %s, that of the fabric %s",
					    i, b->servers[i].name, a->servers[i].name);
	return 0;
}

/* Nothing else is decided before it is decided what becomes of a commit. */
static int fabric_check_settled(const struct to_fabric *f, struct to_error *err)
{
	return f->committed ?
	       to_error_set(err, -EBUSY,
			    "generation %" PRIu64 " waits to be confirmed or reverted",
			    f->generation) : 0;
}

/* Find which servers send no checks, as their agents say, and tell of them when they are others. */
static void fabric_find_unable(struct to_fabric *f, const struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;
	char text[512] = "no continuity checks, links follow light: ";
	size_t len = strlen(text);
	unsigned int n = 0;
	bool changed = false;

	for (unsigned int i = 0; i < c->n_servers; i++) {
		const bool unable = f->servers[i].unable && !c->servers[i].unable;

		changed |= unable != f->unable[i];
		f->unable[i] = unable;
		if (unable && n++ < FABRIC_NAMED)
			len += snprintf(text + len, sizeof(text) - len, "%s%s", n > 1 ? ", " : "",
					c->servers[i].name);
	}
	if (n > FABRIC_NAMED)
		len += snprintf(text + len, sizeof(text) - len, " and %u more", n - FABRIC_NAMED);
	snprintf(text + len, sizeof(text) - len, "; update toctl and the module there");
	if (n && changed && f->note && c->continuity.interval != TO_CONTINUITY_OFF)
		f->note(text);
}

static int fabric_stage_all(struct to_fabric *f, const struct to_plan *plan,
			    enum stage_kind kind, struct to_error *err)
{
	int ret = fabric_check_servers(f, plan, err), failed;

	ret = ret ? ret : fabric_check_settled(f, err);
	if (ret)
		return ret;
	fabric_replace(&f->next, NULL);
	f->generation = fabric_next_generation(f);
	f->ahead = kind == STAGE_AHEAD;
	fabric_find_unable(f, plan);
	to_fabric_ask_all(f);
	failed = fabric_stage(f, plan, kind, err);
	if (failed < 0)
		return failed;
	if (failed) {
		ret = to_fabric_ask_blame(f, "stage", failed, err);
		to_fabric_abort(f, NULL);
		return ret;
	}
	f->next = to_plan_hold(plan);
	f->same = true;
	for (unsigned int i = 0; i < f->cluster->n_servers; i++)
		f->same &= !json_is_true(json_object_get(f->replies[i], "differs"));
	return 0;
}

int to_fabric_stage(struct to_fabric *f, const struct to_plan *plan, bool *differs,
		    struct to_error *err)
{
	int ret = fabric_stage_all(f, plan, STAGE_ANY, err);

	if (!ret && differs)
		*differs = !f->same;
	return ret;
}

int to_fabric_stage_ahead(struct to_fabric *f, const struct to_plan *plan, struct to_error *err)
{
	return fabric_stage_all(f, plan, STAGE_AHEAD, err);
}

int to_fabric_stage_further(struct to_fabric *f, const struct to_plan *plan, struct to_error *err)
{
	return fabric_stage_all(f, plan, STAGE_FURTHER, err);
}

bool to_fabric_is_staged(const struct to_fabric *f, const struct to_plan *plan)
{
	bool staged = f->next == plan && !f->committed;

	for (unsigned int i = 0; i < f->cluster->n_servers; i++)
		staged &= f->out[i] || (f->servers[i].reached && f->servers[i].staged);
	return staged;
}

int to_fabric_abort(struct to_fabric *f, struct to_error *err)
{
	int ret = fabric_check_settled(f, err), failed;

	if (ret)
		return ret;
	/* Agents then take the stage for what is active, see agent.h. */
	if (f->next && f->same && !f->ahead) {
		fabric_replace(&f->active, to_plan_hold(f->next));
		to_fabric_generation(f, &f->agreed, NULL);
	}
	fabric_replace(&f->next, NULL);
	to_fabric_ask_all(f);
	failed = to_fabric_ask(f, json_pack("{s:s, s:I, s:b}", "op", "abort", "generation",
					  (json_int_t)f->generation, "ahead", f->ahead), NULL, err);
	return failed > 0 ? to_fabric_ask_blame(f, "abort", failed, err) : failed;
}

/* f->who get @plan under f->generation; who cannot stays in f->who. */
static int fabric_bring(struct to_fabric *f, const struct to_plan *plan, struct to_error *err)
{
	unsigned int n = f->cluster->n_servers;
	bool *wanted = malloc(n * sizeof(*wanted));
	int ret, failed = 0;

	if (!wanted)
		return to_error_set(err, -ENOMEM, "out of memory");
	memcpy(wanted, f->who, n * sizeof(*wanted));
	ret = fabric_stage(f, plan, STAGE_ANY, err);
	for (unsigned int i = 0; i < n; i++)
		f->who[i] = wanted[i] && !f->who[i];
	if (ret >= 0)
		ret = fabric_commit(f, err);
	/* Who failed in either step has an error. */
	for (unsigned int i = 0; i < n; i++) {
		f->who[i] = wanted[i] && f->servers[i].error[0];
		failed += f->who[i];
	}
	free(wanted);
	return ret < 0 ? ret : failed;
}

/* Bring the servers of @who to what is active, as the generation that the others have. */
static int fabric_bring_astray(struct to_fabric *f, const bool *who, struct to_error *err)
{
	const uint64_t generation = f->generation;
	int failed, rest = 0;

	f->generation = f->agreed;
	memcpy(f->who, who, f->cluster->n_servers * sizeof(*who));
	failed = fabric_bring(f, f->active, err);
	for (unsigned int i = 0; failed >= 0 && i < f->cluster->n_servers; i++) {
		f->who[i] = who[i] && !f->who[i];
		rest += f->who[i];
	}
	if (failed >= 0 && rest)
		failed = to_fabric_ask(f, json_pack("{s:s, s:I}", "op", "confirm", "generation",
						    (json_int_t)f->generation), NULL, err);
	f->generation = generation;
	return failed < 0 ? failed : 0;
}

int to_fabric_bring(struct to_fabric *f, const bool *who, struct to_error *err)
{
	int ret = 0, failed = 0;

	if (!f->active || !f->agreed || f->committed)
		return to_error_set(err, -ENOENT, "no plan is active on all servers");
	for (unsigned int i = 0; !ret && i < f->cluster->n_servers; i++)
		if (who[i] && f->servers[i].generation > f->agreed)
			ret = to_error_set(err, -ESTALE,
					   "%s has generation %" PRIu64 ", which is beyond %" PRIu64,
					   f->servers[i].name, f->servers[i].generation, f->agreed);
	if (ret)
		return ret;
	/* Agents that learn by themselves what was decided do so with any decision. */
	ret = f->link->learns ? fabric_call_all(f, "abort", err) : fabric_bring_astray(f, who, err);
	for (unsigned int i = 0; i < f->cluster->n_servers; i++) {
		f->who[i] = who[i] && f->servers[i].generation != f->agreed;
		failed += f->who[i];
	}
	return ret < 0 && !failed ? ret : failed ? to_fabric_ask_blame(f, "bring", failed, err) : 0;
}

bool to_fabric_is_forgotten(const struct to_fabric *f)
{
	return f->link->forgot && !f->observes;
}

bool to_fabric_is_astray(const struct to_fabric *f, unsigned int server)
{
	return f->servers[server].reached && f->agreed && !f->committed &&
	       f->servers[server].generation != f->agreed;
}

/* What is committed stays; an agent that was started since has nothing to confirm. */
static int fabric_confirm(struct to_fabric *f, struct to_error *err)
{
	int failed = 0, ret;

	to_fabric_ask_all(f);
	ret = to_fabric_ask(f, json_pack("{s:s, s:I}", "op", "confirm", "generation",
				       (json_int_t)f->generation), NULL, err);
	if (ret > 0)
		ret = to_fabric_ask(f, json_pack("{s:s}", "op", "hello"), NULL, err);
	for (unsigned int i = 0; ret >= 0 && i < f->cluster->n_servers; i++) {
		f->who[i] = !f->out[i] && (!f->servers[i].reached ||
					   f->servers[i].generation != f->generation);
		if (f->who[i] && !f->servers[i].error[0])
			snprintf(f->servers[i].error, sizeof(f->servers[i].error),
				 "generation %" PRIu64 " is active, not %" PRIu64,
				 f->servers[i].generation, f->generation);
		failed += f->who[i];
	}
	return ret < 0 ? ret : failed;
}

/*
 * All servers to what they had, under a new generation. When nobody can be asked
 * the commit is still there, and this is to be done again.
 */
static int fabric_go_back(struct to_fabric *f, struct to_error *err)
{
	uint64_t generation = fabric_next_generation(f);
	int failed;

	to_fabric_ask_all(f);
	failed = to_fabric_ask(f, json_pack("{s:s, s:I, s:I}", "op", "revert",
					  "from", (json_int_t)f->generation, "generation",
					  (json_int_t)generation), NULL, err);
	if (failed < 0)
		return failed;
	f->generation = generation;
	fabric_replace(&f->next, NULL);
	/* Agents that were started since do not know what they had. */
	if (failed > 0 && f->active) {
		failed = fabric_bring(f, f->active, err);
		if (failed >= 0)
			failed = fabric_confirm(f, err);
	}
	f->committed = failed < 0;
	if (!f->committed)
		f->agreed = generation;
	return failed > 0 ? to_fabric_ask_blame(f, "revert", failed, err) : failed;
}

/* What a controller that died had begun: finish it or take it back. */
static void fabric_settle(struct to_fabric *f)
{
	int failed;

	f->generation = f->link->generation;
	f->committed = f->link->committed;
	if (f->link->staged)
		to_fabric_abort(f, NULL);
	if (!f->committed)
		return;
	to_fabric_ask_all(f);
	failed = fabric_commit(f, NULL);
	if (failed > 0)
		fabric_go_back(f, NULL);
	else if (!failed)
		f->committed = fabric_confirm(f, NULL) < 0;
}

struct to_fabric *to_fabric_open(const struct to_plan *plan,
				 const struct to_fabric_options *options,
				 struct to_error *err)
{
	struct to_fabric *f = calloc(1, sizeof(*f));
	struct to_cluster *c;

	if (!f)
		goto no_memory;
	c = f->cluster = to_cluster_copy(plan->cluster);
	if (!c)
		goto no_memory;
	if (to_tm_names_init(&f->names, c))
		goto no_memory;
	f->timeout_ns = options->timeout_ns;
	f->servers = calloc(c->n_servers, sizeof(*f->servers));
	f->who = calloc(c->n_servers, sizeof(*f->who));
	f->out = calloc(c->n_servers, sizeof(*f->out));
	f->unable = calloc(c->n_servers, sizeof(*f->unable));
	f->note = options->note;
	f->lost = calloc(c->n_servers, sizeof(*f->lost));
	f->replies = calloc(c->n_servers, sizeof(*f->replies));
	f->errors = calloc(c->n_servers, sizeof(*f->errors));
	if (!f->servers || !f->who || !f->out || !f->unable || !f->lost || !f->replies || !f->errors)
		goto no_memory;
	for (unsigned int i = 0; i < c->n_servers; i++)
		f->servers[i].name = c->servers[i].name;
	/* Replies to requests of another controller must not pass for ours. */
	f->id = to_clock_realtime_ns();
	f->observes = options->observe;
	for (unsigned int i = 0; !f->observes && i < plan->n_down; i++)
		f->out[plan->down[i].server] |= plan->down[i].port == TO_DOWN_SERVER;
	f->link = options->etcd.endpoints ?
		  to_fabric_cluster(c, options, err) :
		  to_fabric_pipes(c, options->command, err);
	if (!f->link)
		goto fail;
	if (options->observe)
		return f;
	to_fabric_ask_all(f);
	if (to_fabric_ask(f, json_pack("{s:s}", "op", "hello"), NULL, err) < 0)
		goto fail;
	fabric_settle(f);
	return f;

no_memory:
	to_error_set(err, -ENOMEM, "out of memory");
fail:
	to_fabric_close(f);
	return NULL;
}

void to_fabric_close(struct to_fabric *f)
{
	if (!f)
		return;
	if (f->link)
		f->link->close(f->link);
	if (f->replies)
		to_fabric_ask_forget(f);
	to_tm_live_free(f->live);
	to_tm_names_free(&f->names);
	to_plan_free(f->active);
	to_plan_free(f->shown);
	to_plan_free(f->next);
	for (unsigned int i = 0; f->servers && i < f->cluster->n_servers; i++)
		free(f->servers[i].peers);
	free(f->servers);
	free(f->who);
	free(f->out);
	free(f->unable);
	free(f->lost);
	free(f->replies);
	free(f->errors);
	to_cluster_free(f->cluster);
	free(f);
}

int to_fabric_commit(struct to_fabric *f, struct to_error *err)
{
	struct to_error back = {}, why;
	int failed, ret;

	if (!f->next)
		return to_error_set(err, -ENOENT, "nothing is staged on all servers");
	/* Also when it is not known whether it was asked for. */
	f->committed = true;
	to_fabric_ask_all(f);
	failed = fabric_commit(f, err);
	if (failed > 0)
		failed = fabric_bring(f, f->next, err);
	if (failed <= 0)
		return failed;
	ret = to_fabric_ask_blame(f, "commit", failed, &why);
	if (fabric_go_back(f, &back))
		return to_error_set(err, ret, "%s; then %s", why.text, back.text);
	return to_error_set(err, ret, "%s; all servers went back to the old plan", why.text);
}

int to_fabric_confirm(struct to_fabric *f, struct to_error *err)
{
	int failed;

	if (!f->committed)
		return to_error_set(err, -ENOENT, "nothing waits to be confirmed");
	failed = fabric_confirm(f, err);
	if (failed < 0)
		return failed;
	fabric_replace(&f->active, f->next);
	f->next = NULL;
	f->committed = false;
	f->agreed = f->generation;
	f->link->forgot &= failed;
	return failed ? to_fabric_ask_blame(f, "confirm", failed, err) : 0;
}

int to_fabric_revert(struct to_fabric *f, struct to_error *err)
{
	if (!f->committed)
		return to_error_set(err, -ENOENT, "nothing was committed that could be reverted");
	return fabric_go_back(f, err);
}

/* The recordings out of the replies, which need not be kept for them. */
static void fabric_take_records(struct to_fabric *f, struct to_fabric_records *records)
{
	for (unsigned int i = 0; i < f->cluster->n_servers; i++) {
		const json_t *text = json_object_get(f->replies[i], "tm");
		struct to_error why;

		if (json_is_string(text) &&
		    to_fabric_records_add(records, i, json_string_value(text),
					  json_string_length(text), &why))
			snprintf(f->errors[i], sizeof(f->errors[i]), "%.255s", why.text);
		json_object_del(f->replies[i], "tm");
	}
}

/*
 * The matrix from the recordings in the replies and those before; NULL when there are none. Return: how
 * many servers sent one that does not count, which then is their error.
 */
static int fabric_merge(struct to_fabric *f, uint64_t interval_ns, uint64_t until_ns,
			struct to_tm **tm, struct to_error *err)
{
	struct to_fabric_records records;
	int ret = to_fabric_records_init(&records, f->cluster), faulty = 0;

	*tm = NULL;
	if (ret)
		return to_error_set(err, ret, "out of memory");
	records.names = &f->names;
	records.plan = f->active;
	records.interval_ns = interval_ns;
	records.until_ns = until_ns;
	fabric_take_records(f, &records);
	ret = to_fabric_records_merge(&records, f->errors, &f->live, tm, err);
	to_fabric_records_free(&records);
	for (unsigned int i = 0; i < f->cluster->n_servers; i++) {
		f->who[i] = !f->out[i] && f->replies[i] && f->errors[i][0];
		if (f->who[i])
			to_fabric_ask_fail(&f->servers[i], f->errors[i]);
		faulty += f->who[i];
	}
	return ret ? ret : faulty;
}

void to_fabric_assume(struct to_fabric *f, const struct to_plan *plan)
{
	fabric_replace(&f->active, to_plan_hold(plan));
}

/*
 * Tell agents that were started since under which plan they count. Whoever did not answer last
 * may be one of them, and is asked first.
 */
static int fabric_remind(struct to_fabric *f, struct to_error *err)
{
	int ret = 0, asked = 0;

	if (f->link->learns || !f->active || f->committed)
		return 0;
	for (unsigned int i = 0; i < f->cluster->n_servers; i++) {
		f->who[i] = !f->out[i] && !f->servers[i].reached;
		asked += f->who[i];
	}
	if (asked)
		ret = to_fabric_ask(f, json_pack("{s:s}", "op", "hello"), NULL, err);
	asked = 0;
	for (unsigned int i = 0; i < f->cluster->n_servers; i++) {
		f->who[i] = !f->out[i] && f->servers[i].reached && !f->servers[i].knows;
		asked += f->who[i];
	}
	if (ret >= 0 && asked)
		ret = to_fabric_ask(f, json_pack("{s:s}", "op", "assume"), f->active, err);
	return ret < 0 ? ret : 0;
}

int to_fabric_sample(struct to_fabric *f, uint64_t interval_ns, struct to_tm **tm,
		     struct to_error *err)
{
	int failed = fabric_remind(f, err), asked = 0, faulty = 0;

	if (failed)
		return failed;
	for (unsigned int i = 0; i < f->cluster->n_servers; i++)
		asked += !f->out[i];
	/* Once more when the counting only started. */
	for (unsigned int attempt = 0; attempt < 2; attempt++) {
		uint64_t until = (to_clock_realtime_ns() / interval_ns + 1) * interval_ns;

		to_fabric_ask_all(f);
		failed = to_fabric_ask(f, json_pack("{s:s, s:I, s:I, s:s}", "op", "sample",
						  "interval_ns", (json_int_t)interval_ns,
						  "until_ns", (json_int_t)until,
						  "names", f->names.fingerprint), NULL, err);
		if (failed < 0)
			return failed;
		if (failed == asked)
			return to_fabric_ask_blame(f, "sample", failed, err);
		faulty = fabric_merge(f, interval_ns, until, tm, err);
		if (faulty < 0)
			return faulty;
		if (*tm)
			return 0;
	}
	if (faulty)
		return to_fabric_ask_blame(f, "sample", faulty, err);
	return to_error_set(err, -EAGAIN, "no server has counted for a whole interval yet");
}

int to_fabric_clear(struct to_fabric *f, struct to_error *err)
{
	fabric_replace(&f->active, NULL);
	fabric_replace(&f->next, NULL);
	f->committed = false;
	f->agreed = 0;
	return fabric_call_all(f, "clear", err);
}
