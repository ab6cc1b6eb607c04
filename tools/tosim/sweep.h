/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SWEEP_H
#define TOPOOPT_SWEEP_H

/* sweep.json: many runs of tosim simulate, one for each point of its axes. */

#include <jansson.h>

#include "base/argv.h"
#include "base/error.h"
#include "base/text.h"

#define TO_SWEEP_POINTS_MAX 100000u

/** struct to_sweep_value - a value of an option */
struct to_sweep_value {
	char *text;			/* as a command has it */
	char *label;			/* as names of files have it */
};

/** struct to_sweep_axis - an option of tosim simulate, with one value or more */
struct to_sweep_axis {
	const struct to_option *option;
	struct to_sweep_value *values;
	unsigned int n;			/* number of values */
};

/** struct to_sweep_ratio - a ratio of iteration times that somebody published */
struct to_sweep_ratio {
	char name[TO_NAME_MAX];
	unsigned int *of;		/* per axis, the index of a value, UINT_MAX for all */
	unsigned int *over;		/* per axis; UINT_MAX for the value of the other point */
	double published;		/* mean time at points of @of over that at those of @over */
};

/** struct to_sweep_found - a published ratio, as simulated */
struct to_sweep_found {
	unsigned int n;			/* pairs of points */
	double mean, min, max;
};

/** struct to_sweep - axes, the last of which changes fastest */
struct to_sweep {
	const char *path;		/* of its file, to which paths in it are relative */
	char name[TO_NAME_MAX];
	struct to_sweep_axis *axes;
	struct to_sweep_axis *fixed;	/* options that have the same value at all points */
	struct to_sweep_ratio *ratios;
	unsigned int n_axes, n_fixed, n_points, n_ratios;
	json_t *document;		/* the file, without comment and published ratios */
};

/** to_sweep_load() - read sweep.json; NULL with @err set */
struct to_sweep *to_sweep_load(const char *path, struct to_error *err);
void to_sweep_free(struct to_sweep *sweep);

/** to_sweep_value() - find the value of axis @axis at @point */
const struct to_sweep_value *to_sweep_value(const struct to_sweep *sweep, unsigned int point,
					    unsigned int axis);

/**
 * to_sweep_find() - compute @ratio from simulated times
 * @times: seconds of each point, negative where it is missing
 */
struct to_sweep_found to_sweep_find(const struct to_sweep *sweep,
				    const struct to_sweep_ratio *ratio, const double *times);

/** to_sweep_file() - make the path of @point's file in the folder @dir; NULL: out of memory */
char *to_sweep_file(const struct to_sweep *sweep, unsigned int point, const char *dir);

/**
 * to_sweep_command() - make the command whose standard output is @point's file
 * @program: path of tosim
 * @command: gets the words; for to_argv_free()
 *
 * Return: 0 or -ENOMEM.
 */
int to_sweep_command(const struct to_sweep *sweep, unsigned int point, const char *program,
		     struct to_argv *command);

#endif
