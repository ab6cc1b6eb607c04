// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/lock.h"

#include <errno.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

#define TRIES_PER_S 20

/* Abstract socket names are per network namespace and go with the process. */
int to_lock_take(const char *kind, const char *device, unsigned int wait_s,
		 struct to_error *err)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	unsigned int tries = wait_s * TRIES_PER_S;
	int fd, len, ret;

	len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "topoopt-%s-%.*s",
		       kind, IFNAMSIZ, device);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return to_error_set(err, -errno, "socket: %s", strerror(errno));
	while ((ret = bind(fd, (struct sockaddr *)&name,
			   offsetof(struct sockaddr_un, sun_path) + 1 + len)) &&
	       errno == EADDRINUSE && tries--)
		to_clock_sleep(TO_NS_PER_S / TRIES_PER_S);
	if (!ret)
		return fd;
	ret = -errno;
	close(fd);
	if (ret == -EADDRINUSE)
		return to_error_set(err, -EBUSY, "another %s is changing %s", kind, device);
	return to_error_set(err, ret, "bind: %s", strerror(-ret));
}
