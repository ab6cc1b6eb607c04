/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_ASSESSMENT_PRINT_H
#define TOCTL_ASSESSMENT_PRINT_H

/* The rows by which an operator judges a plan, as plan, verify and replan print them. */

#include <stdio.h>

#include "data/down.h"
#include "verify/assessment.h"
#include "verify/verify_down.h"

/**
 * to_assessment_print() - print the servers and links of @plan, five figures and the families
 * @verbose: also all figures, classes of failures, cases that are not covered, and cycles
 *
 * Prints nothing where the links are no graph.
 */
void to_assessment_print(FILE *out, const struct to_plan *plan,
			 const struct to_assessment *assessment, bool verbose);

/** to_assessment_print_verdict() - print "valid: ..." or "invalid: ..." as one line */
void to_assessment_print_verdict(FILE *out, const struct to_plan *plan,
				 const struct to_assessment *assessment);

/**
 * to_assessment_print_down() - print what is lost while something is down
 * @before: figures of @plan while nothing is down
 */
void to_assessment_print_down(FILE *out, const struct to_plan *plan,
			      const struct to_figures *before, const struct to_down *down,
			      const struct to_verify_down *found);

#endif
