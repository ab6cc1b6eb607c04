// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Switches are the colours of an edge colouring in which a server may use a
 * colour as often as it has ports on that switch. Ports on no switch can be
 * joined by hand in any way: colour 0. Switch i is colour i + 1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/graph.h"
#include "topology/crossconnect.h"

#define NO_COLOUR UINT32_MAX
#define NO_LINK UINT32_MAX
#define CROSSCONNECT_STEPS 100000	/* of a search for what can stay */

enum side { TRANSMIT, RECEIVE };

struct colouring {
	const struct to_cluster *cluster;
	struct to_link *links;
	unsigned int n_links, degree, n_colours;
	struct to_graph *graph;
	uint32_t *colour;	/* per link */
	/* ports left, [server * n_colours + colour]; the same array on duplex
	 * links, where a port sends and receives on one link */
	int *left[2];
	uint32_t *chain;	/* links whose colour was swapped */
	unsigned int n_chain;
	bool *swapped;
};

static unsigned int crossconnect_ports(const struct colouring *c, uint32_t server)
{
	unsigned int n = c->cluster->servers[server].n_ports;

	return n < c->degree ? n : c->degree;
}

static unsigned int crossconnect_colour(const struct colouring *c, uint32_t server, uint32_t port)
{
	return c->cluster->servers[server].ports[port].optical_switch + 1;
}

static int *crossconnect_left(struct colouring *c, enum side side, uint32_t server, uint32_t colour)
{
	return &c->left[side][(size_t)server * c->n_colours + colour];
}

static void crossconnect_use(struct colouring *c, uint32_t link, uint32_t colour, int ports)
{
	*crossconnect_left(c, TRANSMIT, c->links[link].a.server, colour) -= ports;
	*crossconnect_left(c, RECEIVE, c->links[link].b.server, colour) -= ports;
}

static bool crossconnect_fits(struct colouring *c, uint32_t link, uint32_t colour)
{
	return *crossconnect_left(c, TRANSMIT, c->links[link].a.server, colour) > 0 &&
	       *crossconnect_left(c, RECEIVE, c->links[link].b.server, colour) > 0;
}

static void crossconnect_swap(struct colouring *c, uint32_t link, uint32_t colour)
{
	crossconnect_use(c, link, c->colour[link], -1);
	c->colour[link] = colour;
	crossconnect_use(c, link, colour, 1);
}

/* A link of colour @colour that uses @side of @server and was not swapped. */
static uint32_t crossconnect_find(struct colouring *c, enum side side, uint32_t server,
				  uint32_t colour)
{
	const struct to_graph *g = c->graph;
	bool in = side == RECEIVE && c->left[TRANSMIT] != c->left[RECEIVE];
	const uint32_t *offsets = in ? g->in : g->out;
	uint32_t i;

	for (i = offsets[server]; i < offsets[server + 1]; i++) {
		uint32_t link = g->link[in ? g->in_arc[i] : i];

		if (c->colour[link] == colour && !c->swapped[link])
			return link;
	}
	return NO_COLOUR;
}

/* Swap a link at @server away from its colour, if there is one too many. */
static bool crossconnect_relieve(struct colouring *c, enum side side, uint32_t server,
				 uint32_t colour, uint32_t other)
{
	uint32_t next;

	if (*crossconnect_left(c, side, server, colour) >= 0)
		return true;
	next = crossconnect_find(c, side, server, colour);
	if (next == NO_COLOUR)
		return false;
	crossconnect_swap(c, next, other);
	c->swapped[next] = true;
	c->chain[c->n_chain++] = next;
	return true;
}

/*
 * @link has just got its colour. Links that it crowds out take colour @other,
 * those that these crowd out take the first, and so on (Kempe). @link stays the
 * first of the chain. Undone when that does not end well.
 */
