/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SWEEP_H
#define TOPOOPT_SWEEP_H

/* sweep.json: many runs of tosim simulate, one for each point of its axes. */

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"

#define TO_SWEEP_POINTS_MAX 100000u

/** struct to_sweep_value - of an option, as a command has it, and as names of files have it */
struct to_sweep_value {
	char *text, *label;
};

/** struct to_sweep_axis - an option of tosim simulate, with one value or more */
struct to_sweep_axis {
	const struct to_option *option;
	struct to_sweep_value *values;
	unsigned int n;
};

/**
 * struct to_sweep_ratio - what somebody published
 * @of: per axis, the index of a value, or UINT_MAX for all of them
 * @over: the same; UINT_MAX for that of the other point
 * @published: mean time at points of @of over that at those of @over
 */
struct to_sweep_ratio {
	char name[TO_NAME_MAX];
	unsigned int *of, *over;
	double published;
};

/**
 * struct to_sweep_found - a ratio here: over @n pairs of points
 */
struct to_sweep_found {
	unsigned int n;
	double mean, min, max;
};

/**
 * struct to_sweep - axes, the last of which changes fastest
 * @path: of its file, as it was given, to which paths in it are relative
 * @fixed: options that have the same value at all points
 * @document: the file, but for what somebody published or noted
 */
struct to_sweep {
	const char *path;
	char name[TO_NAME_MAX];
	struct to_sweep_axis *axes, *fixed;
	struct to_sweep_ratio *ratios;
	unsigned int n_axes, n_fixed, n_points, n_ratios;
	json_t *document;
};

/** to_sweep_load() - read sweep.json. Return: NULL with @err set. */
struct to_sweep *to_sweep_load(const char *path, struct to_error *err);
void to_sweep_free(struct to_sweep *sweep);

/** to_sweep_value() - of axis @axis at @point */
const struct to_sweep_value *to_sweep_value(const struct to_sweep *sweep, unsigned int point,
					    unsigned int axis);

/**
 * to_sweep_find() - @ratio here
 * @times: of each point, negative where it is missing
 */
struct to_sweep_found to_sweep_find(const struct to_sweep *sweep,
				    const struct to_sweep_ratio *ratio, const double *times);

/** to_sweep_file() - path of what comes out of @point in the folder @dir; NULL: out of memory */
char *to_sweep_file(const struct to_sweep *sweep, unsigned int point, const char *dir);

/**
 * to_sweep_command() - shell command whose standard output that is
 * @toctl: the program
 *
 * Return: NULL when out of memory.
 */
char *to_sweep_command(const struct to_sweep *sweep, unsigned int point, const char *toctl);

/** to_shell_word() - @text as one word of a shell command; NULL when out of memory */
char *to_shell_word(const char *text);

#endif
