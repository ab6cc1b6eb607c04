// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/change_price.h"
#include "plan/plan_completion.h"
#include "plan/replan.h"
#include "plan/rewire.h"
#include "routing/busy_time.h"
#include "routing/routing.h"
#include "verify/predict.h"
#include "verify/verify_links.h"

#define REPLAN_ROUTED 5e4	/* servers times links, up to which all choices are routed */
#define REPLAN_SLACK 0.85	/* of an estimate, that routes may come down to */
#define REPLAN_DOUBT 0.75	/* the same, for what moves more than a choice that has routes */

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
	struct to_busy_time busy;	/* of the plan */
	double *load;			/* bytes on its links, per arc */
	bool routes_all;
	struct option option[TO_REPLAN_SOURCES];
};

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

/* What changing to the links of @layout moves and delays. Return: 0 or -ENOMEM. */
static int replan_price_links(const struct replan *r, const struct to_layout *layout,
			      struct to_replan_choice *choice)
{
	const struct to_change_from from = {
		.cluster = r->plan->cluster, .graph = r->busy.graph, .load = r->load,
		.bytes = r->traffic->bytes, .seconds = r->result->seconds,
		.busy = r->result->choices[0].comm_time, .dark = r->options->dark,
	};
	struct to_change_price price;
	int ret = to_change_price(&from, layout->links, layout->n_links, &price);

	choice->cut = price.cut;
	choice->made = price.made;
	choice->steps = price.steps;
	choice->dark = price.dark;
	choice->delayed = price.delayed;
	choice->lost = price.lost;
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
	plan->max_stretch = r->plan->max_stretch;
	plan->no_buffer_cycles = r->plan->no_buffer_cycles;
	plan->latency = r->plan->latency;
	plan->collective = r->plan->collective;
	plan->cluster = to_cluster_copy(r->plan->cluster);
	plan->demand = to_demand_copy(r->demand);
	if (!plan->cluster || !plan->demand)
		goto fail;
	ret = to_plan_completion_primaries(plan, layout, r->options->effort, err);
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
	struct to_busy_time busy;
	int ret;

	o->plan = replan_route(r, &o->topology.layout, err);
	if (!o->plan)
		return -EINVAL;
	ret = to_busy_time_init(&busy, o->plan);
	if (!ret) {
		ret = to_busy_time_of(&busy, r->demand, NULL, &choice->comm_time);
		to_busy_time_free(&busy);
	}
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
					  r->demand, o->seed, t, err);
	ret = to_rewire_none(r->plan, t);
	if (!ret)
		ret = to_topology_rate(t, c, r->demand, r->busy.graph);
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
	ret = replan_price_links(r, &t->layout, choice);
	if (ret)
		return ret;
	choice->action = choice->cut || choice->made ? TO_REPLAN_REWIRE : TO_REPLAN_REROUTE;
	replan_price_time(r, choice);
	r->result->n_choices++;
	return r->routes_all ? replan_try(r, r->result->n_choices - 1, err) : 0;
}

/* What a choice may be once it is routed, which takes @slack of the time estimated. */
static struct to_replan_choice replan_hoped(const struct replan *r,
					    const struct to_replan_choice *choice, double slack)
{
	struct to_replan_choice best = *choice;

	if (choice->estimated) {
		best.comm_time *= slack;
		replan_price_time(r, &best);
	}
	return best;
}

/* Is a choice worth more than to keep the plan, or might it be once it is routed? */
static bool replan_worth(const struct replan *r, const struct to_replan_choice *choice)
{
	const double least = (1 - r->options->threshold) * r->result->choices[0].comm_time;
	const struct to_replan_choice best = replan_hoped(r, choice, REPLAN_SLACK);

	return best.comm_time <= least && best.net > 0;
}

/*
 * The best choice that is worth it, 0 to keep the plan; or one to be routed first, where routes
 * may turn round what estimates say: of those that may be the best one, the one that moves
 * least, and then those that move more.
 */
static unsigned int replan_best(const struct replan *r)
{
	const struct to_replan_choice *choices = r->result->choices;
	unsigned int best = 0, first, i;
	double slack;

	for (i = 1; i < r->result->n_choices; i++)
		if (replan_worth(r, &choices[i]) && (!best || choices[i].net > choices[best].net))
			best = i;
	slack = choices[best].estimated ? REPLAN_SLACK : REPLAN_DOUBT;
	for (first = best, i = 1; best && i < r->result->n_choices; i++) {
		if (!choices[i].estimated ||
		    replan_hoped(r, &choices[i], slack).net <= choices[best].net)
			continue;
		if (choices[best].estimated ? choices[i].made < choices[first].made :
					      choices[i].made > choices[first].made)
			first = i;
	}
	return first;
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
	return 0;
}

