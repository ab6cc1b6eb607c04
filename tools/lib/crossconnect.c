// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Switches are the colours of an edge colouring in which a server may use a
 * colour as often as it has ports on that switch. Ports on no switch can be
 * joined by hand in any way: colour 0. Switch i is colour i + 1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "crossconnect.h"
#include "graph.h"

#define NO_COLOUR UINT32_MAX

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

/*
 * Make colour @from free at the receiving end of @link by swapping @from and
 * @to along a chain of links that starts there (Kempe). Undone when that does
 * not help.
 */
static bool crossconnect_chain(struct colouring *c, uint32_t link, uint32_t from, uint32_t to)
{
	uint32_t x = c->links[link].b.server, free_it = from, put = to, next;
	enum side side = RECEIVE;

	c->n_chain = 0;
	for (;;) {
		next = crossconnect_find(c, side, x, free_it);
		if (next == NO_COLOUR)
			break;
		crossconnect_swap(c, next, put);
		c->swapped[next] = true;
		c->chain[c->n_chain++] = next;
		if (c->links[next].a.server == x && side == TRANSMIT) {
			x = c->links[next].b.server;
			side = RECEIVE;
		} else if (c->links[next].b.server == x && side == RECEIVE) {
			x = c->links[next].a.server;
			side = TRANSMIT;
		} else {
			/* duplex: found from its other end, sides are the same */
			x = c->links[next].a.server == x ? c->links[next].b.server
							 : c->links[next].a.server;
		}
		if (*crossconnect_left(c, side, x, put) >= 0)
			break;
		next = free_it;
		free_it = put;
		put = next;
	}
	for (next = 0; next < c->n_chain; next++)
		c->swapped[c->chain[next]] = false;
	if (*crossconnect_left(c, side, x, put) >= 0 && crossconnect_fits(c, link, from))
		return true;
	while (c->n_chain) {
		next = c->chain[--c->n_chain];
		crossconnect_swap(c, next, c->colour[next] == from ? to : from);
	}
	return false;
}

static bool crossconnect_paint(struct colouring *c, uint32_t link)
{
	const struct to_link *l = &c->links[link];
	uint32_t from, to;
	/* a ring stays on the switch it began on: Figure 7 of the paper */
	uint32_t first = link && l->ring >= 0 && l[-1].ring == l->ring ? c->colour[link - 1] : 0;

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
			if (crossconnect_chain(c, link, from, to)) {
				to = from;
				goto found;
			}
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

int to_crossconnect_assign(const struct to_cluster *cluster,
			   struct to_link *links, unsigned int n_links,
			   unsigned int degree, struct to_error *err)
{
	struct colouring c = { .cluster = cluster, .links = links, .n_links = n_links,
			       .degree = degree, .n_colours = cluster->n_switches + 1 };
	int ret = crossconnect_init(&c, cluster->link_mode);
	unsigned int i;

	for (i = 0; !ret && i < n_links; i++)
		if (!crossconnect_paint(&c, i))
			ret = to_error_set(err, -ENOSPC,
					   "no optical switch has a free port of %s and one of %s%s",
					   cluster->servers[links[i].a.server].name,
					   cluster->servers[links[i].b.server].name,
					   cluster->link_mode == TO_LINKS_DUPLEX ?
					   ": duplex links want all ports of a job on one switch" : "");
	if (!ret)
		ret = crossconnect_take_all(&c);
	crossconnect_free(&c);
	return ret;
}

int to_crossconnect_fill(struct to_plan *plan, struct to_error *err)
{
	const struct to_cluster *cluster = plan->cluster;
	unsigned int i;

	free(plan->cross_connects);
	plan->n_cross_connects = 0;
	plan->cross_connects = calloc(cluster->n_links + 1, sizeof(*plan->cross_connects));
	if (!plan->cross_connects)
		return -ENOMEM;
	for (i = 0; i < cluster->n_links; i++) {
		const struct to_link *l = &cluster->links[i];
		const struct to_port *a = &cluster->servers[l->a.server].ports[l->a.port];
		const struct to_port *b = &cluster->servers[l->b.server].ports[l->b.port];

		if (a->optical_switch != b->optical_switch)
			return to_error_set(err, -EINVAL,
					    "link %s:%s - %s:%s joins ports that are not on one optical switch",
					    cluster->servers[l->a.server].name, a->name,
					    cluster->servers[l->b.server].name, b->name);
		if (a->optical_switch < 0)
			continue;
		plan->cross_connects[plan->n_cross_connects++] = (struct to_cross_connect){
			.optical_switch = a->optical_switch,
			.a = a->optical_port, .b = b->optical_port };
	}
	return 0;
}
