// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "plan/complete.h"
#include "plan/replan.h"
#include "plan/rewire.h"
#include "plan/rewire_steps.h"
#include "routing/link_loads.h"
#include "verify/predict.h"
#include "verify/verify_links.h"

#define REPLAN_ROUTED 5e4	/* servers times links, up to which all choices are routed */
#define REPLAN_SLACK 0.85	/* of an estimate, that routes may come down to */

const char *const to_replan_action_names[] = { "keep", "reroute", "rewire", NULL };
const char *const to_replan_source_names[] = { "current", "routes", "reconfig-mp", "reconfig",
					       "reconfig-spread", "topology-finder", NULL };

/* A choice in the making. */
struct option {
	struct to_topology topology;	/* until it is routed */
	struct to_plan *plan;		/* from then on */
};

struct replan {
	const struct to_plan *plan;
	const struct to_traffic *traffic;
	const struct to_replan_options *options;
	struct to_replan_result *result;
	struct to_demand *demand;	/* measured, AllReduce told from MP transfers */
	struct to_graph *graph;		/* of the plan's links */
	double *load;			/* bytes on them, per arc */
	bool routes_all;
	struct option option[TO_REPLAN_SOURCES];
};

/* Say why the matrix is not of the plan's job, if it is not. */
static int replan_traffic_check(const struct to_tm *tm, const struct to_plan *plan,
				struct to_error *err)
{
	if (strcmp(tm->job, plan->demand->name))
		return to_error_set(err, -EINVAL,
				    "job: it is of job \"%s\", the plan of job \"%s\"", tm->job,
				    plan->demand->name);
	if (!tm->n_samples)
		return to_error_set(err, -EINVAL, "samples: there are none");
	return to_tm_check_fabric(tm, plan->cluster, err);
}

int to_traffic_of(const struct to_tm *tm, const struct to_plan *plan, unsigned int samples,
		  struct to_traffic *traffic, struct to_error *err)
{
	size_t n = plan->cluster->n_servers, i;
	unsigned int first = samples && samples < tm->n_samples ? tm->n_samples - samples : 0, k;
	int ret = replan_traffic_check(tm, plan, err);

	if (ret)
		return ret;
	*traffic = (struct to_traffic){ .n = n, .bytes = calloc(n * n, sizeof(*traffic->bytes)) };
	if (!traffic->bytes)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (; first < tm->n_samples; first++) {
		const struct to_tm_sample *s = &tm->samples[first];

		traffic->seconds += s->elapsed_ns * 1e-9;
		for (k = 0; k < s->n_flows; k++)
			if (s->flows[k].src != TO_TM_NONE && s->flows[k].dst != TO_TM_NONE)
				traffic->bytes[s->flows[k].src * n + s->flows[k].dst] +=
					s->flows[k].bytes;
	}
	for (i = 0; i < n; i++)
		traffic->bytes[i * (n + 1)] = 0;
	if (traffic->seconds > 0)
		return 0;
	free(traffic->bytes);
	return to_error_set(err, -EINVAL, "samples: they last no time");
}

static void replan_line(void *data, const char *line)
{
	struct to_error *err = data;

	if (err && !err->text[0])
		to_error_set(err, -EINVAL, "%s", line);
}

/* The plan must be one that a switch can have in force. */
static int replan_check(const struct replan *r, struct to_error *err)
{
	const struct to_plan *plan = r->plan;
	struct to_verify_report report = { 0 };
	struct to_error why = { "" };
	struct to_verify_out out = { replan_line, &why, &report };
	uint64_t left = 1ull << 60;
	size_t i;
	int ret;

	if (r->traffic->n != plan->cluster->n_servers)
		return to_error_set(err, -EINVAL, "traffic of %u servers, the plan has %u",
				    r->traffic->n, plan->cluster->n_servers);
	for (i = 0; i < (size_t)r->traffic->n * r->traffic->n; i++) {
		if (r->traffic->bytes[i] > left)
			return to_error_set(err, -ERANGE, "more than 2^60 bytes of traffic");
		left -= r->traffic->bytes[i];
	}
	if (!plan->tables || !plan->cluster->n_links)
		return to_error_set(err, -EINVAL, "links: the plan has none");
	ret = to_verify_links(plan, &out);
	if (ret < 0)
		return ret;
	return report.violations ? to_error_set(err, -EINVAL, "links, cross_connects: %s", why.text) :
				   0;
}

