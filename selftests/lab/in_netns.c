// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run a command in a network namespace that ip netns has made:
 *
 *	in_netns NAME COMMAND [ARGUMENT...]
 *
 * "ip netns exec" makes a mount namespace, too, whose /sys is that of the network
 * namespace. Few commands look there, and on an emulated processor that takes as long as
 * the command. Static, as the dynamic linker does, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *what)
{
	int status = errno == ENOENT ? 127 : 126;

	dprintf(STDERR_FILENO, "in_netns: %s: %s\n", what, strerror(errno));
	return status;
}

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	int fd;

	if (argc < 3) {
		dprintf(STDERR_FILENO, "usage: in_netns NAME COMMAND [ARGUMENT...]\n");
		return 2;
	}
	snprintf(path, sizeof(path), "/run/netns/%s", argv[1]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		return fail(path);
	execvp(argv[2], argv + 2);
	return fail(argv[2]);
}
