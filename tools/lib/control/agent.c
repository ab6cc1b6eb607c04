// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "control/agent_look.h"
#include "control/agent_state.h"
#include "format/plan_slice.h"
#include "format/tm_json.h"
#include "kernel/apply.h"
#include "kernel/device_lock.h"
#include "kernel/peers.h"
#include "measure/record.h"

#define SAMPLE_WAIT_NS (10 * TO_NS_PER_S)
#define AGENT_STAGE_EXPECTED "stage: expected generation, job, cluster and table"

/**
 * struct to_agent - see agent.h
 * @counter_names: see to_counters_open()
 * @plan: this server's part of the plan that is active and confirmed, or NULL
 * @next: of the one that is staged or not confirmed yet
 * @servers: of the plan that was read last
 * @server: whose parts they are
 * @generation: of @plan's table, 0: not known
 * @kept: from one apply to the next
 * @apply: of @next, NULL when there is none; it knows what there was before
 * @same: nothing differed from @next when it was staged
 * @staged: generation that a commit makes, 0: nothing staged
 * @ahead: others may have replaced the stage since
 * @committed: generation that is not confirmed yet, 0: none
 * @confirmed: the one that was confirmed, 0: none since the last stage
 * @lock: keeps other controllers out, negative: not taken
 * @recorder: NULL: nothing is counted
 * @moved: another table became active since @recorder last ended a sample
 * @seen: by the last look
 * @keeper: keeps what apply made, NULL: nobody does
 * @restored: to_keeper_restored() before the stage
 */
struct to_agent {
	char device[IFNAMSIZ];
	const struct to_counter_names *counter_names;
	struct to_plan *plan, *next;
	struct to_plan_servers servers;
	unsigned int server;
	uint64_t generation;
	struct to_apply_kept kept;
	struct to_apply *apply;
	bool same, ahead;
	uint64_t staged, committed, confirmed;
	int lock;
	struct to_recorder *recorder;
	bool moved;
	struct to_agent_seen seen;
	struct to_keeper *keeper;
	uint64_t restored;
};

struct to_agent *to_agent_new(const char *device, const struct to_counter_names *counter_names,
			      struct to_error *err)
{
	struct to_agent *agent = calloc(1, sizeof(*agent));

	if (!agent) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	agent->lock = -1;
	if (strlen(device) >= sizeof(agent->device)) {
		to_error_set(err, -EINVAL, "%s: an interface name has at most %zu characters",
			     device, sizeof(agent->device) - 1);
		free(agent);
		return NULL;
	}
	strcpy(agent->device, device);
	agent->counter_names = counter_names;
	return agent;
}

void to_agent_keep(struct to_agent *agent, struct to_keeper *keeper)
{
	agent->keeper = keeper;
}

/* While a stage waits to be committed, nobody changes what it was compared with. */
static void agent_keep(struct to_agent *agent)
{
	if (agent->keeper)
		to_keeper_take(agent->keeper, agent->plan, agent->server,
			       (agent->staged && !agent->ahead) || agent->committed);
}

static int agent_lock(struct to_agent *agent, struct to_error *err)
{
	if (agent->lock < 0)
		agent->lock = to_device_lock_take("controller", agent->device, 0, err);
	return agent->lock < 0 ? agent->lock : 0;
}

static void agent_unlock(struct to_agent *agent)
{
	if (agent->lock >= 0)
		close(agent->lock);
	agent->lock = -1;
}

static void agent_stop_recording(struct to_agent *agent)
{
	to_recorder_close(agent->recorder);
	agent->recorder = NULL;
}

/* @next is not to be; what was recorded under it goes too. */
static void agent_forget(struct to_agent *agent)
{
	agent->moved |= agent->committed;
	to_apply_close(agent->apply);
	agent->apply = NULL;
	to_plan_free(agent->next);
	agent->next = NULL;
	agent->staged = agent->committed = agent->confirmed = 0;
	agent->ahead = false;
}

