/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_UP_DOWN_H
#define TOPOOPT_UP_DOWN_H

/*
 * Routes on which no packet waits for a buffer that waits, in the end, for its own: for
 * lossless classes where hardware forwards.
 *
 * Servers get an order, by hops from a root, and links lead up or down in it. A route goes up
 * first, then down, and never up again (Schroeder et al., "Autonet: a high-speed,
 * self-configuring local area network using point-to-point links", IEEE JSAC 9(8), 1991). A
 * server that can go down all the way does, so that a table by destination holds it: what
 * came down goes on down.
 */

#include "data/plan.h"

/**
 * to_up_down_fill() - tables for @plan with such routes
 * @plan: with cluster, links, rings and demand; tables and port shares that it has are
 *	replaced, max_stretch grows to what the routes take, and no_buffer_cycles is set
 *
 * The root is the one that leaves the busiest link least busy with the job, then the one
 * with the fewest hops. Where links leave servers in several parts, each has a root. Equal
 * next hops share alike. Not all servers reach the address of
 * each port: if they did, over each link there would be packets that waited at the one
 * before, and links that wait all the way back close a cycle. Routes of single sources,
 * backups and alternates are dropped; to_routing_backups() makes these anew.
 *
 * Return: 0; -EOPNOTSUPP when there is no order that joins all servers, as on simplex
 * links, or when there are packet switches; -ENOMEM; -ENOSPC when a table has too many groups.
 */
int to_up_down_fill(struct to_plan *plan, struct to_error *err);

#endif
