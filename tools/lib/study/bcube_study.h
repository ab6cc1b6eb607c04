/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_BCUBE_STUDY_H
#define TOPOOPT_BCUBE_STUDY_H

/* Steps of an AllReduce on BCube, and how long they take, as text and JSON. */

#include <jansson.h>

#include "collectives/bcube_loads.h"

#define TO_BCUBE_UNSAID (-1)	/* the plan says no algorithm */

/** Names of algorithms, NULL-terminated. */
extern const char *const to_bcube_algorithms[];

/** struct to_bcube_study - a network, an algorithm, and the steps of one server */
struct to_bcube_study {
	struct to_bcube bcube;
	int which;			/* index into to_bcube_algorithms */
	uint64_t server;		/* index of the server whose steps are listed */
	struct to_bcube_loads loads;	/* of all ports */
	struct to_steps steps;		/* of @server */
	double time;			/* in T_F, see to_bcube_loads_time() */
	double form;			/* closed form of that time */
	bool even;			/* all ports carry the same in each step */
};

/**
 * to_bcube_study_load() - take network and algorithm of the plan at @path
 * @s: @which becomes TO_BCUBE_UNSAID where the plan names no algorithm
 *
 * Return: 0, or a negative errno with @err set, also when the network is no BCube.
 */
int to_bcube_study_load(struct to_bcube_study *s, const char *path, struct to_error *err);

/**
 * to_bcube_study_run() - compute the steps
 * @s: network, algorithm and server are set; for to_bcube_study_free() on success
 *
 * Return: 0, or a negative errno with @err set.
 */
int to_bcube_study_run(struct to_bcube_study *s, struct to_error *err);
void to_bcube_study_free(struct to_bcube_study *s);

/** to_bcube_study_print() - print times and steps as text */
void to_bcube_study_print(const struct to_bcube_study *s);

/** to_bcube_study_json() - make what --json prints; NULL when out of memory */
json_t *to_bcube_study_json(const struct to_bcube_study *s);

#endif
