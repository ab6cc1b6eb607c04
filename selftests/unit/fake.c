// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Be one of the fakes of fakes.py, without starting a Python for it:
 *
 *	fake SOCKET ARGUMENT...
 *
 * Hands its arguments, standard input, output and error to the Python that listens there,
 * which forks the fake, and ends with the fake's status. When this is killed, the fake gets
 * SIGTERM.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int fail(const char *what)
{
	perror(what);
	return 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(3 * sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(3 * sizeof(int)),
				  .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	const int files[] = { 0, 1, 2 };
	struct iovec arguments;
	struct msghdr message = { .msg_iov = &arguments, .msg_iovlen = 1,
				  .msg_control = &control, .msg_controllen = sizeof(control) };
	char *last;
	unsigned char status;
	int fd;

	if (argc < 3 || strlen(argv[1]) >= sizeof(address.sun_path)) {
		fprintf(stderr, "usage: fake SOCKET ARGUMENT...\n");
		return 2;
	}
	strcpy(address.sun_path, argv[1]);
	memcpy(CMSG_DATA(&control.header), files, sizeof(files));
	/* the kernel lays arguments out one after the other */
	last = argv[argc - 1];
	arguments.iov_base = argv[2];
	arguments.iov_len = last + strlen(last) - argv[2];
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fail(argv[1]);
	if (sendmsg(fd, &message, 0) < 0)
		return fail(argv[1]);
	close(0);
	close(1);
	if (read(fd, &status, 1) != 1)
		return 1;
	return status;
}
