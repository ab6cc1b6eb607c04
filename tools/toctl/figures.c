// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.h"
#include "data/allreduce.h"
#include "figures.h"
#include "verify/figure_list.h"

static void figures_ratio(FILE *out, double value, double bound)
{
	if (bound > 0)
		fprintf(out, " %8.3f", value / bound);
	else
		fprintf(out, " %8s", "-");
}

/* Bytes or seconds, each in the unit that suits it. */
static void figures_quantity(FILE *out, const char *name, double value, double bound,
			     const char *(*print)(double, char [16]))
{
	char texts[2][16];

	fprintf(out, "  %-18s %12s %12s", name, print(value, texts[0]), print(bound, texts[1]));
	figures_ratio(out, value, bound);
	fputc('\n', out);
}

static void figures_links(FILE *out, const struct to_plan *plan)
{
	static const struct {
		enum to_link_use use;
		bool ring;
		const char *what;
	} uses[] = {
		{ TO_LINK_FIXED, false, "as cabled" },
		{ TO_LINK_ALLREDUCE, true, "for rings" },
		{ TO_LINK_ALLREDUCE, false, "for trees" },
		{ TO_LINK_MP, false, "for MP transfers" },
		{ TO_LINK_REPAIR, false, "for connectivity" },
	};
	const struct to_cluster *c = plan->cluster;
	const char *before = "";
	unsigned int u, i;

	fprintf(out, "%s: %u servers, %u %s links", plan->demand->name, c->n_servers,
		c->n_links, c->link_mode == TO_LINKS_DUPLEX ? "duplex" : "simplex");
	if (to_cluster_shares_cables(c))
		fprintf(out, " on %u cables", to_cluster_cables(c));
	fprintf(out, " (");
	for (u = 0; u < sizeof(uses) / sizeof(*uses); u++) {
		unsigned int n = 0;

		for (i = 0; i < c->n_links; i++)
			n += c->links[i].use == uses[u].use &&
			     (c->links[i].ring >= 0) == uses[u].ring;
		if (n) {
			fprintf(out, "%s%u %s", before, n, uses[u].what);
			before = ", ";
		}
	}
	fprintf(out, ")\n");
}

/* How many trees @group has, and what links they take. */
static void figures_trees(FILE *out, const struct to_plan *plan, const struct to_graph *graph,
			  unsigned int group)
{
	struct to_rings rings = to_allreduce_of(plan);
	unsigned int trees = 0, owning = 0, routed = 0, i;

	for (i = 0; i < plan->n_trees; i++) {
		if (plan->trees[i].group != group)
			continue;
		trees++;
		if (to_allreduce_tree_linked(&rings, i))
			owning++;
		else if (graph)
			routed += to_allreduce_tree_routed(&rings, graph, &plan->trees[i]);
	}
	fprintf(out, " %u %strees", trees, owning ? "" : "packed ");
	if (routed)
		fprintf(out, ", %u of %u hops routed", routed,
			trees * (plan->demand->groups[group].n_members - 1));
	fprintf(out, "\n");
}

/* A line per group: the jump of every ring, the number of trees. */
static void figures_rings(FILE *out, const struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;
	struct to_graph *graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	bool duplex = plan->cluster->link_mode == TO_LINKS_DUPLEX;
	struct to_rings rings = to_allreduce_of(plan);
	unsigned int g, i;
	char text[16];

	for (g = 0; g < plan->demand->n_groups; g++) {
		const struct to_allreduce *group = &plan->demand->groups[g];
		unsigned int shown = 0, trees = 0;

		fprintf(out, "  group %u, %u servers, %s:", g, group->n_members,
			to_bytes_text(group->bytes, text));
		for (i = 0; i < plan->n_rings; i++) {
			const struct to_ring *ring = &plan->rings[i];

			if (ring->group != g)
				continue;
			fprintf(out, "%s ", shown++ ? "," : "");
			if (!to_allreduce_ring_linked(&rings, i))
				fprintf(out, "multi-hop ring");
			else if (!ring->jump)
				fprintf(out, "irregular ring");
			else
				fprintf(out, "%s%u", duplex && ring->reverse ? "+-" : "+", ring->jump);
		}
		for (i = 0; i < plan->n_trees; i++)
			trees += plan->trees[i].group == g;
		if (trees)
			figures_trees(out, plan, graph, g);
		else
			fprintf(out, "%s\n", shown ? "" : " no ring");
	}
	to_graph_free(graph);
}

/* The family chosen, and how much longer the others take. */
static void figures_candidates(FILE *out, const struct to_plan *plan)
{
	const struct to_candidate *won = NULL, *c;
	unsigned int i;

	for (i = 0; i < plan->n_candidates; i++)
		if (plan->candidates[i].chosen)
			won = &plan->candidates[i];
	if (!won)
		return;
	fprintf(out, "  family %s, up to %u ports for AllReduce", won->family, won->ports);
	for (i = 0; i < plan->n_candidates; i++) {
		bool routed;

		c = &plan->candidates[i];
		routed = c->comm_time > 0 && won->comm_time > 0;
		if (c == won)
			continue;
		fprintf(out, "; %s, %u ports", c->family, c->ports);
		/* without traffic, all times are 0 */
		if (won->estimated_time > 0)
			fprintf(out, ": %+.3g %%%s",
				routed ? (c->comm_time / won->comm_time - 1) * 100 :
					 (c->estimated_time / won->estimated_time - 1) * 100,
				routed ? "" : " (estimate)");
	}
	fprintf(out, "\n");
}

