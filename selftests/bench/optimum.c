// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How busy the busiest link of a plan must be, whatever its routes, rings and trees.
 *
 *	optimum PLAN
 *
 * prints a JSON object: optimum_s, below which no routes of MP transfers and no trees of
 * AllReduce on the same links come, by a linear program (GLPK); reached_s, what its solution
 * comes to; rounds of column generation; linked_s, as optimum_s where hops of trees between
 * servers with a link take it, as those of plans do; cut_s, the most that the links out of any
 * set of servers have to carry, null over CUT_SERVERS servers. Trees are gone up and down on the
 * same links, which on duplex links that transfers load alike in both directions is all that
 * AllReduce can do.
 *
 * Commodities are the transfers to a server, and the groups. The columns of the program are
 * shortest paths of all transfers to a server and minimum spanning trees of a group, at the
 * prices of the links that its rows have (G. Dantzig and P. Wolfe, "Decomposition principle for
 * linear programs", 1960), smoothed by those that gave the best bound (P. Wentges, "Weighted
 * Dantzig-Wolfe decomposition for linear mixed-integer programming", 1997).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <glpk.h>
#include <jansson.h>

#include "data/graph.h"
#include "format/plan_json.h"

#define CUT_SERVERS 32
#define GAP 1e-5		/* of the optimum, between bound and solution */
#define SMOOTHING 0.6		/* of the prices, those of the best bound */
#define REDUCED 1e-9		/* of seconds(), a column must gain */

/* Servers, links and demand, and the shortest paths at some prices. */
struct program {
	const struct to_plan *plan;
	struct to_graph *graph;
	unsigned int n, n_arcs;
	bool linked;		/* hops of trees take links, where there are */
	double *spb;		/* per arc, seconds per byte */
	double *price;		/* per arc, of a second */
	double *distance;	/* n x n, row = destination: of a byte */
	uint32_t *next;		/* the same: arc, UINT32_MAX where there is none */
	unsigned int n_columns, *column;	/* commodities: server, or n + group */
	glp_prob *lp;		/* rows: arcs, then commodities; column 1 is the time */
};

static void *make(size_t n, size_t size)
{
	void *array = calloc(n + 1, size);

	if (!array)
		abort();
	return array;
}

/* Bellman and Ford, to @dst. */
static void paths_to(struct program *p, uint32_t dst)
{
	double *distance = p->distance + (size_t)dst * p->n;
	uint32_t *next = p->next + (size_t)dst * p->n, x, a;
	bool again = true;

	for (x = 0; x < p->n; x++) {
		distance[x] = x == dst ? 0 : INFINITY;
		next[x] = UINT32_MAX;
	}
	while (again) {
		again = false;
		for (a = 0; a < p->n_arcs; a++) {
			double path = distance[p->graph->to[a]] + p->price[a] * p->spb[a];

			x = p->graph->from[a];
			/* a hop that costs nothing still costs: no paths with cycles */
			if (path + 1e-18 >= distance[x])
				continue;
			distance[x] = path;
			next[x] = a;
			again = true;
		}
	}
}

/* @bytes from @x to @dst along the shortest path: seconds onto @load. */
static void deliver(const struct program *p, uint32_t x, uint32_t dst, double bytes, double *load)
{
	while (x != dst) {
		uint32_t a = p->next[(size_t)dst * p->n + x];

		load[a] += bytes * p->spb[a];
		x = p->graph->to[a];
	}
}

/* Links from @x to @y. @price: gets what a byte costs that they share alike. */
static unsigned int links(const struct program *p, uint32_t x, uint32_t y, double *price)
{
	unsigned int n = 0;

	*price = 0;
	for (uint32_t a = p->graph->out[x]; a < p->graph->out[x + 1]; a++)
		if (p->graph->to[a] == y) {
			*price += p->price[a] * p->spb[a];
			n++;
		}
	*price /= n ? n : 1;
	return n;
}

/* What a byte of a hop from @x to @y costs. */
static double hop_cost(const struct program *p, uint32_t x, uint32_t y)
{
	double price;

	return p->linked && links(p, x, y, &price) ? price : p->distance[(size_t)y * p->n + x];
}

static double both_ways(const struct program *p, uint32_t x, uint32_t y)
{
	return hop_cost(p, x, y) + hop_cost(p, y, x);
}

/* A hop of a tree, as deliver(). */
static void hop(const struct program *p, uint32_t x, uint32_t y, double bytes, double *load)
{
	double price;
	unsigned int n = p->linked ? links(p, x, y, &price) : 0;

	if (!n) {
		deliver(p, x, y, bytes, load);
		return;
	}
	for (uint32_t a = p->graph->out[x]; a < p->graph->out[x + 1]; a++)
		if (p->graph->to[a] == y)
			load[a] += bytes / n * p->spb[a];
}

/* The minimum spanning tree (Prim) of @group, onto @load. */
static void span(const struct program *p, const struct to_allreduce *group, double *load)
{
	uint32_t *near = make(group->n_members, sizeof(*near));
	bool *in = make(group->n_members, sizeof(*in));

	in[0] = true;
	for (unsigned int k = 1; k < group->n_members; k++) {
		unsigned int best = UINT32_MAX;
		double least = INFINITY;

		for (unsigned int m = 0; m < group->n_members; m++) {
			double cost = both_ways(p, group->members[m], group->members[near[m]]);

			if (!in[m] && cost < least) {
				least = cost;
				best = m;
			}
		}
		in[best] = true;
		hop(p, group->members[best], group->members[near[best]], group->bytes, load);
		hop(p, group->members[near[best]], group->members[best], group->bytes, load);
		for (unsigned int m = 0; m < group->n_members; m++)
			if (!in[m] && both_ways(p, group->members[m], group->members[best]) <
				      both_ways(p, group->members[m], group->members[near[m]]))
				near[m] = best;
	}
	free(near);
	free(in);
}

/* The cheapest of @commodity, in seconds onto @load. Return: what it costs. */
static double cheapest(const struct program *p, unsigned int commodity, double *load)
{
	const struct to_demand *d = p->plan->demand;
	double cost = 0;

	for (uint32_t a = 0; a < p->n_arcs; a++)
		load[a] = 0;
	if (commodity < p->n)
		for (uint32_t x = 0; x < p->n; x++)
			deliver(p, x, commodity, d->mp[(size_t)x * p->n + commodity], load);
	else
		span(p, &d->groups[commodity - p->n], load);
	for (uint32_t a = 0; a < p->n_arcs; a++)
		cost += p->price[a] * load[a];
	return cost;
}

/* Column @load of the commodity in row @row. */
static void add(struct program *p, unsigned int row, const double *load, double scale)
{
	int *rows = make(p->n_arcs + 2, sizeof(*rows)), n = 0, at = glp_add_cols(p->lp, 1);
	double *values = make(p->n_arcs + 2, sizeof(*values));

	for (uint32_t a = 0; a < p->n_arcs; a++)
		if (load[a] > 0) {
			rows[++n] = a + 1;
			values[n] = load[a] / scale;
		}
	rows[++n] = p->n_arcs + 1 + row;
	values[n] = 1;
	glp_set_mat_col(p->lp, at, n, rows, values);
	glp_set_col_bnds(p->lp, at, GLP_LO, 0, 0);
	free(rows);
	free(values);
}

static void commodities(struct program *p)
{
	const struct to_demand *d = p->plan->demand;
	uint32_t x, y;

	p->column = make(p->n + d->n_groups, sizeof(*p->column));
	for (y = 0; y < p->n; y++) {
		for (x = 0; x < p->n && !d->mp[(size_t)x * p->n + y]; x++)
			;
		if (x < p->n)
			p->column[p->n_columns++] = y;
	}
	for (x = 0; x < d->n_groups; x++)
		if (d->groups[x].n_members > 1 && d->groups[x].bytes)
			p->column[p->n_columns++] = p->n + x;
}

static void begin(struct program *p, const struct to_plan *plan, bool linked)
{
	const struct to_cluster *c = plan->cluster;

	*p = (struct program){ .plan = plan, .n = c->n_servers, .linked = linked };
	p->graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	if (!p->graph)
		abort();
	p->n_arcs = p->graph->n_arcs;
	p->spb = make(p->n_arcs, sizeof(*p->spb));
	p->price = make(p->n_arcs, sizeof(*p->price));
	p->distance = make((size_t)p->n * p->n, sizeof(*p->distance));
	p->next = make((size_t)p->n * p->n, sizeof(*p->next));
	for (uint32_t a = 0; a < p->n_arcs; a++) {
		p->spb[a] = to_graph_seconds_per_byte(p->graph, c, a);
		p->price[a] = 1.0 / p->n_arcs;
	}
	commodities(p);
	p->lp = glp_create_prob();
	glp_add_rows(p->lp, p->n_arcs + p->n_columns);
	for (uint32_t a = 1; a <= p->n_arcs; a++)
		glp_set_row_bnds(p->lp, a, GLP_UP, 0, 0);
	for (unsigned int i = 1; i <= p->n_columns; i++)
		glp_set_row_bnds(p->lp, p->n_arcs + i, GLP_FX, 1, 1);
}

/* The time is more than what any link has to carry. */
static void begin_time(struct program *p)
{
	int *rows = make(p->n_arcs, sizeof(*rows));
	double *values = make(p->n_arcs, sizeof(*values));

	glp_add_cols(p->lp, 1);
	glp_set_col_bnds(p->lp, 1, GLP_LO, 0, 0);
	glp_set_obj_coef(p->lp, 1, 1);
	for (uint32_t a = 1; a <= p->n_arcs; a++) {
		rows[a] = a;
		values[a] = -1;
	}
	glp_set_mat_col(p->lp, 1, p->n_arcs, rows, values);
	free(rows);
	free(values);
}

/*
 * Paths and trees at the present prices, which add up to 1: columns of all, or of those that
 * gain at the prices of the rows. Return: what all cost, a lower bound of the time.
 */
static double generate(struct program *p, double scale, bool all, unsigned int *added)
{
	double *load = make(p->n_arcs, sizeof(*load)), bound = 0;

	for (uint32_t dst = 0; dst < p->n; dst++)
		paths_to(p, dst);
	*added = 0;
	for (unsigned int i = 0; i < p->n_columns; i++) {
		double cost = 0;

		bound += cheapest(p, p->column[i], load);
		for (uint32_t a = 0; a < p->n_arcs; a++)
			cost -= all ? 0 : glp_get_row_dual(p->lp, a + 1) * load[a] / scale;
		if (!all && cost > glp_get_row_dual(p->lp, p->n_arcs + 1 + i) - REDUCED)
			continue;
		add(p, i, load, scale);
		++*added;
	}
	free(load);
	return bound;
}

/* Prices are the dual of the rows, and @smoothing of @best. */
static void set_prices(struct program *p, const double *best, double smoothing)
{
	double sum = 0;

	for (uint32_t a = 0; a < p->n_arcs; a++) {
		p->price[a] = fmax(-glp_get_row_dual(p->lp, a + 1), 0);
		sum += p->price[a];
	}
	for (uint32_t a = 0; a < p->n_arcs; a++)
		p->price[a] = (1 - smoothing) * p->price[a] / sum + smoothing * best[a];
}

/* What one hop of all bytes takes on all links: the program is in parts of that. */
static double seconds(const struct program *p)
{
	const struct to_demand *d = p->plan->demand;
	double bytes = 0, rate = 0;

	for (size_t i = 0; i < (size_t)p->n * p->n; i++)
		bytes += d->mp[i];
	for (unsigned int g = 0; g < d->n_groups; g++)
		bytes += 2.0 * (d->groups[g].n_members - 1) * d->groups[g].bytes;
	for (uint32_t a = 0; a < p->n_arcs; a++)
		rate += 1 / p->spb[a];
	return bytes / rate;
}

static void solve(struct program *p, double *optimum, double *reached, unsigned int *rounds)
{
	double *best = make(p->n_arcs, sizeof(*best)), scale = seconds(p), bound;
	unsigned int added;
	glp_smcp options;

	glp_init_smcp(&options);
	options.msg_lev = GLP_MSG_ERR;
	begin_time(p);
	*optimum = generate(p, scale, true, &added);
	for (uint32_t a = 0; a < p->n_arcs; a++)
		best[a] = p->price[a];
	for (*rounds = 1;; ++*rounds) {
		if (glp_simplex(p->lp, &options) || glp_get_status(p->lp) != GLP_OPT) {
			fprintf(stderr, "optimum: the program has no solution\n");
			exit(1);
		}
		*reached = glp_get_obj_val(p->lp) * scale;
		if (*reached <= *optimum * (1 + GAP))
			break;
		for (double smoothing = SMOOTHING;; smoothing = 0) {
			set_prices(p, best, smoothing);
			bound = generate(p, scale, false, &added);
			if (bound > *optimum) {
				*optimum = bound;
				for (uint32_t a = 0; a < p->n_arcs; a++)
					best[a] = p->price[a];
			}
			if (added || !(smoothing > 0))
				break;
		}
		if (!added)
			break;
	}
	free(best);
}

/*
 * Sums over the pairs that leave a set of servers, for all subsets of the first servers:
 * @weight is n x n. Those of @first + subset are at out[subset].
 */
static double *cut_table(const double *weight, unsigned int n, unsigned int first, unsigned int many)
{
	double *out = make((size_t)1 << many, sizeof(*out));

	for (uint32_t set = 1; set < 1ull << many; set++) {
		unsigned int v = first + __builtin_ctz(set);
		uint32_t rest = set & (set - 1);
		double sum = out[rest];

		for (unsigned int y = 0; y < n; y++)
			if (y != v)
				sum += y >= first && y < first + many && rest >> (y - first) & 1 ?
				       -weight[y * n + v] : weight[v * n + y];
		out[set] = sum;
	}
	return out;
}

/* The bytes of all groups that @set parts. */
static double parted(const struct to_demand *d, const uint64_t *masks, uint64_t set)
{
	double bytes = 0;

	for (unsigned int g = 0; g < d->n_groups; g++)
		if (set & masks[g] && ~set & masks[g])
			bytes += d->groups[g].bytes;
	return bytes;
}

/*
 * A set is one of the low servers and one of the high ones; what leaves it is what leaves
 * both, less what they send each other.
 */
static double cut(const struct program *p)
{
	const struct to_demand *d = p->plan->demand;
	const unsigned int n = p->n, low = n / 2, high = n - low;
	double *bytes = make((size_t)n * n, sizeof(*bytes)), *rate = make((size_t)n * n, sizeof(*rate));
	uint64_t *masks = make(d->n_groups, sizeof(*masks));
	double *low_bytes, *low_rate, *high_bytes, *high_rate, *to_bytes, *to_rate, most = 0, room = 1;
	bool both = true;

	for (uint32_t i = 0; i < n * n; i++)
		bytes[i] = d->mp[i];
	for (uint32_t a = 0; a < p->n_arcs; a++)
		rate[p->graph->from[a] * n + p->graph->to[a]] += 1 / p->spb[a];
	for (unsigned int g = 0; g < d->n_groups; g++)
		for (unsigned int i = 0; i < d->groups[g].n_members; i++)
			masks[g] |= 1ull << d->groups[g].members[i];
	/* what enters a set is what leaves the other servers */
	for (uint32_t x = 0; x < n; x++)
		for (uint32_t y = 0; y < n; y++)
			both &= bytes[x * n + y] == bytes[y * n + x] &&
				rate[x * n + y] == rate[y * n + x];
	low_bytes = cut_table(bytes, n, 0, low);
	low_rate = cut_table(rate, n, 0, low);
	high_bytes = cut_table(bytes, n, low, high);
	high_rate = cut_table(rate, n, low, high);
	to_bytes = make((size_t)1 << low, sizeof(*to_bytes));
	to_rate = make((size_t)1 << low, sizeof(*to_rate));
	for (uint64_t h = 0; h < 1ull << (high - both); h++) {
		double between[2][CUT_SERVERS] = { 0 };

		for (unsigned int v = 0; v < low; v++)
			for (uint32_t y = low; y < n; y++)
				if (h >> (y - low) & 1) {
					between[0][v] += bytes[v * n + y] + bytes[y * n + v];
					between[1][v] += rate[v * n + y] + rate[y * n + v];
				}
		for (uint32_t l = 0; l < 1u << low; l++) {
			double carried, links;

			if (l) {
				to_bytes[l] = to_bytes[l & (l - 1)] + between[0][__builtin_ctz(l)];
				to_rate[l] = to_rate[l & (l - 1)] + between[1][__builtin_ctz(l)];
			}
			carried = low_bytes[l] + high_bytes[h] - to_bytes[l];
			links = low_rate[l] + high_rate[h] - to_rate[l];
			if (d->n_groups)
				carried += parted(d, masks, h << low | l);
			if (carried * room <= most * links || !(links > 0))
				continue;
			most = carried;
			room = links;
		}
	}
	free(bytes);
	free(rate);
	free(masks);
	free(low_bytes);
	free(low_rate);
	free(high_bytes);
	free(high_rate);
	free(to_bytes);
	free(to_rate);
	return most / room;
}

static void end(struct program *p)
{
	glp_delete_prob(p->lp);
	to_graph_free(p->graph);
	free(p->spb);
	free(p->price);
	free(p->distance);
	free(p->next);
	free(p->column);
}

int main(int argc, char **argv)
{
	double optimum, reached, linked, ignored;
	struct to_error err = { "" };
	struct to_plan *plan;
	struct program p;
	unsigned int rounds;
	json_t *out;

	if (argc != 2) {
		fprintf(stderr, "usage: optimum PLAN\n");
		return 2;
	}
	plan = to_plan_load_shared(argv[1], &err);
	if (!plan) {
		fprintf(stderr, "optimum: %s\n", err.text);
		return 1;
	}
	glp_term_out(GLP_OFF);
	begin(&p, plan, true);
	if (!p.n_columns) {
		fprintf(stderr, "optimum: %s sends nothing\n", argv[1]);
		return 1;
	}
	solve(&p, &linked, &ignored, &rounds);
	end(&p);
	begin(&p, plan, false);
	solve(&p, &optimum, &reached, &rounds);
	out = json_pack("{s:f s:f s:i s:f s:o}", "optimum_s", optimum, "reached_s", reached,
			"rounds", (int)rounds, "linked_s", linked, "cut_s",
			p.n <= CUT_SERVERS ? json_real(cut(&p)) : json_null());
	json_dumpf(out, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(out);
	end(&p);
	to_plan_free(plan);
	return 0;
}