/* What was measured, as the demand of a plan. Return: 0 or -ENOMEM. */
static int replan_measure(struct replan *r)
{
	struct to_rings rings = to_allreduce_of(r->plan);
	size_t n = r->traffic->n, i;
	uint64_t *buffers;
	int ret;

	r->demand = to_demand_copy(r->plan->demand);
	buffers = calloc(r->plan->demand->n_groups + 1, sizeof(*buffers));
	if (!r->demand || !buffers) {
		free(buffers);
		return -ENOMEM;
	}
	memcpy(r->demand->mp, r->traffic->bytes, n * n * sizeof(*r->demand->mp));
	for (i = 0; i < n; i++)
		r->demand->mp[i * (n + 1)] = 0;
	for (i = 0; i < n * n; i++)
		r->result->bytes += r->demand->mp[i];
	ret = to_allreduce_take(&rings, r->demand->mp, buffers);
	/* a group of the job remains one while it sends nothing */
	for (i = 0; i < r->demand->n_groups; i++)
		r->demand->groups[i].bytes = buffers[i] ? buffers[i] : 1;
	free(buffers);
	return ret;
}

/*
 * Seconds that the busiest link is busy with @demand under the tables of @plan.
 * @graph: of its links
 * @load: gets bytes per arc; NULL when nobody asks
 */
static int replan_time(const struct to_plan *plan, const struct to_graph *graph,
		       struct to_demand *demand, double *load, double *seconds)
{
	struct to_plan view = *plan;
	double *rings = calloc(2 * (size_t)graph->n_arcs + 1, sizeof(*rings));
	double *mp = rings ? rings + graph->n_arcs : NULL;
	struct to_forwarding f = { 0 };
	int ret = -ENOMEM;
	uint32_t a;

	view.demand = demand;
	if (rings && !to_forwarding_init(&f, &view, graph))
		ret = to_link_loads(&f, rings, mp);
	*seconds = 0;
	for (a = 0; !ret && a < graph->n_arcs; a++) {
		double bytes = rings[a] + mp[a];

		*seconds =
			fmax(*seconds, bytes * to_graph_seconds_per_byte(graph, plan->cluster, a));
		if (load)
			load[a] = bytes;
	}
	to_forwarding_free(&f);
	free(rings);
	return ret;
}

/* Seconds that the busiest of @links is busy with all bytes, INFINITY when they
 * do not join all servers. @links are taken over. Return: 0 or -ENOMEM.
 */
static int replan_darkness(const struct replan *r, struct to_link *links, unsigned int n_links,
			   double *seconds)
{
	const struct to_cluster *c = r->plan->cluster;
	struct to_demand all = { .n = r->traffic->n, .mp = r->traffic->bytes };
	struct to_topology t = { .layout = { .links = links, .n_links = n_links } };
	struct to_graph *graph;
	unsigned int i;
	int ret;

	for (i = 0; i < n_links; i++)
		links[i].ring = links[i].tree = -1;
	graph = to_graph_new(c->n_servers, links, n_links, c->link_mode);
	ret = graph ? to_topology_rate(&t, c, &all, graph) : -ENOMEM;
	*seconds = ret ? INFINITY : t.time;
	to_graph_free(graph);
	free(links);
	return ret == -ENOMEM ? ret : 0;
}

/* Of the switch that joins @link, seconds that a change of it takes. */
static double replan_switching(const struct to_cluster *c, const struct to_link *link)
{
	int at = c->servers[link->a.server].ports[link->a.port].optical_switch;

	return at < 0 ? 0 : c->switches[at].reconfiguration_ns * 1e-9;
}

/* What the steps to @links move and delay. Return: 0 or -ENOMEM. */
static int replan_price_steps(const struct replan *r, const struct to_link *links,
			      unsigned int n_links, const struct to_rewire_steps *steps,
			      struct to_replan_choice *choice)
{
	const struct to_cluster *c = r->plan->cluster;
	double now = r->result->choices[0].comm_time, pace = fmax(r->result->seconds, now);
	double longest = 0, bytes = 0, slow = 0, dark;
	struct to_link *lit;
	unsigned int n_lit, i;

