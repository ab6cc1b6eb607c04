/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LINK_LOADS_H
#define TOPOOPT_LINK_LOADS_H

/* What the tables of a plan put on its links. */

#include "routing/forwarding.h"

/**
 * to_link_loads() - bytes per arc and iteration, from rings and tables
 * @rings: gets those of rings on their own links, and of rings that are routed
 * @mp: gets those of MP transfers
 *
 * Return: 0 or -ENOMEM.
 */
int to_link_loads(struct to_forwarding *f, double *rings, double *mp);

#endif
