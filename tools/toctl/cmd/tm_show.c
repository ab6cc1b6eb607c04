// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/large.h"
#include "data/tm.h"
#include "format/tm_json.h"

#define ALL_SAMPLES UINT64_MAX
#define MATRIX_MAX 16	/* servers that fit a terminal line */

struct show_args {
	int class, view;
	uint64_t sample, top;
	bool large;
};

/**
 * struct show - what is shown
 * @bytes: n x n
 * @other: bytes of no pair of servers
 */
struct show {
	const struct to_tm *tm;
	const struct show_args *args;
	uint64_t *bytes, other, total;
	uint64_t class[TO_TM_CLASSES];
};

static const struct {
	const char *name;
	uint64_t bytes;
} show_units[] = {
	{ "B", 1 }, { "kB", 1000 }, { "MB", 1000000 }, { "GB", 1000000000 },
};

static const char *const show_classes[] = { "all", "roce", "tcp", "other", NULL };
static const char *const show_views[] = {
	"all", "originated", "delivered", "relayed", NULL
};

static uint64_t show_sum(const uint64_t *bytes, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += bytes[i];
	return sum;
}

static int show_sample(const struct show_args *args)
{
	return args->sample == ALL_SAMPLES ? -1 : (int)args->sample;
}

static int show_collect(struct show *show, struct to_error *err)
{
	const struct to_tm *tm = show->tm;
	const size_t cells = (size_t)tm->n_servers * tm->n_servers;
	const int sample = show_sample(show->args);

	if (sample >= 0 && (unsigned int)sample >= tm->n_samples)
		return to_error_set(err, -ERANGE, "--sample %d: there are %u, from 0",
				    sample, tm->n_samples);
	show->bytes = calloc(cells, sizeof(*show->bytes));
	if (!show->bytes)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (int class = 0; class < TO_TM_CLASSES; class++) {
		to_tm_matrix(tm, sample, class, show->args->view, show->bytes);
		show->class[class] = show_sum(show->bytes, cells);
	}
	show->other = to_tm_matrix(tm, sample, show->args->class - 1,
				   show->args->view, show->bytes);
	show->total = show_sum(show->bytes, cells);
	return 0;
}

static unsigned int show_unit(const struct show *show)
{
	const size_t cells = (size_t)show->tm->n_servers * show->tm->n_servers;
	unsigned int unit = 0;
	uint64_t largest = 0;

	for (size_t i = 0; i < cells; i++)
		if (show->bytes[i] > largest)
			largest = show->bytes[i];
	while (unit < 3 && largest >= 10 * show_units[unit + 1].bytes)
		unit++;
	return unit;
}

static void show_cell(unsigned int unit, uint64_t bytes, int width)
{
	if (!bytes)
		printf(" %*s", width, ".");
	else if (!unit)
		printf(" %*" PRIu64, width, bytes);
	else
		printf(" %*.1f", width, (double)bytes / show_units[unit].bytes);
}

static void show_amount(unsigned int unit, uint64_t bytes)
{
	printf("%.*f %s", unit ? 1 : 0, (double)bytes / show_units[unit].bytes,
	       show_units[unit].name);
}

static int show_width(const struct to_tm *tm)
{
	int width = 9;

	for (unsigned int i = 0; i < tm->n_servers; i++)
		if ((int)strlen(tm->servers[i]) > width)
			width = strlen(tm->servers[i]);
	return width;
}

static void show_matrix(const struct show *show, unsigned int unit)
{
	const struct to_tm *tm = show->tm;
	const unsigned int n = tm->n_servers;
	const int width = show_width(tm);

	printf("%*s", width, "from \\ to");
	for (unsigned int j = 0; j < n; j++)
		printf(" %*s", width, tm->servers[j]);
	printf(" %*s\n", width, "sent");
	for (unsigned int i = 0; i < n; i++) {
		printf("%*s", width, tm->servers[i]);
		for (unsigned int j = 0; j < n; j++)
			show_cell(unit, show->bytes[(size_t)i * n + j], width);
		show_cell(unit, show_sum(show->bytes + (size_t)i * n, n), width);
		printf("\n");
	}
	printf("%*s", width, "received");
	for (unsigned int j = 0; j < n; j++) {
		uint64_t sum = 0;

		for (unsigned int i = 0; i < n; i++)
			sum += show->bytes[(size_t)i * n + j];
		show_cell(unit, sum, width);
	}
	show_cell(unit, show->total, width);
	printf("\n");
}

struct show_pair {
	uint64_t bytes;
	uint32_t src, dst;
};

static int show_compare(const void *a, const void *b)
{
	const struct show_pair *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return x->dst < y->dst ? -1 : x->dst > y->dst;
}

static int show_top(const struct show *show, unsigned int unit,
		    struct to_error *err)
{
	const struct to_tm *tm = show->tm;
	const unsigned int n = tm->n_servers;
	struct show_pair *pairs = calloc((size_t)n * n, sizeof(*pairs));
	const int width = show_width(tm);
	size_t count = 0;

	if (!pairs)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			if (show->bytes[(size_t)i * n + j])
				pairs[count++] = (struct show_pair){
					show->bytes[(size_t)i * n + j], i, j };
	qsort(pairs, count, sizeof(*pairs), show_compare);
	for (size_t i = 0; i < count && i < show->args->top; i++) {
		printf("%*s -> %-*s", width, tm->servers[pairs[i].src], width,
		       tm->servers[pairs[i].dst]);
		show_cell(unit, pairs[i].bytes, width);
		printf("  %4.1f %%\n", 100.0 * pairs[i].bytes / show->total);
	}
	if (count > show->args->top)
		printf("and %zu more pairs\n", count - (size_t)show->args->top);
	free(pairs);
	return 0;
}

