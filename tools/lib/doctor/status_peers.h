/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STATUS_PEERS_H
#define TOPOOPT_STATUS_PEERS_H

/* What continuity checks say of a fabric, and which of its servers reach each other. */

#include "doctor/status_view.h"

/** to_status_peers_read() - read the neighbours of all servers from their replies; 0 or -ENOMEM */
int to_status_peers_read(struct to_status *status, const json_t *now);

/** to_status_peers_count() - count the neighbours that the operator's plan expects, and those heard */
void to_status_peers_count(struct to_status *status);

/** to_status_peers_check() - name what is wrong with links that have light, and with devices */
void to_status_peers_check(struct to_status *status, const json_t *now);

/**
 * to_status_pairs() - count the ordered pairs of servers that the operator's plan joins, and those
 *	that the tables in force leave apart
 *
 * Return: 0 or -ENOMEM.
 */
int to_status_pairs(struct to_status *status, const json_t *now);

#endif