	for (i = 0; i < c->n_links; i++)
		if (steps->cut[i] < steps->n) {
			longest = fmax(longest, replan_switching(c, &c->links[i]));
			choice->cut++;
		}
	for (i = 0; i < n_links; i++)
		if (steps->made[i] < steps->n) {
			longest = fmax(longest, replan_switching(c, &links[i]));
			choice->made++;
		}
	for (i = 0; i < r->graph->n_arcs; i++)
		bytes += steps->cut[r->graph->link[i]] < steps->n ? r->load[i] : 0;
	dark = r->options->dark < 0 ? longest : r->options->dark;
	choice->steps = steps->n;
	choice->dark = steps->n * dark;
	choice->delayed = steps->n ? bytes * dark / r->result->seconds : 0;
	if (!choice->dark)
		return 0;
	/* the first step leaves the fewest links; where no steps are whole, the last none */
	if (steps->n > 1 || steps->whole) {
		lit = malloc((c->n_links + n_links + 1) * sizeof(*lit));
		if (!lit)
			return -ENOMEM;
		to_rewire_steps_links(steps, c, links, n_links, 0, lit, &n_lit);
		if (replan_darkness(r, lit, n_lit, &slow))
			return -ENOMEM;
	}
	choice->lost = dark * (!steps->whole + (steps->n - !steps->whole) *
					       (1 - pace / (pace + fmax(slow - now, 0))));
	return 0;
}

/* What changing to @links moves and delays. Return: 0 or -ENOMEM. */
static int replan_price_links(const struct replan *r, const struct to_link *links,
			      unsigned int n_links, struct to_replan_choice *choice)
{
	struct to_rewire_steps steps;
	int ret = to_rewire_steps_make(r->plan->cluster, links, n_links, &steps);

	if (ret)
		return ret;
	ret = replan_price_steps(r, links, n_links, &steps, choice);
	to_rewire_steps_free(&steps);
	return ret;
}

/* What a choice gains over the horizon, from its communication time. */
static void replan_price_time(const struct replan *r, struct to_replan_choice *choice)
{
	double now = r->result->choices[0].comm_time, pace = fmax(r->result->seconds, now);
	double speedup = pace / (pace - now + choice->comm_time) - 1;

	choice->gain = fmax(r->options->horizon - choice->dark, 0) * speedup;
	choice->net = choice->gain - choice->lost;
	choice->payback = speedup > 0 ? choice->dark + choice->lost / speedup : INFINITY;
}

/* The plan of a choice's layout, which is taken over. NULL with @err set. */
static struct to_plan *replan_route(const struct replan *r, struct to_layout *layout,
				    struct to_error *err)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));
	int ret = -ENOMEM;

	if (!plan)
		goto fail;
	plan->seed = r->options->seed;
	plan->cluster = to_cluster_copy(r->plan->cluster);
	plan->demand = to_demand_copy(r->demand);
	if (!plan->cluster || !plan->demand)
		goto fail;
	ret = to_complete_plan(plan, layout, r->options->effort, NULL, err);
	if (!ret)
		return plan;
fail:
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	to_plan_free(plan);
	return NULL;
}

/* Make the tables of choice @index, and price it by them. 0 or a negative errno. */
static int replan_try(struct replan *r, unsigned int index, struct to_error *err)
{
	struct to_replan_choice *choice = &r->result->choices[index];
	struct option *o = &r->option[choice->source];
	const struct to_cluster *c;
	struct to_graph *graph;
	int ret;

	o->plan = replan_route(r, &o->topology.layout, err);
	if (!o->plan)
		return -EINVAL;
	c = o->plan->cluster;
	graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	ret = graph ? replan_time(o->plan, graph, o->plan->demand, NULL, &choice->comm_time) :
		      -ENOMEM;
	to_graph_free(graph);
	choice->estimated = false;
	replan_price_time(r, choice);
	return ret;
}

/* Topology of one source. Return: 0, -ENOMEM, -ENOSPC where there is none. */
static int replan_topology(const struct replan *r, enum to_replan_source source,
			   struct to_topology *t, struct to_error *err)
{
	const struct to_replan_options *o = r->options;
	const struct to_cluster *c = r->plan->cluster;
	int ret;

	if (source == TO_REPLAN_FINDER)
		return to_rewire_find(r->plan, r->traffic->bytes, r->demand, o->effort, o->seed, t,
				      err);
	if (source != TO_REPLAN_ROUTES)
		return to_rewire_reconfig(r->plan, source == TO_REPLAN_RECONFIG_MP,
					  source == TO_REPLAN_RECONFIG_SPREAD, r->traffic->bytes,
					  r->demand, o->discount, o->seed, t, err);
	ret = to_rewire_none(r->plan, t);
	if (!ret)
		ret = to_topology_rate(t, c, r->demand, r->graph);
	return ret;
}

