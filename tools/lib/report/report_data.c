// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report_data.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "format/plan_json.h"

void to_report_print_json(FILE *out, const json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT |
				JSON_REAL_PRECISION(13));

	for (const char *p = text ? text : "null"; *p; p++)
		if (*p == '<')	/* only in strings */
			fprintf(out, "\\u003c");
		else
			fputc(*p, out);
	free(text);
}

static void data_string(FILE *out, const char *text)
{
	json_t *string = json_string_nocheck(text);

	to_report_print_json(out, string);
	json_decref(string);
}

static void data_servers(FILE *out, const struct to_cluster *c)
{
	unsigned int i, k;

	fprintf(out, "\"servers\":[");
	for (i = 0; i < c->n_servers; i++) {
		fprintf(out, "%s\n{\"name\":", i ? "," : "");
		data_string(out, c->servers[i].name);
		fprintf(out, ",\"ports\":[");
		for (k = 0; k < c->servers[i].n_ports; k++) {
			fprintf(out, k ? "," : "");
			data_string(out, c->servers[i].ports[k].name);
		}
		fprintf(out, "]}");
	}
	fprintf(out, "],\n");
}

/* Links, each [server, port, server, port, use, ring, tree, bits/s]. */
static void data_links(FILE *out, const struct to_cluster *c)
{
	unsigned int i;

	fprintf(out, "\"uses\":[");
	for (i = 0; to_plan_link_uses[i]; i++)
		fprintf(out, "%s\"%s\"", i ? "," : "", to_plan_link_uses[i]);
	fprintf(out, "],\n\"links\":[");
	for (i = 0; i < c->n_links; i++)
		fprintf(out, "%s[%u,%u,%u,%u,%d,%d,%d,%" PRIu64 "]", i ? "," : "",
			c->links[i].a.server, c->links[i].a.port,
			c->links[i].b.server, c->links[i].b.port,
			(int)c->links[i].use, c->links[i].ring, c->links[i].tree,
			c->servers[c->links[i].a.server].ports[c->links[i].a.port].bandwidth);
	fprintf(out, "],\n");
}

void to_report_print_arcs(FILE *out, const struct to_report *r)
{
	const struct to_graph *g = r->graph;
	uint32_t a;

	fprintf(out, "\"arcs\":[");
	for (a = 0; a < g->n_arcs; a++)
		fprintf(out, "%s[%u,%u,%u,%.0f,%.0f]", a ? "," : "", g->from[a], g->to[a],
			g->link[a], r->rings[a], r->mp[a]);
	fprintf(out, "],\n");
}

static void data_rings(FILE *out, const struct to_plan *plan)
{
	unsigned int i, k;

	fprintf(out, "\"rings\":[");
	for (i = 0; i < plan->n_rings; i++) {
		const struct to_ring *ring = &plan->rings[i];

		fprintf(out, "%s\n{\"group\":%u,\"jump\":%u,\"reverse\":%s,\"order\":[",
			i ? "," : "", ring->group, ring->jump, ring->reverse ? "true" : "false");
		for (k = 0; k < ring->n; k++)
			fprintf(out, "%s%u", k ? "," : "", ring->order[k]);
		fprintf(out, "]}");
	}
	fprintf(out, "],\n");
}

/* Servers to a cell of a matrix, so that it has no more than TO_REPORT_DETAIL rows. */
static size_t data_step(size_t n)
{
	return (n + TO_REPORT_DETAIL - 1) / TO_REPORT_DETAIL;
}

