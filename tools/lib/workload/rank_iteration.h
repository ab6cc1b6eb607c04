/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RANK_ITERATION_H
#define TOPOOPT_RANK_ITERATION_H

/*
 * One training iteration of a model on a network of dimensions (dims.json). All ranks do the
 * same at the same time, so one stands for all: it computes, and waits for collectives.
 */

#include <stdbool.h>

#include "collectives/chunk_run.h"
#include "workload/dnn_model.h"

/**
 * enum to_rank_policy - which dimension chunks take first
 * @TO_RANK_IDEAL: no schedule: all dimensions carry what they can until the last byte
 */
enum to_rank_policy { TO_RANK_BASELINE, TO_RANK_THEMIS, TO_RANK_IDEAL };

/** Names of enum to_rank_policy, NULL-terminated. */
extern const char *const to_rank_policies[];

/**
 * struct to_rank_setting - what is trained, how, and where
 * @batch: samples of a GPU, 0 for the model's
 * @divided: ranks that share each attention and dense operator and embedding, next to each
 *	other: the inner dimensions, and part of one if need be. They compute the same samples
 *	and reduce each result forth, and each gradient of inputs back. 1 for none
 * @tables: embeddings are on one rank each; results and gradients go all to all, while
 *	operators compute that take no embedding
 * @recompute: results are computed and reduced once more on the way back
 * @order: in a dimension; of TO_RANK_THEMIS
 * @chunks: of each collective; its bytes are ignored
 */
struct to_rank_setting {
	const struct to_dnn_model *model;
	struct to_dimensions network;
	unsigned int batch, divided;
	bool tables, recompute;
	enum to_rank_policy policy;
	enum to_chunk_order order;
	struct to_chunk_setting chunks;
};

/**
 * struct to_rank_iteration - how long it takes
 * @time: seconds, of which
 * @computing: the rank computes
 * @gradients: it waits for the AllReduce of all gradients, after the last of them
 * @results: it waits for results and gradients of its operators' parts
 * @gradient_bytes: of the rank's gradients
 * @used: share of all dimensions' bandwidth while it waits for AllReduce, 0 to 1; 0 if it never does
 */
struct to_rank_iteration {
	double time, computing, gradients, results, gradient_bytes, used;
};

/**
 * to_rank_iteration() - simulate one
 *
 * Return: 0, or with @err set: -EINVAL where the inner dimensions have no @divided ranks,
 * -ENOSPC where parameters have no room, -ENOMEM, or as to_chunk_schedule_init().
 */
int to_rank_iteration(const struct to_rank_setting *setting, struct to_rank_iteration *iteration,
		      struct to_error *err);

#endif
