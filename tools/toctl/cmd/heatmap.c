// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/command.h"
#include "cli/large.h"
#include "data/allreduce.h"
#include "data/plan.h"
#include "data/tm.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "heatmap.h"
#include "routing/link_loads.h"

struct heatmap_args {
	const char *output;
	bool load, large;
};

static const struct to_option heatmap_options[] = {
	{ .name = "output", .letter = 'o', .type = TO_OPTION_OUTPUT, .argument = "FILE",
	  .offset = offsetof(struct heatmap_args, output),
	  .help = "SVG image to write; default: text on the terminal" },
	{ .name = "load", .offset = offsetof(struct heatmap_args, load),
	  .help = "draw the load of links: predicted by a plan, or measured" },
	TO_LARGE_OPTION(offsetof(struct heatmap_args, large)),
	{}
};

/* Room for @n servers; to_heatmap.bytes and names are for free(). */
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

/* Each draws from one format; what they return is for the format's owner. */

static int heatmap_from_plan(struct to_heatmap *map, const struct to_plan *plan,
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

static int heatmap_from_job(struct to_heatmap *map, const struct to_demand *d)
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

static int heatmap_from_tm(struct to_heatmap *map, const struct to_tm *tm, bool load)
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

static int heatmap_print_json(const struct to_heatmap *map)
{
	printf("{\"title\": ");
	to_json_print_string(stdout, map->title);
	printf(",\n\"servers\": ");
	if (!map->names)
		printf("%u", map->n);
	for (unsigned int i = 0; map->names && i < map->n; i++)
		printf("%s\"%s\"%s", i ? ", " : "[", map->names[i],
		       i + 1 < map->n ? "" : "]");
	printf(",\n\"bytes\": [");
	for (size_t i = 0; i < map->n; i++) {
		printf("%s\n[", i ? "," : "");
		for (size_t j = 0; j < map->n; j++)
			printf("%s%llu", j ? ", " : "",
			       (unsigned long long)map->bytes[i * map->n + j]);
		printf("]");
	}
	printf("]}\n");
	return 0;
}

static int heatmap_write_svg(FILE *out, const void *map, struct to_error *err)
{
	int ret = to_heatmap_svg(out, map);

	return ret ? to_error_set(err, ret, "out of memory") : 0;
}

static int heatmap_show(struct to_call *call, const struct heatmap_args *args,
			const struct to_heatmap *map)
{
	bool terminal = isatty(STDOUT_FILENO);
	struct winsize size = {};

	if (args->output)
		return to_file_write(args->output, heatmap_write_svg, map, &call->err);
	if (call->json)
		return heatmap_print_json(map);
	if (!terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		size.ws_col = 152;	/* 64 cells */
	to_heatmap_text(stdout, map, size.ws_col, terminal && !getenv("NO_COLOR"));
	return 0;
}

enum heatmap_format { HEATMAP_JOB, HEATMAP_PLAN, HEATMAP_TM };

/* The "format" of the file at @data, or a negative errno; a job may leave it out. */
static int heatmap_format(const char *data, size_t len, const char *name, struct to_error *err)
{
	static const char *const formats[] = { "topoopt-job", "topoopt-plan", "topoopt-tm", NULL };
	struct to_json_doc doc;
	struct to_json at, member;
	int ret;

	ret = to_json_open_deferred(&doc, &at, data, len, name, "tables", NULL, err);
	if (!ret) {
		member = to_json_member(&at, "format");
		if (member.value)
			ret = to_json_choice(&member, formats);
	}
	to_json_close(&doc);
	return ret;
}

static int heatmap_draw(struct to_call *call, const struct heatmap_args *args,
			const char *data, size_t len)
{
	const char *path = call->operands[0];
	struct to_demand *demand = NULL;
	struct to_plan *plan = NULL;
	struct to_heatmap map = {};
	int ret = -EINVAL, format = heatmap_format(data, len, path, &call->err);
	struct to_tm *tm = NULL;

	if (format < 0)
		return format;
	if (format == HEATMAP_PLAN) {
		plan = to_plan_parse(data, len, path, &call->err);
		if (plan)
			ret = heatmap_from_plan(&map, plan, args->load);
	} else if (format == HEATMAP_TM) {
		tm = to_tm_parse(data, len, path, NULL, &call->err);
		if (tm && args->load && tm->server != TO_TM_FABRIC)
			to_error_set(&call->err, 0,
				     "%s: a recording of %s alone has no link load: merge first",
				     path, tm->servers[tm->server]);
		else if (tm && !to_large_check(path, tm->n_servers, args->large, &call->err))
			ret = heatmap_from_tm(&map, tm, args->load);
	} else if (args->load) {
		to_error_set(&call->err, 0, "%s: only a plan or a traffic matrix has link loads",
			     path);
	} else {
		demand = to_demand_parse(data, len, path, to_large_most(args->large), &call->err);
		if (demand)
			ret = heatmap_from_job(&map, demand);
	}
	if (ret == -ENOMEM)
		to_error_set(&call->err, ret, "out of memory");
	if (!ret)
		ret = heatmap_show(call, args, &map);
	free(map.bytes);
	free(map.names);
	to_tm_free(tm);
	to_plan_free(plan);
	to_demand_free(demand);
	return ret;
}

static int heatmap_run(struct to_call *call, const void *args)
{
	char *data;
	size_t len;
	int ret;

	ret = to_file_read(call->operands[0], TO_FILE_RECORDING_MAX, &data, &len, &call->err);
	if (ret)
		return ret;
	ret = heatmap_draw(call, args, data, len);
	free(data);
	return ret;
}

const struct to_command to_cmd_heatmap = {
	.name = "heatmap",
	.summary = "Draw traffic or link load as a heat map",
	.operands = "TM|JOB|PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = heatmap_options,
	.args_size = sizeof(struct heatmap_args),
	.run = heatmap_run,
};
