/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_HEALTH_H
#define TOPOOPT_HEALTH_H

/*
 * How well a fabric is. It is judged by the operator's plan, never by one that toctl run made to
 * do without what is down.
 */

/** enum to_health - the worse, the greater */
enum to_health {
	TO_HEALTH_HEALTHY,	/* the fabric is as the plan says */
	TO_HEALTH_DEGRADED,	/* all servers of the plan reach each other, and something of the plan
				   is missing */
	TO_HEALTH_BROKEN,	/* servers of the plan do not reach each other */
};

extern const char *const to_health_words[];	/* of enum to_health; ends with NULL */

#endif
