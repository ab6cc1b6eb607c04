/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COLLECTIVE_RESULT_H
#define TOPOOPT_COLLECTIVE_RESULT_H

/* What the members of a collective have done, beside what was planned. */

#include <stdbool.h>
#include <stdio.h>

#include "collectives/collective_run.h"

/**
 * to_collective_result_report() - print and check what was done
 * @out: file to print on, NULL: print nothing
 * @json: print JSON (collective.schema.json) in place of text
 * @own: part of this member
 * @all: parts of all members; read at member 0, which checks sums and links of all
 * @tolerance: deviation of a link's bytes that is no finding, in percent of the busiest link's
 *	planned bytes; INFINITY: links are not checked
 *
 * Return: 0; 1 with @err when a sum or a link is wrong; -ENOTSUP with @err when links cannot be
 * checked, for flows take one of several paths; -ENOMEM.
 */
int to_collective_result_report(FILE *out, bool json, const struct to_collective_run *run,
				const struct to_collective_part *own,
				const struct to_collective_part *all, double tolerance,
				struct to_error *err);

#endif
