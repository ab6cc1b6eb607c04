// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/simulated.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "report/iteration_page.h"

/* In the order of enum to_task_kind. */
static const char *const simulated_kinds[] = { "compute", "allreduce", "mp" };
static const char *const simulated_kind_names[] = { "computing", "AllReduce", "MP transfers" };

struct simulated_times {
	double mean, p99, min, max;
};

static int simulated_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sort the times; the 99th percentile is the nearest rank. */
static struct simulated_times simulated_times(const struct to_simulated *s)
{
	struct simulated_times t = { 0 };

	qsort(s->times, s->n, sizeof(*s->times), simulated_compare);
	for (unsigned int i = 0; i < s->n; i++)
		t.mean += s->times[i] / s->n;
	t.min = s->times[0];
	t.max = s->times[s->n - 1];
	t.p99 = s->times[(unsigned int)ceil(0.99 * s->n) - 1];
	return t;
}

static uint32_t simulated_busiest(const struct to_simulated *s)
{
	uint32_t busiest = 0;

	for (uint32_t i = 1; i < s->network->n_links; i++)
		if (s->link_busy[i] > s->link_busy[busiest])
			busiest = i;
	return busiest;
}

void to_simulated_add(struct to_simulated *s, const struct to_simulation *run,
		      const struct to_network *network)
{
	s->network = network;
	s->times[s->n++] = run->time;
	s->events += run->events;
	s->n_changes += run->n_changes;
	s->last = run;
	for (uint32_t i = 0; i < network->n_links; i++) {
		s->link_bytes[i] += run->link_bytes[i];
		s->link_busy[i] += run->link_busy[i];
	}
	for (unsigned int k = 0; k < TO_TASK_KINDS; k++)
		s->critical_time[k] += run->critical_time[k];
}

void to_simulated_print(FILE *out, const struct to_simulated *s)
{
	const struct simulated_times t = simulated_times(s);
	const struct to_network *w = s->network;
	const uint32_t busiest = simulated_busiest(s);
	char text[4][16];

	fprintf(out, "%s on %s: %u servers, %u packet switches, %u links\n", s->workload,
		s->fabric, w->n_servers, w->n_vertices - w->n_servers, w->n_links);
	fprintf(out, "  iteration       %s", to_seconds_text(t.mean, text[0]));
	if (s->n > 1)
		fprintf(out, " (99th percentile %s, %s to %s, %u iterations)",
			to_seconds_text(t.p99, text[1]), to_seconds_text(t.min, text[2]),
			to_seconds_text(t.max, text[3]), s->n);
	if (s->n < s->asked)
		fprintf(out, ", interrupted: %u of %u iterations", s->n, s->asked);
	fprintf(out, "\n  critical path  ");
	for (unsigned int k = 0; k < TO_TASK_KINDS; k++)
		fprintf(out, "%s %s %s", k ? "," : "", simulated_kind_names[k],
			to_seconds_text(s->critical_time[k] / s->n, text[0]));
	if (s->changes)
		fprintf(out, "\n  links change    %.4g times\n  busiest port    %s port %d",
			(double)s->n_changes / s->n, w->names[w->links[busiest].from],
			w->links[busiest].port);
	else if (w->n_links)
		fprintf(out, "\n  busiest link    %s to %s", w->names[w->links[busiest].from],
			w->names[w->links[busiest].to]);
	if (w->n_links)
		fprintf(out, ": %s of %s, %s",
			to_seconds_text(s->link_busy[busiest] / s->n, text[0]),
			to_seconds_text(t.mean, text[1]),
			to_bytes_text(s->link_bytes[busiest] / s->n, text[2]));
	fprintf(out, "\n  routing         %s\n  AllReduce       %s\n", s->routing, s->allreduce);
	fprintf(out, "  latencies       link %s, relay %s, step %s\n",
		to_seconds_text(s->delays.link, text[0]), to_seconds_text(s->delays.relay, text[1]),
		to_seconds_text(s->delays.step, text[2]));
	if (s->stragglers)
		fprintf(out, "  stragglers      %s\n", s->stragglers);
	if (s->packets)
		to_packet_level_print(out, s->packets, w, s->tasks);
	fprintf(out, "  %llu events in %s of processor time\n", (unsigned long long)s->events,
		to_seconds_text(s->cpu, text[0]));
}

static json_t *simulated_links(const struct to_simulated *s)
{
	const struct to_network *w = s->network;
	json_t *links = json_array();

	for (uint32_t i = 0; links && i < w->n_links; i++) {
		const struct to_network_link *link = &w->links[i];
		json_t *one = json_pack("{s:s s:s? s:i s:f s:f s:f}",
			"from", w->names[link->from],
			"to", s->changes ? NULL : w->names[link->to], "port", link->port,
			"bandwidth_bps", link->capacity * 8, "bytes", s->link_bytes[i] / s->n,
			"busy_s", s->link_busy[i] / s->n);

		if ((s->packets && to_packet_level_link(s->packets, i, one)) ||
		    json_array_append_new(links, one)) {
			json_decref(links);
			return NULL;
		}
	}
	return links;
}