/* Seconds that the samples shown took. */
static double show_seconds(const struct show *show)
{
	const struct to_tm *tm = show->tm;
	const int sample = show_sample(show->args);
	uint64_t ns = 0;

	for (unsigned int k = 0; k < tm->n_samples; k++)
		if (sample < 0 || (unsigned int)sample == k)
			ns += tm->samples[k].elapsed_ns;
	return ns * 1e-9;
}

static void show_head(const struct show *show)
{
	const struct to_tm *tm = show->tm;
	char start[64] = "no samples";
	struct tm when;
	time_t at;

	if (tm->n_samples) {
		at = tm->samples[0].start_ns / 1000000000;
		gmtime_r(&at, &when);
		strftime(start, sizeof(start), "from %F %T UTC", &when);
	}
	printf("job %s, %s%s\n%u sample%s of %g ms, %s\n", tm->job,
	       tm->server == TO_TM_FABRIC ? "whole fabric" : "as seen by ",
	       tm->server == TO_TM_FABRIC ? "" : tm->servers[tm->server],
	       tm->n_samples, tm->n_samples == 1 ? "" : "s", tm->interval_ns * 1e-6, start);
	for (unsigned int i = 0; tm->missing && i < tm->n_servers; i++)
		if (tm->missing[i])
			printf("without the recording of %s\n", tm->servers[i]);
}

static int show_text(const struct show *show, struct to_error *err)
{
	const struct show_args *args = show->args;
	unsigned int unit = show_unit(show);
	double seconds = show_seconds(show);
	char text[16];
	int ret = 0;

	show_head(show);
	printf("\n%s, classes: %s, flows: %s\n", show_units[unit].name,
	       show_classes[args->class], show_views[args->view]);
	if (show->tm->n_servers <= MATRIX_MAX && !args->top)
		show_matrix(show, unit);
	else
		ret = show_top(show, unit, err);
	if (ret)
		return ret;
	printf("\ntotal ");
	show_amount(unit, show->total);
	if (seconds > 0)
		printf(" in %s, %.*f Gbit/s", to_seconds_text(seconds, text),
		       show->total * 8e-9 / seconds < 9.9995 ? 3 : 1, show->total * 8e-9 / seconds);
	for (int class = 0; class < TO_TM_CLASSES; class++) {
		printf("%s%s ", class ? ", " : "\n", to_tm_class_names[class]);
		show_amount(unit, show->class[class]);
	}
	putchar('\n');
	if (show->other) {
		printf("plus ");
		show_amount(unit, show->other);
		printf(" from or to addresses of no server\n");
	}
	return 0;
}

static int show_json(const struct show *show, struct to_error *err)
{
	const struct to_tm *tm = show->tm;
	const unsigned int n = tm->n_servers;
	json_t *servers = json_array(), *classes = json_object();
	json_t *object;

	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(servers, json_string(tm->servers[i]));
	for (int class = 0; class < TO_TM_CLASSES; class++)
		json_object_set_new(classes, to_tm_class_names[class],
				    json_integer(show->class[class]));
	object = json_pack("{s:s, s:o, s:i, s:f, s:I, s:I, s:o, s:o}", "job", tm->job,
			   "servers", servers, "samples", tm->n_samples,
			   "seconds", show_seconds(show), "total", (json_int_t)show->total,
			   "other", (json_int_t)show->other, "classes", classes,
			   "bytes", to_json_matrix(show->bytes, n));
	if (!object)
		return to_error_set(err, -ENOMEM, "out of memory");
	json_dumpf(object, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(object);
	return 0;
}

static int show_run(struct to_call *call, const void *data)
{
	struct show show = { .args = data };
	struct show_args args = *show.args;
	struct to_tm *tm;
	int ret;

	tm = to_tm_load(call->operands[0], &call->err);
	if (!tm)
		return -EINVAL;
	if (tm->n_servers > MATRIX_MAX && !args.top)
		args.top = 20;
	show.tm = tm;
	show.args = &args;
	ret = to_large_check(call->operands[0], tm->n_servers, args.large, &call->err);
	ret = ret ? ret : show_collect(&show, &call->err);
	if (!ret)
		ret = call->json ? show_json(&show, &call->err) :
		      show_text(&show, &call->err);
	free(show.bytes);
	to_tm_free(tm);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct show_args, field)

static const struct to_option show_options[] = {
	{ "class", 0, TO_OPTION_CHOICE, FIELD(class), .choices = show_classes,
	  .help = "class of traffic; default: all" },
	{ "view", 0, TO_OPTION_CHOICE, FIELD(view), .choices = show_views,
	  .help = "flows of a server's recording; default: all" },
	{ "sample", 0, TO_OPTION_NUMBER, FIELD(sample), .argument = "N",
	  .max = INT32_MAX, .help = "sample to show, from 0; default: the sum of all" },
	{ "top", 0, TO_OPTION_NUMBER, FIELD(top), .argument = "N", .min = 1,
	  .help = "busiest pairs to list; default: 20 above 16 servers" },
	TO_LARGE_OPTION(offsetof(struct show_args, large)),
	{}
};

const struct to_command to_cmd_tm_show = {
	.name = "tm show",
	.summary = "Print a traffic matrix",
	.operands = "TM",
	.min_operands = 1,
	.max_operands = 1,
	.options = show_options,
	.args_size = sizeof(struct show_args),
	.defaults = &(const struct show_args){ .sample = ALL_SAMPLES },
	.run = show_run,
};