/* From now on nobody else replaces what is staged; that it still is there. */
static int agent_claim(struct to_agent *agent, struct to_error *err)
{
	struct to_error why;
	int ret;

	if (!agent->ahead)
		return 0;
	ret = agent_lock(agent, err);
	if (ret)
		return ret;
	ret = to_apply_check_stage(agent->apply, &why);
	if (!ret && agent->keeper && to_keeper_restored(agent->keeper) != agent->restored)
		ret = to_error_set(&why, -ESTALE, "addresses, neighbours, routes or rules were restored since");
	if (ret)
		return to_error_set(err, ret, "what was staged as generation %" PRIu64 " is not any more: %s",
				    agent->staged, why.text);
	agent->ahead = false;
	return 0;
}

/* Generation of the active table, 0 when there is none. */
static int agent_active(struct to_agent *agent, uint64_t *generation, struct to_error *err)
{
	struct to_device device;
	int ret = to_agent_device(&agent->kept, agent->device, &device, err);

	*generation = device.generation;
	return ret < 0 ? ret : 0;
}

/* Drops a stage that nobody is going to commit any more. */
static int agent_drop_stage(struct to_agent *agent, struct to_error *err)
{
	struct to_device device;
	int ret = to_agent_device(&agent->kept, agent->device, &device, err);

	if (!ret && device.prepared)
		ret = to_genl_abort(&agent->kept.genl, device.ifindex, err);
	return ret < 0 ? ret : 0;
}

/* The plan in @request, which @expected describes, or NULL. */
static struct to_plan *agent_read_plan(struct to_agent *agent, const json_t *request,
				       const char *expected, struct to_error *err)
{
	json_t *table = json_object_get(request, "table"), *links = json_object_get(request, "links");
	const char *job = json_string_value(json_object_get(request, "job"));
	const char *cluster = json_string_value(json_object_get(request, "cluster"));

	struct to_plan *plan = NULL;

	if (job && cluster && json_is_string(table))
		plan = to_plan_slice_parse(job, cluster, json_string_value(table), &agent->servers,
					   &agent->server, err);
	else if (job && links && json_is_object(table))
		plan = to_plan_slice_take(job, links, table, &agent->servers, &agent->server, err);
	else
		to_error_set(err, -EINVAL, "%s", expected);
	if (plan && to_plan_slice_add_rest(plan, json_object_get(request, "rest"), err)) {
		to_plan_free(plan);
		plan = NULL;
	}
	return plan;
}

struct to_plan *to_agent_plan(struct to_agent *agent, const json_t *request,
			      unsigned int *server, struct to_error *err)
{
	struct to_plan *plan;

	err->text[0] = '\0';
	if (json_object_get(request, "table"))
		plan = agent_read_plan(agent, request, "doctor: expected job, cluster and table",
				       err);
	else
		plan = agent->plan ? to_plan_hold(agent->plan) : NULL;
	*server = agent->server;
	return plan;
}

const char *to_agent_device_name(const struct to_agent *agent)
{
	return agent->device;
}

static int agent_stage(struct to_agent *agent, const json_t *request, json_t *reply,
		       struct to_error *err)
{
	json_int_t generation;
	int ret, ahead = 0, further = 0;

