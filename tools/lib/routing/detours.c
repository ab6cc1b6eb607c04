// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "routing/detours.h"

#define DETOURS_TRIES 32	/* orders in which servers get their detours */

/* One search: a detour of server @x. */
struct search {
	struct to_detours *d;
	const struct to_forwarding *f;
	uint32_t x;		/* its next hop is dead */
	uint32_t without;	/* dead server, TO_SERVER_NONE for none */
	unsigned int segment;	/* dead packet switch, 0 for none */
	uint64_t dead;		/* arcs of x */
	bool anew;		/* as if there were no other detours */
	uint32_t head, tail, n_pushed;
	uint32_t last;		/* arc that the best one found ends with, or enters a chain by */
	uint32_t length, cost;	/* of it */
};

static void detours_find_entries(struct to_detours *d, const struct to_cluster *cluster)
{
	const struct to_graph *g = d->graph;
	uint32_t a, i, x;

	for (a = 0; a < g->n_arcs; a++) {
		d->entry[a] = a;
		d->segment[a] = cluster->servers[g->from[a]].ports[g->port[a]].packet_switch;
	}
	for (x = 0; cluster->n_packet_switches && x < g->n; x++) {
		uint32_t first[TO_PORTS_MAX];

		memset(first, 0xff, sizeof(first));
		for (i = g->in[x]; i < g->in[x + 1]; i++) {
			uint32_t *entry = &first[g->peer_port[g->in_arc[i]]];

			if (*entry == UINT32_MAX)
				*entry = g->in_arc[i];
			d->entry[g->in_arc[i]] = *entry;
		}
	}
}

int to_detours_init(struct to_detours *d, const struct to_graph *graph,
		    const struct to_cluster *cluster)
{
	size_t n = graph->n, arcs = graph->n_arcs;
	struct to_arena *arena = &d->arena;

	memset(d, 0, sizeof(*d));
	d->graph = graph;
	d->leaps = !cluster->n_packet_switches;
	d->entry = to_arena_array(arena, arcs, sizeof(*d->entry));
	d->segment = to_arena_array(arena, arcs, sizeof(*d->segment));
	d->cable = to_arena_array(arena, arcs, sizeof(*d->cable));
	d->entered = to_arena_array(arena, arcs, sizeof(*d->entered));
	d->onward = to_arena_array(arena, arcs, sizeof(*d->onward));
	d->base_onward = to_arena_array(arena, arcs, sizeof(*d->base_onward));
	d->queue = to_arena_array(arena, arcs, sizeof(*d->queue));
	d->steps = to_arena_array(arena, arcs, sizeof(*d->steps));
	d->chosen = to_arena_array(arena, arcs, sizeof(*d->chosen));
	d->end = to_arena_array(arena, arcs, sizeof(*d->end));
	d->rank = to_arena_array(arena, arcs, sizeof(*d->rank));
	d->jump = to_arena_array(arena, arcs, sizeof(*d->jump));
	d->backup = to_arena_array(arena, n, sizeof(*d->backup));
	d->base_backup = to_arena_array(arena, n, sizeof(*d->base_backup));
	d->servers = to_arena_array(arena, n, sizeof(*d->servers));
	d->critical = to_arena_array(arena, n, sizeof(*d->critical));
	d->open = to_arena_array(arena, n, sizeof(*d->open));
	d->reached = to_arena_array(arena, n, sizeof(*d->reached));
	d->primary = to_arena_array(arena, arcs, sizeof(*d->primary));
	if (arena->failed) {
		to_detours_free(d);
		return -ENOMEM;
	}
	detours_find_entries(d, cluster);
	to_graph_cables(graph, cluster, d->cable);
	return 0;
}

void to_detours_free(struct to_detours *d)
{
	to_arena_free(&d->arena);
	memset(d, 0, sizeof(*d));
}

void to_detours_reset(struct to_detours *d)
{
	const struct to_graph *g = d->graph;

	memset(d->onward, 0xff, g->n_arcs * sizeof(*d->onward));
	memset(d->backup, 0xff, g->n * sizeof(*d->backup));
	memset(d->open, true, g->n * sizeof(*d->open));
	d->based = false;
}

