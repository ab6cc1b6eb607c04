// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/doctors.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/server_check.h"

/* ---- checks ---- */

int to_doctors_look(struct to_doctors *d, const struct to_plan *plan, struct to_fabric *fabric,
		    struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;
	const struct to_fabric_server *agents = to_fabric_servers(fabric);
	json_t **replies = calloc(c->n_servers, sizeof(*replies));
	int ret;

	*d = (struct to_doctors){
		.plan = plan, .servers = calloc(c->n_servers, sizeof(*d->servers)),
	};
	ret = replies && d->servers ?
	      to_fabric_query(fabric, json_pack("{s:s}", "op", "doctor"), plan, replies, err) :
	      to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; !ret && i < c->n_servers; i++) {
		struct to_doctors_server *s = &d->servers[i];

		s->name = c->servers[i].name;
		snprintf(s->error, sizeof(s->error), "%s", agents[i].error);
		if (!s->error[0] && !json_is_array(json_object_get(replies[i], "checks")))
			snprintf(s->error, sizeof(s->error), "its agent says nothing of checks");
		if (!s->error[0])
			to_checks_take(&s->checks, json_object_get(replies[i], "checks"));
	}
	for (unsigned int i = 0; replies && i < c->n_servers; i++)
		json_decref(replies[i]);
	free(replies);
	return ret;
}

void to_doctors_free(struct to_doctors *d)
{
	for (unsigned int i = 0; d->servers && i < d->plan->cluster->n_servers; i++)
		to_checks_free(&d->servers[i].checks);
	free(d->servers);
	free(d->cables);
	*d = (struct to_doctors){};
}

/* ---- load ---- */

static const struct to_port *doctors_port(const struct to_cluster *c, struct to_port_ref at)
{
	return &c->servers[at.server].ports[at.port];
}

/* Whether a load can be sent over @link: a cable of both directions, with addresses. */
static bool doctors_loads(const struct to_cluster *c, const struct to_link *link)
{
	return c->link_mode == TO_LINKS_DUPLEX && !to_link_is_shared(c, link) &&
	       doctors_port(c, link->a)->address.has_v4 &&
	       doctors_port(c, link->b)->address.has_v4;
}

/*
 * The round in which each cable is loaded, from 1: no server has two in a round. Return: the
 * number of rounds, or -ENOMEM.
 */
static int doctors_rounds(const struct to_cluster *c, unsigned int *rounds)
{
	uint64_t *busy = calloc(2 * (size_t)c->n_servers, sizeof(*busy));
	int last = 0;

	if (!busy)
		return -ENOMEM;
	for (unsigned int l = 0; l < c->n_links; l++) {
		const uint32_t a = c->links[l].a.server, b = c->links[l].b.server;
		unsigned int half, at;

		if (!doctors_loads(c, &c->links[l]))
			continue;
		/* ports are 64 at most, so 127 rounds are enough */
		half = !~(busy[2 * a] | busy[2 * b]);
		at = __builtin_ctzll(~(busy[2 * a + half] | busy[2 * b + half]));
		busy[2 * a + half] |= 1ull << at;
		busy[2 * b + half] |= 1ull << at;
		rounds[l] = 1 + 64 * half + at;
		last = (int)rounds[l] > last ? (int)rounds[l] : last;
	}
	free(busy);
	return last;
}

static void doctors_address(const struct to_cluster *c, struct to_port_ref at,
			    char text[INET_ADDRSTRLEN])
{
	inet_ntop(AF_INET, &doctors_port(c, at)->address.v4, text, INET_ADDRSTRLEN);
}

/* The rate of @link: @rate, or what the plan gives its slower port. */
static uint64_t doctors_rate(const struct to_cluster *c, const struct to_link *link, uint64_t rate)
{
	const uint64_t a = doctors_port(c, link->a)->bandwidth, b = doctors_port(c, link->b)->bandwidth;

	return rate ? rate : a < b ? a : b;
}

