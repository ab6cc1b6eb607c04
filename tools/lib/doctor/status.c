// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "control/agent_state.h"
#include "data/down.h"
#include "doctor/status_peers.h"
#include "routing/link_loads.h"

#define STATUS_DEVIATIONS 32u	/* of one server that are told */

int to_status_look(struct to_fabric *fabric, unsigned int n, json_t **look,
		   struct to_error *err)
{
	const struct to_fabric_server *servers = to_fabric_servers(fabric);
	json_t **replies = calloc(n, sizeof(*replies)), *all = json_object();
	const uint64_t begin = to_clock_monotonic_ns();
	int ret = replies && all ? to_fabric_look(fabric, replies, err) :
				   to_error_set(err, -ENOMEM, "out of memory");

	for (unsigned int i = 0; !ret && i < n; i++) {
		json_t *reply = replies[i] ? replies[i] : json_object();

		if (servers[i].error[0])
			json_object_set_new(reply, "error", json_string(servers[i].error));
		json_object_set_new(reply, "reached", json_boolean(servers[i].reached));
		json_object_set_new(all, servers[i].name, reply);
	}
	free(replies);
	if (!ret)
		*look = json_pack("{s:f, s:I, s:I, s:o}", "time", to_clock_realtime_ns() * 1e-9,
				  "end_ns", (json_int_t)to_clock_monotonic_ns(), "span_ns",
				  (json_int_t)(to_clock_monotonic_ns() - begin), "servers", all);
	else
		json_decref(all);
	return ret;
}

static uint64_t status_number(const json_t *object, const char *key)
{
	const json_int_t n = json_integer_value(json_object_get(object, key));

	return n > 0 ? n : 0;
}