void to_detours_release(struct to_detours *d, const struct to_forwarding *f,
			unsigned int first, unsigned int last)
{
	const struct to_graph *g = d->graph;
	unsigned int i;
	uint32_t a;

	if (!d->based) {
		memcpy(d->base_onward, d->onward, g->n_arcs * sizeof(*d->onward));
		memcpy(d->base_backup, d->backup, g->n * sizeof(*d->backup));
		d->based = true;
	}
	memset(d->open, false, g->n * sizeof(*d->open));
	memcpy(d->backup, d->base_backup, g->n * sizeof(*d->backup));
	for (i = first; i < last; i++) {
		d->open[f->qualified[i].server] = true;
		d->backup[f->qualified[i].server] = TO_DETOUR_NONE;
	}
	for (a = 0; a < g->n_arcs; a++)
		if (d->open[g->to[a]])
			d->onward[a] = TO_DETOUR_NONE;
		else
			d->onward[a] = d->base_onward[a] == TO_DETOUR_NONE ? TO_DETOUR_PLAIN :
									     d->base_onward[a];
}

static void detours_mark_primary(struct to_detours *d, uint32_t arc)
{
	d->primary[arc] = true;
	d->entered[d->entry[arc]] = true;
}

/* The server that all next hops of @x are, else @x. */
static uint32_t detours_next_server(const struct to_forwarding *f, uint32_t x)
{
	const struct to_graph *g = f->graph;
	uint64_t left = f->next[x];
	uint32_t y = g->to[g->out[x] + __builtin_ctzll(left)];

	while (left &= left - 1)
		if (g->to[g->out[x] + __builtin_ctzll(left)] != y)
			return x;
	return y;
}

/*
 * Servers that send to one other only make trees, whose roots are those that send to several,
 * their @branch, and the destination. In each tree, a server and those that send by it, @under
 * in all, have numbers side by side, from @number of the server on.
 */
static void detours_number(struct to_detours *d, const struct to_forwarding *f)
{
	struct to_detour_server *servers = d->servers;
	uint32_t i, n = 0;

	for (i = 0; i < d->graph->n; i++) {
		servers[i].sole = servers[i].number = TO_SERVER_NONE;	/* without a path */
		servers[i].branch = i;
		servers[i].under = 1;
		servers[i].level = f->level[i];
	}
	for (i = f->n_reached; i-- > 1;) {
		uint32_t x = f->order[i], y = detours_next_server(f, x);

		servers[x].sole = y;
		if (y != x)
			servers[y].under += servers[x].under;
	}
	servers[f->dst].sole = f->dst;
	for (i = 0; i < f->n_reached; i++) {
		uint32_t x = f->order[i], y = servers[x].sole;
		uint32_t *at = y == x ? &n : &servers[y].numbered;

		servers[x].number = *at;
		servers[x].numbered = *at + 1;
		*at += servers[x].under;
		servers[x].branch = y == x ? x : servers[y].branch;
	}
}

/* Which servers have a path, and which arcs carry packets while nothing is broken. */
static void detours_mark_paths(struct to_detours *d, const struct to_forwarding *f)
{
	const struct to_graph *g = f->graph;
	uint32_t x, arc;

	memset(d->reached, false, g->n * sizeof(*d->reached));
	for (x = 0; x < f->n_reached; x++)
		d->reached[f->order[x]] = true;
	memset(d->primary, false, g->n_arcs * sizeof(*d->primary));
	memset(d->entered, false, g->n_arcs * sizeof(*d->entered));
	for (x = 0; x < g->n; x++)
		for (uint64_t left = f->next[x]; left; left &= left - 1)
			detours_mark_primary(d, g->out[x] + __builtin_ctzll(left));
	/* RoCEv2 for one of its ports that entered the destination by another one */
	arc = to_forwarding_return(f);
	d->returns = arc != UINT32_MAX;
	if (d->returns)
		detours_mark_primary(d, arc);
	detours_number(d, f);
}

/* Arcs of @x that die with those of its next hops. */
static uint64_t detours_dead(const struct to_detours *d, const struct to_forwarding *f, uint32_t x)
{
	uint64_t dead = 0;

	for (uint64_t left = f->next[x]; left; left &= left - 1)
		dead |= d->cable[d->graph->out[x] + __builtin_ctzll(left)];
	return dead;
}