json_t *to_simulated_json(const struct to_simulated *s)
{
	const struct simulated_times t = simulated_times(s);
	json_t *critical = json_object();
	json_t *packets = s->packets ? to_packet_level_json(s->packets, s->tasks) : json_null();

	for (unsigned int k = 0; k < TO_TASK_KINDS; k++)
		json_object_set_new(critical, simulated_kinds[k],
				    json_real(s->critical_time[k] / s->n));
	return json_pack("{s:{s:f s:f s:f s:f} s:I s:f s:o s:o s:s s:s s:s? s:i s:i s:i s:b s:s s:s s:f s:f s:f s:f s:s? s:O? s:s s:o}",
			 "iteration_time_s", "mean", t.mean, "p99", t.p99, "min", t.min, "max", t.max,
			 "events", (json_int_t)s->events, "cpu_s", s->cpu,
			 "links", simulated_links(s), "critical_path_s", critical,
			 "workload", s->workload, "fabric", s->fabric, "plan", s->plan,
			 "servers", (int)s->network->n_servers,
			 "packet_switches", (int)(s->network->n_vertices - s->network->n_servers),
			 "iterations", (int)s->n, "complete", s->n == s->asked,
			 "routing", s->routing, "allreduce", s->allreduce,
			 "latency_s", s->delays.link, "relay_latency_s", s->delays.relay,
			 "step_latency_s", s->delays.step,
			 "changes", (double)s->n_changes / s->n, "stragglers", s->stragglers,
			 "strategy", s->strategy,
			 "level", s->packets ? "packet" : "flow", "packets", packets);
}

static json_t *simulated_tasks(const struct to_simulated *s)
{
	json_t *tasks = json_array();

	for (uint32_t t = 0; tasks && t < s->tasks->n_tasks; t++) {
		const struct to_task *task = &s->tasks->tasks[t];
		json_t *one = json_pack("{s:s s:f s:f}", "kind", simulated_kinds[task->kind],
					"start_s", s->last->start[t],
					"finish_s", s->last->finish[t]);

		if (task->kind == TO_TASK_COMPUTE)
			json_object_set_new(one, "server",
					    json_string(s->network->names[task->server]));
		if (task->name)
			json_object_set_new(one, "name", json_string(task->name));
		if (json_array_append_new(tasks, one)) {
			json_decref(tasks);
			return NULL;
		}
	}
	return tasks;
}

static json_t *simulated_transfers(const struct to_simulated *s)
{
	const struct to_taskgraph *g = s->tasks;
	json_t *transfers = json_array();

	for (uint32_t t = 0; transfers && t < g->n_tasks; t++) {
		const struct to_task *task = &g->tasks[t];

		for (uint32_t i = 0; task->kind == TO_TASK_MP && i < task->n; i++) {
			const struct to_transfer *sent = &g->transfers[task->first + i];
			json_t *one = json_pack("{s:s s:s s:I s:f s:f}",
				"from", s->network->names[sent->src],
				"to", s->network->names[sent->dst],
				"bytes", (json_int_t)sent->bytes, "start_s", s->last->start[t],
				"finish_s", s->last->transfer_finish[task->first + i]);

			if (json_array_append_new(transfers, one)) {
				json_decref(transfers);
				return NULL;
			}
		}
	}
	return transfers;
}

static json_t *simulated_critical(const struct to_simulated *s)
{
	json_t *path = json_array();

	for (uint32_t i = 0; i < s->last->n_critical; i++)
		json_array_append_new(path, json_integer(s->last->critical[i]));
	return path;
}

/* Make the utilisation of links in the last iteration, null if it was not recorded. */
static json_t *simulated_utilisation(const struct to_simulated *s)
{
	const struct to_utilisation *u = s->utilisation;
	json_t *mean = json_array(), *p90 = json_array(), *most = json_array();
	double *scratch = u ? calloc(u->n_links + 1, sizeof(*scratch)) : NULL;

	for (unsigned int i = 0; scratch && i * u->interval < s->last->time &&
	     i < TO_UTILISATION_INTERVALS; i++) {
		const double length = fmin(u->interval, s->last->time - i * u->interval);
		const struct to_utilised at = to_utilisation_at(u, i, s->network, s->alike, length,
								scratch);

		json_array_append_new(mean, json_real(at.mean));
		json_array_append_new(p90, json_real(at.p90));
		json_array_append_new(most, json_real(at.most));
	}
	if (scratch) {
		free(scratch);
		return json_pack("{s:f s:o s:o s:o}", "interval_s", u->interval, "mean", mean,
				 "p90", p90, "max", most);
	}
	json_decref(mean);
	json_decref(p90);
	json_decref(most);
	return u ? NULL : json_null();
}

static int simulated_write(FILE *out, const void *data, struct to_error *err)
{
	if (to_json_write(data, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER) || fputc('\n', out) == EOF)
		return to_error_set(err, -EIO, "cannot write");
	return 0;
}

/* Make JSON with tasks and transfers; NULL when out of memory. */
static json_t *simulated_whole(const struct to_simulated *s, struct to_error *err)
{
	json_t *all = to_simulated_json(s);

	if (all && !json_object_set_new(all, "tasks", simulated_tasks(s)) &&
	    !json_object_set_new(all, "transfers", simulated_transfers(s)) &&
	    !json_object_set_new(all, "critical_path", simulated_critical(s)) &&
	    !json_object_set_new(all, "utilisation", simulated_utilisation(s)))
		return all;
	json_decref(all);
	to_error_set(err, -ENOMEM, "out of memory");
	return NULL;
}

int to_simulated_save(const struct to_simulated *s, const char *path, struct to_error *err)
{
	json_t *all = simulated_whole(s, err);
	const int ret = all ? to_file_write(path, simulated_write, all, err) : -ENOMEM;

	json_decref(all);
	return ret;
}

int to_simulated_report(const struct to_simulated *s, const char *version, const char *path,
			struct to_error *err)
{
	json_t *all = simulated_whole(s, err);
	const json_t *const runs[] = { all };
	const int ret = all ? to_iteration_page_write(runs, 1, version, path, err) : -ENOMEM;

	json_decref(all);
	return ret;
}
