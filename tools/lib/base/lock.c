// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define LOCK_TRIES_PER_S 20

/* The holder's number is what is written in the file. */
static void lock_say(int fd)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%d\n", getpid());

	/* it is for messages alone, which do without */
	if (!ftruncate(fd, 0) && pwrite(fd, text, len, 0) != len)
		errno = 0;
}

static pid_t lock_said(int fd)
{
	char text[24] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 0;
}

/*
 * Refuse what another user may have put at @path: the holder would write its number into a
 * file that is no lock, or wait for a lock that is never released.
 */
static int lock_check(int fd, const char *path, struct to_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1)
		return to_error_set(err, -EINVAL,
				    "%s: no lock: expected a regular file with one name", path);
	return to_file_check_shared(path, &st, err);
}

int to_lock_take(const char *path, unsigned int wait_s, pid_t *holder, struct to_error *err)
{
	/* once more at least: to_lock_holder() has it for a moment */
	unsigned int tries = wait_s * LOCK_TRIES_PER_S + 1;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	int ret;

	if (fd < 0)
		return to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	ret = lock_check(fd, path, err);
	if (ret) {
		close(fd);
		return ret;
	}
	while ((ret = flock(fd, LOCK_EX | LOCK_NB)) && errno == EWOULDBLOCK && tries--)
		to_clock_sleep(TO_NS_PER_S / LOCK_TRIES_PER_S);
	if (!ret) {
		lock_say(fd);
		return fd;
	}
	ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
	*holder = lock_said(fd);
	close(fd);
	return ret == -EBUSY ? ret : to_error_set(err, ret, "%s: %s", path, strerror(-ret));
}

int to_lock_holder(const char *path, pid_t *holder)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), ret = 0;

	*holder = 0;
	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK) {
		*holder = lock_said(fd);
		ret = -EBUSY;
	}
	close(fd);
	return ret;
}
