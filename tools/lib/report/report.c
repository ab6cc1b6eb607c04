// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "data/allreduce.h"
#include "report/hardware.h"
#include "report/page.h"
#include "report/report_data.h"
#include "report/wavelength_chart.h"
#include "routing/link_loads.h"

#define REPORT_COLORS 6		/* of rings and trees, in report.css */

/* Script of the page, NUL-terminated; its files make one. */
extern const char report_js[];

__asm__(".section .rodata\n"
	".global report_js\n"
	"report_js: .incbin \"report/page.js\"\n"
	".incbin \"report/heatmap.js\"\n"
	".incbin \"report/report.js\"\n"
	".incbin \"report/report_charts.js\"\n.byte 0\n"
	".previous\n");

static void report_line(void *data, const char *line)
{
	struct to_report *r = data;

	if (r->n_lines < sizeof(r->lines) / sizeof(*r->lines)) {
		r->lines[r->n_lines] = strdup(line);
		r->n_lines += !!r->lines[r->n_lines];
	}
}

static int report_count_hops(struct to_report *r)
{
	unsigned int n = r->graph->n, n_reached, i;
	uint16_t *distance = calloc(n, sizeof(*distance));
	uint32_t *order = calloc(n, sizeof(*order)), dst;

	r->hops = calloc(r->verdict.figures.diameter + 1, sizeof(*r->hops));
	for (dst = 0; distance && order && r->hops && dst < n; dst++) {
		n_reached = to_graph_distances(r->graph, dst, TO_SERVER_NONE, distance, order);
		for (i = 0; i < n_reached; i++)
			r->hops[distance[order[i]]]++;
	}
	free(distance);
	free(order);
	return dst == n ? 0 : -ENOMEM;
}

int to_report_compute(struct to_report *r, struct to_error *err)
{
	const struct to_cluster *c = r->plan->cluster;
	int ret = to_verify(r->plan, report_line, r, &r->verdict);

	if (!ret && !r->verdict.figures.servers)
		return to_error_set(err, -EINVAL, "the plan cannot be drawn: %s",
				    r->n_lines ? r->lines[0] : "its links are no graph");
	if (!ret)
		r->graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	if (!r->graph || to_forwarding_init(&r->forwarding, r->plan, r->graph))
		return to_error_set(err, -ENOMEM, "out of memory");
	r->rings = calloc(r->graph->n_arcs + 1, sizeof(*r->rings));
	r->mp = calloc(r->graph->n_arcs + 1, sizeof(*r->mp));
	if (!r->rings || !r->mp || to_link_loads(&r->forwarding, r->rings, r->mp) ||
	    report_count_hops(r))
		return to_error_set(err, -ENOMEM, "out of memory");
	return 0;
}

void to_report_free(struct to_report *r)
{
	unsigned int i;

	for (i = 0; i < r->n_lines; i++)
		free(r->lines[i]);
	free(r->rings);
	free(r->mp);
	free(r->hops);
	to_forwarding_free(&r->forwarding);
	to_graph_free(r->graph);
}

/* A single failure, in so many cases of a source and an address whose packets meet it. */
static void report_cases(FILE *out, const char *what, const struct to_failure_cases *c)
{
	uint64_t left = c->covered + c->uncovered;

	if (!left)
		return;
	fprintf(out, "When a single %s fails, ", what);
	if (c->uncovered)
		fprintf(out, "%" PRIu64 " of %" PRIu64 " pairs of a source and an address that it meets and "
			"that a path is left for lose packets. ", c->uncovered, left);
	else
		fprintf(out, "no packets are lost that a path is left for. ");
}

static void report_verdict(FILE *out, const struct to_report *r)
{
	const struct to_verify_report *v = &r->verdict;
	bool open = v->links.uncovered || v->switches.uncovered;
	unsigned int i;

	if (!v->violations) {
		fprintf(out, "<p class=\"verdict %s\"><b>%s</b> All packets for %" PRIu64
			" addresses arrive, without a loop. ",
			open ? "fair" : "good", !open ? "Verified." :
			r->plan->cluster->n_packet_switches ?
			"Verified, but not protected against every single link and packet switch." :
			"Verified, but not protected against every single link.", v->addresses);
		if (v->unreachable)
			fprintf(out, "For %" PRIu64 " pairs of a server and a port, no path enters through "
				"the port. ", v->unreachable);
		report_cases(out, "link", &v->links);
		report_cases(out, "server", &v->servers);
		report_cases(out, "packet switch", &v->switches);
		report_cases(out, "port on a packet switch", &v->ports);
		report_cases(out, "function of a shared cable", &v->functions);
		fprintf(out, "</p>\n");
		return;
	}
	fprintf(out, "<div class=\"verdict bad\"><b>Not valid: %lu violation%s.</b> "
		"Do not apply this plan.<ul>\n", v->violations, v->violations > 1 ? "s" : "");
	for (i = 0; i < r->n_lines; i++) {
		fprintf(out, "<li>");
		to_markup_print(out, r->lines[i]);
		fprintf(out, "</li>\n");
	}
	if (v->violations > r->n_lines)
		fprintf(out, "<li>and %lu more</li>\n", v->violations - r->n_lines);
	fprintf(out, "</ul></div>\n");
}

