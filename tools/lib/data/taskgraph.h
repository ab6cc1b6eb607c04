/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TASKGRAPH_H
#define TOPOOPT_TASKGRAPH_H

/* What one training iteration computes and sends, and what waits for what. */

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "data/demand.h"

#define TO_TASK_NONE UINT32_MAX

/**
 * enum to_task_kind - what a task does
 * @TO_TASK_COMPUTE: keeps one server busy for a time; a server computes one
 *	task at a time, in the order in which they become ready
 * @TO_TASK_ALLREDUCE: reduces a buffer over a group of servers
 * @TO_TASK_MP: MP transfers that start together, one or a whole all-to-all; done
 *	when the last byte has arrived
 */
enum to_task_kind { TO_TASK_COMPUTE, TO_TASK_ALLREDUCE, TO_TASK_MP, TO_TASK_KINDS };

/** struct to_transfer - @bytes from server @src to @dst; nothing where they are the same */
struct to_transfer {
	uint32_t src, dst;
	uint64_t bytes;
};

/**
 * struct to_task - one task
 * @name: for messages, may be NULL; not owned, outlives the graph
 * @server, @seconds: of TO_TASK_COMPUTE
 * @bytes: size of the buffer of TO_TASK_ALLREDUCE
 * @first, @n: of TO_TASK_ALLREDUCE, its servers at to_taskgraph.members, in
 *	ascending order; of TO_TASK_MP, its entries at to_taskgraph.transfers
 */
struct to_task {
	enum to_task_kind kind;
	const char *name;
	uint32_t server;
	double seconds;
	uint64_t bytes;
	uint32_t first, n;
};

/** struct to_task_edge - @task starts when @after has finished */
struct to_task_edge {
	uint32_t task, after;
};

/**
 * struct to_taskgraph - tasks of one iteration
 * @n_servers: servers are 0 to @n_servers - 1
 * @next: tasks that wait for task t: next[first_next[t]] up to
 *	next[first_next[t + 1] - 1]; made by to_taskgraph_finish()
 * @error: the first addition that failed, 0 if none did; @err says why
 */
struct to_taskgraph {
	uint32_t n_servers;
	uint32_t n_tasks, n_members, n_transfers, n_edges;
	struct to_task *tasks;
	uint32_t *members;
	struct to_transfer *transfers;
	struct to_task_edge *edges;
	uint32_t *first_next, *next;
	uint32_t max_tasks, max_members, max_transfers, max_edges, max_next;	/* allocated */
	uint32_t *waiting, *order;	/* scratch */
	int error;
	struct to_error err;
};

/** to_taskgraph_init() - no task yet */
void to_taskgraph_init(struct to_taskgraph *graph, uint32_t n_servers);

/** to_taskgraph_clear() - as after to_taskgraph_init(), but the memory is kept */
void to_taskgraph_clear(struct to_taskgraph *graph);
void to_taskgraph_free(struct to_taskgraph *graph);

/*
 * Additions return the index of the new task. One that fails returns
 * TO_TASK_NONE and is remembered for to_taskgraph_finish(), so that those who
 * build a graph need not look at each.
 */

/** to_taskgraph_compute() - @server is busy for @seconds */
uint32_t to_taskgraph_compute(struct to_taskgraph *graph, uint32_t server, double seconds);

/** to_taskgraph_transfer() - @bytes from @src to @dst */
uint32_t to_taskgraph_transfer(struct to_taskgraph *graph, uint32_t src, uint32_t dst,
			       uint64_t bytes);

/** to_taskgraph_transfers() - @n transfers that start together; the array is copied */
uint32_t to_taskgraph_transfers(struct to_taskgraph *graph, const struct to_transfer *transfers,
				uint32_t n);

/** to_taskgraph_matrix() - the same of bytes, n_servers x n_servers, row = source */
uint32_t to_taskgraph_matrix(struct to_taskgraph *graph, const uint64_t *bytes);

/**
 * to_taskgraph_allreduce() - AllReduce of a buffer of @bytes
 * @members: @n different servers in any order, copied; nothing is sent when it
 *	is only one
 */
uint32_t to_taskgraph_allreduce(struct to_taskgraph *graph, const uint32_t *members, uint32_t n,
				uint64_t bytes);

/**
 * to_taskgraph_append() - the tasks of @job, on other servers
 * @job: another graph, with a task or more
 * @servers: of @graph, for each of @job's
 * @after: task that those of @job wait for which wait for none of it, or TO_TASK_NONE
 *
 * Return: a task that ends when all of them have.
 */
uint32_t to_taskgraph_append(struct to_taskgraph *graph, const struct to_taskgraph *job,
			     const uint32_t *servers, uint32_t after);

/** to_taskgraph_after() - @task starts only when @after has finished */
void to_taskgraph_after(struct to_taskgraph *graph, uint32_t task, uint32_t after);

/**
 * to_taskgraph_finish() - check the graph and make to_taskgraph.next
 *
 * After the last addition, before it is used.
 *
 * Return: 0, or with @err set: -ENOMEM; -EINVAL or -ERANGE of the addition that
 * failed; -ELOOP when tasks wait for each other, naming one of them.
 */
int to_taskgraph_finish(struct to_taskgraph *graph, struct to_error *err);

/**
 * to_taskgraph_demand() - what the tasks send, as the demand of a job
 *
 * AllReduce tasks over the same servers make one group of all their bytes.
 *
 * Return: the demand, without a name, for to_demand_free(); NULL when out of
 * memory.
 */
struct to_demand *to_taskgraph_demand(const struct to_taskgraph *graph);

#endif
