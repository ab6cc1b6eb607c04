// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/parallel.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "report/sweep_page.h"
#include "sweep.h"

#define SWEEP_OWN "sweep.json"	/* of a folder: what its points are of */

struct sweep_args {
	const char *dir, *report;
	bool list, collect;
};

#define SWEEP_LONGEST (20ull * 24 * 3600 * 1000000000)	/* ns for a point: 20 days */

/*
 * One run of the command.
 * @toctl: this program
 * @points: what came out, per point; NULL where it is not there
 * @times: mean seconds of each, negative where it is not there
 * @lock: of what stands below it
 */
struct sweep_run {
	struct to_call *call;
	const struct sweep_args *args;
	struct to_sweep *sweep;
	char toctl[4096];
	json_t **points;
	double *times;
	pthread_mutex_t lock;
	struct to_progress progress;
	unsigned int done, failed;
	struct to_error first;
};

static volatile sig_atomic_t sweep_stop;

static void sweep_signal(int signal)
{
	(void)signal;
	sweep_stop = 1;
}

static int sweep_no_memory(struct to_error *err)
{
	return to_error_set(err, -ENOMEM, "out of memory");
}

static json_t *sweep_load_json(const char *path, struct to_error *err)
{
	size_t len;
	char *data;
	json_t *json;

	if (to_file_read(path, TO_FILE_MAX, &data, &len, err))
		return NULL;
	json = to_json_load(data, len, TO_JSON_MEMORY_MAX, path, err);
	free(data);
	return json;
}

/* What came out of @point, if that is there and whole; whoever was killed left half of it. */
static json_t *sweep_load_point(const char *path)
{
	struct to_error err = { "" };
	json_t *point = sweep_load_json(path, &err);

	if (json_is_number(json_object_get(json_object_get(point, "iteration_time_s"), "mean")) &&
	    json_is_true(json_object_get(point, "complete")))
		return point;
	json_decref(point);
	return NULL;
}

static int sweep_write(FILE *out, const void *data, struct to_error *err)
{
	if (json_dumpf(data, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER) || fputc('\n', out) == EOF)
		return to_error_set(err, -EIO, "cannot write");
	return 0;
}

/* The folder must be this sweep's; one that is not there is made if @make says so. */
static int sweep_open(const struct sweep_run *r, bool make)
{
	const char *dir = r->args->dir;
	struct to_error *err = &r->call->err;
	char path[4096];
	json_t *own;
	int ret = 0;

	if ((size_t)snprintf(path, sizeof(path), "%s/" SWEEP_OWN, dir) >= sizeof(path))
		return to_error_set(err, -ENAMETOOLONG, "%s: %s", dir, strerror(ENAMETOOLONG));
	if (make && mkdir(dir, 0777) && errno != EEXIST)
		return to_error_set(err, -errno, "%s: %s", dir, strerror(errno));
	if (make && access(path, F_OK))
		return to_file_write(path, sweep_write, r->sweep->document, err);
	own = sweep_load_json(path, err);
	if (!own)
		return -EINVAL;
	if (!json_equal(own, r->sweep->document))
		ret = to_error_set(err, -EEXIST, "%s is of another sweep than %s: %s differs", dir,
				   r->sweep->path, path);
	json_decref(own);
	return ret;
}

/* Run @point and keep what it prints. */
static int sweep_point(struct sweep_run *r, unsigned int point, const char *path,
		       struct to_error *err)
{
	char *command = to_sweep_command(r->sweep, point, r->toctl), *output = NULL;
	struct to_error why = { "" };
	int ret = command ? to_child_run(command, "", SWEEP_LONGEST, &output, &why) :
			    sweep_no_memory(&why);

	if (!ret)
		r->points[point] = to_json_load(output, strlen(output), TO_JSON_MEMORY_MAX, path, &why);
	if (!ret && !r->points[point])
		ret = -EINVAL;
	if (!ret)
		ret = to_file_write(path, sweep_write, r->points[point], &why);
	if (ret)
		to_error_set(err, ret, "%s: %.400s", path, why.text);
	free(command);
	free(output);
	return ret;
}

