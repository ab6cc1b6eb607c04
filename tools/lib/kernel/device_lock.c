// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/device_lock.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock.h"

#define DEVICE_LOCK_RUN "/run"

/* Makes @path if it is not there: a directory that nobody else may write to. */
static int device_lock_directory(const char *path, struct to_error *err)
{
	struct stat st;

	/* for everybody to look at, whatever the umask is */
	if (!mkdir(path, 0755))
		chmod(path, 0755);
	else if (errno != EEXIST)
		return to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	if (lstat(path, &st))
		return to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)))
		return to_error_set(err, -EPERM,
				    "%s: not a directory of this user alone; locks are kept there",
				    path);
	return 0;
}

/* Root's, or that of a user who has a network namespace without being root. */
static int device_lock_find(char *path, size_t size, struct to_error *err)
{
	const char *own = getenv("XDG_RUNTIME_DIR");

	if (access(DEVICE_LOCK_RUN "/topoopt", W_OK) && access(DEVICE_LOCK_RUN, W_OK) && own)
		snprintf(path, size, "%s/topoopt", own);
	else
		snprintf(path, size, DEVICE_LOCK_RUN "/topoopt");
	return device_lock_directory(path, err);
}

int to_device_lock_take(const char *kind, const char *device, unsigned int wait_s,
			struct to_error *err)
{
	char path[PATH_MAX - 64], file[PATH_MAX], by[32] = "";
	pid_t holder = 0;
	struct stat ns;
	int ret;

	if (strlen(device) >= IFNAMSIZ || strchr(device, '/'))
		return to_error_set(err, -EINVAL, "%s: not the name of an interface", device);
	if (stat("/proc/thread-self/ns/net", &ns))
		return to_error_set(err, -errno, "/proc/thread-self/ns/net: %s", strerror(errno));
	ret = device_lock_find(path, sizeof(path), err);
	if (ret)
		return ret;
	snprintf(file, sizeof(file), "%s/%s-%s.%ju", path, kind, device, (uintmax_t)ns.st_ino);
	ret = to_lock_take(file, wait_s, &holder, err);
	if (ret != -EBUSY)
		return ret;
	if (holder)
		snprintf(by, sizeof(by), " (process %d)", holder);
	return to_error_set(err, ret, "another %s is changing %s%s", kind, device, by);
}