static json_t *doctors_request(const struct to_doctors *d, const unsigned int *rounds,
			       unsigned int round, uint64_t rate)
{
	const struct to_cluster *c = d->plan->cluster;
	json_t *cables = json_array();

	for (unsigned int l = 0; l < c->n_links; l++) {
		const struct to_link *link = &c->links[l];
		char first[INET_ADDRSTRLEN], second[INET_ADDRSTRLEN];

		if (rounds[l] != round)
			continue;
		doctors_address(c, link->a, first);
		doctors_address(c, link->b, second);
		json_array_append_new(cables, json_pack("{s:s, s:s, s:I}", "first", first, "second",
							second, "rate",
							(json_int_t)doctors_rate(c, link, rate)));
	}
	return json_pack("{s:s, s:o}", "op", "load", "cables", cables);
}

/* What @reply says that @own received from @peer in a phase, bits/s; negative: nothing, with @why. */
static double doctors_received(const json_t *reply, const char *own, const char *peer,
			       enum to_cable_phase phase, const char **why)
{
	const json_t *end;
	size_t i;

	*why = "its agent says nothing of it";
	json_array_foreach(json_object_get(reply, "load"), i, end) {
		const char *address = json_string_value(json_object_get(end, "address"));
		const char *from = json_string_value(json_object_get(end, "peer"));
		const char *error = json_string_value(json_object_get(end, "error"));

		if (!address || !from || strcmp(address, own) || strcmp(from, peer))
			continue;
		*why = error;
		return error ? -1 : json_number_value(json_array_get(json_object_get(end, "received"),
								     phase));
	}
	return -1;
}

/* The direction from @from to @to, by what the agent of @to replied. */
static void doctors_judge(const struct to_doctors *d, struct to_doctors_cable *cable,
			  const struct to_fabric_server *agent, const json_t *reply,
			  enum to_cable_phase alone)
{
	const struct to_cluster *c = d->plan->cluster;
	char own[INET_ADDRSTRLEN], peer[INET_ADDRSTRLEN];
	const char *why;

	doctors_address(c, cable->to, own);
	doctors_address(c, cable->from, peer);
	cable->alone = doctors_received(reply, own, peer, alone, &why);
	cable->both = doctors_received(reply, own, peer, TO_CABLE_BOTH, &why);
	if (agent->error[0])
		why = agent->error;
	if (cable->alone < 0 || cable->both < 0) {
		cable->alone = cable->both = 0;
		cable->verdict = TO_CHECK_FAIL;
		snprintf(cable->text, sizeof(cable->text), "not loaded: %.160s", why);
	} else if (cable->both < TO_DOCTORS_BOTH * cable->alone) {
		cable->verdict = TO_CHECK_FAIL;
		snprintf(cable->text, sizeof(cable->text),
			 "passes less while both ends send: replace the cable, then its transceivers");
	} else if (cable->alone < TO_DOCTORS_BOTH * cable->rate) {
		cable->verdict = TO_CHECK_WARN;
		snprintf(cable->text, sizeof(cable->text),
			 "passes less than was offered, or the servers' processors do");
	}
}

static int doctors_round(struct to_doctors *d, struct to_fabric *fabric,
			 const unsigned int *rounds, unsigned int round, uint64_t rate,
			 json_t **replies, struct to_error *err)
{
	const struct to_fabric_server *agents = to_fabric_servers(fabric);
	const struct to_cluster *c = d->plan->cluster;
	int ret = to_fabric_query(fabric, doctors_request(d, rounds, round, rate), NULL, replies,
				  err);

	for (unsigned int l = 0; !ret && l < c->n_links; l++) {
		const struct to_link *link = &c->links[l];
		struct to_doctors_cable *there = &d->cables[d->n_cables], *back = there + 1;

		if (rounds[l] != round)
			continue;
		*there = (struct to_doctors_cable){ .from = link->a, .to = link->b };
		*back = (struct to_doctors_cable){ .from = link->b, .to = link->a };
		there->rate = back->rate = doctors_rate(c, link, rate);
		doctors_judge(d, there, &agents[link->b.server], replies[link->b.server],
			      TO_CABLE_FIRST);
		doctors_judge(d, back, &agents[link->a.server], replies[link->a.server],
			      TO_CABLE_SECOND);
		d->n_cables += 2;
	}
	for (unsigned int i = 0; i < c->n_servers; i++) {
		json_decref(replies[i]);
		replies[i] = NULL;
	}
	return ret;
}

