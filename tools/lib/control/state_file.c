// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/state_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where all jobs have their directories. */
static int state_root(char *path)
{
	const char *given = getenv("TOPOOPT_STATE"), *home = getenv("XDG_STATE_HOME");
	int n;

	if (given && given[0])
		n = snprintf(path, PATH_MAX, "%s", given);
	else if (!geteuid())
		n = snprintf(path, PATH_MAX, "/var/lib/topoopt");
	else if (home && home[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/topoopt", home);
	else
		n = snprintf(path, PATH_MAX, "%s/.local/state/topoopt",
			     getenv("HOME") ? getenv("HOME") : "");
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* A name of a directory, and never "." or "..". */
static int state_job(char *path, size_t len, const char *job)
{
	for (const char *c = job; *c; c++) {
		const bool plain = isalnum((unsigned char)*c) || strchr("-_", *c) ||
				   (*c == '.' && c != job);

		if (len + 4 >= PATH_MAX)
			return -ENAMETOOLONG;
		len += snprintf(path + len, PATH_MAX - len, plain ? "%c" : "%%%02x",
				(unsigned char)*c);
	}
	return 0;
}

/* All directories of @path, private to the user. */
static int state_make(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

int to_state_file(const char *job, const char *file, char *path, struct to_error *err)
{
	int ret = state_root(path);
	size_t len = strlen(path);

	if (!ret && len + 2 < PATH_MAX) {
		strcpy(path + len, "/");
		ret = state_job(path, len + 1, job[0] ? job : "_");
	}
	ret = ret ? ret : state_make(path);
	len = strlen(path);
	if (!ret && len + strlen(file) + 2 > PATH_MAX)
		ret = -ENAMETOOLONG;
	if (ret)
		return to_error_set(err, ret, "%s: %s", path, strerror(-ret));
	snprintf(path + len, PATH_MAX - len, "/%s", file);
	return 0;
}

/* Undo what state_job() did to a name. */
static void state_job_name(const char *directory, char *job)
{
	unsigned int byte;

	while (*directory) {
		if (*directory == '%' && sscanf(directory + 1, "%2x", &byte) == 1 &&
		    strlen(directory) > 2) {
			*job++ = byte;
			directory += 3;
		} else {
			*job++ = *directory++;
		}
	}
	*job = '\0';
}

void to_state_each(const char *file,
		   void (*tell)(const char *job, const char *path, const struct stat *st, void *data),
		   void *data)
{
	char root[PATH_MAX], path[PATH_MAX];
	struct dirent *entry;
	struct stat st;
	DIR *jobs = state_root(root) ? NULL : opendir(root);

	while (jobs && (entry = readdir(jobs))) {
		if (entry->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s/%s", root, entry->d_name, file) >=
		    (int)sizeof(path) || stat(path, &st))
			continue;
		tell(entry->d_name, path, &st, data);
	}
	if (jobs)
		closedir(jobs);
}

/* The names of jobs that have a file. */
struct state_jobs {
	char *only;		/* of the last one */
	char names[300];
	unsigned int n;
	size_t len;		/* bytes of @names */
};

static void state_add_job(const char *job, const char *path, const struct stat *st, void *data)
{
	struct state_jobs *jobs = data;

	(void)path;
	(void)st;
	state_job_name(job, jobs->only);
	if (jobs->len < sizeof(jobs->names))
		jobs->len += snprintf(jobs->names + jobs->len, sizeof(jobs->names) - jobs->len,
				      "%s%s", jobs->n ? ", " : "", job);
	jobs->n++;
}

int to_state_only_job(const char *file, char *job, struct to_error *err)
{
	struct state_jobs jobs = { .only = job };
	char root[PATH_MAX];

	if (state_root(root))
		return to_error_set(err, -ENAMETOOLONG, "%s", strerror(ENAMETOOLONG));
	to_state_each(file, state_add_job, &jobs);
	if (!jobs.n)
		return to_error_set(err, -ENOENT, "no job has a %s below %.300s", file, root);
	return jobs.n == 1 ? 0 : to_error_set(err, -EINVAL, "several jobs: say which: %s", jobs.names);
}