int to_report_print_matrix(FILE *out, const char *key, const uint64_t *bytes,
			   const uint64_t *without, size_t n)
{
	const size_t step = data_step(n);
	size_t cells = (n + step - 1) / step, i, j, run;
	double *sum = calloc(cells * cells, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			sum[i / step * cells + j / step] +=
				bytes[i * n + j] - (without ? without[i * n + j] : 0);
	fprintf(out, "\"%s\":[", key);
	for (i = 0; i < cells * cells; i += run) {
		for (run = 1; i + run < cells * cells && sum[i + run] == sum[i]; run++)
			;
		fprintf(out, "%s%.0f,%zu", i ? "," : "", sum[i], run);
	}
	fprintf(out, "],\n");
	free(sum);
	return 0;
}

static int data_demand(FILE *out, const struct to_plan *plan)
{
	size_t n = plan->demand->n;
	uint64_t *all = calloc(n * n, sizeof(*all));
	int ret = -ENOMEM;

	if (all) {
		to_allreduce_and_mp(plan, 1, all);
		ret = to_report_print_matrix(out, "allreduce", all, plan->demand->mp, n);
	}
	free(all);
	if (ret)
		return ret;
	fprintf(out, "\"step\":%zu,\n", data_step(n));
	return to_report_print_matrix(out, "mp", plan->demand->mp, NULL, n);
}

/* Pairs of servers by hops, and what Moore's bound would let them be. */
static void data_hops(FILE *out, const struct to_report *r)
{
	const struct to_figures *o = &r->verdict.figures;
	bool duplex = r->plan->cluster->link_mode == TO_LINKS_DUPLEX;
	double left = r->graph->n - 1.0, servers;
	unsigned int hops;

	fprintf(out, "\"hops\":[");
	for (hops = 1; hops <= o->diameter; hops++)
		fprintf(out, "%s%" PRIu64, hops > 1 ? "," : "", r->hops[hops]);
	fprintf(out, "],\n\"moore\":[");
	for (hops = 1; hops <= o->diameter_bound; hops++, left -= servers) {
		servers = fmin(to_predict_moore(o->reach, o->reach, duplex, hops), left);
		if (servers < 1)
			servers = left;
		fprintf(out, "%s%.0f", hops > 1 ? "," : "", servers * r->graph->n);
	}
	fprintf(out, "],\n");
}

/* A group as [arc, weight, arc, weight, ...]; primaries only. */
static void data_group(FILE *out, const struct to_report *r, uint32_t x,
		       const struct to_group *group)
{
	const char *before = "";
	unsigned int k;

	fprintf(out, "[");
	for (k = 0; k < group->n; k++) {
		const struct to_nexthop *hop = &group->nexthops[k];
		uint32_t arc = to_forwarding_arc(&r->forwarding, x, hop);

		if (!to_nexthop_primary(hop) || arc == UINT32_MAX)
			continue;
		fprintf(out, "%s%u,%u", before, arc, hop->weight);
		before = ",";
	}
	fprintf(out, "]");
}

/* Routes to node addresses: per server its groups, and the group of each server. */
static void data_tables(FILE *out, const struct to_report *r)
{
	const struct to_plan *plan = r->plan;
	const char *before;
	uint32_t x, dst;
	unsigned int i;

	fprintf(out, "\"tables\":[");
	for (x = 0; x < r->graph->n; x++) {
		const struct to_table *table = &plan->tables[x];

		fprintf(out, "%s\n{\"groups\":[", x ? "," : "");
		for (i = 0; i < table->n_groups; i++) {
			fprintf(out, i ? "," : "");
			data_group(out, r, x, &table->groups[i]);
		}
		fprintf(out, "],\"route\":[");
		for (dst = 0; dst < r->graph->n; dst++) {
			uint16_t group = table->route[(size_t)dst * plan->slots];

			fprintf(out, "%s%d", dst ? "," : "", group == TO_GROUP_NONE ? -1 : group);
		}
		fprintf(out, "],\"pairs\":[");
		for (i = 0, before = ""; i < table->n_pairs; i++) {
			if (table->pairs[i].slot)
				continue;
			fprintf(out, "%s[%u,%u,%u]", before, table->pairs[i].src,
				table->pairs[i].dst, table->pairs[i].group);
			before = ",";
		}
		fprintf(out, "]}");
	}
	fprintf(out, "],\n");
}

int to_report_print_plan(FILE *out, const struct to_plan *plan)
{
	fprintf(out, "\"job\":");
	data_string(out, plan->demand->name);
	fprintf(out, ",\n\"duplex\":%s,\n",
		plan->cluster->link_mode == TO_LINKS_DUPLEX ? "true" : "false");
	data_servers(out, plan->cluster);
	data_links(out, plan->cluster);
	data_rings(out, plan);
	return data_demand(out, plan);
}

int to_report_print_data(FILE *out, const struct to_report *r)
{
	const struct to_plan *plan = r->plan;
	int ret;

	fprintf(out, "{");
	ret = to_report_print_plan(out, plan);
	if (ret)
		return ret;
	to_report_print_arcs(out, r);
	data_hops(out, r);
	if (r->graph->n <= TO_REPORT_DETAIL)
		data_tables(out, r);
	fprintf(out, "\"comm_time\":%.9g,\n\"load_bound\":%.0f,\n\"mp_load_bound\":%.0f}\n",
		r->verdict.figures.comm_time, r->verdict.figures.max_link_load_bound, r->verdict.figures.max_mp_link_load_bound);
	return 0;
}
