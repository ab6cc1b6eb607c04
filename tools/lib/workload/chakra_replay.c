// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/chakra_replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The task of node @id. */
struct replay_node {
	uint64_t id;
	uint32_t task;
};

int to_replay_init(struct to_replay *r, uint32_t n)
{
	*r = (struct to_replay){ .n_ranks = n };
	to_taskgraph_init(&r->tasks, n);
	r->of_comm = calloc(n, sizeof(*r->of_comm));
	return r->of_comm ? 0 : -ENOMEM;
}

void to_replay_free(struct to_replay *r)
{
	for (uint32_t rank = 0; r->of_comm && rank < r->n_ranks; rank++)
		free(r->of_comm[rank]);
	free(r->of_comm);
	free(r->names);
	to_taskgraph_free(&r->tasks);
}

int to_replay_begin(struct to_replay *r, const struct to_trace *traces)
{
	size_t n = 0;

	for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
		n += traces[rank].n_nodes;
		r->of_comm[rank] = calloc(traces[rank].n_comms + 1, sizeof(**r->of_comm));
		if (!r->of_comm[rank])
			return -ENOMEM;
	}
	/* a receive and its message are two tasks */
	r->names = calloc(2 * n + 1, sizeof(*r->names));
	return r->names ? 0 : -ENOMEM;
}

void to_replay_comm(struct to_replay *r, uint32_t rank, uint32_t place, uint32_t task)
{
	r->of_comm[rank][place] = task;
}

void to_replay_message(struct to_replay *r, uint32_t src, uint32_t send, uint32_t dst,
		       uint32_t receive, uint64_t bytes)
{
	const uint32_t task = to_taskgraph_transfer(&r->tasks, src, dst, bytes);

	to_replay_comm(r, src, send, task);
	to_replay_comm(r, dst, receive, task);
}

static uint32_t replay_task(struct to_replay *r, const struct to_trace *trace, uint32_t rank,
			    const struct to_trace_node *node)
{
	uint32_t task, arrived;

	if (node->comm == TO_TRACE_NO_COMM)
		return node->seconds > 0 ? to_taskgraph_compute(&r->tasks, rank, node->seconds) :
					   to_taskgraph_transfers(&r->tasks, NULL, 0);
	arrived = r->of_comm[rank][node->comm];
	if (trace->comms[node->comm].kind != TO_TRACE_RECEIVE)
		return arrived;
	task = to_taskgraph_transfers(&r->tasks, NULL, 0);
	to_taskgraph_after(&r->tasks, task, arrived);
	return task;
}

static int replay_compare(const void *a, const void *b)
{
	const struct replay_node *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* What the nodes of @rank, by id, wait for. */
static int replay_wait(struct to_replay *r, const struct to_trace *trace, uint32_t rank,
		       const struct replay_node *nodes, struct to_error *err)
{
	for (uint32_t i = 1; i < trace->n_nodes; i++)
		if (nodes[i].id == nodes[i - 1].id)
			return to_error_set(err, -EINVAL, "%s: rank %u has two nodes %llu",
					    trace->path, rank, (unsigned long long)nodes[i].id);
	for (uint32_t i = 0; i < trace->n_nodes; i++) {
		const struct to_trace_node *node = &trace->nodes[i];
		const struct replay_node own = { .id = node->id };
		const struct replay_node *at = bsearch(&own, nodes, trace->n_nodes, sizeof(*nodes),
						       replay_compare);

		for (size_t k = 0; k < node->n_after; k++) {
			const struct replay_node key = { .id = trace->after[node->first_after + k] };
			const struct replay_node *after = bsearch(&key, nodes, trace->n_nodes,
								  sizeof(*nodes), replay_compare);

			if (!after)
				return to_error_set(err, -EINVAL,
						    "%s: rank %u: node %llu waits for node %llu, which is not there",
						    trace->path, rank, (unsigned long long)own.id,
						    (unsigned long long)key.id);
			to_taskgraph_after(&r->tasks, at->task, after->task);
		}
	}
	return 0;
}

static int replay_rank(struct to_replay *r, const struct to_trace *trace, uint32_t rank,
		       struct replay_node *nodes, struct to_error *err)
{
	for (uint32_t i = 0; i < trace->n_nodes; i++) {
		const uint64_t id = trace->nodes[i].id;
		const uint32_t task = replay_task(r, trace, rank, &trace->nodes[i]);

		nodes[i] = (struct replay_node){ id, task };
		/* a collective has the name of its first rank */
		if (task != TO_TASK_NONE && !r->names[task][0])
			snprintf(r->names[task], sizeof(*r->names), "rank %u node %llu", rank,
				 (unsigned long long)id);
	}
	qsort(nodes, trace->n_nodes, sizeof(*nodes), replay_compare);
	return replay_wait(r, trace, rank, nodes, err);
}

int to_replay_finish(struct to_replay *r, const struct to_trace *traces, struct to_error *err)
{
	int ret = 0;

	for (uint32_t rank = 0; !ret && rank < r->n_ranks; rank++) {
		struct replay_node *nodes = calloc(traces[rank].n_nodes + 1, sizeof(*nodes));

		ret = nodes ? replay_rank(r, &traces[rank], rank, nodes, err) :
			      to_error_set(err, -ENOMEM, "out of memory");
		free(nodes);
	}
	for (uint32_t t = 0; !ret && t < r->tasks.n_tasks; t++)
		r->tasks.tasks[t].name = r->names[t][0] ? r->names[t] : "message";
	return ret ? ret : to_taskgraph_finish(&r->tasks, err);
}
