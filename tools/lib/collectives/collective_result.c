// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/collective_result.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"

/* A directed link, or all links of a port on a packet switch. */
struct result_link {
	const struct to_port *from_port;
	const struct to_port *to_port;	/* NULL: "to" is a packet switch */
	const char *from, *to;		/* names */
	double planned;			/* bytes without headers, of all repetitions */
	double sent;			/* bytes by the counters of the port */
};

/* Sums over members and links. */
struct result {
	const struct to_collective_run *run;
	const struct to_collective_part *parts;	/* of all members */
	unsigned int n_links;
	struct result_link *links;	/* links out of members */
	unsigned int right;	/* members whose sums are all right */
	double seconds;		/* of the slowest member */
	double busiest;		/* most bytes planned on a link */
	double most;		/* most bytes that a link has sent */
	double off;		/* largest deviation of a link, as a share of busiest */
	bool certain;		/* each flow has one path, so that a link's bytes can be checked */
};

/* Return what was planned and sent on arc @a out of member @m. */
static struct result_link result_link_of(const struct result *r, uint32_t m,
					     uint32_t a, double planned)
{
	const struct to_graph *g = r->run->plan->graph;
	const struct to_cluster *c = r->run->plan->plan->cluster;
	const struct to_port *port = &c->servers[g->from[a]].ports[g->port[a]];
	const struct to_packet_switch *on = to_port_packet_switch(c, port);

	return (struct result_link){
		port, on ? NULL : &c->servers[g->to[a]].ports[g->peer_port[a]],
		c->servers[g->from[a]].name, on ? on->name : c->servers[g->to[a]].name,
		planned * (double)r->run->repeat, (double)r->parts[m].sent[g->port[a]] };
}

/* Fill in the links out of members; a port on a packet switch is one of them. */
static void result_links(struct result *r, const double *planned)
{
	const struct to_graph *g = r->run->plan->graph;
	struct result_link *links = r->links;
	unsigned int n = 0, first, i;

	for (uint32_t m = 0; m < r->run->plan->n; m++) {
		const uint32_t x = r->run->plan->members[m];

		first = n;
		for (uint32_t a = g->out[x]; a < g->out[x + 1]; a++) {
			links[n] = result_link_of(r, m, a, planned[a]);
			for (i = first; i < n && links[i].from_port != links[n].from_port; i++)
				;
			if (i < n)
				links[i].planned += links[n].planned;
			else
				n++;
		}
	}
	r->n_links = n;
}