static void sweep_one(void *data, unsigned int point)
{
	struct sweep_run *r = data;
	char *path = sweep_stop ? NULL : to_sweep_file(r->sweep, point, r->args->dir);
	struct to_error err = { "" };
	int ret = 0;

	if (sweep_stop)
		return;
	r->points[point] = path ? sweep_load_point(path) : NULL;
	if (!path)
		ret = sweep_no_memory(&err);
	else if (!r->points[point])
		ret = sweep_point(r, point, path, &err);
	free(path);
	pthread_mutex_lock(&r->lock);
	if (ret && !r->failed++)
		r->first = err;
	to_progress(&r->progress, ++r->done, r->sweep->n_points);
	pthread_mutex_unlock(&r->lock);
}

/* All points that are not there; those that others fail do not stop. */
static int sweep_run_points(struct sweep_run *r)
{
	const struct sigaction action = { .sa_handler = sweep_signal, .sa_flags = SA_RESETHAND };
	struct to_error *err = &r->call->err;
	const ssize_t len = readlink("/proc/self/exe", r->toctl, sizeof(r->toctl) - 1);
	int ret = sweep_open(r, true);

	if (ret)
		return ret;
	if (len < 0)
		return to_error_set(err, -errno, "/proc/self/exe: %s", strerror(errno));
	sigaction(SIGINT, &action, NULL);
	to_parallel(r->sweep->n_points, sweep_one, r);
	to_progress_end(&r->progress);
	if (sweep_stop)
		return to_error_set(err, -EINTR,
				    "interrupted with %u of %u points: the same command goes on",
				    r->done - r->failed, r->sweep->n_points);
	if (r->failed)
		return to_error_set(err, -EINVAL, "%.400s (%u of %u points failed)", r->first.text,
				    r->failed, r->sweep->n_points);
	return 0;
}

static int sweep_collect(struct sweep_run *r)
{
	int ret = sweep_open(r, false);

	for (unsigned int i = 0; !ret && i < r->sweep->n_points; i++) {
		char *path = to_sweep_file(r->sweep, i, r->args->dir);

		if (!path)
			return sweep_no_memory(&r->call->err);
		r->points[i] = sweep_load_point(path);
		free(path);
	}
	return ret;
}

/* A shell command a line, each of which leaves its file whole or not at all. */
static int sweep_list(const struct sweep_run *r)
{
	bool whole = true;
	int ret = sweep_open(r, true);

	if (ret)
		return ret;
	for (unsigned int i = 0; whole && i < r->sweep->n_points; i++) {
		char *command = to_sweep_command(r->sweep, i, "tosim");
		char *file = to_sweep_file(r->sweep, i, r->args->dir);
		char *word = file ? to_shell_word(file) : NULL;

		whole = command && word;
		if (whole)
			printf("%s >%s~ && mv %s~ %s\n", command, word, word, word);
		free(command);
		free(file);
		free(word);
	}
	return whole ? 0 : sweep_no_memory(&r->call->err);
}

static json_t *sweep_values_json(const struct to_sweep *s, unsigned int point)
{
	json_t *values = json_object();

	for (unsigned int i = 0; i < s->n_axes; i++)
		json_object_set_new(values, s->axes[i].option->name,
				    json_string(to_sweep_value(s, point, i)->label));
	return values;
}

static json_t *sweep_axes_json(const struct to_sweep *s)
{
	json_t *axes = json_array();

	for (unsigned int i = 0; i < s->n_axes; i++) {
		json_t *values = json_array();

		for (unsigned int k = 0; k < s->axes[i].n; k++)
			json_array_append_new(values, json_string(s->axes[i].values[k].label));
		json_array_append_new(axes, json_pack("{s:s s:o}", "option", s->axes[i].option->name,
						      "values", values));
	}
	return axes;
}

