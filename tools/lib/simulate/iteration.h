/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ITERATION_H
#define TOPOOPT_ITERATION_H

/* Which tasks of an iteration may start: what they wait for, and who computes. */

#include "data/taskgraph.h"

/** struct to_iteration_ops - of whoever runs the tasks; 0 or a negative errno with its own error */
struct to_iteration_ops {
	/** @start: @task starts now; ends with to_iteration_finish(), not before this returns */
	int (*start)(void *data, uint32_t task);
};

struct to_iteration_task;
struct to_iteration_server;

/**
 * struct to_iteration - one run of @tasks
 * @start, @finish: seconds, per task; @cause: what it waited for last, TO_TASK_NONE for nothing
 * @finished: tasks that have
 */
struct to_iteration {
	const struct to_taskgraph *tasks;
	const struct to_iteration_ops *ops;
	void *data;
	uint32_t finished;
	double *start, *finish;
	uint32_t *cause;
	struct to_iteration_task *each;
	struct to_iteration_server *servers;
	uint32_t *touched, n_touched;
};

/**
 * to_iteration_new() - nothing has started
 * @tasks: after to_taskgraph_finish()
 *
 * Return: NULL when out of memory.
 */
struct to_iteration *to_iteration_new(const struct to_taskgraph *tasks,
				      const struct to_iteration_ops *ops, void *data);
void to_iteration_free(struct to_iteration *iteration);

/** to_iteration_begin() - start what waits for nothing; at time 0. Return: that of ops. */
int to_iteration_begin(struct to_iteration *iteration);

/** to_iteration_finish() - @task has finished at @now: start what waited; returns as above */
int to_iteration_finish(struct to_iteration *iteration, uint32_t task, double now);

/**
 * to_iteration_critical() - the tasks that bound the iteration
 * @critical: as many as there are tasks; each waited for the one before it, the last one
 *	ends the iteration
 *
 * Return: how many.
 */
uint32_t to_iteration_critical(const struct to_iteration *iteration, uint32_t *critical);

#endif
