// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/packet_level.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

/* Seconds that the MP transfers of the last iteration take. */
struct level_times {
	uint32_t n;			/* number of transfers */
	double mean, median, p99, max;
};

static void level_options(struct to_packet_level *level, uint64_t seed)
{
	const struct to_packet_level_options *a = level->asked;
	struct to_packet_options o = to_packet_options_default(a->transport);

	o.seed = seed;
	o.mtu = a->mtu ? a->mtu : o.mtu;
	o.headers = a->headers == TO_PACKET_LEVEL_HEADERS ? o.headers : a->headers;
	o.queue_pairs = a->queue_pairs ? a->queue_pairs : o.queue_pairs;
	o.buffer = a->buffer ? a->buffer : o.buffer;
	o.mark_min = a->mark_min;
	o.mark_max = a->mark_max;
	o.relay_cost = a->relay_cost ? a->relay_cost * 1e-9 : o.relay_cost;
	o.relay_queue = a->relay_queue ? a->relay_queue : o.relay_queue;
	o.timeout = a->timeout ? a->timeout * 1e-9 : o.timeout;
	o.pfc = !a->no_pfc;
	o.fast_forward = a->fast_forward;
	level->options = o;
}

static void level_release(struct to_packet_level *level)
{
	to_packet_simulator_free(level->simulator);
	to_packet_paths_free(level->paths);
	level->simulator = NULL;
	level->paths = NULL;
}

void to_packet_level_free(struct to_packet_level *level)
{
	level_release(level);
	free(level->addresses);
	free(level->sum.links);
}

static int level_add(struct to_packet_level *level, const struct to_packets *run,
		     uint32_t n_links)
{
	struct to_packets *sum = &level->sum;

	if (!sum->links)
		sum->links = calloc(n_links + 1, sizeof(*sum->links));
	if (!sum->links)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_links; i++) {
		struct to_packet_link *to = &sum->links[i];
		const struct to_packet_link *from = &run->links[i];

		to->packets += from->packets;
		to->paused += from->paused;
		to->pauses += from->pauses;
		to->marks += from->marks;
		to->drops += from->drops;
		to->queue = from->queue > to->queue ? from->queue : to->queue;
	}
	sum->sent += run->sent;
	sum->received += run->received;
	sum->dropped += run->dropped;
	sum->queued += run->queued;
	sum->hops += run->hops;
	sum->again += run->again;
	sum->naks += run->naks;
	sum->cnps += run->cnps;
	sum->timeouts += run->timeouts;
	sum->marks += run->marks;
	sum->pauses += run->pauses;
	sum->skips += run->skips;
	sum->skipped += run->skipped;
	sum->skip_error += run->skip_error;
	sum->simulation.time += run->simulation.time;
	sum->most = run->most > sum->most ? run->most : sum->most;
	level->n++;
	return 0;
}

/* Find the addresses of servers: the plan's, else those of synthetic clusters. */
static int level_addresses(struct to_packet_level *level, const struct to_plan *plan, uint32_t n)
{
	free(level->addresses);
	level->addresses = calloc(n, sizeof(*level->addresses));
	for (uint32_t x = 0; level->addresses && x < n; x++) {
		struct to_address address;

		to_cluster_default_address(&address, 0, x + 1);
		if (plan && plan->cluster->servers[x].address.has_v4)
			address = plan->cluster->servers[x].address;
		level->addresses[x] = ntohl(address.v4.s_addr);
	}
	return level->addresses ? 0 : -ENOMEM;
}

/* The vertex whose name is the @len bytes at @name, n_vertices for none. */
static uint32_t level_vertex(const struct to_network *w, const char *name, size_t len)
{
	uint32_t x = 0;

	while (x < w->n_vertices && (strlen(w->names[x]) != len || strncmp(w->names[x], name, len)))
		x++;
	return x;
}

/* An iteration whose packets on one link are kept. */
struct level_capture {
	struct to_packet_level *level;
	const struct to_taskgraph *tasks;
	uint32_t from, to;		/* vertices at the ends of the link */
};

