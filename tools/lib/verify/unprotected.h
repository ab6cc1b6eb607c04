/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_UNPROTECTED_H
#define TOPOOPT_UNPROTECTED_H

/* Failures that lose packets, as text for people and for JSON. */

#include "data/down.h"
#include "verify/verify.h"

#define TO_UNPROTECTED_LINK_MAX (2 * TO_DOWN_NAME_MAX + 4)	/* bytes of a link's text */
#define TO_UNPROTECTED_TEXT_MAX (4 * (TO_NAME_MAX + IFNAMSIZ) + 64)	/* bytes of a case's text */

/** to_unprotected_link() - write "s3:eth1 - s5:eth0" into @text and return it */
const char *to_unprotected_link(const struct to_cluster *cluster, const struct to_link *link,
				char text[TO_UNPROTECTED_LINK_MAX]);

/**
 * to_unprotected_text() - write "s3 > s7 (s7:eth0) while s3:eth1 - s5:eth0 is dark" into @text
 *
 * Return: @text.
 */
const char *to_unprotected_text(const struct to_plan *plan, const struct to_unprotected *u,
				char text[TO_UNPROTECTED_TEXT_MAX]);

/** to_unprotected_json() - JSON array of the texts of @n cases, NULL when out of memory */
json_t *to_unprotected_json(const struct to_plan *plan, const struct to_unprotected *list,
			    unsigned int n);

/** to_failure_cases_json() - JSON object of counts of cases, NULL when out of memory */
json_t *to_failure_cases_json(const struct to_failure_cases *cases);

#endif
