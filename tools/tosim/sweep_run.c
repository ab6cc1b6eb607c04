// SPDX-License-Identifier: GPL-2.0-or-later
#include "sweep_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/argv.h"
#include "base/child.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/parallel.h"

#define SWEEP_OWN "sweep.json"	/* of a folder: what its points are of */
#define SWEEP_LONGEST (20ull * 24 * 3600 * 1000000000)	/* ns for a point: 20 days */

static int sweep_no_memory(struct to_error *err)
{
	return to_error_set(err, -ENOMEM, "out of memory");
}

int to_sweep_run_init(struct to_sweep_run *r, struct to_sweep *sweep, const char *dir,
		      struct to_error *err)
{
	*r = (struct to_sweep_run){ .sweep = sweep, .dir = dir, .lock = PTHREAD_MUTEX_INITIALIZER };
	r->points = calloc(sweep->n_points, sizeof(*r->points));
	return r->points ? 0 : sweep_no_memory(err);
}

void to_sweep_run_free(struct to_sweep_run *r)
{
	for (unsigned int i = 0; r->points && i < r->sweep->n_points; i++)
		json_decref(r->points[i]);
	free(r->points);
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

/* Load what came out of a point; NULL if it is missing, or half of it was left. */
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
	if (to_json_write(data, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER) || fputc('\n', out) == EOF)
		return to_error_set(err, -EIO, "cannot write");
	return 0;
}

/* Check that the folder is this sweep's; make a missing one if @make says so. */
static int sweep_open(const struct to_sweep_run *r, bool make, struct to_error *err)
{
	const char *dir = r->dir;
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

/* Simulate @point and keep what it prints. */
static int sweep_point(struct to_sweep_run *r, unsigned int point, const char *path,
		       struct to_error *err)
{
	struct to_argv command = {};
	struct to_error why = { "" };
	char *output = NULL;
	int ret = to_sweep_command(r->sweep, point, r->program, &command);

	ret = ret ? sweep_no_memory(&why) :
		    to_child_run(&command, "", SWEEP_LONGEST, &output, &why);

	if (!ret)
		r->points[point] = to_json_load(output, strlen(output), TO_JSON_MEMORY_MAX, path, &why);
	if (!ret && !r->points[point])
		ret = -EINVAL;
	if (!ret)
		ret = to_file_write(path, sweep_write, r->points[point], &why);
	if (ret)
		to_error_set(err, ret, "%s: %.400s", path, why.text);
	to_argv_free(&command);
	free(output);
	return ret;
}

static void sweep_one(void *data, unsigned int point)
{
	struct to_sweep_run *r = data;
	struct to_error err = { "" };
	int ret = 0;
	char *path;

	if (r->stopped)
		return;
	path = to_sweep_file(r->sweep, point, r->dir);
	r->points[point] = path ? sweep_load_point(path) : NULL;
	if (!path)
		ret = sweep_no_memory(&err);
	else if (!r->points[point])
		ret = sweep_point(r, point, path, &err);
	free(path);
	pthread_mutex_lock(&r->lock);
	if (ret && !r->failed++)
		r->first = err;
	if (r->watch(r->data, ++r->done, r->sweep->n_points))
		r->stopped = true;
	pthread_mutex_unlock(&r->lock);
}

int to_sweep_run_points(struct to_sweep_run *r, struct to_error *err)
{
	const ssize_t len = readlink("/proc/self/exe", r->program, sizeof(r->program) - 1);
	int ret = sweep_open(r, true, err);

	if (ret)
		return ret;
	if (len < 0)
		return to_error_set(err, -errno, "/proc/self/exe: %s", strerror(errno));
	to_parallel(r->sweep->n_points, sweep_one, r);
	if (r->stopped)
		return to_error_set(err, -EINTR,
				    "interrupted with %u of %u points: the same command goes on",
				    r->done - r->failed, r->sweep->n_points);
	if (r->failed)
		return to_error_set(err, -EINVAL, "%.400s (%u of %u points failed)", r->first.text,
				    r->failed, r->sweep->n_points);
	return 0;
}

int to_sweep_run_collect(struct to_sweep_run *r, struct to_error *err)
{
	int ret = sweep_open(r, false, err);

	for (unsigned int i = 0; !ret && i < r->sweep->n_points; i++) {
		char *path = to_sweep_file(r->sweep, i, r->dir);

		if (!path)
			return sweep_no_memory(err);
		r->points[i] = sweep_load_point(path);
		free(path);
	}
	return ret;
}

/* Print a command for a shell, without the end of its line. Return: false when out of memory. */
static bool sweep_print_command(const struct to_argv *command)
{
	for (unsigned int i = 0; i < command->n; i++) {
		char *word = to_argv_quote(command->argv[i]);

		if (!word)
			return false;
		printf("%s%s", i ? " " : "", word);
		free(word);
	}
	return true;
}

int to_sweep_run_list(const struct to_sweep_run *r, struct to_error *err)
{
	bool whole = true;
	int ret = sweep_open(r, true, err);

	if (ret)
		return ret;
	for (unsigned int i = 0; whole && i < r->sweep->n_points; i++) {
		struct to_argv command = {};
		char *file = to_sweep_file(r->sweep, i, r->dir);
		char *word = file ? to_argv_quote(file) : NULL;

		whole = word && !to_sweep_command(r->sweep, i, "tosim", &command) &&
			sweep_print_command(&command);
		if (whole)
			printf(" >%s~ && mv %s~ %s\n", word, word, word);
		to_argv_free(&command);
		free(file);
		free(word);
	}
	return whole ? 0 : sweep_no_memory(err);
}

int to_sweep_run_check_report(const struct to_sweep_run *r, const char *report,
			      struct to_error *err)
{
	const struct to_sweep *s = r->sweep;
	const char *taken = NULL;
	char *path;

	for (unsigned int i = 0; i < s->n_axes + s->n_fixed; i++) {
		const struct to_sweep_axis *axis = i < s->n_axes ? &s->axes[i] :
						   &s->fixed[i - s->n_axes];

		for (unsigned int k = 0; k < axis->n; k++)
			if (to_file_is_same(report, axis->values[k].text))
				taken = s->path;
	}
	for (unsigned int point = 0; point < s->n_points && !taken; point++) {
		path = to_sweep_file(s, point, r->dir);
		if (!path)
			return sweep_no_memory(err);
		if (to_file_is_same(report, path))
			taken = r->dir;
		free(path);
	}
	return taken ? to_error_set(err, -EINVAL, "--report would overwrite %s, which %s has", report,
				    taken) : 0;
}