static bool crossconnect_settle(struct colouring *c, uint32_t link, uint32_t other)
{
	uint32_t colour = c->colour[link], next;
	unsigned int i;
	bool ok = true;

	c->n_chain = 0;
	c->chain[c->n_chain++] = link;
	c->swapped[link] = true;
	for (i = 0; ok && i < c->n_chain; i++) {
		const struct to_link *l = &c->links[c->chain[i]];
		uint32_t is = c->colour[c->chain[i]];

		ok = crossconnect_relieve(c, TRANSMIT, l->a.server, is, colour ^ other ^ is) &&
		     crossconnect_relieve(c, RECEIVE, l->b.server, is, colour ^ other ^ is);
	}
	for (i = 0; i < c->n_chain; i++)
		c->swapped[c->chain[i]] = false;
	while (!ok && c->n_chain > 1) {
		next = c->chain[--c->n_chain];
		crossconnect_swap(c, next, colour ^ other ^ c->colour[next]);
	}
	return ok;
}

/*
 * A colour that both ends have left, else one that one end has left: links of the
 * other end make way, along a chain that takes the colour which that end has left.
 */
static bool crossconnect_paint(struct colouring *c, uint32_t link)
{
	const struct to_link *l = &c->links[link];
	uint32_t from, to;
	/* a ring stays on the switch it began on: Figure 7 of the paper */
	uint32_t first = link && l->ring >= 0 && l[-1].ring == l->ring ? c->colour[link - 1] : 0;

	if (first == NO_COLOUR)
		first = 0;
	for (from = 0; from < c->n_colours; from++) {
		to = (first + from) % c->n_colours;
		if (crossconnect_fits(c, link, to))
			goto found;
	}
	for (from = 0; from < c->n_colours; from++) {
		if (*crossconnect_left(c, TRANSMIT, l->a.server, from) <= 0)
			continue;
		for (to = 0; to < c->n_colours; to++) {
			if (to == from || *crossconnect_left(c, RECEIVE, l->b.server, to) <= 0)
				continue;
			c->colour[link] = from;
			crossconnect_use(c, link, from, 1);
			if (crossconnect_settle(c, link, to))
				return true;
			crossconnect_swap(c, link, to);
			if (crossconnect_settle(c, link, from))
				return true;
			c->colour[link] = NO_COLOUR;
			crossconnect_use(c, link, to, -1);
		}
	}
	return false;
found:
	c->colour[link] = to;
	crossconnect_use(c, link, to, 1);
	return true;
}

/* The @wanted-th usable port, else the first, of those left with a colour. */
static uint32_t crossconnect_take(const struct colouring *c, bool *used, uint32_t server,
				  uint32_t colour, unsigned int wanted)
{
	unsigned int n = crossconnect_ports(c, server), port;

	used += (size_t)server * c->degree;
	if (wanted >= n || used[wanted] || crossconnect_colour(c, server, wanted) != colour) {
		for (port = 0; port < n; port++)
			if (!used[port] && crossconnect_colour(c, server, port) == colour)
				break;
		wanted = port;
	}
	used[wanted] = true;
	return wanted;
}

/*
 * Rings come out alike on every server: forward through one port, backward
 * through the next.
 */
static int crossconnect_take_all(struct colouring *c)
{
	unsigned int n = c->cluster->n_servers, i;
	bool duplex = c->left[TRANSMIT] == c->left[RECEIVE];
	bool *used = calloc(2 * (size_t)n * c->degree, sizeof(*used));
	bool *receive = duplex ? used : used + (size_t)n * c->degree;
	unsigned int *taken = calloc(2 * (size_t)n, sizeof(*taken));
	unsigned int *base = taken ? taken + n : NULL;
	int ring = -1;

	if (!used || !taken) {
		free(used);
		free(taken);
		return -ENOMEM;
	}
	for (i = 0; i < c->n_links; i++) {
		struct to_link *l = &c->links[i];
		const unsigned int *wanted = l->ring < 0 ? taken : base;

		if (l->ring >= 0 && l->ring != ring) {
			ring = l->ring;
			memcpy(base, taken, n * sizeof(*base));
		}
		l->a.port = crossconnect_take(c, used, l->a.server, c->colour[i],
					      wanted[l->a.server]);
		l->b.port = crossconnect_take(c, receive, l->b.server, c->colour[i],
					      wanted[l->b.server] + (l->ring >= 0 && duplex));
		taken[l->a.server]++;
		if (duplex)
			taken[l->b.server]++;
	}
	free(used);
	free(taken);
	return 0;
}