/* Is there anything that @source could do? */
static bool replan_applies(const struct replan *r, enum to_replan_source source)
{
	const struct to_cluster *c = r->plan->cluster;
	unsigned int n_owned = 0, i;

	for (i = 0; i < c->n_links; i++)
		n_owned += c->links[i].ring >= 0 || c->links[i].tree >= 0;
	switch (source) {
	case TO_REPLAN_CURRENT:
		return false;
	case TO_REPLAN_ROUTES:
		return true;
	case TO_REPLAN_RECONFIG_MP:
		return c->n_switches && n_owned && n_owned < c->n_links;
	case TO_REPLAN_FINDER:
		return c->n_switches && r->options->topology_finder;
	default:
		return c->n_switches;
	}
}

/* Add the choice that @source has. Return: 0 or a negative errno. */
static int replan_add(struct replan *r, enum to_replan_source source, struct to_error *err)
{
	struct to_replan_choice *choice = &r->result->choices[r->result->n_choices];
	struct to_topology *t = &r->option[source].topology;
	struct to_error why = { "" };
	int ret;

	if (!replan_applies(r, source))
		return 0;
	ret = replan_topology(r, source, t, &why);
	if (ret == -ENOSPC) {
		r->result->none[r->result->n_none++] = (struct to_replan_none){ source, why };
		return 0;
	}
	if (ret)
		return to_error_set(err, ret, "%s", why.text[0] ? why.text : "out of memory");
	*choice = (struct to_replan_choice){ .source = source, .comm_time = t->time,
					     .estimated = true };
	ret = replan_price_links(r, t->layout.links, t->layout.n_links, choice);
	if (ret)
		return ret;
	choice->action = choice->cut || choice->made ? TO_REPLAN_REWIRE : TO_REPLAN_REROUTE;
	replan_price_time(r, choice);
	r->result->n_choices++;
	return r->routes_all ? replan_try(r, r->result->n_choices - 1, err) : 0;
}

/* Is a choice worth more than to keep the plan, or might it be once it is routed? */
static bool replan_worth(const struct replan *r, const struct to_replan_choice *choice)
{
	double least = (1 - r->options->threshold) * r->result->choices[0].comm_time;
	struct to_replan_choice best = *choice;

	if (choice->estimated) {
		best.comm_time *= REPLAN_SLACK;
		replan_price_time(r, &best);
	}
	return best.comm_time <= least && best.net > 0;
}

/* The best choice that is worth it, 0 to keep the plan. */
static unsigned int replan_best(const struct replan *r)
{
	const struct to_replan_choice *choices = r->result->choices;
	unsigned int best = 0, i;

	for (i = 1; i < r->result->n_choices; i++)
		if (replan_worth(r, &choices[i]) && (!best || choices[i].net > choices[best].net))
			best = i;
	return best;
}

/* A line that says why. */
static void replan_explain(const struct replan *r)
{
	struct to_replan_result *result = r->result;
	const struct to_replan_choice *best = &result->choices[result->chosen], *c;
	double now = result->choices[0].comm_time;
	unsigned int i;

	if (!now) {
		snprintf(result->reason, sizeof(result->reason), "no traffic");
		return;
	}
	if (result->action == TO_REPLAN_REROUTE) {
		snprintf(result->reason, sizeof(result->reason),
			 "new routes on the same links save %.3g %% of the communication time",
			 100 * (1 - best->comm_time / now));
		return;
	}
	if (result->action == TO_REPLAN_REWIRE) {
		snprintf(result->reason, sizeof(result->reason),
			 "%u new cross-connects save %.3g %% of the communication time and pay back after %.3g s",
			 best->made, 100 * (1 - best->comm_time / now), best->payback);
		return;
	}
	for (i = 1; i < result->n_choices; i++) {
		c = &result->choices[i];
		if (c->comm_time < best->comm_time)
			best = c;
	}
	if (best == &result->choices[0])
		snprintf(result->reason, sizeof(result->reason),
			 "nothing saves communication time");
	else if (best->comm_time > (1 - r->options->threshold) * now)
		snprintf(result->reason, sizeof(result->reason),
			 "nothing saves %.3g %% of the communication time: the best is %.3g %%",
			 100 * r->options->threshold, 100 * (1 - best->comm_time / now));
	else
		snprintf(result->reason, sizeof(result->reason),
			 "%u new cross-connects would save %.3g %% of the communication time but pay back after %.3g s, past the horizon of %.3g s",
			 best->made, 100 * (1 - best->comm_time / now), best->payback,
			 r->options->horizon);
}

