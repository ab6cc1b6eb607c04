/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SWEEP_RUN_H
#define TOPOOPT_SWEEP_RUN_H

/* The points of a sweep, a file each in a folder: simulate, collect or list them. */

#include <pthread.h>
#include <stdatomic.h>

#include "sweep.h"

/** struct to_sweep_run - a sweep and its folder */
struct to_sweep_run {
	struct to_sweep *sweep;
	const char *dir;		/* folder of the points */
	char program[4096];		/* path of tosim */
	json_t **points;		/* what came out, per point; NULL: missing */
	/* Called with points that are done, of all, by one thread at a time; not 0 ends. */
	int (*watch)(void *data, unsigned int done, unsigned int all);
	void *data;			/* for @watch */
	pthread_mutex_t lock;		/* of what follows */
	atomic_bool stopped;		/* the watch has ended the run */
	unsigned int done, failed;	/* numbers of points */
	struct to_error first;		/* why the first of them failed */
};

/** to_sweep_run_init() - prepare a run of @sweep in the folder @dir; 0 or -ENOMEM */
int to_sweep_run_init(struct to_sweep_run *r, struct to_sweep *sweep, const char *dir,
		      struct to_error *err);
void to_sweep_run_free(struct to_sweep_run *r);

/**
 * to_sweep_run_points() - simulate the points that have no file yet, on all processors
 *
 * A point that fails does not stop the others.
 *
 * Return: 0, or a negative errno with @err set when a point failed or the watch ended the run.
 */
int to_sweep_run_points(struct to_sweep_run *r, struct to_error *err);

/** to_sweep_run_collect() - load the points that have a file; 0 or a negative errno */
int to_sweep_run_collect(struct to_sweep_run *r, struct to_error *err);

/** to_sweep_run_list() - print a shell command per point, which writes its file whole or not at all */
int to_sweep_run_list(const struct to_sweep_run *r, struct to_error *err);

/** to_sweep_run_check_report() - refuse to write @report over a file that a point reads or is */
int to_sweep_run_check_report(const struct to_sweep_run *r, const char *report,
			      struct to_error *err);

#endif