/* Hops of the routes of a class of traffic, beside those of shortest paths. */
static void figures_hops(FILE *out, const struct to_plan *plan, const char *name,
			 const struct to_hops *hops)
{
	const struct to_cluster *c = plan->cluster;

	if (!hops->most)
		return;
	fprintf(out, "  %-18s %12u %12.4g  %s > %s", name, hops->most, hops->mean,
		c->servers[hops->src].name, c->servers[hops->dst].name);
	if (hops->slot)
		fprintf(out, ":%s", c->servers[hops->dst].ports[hops->slot - 1].name);
	fprintf(out, "\n");
}

static void figures_routes(FILE *out, const struct to_plan *plan, const struct to_figures *o)
{
	json_t *unbounded = json_object_get(plan->predictions, "comm_time_unbounded_s");
	double seconds = json_number_value(unbounded);

	fprintf(out, "  %-18s %12s %12s  %s\n", "hops of routes", "most", "mean", "longest");
	figures_hops(out, plan, "  to servers", &o->hops.all);
	figures_hops(out, plan, "  to ports (RDMA)", &o->hops.ports);
	figures_hops(out, plan, "  AllReduce, bytes", &o->hops.allreduce);
	figures_hops(out, plan, "  MP, bytes", &o->hops.mp);
	if (!plan->max_stretch)
		return;
	fprintf(out, "  at most %g times the hops of a shortest path", plan->max_stretch);
	if (seconds > 0.99 * o->comm_time)
		fprintf(out, "; longer ones would save less than 1 %%");
	else if (seconds > 0)
		fprintf(out, "; with routes of any length on these links, communication takes %.4g ms, %+.2g %%",
			seconds * 1e3, (seconds / o->comm_time - 1) * 100);
	fprintf(out, "\n");
}

/* The busiest link of MP transfers when each pair has the @k-th number of flows. */
static void figures_flows(FILE *out, const struct to_figures *o, unsigned int k)
{
	unsigned int flows = to_flow_split_counts[k];
	char name[40];

	snprintf(name, sizeof(name), "  %u flow%s a pair", flows, flows > 1 ? "s" : "");
	figures_quantity(out, name, o->max_mp_link_load_flows[k].mean, o->max_mp_link_load_bound,
			 to_bytes_text);
	figures_quantity(out, "    99 % are below", o->max_mp_link_load_flows[k].p99,
			 o->max_mp_link_load_bound, to_bytes_text);
}

/* What belongs below a figure. */
static void figures_below(FILE *out, const struct to_plan *plan, const struct to_figures *o,
			  enum to_figure which)
{
	if (which == TO_FIGURE_ALLREDUCE_TIME && (plan->latency.step || plan->latency.relay))
		figures_quantity(out, "  and its latency", o->allreduce_latency.seconds,
				 o->allreduce_latency.bound, to_seconds_text);
	if (which != TO_FIGURE_MP_LINK_LOAD)
		return;
	for (unsigned int k = 0; k < TO_FLOW_SPLIT_COUNTS && o->max_mp_link_load_flows[k].mean > 0; k++)
		figures_flows(out, o, k);
	figures_quantity(out, "  all MP by RDMA", o->max_mp_link_load_rdma,
			 o->max_mp_link_load_bound, to_bytes_text);
	figures_quantity(out, "  from all ports", o->max_mp_link_load_rdma_ports,
			 o->max_mp_link_load_bound, to_bytes_text);
}

/* The line of figure @i up to what @x and @y, its values, come to. */
static void figures_line(FILE *out, unsigned int i, double x, double y)
{
	char texts[2][24];

	fprintf(out, "  %-18s %12s %12s", to_figure_name(i), to_figure_text(i, x, texts[0]),
		to_figure_text(i, y, texts[1]));
}

void to_figures_print(FILE *out, const struct to_plan *plan,
		      const struct to_figures *o)
{
	figures_links(out, plan);
	figures_rings(out, plan);
	figures_candidates(out, plan);
	fprintf(out, "  %-18s %12s %12s %8s\n", "", "plan", "lower bound", "ratio");
	for (unsigned int i = TO_FIGURES; i--;) {
		const double value = to_figure_value(o, i), bound = to_figure_bound(o, i);

		figures_line(out, i, value, bound);
		figures_ratio(out, value, bound);
		fputc('\n', out);
		figures_below(out, plan, o, i);
	}
	figures_routes(out, plan, o);
}

static void figures_change(FILE *out, double before, double after)
{
	if (before > 0)
		fprintf(out, " %+7.2f %%\n", (after / before - 1) * 100);
	else
		fprintf(out, " %9s\n", "-");
}

void to_figures_compare(FILE *out, const struct to_figures *b, const struct to_figures *a)
{
	fprintf(out, "  %-18s %12s %12s %9s\n", "", "before", "after", "change");
	fprintf(out, "  %-18s %12u %12u", "links", b->links, a->links);
	figures_change(out, b->links, a->links);
	for (unsigned int i = TO_FIGURES; i--;) {
		const double before = to_figure_value(b, i), after = to_figure_value(a, i);

		figures_line(out, i, before, after);
		figures_change(out, before, after);
	}
}
