// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/network.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct to_network *to_network_new(uint32_t n_servers, uint32_t n_switches)
{
	struct to_network *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->n_servers = n_servers;
	w->n_vertices = n_servers + n_switches;
	w->names = calloc(w->n_vertices, sizeof(*w->names));
	w->out = calloc(w->n_vertices + 1, sizeof(*w->out));
	if (!w->names || !w->out) {
		to_network_free(w);
		return NULL;
	}
	for (uint32_t x = 0; x < n_servers; x++)
		snprintf(w->names[x], sizeof(w->names[x]), "s%u", x);
	return w;
}

void to_network_free(struct to_network *w)
{
	if (!w)
		return;
	free(w->names);
	free(w->links);
	free(w->out);
	free(w->pcie_capacity);
	free(w->first_pcie);
	free(w->pcie);
	free(w);
}

void to_network_add(struct to_network *w, uint32_t from, uint32_t to, double capacity,
		    double latency)
{
	struct to_network_link *grown;

	if (w->failed)
		return;
	if (w->n_links == w->max_links) {
		grown = realloc(w->links, (2 * (size_t)w->max_links + 64) * sizeof(*grown));
		if (!grown) {
			w->failed = true;
			return;
		}
		w->links = grown;
		w->max_links = 2 * w->max_links + 64;
	}
	w->links[w->n_links++] = (struct to_network_link){ from, to, -1, capacity, latency };
}

void to_network_join(struct to_network *w, uint32_t a, uint32_t b, double capacity, double latency)
{
	to_network_add(w, a, b, capacity, latency);
	to_network_add(w, b, a, capacity, latency);
}

int to_network_finish(struct to_network *w)
{
	struct to_network_link *sorted = calloc(w->n_links + 1, sizeof(*sorted));
	uint32_t *at = calloc(w->n_vertices, sizeof(*at)), i, x;

	if (w->failed || !sorted || !at) {
		free(sorted);
		free(at);
		return -ENOMEM;
	}
	memset(w->out, 0, (w->n_vertices + 1) * sizeof(*w->out));
	for (i = 0; i < w->n_links; i++)
		w->out[w->links[i].from + 1]++;
	for (x = 0; x < w->n_vertices; x++) {
		w->out[x + 1] += w->out[x];
		at[x] = w->out[x];
	}
	for (i = 0; i < w->n_links; i++)
		sorted[at[w->links[i].from]++] = w->links[i];
	free(at);
	free(w->links);
	w->links = sorted;
	w->max_links = w->n_links;
	return 0;
}

/* Breadth-first from @dst against the links; @in: offsets, then links by the vertex entered. */
static void network_search(const struct to_network *w, uint32_t dst, const uint32_t *in,
			   const uint32_t *entering, uint32_t *queue, uint16_t *distance)
{
	uint32_t head = 0, tail = 0, i;

	memset(distance, 0xff, w->n_vertices * sizeof(*distance));
	distance[dst] = 0;
	queue[tail++] = dst;
	while (head < tail) {
		uint32_t y = queue[head++];

		for (i = in[y]; i < in[y + 1]; i++) {
			uint32_t x = w->links[entering[i]].from;

			if (distance[x] != TO_DISTANCE_NONE)
				continue;
			distance[x] = distance[y] + 1;
			queue[tail++] = x;
		}
	}
}

uint16_t *to_network_distances(const struct to_network *w)
{
	uint32_t *in = calloc(2 * (size_t)w->n_vertices + 1 + w->n_links, sizeof(*in));
	uint16_t *distance = calloc((size_t)w->n_servers * w->n_vertices, sizeof(*distance));
	uint32_t *entering = in + w->n_vertices + 1, *scratch = entering + w->n_links, i, x;

	if (!in || !distance) {
		free(in);
		free(distance);
		return NULL;
	}
	for (i = 0; i < w->n_links; i++)
		in[w->links[i].to + 1]++;
	for (x = 0; x < w->n_vertices; x++) {
		in[x + 1] += in[x];
		scratch[x] = in[x];
	}
	for (i = 0; i < w->n_links; i++)
		entering[scratch[w->links[i].to]++] = i;
	for (x = 0; x < w->n_servers; x++)
		network_search(w, x, in, entering, scratch, distance + (size_t)x * w->n_vertices);
	free(in);
	return distance;
}

/* The links that leave server @x. @out: per port on a packet switch, 1 + its link there. */
static void network_add_server(struct to_network *w, const struct to_graph *g,
			       const struct to_cluster *c, uint32_t x, double latency,
			       uint32_t *out, uint32_t (*links)[2])
{
	for (uint32_t a = g->out[x]; a < g->out[x + 1]; a++) {
		const struct to_port *port = &c->servers[x].ports[g->port[a]];
		uint32_t *known = &out[(size_t)x * TO_PORTS_MAX + g->port[a]];

		if (!port->packet_switch || !*known) {
			if (port->packet_switch)
				to_network_add(w, x, g->n + port->packet_switch - 1,
					       port->bandwidth / 8.0, latency);
			else
				to_network_add(w, x, g->to[a],
					       1 / to_graph_seconds_per_byte(g, c, a), latency);
			if (w->failed)
				return;
			w->links[w->n_links - 1].port = g->port[a];
			*known = w->n_links;
		}
		links[a][0] = *known - 1;
		links[a][1] = TO_NETWORK_LINK_NONE;
	}
}