/* Whether all next hops of @x are on one cable. */
static bool detours_single(const struct to_detours *d, const struct to_forwarding *f, uint32_t x)
{
	const uint64_t next = f->next[x];

	return !next || !(next & ~d->cable[d->graph->out[x] + __builtin_ctzll(next)]);
}

/*
 * What all next hops of @x share, so that one failure takes them all: the server behind
 * cables, or a packet switch. There @x sees neither a server nor its port die.
 * @segment: gets the packet switch, 0 for none
 *
 * Return: the server, the first on a packet switch; TO_SERVER_NONE when they share nothing.
 */
static uint32_t detours_behind(const struct to_detours *d, const struct to_forwarding *f,
			       uint32_t x, unsigned int *segment)
{
	const struct to_graph *g = f->graph;
	uint64_t left = f->next[x];
	uint32_t first;

	if (d->leaps) {
		*segment = 0;
		return d->servers[x].sole == x ? TO_SERVER_NONE : d->servers[x].sole;
	}
	first = g->out[x] + __builtin_ctzll(left);
	*segment = d->segment[first];
	for (; left; left &= left - 1) {
		uint32_t arc = g->out[x] + __builtin_ctzll(left);

		if (d->segment[arc] != *segment || (!*segment && g->to[arc] != g->to[first]))
			return TO_SERVER_NONE;
	}
	return g->to[first];
}

/*
 * Servers that one failure can leave without a next hop, those next to the
 * destination first, and by the server behind. No table helps where that is the last
 * hop to a port.
 */
static void detours_list(struct to_detours *d, const struct to_forwarding *f)
{
	const struct to_graph *g = d->graph;
	unsigned int i, j, k, first;

	d->n_critical = 0;
	for (i = 0; i < f->n_reached; i++) {
		uint32_t v = f->order[i];

		first = d->n_critical;
		for (k = g->in[v]; k < g->in[v + 1]; k++) {
			uint32_t x = g->in_from[k];
			unsigned int segment;

			if ((d->leaps && d->servers[x].sole != v) || !d->primary[g->in_arc[k]] ||
			    !d->open[x] || x == f->dst || detours_behind(d, f, x, &segment) != v ||
			    (!i && (f->slot || (!segment && !detours_single(d, f, x)))))
				continue;
			for (j = first; j < d->n_critical && d->critical[j] != x; j++)
				;	/* there by a parallel link */
			if (j == d->n_critical)
				d->critical[d->n_critical++] = x;
		}
	}
}

/* Mark the servers whose packets can meet @n of them on the stack, which are marked. */
static void detours_climb(struct to_detours *d, const struct to_forwarding *f, unsigned int n)
{
	const struct to_graph *g = d->graph;
	uint32_t *stack = d->queue, i;

	while (n) {
		uint32_t y = stack[--n];

		for (i = g->in[y]; y != f->dst && i < g->in[y + 1]; i++) {
			uint32_t z = g->in_from[i];

			if (d->servers[z].above == d->server_mark || !d->primary[g->in_arc[i]])
				continue;
			d->servers[z].above = d->server_mark;
			stack[n++] = z;
		}
	}
}

/* The servers whose packets can meet @x are sought, see detours_meets(). */
static void detours_mark_server(struct to_detours *d, uint32_t x)
{
	if (d->marked == x)
		return;
	d->marked = x;
	d->server_mark++;
}

/* Mark the servers whose packets can meet packet switch @segment. */
static void detours_mark_across(struct to_detours *d, const struct to_forwarding *f,
				unsigned int segment)
{
	const struct to_graph *g = d->graph;
	unsigned int n = 0;
	uint32_t a;

	if (d->marked == g->n + segment)
		return;
	d->marked = g->n + segment;
	d->server_mark++;
	for (a = 0; a < g->n_arcs; a++) {
		if (d->segment[a] != segment || !d->primary[a] ||
		    d->servers[g->from[a]].above == d->server_mark)
			continue;
		d->servers[g->from[a]].above = d->server_mark;
		d->queue[n++] = g->from[a];
	}
	detours_climb(d, f, n);
}

/*
 * Whether packets of @y can meet what was marked. For a server that is told on the way down
 * from @y, which ends at the level of the server; for a packet switch all were marked.
 */