static json_t *sweep_ratios_json(const struct sweep_run *r)
{
	json_t *ratios = json_array();

	for (unsigned int i = 0; i < r->sweep->n_ratios; i++) {
		const struct to_sweep_ratio *ratio = &r->sweep->ratios[i];
		const struct to_sweep_found found = to_sweep_find(r->sweep, ratio, r->times);

		json_array_append_new(ratios, json_pack("{s:s s:f s:i s:f s:f s:f}",
			"name", ratio->name, "published", ratio->published, "pairs", (int)found.n,
			"mean", found.mean, "min", found.min, "max", found.max));
	}
	return ratios;
}

static json_t *sweep_json(const struct sweep_run *r, unsigned int missing)
{
	static const char *const kept[] = { "iteration_time_s", "critical_path_s", "changes",
					    "iterations", "events", "cpu_s" };
	const struct to_sweep *s = r->sweep;
	json_t *points = json_array();

	for (unsigned int i = 0; i < s->n_points; i++) {
		json_t *point = r->points[i] ? json_pack("{s:o}", "values", sweep_values_json(s, i)) :
					       NULL;

		for (unsigned int k = 0; point && k < sizeof(kept) / sizeof(*kept); k++)
			json_object_set(point, kept[k], json_object_get(r->points[i], kept[k]));
		if (point)
			json_array_append_new(points, point);
	}
	return json_pack("{s:s s:i s:o s:o s:o}", "name", s->name, "missing", (int)missing,
			 "axes", sweep_axes_json(s), "points", points,
			 "ratios", sweep_ratios_json(r));
}

static double sweep_time(const json_t *point, const char *which)
{
	return json_number_value(json_object_get(json_object_get(point, "iteration_time_s"), which));
}

/* The width of a column: that of its longest value, or of its name. */
static int sweep_width(const struct to_sweep_axis *axis)
{
	size_t width = strlen(axis->option->name);

	for (unsigned int i = 0; i < axis->n; i++)
		if (strlen(axis->values[i].label) > width)
			width = strlen(axis->values[i].label);
	return width;
}

static void sweep_print(const struct sweep_run *r, unsigned int missing)
{
	const struct to_sweep *s = r->sweep;
	char mean[16], p99[16];

	printf("%s: %u points", s->name, s->n_points - missing);
	if (missing)
		printf(", %u more are missing", missing);
	printf("\n ");
	for (unsigned int i = 0; i < s->n_axes; i++)
		printf(" %-*s", sweep_width(&s->axes[i]), s->axes[i].option->name);
	printf(" %10s %10s\n", "iteration", "p99");
	for (unsigned int k = 0; k < s->n_points; k++) {
		if (!r->points[k])
			continue;
		putchar(' ');
		for (unsigned int i = 0; i < s->n_axes; i++)
			printf(" %-*s", sweep_width(&s->axes[i]), to_sweep_value(s, k, i)->label);
		printf(" %10s %10s\n", to_seconds_text(sweep_time(r->points[k], "mean"), mean),
		       to_seconds_text(sweep_time(r->points[k], "p99"), p99));
	}
}

static void sweep_print_ratios(const struct sweep_run *r)
{
	const struct to_sweep *s = r->sweep;
	int width = strlen("ratio");

	for (unsigned int i = 0; i < s->n_ratios; i++)
		if ((int)strlen(s->ratios[i].name) > width)
			width = strlen(s->ratios[i].name);
	if (s->n_ratios)
		printf("\n  %-*s  published   here  off by  from pair to pair\n", width, "ratio");
	for (unsigned int i = 0; i < s->n_ratios; i++) {
		const struct to_sweep_ratio *ratio = &s->ratios[i];
		const struct to_sweep_found found = to_sweep_find(s, ratio, r->times);

		printf("  %-*s %10.4g", width, ratio->name, ratio->published);
		if (found.n)
			printf(" %6.3g %+6.0f%%  %.3g to %.3g", found.mean,
			       100 * (found.mean / ratio->published - 1), found.min, found.max);
		putchar('\n');
	}
}