	if (json_unpack((json_t *)request, "{s:I, s?b, s?b}", "generation", &generation,
			"ahead", &ahead, "further", &further) || generation <= 0)
		return to_error_set(err, -EINVAL, AGENT_STAGE_EXPECTED);
	if (agent->committed)
		return to_error_set(err, -EBUSY,
				    "generation %" PRIu64 " waits to be confirmed or reverted",
				    agent->committed);
	ret = agent_lock(agent, err);
	if (ret)
		return ret;
	if (agent->staged && !agent_claim(agent, NULL))
		to_apply_abort(agent->apply, NULL);
	agent_forget(agent);
	agent->next = agent_read_plan(agent, request, AGENT_STAGE_EXPECTED, err);
	ret = agent->next ? 0 : -EINVAL;
	/* what may never be needed takes no other's place */
	if (!ret && !ahead)
		ret = agent_drop_stage(agent, err);
	if (!ret) {
		agent->restored = agent->keeper ? to_keeper_restored(agent->keeper) : 0;
		agent->kept.further = further;
		agent->apply = to_apply_open(agent->next, agent->server, agent->device, true,
					     &agent->kept, err);
		ret = agent->apply ? 0 : -EIO;
	}
	if (!ret) {
		agent->same = !to_apply_differs(agent->apply);
		json_object_set_new(reply, "differs", json_boolean(!agent->same));
		if (!ahead)
			ret = to_apply_links(agent->apply, err);
		else if (to_apply_links_differ(agent->apply))
			ret = to_error_set(err, -ENOLINK, "links are to be made first");
	}
	if (!ret)
		ret = to_apply_stage(agent->apply, true, err);
	if (ret) {
		agent_forget(agent);
		return ret;
	}
	agent->staged = generation;
	agent->ahead = ahead;
	return 0;
}

static int agent_generation(const json_t *request, uint64_t *generation, struct to_error *err)
{
	json_int_t n;

	if (json_unpack((json_t *)request, "{s:I}", "generation", &n) || n <= 0)
		return to_error_set(err, -EINVAL, "expected a generation");
	*generation = n;
	return 0;
}

/* @next is what is active. */
static void agent_adopt(struct to_agent *agent)
{
	agent->generation = agent->committed ? agent->committed :
			    to_apply_current(agent->apply)->generation;
	to_apply_close(agent->apply);
	agent->apply = NULL;
	to_plan_free(agent->plan);
	agent->plan = agent->next;
	agent->next = NULL;
	agent->confirmed = agent->committed;
	agent->staged = agent->committed = 0;
	agent->ahead = false;
}

/*
 * An agent that is no more has committed this, and may have died before the rest of it:
 * what was before is not known any more, so it stays.
 */
static int agent_finish(struct to_agent *agent, struct to_error *err)
{
	uint64_t generation;
	int ret = to_apply_commit(agent->apply, false, 0, &generation, err);

	agent_drop_stage(agent, NULL);
	agent->committed = agent->staged;
	agent_adopt(agent);
	return ret;
}

static int agent_commit(struct to_agent *agent, const json_t *request, json_t *reply,
			struct to_error *err)
{
	uint64_t wanted = 0, before, generation;
	struct to_error why = {};
	int ret;

	ret = agent_generation(request, &wanted, err);
	if (ret)
		return ret;
	if (agent->staged != wanted)
		return to_error_set(err, -ENOENT, "nothing is staged as generation %" PRIu64,
				    wanted);
	ret = agent_claim(agent, err);
	if (ret)
		return ret;
	agent->moved = true;
	generation = wanted;
	before = to_apply_current(agent->apply)->generation;
	if (wanted == before && !to_apply_table_differs(agent->apply)) {
		ret = agent_finish(agent, &why);
	} else {
		ret = to_apply_commit(agent->apply, true, before, &generation, &why);
		agent->staged = 0;
		/* A commit that failed leaves what was active, whose generation may be this. */
		if (generation != wanted || wanted <= before)
			return to_error_set(err, ret, "%s", why.text);
		agent->committed = wanted;
	}
	if (ret)
		json_object_set_new(reply, "warning", json_string(why.text));
	return 0;
}

static int agent_confirm(struct to_agent *agent, const json_t *request, struct to_error *err)
{
	uint64_t generation = 0;
	int ret = agent_generation(request, &generation, err);

	if (ret)
		return ret;
	if (!agent->committed && agent->confirmed == generation)
		return 0;
	if (agent->committed != generation)
		return to_error_set(err, -ENOENT, "generation %" PRIu64 " was not committed here",
				    generation);
	agent_adopt(agent);
	return 0;
}

