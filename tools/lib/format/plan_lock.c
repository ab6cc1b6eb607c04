// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/plan_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/lock.h"

#define PLAN_LOCK_SUFFIX ".lock"

/* The same for all names that the file has by symbolic links. */
static int plan_lock_name(const char *path, char *name, struct to_error *err)
{
	char target[PATH_MAX];

	bool there = realpath(path, target);

	if (!there && errno != ENOENT)
		return to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	if (snprintf(name, PATH_MAX, "%s" PLAN_LOCK_SUFFIX, there ? target : path) >= PATH_MAX)
		return to_error_set(err, -ENAMETOOLONG, "%s: %s", path, strerror(ENAMETOOLONG));
	return 0;
}

static int plan_lock_busy(const char *path, pid_t holder, struct to_error *err)
{
	char by[32] = "";

	if (holder)
		snprintf(by, sizeof(by), " (process %d)", holder);
	return to_error_set(err, -EBUSY, "%s: another toctl%s is at work with this plan", path, by);
}

int to_plan_lock_take(const char *path, struct to_error *err)
{
	char name[PATH_MAX];
	pid_t holder = 0;
	struct stat st;
	int ret;

	/* a pipe is nobody's state: nothing to hold */
	if (!strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode)))
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	ret = plan_lock_name(path, name, err);
	ret = ret ? ret : to_lock_take(name, 0, &holder, err);
	return ret == -EBUSY ? plan_lock_busy(path, holder, err) : ret;
}

int to_plan_lock_check(const char *path, struct to_error *err)
{
	char name[PATH_MAX];
	pid_t holder;

	if (plan_lock_name(path, name, NULL) || !to_lock_holder(name, &holder))
		return 0;
	return plan_lock_busy(path, holder, err);
}
