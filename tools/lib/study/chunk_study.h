/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHUNK_STUDY_H
#define TOPOOPT_CHUNK_STUDY_H

/* A schedule of chunks: how it is found, what it is compared with, as text, JSON and HTML. */

#include <jansson.h>
#include <stdio.h>

#include "collectives/chunk_replay.h"
#include "collectives/chunk_search.h"

/** enum to_chunk_policy - who chooses the dimension that a chunk takes next */
enum to_chunk_policy { TO_CHUNK_BASELINE, TO_CHUNK_THEMIS, TO_CHUNK_OPTIMAL };

/** Names of enum to_chunk_policy, NULL-terminated. */
extern const char *const to_chunk_policies[];

/** struct to_chunk_study - what is asked for, and what came out */
struct to_chunk_study {
	struct to_dimensions network;
	struct to_chunk_setting setting;
	enum to_chunk_policy policy;
	enum to_chunk_order order;	/* of chunks in a dimension, unless TO_CHUNK_OPTIMAL */
	uint64_t budget;		/* partial schedules that TO_CHUNK_OPTIMAL looks at */
	uint64_t jitter_ns;		/* ranks are late by up to this; 0: no replay */
	uint64_t seed;			/* of the delays */
	bool unordered;			/* ranks of the replay take what they have ready */

	struct to_chunk_schedule chunks;
	struct to_chunk_run run;
	struct to_chunk_search search;
	struct to_chunk_replay replay;
	double baseline;		/* seconds that the baseline takes */
};

/**
 * to_chunk_study_run() - schedule the chunks, and replay them with late ranks
 * @s: for to_chunk_study_free(), also on failure
 *
 * Return: 0, also when the replay ends in a deadlock; a negative errno with @err set.
 */
int to_chunk_study_run(struct to_chunk_study *s, struct to_error *err);
void to_chunk_study_free(struct to_chunk_study *s);

/** to_chunk_study_print() - print times, dimensions and orders as text */
void to_chunk_study_print(const struct to_chunk_study *s);

/** to_chunk_study_json() - make schedule.json; NULL when out of memory */
json_t *to_chunk_study_json(const struct to_chunk_study *s);

/** to_chunk_study_save() - write schedule.json to @path; 0 or a negative errno */
int to_chunk_study_save(const struct to_chunk_study *s, const char *path, struct to_error *err);

/** to_chunk_study_report() - write an HTML page to @path; 0 or a negative errno */
int to_chunk_study_report(const struct to_chunk_study *s, const char *version, const char *path,
			  struct to_error *err);

#endif