/* As to_replan_all(), but tables lack backups and alternates. */
static int replan_primaries(const struct to_plan *plan, const struct to_traffic *traffic,
			    const struct to_replan_options *options,
			    struct to_plan *plans[TO_REPLAN_SOURCES],
			    struct to_replan_result *result, struct to_error *err)
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
	for (i = 0; i < traffic->n * traffic->n; i++)
		result->bytes += traffic->bytes[i];
	ret = to_busy_time_init(&r.busy, plan);
	ret = ret ? ret : to_traffic_demand(traffic, plan, &r.demand);
	if (!ret) {
		r.load = calloc(r.busy.graph->n_arcs + 1, sizeof(*r.load));
		ret = r.load ? to_busy_time_of(&r.busy, r.demand, r.load, &keep->comm_time) :
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
		if (ret)
			to_plan_free(r.option[i].plan);
		plans[i] = ret ? NULL : r.option[i].plan;
	}
	to_demand_free(r.demand);
	to_busy_time_free(&r.busy);
	free(r.load);
	return ret;
}

int to_replan_all(const struct to_plan *plan, const struct to_traffic *traffic,
		  const struct to_replan_options *options,
		  struct to_plan *plans[TO_REPLAN_SOURCES], struct to_replan_result *result,
		  struct to_error *err)
{
	int ret = replan_primaries(plan, traffic, options, plans, result, err);
	unsigned int i;

	for (i = 0; !ret && i < TO_REPLAN_SOURCES; i++)
		if (plans[i])
			ret = to_routing_backups(plans[i], err);
	for (i = 0; ret && i < TO_REPLAN_SOURCES; i++) {
		to_plan_free(plans[i]);
		plans[i] = NULL;
	}
	return ret;
}

int to_replan(const struct to_plan *plan, const struct to_traffic *traffic,
	      const struct to_replan_options *options, struct to_replan_result *result,
	      struct to_error *err)
{
	struct to_plan *plans[TO_REPLAN_SOURCES];
	enum to_replan_source source;
	struct to_figures figures;
	int ret = replan_primaries(plan, traffic, options, plans, result, err);

	if (!ret && result->chosen) {
		source = result->choices[result->chosen].source;
		ret = to_routing_backups(plans[source], err);
		if (!ret && options->predict &&
		    to_plan_completion_predictions(plans[source], &figures))
			ret = to_error_set(err, -ENOMEM, "out of memory");
		if (!ret) {
			result->plan = plans[source];
			plans[source] = NULL;
		}
	}
	for (source = 0; source < TO_REPLAN_SOURCES; source++)
		to_plan_free(plans[source]);
	return ret;
}

void to_replan_print_choices(FILE *out, const struct to_replan_result *r)
{
	fprintf(out, "%.6g bytes in %.6g s\n\n", r->bytes, r->seconds);
	fprintf(out, "   %-16s %12s %5s %5s %5s %9s %9s %9s %9s %9s\n", "links and routes",
		"comm ms", "cut", "made", "steps", "dark ms", "lost ms", "gain ms", "net ms",
		"payback s");
	for (unsigned int i = 0; i < r->n_choices; i++) {
		const struct to_replan_choice *c = &r->choices[i];

		fprintf(out, " %c %-16s %11.4g%c %5u %5u %5u %9.4g %9.4g %9.4g %9.4g ",
			i == r->chosen ? '*' : ' ', to_replan_source_names[c->source],
			1e3 * c->comm_time, c->estimated ? '~' : ' ', c->cut, c->made, c->steps,
			1e3 * c->dark, 1e3 * c->lost, 1e3 * c->gain, 1e3 * c->net);
		if (isfinite(c->payback))
			fprintf(out, "%9.4g\n", c->payback);
		else
			fprintf(out, "%9s\n", "never");
	}
	for (unsigned int i = 0; i < r->n_none; i++)
		fprintf(out, "   %-16s none: %s\n", to_replan_source_names[r->none[i].source],
			r->none[i].why.text);
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
