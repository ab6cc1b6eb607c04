/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LAUNCHER_H
#define TOPOOPT_LAUNCHER_H

/* The launcher of a job as a child: files and its environment tell it the ranks. */

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "job/ranks.h"

/** struct to_launcher - a launcher that is about to run, or runs */
struct to_launcher {
	void (*note)(const char *text);	/* told of warnings; NULL: nobody */
	char directory[64];	/* temporary directory of the files, "" while there is none */
	pid_t pid;		/* of the launcher, 0 before it starts */
	sigset_t mask;		/* signals that were blocked before to_launcher_prepare() */
};

/** struct to_launcher_job - what a launcher is told */
struct to_launcher_job {
	const struct to_ranks *ranks;	/* order of the servers */
	unsigned int slots;		/* ranks on each server */
	const char *fingerprint;	/* of the plan */
	uint32_t server;		/* this server; TO_SERVER_NONE if the plan lacks it */
	const char *device;		/* topoopt device */
};

/**
 * to_launcher_prepare() - write files of ranks and set the environment of this process
 * @launcher: zeros, apart from note
 * @command: name of the launcher, with or without a directory
 *
 * TOPOOPT_HOSTS names a hostfile of OpenMPI, TOPOOPT_RANKS the JSON of toctl job ranks. mpirun,
 * mpiexec, mpiexec.hydra, prterun, srun and torchrun also get the variables of to_env_make() and
 * the file of their own format. TOPOOPT_COLLECTIVE_TOKEN is a new secret for a collective among
 * the ranks. Variables that are set already stay. SIGINT, SIGTERM and
 * SIGHUP are blocked until to_launcher_start() or to_launcher_clean(), which remove the files.
 *
 * Return: 0, or a negative errno with @err; then nothing is left behind.
 */
int to_launcher_prepare(struct to_launcher *launcher, const struct to_launcher_job *job,
			const char *command, struct to_error *err);

/**
 * to_launcher_start() - start the command @argv
 *
 * The command gets the environment of this process without secrets (base/environment.h), apart
 * from TOPOOPT_COLLECTIVE_TOKEN.
 *
 * From now on the command gets each SIGINT, SIGTERM or SIGHUP that a process sends to this one.
 *
 * Return: 0, or a negative errno with @err.
 */
int to_launcher_start(struct to_launcher *launcher, char **argv, struct to_error *err);

/**
 * to_launcher_wait() - tell whether the command has ended
 * @block: wait for its end
 * @status: set to its exit status as a shell has it: 128 + signal if a signal ended it
 */
bool to_launcher_wait(struct to_launcher *launcher, bool block, int *status);

/** to_launcher_interrupted() - tell whether a signal came after the command had ended */
bool to_launcher_interrupted(void);

/** to_launcher_clean() - remove the files; may be called again */
void to_launcher_clean(struct to_launcher *launcher);

#endif
