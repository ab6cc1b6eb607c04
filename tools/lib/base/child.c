// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environment.h"

#define CHILD_OUTPUT_MAX (16U << 20)


/* What a child wrote to one of its two outputs. */
struct stream {
	int fd;
	char *text;
	size_t len, room;
};

/* 1 when there is more to come, 0 at the end. */
static int child_read(struct stream *s)
{
	ssize_t len;
	char *text;

	if (s->len + 1 >= s->room) {
		s->room = s->room ? 2 * s->room : 4096;
		if (s->room > CHILD_OUTPUT_MAX)
			return -EFBIG;
		text = realloc(s->text, s->room);
		if (!text)
			return -ENOMEM;
		s->text = text;
	}
	len = read(s->fd, s->text + s->len, s->room - s->len - 1);
	if (len < 0)
		return errno == EINTR ? 1 : -errno;
	s->len += len;
	s->text[s->len] = '\0';
	return len > 0;
}

/* What is there now: all that the child wrote, once it has ended. */
static int child_rest(struct stream *s)
{
	size_t end;
	int left, ret = 1;

	if (ioctl(s->fd, FIONREAD, &left))
		return -errno;
	end = s->len + left;
	while (s->len < end && ret > 0)
		ret = child_read(s);
	return ret < 0 ? ret : 0;
}

/*
 * All output up to the child's end, by @pidfd: what it started may live on and
 * keep the outputs open. Without a pidfd (-1) their ends are waited for.
 */
static int child_collect(struct stream *streams, int pidfd, uint64_t deadline)
{
	struct pollfd fds[] = {
		{ .fd = streams[0].fd, .events = POLLIN },
		{ .fd = streams[1].fd, .events = POLLIN },
		{ .fd = pidfd, .events = POLLIN },
	};

	while (fds[0].fd >= 0 || fds[1].fd >= 0 || fds[2].fd >= 0) {
		uint64_t now = to_clock_monotonic_ns();
		int ready = now < deadline ? poll(fds, 3, (deadline - now + 999999) / 1000000) : 0;

		if (!ready)
			return -ETIMEDOUT;
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (ready > 0 && fds[2].revents) {
			int ret = child_rest(&streams[0]);

			return ret ? ret : child_rest(&streams[1]);
		}
		for (unsigned int i = 0; i < 2 && ready > 0; i++) {
			int more = fds[i].revents ? child_read(&streams[i]) : 1;

			if (more < 0)
				return more;
			if (!more)
				fds[i].fd = -1;
		}
	}
	return 0;
}

/* Start @command as a process group of its own. */
static int child_start(const struct to_argv *command, int in, int out, int errors, pid_t *pid,
		       struct to_error *err)
{
	char **environment = to_environment_of_child(NULL);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int ret;

	if (!environment)
		return to_error_set(err, -ENOMEM, "out of memory");
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	ret = posix_spawnp(pid, command->argv[0], &actions, &attributes, command->argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	return ret ? to_error_set(err, -ret, "%s: %s", command->argv[0], strerror(ret)) : 0;
}

/* A file, not a pipe: a child that reads nothing raises no SIGPIPE. */
static int child_input(const char *input)
{
	size_t len = strlen(input);
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, input, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET)) {
		close(fd);
		return -EIO;
	}
	return fd;
}

/* The last line that is not empty. */
static const char *child_last_line(char *text)
{
	size_t len = text ? strlen(text) : 0;
	char *line;

	while (len && strchr("\r\n\t ", text[len - 1]))
		text[--len] = '\0';
	if (!len)
		return NULL;
	line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

static int child_verdict(int status, struct stream *streams, struct to_error *err)
{
	const char *said = child_last_line(streams[1].text);

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (!said)
		said = child_last_line(streams[0].text);
	if (said)
		return to_error_set(err, -EIO, "%s", said);
	if (WIFEXITED(status))
		return to_error_set(err, -EIO, "exit status %d", WEXITSTATUS(status));
	return to_error_set(err, -EIO, "killed by signal %d", WTERMSIG(status));
}

static int child_run(const struct to_argv *command, int in, uint64_t timeout_ns, struct stream *streams,
		     struct to_error *err)
{
	int out[2] = { -1, -1 }, errors[2] = { -1, -1 }, pidfd, status, ret;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(errors, O_CLOEXEC))
		ret = to_error_set(err, -errno, "%s", strerror(errno));
	else
		ret = child_start(command, in, out[1], errors[1], &pid, err);
	if (out[1] >= 0)
		close(out[1]);
	if (errors[1] >= 0)
		close(errors[1]);
	streams[0].fd = out[0];
	streams[1].fd = errors[0];
	if (!ret) {
		pidfd = syscall(SYS_pidfd_open, pid, 0);
		ret = child_collect(streams, pidfd, to_clock_monotonic_ns() + timeout_ns);
		if (pidfd >= 0)
			close(pidfd);
		if (ret)
			kill(-pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (!ret)
			ret = child_verdict(status, streams, err);
		else if (ret == -ETIMEDOUT)
			to_error_set(err, ret, "no answer in %.3g s", timeout_ns / 1e9);
		else
			to_error_set(err, ret, "%s", strerror(-ret));
	}
	if (out[0] >= 0)
		close(out[0]);
	if (errors[0] >= 0)
		close(errors[0]);
	return ret;
}

int to_child_run(const struct to_argv *command, const char *input, uint64_t timeout_ns,
		 char **output, struct to_error *err)
{
	struct stream streams[2] = {};
	int in = child_input(input), ret;

	if (in < 0)
		return to_error_set(err, in, "%s", strerror(-in));
	ret = child_run(command, in, timeout_ns, streams, err);
	close(in);
	free(streams[1].text);
	if (!ret && !streams[0].text)
		streams[0].text = strdup("");
	if (ret)
		free(streams[0].text);
	else
		*output = streams[0].text;
	return ret;
}
