// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/rewire_steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/graph.h"

#define NONE UINT32_MAX
#define STAYS (NONE - 1)
#define LISTED (NONE - 2)

/*
 * Changes are new links to be made, and old links without a successor to be cut.
 * Links are numbered through: the old ones, then the new ones.
 */
struct steps {
	struct to_link *links;
	unsigned int n_old, n_links, ports;
	bool duplex;
	const struct to_cluster *cluster;
	uint32_t *old_at, *new_at;	/* link of a port, see end() */
	struct to_graph *graph;
	bool *lit;			/* per link */
	unsigned int *when;		/* per link: its step */
	uint32_t *queue;		/* of servers */
	bool *seen;
	uint32_t *undo;			/* links that an attempt cut */
	unsigned int n_undo;
};

/*
 * Number of an end of a link: of its port, or where a port sends and receives on
 * links of their own, of that half.
 */
static uint32_t steps_end(const struct steps *s, uint32_t link, bool b)
{
	struct to_port_ref at = b ? s->links[link].b : s->links[link].a;

	return 2 * (at.server * s->ports + at.port) + (b && !s->duplex);
}

static uint32_t steps_other_end(const struct steps *s, uint32_t link, uint32_t from)
{
	return steps_end(s, link, steps_end(s, link, false) == from);
}

/* Whether lit links lead from server 0 to all, or @back from all to it. */
static bool steps_reach(const struct steps *s, bool back)
{
	const struct to_graph *g = s->graph;
	const uint32_t *first = back ? g->in : g->out;
	unsigned int head = 0, tail = 1;

	memset(s->seen, 0, g->n * sizeof(*s->seen));
	s->queue[0] = 0;
	s->seen[0] = true;
	while (head < tail && tail < g->n) {
		uint32_t x = s->queue[head++];

		for (uint32_t i = first[x]; i < first[x + 1]; i++) {
			uint32_t y = back ? g->in_from[i] : g->to[i];

			if (s->seen[y] || !s->lit[g->link[back ? g->in_arc[i] : i]])
				continue;
			s->seen[y] = true;
			s->queue[tail++] = y;
		}
	}
	return tail == g->n;
}

static void steps_cut(struct steps *s, uint32_t link)
{
	if (link == NONE || !s->lit[link])
		return;
	s->lit[link] = false;
	s->undo[s->n_undo++] = link;
}

/*
 * Cut what @n of the changes @list need cut, or as many as leave all servers
 * reached, the first before the others; these get @step.
 */
static void steps_attempt(struct steps *s, const uint32_t *list, unsigned int n, unsigned int step)
{
	s->n_undo = 0;
	for (unsigned int i = 0; i < n; i++) {
		if (list[i] < s->n_old) {
			steps_cut(s, list[i]);
			continue;
		}
		steps_cut(s, s->old_at[steps_end(s, list[i], false)]);
		steps_cut(s, s->old_at[steps_end(s, list[i], true)]);
	}
	if (!s->n_undo || (steps_reach(s, false) && (s->duplex || steps_reach(s, true)))) {
		while (s->n_undo)
			s->when[s->undo[--s->n_undo]] = step;
		for (unsigned int i = 0; i < n; i++)
			s->when[list[i]] = step;
		return;
	}
	while (s->n_undo)
		s->lit[s->undo[--s->n_undo]] = true;
	if (n == 1)
		return;
	steps_attempt(s, list, n / 2, step);
	steps_attempt(s, list + n / 2, n - n / 2, step);
}

/* Links that both sides have get STAYS, and those of packet switches, which nobody moves. */
static void steps_stay(struct steps *s)
{
	for (uint32_t l = 0; l < s->n_links; l++)
		if (to_link_is_shared(s->cluster, &s->links[l]))
			s->when[l] = STAYS;
	for (uint32_t l = s->n_old; l < s->n_links; l++) {
		uint32_t old = s->old_at[steps_end(s, l, false)];

		if (s->when[l] == NONE && old != NONE &&
		    steps_other_end(s, old, steps_end(s, l, false)) == steps_end(s, l, true))
			s->when[old] = s->when[l] = STAYS;
	}
}

/*
 * All changes in @list, none of which has a step: new links from port to port,
 * as one frees a port of the next, then old links that only go. Return: how many.
 */
