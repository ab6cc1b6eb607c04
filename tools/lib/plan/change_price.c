// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/change_price.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "data/demand.h"
#include "plan/rewire_steps.h"
#include "topology/topology.h"

/*
 * Seconds that the busiest of @links is busy with all bytes, INFINITY when they
 * do not join all servers. Return: 0 or -ENOMEM.
 */
static int change_price_darkness(const struct to_change_from *from, struct to_link *links,
				 unsigned int n_links, double *seconds)
{
	const struct to_cluster *c = from->cluster;
	struct to_demand all = { .n = c->n_servers, .mp = from->bytes };
	struct to_topology t = { .layout = { .links = links, .n_links = n_links } };
	struct to_graph *graph;
	int ret;

	for (unsigned int i = 0; i < n_links; i++)
		links[i].ring = links[i].tree = -1;
	graph = to_graph_new(c->n_servers, links, n_links, c->link_mode);
	ret = graph ? to_topology_rate(&t, c, &all, graph) : -ENOMEM;
	*seconds = ret ? INFINITY : t.time;
	to_graph_free(graph);
	return ret == -ENOMEM ? ret : 0;
}

/* Of the switch that joins @link, seconds that a change of it takes. */
static double change_price_switching(const struct to_cluster *c, const struct to_link *link)
{
	int at = c->servers[link->a.server].ports[link->a.port].optical_switch;

	return at < 0 ? 0 : c->switches[at].reconfiguration_ns * 1e-9;
}

/* What the steps to @links move and delay. Return: 0 or -ENOMEM. */
static int change_price_steps(const struct to_change_from *from, const struct to_link *links,
			      unsigned int n_links, const struct to_rewire_steps *steps,
			      struct to_change_price *price)
{
	const struct to_cluster *c = from->cluster;
	double pace = fmax(from->seconds, from->busy);
	double longest = 0, bytes = 0, slow = 0, dark;
	struct to_link *lit;
	unsigned int n_lit, i;
	int ret;

	for (i = 0; i < c->n_links; i++)
		if (steps->cut[i] < steps->n) {
			longest = fmax(longest, change_price_switching(c, &c->links[i]));
			price->cut++;
		}
	for (i = 0; i < n_links; i++)
		if (steps->made[i] < steps->n) {
			longest = fmax(longest, change_price_switching(c, &links[i]));
			price->made++;
		}
	for (i = 0; i < from->graph->n_arcs; i++)
		bytes += steps->cut[from->graph->link[i]] < steps->n ? from->load[i] : 0;
	dark = from->dark < 0 ? longest : from->dark;
	price->steps = steps->n;
	price->dark = steps->n * dark;
	price->delayed = steps->n ? bytes * dark / from->seconds : 0;
	if (!price->dark)
		return 0;
	/* the first step leaves the fewest links; where no steps are whole, the last none */
	if (steps->n > 1 || steps->whole) {
		lit = malloc((c->n_links + n_links + 1) * sizeof(*lit));
		if (!lit)
			return -ENOMEM;
		to_rewire_steps_links(steps, c, links, n_links, 0, lit, &n_lit);
		ret = change_price_darkness(from, lit, n_lit, &slow);
		free(lit);
		if (ret)
			return ret;
	}
	price->lost = dark * (!steps->whole + (steps->n - !steps->whole) *
					      (1 - pace / (pace + fmax(slow - from->busy, 0))));
	return 0;
}

int to_change_price(const struct to_change_from *from, const struct to_link *links,
		    unsigned int n_links, struct to_change_price *price)
{
	struct to_rewire_steps steps;
	int ret = to_rewire_steps_make(from->cluster, links, n_links, &steps);

	*price = (struct to_change_price){ 0 };
	if (ret)
		return ret;
	ret = change_price_steps(from, links, n_links, &steps, price);
	to_rewire_steps_free(&steps);
	return ret;
}