/* A row of figures. */
static void report_figure(FILE *out, const struct to_figures *o, enum to_figure which)
{
	const double value = to_figure_value(o, which), bound = to_figure_bound(o, which);
	char text[24], bound_text[24];

	to_page_figure(out, which);
	fprintf(out, "<td>%s</td><td>%s</td>", to_figure_text(which, value, text),
		to_figure_text(which, bound, bound_text));
	if (bound > 0 && value > bound * 0.999)	/* less where packets are lost */
		fprintf(out, "<td>%.3f</td><td class=\"bar\"><span><i style=\"width:%.1f%%\"></i></span>"
			"</td></tr>\n", value / bound, 100 * bound / value);
	else
		fprintf(out, "<td>&ndash;</td><td></td></tr>\n");
}

/* What few flows make of the load of MP transfers. */
static void report_flows(FILE *out, const struct to_figures *o)
{
	char mean[16], p99[16];
	unsigned int k;

	if (!(o->max_mp_link_load > 0))
		return;
	fprintf(out, "<p>The max MP link load is that of many flows. Each stays on one path, so few "
		"are spread less evenly (mean and 99th percentile of %d draws, seed %d):</p>\n"
		"<table id=\"flow-loads\"><thead><tr><th scope=\"col\">Flows per pair</th>"
		"<th scope=\"col\">Mean</th><th scope=\"col\">99th percentile</th></tr></thead>\n<tbody>\n",
		TO_FLOW_SPLIT_DRAWS, TO_FLOW_SPLIT_SEED);
	for (k = 0; k < TO_FLOW_SPLIT_COUNTS; k++)
		fprintf(out, "<tr><th scope=\"row\">%u</th><td>%s</td><td>%s</td></tr>\n",
			to_flow_split_counts[k],
			to_bytes_text(o->max_mp_link_load_flows[k].mean, mean),
			to_bytes_text(o->max_mp_link_load_flows[k].p99, p99));
	fprintf(out, "</tbody></table>\n");
}

static void report_hops_row(FILE *out, const struct to_cluster *c, const char *name,
			    const struct to_hops *hops)
{
	if (!hops->most)
		return;
	fprintf(out, "<tr><th scope=\"row\">%s</th><td>%u</td><td>%.3f</td><td>%s &rarr; %s", name,
		hops->most, hops->mean, c->servers[hops->src].name, c->servers[hops->dst].name);
	if (hops->slot) {
		fprintf(out, ":");
		to_markup_print(out, c->servers[hops->dst].ports[hops->slot - 1].name);
	}
	fprintf(out, "</td></tr>\n");
}

static void report_hops(FILE *out, const struct to_report *r)
{
	const struct to_route_hops *hops = &r->verdict.figures.hops;
	const struct to_cluster *c = r->plan->cluster;

	fprintf(out, "<p>Hops of the routes");
	if (r->plan->max_stretch)
		fprintf(out, ", which take at most %g times those of a shortest path",
			r->plan->max_stretch);
	fprintf(out, ":</p>\n<table id=\"route-hops\"><thead><tr><th scope=\"col\">Routes</th>"
		"<th scope=\"col\">Most hops</th><th scope=\"col\">Mean</th>"
		"<th scope=\"col\">Longest</th></tr></thead>\n<tbody>\n");
	report_hops_row(out, c, "to servers", &hops->all);
	report_hops_row(out, c, "to ports (RDMA)", &hops->ports);
	report_hops_row(out, c, "AllReduce, by bytes", &hops->allreduce);
	report_hops_row(out, c, "MP transfers, by bytes", &hops->mp);
	fprintf(out, "</tbody></table>\n");
}