int to_doctors_load(struct to_doctors *d, struct to_fabric *fabric, uint64_t rate,
		    struct to_error *err)
{
	const struct to_cluster *c = d->plan->cluster;
	unsigned int *rounds = calloc(c->n_links + 1, sizeof(*rounds));
	json_t **replies = calloc(c->n_servers, sizeof(*replies));
	int last, ret = 0;

	free(d->cables);
	d->n_cables = 0;
	d->cables = calloc(2 * (size_t)c->n_links + 1, sizeof(*d->cables));
	last = rounds && replies && d->cables ? doctors_rounds(c, rounds) : -ENOMEM;
	if (last < 0)
		ret = to_error_set(err, last, "out of memory");
	for (int round = 1; !ret && round <= last; round++)
		ret = doctors_round(d, fabric, rounds, round, rate, replies, err);
	free(rounds);
	free(replies);
	return ret;
}

/* ---- what it comes to ---- */

bool to_doctors_failed(const struct to_doctors *d)
{
	bool failed = false;

	for (unsigned int i = 0; i < d->plan->cluster->n_servers; i++)
		failed |= d->servers[i].error[0] || to_checks_failed(&d->servers[i].checks);
	for (unsigned int i = 0; i < d->n_cables; i++)
		failed |= d->cables[i].verdict == TO_CHECK_FAIL;
	return failed;
}

static json_t *doctors_end(const struct to_cluster *c, struct to_port_ref at)
{
	return json_sprintf("%s:%s", c->servers[at.server].name, doctors_port(c, at)->name);
}

json_t *to_doctors_json(const struct to_doctors *d)
{
	const struct to_cluster *c = d->plan->cluster;
	json_t *servers = json_array(), *cables = json_array();

	for (unsigned int i = 0; i < c->n_servers; i++)
		json_array_append_new(servers, json_pack("{s:s, s:s, s:o}", "server",
			d->servers[i].name, "error", d->servers[i].error, "checks",
			to_checks_json(&d->servers[i].checks)));
	for (unsigned int i = 0; i < d->n_cables; i++) {
		const struct to_doctors_cable *cable = &d->cables[i];

		json_array_append_new(cables, json_pack("{s:o, s:o, s:I, s:f, s:f, s:s, s:s}",
			"from", doctors_end(c, cable->from), "to", doctors_end(c, cable->to),
			"rate", (json_int_t)cable->rate, "alone", cable->alone, "both", cable->both,
			"verdict", to_verdict_names[cable->verdict], "text", cable->text));
	}
	return json_pack("{s:s, s:b, s:o, s:o}", "job", d->plan->demand->name, "failed",
			 to_doctors_failed(d), "servers", servers, "cables", cables);
}

/* ---- an agent's reply ---- */

json_t *to_doctors_answer(struct to_agent *agent, const json_t *request)
{
	struct to_checks checks = {};
	struct to_error err;
	unsigned int server;
	struct to_plan *plan = to_agent_plan(agent, request, &server, &err);
	json_t *reply;

	if ((!plan && err.text[0]) ||
	    to_server_check(&checks, plan, "PLAN", server, to_agent_device_name(agent), &err))
		reply = json_pack("{s:b, s:s}", "ok", 0, "error", err.text);
	else
		reply = json_pack("{s:b, s:o}", "ok", 1, "checks", to_checks_json(&checks));
	to_checks_free(&checks);
	to_plan_free(plan);
	if (reply && json_object_get(request, "id"))
		json_object_set(reply, "id", json_object_get(request, "id"));
	return reply;
}
