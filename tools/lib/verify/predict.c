// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/port_loads.h"
#include "routing/link_loads.h"
#include "topology/family.h"
#include "verify/predict.h"

static void predict_raise(double *bound, double value)
{
	if (value > *bound)
		*bound = value;
}

static int predict_rdma(struct to_forwarding *f, struct to_port_loads *ports,
			struct to_figures *o)
{
	uint32_t n_arcs = f->graph->n_arcs;
	double *routed = calloc(2 * (size_t)n_arcs + 1, sizeof(*routed));
	double *bound = routed ? routed + n_arcs : NULL;

	if (!routed || to_link_loads_rdma(f, routed, bound)) {
		free(routed);
		return -ENOMEM;
	}
	to_port_loads_set(ports, routed);
	o->max_mp_link_load_rdma = to_port_loads_most(ports);
	to_port_loads_set(ports, bound);
	o->max_mp_link_load_rdma_ports = to_port_loads_most(ports);
	free(routed);
	return 0;
}

static int predict_loads(struct to_forwarding *f, struct to_port_loads *ports,
			 struct to_figures *o, double *on_links)
{
	const struct to_graph *g = f->graph;
	double *rings = calloc(2 * (size_t)g->n_arcs + 1, sizeof(*rings));
	double *mp = rings ? rings + g->n_arcs : NULL;
	struct to_link_bypass bypass = { 0 };
	uint32_t a;
	int ret = rings ? to_bypass_init(&bypass.rings, g, f->plan->cluster) : -ENOMEM;

	if (!ret)
		ret = to_bypass_init(&bypass.mp, g, f->plan->cluster);
	if (!ret)
		ret = to_link_loads_bypass(f, rings, mp, &bypass);
	if (ret)
		goto out;
	to_port_loads_set(ports, rings);
	to_bypass_relieve(&bypass.rings, ports);
	o->allreduce_time = to_port_loads_seconds(ports);
	o->allreduce_pcie = to_pcie_load_find(ports, f->plan->cluster);
	to_port_loads_set(ports, mp);
	o->max_mp_link_load = to_port_loads_most(ports);
	for (a = 0; a < g->n_arcs; a++) {
		mp[a] += rings[a];
		*on_links += mp[a];
	}
	to_port_loads_set(ports, mp);
	to_bypass_relieve(&bypass.rings, ports);
	to_bypass_relieve(&bypass.mp, ports);
	o->max_link_load = to_port_loads_most(ports);
	o->comm_time = to_port_loads_seconds(ports);
	o->comm_pcie = to_pcie_load_find(ports, f->plan->cluster);
out:
	to_bypass_free(&bypass.rings);
	to_bypass_free(&bypass.mp);
	free(rings);
	return ret;
}

static int predict_hops(const struct to_graph *g, struct to_figures *o)
{
	uint16_t *distance = calloc(g->n, sizeof(*distance));
	uint32_t *order = calloc(g->n, sizeof(*order));
	uint64_t sum = 0, pairs = 0;
	unsigned int n_reached, i;
	uint32_t dst;

	for (dst = 0; distance && order && dst < g->n; dst++) {
		n_reached = to_graph_distances(g, dst, TO_SERVER_NONE, distance, order);
		for (i = 1; i < n_reached; i++)
			sum += distance[order[i]];
		pairs += n_reached - 1;
		if (distance[order[n_reached - 1]] > o->diameter)
			o->diameter = distance[order[n_reached - 1]];
	}
	o->mean_hops = pairs ? (double)sum / pairs : 0;
	free(distance);
	free(order);
	return dst == g->n ? 0 : -ENOMEM;
}

double to_predict_moore(unsigned int first, unsigned int degree, bool duplex, unsigned int hops)
{
	double servers = first;

	while (--hops)
		servers *= duplex ? degree - 1 : degree;
	return servers;
}

static int predict_descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* Byte-hops of the sorted demands of one source with @ports ports. */
static double predict_byte_hops(const uint64_t *sorted, size_t n, unsigned int ports,
				unsigned int degree, bool duplex)
{
	unsigned int hops = 1;
	double left = ports, sum = 0;
	size_t i;

	for (i = 0; i < n && sorted[i]; i++) {
		if (left < 1 && (ports > 1 || !duplex || degree > 1))
			left = to_predict_moore(ports, degree, duplex, ++hops);
		sum += (double)sorted[i] * hops;
		left--;
	}
	return sum;
}

