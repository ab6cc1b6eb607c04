// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/chunk_study.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "collectives/chunk_json.h"
#include "report/schedule_page.h"

#define STUDY_ROUTES 6	/* orders of dimensions that are printed */

const char *const to_chunk_policies[] = { "baseline", "themis", "optimal", NULL };

static double study_seconds(const struct to_chunk_study *s)
{
	return (double)s->run.ps / TO_PS_PER_S;
}

json_t *to_chunk_study_json(const struct to_chunk_study *s)
{
	json_t *object = to_chunk_json(&s->chunks, &s->run);
	const char *order = s->policy == TO_CHUNK_OPTIMAL ? "searched" :
							       to_chunk_orders[s->order];

	json_object_update_new(object, json_pack("{s:s s:s s:f}", "policy",
		to_chunk_policies[s->policy], "order", order, "baseline_time_s", s->baseline));
	if (s->policy == TO_CHUNK_OPTIMAL)
		json_object_set_new(object, "search", json_pack("{s:b s:I s:f}", "proved",
			s->search.proved, "nodes", (json_int_t)s->search.nodes, "bound_s",
			(double)s->search.bound_ps / TO_PS_PER_S));
	if (s->jitter_ns)
		json_object_set_new(object, "replay", json_pack("{s:f s:I s:b s:b s:f s:s}",
			"jitter_s", s->jitter_ns / 1e9, "seed", (json_int_t)s->seed,
			"ordered", s->replay.ordered, "deadlock", s->replay.left > 0,
			"time_s", (double)s->replay.ps / TO_PS_PER_S, "waits", s->replay.waits));
	return object;
}

static int study_write(FILE *out, const void *data, struct to_error *err)
{
	if (to_json_write(data, out, JSON_INDENT(1) | JSON_SORT_KEYS) || fputc('\n', out) == EOF)
		return to_error_set(err, -EIO, "cannot write");
	return 0;
}

int to_chunk_study_save(const struct to_chunk_study *s, const char *path, struct to_error *err)
{
	json_t *object = to_chunk_study_json(s);
	const int ret = object ? to_file_write(path, study_write, object, err) :
				 to_error_set(err, -ENOMEM, "out of memory");

	json_decref(object);
	return ret;
}

int to_chunk_study_report(const struct to_chunk_study *s, const char *version, const char *path,
			  struct to_error *err)
{
	char how[32];

	if (s->policy == TO_CHUNK_OPTIMAL)
		snprintf(how, sizeof(how), "%s", s->search.proved ? "optimal" : "best found");
	else
		snprintf(how, sizeof(how), "%s, %s", to_chunk_policies[s->policy],
			 to_chunk_orders[s->order]);
	return to_schedule_page_save(&s->chunks, &s->run, how, version, path, err);
}

/* Count the chunks that take the order of dimensions of chunk @c; 0 when an earlier one does. */
static unsigned int study_count_route(const struct to_chunk_schedule *s, unsigned int c)
{
	unsigned int n = 0;

	for (unsigned int other = 0; other < s->setting.n_chunks; other++) {
		unsigned int i = 0;

		while (i < s->n_stages && s->stages[c * s->n_stages + i].dimension ==
					  s->stages[other * s->n_stages + i].dimension)
			i++;
		if (i < s->n_stages)
			continue;
		if (other < c)
			return 0;
		n++;
	}
	return n;
}

static void study_print_routes(const struct to_chunk_schedule *s)
{
	unsigned int printed = 0, left = 0;

	for (unsigned int c = 0; c < s->setting.n_chunks; c++) {
		unsigned int n = study_count_route(s, c);

		if (!n)
			continue;
		if (printed++ >= STUDY_ROUTES) {
			left += n;
			continue;
		}
		printf("  %5u chunk%s through", n, n == 1 ? " " : "s");
		for (unsigned int i = 0; i < s->n_stages; i++) {
			const struct to_chunk_stage *stage = &s->stages[c * s->n_stages + i];

			printf("%s %d", stage->gather && i && !stage[-1].gather ? " |" : "",
			       stage->dimension + 1);
		}
		putchar('\n');
	}
	if (left)
		printf("  %5u chunk%s in %u other orders\n", left, left == 1 ? "" : "s",
		       printed - STUDY_ROUTES);
}