static void report_figures(FILE *out, const struct to_report *r)
{
	const struct to_figures *o = &r->verdict.figures;

	fprintf(out, "<section><h2>Figures and their lower bounds</h2>\n"
		"<p>Recomputed from links, rings, routes and demand. No topology of this degree can be "
		"below the lower bound; a full bar reaches it.</p>\n"
		"<table id=\"figures\"><thead><tr><th scope=\"col\">Figure</th><th scope=\"col\">This plan</th>"
		"<th scope=\"col\">Lower bound</th><th scope=\"col\">Ratio</th>"
		"<th scope=\"col\">Bound reached</th></tr></thead>\n<tbody>\n");
	for (unsigned int i = 0; i < TO_FIGURES; i++)
		report_figure(out, o, i);
	fprintf(out, "</tbody></table>\n");
	report_flows(out, o);
	report_hops(out, r);
	fprintf(out, "</section>\n");
}

/*
 * A row of a ring or tree: @order is how it goes round, @runs over which links. @index also
 * picks its colour, but for the one that all trees on @shared links have.
 */
static void report_allreduce_row(FILE *out, const struct to_plan *plan, const char *kind,
				 unsigned int index, unsigned int group, const char *order,
				 const char *runs, bool shared, double hop_bytes)
{
	const struct to_allreduce *g = &plan->demand->groups[group];
	char buffer[16], hop[16], color[16] = "allreduce";

	if (!shared)
		snprintf(color, sizeof(color), "color%u", index % REPORT_COLORS);
	fprintf(out, "<tr><th scope=\"row\"><i class=\"swatch %s\"></i>%s %u</th>"
		"<td>%u: %u servers</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
		color, kind, index, group, g->n_members,
		to_bytes_text(g->bytes, buffer), order, runs, to_bytes_text(hop_bytes, hop));
}

static void report_allreduce(FILE *out, const struct to_plan *plan)
{
	struct to_rings rings = to_allreduce_of(plan);
	const struct to_cluster *c = plan->cluster;
	struct to_graph *graph;
	unsigned int i;

	fprintf(out, "<section><h2>AllReduce</h2>\n");
	if (!plan->n_rings && !plan->n_trees) {
		fprintf(out, "<p>The job has no AllReduce groups.</p></section>\n");
		return;
	}
	graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	fprintf(out, "<p>The rings of a group share its buffer evenly; trees may take unequal shares.</p>\n"
		"<div class=\"scroll\"><table id=\"allreduce\"><thead><tr><th scope=\"col\">Runs on</th>"
		"<th scope=\"col\">Group</th><th scope=\"col\">Buffer</th><th scope=\"col\">Order</th>"
		"<th scope=\"col\">Links</th><th scope=\"col\">Bytes per hop</th></tr></thead>\n<tbody>\n");
	for (i = 0; i < plan->n_rings; i++) {
		const struct to_ring *ring = &plan->rings[i];
		char order[32] = "irregular";

		if (ring->jump)
			snprintf(order, sizeof(order), "every %s%u",
				 ring->reverse ? "&plusmn;" : "+", ring->jump);
		report_allreduce_row(out, plan, "ring", i, ring->group, order,
				     to_allreduce_ring_linked(&rings, i) ? "direct" : "multi-hop",
				     false, to_allreduce_hop_bytes(&rings, ring));
	}
	for (i = 0; i < plan->n_trees; i++) {
		const bool shared = !to_allreduce_tree_linked(&rings, i);
		const char *links = shared ? "shared" : "direct";

		if (shared && graph && to_allreduce_tree_routed(&rings, graph, &plan->trees[i]))
			links = "shared, multi-hop";
		report_allreduce_row(out, plan, "tree", i, plan->trees[i].group, "up and down",
				     links, shared, to_allreduce_tree_bytes(&rings, &plan->trees[i]));
	}
	to_graph_free(graph);
	fprintf(out, "</tbody></table></div></section>\n");
}

/* How much longer @c takes than the one chosen: both estimated, or both routed. */
static void report_behind(FILE *out, const struct to_candidate *c, const struct to_candidate *won)
{
	bool routed = won && c->comm_time > 0 && won->comm_time > 0;

	/* without traffic, all times are 0 */
	if (!won || c == won || !(won->estimated_time > 0))
		return;
	fprintf(out, "%+.1f&#8239;%%", 100 * (routed ? c->comm_time / won->comm_time :
					      c->estimated_time / won->estimated_time) - 100);
}

