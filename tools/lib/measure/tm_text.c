// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/text.h"

#define TEXT_MATRIX_MAX 16	/* servers that fit a terminal line */
#define TEXT_TOP 20		/* busiest pairs that are listed where the matrix does not fit */

const char *const to_tm_text_classes[] = { "all", "roce", "tcp", "other", NULL };
const char *const to_tm_text_views[] = { "all", "originated", "delivered", "relayed", NULL };

static const struct {
	const char *name;
	uint64_t bytes;
} text_units[] = {
	{ "B", 1 }, { "kB", 1000 }, { "MB", 1000000 }, { "GB", 1000000000 },
};

static uint64_t text_sum(const uint64_t *bytes, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += bytes[i];
	return sum;
}

int to_tm_text_make(struct to_tm_text *t, struct to_error *err)
{
	const struct to_tm *tm = t->tm;
	const size_t cells = (size_t)tm->n_servers * tm->n_servers;

	if (t->sample >= 0 && (unsigned int)t->sample >= tm->n_samples)
		return to_error_set(err, -ERANGE, "--sample %d: there are %u, from 0",
				    t->sample, tm->n_samples);
	if (tm->n_servers > TEXT_MATRIX_MAX && !t->top)
		t->top = TEXT_TOP;
	t->bytes = calloc(cells, sizeof(*t->bytes));
	if (!t->bytes)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (int class = 0; class < TO_TM_CLASSES; class++) {
		to_tm_matrix(tm, t->sample, class, t->view, t->bytes);
		t->by_class[class] = text_sum(t->bytes, cells);
	}
	t->other = to_tm_matrix(tm, t->sample, t->class - 1, t->view, t->bytes);
	t->total = text_sum(t->bytes, cells);
	return 0;
}

static unsigned int text_unit(const struct to_tm_text *t)
{
	const size_t cells = (size_t)t->tm->n_servers * t->tm->n_servers;
	unsigned int unit = 0;
	uint64_t largest = 0;

	for (size_t i = 0; i < cells; i++)
		if (t->bytes[i] > largest)
			largest = t->bytes[i];
	while (unit < 3 && largest >= 10 * text_units[unit + 1].bytes)
		unit++;
	return unit;
}

static void text_cell(FILE *out, unsigned int unit, uint64_t bytes, int width)
{
	if (!bytes)
		fprintf(out, " %*s", width, ".");
	else if (!unit)
		fprintf(out, " %*" PRIu64, width, bytes);
	else
		fprintf(out, " %*.1f", width, (double)bytes / text_units[unit].bytes);
}

static void text_amount(FILE *out, unsigned int unit, uint64_t bytes)
{
	fprintf(out, "%.*f %s", unit ? 1 : 0, (double)bytes / text_units[unit].bytes,
	       text_units[unit].name);
}

static int text_width(const struct to_tm *tm)
{
	int width = 9;

	for (unsigned int i = 0; i < tm->n_servers; i++)
		if ((int)strlen(tm->servers[i]) > width)
			width = strlen(tm->servers[i]);
	return width;
}

static void text_matrix(FILE *out, const struct to_tm_text *t, unsigned int unit)
{
	const struct to_tm *tm = t->tm;
	const unsigned int n = tm->n_servers;
	const int width = text_width(tm);

	fprintf(out, "%*s", width, "from \\ to");
	for (unsigned int j = 0; j < n; j++)
		fprintf(out, " %*s", width, tm->servers[j]);
	fprintf(out, " %*s\n", width, "sent");
	for (unsigned int i = 0; i < n; i++) {
		fprintf(out, "%*s", width, tm->servers[i]);
		for (unsigned int j = 0; j < n; j++)
			text_cell(out, unit, t->bytes[(size_t)i * n + j], width);
		text_cell(out, unit, text_sum(t->bytes + (size_t)i * n, n), width);
		fprintf(out, "\n");
	}
	fprintf(out, "%*s", width, "received");
	for (unsigned int j = 0; j < n; j++) {
		uint64_t sum = 0;

		for (unsigned int i = 0; i < n; i++)
			sum += t->bytes[(size_t)i * n + j];
		text_cell(out, unit, sum, width);
	}
	text_cell(out, unit, t->total, width);
	fprintf(out, "\n");
}

struct text_pair {
	uint64_t bytes;
	uint32_t src, dst;
};

static int text_compare(const void *a, const void *b)
{
	const struct text_pair *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return x->dst < y->dst ? -1 : x->dst > y->dst;
}