static int crossconnect_init(struct colouring *c, enum to_link_mode mode)
{
	const struct to_cluster *cluster = c->cluster;
	size_t cells = (size_t)cluster->n_servers * c->n_colours;
	bool simplex = mode == TO_LINKS_SIMPLEX;
	uint32_t server, port;

	c->graph = to_graph_new(cluster->n_servers, c->links, c->n_links, mode);
	c->colour = malloc((c->n_links + 1) * sizeof(*c->colour));
	c->chain = calloc(c->n_links + 1, sizeof(*c->chain));
	c->swapped = calloc(c->n_links + 1, sizeof(*c->swapped));
	c->left[TRANSMIT] = calloc(cells, sizeof(int));
	c->left[RECEIVE] = simplex ? calloc(cells, sizeof(int)) : c->left[TRANSMIT];
	if (!c->graph || !c->colour || !c->chain || !c->swapped || !c->left[TRANSMIT] ||
	    !c->left[RECEIVE])
		return -ENOMEM;
	memset(c->colour, 0xff, c->n_links * sizeof(*c->colour));
	for (server = 0; server < cluster->n_servers; server++) {
		for (port = 0; port < crossconnect_ports(c, server); port++) {
			uint32_t colour = crossconnect_colour(c, server, port);

			++*crossconnect_left(c, TRANSMIT, server, colour);
			if (simplex)
				++*crossconnect_left(c, RECEIVE, server, colour);
		}
	}
	return 0;
}

static void crossconnect_free(struct colouring *c)
{
	to_graph_free(c->graph);
	free(c->colour);
	free(c->chain);
	free(c->swapped);
	if (c->left[RECEIVE] != c->left[TRANSMIT])
		free(c->left[RECEIVE]);
	free(c->left[TRANSMIT]);
}

static int crossconnect_unfit(const struct colouring *c, uint32_t link, struct to_error *err)
{
	const struct to_cluster *cluster = c->cluster;
	const struct to_link *l = &c->links[link];

	return to_error_set(err, -ENOSPC, "no optical switch has a free port of %s and one of %s%s",
			    cluster->servers[l->a.server].name, cluster->servers[l->b.server].name,
			    cluster->link_mode == TO_LINKS_DUPLEX ?
			    ": duplex links want all ports of a job on one switch" :
			    ": simplex links want port q of every server on switch q");
}

/* Return: as to_crossconnect_assign(), with the link that did not fit in @unfit. */
static int crossconnect_assign(const struct to_cluster *cluster, struct to_link *links,
			       unsigned int n_links, unsigned int degree, uint32_t *unfit,
			       struct to_error *err)
{
	struct colouring c = { .cluster = cluster, .links = links, .n_links = n_links,
			       .degree = degree, .n_colours = cluster->n_switches + 1 };
	int ret = crossconnect_init(&c, cluster->link_mode);
	uint32_t i;

	for (i = 0; !ret && i < n_links; i++) {
		if (crossconnect_paint(&c, i))
			continue;
		ret = crossconnect_unfit(&c, i, err);
		*unfit = i;
	}
	if (!ret)
		ret = crossconnect_take_all(&c);
	crossconnect_free(&c);
	return ret;
}

int to_crossconnect_assign(const struct to_cluster *cluster,
			   struct to_link *links, unsigned int n_links,
			   unsigned int degree, struct to_error *err)
{
	uint32_t unfit;

	return crossconnect_assign(cluster, links, n_links, degree, &unfit, err);
}