void to_chunk_study_print(const struct to_chunk_study *s)
{
	const struct to_chunk_schedule *c = &s->chunks;
	char size[16], chunk[16], time[16];

	printf("%s of %s on %u ranks, %u chunks of %s, %s%s%s\n",
	       to_chunk_collectives[c->setting.collective],
	       to_bytes_text(c->setting.bytes, size), c->network.ranks, c->setting.n_chunks,
	       to_bytes_text((double)c->setting.bytes / c->setting.n_chunks, chunk),
	       to_chunk_policies[s->policy],
	       s->policy == TO_CHUNK_OPTIMAL ? "" : ", ",
	       s->policy == TO_CHUNK_OPTIMAL ? "" : to_chunk_orders[s->order]);
	printf("  %s, %.2f %% of the bandwidth used, %.3f times as fast as the baseline\n",
	       to_seconds_text(study_seconds(s), time),
	       100 * to_chunk_run_utilisation(&s->run, c, c->network.n),
	       s->run.ps ? s->baseline / study_seconds(s) : 1);
	if (s->policy == TO_CHUNK_OPTIMAL)
		printf("  %s; no schedule takes less than %s\n",
		       s->search.proved ? "proved to be the best" : "the best found so far, see --budget",
		       to_seconds_text((double)s->search.bound_ps / TO_PS_PER_S, time));
	printf("  %-9s %-8s %6s %10s %12s %8s\n", "dimension", "kind", "size", "Gbit/s", "latency", "used");
	for (unsigned int k = 0; k < c->network.n; k++)
		printf("  %-9u %-8s %6u %10.4g %12s %7.2f%%\n", k + 1,
		       to_dimension_kinds[c->network.list[k].kind], c->network.list[k].size,
		       c->network.list[k].bandwidth / 1e9,
		       to_seconds_text(c->network.list[k].latency_ns / 1e9, time),
		       100 * to_chunk_run_utilisation(&s->run, c, k));
	study_print_routes(c);
	if (!s->jitter_ns)
		return;
	if (s->replay.left)
		printf("  DEADLOCK after %s with ranks that %s: %s\n",
		       to_seconds_text((double)s->replay.ps / TO_PS_PER_S, time),
		       s->replay.ordered ? "keep to the order" : "take what they have ready",
		       s->replay.waits);
	else
		printf("  %s with ranks that are late by up to %g us and %s\n",
		       to_seconds_text((double)s->replay.ps / TO_PS_PER_S, time),
		       s->jitter_ns / 1e3,
		       s->replay.ordered ? "keep to the order" : "take what they have ready");
}

/* Run the baseline, to compare with, and then the schedule that is asked for. */
static int study_make(struct to_chunk_study *s, struct to_error *err)
{
	to_chunk_schedule_baseline(&s->chunks);
	if (to_chunk_run(&s->run, &s->chunks, TO_CHUNK_FIFO))
		return to_error_set(err, -ENOMEM, "out of memory");
	s->baseline = study_seconds(s);
	if (s->policy == TO_CHUNK_OPTIMAL) {
		s->search.nodes_max = s->budget;
		return to_chunk_search(&s->chunks, &s->run, &s->search, err);
	}
	if (s->policy == TO_CHUNK_THEMIS)
		to_chunk_schedule_themis(&s->chunks);
	if (to_chunk_run(&s->run, &s->chunks, s->order))
		return to_error_set(err, -ENOMEM, "out of memory");
	return 0;
}

static int study_replay(struct to_chunk_study *s, struct to_error *err)
{
	if (!s->jitter_ns)
		return 0;
	s->replay = (struct to_chunk_replay){
		.jitter_ps = s->jitter_ns * 1000, .seed = s->seed,
		.ordered = !s->unordered,
	};
	return to_chunk_replay(&s->chunks, &s->run, &s->replay, err);
}

int to_chunk_study_run(struct to_chunk_study *s, struct to_error *err)
{
	int ret = to_chunk_schedule_init(&s->chunks, &s->network, &s->setting, err);

	if (ret)
		return ret;
	if (to_chunk_run_init(&s->run, &s->chunks))
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = study_make(s, err);
	return ret ? ret : study_replay(s, err);
}

void to_chunk_study_free(struct to_chunk_study *s)
{
	to_chunk_run_free(&s->run);
	to_chunk_schedule_free(&s->chunks);
}