static bool detours_meets(struct to_detours *d, const struct to_forwarding *f, uint32_t y)
{
	const struct to_graph *g = d->graph;
	const struct to_detour_server *marked;
	struct to_detour_server *at = &d->servers[y];
	bool meets = false;
	uint64_t left;

	if (d->marked >= g->n)
		return at->above == d->server_mark;
	marked = &d->servers[d->marked];
	if (at->number - marked->number < marked->under)
		return true;
	y = at->branch;
	at = &d->servers[y];
	if (at->above == d->server_mark)
		return true;
	if (at->below == d->server_mark || at->level <= marked->level)
		return false;
	for (left = f->next[y]; left && !meets; left &= left - 1)
		meets = detours_meets(d, f, g->to[g->out[y] + __builtin_ctzll(left)]);
	*(meets ? &at->above : &at->below) = d->server_mark;
	return meets;
}

/* The same where packets of @y arrive that entered the destination by the wrong port, too. */
static bool detours_safe(struct to_detours *d, const struct to_forwarding *f, uint32_t y)
{
	if (y == f->dst && d->returns && d->marked < d->graph->n)
		return !detours_meets(d, f, d->graph->to[to_forwarding_return(f)]);
	return !detours_meets(d, f, y);
}

/* Whether @arc enters the destination by another port than the address is of. */
static bool detours_wrong_port(const struct to_forwarding *f, uint32_t arc)
{
	return f->slot && f->graph->to[arc] == f->dst && f->graph->peer_port[arc] != f->slot - 1;
}

/*
 * Detours that were chosen are chains of arcs, each with its onward one, which end at
 * an arc where packets do as all others. Another detour that comes upon a chain follows it to
 * the end, and in a ring that is far: so each arc knows the end and its distance, its @rank,
 * and one arc further on, @jump, which makes any of them found in logarithmic time (Myers, "An
 * applicative random-access stack", Inf. Process. Lett. 1983).
 */
static void detours_chain(struct to_detours *d, uint32_t arc, uint32_t onward)
{
	uint32_t jump;

	if (d->onward[onward] >= TO_DETOUR_PLAIN) {
		d->end[arc] = d->jump[arc] = onward;
		d->rank[arc] = 1;
		d->rank[onward] = 0;
		d->jump[onward] = onward;
		return;
	}
	jump = d->jump[onward];
	d->end[arc] = d->end[onward];
	d->rank[arc] = d->rank[onward] + 1;
	d->jump[arc] = d->rank[onward] - d->rank[jump] == d->rank[jump] - d->rank[d->jump[jump]] ?
			       d->jump[jump] : onward;
}

/* Whether the chain that @arc is in passes server @x after it, before the end. */
static bool detours_chain_passes(const struct to_detours *d, uint32_t arc, uint32_t x)
{
	const struct to_graph *g = d->graph;
	uint32_t i;

	for (i = g->in[x]; i < g->in[x + 1]; i++) {
		uint32_t in = g->in_arc[i], at = arc;

		if (d->onward[in] >= TO_DETOUR_PLAIN || d->end[in] != d->end[arc])
			continue;
		while (d->rank[at] > d->rank[in])
			at = d->rank[d->jump[at]] >= d->rank[in] ? d->jump[at] : d->onward[at];
		if (at == in)
			return true;
	}
	return false;
}

/* Whether of two detours of one length a search by steps meets that by @arc first. */
static bool detours_earlier(const struct to_detours *d, uint32_t arc, uint32_t other)
{
	const struct to_detour_step *steps = d->steps;

	while (steps[arc].depth > steps[other].depth)
		arc = steps[arc].came;
	while (steps[other].depth > steps[arc].depth)
		other = steps[other].came;
	return steps[arc].pushed < steps[other].pushed;
}

/*
 * The detour ends with @end, after @arc and a chain from there, or @arc itself, when that is
 * better than what was found.
 * Return: false when the end is no good.
 */