int to_crossconnect_assign_most(const struct to_cluster *cluster,
				struct to_link *links, unsigned int *n_links,
				unsigned int degree, struct to_error *err)
{
	struct to_link *l;
	uint32_t unfit;
	int ret;

	for (;;) {
		ret = crossconnect_assign(cluster, links, *n_links, degree, &unfit, err);
		if (ret != -ENOSPC)
			return ret;
		l = &links[unfit];
		if (l->use != TO_LINK_MP || l->ring >= 0 || l->tree >= 0)
			return ret;
		memmove(l, l + 1, (--*n_links - unfit) * sizeof(*l));
	}
}

/*
 * Links of one pair of servers are alike: a group. As many of them stay on a
 * switch as there are on it both before and after.
 */
struct moving {
	struct colouring c;
	uint32_t *order;	/* links by group */
	uint32_t *group;	/* per link */
	unsigned int *now;	/* links before, [group * n_colours + colour] */
	unsigned int *then;	/* and after */
	unsigned int *rest;	/* links that may stay of those from a place in @order on */
	unsigned int kept, best_kept, steps;
	uint32_t *best;		/* colours that keep most so far */
};

/* Duplex links have no direction: the lower server first. */
static void crossconnect_ends(const struct to_link *l, bool duplex, uint32_t ends[2])
{
	bool turn = duplex && l->b.server < l->a.server;

	ends[turn] = l->a.server;
	ends[!turn] = l->b.server;
}

static int crossconnect_compare(const struct to_link *x, const struct to_link *y, bool duplex)
{
	uint32_t p[2], q[2];

	crossconnect_ends(x, duplex, p);
	crossconnect_ends(y, duplex, q);
	if (p[0] != q[0])
		return p[0] < q[0] ? -1 : 1;
	return (p[1] > q[1]) - (p[1] < q[1]);
}

struct crossconnect_list {
	const struct to_link *links;
	bool duplex;
};

static int crossconnect_before(const void *a, const void *b, void *data)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct crossconnect_list *list = data;
	int order = crossconnect_compare(&list->links[x], &list->links[y], list->duplex);

	return order ? order : (x > y) - (x < y);
}

/* Indices of links by their servers, to be freed. NULL when out of memory. */
static uint32_t *crossconnect_order(const struct to_link *links, unsigned int n, bool duplex)
{
	struct crossconnect_list list = { links, duplex };
	uint32_t *order = calloc(n + 1, sizeof(*order)), i;

	for (i = 0; order && i < n; i++)
		order[i] = i;
	if (order)
		qsort_r(order, n, sizeof(*order), crossconnect_before, &list);
	return order;
}

static bool crossconnect_is_duplex(const struct moving *m)
{
	return m->c.cluster->link_mode == TO_LINKS_DUPLEX;
}

static uint32_t crossconnect_link_colour(const struct moving *m, const struct to_link *l)
{
	return crossconnect_colour(&m->c, l->a.server, l->a.port);
}

/* Put a link of @group on a colour, or take it off when @links is -1. */
static void crossconnect_place(struct moving *m, uint32_t link, uint32_t colour, int links)
{
	size_t at = (size_t)m->group[link] * m->c.n_colours + colour;

	if (links > 0)
		m->kept += m->then[at]++ < m->now[at];
	else
		m->kept -= --m->then[at] < m->now[at];
}