/* What servers can do: @ports of them, and bits/s that all of them send and receive at most. */
struct predict_rates {
	double ports, sends, receives;
};

static void predict_add_rates(struct predict_rates *sum, const struct predict_rates *more)
{
	sum->ports += more->ports;
	sum->sends += more->sends;
	sum->receives += more->receives;
}

/*
 * Lower bounds from what some servers of these @rates have to send and receive: MP bytes
 * @out and @in, and @reduced bytes each way.
 */
static void predict_some(struct to_figures *o, double out, double in, double reduced,
			 const struct predict_rates *rates)
{
	if (!rates->ports)
		return;
	predict_raise(&o->max_link_load_bound, (out + reduced) / rates->ports);
	predict_raise(&o->max_link_load_bound, (in + reduced) / rates->ports);
	predict_raise(&o->allreduce_time_bound, reduced * 8 / rates->sends);
	predict_raise(&o->allreduce_time_bound, reduced * 8 / rates->receives);
	predict_raise(&o->comm_time_bound, (out + reduced) * 8 / rates->sends);
	predict_raise(&o->comm_time_bound, (in + reduced) * 8 / rates->receives);
}

/*
 * A server sends its part of every AllReduce and receives the sum, as a leaf of
 * a tree does; the members together send 2(n - 1) times the buffer (Patarasuk
 * and Yuan, 2009), which a ring shares evenly. @out, @in: MP bytes per server.
 */
static void predict_reduced(const struct to_plan *plan, struct to_figures *o, const double *out,
			    const double *in, const struct predict_rates *rates, double *own)
{
	const struct to_demand *demand = plan->demand;
	unsigned int g, i;
	uint32_t x;

	for (g = 0; g < demand->n_groups; g++)
		for (i = 0; demand->groups[g].n_members > 1 && i < demand->groups[g].n_members; i++)
			own[demand->groups[g].members[i]] += demand->groups[g].bytes;
	for (x = 0; x < demand->n; x++)
		predict_some(o, out[x], in[x], own[x], &rates[x]);
	for (g = 0; g < demand->n_groups; g++) {
		const struct to_allreduce *group = &demand->groups[g];
		double reduced = (group->n_members - 2.0) * group->bytes;
		double sent = 0, received = 0;
		struct predict_rates all = { 0 };

		for (i = 0; group->n_members > 1 && i < group->n_members; i++) {
			x = group->members[i];
			sent += out[x];
			received += in[x];
			reduced += own[x];	/* with the part of this group */
			predict_add_rates(&all, &rates[x]);
		}
		predict_some(o, sent, received, reduced, &all);
	}
}

/* Rates of every hop that begins or ends at @server: the card's own cross no PCIe link. */
static void predict_add_hops(struct predict_rates *sum, const struct to_server *server,
			     const struct predict_rates *own)
{
	struct predict_rates ports = { own->ports, 0, 0 };

	for (unsigned int q = 0; q < server->n_ports; q++)
		ports.sends += server->ports[q].bandwidth;
	ports.receives = ports.sends;
	predict_add_rates(sum, to_pcie_is_bypassed(server) ? &ports : own);
}

