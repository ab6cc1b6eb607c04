/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ITERATION_H
#define TOPOOPT_ITERATION_H

/* Which tasks of an iteration may start: what they wait for, and who computes. */

#include "data/taskgraph.h"

struct to_iteration_task;
struct to_iteration_server;

/**
 * struct to_iteration - one run of @tasks after the other; all zero before the first
 * @begin: of whoever runs them: @task starts now; it ends with to_iteration_finish(), not
 *	before this returns. 0 or a negative errno
 * @start, @finish: seconds, per task
 * @finished: tasks that have
 */
struct to_iteration {
	int (*begin)(void *data, uint32_t task);
	void *data;
	const struct to_taskgraph *tasks;
	uint32_t finished, max_tasks, max_servers;
	double *start, *finish;
	struct to_iteration_task *each;
	struct to_iteration_server *servers;
	uint32_t *touched, n_touched;	/* servers that may start a task */
};

/**
 * to_iteration_reset() - nothing has started
 * @tasks: after to_taskgraph_finish()
 *
 * Return: 0 or -ENOMEM.
 */
int to_iteration_reset(struct to_iteration *iteration, const struct to_taskgraph *tasks);
void to_iteration_free(struct to_iteration *iteration);

/** to_iteration_start() - what waits for nothing, at time 0; returns as @begin does */
int to_iteration_start(struct to_iteration *iteration);

/**
 * to_iteration_finish() - @task has finished at @now: start what waited, if it computes nothing
 *
 * Return: as @begin does.
 */
int to_iteration_finish(struct to_iteration *iteration, uint32_t task, double now);

/** to_iteration_dispatch() - after all that finish at @now: idle servers compute; as @begin */
int to_iteration_dispatch(struct to_iteration *iteration, double now);

/**
 * to_iteration_critical() - the tasks that bound the iteration
 * @critical: as many as there are tasks; each waited for the one before it, the last one
 *	ends the iteration
 * @times: gets the seconds of each kind of task among them
 *
 * Return: how many.
 */
uint32_t to_iteration_critical(const struct to_iteration *iteration, uint32_t *critical,
			       double times[TO_TASK_KINDS]);

#endif
