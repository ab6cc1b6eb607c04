// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>

#include "verify/verify_failures.h"

enum whole { WHOLE_UNKNOWN, WHOLE, WHOLE_NOT };

int to_verify_failures_init(struct to_verify_failures *o, struct to_forwarding *f,
			    const struct to_verify_out *out)
{
	const struct to_cluster *c = f->plan->cluster;
	size_t ports = to_cluster_keeps_links(c) ? (size_t)c->n_servers * TO_PORTS_MAX : 0;
	struct to_arena *arena = &o->arena;

	o->out = out;
	o->whole_links = to_arena_array(arena, c->n_links, 1);
	o->whole_servers = to_arena_array(arena, c->n_servers, 1);
	o->whole_switches = to_arena_array(arena, c->n_packet_switches, 1);
	o->whole_ports = to_arena_array(arena, ports, 1);
	o->broken = to_arena_array(arena, c->n_packet_switches + ports, sizeof(*o->broken));
	return arena->failed ? -ENOMEM : to_failures_init(&o->packets, f);
}

void to_verify_failures_free(struct to_verify_failures *o)
{
	to_failures_free(&o->packets);
	to_arena_free(&o->arena);
}

static const char *verify_failures_name(const struct to_verify_failures *o, uint32_t x)
{
	return o->packets.f->plan->cluster->servers[x].name;
}

/*
 * What is down.
 * @cases: where it is counted
 * @whole: of it
 * @link, @segment: see struct to_unprotected; neither when pairs are not named
 * @text: as in "while ... is down"
 */
struct failure {
	struct to_failure_cases *cases;
	uint8_t *whole;
	uint32_t link;
	unsigned int segment;
	char text[2 * TO_NAME_MAX + IFNAMSIZ + 16];
};

/* Keep the first pairs by name. */
static void verify_failures_note(const struct to_verify_failures *o, const uint64_t *set,
				 const uint64_t *joined, const struct failure *what)
{
	struct to_verify_report *report = o->out->report;
	const struct to_failures *p = &o->packets;
	uint32_t x;

	for (x = 0; x < p->f->graph->n && report->n_unprotected < TO_UNPROTECTED_MAX; x++)
		if (to_walk_in(set, x) && (!joined || to_walk_in(joined, x)))
			report->unprotected[report->n_unprotected++] = (struct to_unprotected){
				.src = x, .dst = p->f->dst, .slot = p->f->slot,
				.link = what->link, .packet_switch = what->segment,
			};
}

/* Count the sources that to_failures_evaluate() found. */
static void verify_failures_count(struct to_verify_failures *o, const struct failure *what)
{
	struct to_failure_cases *cases = what->cases;
	struct to_failures *p = &o->packets;
	bool duplex = p->f->plan->cluster->link_mode == TO_LINKS_DUPLEX;
	uint64_t all = to_failures_count(p, p->affected, p->sources), bad, apart;
	const uint64_t *joined = NULL;
	size_t i;

	for (i = 0; i < p->words; i++)
		p->lost[i] |= p->looping[i];
	bad = to_failures_count(p, p->lost, p->sources);
	cases->cases += all;
	cases->covered += all - bad;
	if (!bad)
		return;
	if (to_failures_port_dark(p)) {
		cases->last_hops += bad;
		return;
	}
	if (*what->whole == WHOLE_UNKNOWN)
		*what->whole = to_failures_whole(p) ? WHOLE : WHOLE_NOT;
	if (*what->whole == WHOLE_NOT || (p->f->slot && !duplex))
		joined = to_failures_joined(p);
	apart = joined ? bad - to_failures_count(p, p->lost, joined) : 0;
	cases->disconnected += apart;
	cases->uncovered += bad - apart;
	if ((what->link != UINT32_MAX || what->segment) && bad > apart)
		verify_failures_note(o, p->lost, joined, what);
}

/* Packets that a dead link lets go round for ever use up more than their share. */
static void verify_failures_say_loop(struct to_verify_failures *o, uint32_t x, const char *what)
{
	struct to_failures *p = &o->packets;
	const struct to_graph *g = p->f->graph;
	const struct to_server *dst = &p->f->plan->cluster->servers[p->f->dst];
	uint32_t start = p->one ? p->source : x, to = start;
	uint64_t left = to_walk_out(&p->walk, start, &start);

	for (; left; left &= left - 1) {
		uint32_t first = g->out[start] + __builtin_ctzll(left);

		to = g->to[first];
		if (to_walk(&p->walk, to, first) == TO_WALK_LOOP)
			break;
	}
	to_verify_say(o->out, "while %s is down, packets%s%s for %s%s%s loop: %s > %s > ...", what,
		      p->one ? " from " : "", p->one ? verify_failures_name(o, p->source) : "",
		      dst->name, p->f->slot ? ":" : "",
		      p->f->slot ? dst->ports[p->f->slot - 1].name : "",
		      verify_failures_name(o, start), verify_failures_name(o, to));
}

static void verify_failures_link(struct to_verify_failures *o, uint32_t arc)
{
	struct to_failures *p = &o->packets;
	const struct to_graph *g = p->f->graph;
	uint32_t x = g->from[arc], link = g->link[arc];
	struct to_failure_cases *cases = &o->out->report->links;
	struct failure what = { .cases = cases, .whole = &o->whole_links[link], .link = link };

	/* the other next hops are used already, and do not lead back */
	if (!p->one && p->used[x] & ~p->cable[arc]) {
		uint64_t n = to_failures_count(p, to_failures_above(p, x), p->sources);

		cases->cases += n;
		cases->covered += n;
		return;
	}
	to_failures_kill_cable(p, arc);
	to_failures_evaluate(p);
	snprintf(what.text, sizeof(what.text), "link %s - %s", verify_failures_name(o, x),
		 verify_failures_name(o, g->to[arc]));
	if (to_failures_count(p, p->looping, p->sources))
		verify_failures_say_loop(o, x, what.text);
	verify_failures_count(o, &what);
	to_failures_repair(p);
}