static int predict_bounds(const struct to_plan *plan, struct to_figures *o)
{
	const struct to_cluster *cluster = plan->cluster;
	const struct to_demand *demand = plan->demand;
	bool duplex = cluster->link_mode == TO_LINKS_DUPLEX;
	size_t n = cluster->n_servers, x, y;
	double *out = calloc(3 * n, sizeof(*out)), *in = out + n, *own = in + n;
	struct predict_rates *rates = calloc(n, sizeof(*rates)), hops = { 0 };
	uint64_t *sorted = calloc(n, sizeof(*sorted));
	double all_reduced = 0, all_hops = 0, left;
	unsigned int *reach = calloc(n, sizeof(*reach)), g;

	if (!out || !rates || !sorted || !reach || to_cluster_reach(cluster, reach)) {
		free(out);
		free(rates);
		free(sorted);
		free(reach);
		return -ENOMEM;
	}
	for (x = 0; x < n; x++)
		o->reach = reach[x] > o->reach ? reach[x] : o->reach;
	for (x = 0; x < n; x++) {
		for (y = 0; y < n; y++) {
			out[x] += demand->mp[x * n + y];
			in[y] += demand->mp[x * n + y];
		}
	}
	for (x = 0; x < n; x++) {
		const struct to_server *server = &cluster->servers[x];

		if (!server->n_ports)
			continue;
		rates[x] = (struct predict_rates){ server->n_ports,
						   to_pcie_sends(server, server->n_ports),
						   to_pcie_receives(server, server->n_ports) };
		memcpy(sorted, &demand->mp[x * n], n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), predict_descending);
		all_hops += predict_byte_hops(sorted, n, reach[x], o->reach, duplex);
		predict_add_hops(&hops, server, &rates[x]);
		predict_raise(&o->max_mp_link_load_bound,
			      (out[x] > in[x] ? out[x] : in[x]) / server->n_ports);
	}
	for (g = 0; g < demand->n_groups; g++)
		if (demand->groups[g].n_members)
			all_reduced += 2.0 * (demand->groups[g].n_members - 1) *
				       demand->groups[g].bytes;
	predict_raise(&o->max_mp_link_load_bound, all_hops / hops.ports);
	predict_reduced(plan, o, out, in, rates, own);
	predict_some(o, all_hops, all_hops, all_reduced, &hops);
	o->bandwidth_tax_bound = all_hops + all_reduced;	/* bytes on links yet */

	for (left = n - 1; left > 0 && o->degree;) {
		double servers = to_predict_moore(o->reach, o->reach, duplex, ++o->diameter_bound);

		/* one duplex port reaches one server and no further */
		if (servers < 1 || servers > left)
			servers = left;
		o->mean_hops_bound += servers * o->diameter_bound / (n - 1);
		left -= servers;
	}
	free(out);
	free(rates);
	free(sorted);
	free(reach);
	return 0;
}

static double predict_demand(const struct to_demand *demand)
{
	size_t cells = (size_t)demand->n * demand->n, i;
	double bytes = 0;

	for (i = 0; i < cells; i++)
		bytes += demand->mp[i];
	for (i = 0; i < demand->n_groups; i++)
		if (demand->groups[i].n_members)
			bytes += 2.0 * (demand->groups[i].n_members - 1) * demand->groups[i].bytes;
	return bytes;
}

int to_predict_bounds(const struct to_plan *plan, struct to_figures *figures)
{
	uint32_t i;

	memset(figures, 0, sizeof(*figures));
	figures->servers = plan->cluster->n_servers;
	for (i = 0; i < figures->servers; i++) {
		const struct to_server *server = &plan->cluster->servers[i];
		const unsigned int cables = to_server_cables(server);

		figures->ports = server->n_ports > figures->ports ? server->n_ports : figures->ports;
		figures->degree = cables > figures->degree ? cables : figures->degree;
	}
	return predict_bounds(plan, figures);
}

int to_predict_figures(struct to_forwarding *f, struct to_figures *o)
{
	const struct to_plan *plan = f->plan;
	double demand = predict_demand(plan->demand), on_links = 0;
	struct to_port_loads ports;
	int ret;

	if (to_predict_bounds(plan, o))
		return -ENOMEM;
	o->links = plan->cluster->n_links;
	o->family = to_family_name(plan, f->graph);
	if (!o->family || to_port_loads_init(&ports, f->graph, plan->cluster))
		return -ENOMEM;
	ret = predict_loads(f, &ports, o, &on_links);
	if (!ret)
		ret = to_allreduce_latency(f, o->allreduce_time, &o->allreduce_latency);
	if (!ret)
		ret = predict_rdma(f, &ports, o);
	if (!ret)
		ret = predict_hops(f->graph, o);
	to_port_loads_free(&ports);
	if (ret)
		return ret;
	o->bandwidth_tax = demand > 0 ? on_links / demand : 1;
	o->bandwidth_tax_bound = demand > 0 ? o->bandwidth_tax_bound / demand : 1;
	return 0;
}

int to_predict_routes(struct to_forwarding *f, struct to_figures *o)
{
	return to_route_hops_find(f, &o->hops);
}

int to_predict_flows(struct to_forwarding *f, struct to_figures *o)
{
	return to_flow_split_find(f, o->max_mp_link_load_flows);
}

static int predict_plan(const struct to_plan *plan, bool routes, bool flows,
			struct to_figures *figures)
{
	const struct to_cluster *c = plan->cluster;
	struct to_graph *graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	struct to_forwarding f = { 0 };
	int ret = -ENOMEM;

	if (graph && !to_forwarding_init(&f, plan, graph))
		ret = to_predict_figures(&f, figures);
	if (!ret && routes)
		ret = to_predict_routes(&f, figures);
	if (!ret && flows)
		ret = to_predict_flows(&f, figures);
	to_forwarding_free(&f);
	to_graph_free(graph);
	return ret;
}

