/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_INTERIM_H
#define TOPOOPT_INTERIM_H

/* Tables for the time in which an optical switch goes from one plan to another. */

#include "plan.h"

/**
 * struct to_interim - between two plans
 * @plan: the links of the old plan, no rings, and tables that use only those
 *	which the new one has too; NULL where these do not reach everybody
 * @kept, @cut: links that both plans have, and that only the old one has
 *
 * Only the addresses of the ports that are cut still need the link that is cut
 * with them, as the last hop: no other link leads to them.
 */
struct to_interim {
	struct to_plan *plan;
	unsigned int kept, cut;
};

/**
 * to_interim_make() - what to commit before links of @old are cut
 * @next: on the same servers and ports; its demand is what is routed
 *
 * With @plan active everywhere, cutting and making the links between both plans
 * takes the path from no packet but those to ports that are cut.
 *
 * Return: 0, or -ENOMEM, or -ENOSPC as to_routing_fill().
 */
int to_interim_make(const struct to_plan *old, const struct to_plan *next,
		    struct to_interim *interim, struct to_error *err);
void to_interim_free(struct to_interim *interim);

#endif
