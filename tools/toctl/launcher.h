/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LAUNCHER_H
#define TOPOOPT_LAUNCHER_H

/* The launcher of a job as a child: told of ranks by files and its environment. */

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "job/ranks.h"

/**
 * struct to_launcher - a job that is about to run, or runs
 * @directory: of the files, temporary; "" when there are none
 * @pid: of the command, 0 before it starts
 * @mask: signals that were blocked before
 */
struct to_launcher {
	char directory[64];
	pid_t pid;
	sigset_t mask;
};

/**
 * to_launcher_prepare() - write files of ranks and set the environment of this process
 * @command: its name says which launcher it is
 * @server: this one, for torchrun; TO_SERVER_NONE when it is not in the plan
 * @fingerprint: of the plan
 *
 * TOPOOPT_HOSTS is a hostfile of OpenMPI, TOPOOPT_RANKS the JSON of toctl job ranks. mpirun,
 * mpiexec, mpiexec.hydra, prterun, srun and torchrun get what to_env_make() has for them, and
 * the file of their kind. What the environment has already, stays. SIGINT, SIGTERM and
 * SIGHUP wait from now on for to_launcher_start() or to_launcher_clean(), as nobody else
 * would remove the files.
 *
 * Return: 0, or a negative errno with @err; then nothing is left behind.
 */
int to_launcher_prepare(struct to_launcher *launcher, const struct to_ranks *ranks,
			const char *command, uint32_t server, const char *device,
			unsigned int slots, const char *fingerprint, struct to_error *err);

/**
 * to_launcher_start() - run @argv; a SIGINT, SIGTERM or SIGHUP that somebody sends to
 *	this process from now on, goes to it
 *
 * Return: 0, or a negative errno with @err.
 */
int to_launcher_start(struct to_launcher *launcher, char **argv, struct to_error *err);

/**
 * to_launcher_wait() - has it ended?
 * @block: wait until it has
 * @status: as a shell has it, 128 + signal when one ended it
 */
bool to_launcher_wait(struct to_launcher *launcher, bool block, int *status);

/** to_launcher_interrupted() - did a signal come after the command had ended? */
bool to_launcher_interrupted(void);

/** to_launcher_clean() - remove the files; nothing is done a second time */
void to_launcher_clean(struct to_launcher *launcher);

#endif