static int agent_abort(struct to_agent *agent, const json_t *request, struct to_error *err)
{
	int ret = 0, ahead = 0;

	if (agent->committed)
		return to_error_set(err, -EBUSY,
				    "generation %" PRIu64 " waits to be confirmed or reverted",
				    agent->committed);
	json_unpack((json_t *)request, "{s?b}", "ahead", &ahead);
	if (agent->staged && !agent_claim(agent, NULL))
		ret = to_apply_abort(agent->apply, err);
	else if (!ahead)
		ret = agent_drop_stage(agent, err);
	if (!ret && agent->staged && agent->same && !ahead) {
		agent->moved = true;
		agent_adopt(agent);
	}
	agent_forget(agent);
	return ret;
}

static int agent_assume(struct to_agent *agent, const json_t *request, struct to_error *err)
{
	struct to_apply *apply;
	struct to_plan *plan;
	uint64_t generation = 0;
	int ret;

	if (agent->committed)
		return to_error_set(err, -EBUSY,
				    "generation %" PRIu64 " waits to be confirmed or reverted",
				    agent->committed);
	plan = agent_read_plan(agent, request, "assume: expected job, cluster and table", err);
	if (!plan)
		return -EINVAL;
	apply = to_apply_open(plan, agent->server, agent->device, true, &agent->kept, err);
	ret = apply ? 0 : -EIO;
	if (apply && to_apply_routes_differ(apply))
		ret = to_error_set(err, -ESTALE, "the active table of %s is not that of this plan",
				   agent->device);
	else if (apply)
		generation = to_apply_current(apply)->generation;
	to_apply_close(apply);
	if (ret) {
		to_plan_free(plan);
		return ret;
	}
	to_plan_free(agent->plan);
	agent->plan = plan;
	agent->generation = generation;
	agent->moved = true;
	return 0;
}

/* Gives the active table, which stays, another generation. */
static int agent_renumber(struct to_agent *agent, uint64_t generation, struct to_error *err)
{
	struct to_genl *genl = &agent->kept.genl;
	struct to_kernel_table table = {};
	struct to_device device;
	int ret = to_agent_device(&agent->kept, agent->device, &device, err);

	if (ret)
		return ret < 0 ? ret : 0;
	ret = to_genl_table(genl, device.ifindex, false, &table, err);
	ret = ret ? ret : to_genl_stage(genl, device.ifindex, &table, err);
	ret = ret ? ret : to_genl_commit(genl, device.ifindex, table.generation, &generation,
					 err);
	to_kernel_table_free(&table);
	return ret;
}

/* @generation: for what was active before */
static int agent_go_back(struct to_agent *agent, uint64_t generation, struct to_error *err)
{
	int ret = 0;

	if (agent->committed)
		ret = to_apply_revert(agent->apply, agent->committed, &generation, err);
	else if (agent->staged)
		ret = to_apply_abort(agent->apply, err);
	if (!ret && !agent->committed)
		ret = agent_renumber(agent, generation, err);
	if (ret)
		return ret;
	agent_forget(agent);
	agent->generation = 0;
	return 0;
}

static int agent_revert(struct to_agent *agent, const json_t *request, struct to_error *err)
{
	json_int_t from, generation;
	uint64_t active = 0;
	int ret;

	if (json_unpack((json_t *)request, "{s:I, s:I}", "from", &from,
			"generation", &generation) || generation <= 0)
		return to_error_set(err, -EINVAL, "revert: expected from and generation");
	ret = agent_lock(agent, err);
	ret = ret ? ret : agent_active(agent, &active, err);
	if (ret)
		return ret;
	/* Committed by an agent that is no more. */
	if (active == (uint64_t)from && !agent->committed)
		return to_error_set(err, -ENOENT, "what was active before generation %" PRIu64 " is not known any more",
				    active);
	return agent_go_back(agent, generation, err);
}

