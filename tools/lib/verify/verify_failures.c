// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>

#include "verify/verify_failures.h"

enum whole { WHOLE_UNKNOWN, WHOLE, WHOLE_NOT };

int to_verify_failures_init(struct to_verify_failures *o, struct to_forwarding *f,
			    const struct to_verify_out *out)
{
	o->out = out;
	o->whole_links = calloc(f->plan->cluster->n_links + 1, 1);
	o->whole_servers = calloc(f->graph->n + 1, 1);
	return o->whole_links && o->whole_servers ? to_failures_init(&o->packets, f) : -ENOMEM;
}

void to_verify_failures_free(struct to_verify_failures *o)
{
	to_failures_free(&o->packets);
	free(o->whole_links);
	free(o->whole_servers);
}

static const char *verify_failures_name(const struct to_verify_failures *o, uint32_t x)
{
	return o->packets.f->plan->cluster->servers[x].name;
}

/* Keep the first pairs by name. */
static void verify_failures_note(const struct to_verify_failures *o, const uint64_t *set,
				 const uint64_t *joined, uint32_t link)
{
	struct to_verify_report *report = o->out->report;
	const struct to_failures *p = &o->packets;
	uint32_t x;

	for (x = 0; x < p->f->graph->n && report->n_unprotected < TO_UNPROTECTED_MAX; x++)
		if (to_walk_in(set, x) && (!joined || to_walk_in(joined, x)))
			report->unprotected[report->n_unprotected++] = (struct to_unprotected){
				.src = x, .dst = p->f->dst, .slot = p->f->slot, .link = link,
			};
}

/*
 * Count the sources that to_failures_evaluate() found in @cases.
 * @whole: of what is dead
 * @link: that it is, UINT32_MAX for a server
 */
static void verify_failures_count(struct to_verify_failures *o, struct to_failure_cases *cases,
				  uint8_t *whole, uint32_t link)
{
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
	if (*whole == WHOLE_UNKNOWN)
		*whole = to_failures_whole(p) ? WHOLE : WHOLE_NOT;
	if (*whole == WHOLE_NOT || (p->f->slot && !duplex))
		joined = to_failures_joined(p);
	apart = joined ? bad - to_failures_count(p, p->lost, joined) : 0;
	cases->disconnected += apart;
	cases->uncovered += bad - apart;
	if (link != UINT32_MAX && bad > apart)
		verify_failures_note(o, p->lost, joined, link);
}

/* Packets that a dead link lets go round for ever use up more than their share. */
static void verify_failures_say_loop(struct to_verify_failures *o, uint32_t arc)
{
	struct to_failures *p = &o->packets;
	const struct to_graph *g = p->f->graph;
	const struct to_server *dst = &p->f->plan->cluster->servers[p->f->dst];
	uint32_t x = g->from[arc], start = p->one ? p->source : x, to = start;
	uint64_t left = to_walk_out(&p->walk, start, &start);

	for (; left; left &= left - 1) {
		uint32_t first = g->out[start] + __builtin_ctzll(left);

		to = g->to[first];
		if (to_walk(&p->walk, to, first) == TO_WALK_LOOP)
			break;
	}
	to_verify_say(o->out, "while link %s - %s is down, packets%s%s for %s%s%s loop: %s > %s > ...",
		      verify_failures_name(o, x), verify_failures_name(o, g->to[arc]),
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

	/* the other next hops are used already, and do not lead back */
	if (!p->one && p->used[x] & ~(1ull << (arc - g->out[x]))) {
		uint64_t n = to_failures_count(p, to_failures_above(p, x), p->sources);

		cases->cases += n;
		cases->covered += n;
		return;
	}
	to_failures_kill_link(p, arc);
	to_failures_evaluate(p);
	if (to_failures_count(p, p->looping, p->sources))
		verify_failures_say_loop(o, arc);
	verify_failures_count(o, cases, &o->whole_links[link], link);
	to_failures_repair(p);
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

	if (!p->one && verify_failures_passed_by(p, x)) {
		uint64_t n = to_failures_count(p, to_failures_above(p, x), p->sources) -
			     to_walk_in(p->sources, x);

		cases->cases += n;
		cases->covered += n;
		return;
	}
	to_failures_kill_server(p, x);
	to_failures_evaluate(p);
	verify_failures_count(o, cases, &o->whole_servers[x], UINT32_MAX);
	to_failures_repair(p);
}

void to_verify_failures(struct to_verify_failures *o)
{
	struct to_failures *p = &o->packets;
	const struct to_graph *g = p->f->graph;
	uint64_t left;
	unsigned int i;

	for (i = 0; i < p->n_met; i++) {
		uint32_t x = p->met[i];

		for (left = p->used[x]; left; left &= left - 1) {
			uint32_t arc = g->out[x] + __builtin_ctzll(left), twin = p->twin[arc];

			/* a link that is used both ways fails once */
			if (twin == UINT32_MAX || twin > arc || !to_failures_uses(p, twin))
				verify_failures_link(o, arc);
		}
		if (x != p->f->dst && !(p->one && x == p->source))
			verify_failures_server(o, x);
	}
}
