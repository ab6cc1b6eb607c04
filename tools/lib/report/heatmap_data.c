// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/heatmap_data.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "routing/link_loads.h"

/* Make room for @n servers. */
static int heatmap_init(struct to_heatmap *map, unsigned int n)
{
	map->n = n;
	map->bytes = calloc((size_t)n * n, sizeof(*map->bytes));
	map->names = calloc(n, sizeof(*map->names));
	return map->bytes && map->names ? 0 : -ENOMEM;
}

/* A job has no rings yet: take the order in which a group lists its servers. */
static void heatmap_add_group(struct to_heatmap *map, const struct to_demand *d,
			      unsigned int group)
{
	struct to_ring ring = {
		.group = group, .jump = 1, .n = d->groups[group].n_members,
		.order = d->groups[group].members };
	struct to_rings rings = { .layout = { .n_rings = 1, .rings = &ring }, .demand = d };

	to_allreduce_add(&rings, 1, map->bytes);
}

static void heatmap_add_mp(struct to_heatmap *map, const struct to_demand *d)
{
	memcpy(map->bytes, d->mp, (size_t)d->n * d->n * sizeof(*d->mp));
}

static int heatmap_add_load(struct to_heatmap *map, const struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;
	struct to_graph *graph = to_graph_new(c->n_servers, c->links, c->n_links,
					      c->link_mode);
	double *rings = NULL, *mp = NULL;
	struct to_forwarding f = {};
	int ret = -ENOMEM;

	if (graph) {
		rings = calloc(graph->n_arcs + 1, sizeof(*rings));
		mp = calloc(graph->n_arcs + 1, sizeof(*mp));
		ret = to_forwarding_init(&f, plan, graph);
		if (!ret && rings && mp)
			ret = to_link_loads(&f, rings, mp);
		else
			ret = -ENOMEM;
		for (uint32_t a = 0; a < graph->n_arcs && !ret; a++)
			map->bytes[(size_t)graph->from[a] * map->n + graph->to[a]] +=
				llround(rings[a] + mp[a]);
		to_forwarding_free(&f);
	}
	free(rings);
	free(mp);
	to_graph_free(graph);
	return ret;
}

int to_heatmap_data_of_plan(struct to_heatmap *map, const struct to_plan *plan,
			     bool load)
{
	struct to_rings rings = to_allreduce_of(plan);
	int ret = heatmap_init(map, plan->cluster->n_servers);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < map->n; i++)
		map->names[i] = plan->cluster->servers[i].name;
	snprintf(map->title, sizeof(map->title), "%s: %s, bytes per iteration",
		 plan->demand->name, load ? "predicted link load" : "demand");
	if (load)
		return heatmap_add_load(map, plan);
	heatmap_add_mp(map, plan->demand);
	to_allreduce_add(&rings, 1, map->bytes);
	return 0;
}

int to_heatmap_data_of_job(struct to_heatmap *map, const struct to_demand *d)
{
	int ret = heatmap_init(map, d->n);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < map->n && d->names; i++)
		map->names[i] = d->names[i];
	if (!d->names) {
		free(map->names);
		map->names = NULL;
	}
	snprintf(map->title, sizeof(map->title), "%s: demand, bytes per iteration",
		 d->name);
	heatmap_add_mp(map, d);
	for (unsigned int g = 0; g < d->n_groups; g++)
		heatmap_add_group(map, d, g);
	return 0;
}

int to_heatmap_data_of_tm(struct to_heatmap *map, const struct to_tm *tm, bool load)
{
	int ret = heatmap_init(map, tm->n_servers);
	double seconds = 0;

	if (ret)
		return ret;
	for (unsigned int s = 0; s < tm->n_samples; s++)
		seconds += tm->samples[s].elapsed_ns * 1e-9;
	for (unsigned int i = 0; i < map->n; i++)
		map->names[i] = tm->servers[i];
	snprintf(map->title, sizeof(map->title), "%s: measured%s, bytes in %.3g s",
		 tm->job, load ? " link load" : "", seconds);
	if (!load) {
		to_tm_matrix(tm, -1, -1, TO_TM_ALL, map->bytes);
		return 0;
	}
	for (unsigned int s = 0; s < tm->n_samples; s++)
		for (unsigned int l = 0; l < tm->n_links; l++)
			map->bytes[(size_t)tm->links[l].from.server * map->n +
				   tm->links[l].to.server] +=
				tm->samples[s].links[l].carried;
	return 0;
}

void to_heatmap_data_free(struct to_heatmap *map)
{
	free(map->bytes);
	free(map->names);
}