/* Groups, and what was there of them; @before are the present links. */
static void crossconnect_groups(struct moving *m, const struct to_link *now, unsigned int n_now,
				const uint32_t *before)
{
	const struct to_link *links = m->c.links;
	bool duplex = crossconnect_is_duplex(m);
	unsigned int n = m->c.n_links, group = 0, in_group = 0, stay = 0, at = 0, i;

	for (i = 0; i < n; i++) {
		const struct to_link *l = &links[m->order[i]];

		group += i && crossconnect_compare(&links[m->order[i - 1]], l, duplex);
		m->group[m->order[i]] = group;
		while (at < n_now && crossconnect_compare(&now[before[at]], l, duplex) < 0)
			at++;
		for (; at < n_now && !crossconnect_compare(&now[before[at]], l, duplex); at++)
			m->now[(size_t)group * m->c.n_colours +
			       crossconnect_link_colour(m, &now[before[at]])]++;
	}
	for (i = n; i--;) {
		unsigned int colour, had = 0;

		group = m->group[m->order[i]];
		if (i + 1 == n || m->group[m->order[i + 1]] != group) {
			stay = m->rest[i + 1];
			in_group = 0;
		}
		for (colour = 1; colour < m->c.n_colours; colour++)
			had += m->now[(size_t)group * m->c.n_colours + colour];
		in_group++;
		m->rest[i] = stay + (in_group < had ? in_group : had);
	}
}

/* @link begins on a switch where it was, if it fits there. */
static bool crossconnect_return(struct moving *m, uint32_t link)
{
	struct colouring *c = &m->c;
	uint32_t colour;

	for (colour = 1; colour < c->n_colours; colour++) {
		size_t at = (size_t)m->group[link] * c->n_colours + colour;

		if (m->then[at] >= m->now[at] || !crossconnect_fits(c, link, colour))
			continue;
		c->colour[link] = colour;
		crossconnect_use(c, link, colour, 1);
		crossconnect_place(m, link, colour, 1);
		return true;
	}
	return false;
}

/* Links with ports are on the switches of these. */
static void crossconnect_begin_ports(struct moving *m)
{
	struct colouring *c = &m->c;
	uint32_t link, colour;

	for (link = 0; link < c->n_links; link++) {
		if (c->links[link].a.port == TO_PORT_NONE)
			continue;
		colour = crossconnect_link_colour(m, &c->links[link]);
		if (!crossconnect_fits(c, link, colour))
			continue;
		c->colour[link] = colour;
		crossconnect_use(c, link, colour, 1);
		crossconnect_place(m, link, colour, 1);
	}
}

/*
 * Where links were, as far as it goes; then all others. With @unfit, which gets
 * those that do not fit, every link finds its place before those after it.
 * Return: 0, or -ENOSPC with the first that does not fit in @first.
 */
static int crossconnect_begin(struct moving *m, bool *unfit, uint32_t *first)
{
	struct colouring *c = &m->c;
	uint32_t i, link;

	*first = NO_LINK;
	if (unfit)
		crossconnect_begin_ports(m);
	for (i = 0; !unfit && i < c->n_links; i++)
		crossconnect_return(m, m->order[i]);
	for (link = 0; link < c->n_links; link++) {
		if (c->colour[link] != NO_COLOUR || (unfit && crossconnect_return(m, link)) ||
		    crossconnect_paint(c, link))
			continue;
		if (*first == NO_LINK)
			*first = link;
		if (!unfit)
			break;
		unfit[link] = true;
	}
	if (*first != NO_LINK)
		return -ENOSPC;
	memset(m->then, 0, (size_t)(c->n_links + 1) * c->n_colours * sizeof(*m->then));
	m->kept = 0;
	for (link = 0; link < c->n_links; link++)
		crossconnect_place(m, link, c->colour[link], 1);
	return 0;
}

/* Exchange two colours along a chain from @link, if more links stay then. */
static bool crossconnect_gain(struct moving *m, uint32_t link, uint32_t colour)
{
	struct colouring *c = &m->c;
	uint32_t was = c->colour[link];
	unsigned int kept = m->kept, i;

	crossconnect_swap(c, link, colour);
	if (!crossconnect_settle(c, link, was)) {
		crossconnect_swap(c, link, was);
		return false;
	}
	for (i = 0; i < c->n_chain; i++) {
		uint32_t is = c->colour[c->chain[i]];

		crossconnect_place(m, c->chain[i], was ^ colour ^ is, -1);
		crossconnect_place(m, c->chain[i], is, 1);
	}
	if (m->kept > kept)
		return true;
	for (i = 0; i < c->n_chain; i++) {
		uint32_t is = c->colour[c->chain[i]];

		crossconnect_place(m, c->chain[i], is, -1);
		crossconnect_swap(c, c->chain[i], was ^ colour ^ is);
		crossconnect_place(m, c->chain[i], was ^ colour ^ is, 1);
	}
	return false;
}

