/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_DEADLOCK_H
#define TOPOOPT_PACKET_DEADLOCK_H

/* Links that PFC has stopped, each waiting for the next: a cyclic buffer dependency. */

#include "packets/state.h"

/** to_packet_deadlock_tell() - Set s->err to the reason why nothing moves; returns -EDEADLK */
int to_packet_deadlock_tell(struct to_packet_simulator *s);

#endif