static int level_find_capture(struct level_capture *capture, const struct to_plan *plan,
			      const struct to_network *w, struct to_error *err)
{
	const char *text = capture->level->asked->capture, *comma = strchr(text, ',');

	capture->from = comma ? level_vertex(w, text, comma - text) : w->n_vertices;
	capture->to = comma ? level_vertex(w, comma + 1, strlen(comma + 1)) : w->n_vertices;
	if (capture->from == w->n_vertices || capture->to == w->n_vertices ||
	    !to_packet_simulator_capture(capture->level->simulator, capture->from, capture->to,
					 NULL, NULL))
		return to_error_set(err, -EINVAL, "--capture: no link \"%s\", expected FROM,TO", text);
	return level_addresses(capture->level, plan, w->n_servers) ?
	       to_error_set(err, -ENOMEM, "out of memory") : 0;
}

/* Simulate, and write what the link sends. */
static int level_capture(FILE *out, const void *data, struct to_error *err)
{
	const struct level_capture *capture = data;
	struct to_packet_level *level = capture->level;

	to_packet_simulator_capture(level->simulator, capture->from, capture->to, out,
				    level->addresses);
	level->last = to_packet_simulate(level->simulator, capture->tasks, err);
	return level->last ? 0 : -EINVAL;
}

static int level_simulate(struct to_packet_level *level, const struct to_plan *plan,
			  const struct to_network *w, const struct to_taskgraph *tasks,
			  struct to_error *err)
{
	struct level_capture capture = { .level = level, .tasks = tasks };

	if (!level->asked->capture) {
		level->last = to_packet_simulate(level->simulator, tasks, err);
		return level->last ? 0 : -EINVAL;
	}
	if (level_find_capture(&capture, plan, w, err))
		return -EINVAL;
	return to_file_write(level->asked->capture_path, level_capture, &capture, err);
}

const struct to_simulation *to_packet_level_run(struct to_packet_level *level,
						const struct to_router *router,
						const struct to_plan *plan,
						const struct to_shortest_options *options,
						const struct to_taskgraph *tasks,
						const double *slow,
						int (*watch)(void *data, double done), void *data,
						struct to_error *err)
{
	const bool tcp = level->asked->transport == TO_TRANSPORT_TCP ||
			 level->asked->transport == TO_TRANSPORT_DCTCP;

	level_release(level);
	level_options(level, options->seed);
	level->paths = plan ? to_packet_paths_of_plan(plan, router->network,
						      tcp ? IPPROTO_TCP : IPPROTO_UDP,
						      options->seed, err) :
			      to_packet_paths_shortest(router->network, options, err);
	if (level->paths)
		level->simulator = to_packet_simulator_new(level->paths, &router->delays,
							   &level->options, err);
	if (!level->simulator)
		return NULL;
	to_packet_simulator_slow(level->simulator, slow);
	to_packet_simulator_watch(level->simulator, watch, data);
	if (level_simulate(level, plan, router->network, tasks, err))
		return NULL;
	if (level_add(level, level->last, router->network->n_links)) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	return &level->last->simulation;
}

static int level_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct level_times level_times(const struct to_packet_level *level,
				      const struct to_taskgraph *g)
{
	const struct to_simulation *r = &level->last->simulation;
	double *times = calloc(g->n_transfers + 1, sizeof(*times));
	struct level_times t = { 0 };

	for (uint32_t k = 0; times && k < g->n_tasks; k++)
		for (uint32_t i = 0; g->tasks[k].kind == TO_TASK_MP && i < g->tasks[k].n; i++)
			times[t.n++] = r->transfer_finish[g->tasks[k].first + i] - r->start[k];
	if (t.n) {
		qsort(times, t.n, sizeof(*times), level_compare);
		for (uint32_t i = 0; i < t.n; i++)
			t.mean += times[i] / t.n;
		t.median = times[(t.n - 1) / 2];
		t.p99 = times[(uint32_t)ceil(0.99 * t.n) - 1];
		t.max = times[t.n - 1];
	}
	free(times);
	return t;
}

/* Part of the iterations' time that skipping may have added or removed. */
static double level_error(const struct to_packet_level *level)
{
	const double time = level->sum.simulation.time;

	return time > 0 ? level->sum.skip_error / time : 0;
}

