// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/applied.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "control/state_file.h"
#include "format/plan_json.h"

static const char *applied_name(bool all, bool previous)
{
	if (all)
		return previous ? "all-previous.json" : "all-applied.json";
	return previous ? "previous.json" : "applied.json";
}

/* A plan as it is kept. */
struct applied_text {
	char *text;
	size_t len;
};

static int applied_print(struct applied_text *t, const struct to_plan *plan, struct to_error *err)
{
	FILE *out = open_memstream(&t->text, &t->len);
	int ret = out ? to_plan_print(plan, out, err) : -ENOMEM;

	if (out && fclose(out))
		ret = -ENOMEM;
	return ret == -ENOMEM ? to_error_set(err, ret, "out of memory") : ret;
}

static bool applied_is(const char *path, const struct applied_text *t)
{
	char *kept;
	size_t len;
	bool same;

	if (to_file_read(path, TO_FILE_MAX, &kept, &len, NULL))
		return false;
	same = len == t->len && !memcmp(kept, t->text, len);
	free(kept);
	return same;
}

static int applied_write(FILE *out, const void *data, struct to_error *err)
{
	const struct applied_text *t = data;

	return fwrite(t->text, 1, t->len, out) == t->len ? 0 :
	       to_error_set(err, -EIO, "%s", strerror(errno));
}

int to_applied_keep(const struct to_plan *plan, bool all, struct to_error *err)
{
	const char *job = plan->demand->name;
	char path[PATH_MAX], previous[PATH_MAX];
	struct applied_text t = {};
	int ret = to_state_file(job, applied_name(all, false), path, err);

	ret = ret ? ret : to_state_file(job, applied_name(all, true), previous, err);
	ret = ret ? ret : applied_print(&t, plan, err);
	if (!ret && !applied_is(path, &t)) {
		if (rename(path, previous) && errno != ENOENT)
			ret = to_error_set(err, -errno, "%s: %s", path, strerror(errno));
		ret = ret ? ret : to_file_write(path, applied_write, &t, err);
	}
	free(t.text);
	return ret;
}

static void applied_later(const char *job, const char *path, const struct stat *st, void *data)
{
	struct to_applied_file *latest = data;

	if (st->st_mtim.tv_sec < latest->written.tv_sec ||
	    (st->st_mtim.tv_sec == latest->written.tv_sec &&
	     st->st_mtim.tv_nsec <= latest->written.tv_nsec))
		return;
	snprintf(latest->path, sizeof(latest->path), "%s", path);
	snprintf(latest->job, sizeof(latest->job), "%s", job);
	latest->written = st->st_mtim;
}

void to_applied_latest(struct to_applied_file *file)
{
	*file = (struct to_applied_file){};
	to_state_each(applied_name(false, false), applied_later, file);
}

int to_applied_previous(const char *job, bool all, char *path, struct to_error *err)
{
	char only[NAME_MAX + 1];
	int ret;

	if (!job) {
		ret = to_state_only_job(applied_name(all, true), only, err);
		if (ret)
			return ret;
		job = only;
	}
	ret = to_state_file(job, applied_name(all, true), path, err);
	if (!ret && access(path, R_OK))
		ret = to_error_set(err, -ENOENT, "no plan of job %.64s was %sactive before this one: there is no %.300s",
				   job, all ? "made " : "", path);
	return ret;
}