void to_agent_free(struct to_agent *agent)
{
	int lock;

	if (!agent)
		return;
	if (agent->committed || agent->staged) {
		/* beside whoever has it for long: the fabric goes back as well */
		lock = to_device_lock_take("toctl", agent->device, TO_DEVICE_LOCK_WAIT_S, NULL);
		if (agent->committed)
			agent_go_back(agent, agent->committed + 1, NULL);
		else if (!agent_claim(agent, NULL))
			to_apply_abort(agent->apply, NULL);
		if (lock >= 0)
			close(lock);
	}
	agent_stop_recording(agent);
	agent_forget(agent);
	agent_unlock(agent);
	to_apply_kept_close(&agent->kept);
	to_plan_free(agent->plan);
	to_plan_servers_free(&agent->servers);
	free(agent);
}

/* @names: fingerprint of those that the controller has, or NULL. */
static int agent_tm_text(const struct to_agent *agent, const char *names, json_t *reply,
			 struct to_error *err)
{
	struct to_tm *tm = to_recorder_tm(agent->recorder);
	size_t len = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	if (out) {
		/* The same on all servers, which is what counts when merging. */
		snprintf(tm->plan, sizeof(tm->plan), "%016" PRIx64, tm->generation);
		to_tm_print(out, tm, names);
		fclose(out);
	}
	if (!text || json_object_set_new(reply, "tm", json_stringn(text, len))) {
		free(text);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	free(text);
	return 0;
}

/*
 * Room for all that a sample can tell apart: by ingress and egress port, class, source
 * and destination, any of which may be none of the plan's. The kernel has it at once, on
 * each processor.
 */
static uint32_t agent_pairs(const struct to_plan *plan, uint32_t server)
{
	const uint64_t servers = plan->cluster->n_servers + 1;
	const uint64_t ports = plan->cluster->servers[server].n_ports + 1;
	const uint64_t pairs = TO_TM_CLASSES * ports * ports * servers * servers;

	return pairs < TO_SAMPLE_FLOWS_MAX ? pairs : TO_SAMPLE_FLOWS_MAX;
}

/* Count under the plan of @config; @first: only from now on. */
static int agent_record(struct to_agent *agent, const struct to_record_config *config,
			bool *first, struct to_error *err)
{
	/* another controller has other intervals */
	if (agent->recorder && to_recorder_tm(agent->recorder)->interval_ns != config->interval_ns)
		agent_stop_recording(agent);
	*first = agent->moved || !agent->recorder;
	if (agent->recorder && agent->moved &&
	    to_recorder_follow(agent->recorder, config->plan, config->generation, NULL))
		agent_stop_recording(agent);
	if (!agent->recorder)
		agent->recorder = to_recorder_open(config, err);
	if (!agent->recorder)
		return -EIO;
	agent->moved = false;
	return 0;
}

static int agent_sample(struct to_agent *agent, const json_t *request, json_t *reply,
			struct to_error *err)
{
	struct to_record_config config = {
		.plan = agent->committed ? agent->next : agent->plan,
		.generation = agent->committed ? agent->committed : agent->generation,
		.server = agent->server, .device = agent->device,
		.source = TO_TRAFFIC_AUTO, .counter_names = agent->counter_names,
	};
	json_int_t interval, until;
	bool first;
	int ret;

