// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on what agents send to a controller: each line of the input is the
 * reply of the next server to what it is asked.
 */

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "control/fabric.h"
#include "control/fabric_link.h"

#define SERVERS 4
#define INTERVAL 50000000ull

static struct {
	struct to_fabric_link link;
	const char *at, *end;
} agents;

static json_t *agents_reply(void)
{
	const char *line = agents.at, *end = memchr(line, '\n', agents.end - line);
	struct to_error err;

	if (!end)
		end = agents.end;
	agents.at = end < agents.end ? end + 1 : end;
	return to_json_load(line, end - line, 2 * TO_REPLY_MAX(SERVERS), "reply", &err);
}

static int agents_call(struct to_fabric_link *link, const struct to_fabric_call *call,
		       struct to_error *err)
{
	(void)link;
	(void)err;
	for (unsigned int i = 0; i < SERVERS; i++) {
		call->replies[i] = call->who[i] ? agents_reply() : NULL;
		if (call->who[i] && !call->replies[i])
			strcpy(call->errors[i], "no reply");
	}
	return 0;
}

static void agents_close(struct to_fabric_link *link)
{
	(void)link;
}

struct to_fabric_link *__wrap_to_fabric_pipes(const struct to_cluster *cluster,
					      const char *command, struct to_error *err)
{
	(void)cluster;
	(void)command;
	(void)err;
	agents.link = (struct to_fabric_link){ .call = agents_call, .close = agents_close };
	return &agents.link;
}

/* A ring of all servers, s0:eth0 to s1:eth1 and so on. */
static struct to_plan *make_plan(void)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));
	struct to_cluster *c = to_cluster_synthetic(SERVERS, 2, 0, TO_LINKS_DUPLEX, NULL);

	plan->demand = calloc(1, sizeof(*plan->demand));
	plan->demand->n = SERVERS;
	plan->demand->mp = calloc(SERVERS * SERVERS, sizeof(*plan->demand->mp));
	plan->cluster = c;
	c->links = calloc(SERVERS, sizeof(*c->links));
	for (c->n_links = 0; c->n_links < SERVERS; c->n_links++) {
		c->links[c->n_links].a = (struct to_port_ref){ c->n_links, 0 };
		c->links[c->n_links].b = (struct to_port_ref){ (c->n_links + 1) % SERVERS, 1 };
	}
	return plan;
}

static void sample(struct to_fabric *fabric)
{
	const struct to_fabric_server *servers = to_fabric_servers(fabric);
	struct to_error err;
	struct to_tm *tm;

	if (to_fabric_sample(fabric, INTERVAL, &tm, &err))
		return;
	/* as the controller relies on it */
	if (tm->n_servers != SERVERS || tm->n_samples > 1)
		abort();
	for (unsigned int s = 0; s < SERVERS; s++)
		if (strcmp(tm->servers[s], servers[s].name))
			abort();
	to_tm_free(tm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct to_fabric_options options = { .command = "{}", .timeout_ns = 1 };
	struct to_plan *plan = make_plan();
	struct to_fabric *fabric;
	struct to_error err;
	uint64_t generation;

	agents.at = (const char *)data;
	agents.end = agents.at + len;
	fabric = to_fabric_open(plan, &options, &err);
	if (!fabric)
		abort();
	to_fabric_stage(fabric, plan, NULL, &err);
	to_fabric_abort(fabric, &err);
	sample(fabric);
	if (!to_fabric_stage(fabric, plan, NULL, &err) && !to_fabric_commit(fabric, &err))
		to_fabric_confirm(fabric, &err);
	to_fabric_generation(fabric, &generation, &err);
	sample(fabric);
	to_fabric_close(fabric);
	to_plan_free(plan);
	return 0;
}