/* The families compared, best first, with the times that the plan holds. */
static void report_candidates(FILE *out, const struct to_plan *plan)
{
	const struct to_candidate *won = NULL;
	char text[16];
	unsigned int i;

	fprintf(out, "<section><h2>Topology families compared</h2>\n");
	if (!plan->n_candidates) {
		fprintf(out, "<p>None: the links of this plan were given.</p></section>\n");
		return;
	}
	for (i = 0; i < plan->n_candidates; i++)
		if (plan->candidates[i].chosen)
			won = &plan->candidates[i];
	fprintf(out, "<p>The best topology of each family, the ports it gives to AllReduce, and its "
		"communication time: estimated for all, predicted from routes for the most promising.</p>\n"
		"<div class=\"scroll\"><table id=\"candidates\"><thead><tr><th scope=\"col\">Family</th>"
		"<th scope=\"col\">Ports</th><th scope=\"col\">Estimated</th>"
		"<th scope=\"col\">Routed</th><th scope=\"col\">Slower by</th></tr></thead>\n<tbody>\n");
	for (i = 0; i < plan->n_candidates; i++) {
		const struct to_candidate *c = &plan->candidates[i];

		fprintf(out, "<tr%s><th scope=\"row\">", c == won ? " class=\"chosen\"" : "");
		to_markup_print(out, c->family);
		fprintf(out, "%s</th><td>%u</td><td>%s</td>", c == won ? "<b>chosen</b>" : "", c->ports,
			to_seconds_text(c->estimated_time, text));
		fprintf(out, "<td>%s</td><td>",
			c->comm_time > 0 ? to_seconds_text(c->comm_time, text) : "&ndash;");
		report_behind(out, c, won);
		fprintf(out, "</td></tr>\n");
	}
	fprintf(out, "</tbody></table></div></section>\n");
}

static void report_end(FILE *out, const struct to_cluster *c, struct to_port_ref end)
{
	const struct to_port *port = &c->servers[end.server].ports[end.port];

	fprintf(out, "<td>%u</td><td>", port->optical_port);
	to_markup_print(out, c->servers[end.server].name);
	fprintf(out, ":");
	to_markup_print(out, port->name);
	fprintf(out, "</td>");
}

/* Which ports of patch panels and optical switches to join, for whoever does it by hand. */
static void report_patches(FILE *out, const struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;
	bool duplex = c->link_mode == TO_LINKS_DUPLEX;
	unsigned int i;

	if (!plan->n_cross_connects)
		return;
	fprintf(out, "<section><h2>Patch list</h2>\n<details%s><summary>%u cross-connects</summary>\n"
		"<table id=\"patches\"><thead><tr><th scope=\"col\">Panel or switch</th>"
		"<th scope=\"col\">%s</th><th scope=\"col\">Server</th><th scope=\"col\">%s</th>"
		"<th scope=\"col\">Server</th></tr></thead>\n<tbody>\n",
		plan->n_cross_connects <= 64 ? " open" : "", plan->n_cross_connects,
		duplex ? "Port" : "From port", duplex ? "Port" : "To port");
	for (i = 0; i < c->n_links; i++) {
		const struct to_link *link = &c->links[i];
		int s = c->servers[link->a.server].ports[link->a.port].optical_switch;

		if (s < 0)
			continue;	/* a cable of its own */
		fprintf(out, "<tr><th scope=\"row\">");
		to_markup_print(out, c->switches[s].name);
		fprintf(out, "</th>");
		report_end(out, c, link->a);
		report_end(out, c, link->b);
		fprintf(out, "</tr>\n");
	}
	fprintf(out, "</tbody></table></details></section>\n");
}

/* A port on packet switch @on, and what it sends and receives. */
static void report_shared_port(FILE *out, const struct to_report *r,
			       const struct to_packet_switch *on, struct to_port_ref at)
{
	const struct to_server *server = &r->plan->cluster->servers[at.server];
	const struct to_graph *g = r->graph;
	double sent = 0, received = 0;
	char text[2][16];
	uint32_t i;

	for (i = g->out[at.server]; i < g->out[at.server + 1]; i++)
		if (g->port[i] == at.port)
			sent += r->rings[i] + r->mp[i];
	for (i = g->in[at.server]; i < g->in[at.server + 1]; i++)
		if (g->peer_port[g->in_arc[i]] == at.port)
			received += r->rings[g->in_arc[i]] + r->mp[g->in_arc[i]];
	fprintf(out, "<tr><th scope=\"row\">");
	to_markup_print(out, on->name);
	fprintf(out, "</th><td>");
	to_markup_print(out, server->name);
	fprintf(out, ":");
	to_markup_print(out, server->ports[at.port].name);
	fprintf(out, "</td><td>%s</td><td>%s</td></tr>\n", to_bytes_text(sent, text[0]),
		to_bytes_text(received, text[1]));
}