int to_status_losses(struct to_link_losses *losses, const struct to_cluster *cluster,
		     const json_t *look, struct to_error *err)
{
	const json_t **replies = calloc(cluster->n_servers, sizeof(*replies));

	if (!replies || to_link_losses_follow(losses, cluster)) {
		free(replies);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	for (unsigned int i = 0; i < cluster->n_servers; i++)
		replies[i] = to_status_reply(look, cluster->servers[i].name);
	to_link_losses_look(losses, cluster, replies, status_number(look, "end_ns"),
			    status_number(look, "span_ns"));
	free(replies);
	return 0;
}

/* Since the look before; 0 when the server or its device started anew meanwhile. */
static double status_seconds(const json_t *before, const json_t *now)
{
	const uint64_t then = status_number(before, "time_ns"), at = status_number(now, "time_ns");
	const uint64_t device = status_number(now, "device");

	if (!then || at <= then || !device || status_number(before, "device") != device)
		return 0;
	return (at - then) * 1e-9;
}

/* By how much a counter went on; nothing when it began anew. */
static uint64_t status_delta(const json_t *before, const json_t *now, const char *key)
{
	const uint64_t then = status_number(before, key), at = status_number(now, key);

	return at > then ? at - then : 0;
}

/* Of packets to relay; what the stack sends to multicast groups is no miss of the plan. */
static uint64_t status_misses(const json_t *before, const json_t *now)
{
	const json_t *port;
	uint64_t misses = 0;
	size_t i;

	json_array_foreach(json_object_get(now, "ports"), i, port) {
		const char *name = json_string_value(json_object_get(port, "name"));
		const json_t *old = name ? to_status_port(before, name) : NULL;

		if (old)
			misses += status_delta(json_object_get(old, "counters"),
					       json_object_get(port, "counters"), "miss-packets");
	}
	return misses;
}

static void status_count_drops(struct to_status_server *s, const json_t *before, const json_t *now)
{
	const json_t *old = json_object_get(before, "counters");
	json_t *counters = json_object_get(now, "counters"), *value;
	const char *name;

	json_object_foreach(counters, name, value) {
		const uint64_t n = status_delta(old, counters, name);

		if (!strcmp(name, "drop-tx"))
			s->congested = n;
		else if (!strcmp(name, "drop-ttl"))
			s->expired = n;
		else if (!strncmp(name, "drop-", 5))
			s->drops += n;
	}
}

/* @digest: by the plan, 0: not known */
static enum to_status_table status_table(const json_t *now, uint64_t digest)
{
	const char *table = json_string_value(json_object_get(now, "table"));

	if (!table || !digest || !status_number(now, "generation"))
		return TO_STATUS_TABLE_UNKNOWN;
	return strtoull(table, NULL, 16) == digest ? TO_STATUS_TABLE_PLANNED : TO_STATUS_TABLE_OTHER;
}

static void status_server(struct to_status_server *s, uint64_t digest, const json_t *before,
			  const json_t *now)
{
	const char *error = json_string_value(json_object_get(now, "error"));

	s->reached = json_is_true(json_object_get(now, "reached"));
	snprintf(s->error, sizeof(s->error), "%s", error ? error : "");
	if (!s->reached)
		return;
	s->old = to_agent_is_old(now);
	s->unable = to_agent_is_unable(now);
	s->generation = status_number(now, "generation");
	s->table = status_table(now, digest);
	s->staged = json_is_true(json_object_get(now, "staged"));
	s->backups = status_number(now, "backups");
	s->seconds = status_seconds(before, now);
	if (s->seconds <= 0)
		return;
	s->misses = status_misses(before, now);
	status_count_drops(s, before, now);
}

/* What @at counted as @key since the look before; false: that is not known. */
static bool status_bytes(const struct to_status *st, const json_t *before, const json_t *now,
			 struct to_port_ref at, const char *key, uint64_t *bytes)
{
	const struct to_server *server;
	const json_t *old, *port;
	const char *name;

	if (to_status_is_switch(at) || st->servers[at.server].seconds <= 0)
		return false;
	server = &st->plan->cluster->servers[at.server];
	name = server->ports[at.port].name;
	old = to_status_port(to_status_reply(before, server->name), name);
	port = to_status_port(to_status_reply(now, server->name), name);
	*bytes = status_delta(old, port, key);
	return old && port;
}

static uint64_t status_bandwidth(const struct to_status *st, struct to_port_ref end)
{
	return to_status_is_switch(end) ? UINT64_MAX :
	       st->plan->cluster->servers[end.server].ports[end.port].bandwidth;
}

static void status_arc(struct to_status *st, struct to_status_arc *arc, const json_t *before,
		       const json_t *now)
{
	const uint64_t a = status_bandwidth(st, arc->from), b = status_bandwidth(st, arc->to);
	double seconds = 0;

	arc->lit = to_status_lit(st, now, arc->from) && to_status_lit(st, now, arc->to);
	arc->counted = status_bytes(st, before, now, arc->from, "tx_bytes", &arc->bytes);
	if (arc->counted) {
		seconds = st->servers[arc->from.server].seconds;
	} else {
		arc->counted = status_bytes(st, before, now, arc->to, "rx_bytes", &arc->bytes);
		if (!arc->counted)
			return;
		seconds = st->servers[arc->to.server].seconds;
	}
	arc->rate = 8 * arc->bytes / seconds;
	arc->utilisation = arc->rate / (a < b ? a : b);
}

/* What is known of the losses of @arc. */
static void status_arc_loss(struct to_status_arc *arc, const struct to_link_losses *losses)
{
	const struct to_link_loss *loss = losses ? to_link_losses_find(losses, arc->from, arc->to) :
						   NULL;

	if (!loss)
		return;
	arc->loss = to_link_loss_verdict(loss);
	arc->lost = loss->figures;
	to_link_loss_longest(loss, &arc->seen);
}

/* Two arcs for each port on a packet switch, out and back. @first: per port, the one out. */
static void status_switch_arcs(struct to_status *st, uint32_t *first)
{
	const struct to_cluster *c = st->plan->cluster;

	for (unsigned int s = 0; s < c->n_servers; s++)
		for (unsigned int p = 0; p < c->servers[s].n_ports; p++) {
			const unsigned int on = c->servers[s].ports[p].packet_switch;
			const struct to_port_ref port = { s, p }, to = { TO_SERVER_NONE, on - 1 };

			if (!on || to_plan_does_without(st->plan, port))
				continue;
			first[(size_t)s * TO_PORTS_MAX + p] = st->n_arcs;
			st->arcs[st->n_arcs++] = (struct to_status_arc){ .from = port, .to = to };
			st->arcs[st->n_arcs++] = (struct to_status_arc){ .from = to, .to = port };
		}
}

/* The arcs, with the bytes that the plan gives them: of cables first. */
static void status_plan_arcs(struct to_status *st, const struct to_graph *g, const double *bytes,
			     uint32_t *first)
{
	const struct to_server *servers = st->plan->cluster->servers;

	for (unsigned int i = 0; i < g->n_arcs; i++)
		if (!servers[g->from[i]].ports[g->port[i]].packet_switch)
			st->arcs[st->n_arcs++] = (struct to_status_arc){
				.from = { g->from[i], g->port[i] },
				.to = { g->to[i], g->peer_port[i] }, .planned = bytes[i] };
	status_switch_arcs(st, first);
	for (unsigned int i = 0; i < g->n_arcs; i++) {
		if (!servers[g->from[i]].ports[g->port[i]].packet_switch)
			continue;
		st->arcs[first[(size_t)g->from[i] * TO_PORTS_MAX + g->port[i]]].planned += bytes[i];
		st->arcs[first[(size_t)g->to[i] * TO_PORTS_MAX + g->peer_port[i]] + 1].planned += bytes[i];
	}
}

/* The arcs, with the shares that the plan gives them. */
static int status_arcs(struct to_status *st)
{
	const struct to_cluster *c = st->plan->cluster;
	const size_t ports = (size_t)c->n_servers * TO_PORTS_MAX;
	struct to_graph *graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	struct to_forwarding f = {};
	struct to_arena scratch = {};
	double *rings, *mp, sum = 0;
	uint32_t *first;
	int ret = graph ? to_forwarding_init(&f, st->plan, graph) : -ENOMEM;

	if (!ret) {
		rings = to_arena_array(&scratch, graph->n_arcs + 1, sizeof(*rings));
		mp = to_arena_array(&scratch, graph->n_arcs + 1, sizeof(*mp));
		first = to_arena_array(&scratch, ports, sizeof(*first));
		st->arcs = calloc(graph->n_arcs + 2 * ports, sizeof(*st->arcs));
		ret = !scratch.failed && st->arcs ? to_link_loads(&f, rings, mp) : -ENOMEM;
	}
	if (!ret) {
		for (unsigned int i = 0; i < graph->n_arcs; i++)
			rings[i] += mp[i];
		status_plan_arcs(st, graph, rings, first);
	}
	for (unsigned int i = 0; i < st->n_arcs; i++)
		sum += st->arcs[i].planned;
	for (unsigned int i = 0; sum > 0 && i < st->n_arcs; i++)
		st->arcs[i].planned /= sum;
	to_arena_free(&scratch);
	to_forwarding_free(&f);
	to_graph_free(graph);
	return ret;
}

/* Half of what the shares differ by; only where all links were counted. */
static double status_off_plan(const struct to_status *st)
{
	double planned = 0, off = 0;

	for (unsigned int i = 0; i < st->n_arcs; i++) {
		const struct to_status_arc *arc = &st->arcs[i];
		const double share = st->bytes ? (double)arc->bytes / st->bytes : 0;

		if (!arc->counted)
			return -1;
		planned += arc->planned;
		off += share > arc->planned ? share - arc->planned : arc->planned - share;
	}
	return st->bytes && planned > 0 ? off / 2 : -1;
}

/* Whether port @at has a link by the operator's plan. */
static bool status_is_linked(const struct to_status *st, struct to_port_ref at)
{
	const struct to_cluster *c = st->wanted->cluster;
	bool linked = c->servers[at.server].ports[at.port].packet_switch &&
		      !to_plan_does_without(st->wanted, at);

	for (unsigned int i = 0; !linked && i < c->n_links; i++) {
		const struct to_link *link = &c->links[i];

		linked = (link->a.server == at.server && link->a.port == at.port) ||
			 (link->b.server == at.server && link->b.port == at.port);
	}
	return linked;
}

static void status_count_ports(struct to_status *st, const json_t *now)
{
	const struct to_cluster *c = st->wanted->cluster;

	for (unsigned int i = 0; i < c->n_servers; i++)
		for (unsigned int p = 0; p < c->servers[i].n_ports; p++) {
			const struct to_port_ref at = { i, p };

			if (!status_is_linked(st, at))
				continue;
			st->servers[i].ports++;
			st->servers[i].lit += st->servers[i].reached && to_status_lit(st, now, at);
		}
}

static void status_sum(struct to_status *st)
{
	bool one = true;

	for (unsigned int i = 0; i < st->plan->cluster->n_servers; i++) {
		const struct to_status_server *s = &st->servers[i];

		st->reached += s->reached;
		st->compared += s->table != TO_STATUS_TABLE_UNKNOWN;
		st->planned += s->table == TO_STATUS_TABLE_PLANNED;
		st->ports += s->ports;
		st->lit += s->lit;
		st->backups += s->backups;
		st->misses += s->misses;
		st->drops += s->drops;
		st->congested += s->congested;
		st->expired += s->expired;
		st->seconds = s->seconds > st->seconds ? s->seconds : st->seconds;
		one &= s->reached && s->generation == st->servers[0].generation;
	}
	st->generation = one ? st->servers[0].generation : 0;
	for (unsigned int i = 0; i < st->n_arcs; i++)
		st->bytes += st->arcs[i].bytes;
}

/* The generation that most servers run, of those that were reached. */
static uint64_t status_usual(const struct to_status *st)
{
	uint64_t usual = 0;
	unsigned int most = 0;

	for (unsigned int i = 0; i < st->plan->cluster->n_servers; i++) {
		unsigned int n = 0;

		for (unsigned int k = 0; k < st->plan->cluster->n_servers; k++)
			n += st->servers[k].reached &&
			     st->servers[k].generation == st->servers[i].generation;
		if (st->servers[i].reached && n > most) {
			most = n;
			usual = st->servers[i].generation;
		}
	}
	return usual;
}

static void status_check_server(struct to_status *st, const struct to_status_server *s,
				uint64_t usual)
{
	struct to_checks *checks = &st->checks;

	if (!s->reached || s->error[0])
		to_check_add(checks, TO_CHECK_FAIL, "agent", s->name,
			     "see that the server is up, and that toctl agent can be started there",
			     "%.180s", s->error[0] ? s->error : "does not answer");
	if (!s->reached)
		return;
	if (!s->generation)
		to_check_add(checks, TO_CHECK_FAIL, "plan", s->name, "toctl apply --all PLAN",
			     "no plan is active");
	else if (s->generation != usual)
		to_check_add(checks, TO_CHECK_FAIL, "generation", s->name,
			     "toctl apply --all PLAN", "runs %" PRIu64 ", most servers run %" PRIu64,
			     s->generation, usual);
	else if (s->table == TO_STATUS_TABLE_OTHER && st->planned)
		to_check_add(checks, TO_CHECK_FAIL, "table", s->name, "toctl apply --all PLAN",
			     "generation %" PRIu64 " is not what this plan says", s->generation);
	if (s->staged)
		to_check_add(checks, TO_CHECK_WARN, "stage", s->name,
			     "if nobody is changing the plan: toctl apply --abort on this server",
			     "a table is staged and not committed");
	if (s->backups)
		to_check_add(checks, TO_CHECK_WARN, "backups", s->name, NULL,
			     "in use for %u group%s of next hops", s->backups,
			     s->backups == 1 ? "" : "s");
	if (s->misses)
		to_check_add(checks, TO_CHECK_FAIL, "misses", s->name,
			     "toctl apply --all PLAN, where somebody else changed routes or addresses",
			     "%" PRIu64 " packets without a route in %.3g s", s->misses, s->seconds);
	if (s->drops)
		to_check_add(checks, TO_CHECK_WARN, "drops", s->name,
			     "toctl show counters on this server tells why",
			     "%" PRIu64 " packets in %.3g s", s->drops, s->seconds);
}

/* What the agent found not to be as apply made it, see keeper.h. */
static void status_check_deviations(struct to_status *st, const struct to_status_server *s,
				    const json_t *now)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(to_status_reply(now, s->name), "deviations"), i, one) {
		const char *kind = json_string_value(json_object_get(one, "kind"));
		const char *text = json_string_value(json_object_get(one, "text"));
		const char *fix = json_string_value(json_object_get(one, "fix"));

		if (i == STATUS_DEVIATIONS)
			return;
		/* that there is no table is said already */
		if (!kind || !text || !strcmp(kind, "no-table"))
			continue;
		to_check_add(&st->checks, json_is_true(json_object_get(one, "fault")) ?
			     TO_CHECK_FAIL : TO_CHECK_WARN, kind, s->name, fix, "%s", text);
	}
}