static void crossconnect_climb(struct moving *m)
{
	uint32_t link, colour;
	bool better = true;

	while (better && m->kept < m->rest[0]) {
		better = false;
		for (link = 0; link < m->c.n_links; link++) {
			for (colour = 1; colour < m->c.n_colours; colour++) {
				size_t at = (size_t)m->group[link] * m->c.n_colours + colour;

				if (colour != m->c.colour[link] && m->then[at] < m->now[at])
					better |= crossconnect_gain(m, link, colour);
			}
		}
	}
}

/* Branch and bound over the colours of the links from place @at on. */
static void crossconnect_search(struct moving *m, unsigned int at)
{
	struct colouring *c = &m->c;
	uint32_t link = m->order[at], colour;

	if (m->kept + m->rest[at] <= m->best_kept || !m->steps)
		return;
	m->steps--;
	if (at == c->n_links) {
		m->best_kept = m->kept;
		memcpy(m->best, c->colour, c->n_links * sizeof(*m->best));
		return;
	}
	for (colour = 1; colour < c->n_colours; colour++) {
		if (!crossconnect_fits(c, link, colour))
			continue;
		c->colour[link] = colour;
		crossconnect_use(c, link, colour, 1);
		crossconnect_place(m, link, colour, 1);
		crossconnect_search(m, at + 1);
		crossconnect_place(m, link, colour, -1);
		crossconnect_use(c, link, colour, -1);
	}
}

/* The colours that keep most links, as far as the search goes. */
static void crossconnect_keep_most(struct moving *m)
{
	struct colouring *c = &m->c;
	uint32_t link;

	crossconnect_climb(m);
	if (m->kept == m->rest[0])
		return;
	memcpy(m->best, c->colour, c->n_links * sizeof(*m->best));
	m->best_kept = m->kept;
	for (link = 0; link < c->n_links; link++) {
		crossconnect_use(c, link, c->colour[link], -1);
		crossconnect_place(m, link, c->colour[link], -1);
	}
	m->steps = CROSSCONNECT_STEPS;
	crossconnect_search(m, 0);
	memcpy(c->colour, m->best, c->n_links * sizeof(*m->best));
}

/* Links that stay get the ports they had, then all others any that are left. */
static int crossconnect_stay(struct moving *m, const struct to_link *now, unsigned int n_now,
			     const uint32_t *before)
{
	struct colouring *c = &m->c;
	size_t ports = (size_t)c->cluster->n_servers * c->degree;
	bool duplex = crossconnect_is_duplex(m), *used = calloc(2 * ports + 1, sizeof(*used));
	bool *receive = duplex ? used : used + ports;
	unsigned int i, k, first = 0;

	if (!used)
		return -ENOMEM;
	for (i = 0; i < c->n_links; i++)
		c->links[i].a.port = TO_PORT_NONE;
	for (i = 0; i < n_now; i++) {
		const struct to_link *was = &now[before[i]];
		struct to_link *l = NULL;

		while (first < c->n_links &&
		       crossconnect_compare(&c->links[m->order[first]], was, duplex) < 0)
			first++;
		for (k = first; k < c->n_links; k++) {
			l = &c->links[m->order[k]];
			if (crossconnect_compare(l, was, duplex) ||
			    (l->a.port == TO_PORT_NONE &&
			     c->colour[m->order[k]] == crossconnect_link_colour(m, was)))
				break;
		}
		if (k == c->n_links || crossconnect_compare(l, was, duplex))
			continue;
		l->a.port = l->a.server == was->a.server ? was->a.port : was->b.port;
		l->b.port = l->a.server == was->a.server ? was->b.port : was->a.port;
		used[l->a.server * (size_t)c->degree + l->a.port] = true;
		receive[l->b.server * (size_t)c->degree + l->b.port] = true;
	}
	for (i = 0; i < c->n_links; i++) {
		struct to_link *l = &c->links[i];

		if (l->a.port != TO_PORT_NONE)
			continue;
		l->a.port = crossconnect_take(c, used, l->a.server, c->colour[i], TO_PORT_NONE);
		l->b.port = crossconnect_take(c, receive, l->b.server, c->colour[i], TO_PORT_NONE);
	}
	free(used);
	return 0;
}