static unsigned int steps_changes(struct steps *s, uint32_t *list)
{
	unsigned int n = 0;

	for (uint32_t first = s->n_old; first < s->n_links; first++) {
		uint32_t l = first, at = steps_end(s, l, true), old;

		while (s->when[l] == NONE) {
			s->when[l] = LISTED;
			list[n++] = l;
			old = s->old_at[at];
			if (old == NONE)
				break;
			at = steps_other_end(s, old, at);
			if (s->new_at[at] == NONE)
				break;
			l = s->new_at[at];
			at = steps_other_end(s, l, at);
		}
	}
	for (unsigned int i = 0; i < n; i++)
		s->when[list[i]] = NONE;
	for (uint32_t l = 0; l < s->n_old; l++)
		if (s->when[l] == NONE && s->new_at[steps_end(s, l, false)] == NONE &&
		    s->new_at[steps_end(s, l, true)] == NONE)
			list[n++] = l;
	return n;
}

/* Give each change its step. */
static void steps_plan_steps(struct steps *s, uint32_t *list, struct to_rewire_steps *out)
{
	unsigned int n, left, i;

	steps_stay(s);
	n = steps_changes(s, list);
	for (out->whole = true; n && out->whole; n = left, out->n++) {
		steps_attempt(s, list, n, out->n);
		for (left = i = 0; i < n; i++) {
			if (s->when[list[i]] == NONE)
				list[left++] = list[i];
			else
				s->lit[list[i]] = list[i] >= s->n_old;
		}
		out->whole = left < n;
	}
	/* what no step could take; n counts the step in which that was found */
	for (uint32_t l = 0; l < s->n_links; l++) {
		if (s->when[l] == NONE)
			s->when[l] = out->n - 1;
		else if (s->when[l] == STAYS)
			s->when[l] = out->n;
	}
}

int to_rewire_steps_make(const struct to_cluster *old, const struct to_link *links,
			 unsigned int n_links, struct to_rewire_steps *steps)
{
	const unsigned int n = old->n_servers, all = old->n_links + n_links;
	struct steps s = { .n_old = old->n_links, .n_links = all,
			   .duplex = old->link_mode == TO_LINKS_DUPLEX,
			   .cluster = old };
	uint32_t *block = NULL;
	size_t ends;
	int ret = -ENOMEM;

	for (unsigned int i = 0; i < n; i++)
		if (old->servers[i].n_ports > s.ports)
			s.ports = old->servers[i].n_ports;
	ends = 2 * (size_t)n * s.ports;
	*steps = (struct to_rewire_steps){ .cut = malloc((all + 1) * sizeof(*steps->cut)) };
	s.links = malloc((all + 1) * sizeof(*s.links));
	s.lit = calloc(all + n + 1, sizeof(*s.lit));
	block = malloc((2 * ends + n + 2 * (size_t)all + 1) * sizeof(*block));
	if (!steps->cut || !s.links || !s.lit || !block)
		goto out;
	steps->made = steps->cut + s.n_old;
	s.when = steps->cut;
	memset(steps->cut, 0xff, all * sizeof(*steps->cut));
	memcpy(s.links, old->links, s.n_old * sizeof(*s.links));
	memcpy(s.links + s.n_old, links, n_links * sizeof(*s.links));
	memset(s.lit, true, s.n_old * sizeof(*s.lit));
	s.seen = s.lit + all;
	s.old_at = block;
	s.new_at = s.old_at + ends;
	s.queue = s.new_at + ends;
	s.undo = s.queue + n;
	memset(block, 0xff, 2 * ends * sizeof(*block));
	for (uint32_t l = 0; l < all; l++) {
		uint32_t *at = l < s.n_old ? s.old_at : s.new_at;

		if (to_link_is_shared(old, &s.links[l]))
			continue;
		at[steps_end(&s, l, false)] = at[steps_end(&s, l, true)] = l;
	}
	s.graph = to_graph_new(n, s.links, all, old->link_mode);
	if (!s.graph)
		goto out;
	steps_plan_steps(&s, s.undo + all, steps);
	ret = 0;
out:
	if (ret)
		to_rewire_steps_free(steps);
	to_graph_free(s.graph);
	free(block);
	free(s.lit);
	free(s.links);
	return ret;
}

void to_rewire_steps_free(struct to_rewire_steps *steps)
{
	free(steps->cut);
	*steps = (struct to_rewire_steps){ 0 };
}

unsigned int to_rewire_steps_links(const struct to_rewire_steps *steps,
				   const struct to_cluster *old, const struct to_link *next,
				   unsigned int n_next, unsigned int step,
				   struct to_link *links, unsigned int *n_stay)
{
	unsigned int n = 0;

	for (unsigned int l = 0; l < old->n_links; l++)
		if (steps->cut[l] > step)
			links[n++] = old->links[l];
	for (unsigned int l = 0; l < n_next; l++)
		if (steps->made[l] < step)
			links[n++] = next[l];
	*n_stay = n;
	for (unsigned int l = 0; l < old->n_links; l++)
		if (steps->cut[l] == step)
			links[n++] = old->links[l];
	return n;
}
