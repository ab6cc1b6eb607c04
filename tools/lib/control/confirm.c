// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/confirm.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "control/state_file.h"

#define CONFIRM_FILE(all) ((all) ? "all-confirm.lock" : "confirm.lock")

static volatile sig_atomic_t confirm_given, confirm_stop;

static void confirm_signal(int signal)
{
	if (signal == SIGUSR1)
		confirm_given = 1;
	else
		confirm_stop = 1;
}

int to_confirm_begin(struct to_confirm *confirm, const char *job, bool all, struct to_error *err)
{
	const struct sigaction action = { .sa_handler = confirm_signal };
	pid_t holder;
	int ret = to_state_file(job, CONFIRM_FILE(all), confirm->path, err);

	if (ret)
		return ret;
	if (to_lock_holder(confirm->path, &holder) == -EBUSY)
		return to_error_set(err, -EBUSY, "process %d waits for another change of %.64s to be confirmed",
				    (int)holder, job);
	/* The terminal may go with the network; an unconfirmed change is undone even then. */
	signal(SIGHUP, SIG_IGN);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return 0;
}

static void confirm_ask(const struct to_confirm *confirm, const char *what, bool terminal)
{
	char question[256];

	snprintf(question, sizeof(question), "%.120s. %s within %.0f s, or it goes back.", what,
		 terminal ? "Keep it with Enter, or with toctl apply --confirm elsewhere," :
			    "Keep it with toctl apply --confirm", confirm->wait_ns * 1e-9);
	confirm->ask(question);
}

bool to_confirm_wait(const struct to_confirm *confirm, const char *what)
{
	const uint64_t deadline = to_clock_monotonic_ns() + confirm->wait_ns;
	struct pollfd in = { .fd = isatty(STDIN_FILENO) ? STDIN_FILENO : -1, .events = POLLIN };
	sigset_t signals, old;
	uint64_t now;
	char line[256];
	pid_t holder;
	int lock;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &old);
	/* The lock tells to_confirm_give() that a change waits. */
	lock = to_lock_take(confirm->path, 0, &holder, NULL);
	confirm_stop |= lock < 0;
	confirm_ask(confirm, what, in.fd >= 0);
	while (!confirm_given && !confirm_stop && (now = to_clock_monotonic_ns()) < deadline) {
		const struct timespec left = {
			.tv_sec = (deadline - now) / TO_NS_PER_S,
			.tv_nsec = (deadline - now) % TO_NS_PER_S,
		};

		if (ppoll(&in, 1, &left, &old) <= 0)
			continue;
		if (in.revents & POLLIN && read(in.fd, line, sizeof(line)) > 0)
			confirm_given = 1;
		else
			in.fd = -1;	/* the terminal is gone */
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (lock >= 0)
		close(lock);
	return confirm_given;
}

int to_confirm_give(const char *job, bool all, struct to_error *err)
{
	char path[PATH_MAX], only[NAME_MAX + 1];
	pid_t holder = 0;
	int ret = 0;

	if (!job) {
		ret = to_state_only_job(CONFIRM_FILE(all), only, err);
		job = only;
	}
	ret = ret ? ret : to_state_file(job, CONFIRM_FILE(all), path, err);
	if (ret)
		return ret;
	if (to_lock_holder(path, &holder) != -EBUSY || !holder)
		return to_error_set(err, -ENOENT, "no change of %.64s waits to be confirmed", job);
	return kill(holder, SIGUSR1) ? to_error_set(err, -errno, "process %d: %s", (int)holder,
						    strerror(errno)) : 0;
}