/* The links that leave packet switches. @in: per port on one, 1 + its link from there. */
static void network_add_switches(struct to_network *w, const struct to_cluster *c, double latency,
				 uint32_t *in)
{
	for (uint32_t on = 1; on <= c->n_packet_switches; on++)
		for (uint32_t x = 0; x < c->n_servers; x++) {
			const int p = to_cluster_find_on(&c->servers[x], on);

			if (p < 0)
				continue;
			to_network_add(w, c->n_servers + on - 1, x,
				       c->servers[x].ports[p].bandwidth / 8.0, latency);
			in[(size_t)x * TO_PORTS_MAX + p] = w->n_links;
		}
}

/*
 * Append the PCIe links behind @port, in one direction, to w->pcie; count them while there is
 * none. @first: index of those of the server.
 */
static void network_list_pcie(struct to_network *w, const struct to_server *server, uint32_t first,
			      uint32_t port, bool to_host, uint32_t *count)
{
	for (unsigned int link = server->ports[port].pcie; link;
	     link = server->pcie[link - 1].within) {
		if (w->pcie)
			w->pcie[*count] = first + 2 * (link - 1) + to_host;
		++*count;
	}
}

/* All lists of PCIe links. @first: per server. @peer_port: per link. Return: their length. */
static uint32_t network_list_all(struct to_network *w, const struct to_cluster *c,
				 const uint32_t *first, const uint32_t *peer_port)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < w->n_links; i++) {
		const struct to_network_link *l = &w->links[i];

		w->first_pcie[i] = count;
		if (l->from < w->n_servers)
			network_list_pcie(w, &c->servers[l->from], first[l->from], l->port, false,
					  &count);
		if (l->to < w->n_servers)
			network_list_pcie(w, &c->servers[l->to], first[l->to], peer_port[i], true,
					  &count);
	}
	w->first_pcie[w->n_links] = count;
	return count;
}

/* PCIe links behind the ports of @c, and which of them each link crosses. Return: 0 or -ENOMEM. */
static int network_add_pcie(struct to_network *w, const struct to_graph *g,
			    const struct to_cluster *c, uint32_t (*links)[2])
{
	uint32_t *first = calloc((size_t)w->n_servers + w->n_links + 1, sizeof(*first)), x, a;
	uint32_t *peer_port = first ? first + w->n_servers : NULL;

	for (x = 0; first && x < w->n_servers; x++) {
		first[x] = w->n_pcie;
		w->n_pcie += 2 * c->servers[x].n_pcie;
	}
	if (!w->n_pcie) {
		free(first);
		return first ? 0 : -ENOMEM;
	}
	w->pcie_capacity = calloc(w->n_pcie, sizeof(*w->pcie_capacity));
	w->first_pcie = calloc((size_t)w->n_links + 1, sizeof(*w->first_pcie));
	for (x = 0; w->pcie_capacity && x < w->n_servers; x++)
		for (uint32_t i = 0; i < 2 * c->servers[x].n_pcie; i++) {
			const struct to_pcie_way way = { x, i / 2, i % 2 };

			w->pcie_capacity[first[x] + i] = to_pcie_way_rate(c, &way) / 8.0;
		}
	for (a = 0; a < g->n_arcs; a++) {
		const uint32_t last = links[a][1] == TO_NETWORK_LINK_NONE ? links[a][0] : links[a][1];

		peer_port[last] = g->peer_port[a];
	}
	if (w->pcie_capacity && w->first_pcie)
		w->pcie = calloc(network_list_all(w, c, first, peer_port) + 1, sizeof(*w->pcie));
	if (w->pcie)
		network_list_all(w, c, first, peer_port);
	free(first);
	return w->pcie ? 0 : -ENOMEM;
}

struct to_network *to_network_of_graph(const struct to_graph *g, const struct to_cluster *c,
				       double latency, uint32_t (*links)[2])
{
	struct to_network *w = to_network_new(g->n, c->n_packet_switches);
	uint32_t *of_port = calloc((size_t)g->n * TO_PORTS_MAX, sizeof(*of_port));

	if (!w || !of_port) {
		free(of_port);
		to_network_free(w);
		return NULL;
	}
	for (uint32_t x = 0; x < g->n; x++)
		memcpy(w->names[x], c->servers[x].name, sizeof(w->names[x]));
	for (uint32_t i = 0; i < c->n_packet_switches; i++)
		memcpy(w->names[g->n + i], c->packet_switches[i].name, sizeof(w->names[0]));
	for (uint32_t x = 0; x < g->n; x++)
		network_add_server(w, g, c, x, latency, of_port, links);
	network_add_switches(w, c, latency, of_port);
	for (uint32_t a = 0; a < g->n_arcs; a++)
		if (c->servers[g->from[a]].ports[g->port[a]].packet_switch)
			links[a][1] = of_port[(size_t)g->to[a] * TO_PORTS_MAX + g->peer_port[a]] - 1;
	free(of_port);
	/* they were added in the order that this keeps */
	if (to_network_finish(w) || network_add_pcie(w, g, c, links)) {
		to_network_free(w);
		return NULL;
	}
	return w;
}