static int text_top(FILE *out, const struct to_tm_text *t, unsigned int unit,
		    struct to_error *err)
{
	const struct to_tm *tm = t->tm;
	const unsigned int n = tm->n_servers;
	struct text_pair *pairs = calloc((size_t)n * n, sizeof(*pairs));
	const int width = text_width(tm);
	size_t count = 0;

	if (!pairs)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			if (t->bytes[(size_t)i * n + j])
				pairs[count++] = (struct text_pair){
					t->bytes[(size_t)i * n + j], i, j };
	qsort(pairs, count, sizeof(*pairs), text_compare);
	for (size_t i = 0; i < count && i < t->top; i++) {
		fprintf(out, "%*s -> %-*s", width, tm->servers[pairs[i].src], width,
		       tm->servers[pairs[i].dst]);
		text_cell(out, unit, pairs[i].bytes, width);
		fprintf(out, "  %4.1f %%\n", 100.0 * pairs[i].bytes / t->total);
	}
	if (count > t->top)
		fprintf(out, "and %zu more pairs\n", count - (size_t)t->top);
	free(pairs);
	return 0;
}

/* Seconds that the samples shown took. */
static double text_seconds(const struct to_tm_text *t)
{
	const struct to_tm *tm = t->tm;
	const int sample = t->sample;
	uint64_t ns = 0;

	for (unsigned int k = 0; k < tm->n_samples; k++)
		if (sample < 0 || (unsigned int)sample == k)
			ns += tm->samples[k].elapsed_ns;
	return ns * 1e-9;
}

static void text_head(FILE *out, const struct to_tm_text *t)
{
	const struct to_tm *tm = t->tm;
	char start[64] = "no samples";
	struct tm when;
	time_t at;

	if (tm->n_samples) {
		at = tm->samples[0].start_ns / 1000000000;
		gmtime_r(&at, &when);
		strftime(start, sizeof(start), "from %F %T UTC", &when);
	}
	fprintf(out, "job %s, %s%s\n%u sample%s of %g ms, %s\n", tm->job,
	       tm->server == TO_TM_FABRIC ? "whole fabric" : "as seen by ",
	       tm->server == TO_TM_FABRIC ? "" : tm->servers[tm->server],
	       tm->n_samples, tm->n_samples == 1 ? "" : "s", tm->interval_ns * 1e-6, start);
	for (unsigned int i = 0; tm->missing && i < tm->n_servers; i++)
		if (tm->missing[i])
			fprintf(out, "without the recording of %s\n", tm->servers[i]);
}

int to_tm_text_print(FILE *out, const struct to_tm_text *t, struct to_error *err)
{
	unsigned int unit = text_unit(t);
	double seconds = text_seconds(t);
	char text[16];
	int ret = 0;

	text_head(out, t);
	fprintf(out, "\n%s, classes: %s, flows: %s\n", text_units[unit].name,
	       to_tm_text_classes[t->class], to_tm_text_views[t->view]);
	if (t->tm->n_servers <= TEXT_MATRIX_MAX && !t->top)
		text_matrix(out, t, unit);
	else
		ret = text_top(out, t, unit, err);
	if (ret)
		return ret;
	fprintf(out, "\ntotal ");
	text_amount(out, unit, t->total);
	if (seconds > 0)
		fprintf(out, " in %s, %.*f Gbit/s", to_seconds_text(seconds, text),
		       t->total * 8e-9 / seconds < 9.9995 ? 3 : 1, t->total * 8e-9 / seconds);
	for (int class = 0; class < TO_TM_CLASSES; class++) {
		fprintf(out, "%s%s ", class ? ", " : "\n", to_tm_class_names[class]);
		text_amount(out, unit, t->by_class[class]);
	}
	fputc('\n', out);
	if (t->other) {
		fprintf(out, "plus ");
		text_amount(out, unit, t->other);
		fprintf(out, " from or to addresses of no server\n");
	}
	return 0;
}

json_t *to_tm_text_json(const struct to_tm_text *t)
{
	const struct to_tm *tm = t->tm;
	const unsigned int n = tm->n_servers;
	json_t *servers = json_array(), *classes = json_object();

	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(servers, json_string(tm->servers[i]));
	for (int class = 0; class < TO_TM_CLASSES; class++)
		json_object_set_new(classes, to_tm_class_names[class],
				    json_integer(t->by_class[class]));
	return json_pack("{s:s, s:o, s:i, s:f, s:I, s:I, s:o, s:o}", "job", tm->job,
			 "servers", servers, "samples", tm->n_samples,
			 "seconds", text_seconds(t), "total", (json_int_t)t->total,
			 "other", (json_int_t)t->other, "classes", classes,
			 "bytes", to_json_matrix(t->bytes, n));
}