/* The function that keeps the light of @at's cable, which is dark itself; NULL for none. */
static const struct to_port *status_sibling(const struct to_status *st, const json_t *now,
					    struct to_port_ref at)
{
	const struct to_server *server = &st->plan->cluster->servers[at.server];

	for (unsigned int q = 0; q < server->n_ports; q++)
		if (to_port_shares_cable(server, at.port, q) &&
		    to_status_lit(st, now, (struct to_port_ref){ at.server, q }))
			return &server->ports[q];
	return NULL;
}

static void status_check_ports(struct to_status *st, const json_t *now)
{
	const struct to_cluster *c = st->wanted->cluster;

	for (unsigned int s = 0; s < c->n_servers; s++)
		for (unsigned int p = 0; st->servers[s].reached && p < c->servers[s].n_ports; p++) {
			const struct to_port_ref at = { s, p };
			const struct to_port *sibling;
			char name[TO_STATUS_END];

			if (!status_is_linked(st, at) || !st->servers[s].generation || to_status_lit(st, now, at))
				continue;
			sibling = status_sibling(st, now, at);
			to_check_add(&st->checks, TO_CHECK_FAIL, "carrier", to_status_end(st, at, name),
				     "toctl doctor PLAN on this server tells why",
				     sibling ? "down, while %s has light on the same cable" :
					       "no light", sibling ? sibling->name : "");
		}
}