	if (json_unpack((json_t *)request, "{s:I, s:I}", "interval_ns", &interval,
			"until_ns", &until) || interval <= 0)
		return to_error_set(err, -EINVAL, "sample: expected interval_ns and until_ns");
	if (!config.plan)
		return to_error_set(err, -ENOENT, "no plan was applied through this agent yet");
	if (until > 0 && (uint64_t)until > to_clock_realtime_ns() + SAMPLE_WAIT_NS)
		return to_error_set(err, -EINVAL,
				    "sample: the controller's clock is more than %llu s ahead",
				    SAMPLE_WAIT_NS / TO_NS_PER_S);
	config.interval_ns = interval;
	config.entries = agent_pairs(config.plan, config.server);
	ret = agent_record(agent, &config, &first, err);
	if (ret)
		return ret;
	/* it was told to end, or the pipe is gone */
	if (!to_clock_sleep_until(until))
		return to_error_set(err, -EINTR, "sample: interrupted by a signal");
	ret = to_recorder_cut(agent->recorder, err);
	if (ret) {
		agent_stop_recording(agent);
		return ret;
	}
	if (!first)
		ret = agent_tm_text(agent, json_string_value(json_object_get(request, "names")),
				    reply, err);
	to_recorder_drop(agent->recorder);
	return ret;
}

/* How the server is. */
static int agent_state(struct to_agent *agent, json_t *reply, struct to_error *err)
{
	int ret = to_agent_state(&agent->kept, agent->device, agent->keeper, reply, err);

	json_object_set_new(reply, "plan", json_boolean(agent->plan || agent->committed));
	if (agent->servers.cluster)
		json_object_set_new(reply, "servers",
				    json_sprintf("%016" PRIx64, agent->servers.fingerprint));
	return ret;
}

/*
 * What waits for its confirmation when something else is decided: it was confirmed
 * without this agent having heard of it, or it was given up.
 */
static int agent_settle(struct to_agent *agent, const char *op, const json_t *request,
			struct to_error *err)
{
	const uint64_t waiting = agent->committed, back = waiting + 1;
	json_int_t active = 0, generation = 0;
	int ret;

	json_unpack((json_t *)request, "{s?I, s?I}", "active", &active, "generation",
		    &generation);
	if (!waiting)
		return 0;
	if ((uint64_t)active == waiting) {
		agent_adopt(agent);
		return 0;
	}
	if ((strcmp(op, "stage") && strcmp(op, "abort")) || generation <= (json_int_t)waiting)
		return 0;
	ret = agent_go_back(agent, back, err);
	if (ret || strcmp(op, "stage") || generation > (json_int_t)back)
		return ret;
	return to_error_set(err, -ESTALE,
			    "generation %" PRIu64 " was never confirmed; what was before it is now %" PRIu64 ": stage a later one",
			    waiting, back);
}

/* Whether a request may change the device. */
static bool agent_changes(const char *op)
{
	static const char *const ops[] = { "stage", "commit", "revert", "abort", "clear" };

	for (unsigned int i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(op, ops[i]))
			return true;
	return false;
}

/* A plan that cannot be read keeps nobody from looking. */
static int agent_look(struct to_agent *agent, const json_t *request, json_t *reply,
		      struct to_error *err)
{
	const unsigned int server = agent->server;
	struct to_plan *plan = NULL;
	struct to_error why;