static int result_init(struct result *r, const struct to_collective_run *run,
		       const struct to_collective_part *parts, struct to_error *err)
{
	const size_t arcs = run->plan->graph->n_arcs;
	double *planned = calloc(arcs + 1, sizeof(*planned));

	*r = (struct result){ .run = run, .parts = parts };
	r->links = calloc(arcs + 1, sizeof(*r->links));
	if (!planned || !r->links ||
	    to_collective_plan_link_bytes(run->plan, planned, &r->certain)) {
		free(planned);
		free(r->links);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	result_links(r, planned);
	free(planned);
	for (unsigned int i = 0; i < r->n_links; i++) {
		r->busiest = fmax(r->busiest, r->links[i].planned);
		r->most = fmax(r->most, r->links[i].sent);
	}
	for (unsigned int i = 0; i < r->n_links; i++)
		r->off = fmax(r->off, fabs(r->links[i].sent - r->links[i].planned) / r->busiest);
	for (uint32_t m = 0; m < run->plan->n; m++) {
		r->right += !parts[m].wrong;
		r->seconds = fmax(r->seconds, parts[m].seconds);
	}
	return 0;
}

static double result_bytes(const struct result *r)
{
	return (double)r->run->plan->size * sizeof(float);
}

/* Return bytes of the buffer per second, algbw in the words of nccl-tests. */
static double result_algbw(const struct result *r)
{
	return r->seconds > 0 ? result_bytes(r) / r->seconds : 0;
}

/* Return bytes per second that each server sends at the least, busbw of nccl-tests. */
static double result_busbw(const struct result *r)
{
	return result_algbw(r) * 2 * (r->run->plan->n - 1) / r->run->plan->n;
}

static json_t *result_links_json(const struct result *r)
{
	json_t *array = json_array();

	for (const struct result_link *l = r->links; l < r->links + r->n_links; l++)
		json_array_append_new(array, json_pack("{s:o s:o s:f s:f}",
			"from", json_sprintf("%s:%s", l->from, l->from_port->name),
			"to", l->to_port ? json_sprintf("%s:%s", l->to, l->to_port->name) :
					   json_string(l->to),
			"planned_bytes", l->planned, "sent_bytes", l->sent));
	return array;
}

static void result_print_json(FILE *out, const struct result *r)
{
	const struct to_collective_plan *c = r->run->plan;
	const double form = to_collective_plan_closed_form(c);
	json_t *object = json_pack("{s:s s:I s:I s:I s:f s:f s:f s:I s:b s:f s:f s:o}",
		"algorithm", to_collective_algorithms[c->algorithm],
		"servers", (json_int_t)c->n, "bytes", (json_int_t)c->size * (json_int_t)sizeof(float),
		"repeat", (json_int_t)r->run->repeat, "time_s", r->seconds,
		"algbw_Bps", result_algbw(r), "busbw_Bps", result_busbw(r),
		"sums_right", (json_int_t)r->right,
		"paths_certain", r->certain, "busiest_link_bytes", r->busiest,
		"largest_deviation", r->off, "links", result_links_json(r));

	if (form > 0)
		json_object_set_new(object, "closed_form", json_real(form));
	to_json_write(object, out, JSON_INDENT(1) | JSON_SORT_KEYS);
	fputc('\n', out);
	json_decref(object);
}

static void result_print_form(FILE *out, const struct result *r, double form)
{
	const struct to_bcube *b = &r->run->plan->bcube;
	char text[16];

	if (r->run->plan->plan->cluster->n_packet_switches)
		fprintf(out, "  closed form on BCube(%u,%u): a port sends %.6g of the buffer, %s\n",
			b->n, b->k, form, to_bytes_text(form * result_bytes(r), text));
	else
		fprintf(out, "  closed form on BCube(%u,%u): a port, here %u link%s, "
			"sends %.6g of the buffer, %s a link\n", b->n, b->k, b->n - 1,
			b->n == 2 ? "" : "s", form,
			to_bytes_text(form * result_bytes(r) / (b->n - 1), text));
}

static void result_print(FILE *out, const struct result *r, bool json)
{
	const struct to_collective_plan *c = r->run->plan;
	const double form = to_collective_plan_closed_form(c);
	char text[2][16];

	if (json) {
		result_print_json(out, r);
		return;
	}
	fprintf(out, "%s of %s on %u servers: %s, sums right on %u\n",
		to_collective_algorithms[c->algorithm], to_bytes_text(result_bytes(r), text[0]),
		c->n, to_seconds_text(r->seconds, text[1]), r->right);
	fprintf(out, "  %.4g Gbit/s of the buffer, %.4g Gbit/s out of each server at the least (nccl-tests: algbw, busbw)\n",
		8e-9 * result_algbw(r), 8e-9 * result_busbw(r));
	fprintf(out, "  links: %s at most planned, %s at most sent, up to %.2f %% off%s\n",
		to_bytes_text(r->busiest, text[0]), to_bytes_text(r->most, text[1]),
		100 * r->off, r->certain ? "" : ", as flows take one of several paths");
	if (form > 0)
		result_print_form(out, r, form);
}

static int result_judge(const struct result *r, double tolerance, struct to_error *err)
{
	const struct to_collective_plan *c = r->run->plan;

	for (uint32_t m = 0; m < c->n; m++)
		if (r->parts[m].wrong)
			return to_error_set(err, 1, "%s: %" PRIu64 " of %" PRIu64 " sums are wrong",
					    c->plan->cluster->servers[c->members[m]].name,
					    r->parts[m].wrong, c->size * r->run->repeat);
	if (!isfinite(tolerance))
		return 0;
	if (!r->certain)
		return to_error_set(err, -ENOTSUP,
				    "bytes of links cannot be checked: flows take one of several paths");
	if (r->off > tolerance / 100)
		return to_error_set(err, 1,
				    "a link is %.2f %% of the busiest one's bytes off, more than %g %%",
				    100 * r->off, tolerance);
	return 0;
}

/* Report the part of a member that does not hear of the others. */
static int result_report_own(FILE *out, bool json, const struct to_collective_run *run,
			     const struct to_collective_part *own, struct to_error *err)
{
	const struct to_collective_plan *c = run->plan;
	const char *name = c->plan->cluster->servers[c->members[run->self]].name;

	if (out)
		fprintf(out, json ? "{\"server\": \"%s\", \"time_s\": %.6f, \"sums_wrong\": %" PRIu64 "}\n" :
			"%s: %.3f s, %" PRIu64 " sums wrong\n", name, own->seconds, own->wrong);
	return own->wrong ? to_error_set(err, 1, "%" PRIu64 " sums are wrong", own->wrong) : 0;
}

int to_collective_result_report(FILE *out, bool json, const struct to_collective_run *run,
				const struct to_collective_part *own,
				const struct to_collective_part *all, double tolerance,
				struct to_error *err)
{
	struct result r;
	int ret;

	if (run->self)
		return result_report_own(out, json, run, own, err);
	ret = result_init(&r, run, all, err);
	if (ret)
		return ret;
	if (out)
		result_print(out, &r, json);
	ret = result_judge(&r, tolerance, err);
	free(r.links);
	return ret;
}