/* Lossy directions, damaged packets, and cables whose light comes and goes. */
static void status_check_losses(struct to_status *st)
{
	for (unsigned int i = 0; i < st->n_arcs; i++) {
		const struct to_status_arc *arc = &st->arcs[i];
		char from[TO_STATUS_END], to[TO_STATUS_END], text[TO_LINK_LOSS_TEXT];

		to_status_end(st, arc->from, from);
		to_status_end(st, arc->to, to);
		if (arc->loss == TO_LINK_LOSSY)
			to_check_add(&st->checks, TO_CHECK_FAIL, "loss", from,
				     "clean or replace the cable and its transceivers: toctl doctor --all --load PLAN tries it",
				     "to %s: %s", to, to_link_figures_text(&arc->lost, text));
		else if (to_link_damages(&arc->seen))
			to_check_add(&st->checks, TO_CHECK_WARN, "damage", from,
				     "clean or replace the cable and its transceivers",
				     "to %s: %" PRIu64 " packets arrived damaged in %.3g s", to,
				     arc->seen.errors, arc->seen.seconds);
		if (to_link_flaps(&arc->seen) &&
		    (arc->from.server < arc->to.server ||
		     st->plan->cluster->link_mode == TO_LINKS_SIMPLEX))
			to_check_add(&st->checks, TO_CHECK_WARN, "flaps", from,
				     "reseat the transceivers; if it goes on, replace the cable",
				     "carrier with %s changed %" PRIu64 " times in %.3g s", to,
				     arc->seen.carrier_changes, arc->seen.seconds);
	}
}