static int sweep_output(struct sweep_run *r)
{
	const struct sweep_args *args = r->args;
	const bool taken = args->report && !strcmp(args->report, "-");
	unsigned int missing = 0;
	json_t *all;
	int ret = 0;

	for (unsigned int i = 0; i < r->sweep->n_points; i++) {
		missing += !r->points[i];
		r->times[i] = r->points[i] ? sweep_time(r->points[i], "mean") : -1;
	}
	all = sweep_json(r, missing);
	if (!all)
		return sweep_no_memory(&r->call->err);
	if (args->report)
		ret = to_sweep_page_save(all, TO_VERSION, args->report, &r->call->err);
	if (!ret && r->call->json && !taken) {
		json_dumpf(all, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		putchar('\n');
	} else if (!ret && !taken) {
		sweep_print(r, missing);
		sweep_print_ratios(r);
	}
	json_decref(all);
	return ret;
}

/* The report may be no file that a point reads, nor what becomes of one. */
static int sweep_check_report(const struct sweep_run *r)
{
	const struct to_sweep *s = r->sweep;
	const char *report = r->args->report, *taken = NULL;
	char *path;

	for (unsigned int i = 0; i < s->n_axes + s->n_fixed; i++) {
		const struct to_sweep_axis *axis = i < s->n_axes ? &s->axes[i] :
						   &s->fixed[i - s->n_axes];

		for (unsigned int k = 0; k < axis->n; k++)
			if (to_file_is_same(report, axis->values[k].text))
				taken = s->path;
	}
	for (unsigned int point = 0; point < s->n_points && !taken; point++) {
		path = to_sweep_file(s, point, r->args->dir);
		if (!path)
			return sweep_no_memory(&r->call->err);
		if (to_file_is_same(report, path))
			taken = r->args->dir;
		free(path);
	}
	return taken ? to_usage(r->call, "--report would overwrite %s, which %s has", report, taken) : 0;
}

static int sweep_run(struct to_call *call, const void *data)
{
	struct sweep_run r = { .call = call, .args = data, .lock = PTHREAD_MUTEX_INITIALIZER };
	int ret;

	if (r.args->list && (r.args->collect || r.args->report || call->json))
		return to_usage(call, "--list prints commands: without --collect, --report and --json");
	r.sweep = to_sweep_load(call->operands[0], &call->err);
	if (!r.sweep)
		return -EINVAL;
	r.points = calloc(r.sweep->n_points, sizeof(*r.points));
	r.times = calloc(r.sweep->n_points, sizeof(*r.times));
	if (!r.points || !r.times)
		ret = sweep_no_memory(&call->err);
	else if (r.args->report && (ret = sweep_check_report(&r)))
		;
	else if (r.args->list)
		ret = sweep_list(&r);
	else
		ret = r.args->collect ? sweep_collect(&r) : sweep_run_points(&r);
	if (!ret && !r.args->list)
		ret = sweep_output(&r);
	for (unsigned int i = 0; r.points && i < r.sweep->n_points; i++)
		json_decref(r.points[i]);
	free(r.points);
	free(r.times);
	to_sweep_free(r.sweep);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct sweep_args, field)

static const struct to_option sweep_options[] = {
	{ "output", 'o', TO_OPTION_STRING, FIELD(dir), .required = true, .argument = "DIR",
	  .help = "folder of the points, a file each" },
	{ "report", 'r', TO_OPTION_OUTPUT, FIELD(report), .argument = "FILE",
	  .help = "also draw the points as an HTML page, published ratios beside those here" },
	{ "list", 'l', TO_OPTION_FLAG, FIELD(list),
	  .help = "print a shell command for each point, and run none" },
	{ "collect", 'c', TO_OPTION_FLAG, FIELD(collect),
	  .help = "run none, and tell what others have left in DIR" },
	{}
};

const struct to_command to_cmd_sweep = {
	.name = "sweep",
	.summary = "Simulate all combinations of options",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.options = sweep_options,
	.args_size = sizeof(struct sweep_args),
	.run = sweep_run,
};