/* New links are made on switches only: ports on none are not there. */
static void crossconnect_hide(struct colouring *c)
{
	uint32_t x;

	for (x = 0; x < c->cluster->n_servers; x++)
		*crossconnect_left(c, TRANSMIT, x, 0) = *crossconnect_left(c, RECEIVE, x, 0) = 0;
}

/*
 * @unfit: gets the links that do not fit; NULL to end at the first
 * Return: as to_crossconnect_reassign().
 */
static int crossconnect_reassign(const struct to_cluster *cluster, const struct to_link *now,
				 unsigned int n_now, struct to_link *links, unsigned int n_links,
				 bool *unfit, struct to_error *err)
{
	struct moving m = { .c = { .cluster = cluster, .links = links, .n_links = n_links,
				   .degree = TO_PORTS_MAX, .n_colours = cluster->n_switches + 1 } };
	size_t cells = (size_t)(n_links + 1) * m.c.n_colours;
	uint32_t *before, first;
	int ret = crossconnect_init(&m.c, cluster->link_mode);

	before = crossconnect_order(now, n_now, crossconnect_is_duplex(&m));
	m.order = crossconnect_order(links, n_links, crossconnect_is_duplex(&m));
	m.group = calloc(n_links + 1, sizeof(*m.group));
	m.best = calloc(n_links + 1, sizeof(*m.best));
	m.rest = calloc(n_links + 1, sizeof(*m.rest));
	m.now = calloc(2 * cells, sizeof(*m.now));
	m.then = m.now + cells;
	if (!before || !m.order || !m.group || !m.best || !m.rest || !m.now)
		ret = -ENOMEM;
	if (!ret) {
		crossconnect_hide(&m.c);
		crossconnect_groups(&m, now, n_now, before);
		ret = crossconnect_begin(&m, unfit, &first);
		if (ret)
			crossconnect_unfit(&m.c, first, err);
	}
	if (!ret) {
		crossconnect_keep_most(&m);
		ret = crossconnect_stay(&m, now, n_now, before);
	}
	crossconnect_free(&m.c);
	free(before);
	free(m.order);
	free(m.group);
	free(m.best);
	free(m.rest);
	free(m.now);
	return ret;
}

int to_crossconnect_reassign(const struct to_cluster *cluster, const struct to_link *now,
			     unsigned int n_now, struct to_link *links, unsigned int n_links,
			     struct to_error *err)
{
	return crossconnect_reassign(cluster, now, n_now, links, n_links, NULL, err);
}

int to_crossconnect_reassign_most(const struct to_cluster *cluster, const struct to_link *now,
				  unsigned int n_now, struct to_link *links, unsigned int n_needed,
				  unsigned int *n_links, struct to_error *err)
{
	bool *unfit = calloc(*n_links + 1, sizeof(*unfit));
	unsigned int i, n;
	int ret;

	if (!unfit)
		return -ENOMEM;
	for (;;) {
		ret = crossconnect_reassign(cluster, now, n_now, links, *n_links, unfit, err);
		if (ret != -ENOSPC)
			break;
		for (i = n = 0; i < *n_links && (i >= n_needed || !unfit[i]); i++)
			if (!unfit[i])
				links[n++] = links[i];
		if (i < *n_links)
			break;
		*n_links = n;
		memset(unfit, 0, i * sizeof(*unfit));
	}
	free(unfit);
	return ret;
}