/* Where no server has the plan's table, it is the plan that is another one. */
static void status_check_plan(struct to_status *st)
{
	if (st->compared && !st->planned)
		to_check_add(&st->checks, TO_CHECK_FAIL, "table", "all servers",
			     "give the plan that is in force, or toctl apply --all PLAN",
			     "run another plan than this one");
}

/* While no change is under way, a generation that is not the usual one is another plan. */
static void status_find_astray(struct to_status *st, uint64_t usual)
{
	for (unsigned int i = 0; i < st->plan->cluster->n_servers; i++)
		st->servers[i].astray = st->servers[i].reached && st->servers[i].generation != usual;
}

/* A repair that is in force lacks something of the operator's plan. */
static void status_check_repair(struct to_status *st)
{
	char text[160] = "";

	for (unsigned int i = 0; st->plan != st->wanted && i < st->plan->n_down; i++) {
		char name[TO_DOWN_NAME_MAX];
		const size_t at = strlen(text);

		snprintf(text + at, sizeof(text) - at, "%s%s", i ? ", " : "",
			 to_down_name(st->plan->cluster, st->plan->down[i], name));
	}
	if (st->plan != st->wanted)
		to_check_add(&st->checks, TO_CHECK_WARN, "repair", "all servers", NULL,
			     "a plan without %s is in force", text[0] ? text : "what was down");
}