static bool detours_end(struct search *s, uint32_t arc, uint32_t end, uint32_t length)
{
	const struct to_forwarding *f = s->f;
	uint32_t y = f->graph->to[end];
	uint32_t cost = detours_wrong_port(f, end) ? 2 : s->d->servers[y].level;

	if (s->last != UINT32_MAX &&
	    (length > s->length || (length == s->length && cost > s->cost) ||
	     (length == s->length && cost == s->cost && !detours_earlier(s->d, arc, s->last))))
		return true;
	if (!detours_safe(s->d, f, y))
		return false;
	s->last = arc;
	s->length = length;
	s->cost = cost;
	return true;
}

/* The detour goes on along the chain from @arc, to its end if that is any good. */
static void detours_leap(struct search *s, uint32_t arc)
{
	struct to_detours *d = s->d;
	uint32_t length = d->steps[arc].depth + d->rank[arc];

	if ((s->last != UINT32_MAX && length > s->length) || detours_chain_passes(d, arc, s->x) ||
	    (s->without != TO_SERVER_NONE && detours_chain_passes(d, arc, s->without)))
		return;
	detours_end(s, arc, d->end[arc], length);
}

/* Packets may arrive on @arc: the detour ends there, goes on, or must not come there. */
static void detours_arrive(struct search *s, uint32_t arc)
{
	struct to_detours *d = s->d;
	uint32_t y = d->graph->to[arc], entry = d->entry[arc], onward = d->onward[entry];

	if (!d->reached[y] || (!d->returns && detours_wrong_port(s->f, arc)))
		return;
	if (s->anew && d->open[y])
		onward = TO_DETOUR_NONE;
	if (onward >= TO_DETOUR_PLAIN && detours_end(s, arc, arc, d->steps[arc].depth))
		return;
	/* routes of one source have other ends */
	if (onward < TO_DETOUR_PLAIN && d->leaps && !d->based) {
		detours_leap(s, arc);
		return;
	}
	/* the destination sends it out of the right port, and no other */
	if (onward < TO_DETOUR_PLAIN ||
	    (y != s->f->dst && onward == TO_DETOUR_NONE && !d->entered[entry]))
		d->queue[s->tail++] = arc;
}

static void detours_push(struct search *s, uint32_t arc, uint32_t came)
{
	struct to_detours *d = s->d;
	struct to_detour_step *step = &d->steps[arc];
	uint32_t *seen = d->leaps ? &step->seen : &d->steps[d->entry[arc]].seen;
	uint32_t y = d->graph->to[arc];

	if (*seen == d->arc_mark || y == s->x || y == s->without ||
	    (s->segment && d->segment[arc] == s->segment))
		return;
	*seen = d->arc_mark;
	step->came = came;
	step->depth = came == UINT32_MAX ? 1 : d->steps[came].depth + 1;
	step->pushed = s->n_pushed++;
	detours_arrive(s, arc);
}

/* Where packets go that arrive on @arc. */
static void detours_step(struct search *s, uint32_t arc)
{
	const struct to_graph *g = s->d->graph;
	uint32_t y = g->to[arc], onward = s->d->onward[s->d->entry[arc]], a;

	if (onward < TO_DETOUR_PLAIN && !(s->anew && s->d->open[y])) {
		detours_push(s, onward, arc);
		return;
	}
	for (a = g->out[y]; a < g->out[y + 1]; a++)
		detours_push(s, a, arc);
}

/* The shortest detour. Return: false when there is none. */
static bool detours_search(struct search *s)
{
	struct to_detours *d = s->d;
	const struct to_graph *g = d->graph;
	uint32_t a;

	d->arc_mark++;
	s->head = s->tail = s->n_pushed = 0;
	s->last = UINT32_MAX;
	for (a = g->out[s->x]; a < g->out[s->x + 1]; a++)
		if (!(s->dead >> (a - g->out[s->x]) & 1))
			detours_push(s, a, UINT32_MAX);
	while (s->head < s->tail) {
		uint32_t arc = d->queue[s->head++];

		if (s->last != UINT32_MAX && d->steps[arc].depth >= s->length)
			break;
		detours_step(s, arc);
	}
	return s->last != UINT32_MAX;
}