int to_predict_plan(const struct to_plan *plan, struct to_figures *figures)
{
	return predict_plan(plan, false, false, figures);
}

int to_predict_plan_routes(const struct to_plan *plan, struct to_figures *figures)
{
	return predict_plan(plan, true, false, figures);
}

int to_predict_plan_flows(const struct to_plan *plan, struct to_figures *figures)
{
	return predict_plan(plan, true, true, figures);
}

/* Hops of the routes of a class of traffic, and the ends of the longest. */
static void predict_hops_json(json_t *object, const struct to_plan *plan, const char *class,
			      const struct to_hops *hops)
{
	const struct to_cluster *c = plan->cluster;
	json_t *to;

	if (!hops->most)
		return;
	to = hops->slot ? json_sprintf("%s:%s", c->servers[hops->dst].name,
				       c->servers[hops->dst].ports[hops->slot - 1].name) :
			  json_string(c->servers[hops->dst].name);
	json_object_set_new(object, class, json_pack(
		"{s:i s:f s:s s:o}", "max_hops", (int)hops->most, "mean_hops", hops->mean,
		"longest_from", c->servers[hops->src].name, "longest_to", to));
}

static void predict_flows_json(json_t *object, const struct to_figures *o)
{
	json_t *list = json_array();
	unsigned int k;

	for (k = 0; k < TO_FLOW_SPLIT_COUNTS && o->max_mp_link_load_flows[k].mean > 0; k++)
		json_array_append_new(list, json_pack(
			"{s:i s:f s:f}", "flows", (int)to_flow_split_counts[k],
			"mean_bytes", o->max_mp_link_load_flows[k].mean,
			"p99_bytes", o->max_mp_link_load_flows[k].p99));
	if (k)
		json_object_set_new(object, "mp_max_load_flows", list);
	else
		json_decref(list);
}

json_t *to_predict_json(const struct to_plan *plan, const struct to_figures *o)
{
	json_t *figures = json_pack("{s:s s:i s:i s:i s:i s:i s:f s:f s:f s:f s:f s:f s:f s:f s:f s:f s:f s:f s:f s:f}",
			 "family", o->family,
			 "servers", (int)o->servers, "degree", (int)o->degree,
			 "links", (int)o->links,
			 "diameter", (int)o->diameter,
			 "diameter_bound", (int)o->diameter_bound,
			 "mean_hops", o->mean_hops, "mean_hops_bound", o->mean_hops_bound,
			 "mp_max_load_bytes", o->max_mp_link_load,
			 "mp_max_load_bound_bytes", o->max_mp_link_load_bound,
			 "mp_max_load_rdma_bytes", o->max_mp_link_load_rdma,
			 "mp_max_load_rdma_ports_bytes", o->max_mp_link_load_rdma_ports,
			 "max_link_load_bytes", o->max_link_load,
			 "max_link_load_bound_bytes", o->max_link_load_bound,
			 "bandwidth_tax", o->bandwidth_tax,
			 "bandwidth_tax_bound", o->bandwidth_tax_bound,
			 "allreduce_time_s", o->allreduce_time,
			 "allreduce_time_bound_s", o->allreduce_time_bound,
			 "comm_time_s", o->comm_time, "comm_time_bound_s", o->comm_time_bound);
	json_t *routes = json_object();

	if (!figures || !routes) {
		json_decref(figures);
		json_decref(routes);
		return NULL;
	}
	predict_hops_json(routes, plan, "all", &o->hops.all);
	predict_hops_json(routes, plan, "ports", &o->hops.ports);
	predict_hops_json(routes, plan, "mp", &o->hops.mp);
	predict_hops_json(routes, plan, "allreduce", &o->hops.allreduce);
	if (plan->latency.step || plan->latency.relay) {
		json_object_set_new(figures, "allreduce_latency_s",
				    json_real(o->allreduce_latency.seconds));
		json_object_set_new(figures, "allreduce_latency_bound_s",
				    json_real(o->allreduce_latency.bound));
	}
	json_object_set_new(figures, "routes", routes);
	predict_flows_json(figures, o);
	if (o->comm_pcie.rate > 0)
		json_object_set_new(figures, "pcie", json_pack(
			"{s:o s:o}", "allreduce", to_pcie_load_json(plan->cluster, &o->allreduce_pcie),
			"communication", to_pcie_load_json(plan->cluster, &o->comm_pcie)));
	return figures;
}