/* The first server whose packets can loop while something is dead. */
static uint32_t verify_failures_looping(const struct to_failures *p)
{
	uint32_t x;

	for (x = 0; !to_walk_in(p->looping, x); x++)
		;
	return x;
}

/* Once for each address, as @broken says; what is dead already is @what. */
static void verify_failures_shared(struct to_verify_failures *o, const struct failure *what)
{
	struct to_failures *p = &o->packets;

	to_failures_evaluate(p);
	if (to_failures_count(p, p->looping, p->sources))
		verify_failures_say_loop(o, verify_failures_looping(p), what->text);
	verify_failures_count(o, what);
	to_failures_repair(p);
}

static void verify_failures_segment(struct to_verify_failures *o, unsigned int segment)
{
	const struct to_packet_switch *on =
		&o->packets.f->plan->cluster->packet_switches[segment - 1];
	struct failure what = { .cases = &o->out->report->switches, .link = UINT32_MAX,
				.whole = &o->whole_switches[segment - 1], .segment = segment };

	if (o->broken[segment - 1] == o->mark)
		return;
	o->broken[segment - 1] = o->mark;
	snprintf(what.text, sizeof(what.text), "packet switch %s", on->name);
	to_failures_kill_segment(&o->packets, segment);
	verify_failures_shared(o, &what);
}

/* Port @port of server @x, which the server at the other end does not see go. */
static void verify_failures_port(struct to_verify_failures *o, uint32_t x, unsigned int port,
				 struct to_failure_cases *cases)
{
	const struct to_cluster *c = o->packets.f->plan->cluster;
	size_t at = (size_t)x * TO_PORTS_MAX + port;
	struct failure what = { .cases = cases, .link = UINT32_MAX,
				.whole = &o->whole_ports[at] };
	uint32_t *broken = &o->broken[c->n_packet_switches + at];

	if (*broken == o->mark)
		return;
	*broken = o->mark;
	snprintf(what.text, sizeof(what.text), "port %s:%s", verify_failures_name(o, x),
		 c->servers[x].ports[port].name);
	to_failures_kill_port(&o->packets, x, port);
	verify_failures_shared(o, &what);
}

/* Whether all that forward to @x also forward to others, and none of these back to it. */
static bool verify_failures_passed_by(const struct to_failures *p, uint32_t x)
{
	const struct to_graph *g = p->f->graph;
	const uint64_t *above = to_failures_above(p, x);
	uint64_t left;
	uint32_t i;

	for (i = g->in[x]; i < g->in[x + 1]; i++) {
		uint32_t y = g->in_from[i];
		bool other = false;

		if (!to_failures_uses(p, g->in_arc[i]))
			continue;
		for (left = p->used[y]; left; left &= left - 1) {
			uint32_t z = g->to[g->out[y] + __builtin_ctzll(left)];

			if (z == x)
				continue;
			if (z == p->f->dst ? p->f->slot : to_walk_in(above, z))
				return false;
			other = true;
		}
		if (!other)
			return false;
	}
	return true;
}

static void verify_failures_server(struct to_verify_failures *o, uint32_t x)
{
	struct to_failures *p = &o->packets;
	struct to_failure_cases *cases = &o->out->report->servers;
	struct failure what = { .cases = cases, .whole = &o->whole_servers[x], .link = UINT32_MAX };

	if (!p->f->plan->cluster->n_packet_switches && !p->one && verify_failures_passed_by(p, x)) {
		uint64_t n = to_failures_count(p, to_failures_above(p, x), p->sources) -
			     to_walk_in(p->sources, x);

		cases->cases += n;
		cases->covered += n;
		return;
	}
	to_failures_kill_server(p, x);
	to_failures_evaluate(p);
	verify_failures_count(o, &what);
	to_failures_repair(p);
}

/* The functions at both ends of @arc, if others keep the light of its cable. */
static void verify_failures_functions(struct to_verify_failures *o, uint32_t arc)
{
	const struct to_graph *g = o->packets.f->graph;
	const struct to_server *servers = o->packets.f->plan->cluster->servers;
	struct to_failure_cases *cases = &o->out->report->functions;

	if (to_port_is_function(&servers[g->from[arc]], g->port[arc]))
		verify_failures_port(o, g->from[arc], g->port[arc], cases);
	if (to_port_is_function(&servers[g->to[arc]], g->peer_port[arc]))
		verify_failures_port(o, g->to[arc], g->peer_port[arc], cases);
}

void to_verify_failures(struct to_verify_failures *o)
{
	struct to_failures *p = &o->packets;
	struct to_failure_cases *ports = &o->out->report->ports;
	const struct to_graph *g = p->f->graph;
	uint64_t left;
	unsigned int i;

	o->mark++;
	for (i = 0; i < p->n_met; i++) {
		uint32_t x = p->met[i];

		for (left = p->used[x]; left; left &= left - 1) {
			uint32_t arc = g->out[x] + __builtin_ctzll(left);

			if (p->segment[arc]) {
				verify_failures_segment(o, p->segment[arc]);
				verify_failures_port(o, x, g->port[arc], ports);
				verify_failures_port(o, g->to[arc], g->peer_port[arc], ports);
				continue;
			}
			verify_failures_functions(o, arc);
			/* a cable that is used both ways, or by several functions, fails once */
			if (to_failures_first_of_cable(p, arc))
				verify_failures_link(o, arc);
		}
		if (x != p->f->dst && !(p->one && x == p->source))
			verify_failures_server(o, x);
	}
}