	if (agent->keeper && json_object_get(request, "table"))
		plan = agent_read_plan(agent, request, "look: expected job, cluster and table",
				       &why);
	if (plan)
		to_keeper_show(agent->keeper, plan, agent->server);
	agent->server = server;
	if (agent->keeper)
		to_keeper_wait(agent->keeper);
	return to_agent_look(agent->device, agent->counter_names, &agent->seen, reply, err);
}

static int agent_do(struct to_agent *agent, const char *op, const json_t *request,
		    json_t *reply, struct to_error *err)
{
	struct to_cleared cleared;
	int ret = agent_settle(agent, op, request, err);

	if (ret)
		return ret;
	if (!strcmp(op, "hello"))
		return 0;
	if (!strcmp(op, "look"))
		return agent_look(agent, request, reply, err);
	if (!strcmp(op, "stage"))
		return agent_stage(agent, request, reply, err);
	if (!strcmp(op, "commit"))
		return agent_commit(agent, request, reply, err);
	if (!strcmp(op, "confirm"))
		return agent_confirm(agent, request, err);
	if (!strcmp(op, "revert"))
		return agent_revert(agent, request, err);
	if (!strcmp(op, "abort"))
		return agent_abort(agent, request, err);
	if (!strcmp(op, "assume"))
		return agent_assume(agent, request, err);
	if (!strcmp(op, "sample"))
		return agent_sample(agent, request, reply, err);
	if (!strcmp(op, "clear")) {
		agent_stop_recording(agent);
		agent_forget(agent);
		to_plan_free(agent->plan);
		agent->plan = NULL;
		return to_apply_clear(agent->device, &cleared, err);
	}
	return to_error_set(err, -EINVAL, "no request is called \"%s\"", op);
}

/* Not beside another toctl that is changing the device. */
static int agent_do_alone(struct to_agent *agent, const char *op, const json_t *request,
			  json_t *reply, struct to_error *err)
{
	int lock, ret;

	if (!agent_changes(op))
		return agent_do(agent, op, request, reply, err);
	lock = to_device_lock_take("toctl", agent->device, TO_DEVICE_LOCK_WAIT_S, err);
	if (lock < 0)
		return lock;
	ret = agent_do(agent, op, request, reply, err);
	agent_keep(agent);
	close(lock);
	return ret;
}

json_t *to_agent_call(struct to_agent *agent, const json_t *request)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	json_t *id = json_object_get(request, "id"), *reply = json_object();
	struct to_error err = {};
	int ret;

	if (!reply)
		return NULL;
	if (id)
		json_object_set(reply, "id", id);
	ret = op ? agent_do_alone(agent, op, request, reply, &err) :
		   to_error_set(&err, -EINVAL, "a request has an op");
	agent_keep(agent);
	/* nothing waits to be committed or confirmed, whatever ended it */
	if ((!agent->staged || agent->ahead) && !agent->committed)
		agent_unlock(agent);
	if (ret)
		agent_state(agent, reply, NULL);
	else
		ret = agent_state(agent, reply, &err);
	json_object_set_new(reply, "ok", json_boolean(!ret));
	if (ret)
		json_object_set_new(reply, "error", json_string(err.text));
	return reply;
}

/* getline() would take any line. Return: its length, 0 at the end, or a negative errno. */
static ssize_t agent_read_line(char **line, size_t *room, FILE *in, struct to_error *err)
{
	size_t len = 0;
	int c = 0;

	while (c != '\n' && (c = getc_unlocked(in)) != EOF) {
		if (len == TO_REQUEST_MAX)
			return to_error_set(err, -E2BIG, "a request is larger than %u bytes",
					    TO_REQUEST_MAX);
		if (len == *room) {
			size_t more = *room ? 2 * *room : 4096;
			char *longer = realloc(*line, more);

			if (!longer)
				return to_error_set(err, -ENOMEM, "out of memory");
			*line = longer;
			*room = more;
		}
		(*line)[len++] = c;
	}
	return len;
}

int to_agent_serve(void *agent, json_t *(*call)(void *agent, const json_t *request),
		   FILE *in, FILE *out, const volatile sig_atomic_t *stop, struct to_error *err)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int ret = 0;

	while (!ret && !*stop && (len = agent_read_line(&line, &room, in, err)) != 0) {
		struct to_error why = {};
		json_t *request, *reply = NULL;

		if (len < 0) {
			ret = len;
			break;
		}
		request = to_json_load(line, len, TO_JSON_MEMORY_MAX, "request", &why);
		if (json_is_object(request))
			reply = call(agent, request);
		else
			ret = to_error_set(err, -EINVAL, "a request is a JSON object on a line: %s",
					   request ? "this is none" : why.text);
		json_decref(request);
		if (reply && (json_dumpf(reply, out, JSON_COMPACT) || putc('\n', out) == EOF ||
			      fflush(out)))
			ret = to_error_set(err, -EPIPE, "the controller is gone");
		json_decref(reply);
	}
	free(line);
	return ret;
}
