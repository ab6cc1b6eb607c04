/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RANK_STUDY_H
#define TOPOOPT_RANK_STUDY_H

/* An iteration of a model on a network of dimensions, as text and JSON. */

#include <jansson.h>

#include "workload/rank_iteration.h"

#define TO_RANK_THRESHOLD 0.0625	/* share of a chunk, see struct to_chunk_setting */

/** struct to_rank_study - what is asked for, and what an iteration takes */
struct to_rank_study {
	const char *network;		/* dims.json */
	const char *model;		/* model.json */
	struct to_rank_setting setting;	/* @model and @network of it are loaded */
	struct to_rank_iteration iteration;
	struct to_dnn_model *loaded;
};

/**
 * to_rank_study_run() - load network and model, and simulate an iteration
 * @s: for to_rank_study_free(), also on failure
 *
 * Return: 0, or a negative errno with @err set.
 */
int to_rank_study_run(struct to_rank_study *s, struct to_error *err);
void to_rank_study_free(struct to_rank_study *s);

/** to_rank_study_print() - print the iteration as text */
void to_rank_study_print(const struct to_rank_study *s);

/** to_rank_study_json() - make what --json prints; NULL when out of memory */
json_t *to_rank_study_json(const struct to_rank_study *s);

#endif