static void detours_take(struct search *s)
{
	struct to_detours *d = s->d;
	uint32_t arc = s->last, onward = TO_DETOUR_PLAIN;

	for (; arc != UINT32_MAX; onward = arc, arc = d->steps[arc].came) {
		uint32_t entry = d->entry[arc];

		if (d->onward[entry] == TO_DETOUR_NONE && !d->entered[entry]) {
			d->onward[entry] = onward;
			if (onward < TO_DETOUR_PLAIN && d->leaps)
				detours_chain(d, entry, onward);
			d->chosen[d->n_chosen++] = entry;
		}
	}
	d->backup[s->x] = onward;
}

/* Whether @v sends to the port whose address it is, by a cable: no other server does. */
static bool detours_last_relay(const struct to_detours *d, const struct to_forwarding *f,
			       uint32_t v)
{
	uint32_t arc = to_forwarding_return(f);

	return arc != UINT32_MAX && !d->segment[arc] && v == f->order[1];
}

/*
 * A detour of @x around @segment, behind which all its next hops are. One around its own
 * port alone, across the segment, could loop when all of that died.
 * Return: as detours_protect().
 */
static bool detours_protect_segment(struct to_detours *d, const struct to_forwarding *f,
				    uint32_t x, unsigned int segment)
{
	struct search s = { .d = d, .f = f, .x = x, .without = TO_SERVER_NONE, .segment = segment };
	uint32_t back = to_forwarding_return(f);

	if (back != UINT32_MAX && d->segment[back] == segment)
		return true;	/* the port whose address it is went dark with it */
	detours_mark_across(d, f, segment);
	if (detours_search(&s)) {
		detours_take(&s);
		return true;
	}
	s.anew = true;
	return !detours_search(&s);
}

/*
 * A detour of @s->x around @s->dead.
 * Return: false when there is one that other detours are in the way of.
 */
static bool detours_protect_link(struct search *s)
{
	if (detours_search(s)) {
		detours_take(s);
		return true;
	}
	s->anew = true;
	if (detours_search(s))
		return false;
	s->anew = false;
	return true;
}

/*
 * A detour of @x: around the server or packet switch behind its next hop, else around the
 * cable to it, else by another function of the cable.
 * Return: false when there is one that other detours are in the way of.
 */
static bool detours_protect(struct to_detours *d, const struct to_forwarding *f, uint32_t x,
			    bool links)
{
	unsigned int segment;
	uint32_t v = detours_behind(d, f, x, &segment);
	bool single = detours_single(d, f, x);
	struct search s = { .d = d, .f = f, .x = x, .without = v, .dead = detours_dead(d, f, x) };

	if (segment)
		return detours_protect_segment(d, f, x, segment);
	if (v != f->dst && !detours_last_relay(d, f, v) && !(links && single)) {
		detours_mark_server(d, v);
		if (detours_search(&s)) {
			detours_take(&s);
			return true;
		}
	}
	if (!single)
		return true;	/* no cable leaves it without a next hop */
	s.without = TO_SERVER_NONE;
	detours_mark_server(d, x);
	if (!detours_protect_link(&s))
		return false;
	if (d->backup[x] != TO_DETOUR_NONE || s.dead == f->next[x])
		return true;
	/* a function may fail alone, while its siblings keep the light */
	s.dead = f->next[x];
	return detours_protect_link(&s);
}

/* Back to where detours_find() began. */
static void detours_undo(struct to_detours *d)
{
	unsigned int i;

	while (d->n_chosen)
		d->onward[d->chosen[--d->n_chosen]] = TO_DETOUR_NONE;
	for (i = 0; i < d->n_critical; i++)
		d->backup[d->critical[i]] = TO_DETOUR_NONE;
}

void to_detours_find(struct to_detours *d, const struct to_forwarding *f)
{
	unsigned int try, i;

	detours_mark_paths(d, f);
	d->marked = TO_SERVER_NONE;
	detours_list(d, f);
	d->n_chosen = 0;
	for (try = 1;; try++) {
		bool last = try == DETOURS_TRIES;

		for (i = 0; i < d->n_critical; i++) {
			uint32_t x = d->critical[i];

			if (detours_protect(d, f, x, 2 * try > DETOURS_TRIES))
				continue;
			if (last)
				continue;
			memmove(&d->critical[1], d->critical, i * sizeof(*d->critical));
			d->critical[0] = x;
			break;
		}
		if (i == d->n_critical)
			return;
		detours_undo(d);
	}
}
