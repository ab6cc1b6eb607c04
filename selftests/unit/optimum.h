/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_UNIT_OPTIMUM_H
#define TOPOOPT_UNIT_OPTIMUM_H

/* The linear program of the routes of a plan, solved by GLPK. Link with -lglpk. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <glpk.h>

#include "data/allreduce.h"

#define OPTIMUM_MIB 1048576.0

/* One row of the program: values by column, from 1 on. */
struct row {
	int n, *column;
	double *value;
};

static inline void row_add(struct row *row, int column, double value)
{
	row->n++;
	row->column[row->n] = column;
	row->value[row->n] = value;
}

static inline void row_set(glp_prob *program, int at, struct row *row)
{
	glp_set_mat_row(program, at, row->n, row->column, row->value);
	row->n = 0;
}

/*
 * Least possible milliseconds of the busiest link; not a number when there is no answer. One commodity for each
 * destination, column 1 + c * arcs + a, in MiB; the last column is the time.
 */
static inline double optimum(const struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;
	struct to_graph *g = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	struct to_rings rings = to_allreduce_of(plan);
	uint64_t *routed = g ? to_allreduce_and_mp_routed(&rings, g) : NULL;
	double *reduced = g ? calloc(g->n_arcs + 1, sizeof(*reduced)) : NULL;
	unsigned int n = c->n_servers, arcs = g ? g->n_arcs : 0, commodities = 0, at = 0, d;
	glp_prob *program = glp_create_prob();
	glp_smcp options;
	struct row row = { 0 };
	double time;
	uint32_t *dst = calloc(n, sizeof(*dst)), x, a;

	if (!g || !routed || !reduced || !program || !dst)
		abort();
	to_allreduce_link_bytes(&rings, g, reduced);
	for (x = 0; x < n; x++)
		for (uint32_t y = 0; y < n; y++)
			if (routed[(size_t)y * n + x]) {
				dst[commodities++] = x;
				break;
			}
	row.column = calloc(commodities * arcs + 2, sizeof(*row.column));
	row.value = calloc(commodities * arcs + 2, sizeof(*row.value));
	if (!row.column || !row.value)
		abort();
	glp_add_cols(program, commodities * arcs + 1);
	for (unsigned int i = 1; i <= commodities * arcs + 1; i++)
		glp_set_col_bnds(program, i, GLP_LO, 0, 0);
	glp_set_obj_coef(program, commodities * arcs + 1, 1);
	glp_add_rows(program, commodities * (n - 1) + arcs);
	for (d = 0; d < commodities; d++) {
		for (x = 0; x < n; x++) {
			if (x == dst[d])
				continue;
			for (a = g->out[x]; a < g->out[x + 1]; a++)
				row_add(&row, 1 + d * arcs + a, 1);
			for (a = g->in[x]; a < g->in[x + 1]; a++)
				if (g->in_from[a] != dst[d])
					row_add(&row, 1 + d * arcs + g->in_arc[a], -1);
			row_set(program, ++at, &row);
			glp_set_row_bnds(program, at, GLP_FX,
					 (double)routed[(size_t)x * n + dst[d]] / OPTIMUM_MIB, 0);
		}
	}
	for (a = 0; a < arcs; a++) {
		double ms = to_graph_seconds_per_byte(g, c, a) * OPTIMUM_MIB * 1e3;

		for (d = 0; d < commodities; d++)
			row_add(&row, 1 + d * arcs + a, ms);
		row_add(&row, commodities * arcs + 1, -1);
		row_set(program, ++at, &row);
		glp_set_row_bnds(program, at, GLP_UP, 0,
				 -ms * reduced[a] / OPTIMUM_MIB);
	}
	glp_init_smcp(&options);
	options.msg_lev = GLP_MSG_ERR;
	options.presolve = GLP_ON;
	time = glp_simplex(program, &options) || glp_get_status(program) != GLP_OPT ?
	       NAN : glp_get_obj_val(program);
	glp_delete_prob(program);
	free(row.column);
	free(row.value);
	free(routed);
	free(reduced);
	free(dst);
	to_graph_free(g);
	return time;
}

#endif