static enum to_health status_judge(const struct to_status *st)
{
	if (st->apart)
		return TO_HEALTH_BROKEN;
	return st->checks.n ? TO_HEALTH_DEGRADED : TO_HEALTH_HEALTHY;
}

int to_status_make(struct to_status *st, const struct to_plan *plan, const struct to_plan *wanted,
		   const uint64_t *digests, const struct to_link_losses *losses,
		   const json_t *before, const json_t *now, struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;
	uint64_t usual;

	*st = (struct to_status){ .plan = to_plan_hold(plan), .wanted = to_plan_hold(wanted),
				  .off_plan = -1 };
	st->time = json_number_value(json_object_get(now, "time"));
	st->servers = calloc(c->n_servers, sizeof(*st->servers));
	if (!st->servers || status_arcs(st)) {
		to_status_free(st);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	for (unsigned int i = 0; i < c->n_servers; i++) {
		st->servers[i].name = c->servers[i].name;
		status_server(&st->servers[i], digests ? digests[i] : 0,
			      to_status_reply(before, c->servers[i].name),
			      to_status_reply(now, c->servers[i].name));
	}
	for (unsigned int i = 0; i < st->n_arcs; i++) {
		status_arc(st, &st->arcs[i], before, now);
		status_arc_loss(&st->arcs[i], losses);
	}
	status_count_ports(st, now);
	status_sum(st);
	st->off_plan = status_off_plan(st);
	usual = status_usual(st);
	if (digests)
		status_find_astray(st, usual);
	if (to_status_peers_read(st, now) || to_status_pairs(st, now)) {
		to_status_free(st);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	to_status_peers_count(st);
	status_check_repair(st);
	status_check_plan(st);
	for (unsigned int i = 0; i < c->n_servers; i++) {
		status_check_server(st, &st->servers[i], usual);
		status_check_deviations(st, &st->servers[i], now);
	}
	status_check_ports(st, now);
	status_check_losses(st);
	to_status_peers_check(st, now);
	st->health = status_judge(st);
	return 0;
}

const char *to_status_word(const struct to_status *st)
{
	return st->reached ? to_health_words[st->health] : "unknown";
}

void to_status_free(struct to_status *st)
{
	for (unsigned int i = 0; st->servers && i < st->plan->cluster->n_servers; i++)
		free(st->servers[i].peers);
	free(st->servers);
	free(st->arcs);
	to_checks_free(&st->checks);
	to_plan_free(st->plan);
	to_plan_free(st->wanted);
	*st = (struct to_status){};
}

const struct to_status_arc *to_status_busiest(const struct to_status *st)
{
	const struct to_status_arc *busiest = NULL;

	for (unsigned int i = 0; i < st->n_arcs; i++)
		if (st->arcs[i].counted &&
		    (!busiest || st->arcs[i].utilisation > busiest->utilisation))
			busiest = &st->arcs[i];
	return busiest;
}

static json_t *status_end_json(const struct to_status *st, struct to_port_ref end)
{
	char name[TO_STATUS_END];

	return json_string(to_status_end(st, end, name));
}

static json_t *status_servers_json(const struct to_status *st)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < st->plan->cluster->n_servers; i++) {
		const struct to_status_server *s = &st->servers[i];
		json_t *object = json_pack("{s:s, s:b, s:s, s:I, s:b, s:i, s:i, s:i}",
			"server", s->name, "reached", s->reached, "error", s->error,
			"generation", (json_int_t)s->generation, "staged", s->staged,
			"ports", s->ports, "lit", s->lit, "backups", s->backups);

		if (s->table != TO_STATUS_TABLE_UNKNOWN)
			json_object_set_new(object, "planned",
					    json_boolean(s->table == TO_STATUS_TABLE_PLANNED));
		if (s->reached)
			json_object_update_new(object, json_pack("{s:b, s:b}", "old", s->old,
								 "unable", s->unable));
		if (s->checked)
			json_object_set_new(object, "peers", to_peers_json(s->peers, s->n_peers));
		if (s->seconds > 0)
			json_object_update_new(object, json_pack("{s:f, s:I, s:I, s:I, s:I}",
				"seconds", s->seconds, "misses", (json_int_t)s->misses,
				"drops", (json_int_t)s->drops,
				"congested", (json_int_t)s->congested,
				"expired", (json_int_t)s->expired));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *status_loss_json(const struct to_status_arc *arc)
{
	const struct to_link_figures *f = &arc->lost;

	return json_pack("{s:s, s:s, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "verdict", to_link_verdict_names[arc->loss],
			 "by", f->by_checks ? "checks" : "packets", "seconds", f->seconds,
			 "sent", (json_int_t)f->sent, "lost", (json_int_t)f->lost,
			 "error", (json_int_t)f->error, "missed", (json_int_t)f->missed,
			 "damaged", (json_int_t)f->errors, "carrier_changes",
			 (json_int_t)f->carrier_changes, "checks", (json_int_t)f->checks,
			 "checks_lost", (json_int_t)f->checks_lost);
}

static json_t *status_arcs_json(const struct to_status *st)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < st->n_arcs; i++) {
		const struct to_status_arc *arc = &st->arcs[i];
		json_t *object = json_pack("{s:o, s:o, s:b, s:f}",
			"from", status_end_json(st, arc->from), "to", status_end_json(st, arc->to),
			"lit", arc->lit, "planned", arc->planned);

		if (arc->counted)
			json_object_update_new(object, json_pack("{s:I, s:f, s:f}",
				"bytes", (json_int_t)arc->bytes, "bps", arc->rate,
				"utilisation", arc->utilisation));
		if (arc->lost.seconds > 0)
			json_object_set_new(object, "loss", status_loss_json(arc));
		json_array_append_new(array, object);
	}
	return array;
}

json_t *to_status_json(const struct to_status *st)
{
	json_t *object;

	object = json_pack("{s:s, s:I, s:I, s:i, s:i, s:s, s:f, s:I, s:i, s:i, s:i, s:i, s:o, s:o, s:o}",
		"health", to_status_word(st), "pairs", (json_int_t)st->pairs,
		"apart", (json_int_t)st->apart, "neighbours", st->expected, "heard", st->heard,
		"job", st->plan->demand->name, "time", st->time,
		"generation", (json_int_t)st->generation, "reached", st->reached,
		"ports", st->ports, "lit", st->lit, "backups", st->backups, "checks",
		to_checks_json(&st->checks),
		"servers", status_servers_json(st), "links", status_arcs_json(st));
	if (object && st->seconds > 0)
		json_object_update_new(object, json_pack("{s:f, s:I, s:I, s:I, s:I, s:I, s:o}",
			"seconds", st->seconds, "misses", (json_int_t)st->misses,
			"drops", (json_int_t)st->drops, "congested", (json_int_t)st->congested,
			"expired", (json_int_t)st->expired, "bytes", (json_int_t)st->bytes,
			"off_plan", st->off_plan < 0 ? json_null() : json_real(st->off_plan)));
	return object;
}