/* Which ports share which packet switch. */
static void report_packet_switches(FILE *out, const struct to_report *r)
{
	const struct to_cluster *c = r->plan->cluster;
	unsigned int on;

	if (!c->n_packet_switches)
		return;
	fprintf(out, "<section><h2>Packet switches</h2>\n<details%s><summary>%u switches</summary>\n"
		"<p>Each joins all ports on it; the links drawn above share these ports.</p>\n"
		"<table id=\"switches\"><thead><tr><th scope=\"col\">Switch</th>"
		"<th scope=\"col\">Port</th><th scope=\"col\">Sends</th>"
		"<th scope=\"col\">Receives</th></tr></thead>\n<tbody>\n",
		c->n_packet_switches <= 16 ? " open" : "", c->n_packet_switches);
	for (on = 1; on <= c->n_packet_switches; on++) {
		for (uint32_t x = 0; x < c->n_servers; x++) {
			int q = to_cluster_find_on(&c->servers[x], on);

			if (q >= 0)
				report_shared_port(out, r, &c->packet_switches[on - 1],
						   (struct to_port_ref){ x, q });
		}
	}
	fprintf(out, "</tbody></table></details></section>\n");
}

/* Places that report.js fills. */
static const char report_drawings[] =
"<section id=\"topology\"><h2>Topology</h2>\n<div class=\"stage\"><div class=\"drawing\"></div>"
"<aside></aside></div></section>\n"
"<div class=\"pair\">\n"
"<section id=\"demand\"><h2>Demand</h2></section>\n"
"<section id=\"load\"><h2>Link load</h2></section>\n"
"</div>\n<div class=\"pair\">\n"
"<section id=\"curves\"><h2>Links by load</h2></section>\n"
"<section id=\"hops\"><h2>Hops</h2></section>\n"
"</div>\n";

static int report_write(FILE *out, const void *data, struct to_error *err)
{
	const struct to_report *r = data;
	const struct to_plan *plan = r->plan;
	const struct to_figures *o = &r->verdict.figures;

	to_page_begin(out, plan->demand->name, ": plan", TO_PAGE_SCRIPT);
	fprintf(out, "<header><h1>");
	to_markup_print(out, plan->demand->name);
	fprintf(out, "</h1>\n<p>%u servers of degree %u, %u %s links", o->servers, o->degree,
		o->links, plan->cluster->link_mode == TO_LINKS_DUPLEX ? "duplex" : "simplex");
	if (to_cluster_shares_cables(plan->cluster))
		fprintf(out, " on %u cables", to_cluster_cables(plan->cluster));
	fprintf(out, ", family <b>%s</b></p></header>\n<main>\n", o->family);
	report_verdict(out, r);
	report_figures(out, r);
	if (to_wavelength_chart(out, plan->cluster))
		return to_error_set(err, -ENOMEM, "out of memory");
	fprintf(out, "<noscript><p>The drawings need JavaScript.</p></noscript>\n%s", report_drawings);
	fprintf(out, "<div class=\"pair\">\n");
	report_allreduce(out, plan);
	report_candidates(out, plan);
	fprintf(out, "</div>\n");
	report_patches(out, plan);
	report_packet_switches(out, r);
	to_report_hardware(out, plan->cluster);
	fprintf(out, "</main>\n<footer>toctl %s, seed %" PRIu64 "</footer>\n"
		"<script type=\"application/json\" id=\"data\">\n", r->version, plan->seed);
	if (to_report_print_data(out, r))
		return to_error_set(err, -ENOMEM, "out of memory");
	fprintf(out, "</script>\n<script>\n%s</script>\n</body></html>\n", report_js);
	return 0;
}

int to_report_save(const struct to_plan *plan, const char *version, const char *path,
		   struct to_error *err)
{
	struct to_report r = { .plan = plan, .version = version };
	int ret = to_report_compute(&r, err);

	if (!ret)
		ret = to_file_write(path, report_write, &r, err);
	to_report_free(&r);
	return ret;
}