/* Price all choices, and take the best. Return: 0 or a negative errno. */
static int replan_decide(struct replan *r, struct to_error *err)
{
	struct to_replan_result *result = r->result;
	struct to_figures figures;
	enum to_replan_source source;
	int ret = 0;

	for (source = 0; !ret && result->choices[0].comm_time > 0 && source < TO_REPLAN_SOURCES;
	     source++)
		ret = replan_add(r, source, err);
	while (!ret) {
		result->chosen = replan_best(r);
		if (!result->choices[result->chosen].estimated)
			break;
		ret = replan_try(r, result->chosen, err);
	}
	if (ret)
		return ret;
	result->action = result->choices[result->chosen].action;
	replan_explain(r);
	if (!result->chosen)
		return 0;
	source = result->choices[result->chosen].source;
	if (r->options->predict) {
		ret = to_complete_predictions(r->option[source].plan, &figures);
		if (ret)
			return ret;
	}
	result->plan = r->option[source].plan;
	r->option[source].plan = NULL;
	return 0;
}

int to_replan(const struct to_plan *plan, const struct to_traffic *traffic,
	      const struct to_replan_options *options, struct to_replan_result *result,
	      struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;
	struct replan r = { .plan = plan, .traffic = traffic, .options = options,
			    .result = result };
	struct to_replan_choice *keep = &result->choices[0];
	double routed = to_effort_steps(REPLAN_ROUTED, options->effort);
	unsigned int i;
	int ret;

	*result = (struct to_replan_result){ .seconds = traffic->seconds, .n_choices = 1 };
	ret = replan_check(&r, err);
	if (ret)
		goto out;
	r.routes_all = (double)c->n_servers * c->n_links <= routed;
	r.graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	ret = r.graph ? replan_measure(&r) : -ENOMEM;
	if (!ret) {
		r.load = calloc(r.graph->n_arcs + 1, sizeof(*r.load));
		ret = r.load ? replan_time(plan, r.graph, r.demand, r.load, &keep->comm_time) :
			       -ENOMEM;
	}
	if (!ret) {
		*keep = (struct to_replan_choice){ .comm_time = keep->comm_time,
						   .payback = INFINITY };
		ret = replan_decide(&r, err);
	}
out:
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	for (i = 0; i < TO_REPLAN_SOURCES; i++) {
		to_layout_free(&r.option[i].topology.layout);
		to_plan_free(r.option[i].plan);
	}
	to_demand_free(r.demand);
	to_graph_free(r.graph);
	free(r.load);
	return ret;
}

/* Numbers that JSON has: never is null. */
static json_t *replan_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *replan_choice_json(const struct to_replan_choice *c, bool chosen)
{
	return json_pack("{s:s s:s s:f s:b s:I s:I s:I s:f s:f s:f s:f s:f s:o s:b}",
			 "action", to_replan_action_names[c->action],
			 "source", to_replan_source_names[c->source],
			 "comm_time_s", c->comm_time, "estimated", c->estimated,
			 "cut", (json_int_t)c->cut, "made", (json_int_t)c->made,
			 "steps", (json_int_t)c->steps, "dark_s", c->dark,
			 "delayed_bytes", c->delayed, "lost_s", c->lost,
			 "gain_s", c->gain, "net_s", c->net, "payback_s", replan_number(c->payback),
			 "chosen", chosen);
}

json_t *to_replan_json(const struct to_replan_result *result)
{
	json_t *choices = json_array(), *none = json_array();
	bool ok = choices && none;
	unsigned int i;

	for (i = 0; ok && i < result->n_choices; i++)
		ok = !json_array_append_new(choices, replan_choice_json(&result->choices[i],
									i == result->chosen));
	for (i = 0; ok && i < result->n_none; i++)
		ok = !json_array_append_new(none, json_pack("{s:s s:s}", "source",
				to_replan_source_names[result->none[i].source],
				"reason", result->none[i].why.text));
	if (ok)
		return json_pack("{s:s s:s s:f s:f s:o s:o}",
				 "action", to_replan_action_names[result->action],
				 "reason", result->reason, "seconds", result->seconds,
				 "bytes", result->bytes, "choices", choices, "none", none);
	json_decref(choices);
	json_decref(none);
	return NULL;
}