void to_packet_level_print(FILE *out, const struct to_packet_level *level,
			   const struct to_network *w, const struct to_taskgraph *tasks)
{
	const struct level_times t = level_times(level, tasks);
	const struct to_packets *sum = &level->sum;
	uint32_t deepest = 0, i;
	char text[4][16];

	fprintf(out, "  packets         %s, %u B and %u B of headers: %llu sent, %llu dropped, %llu sent again\n",
		to_transport_names[level->options.transport], level->options.mtu,
		level->options.headers, (unsigned long long)sum->sent,
		(unsigned long long)sum->dropped, (unsigned long long)sum->again);
	fprintf(out, "  congestion      %llu marks, %llu CNPs, %llu NAKs, %llu timeouts, %llu pauses\n",
		(unsigned long long)sum->marks, (unsigned long long)sum->cnps,
		(unsigned long long)sum->naks, (unsigned long long)sum->timeouts,
		(unsigned long long)sum->pauses);
	for (i = 1; i < w->n_links; i++)
		if (sum->links[i].queue > sum->links[deepest].queue)
			deepest = i;
	if (w->n_links)
		fprintf(out, "  longest queue   %s, for the link from %s to %s\n",
			to_bytes_text(sum->links[deepest].queue, text[0]),
			w->names[w->links[deepest].from], w->names[w->links[deepest].to]);
	if (level->options.fast_forward)
		fprintf(out, "  fast-forward    %llu times, %s of %s in all, at most %.2g %% wrong\n",
			(unsigned long long)sum->skips, to_seconds_text(sum->skipped * 1e-12, text[0]),
			to_seconds_text(sum->simulation.time, text[1]), level_error(level) * 100);
	if (t.n)
		fprintf(out, "  MP transfers    mean %s, median %s, 99th percentile %s, longest %s\n",
			to_seconds_text(t.mean, text[0]), to_seconds_text(t.median, text[1]),
			to_seconds_text(t.p99, text[2]), to_seconds_text(t.max, text[3]));
}

json_t *to_packet_level_json(const struct to_packet_level *level, const struct to_taskgraph *tasks)
{
	const struct level_times t = level_times(level, tasks);
	const struct to_packet_options *o = &level->options;
	const struct to_packets *sum = &level->sum;
	json_t *json = json_pack(
		"{s:s s:i s:i s:i s:I s:b s:f s:i s:i s:b s:f}",
		"transport", to_transport_names[o->transport], "mtu", (int)o->mtu,
		"headers", (int)o->headers, "queue_pairs", (int)o->queue_pairs,
		"buffer", (json_int_t)o->buffer, "pfc", o->pfc,
		"relay_cost_s", o->relay_cost, "relay_ring", (int)o->relay_ring,
		"relay_queue", (int)o->relay_queue, "relay_marks", o->relay_marks,
		"timeout_s", o->timeout);
	json_t *counts = json_pack(
		"{s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I}",
		"sent", (json_int_t)sum->sent, "received", (json_int_t)sum->received,
		"dropped", (json_int_t)sum->dropped, "queued", (json_int_t)sum->queued,
		"hops", (json_int_t)sum->hops, "sent_again", (json_int_t)sum->again,
		"naks", (json_int_t)sum->naks, "cnps", (json_int_t)sum->cnps,
		"timeouts", (json_int_t)sum->timeouts, "marks", (json_int_t)sum->marks,
		"pauses", (json_int_t)sum->pauses, "most", (json_int_t)sum->most);
	json_t *skips = o->fast_forward ?
		json_pack("{s:f s:f s:f}", "skips", (double)sum->skips / level->n,
			  "skipped_s", sum->skipped * 1e-12 / level->n,
			  "error", level_error(level)) : json_null();
	json_t *fct = t.n ? json_pack("{s:f s:f s:f s:f}", "mean", t.mean, "median", t.median,
				      "p99", t.p99, "max", t.max) : json_null();

	if (!json || json_object_set_new(json, "counts", counts) ||
	    json_object_set_new(json, "fast_forward", skips) ||
	    json_object_set_new(json, "transfer_time_s", fct)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

int to_packet_level_link(const struct to_packet_level *level, uint32_t index, json_t *link)
{
	const struct to_packet_link *sum = &level->sum.links[index];
	json_t *more = json_pack("{s:f s:f s:f s:f s:f s:I}",
				 "packets", (double)sum->packets / level->n,
				 "pauses", (double)sum->pauses / level->n,
				 "paused_s", sum->paused * 1e-12 / level->n,
				 "marks", (double)sum->marks / level->n,
				 "drops", (double)sum->drops / level->n,
				 "queue_bytes", (json_int_t)sum->queue);
	const int ret = json_object_update(link, more);

	json_decref(more);
	return ret;
}
