/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_HELD_H
#define TOPOOPT_HELD_H

/*
 * Why toctl run holds a link down: the list of all reasons, and which of them an end of a
 * link has by what its agent said last.
 *
 * A link is up when both its ends hear each other (kernel/peers.h). Light alone counts where
 * a table has no checks, or the server at the other end cannot send any.
 */

#include "control/fabric.h"
#include "data/plan.h"

enum to_held {
	TO_HELD_NOT,		/* it is up */
	TO_HELD_CUT,		/* no light */
	TO_HELD_SILENT,		/* light, and one end does not hear the other */
	TO_HELD_SWAPPED,	/* another port is heard than the plan's */
	TO_HELD_REPLACED,	/* the plan's port is heard, with another MAC: its NIC is another */
	TO_HELD_NO_TABLE,	/* the server at the other end has no table: it relays nothing */
	TO_HELD_DEVICE_DOWN,	/* the topoopt device at the other end is down */
	TO_HELD_FABRIC,		/* the other end is another fabric's */
	TO_HELD_LOSSY,		/* it loses packets, see lossy.h */
};

/** Words of enum to_held; ends with NULL */
extern const char *const to_held_words[];

/** struct to_held_end - one end of a link */
struct to_held_end {
	enum to_held reason;
	uint64_t silence_ns;		/* since the other end was heard, 0: not known */
	struct to_port_ref hears;	/* port that is heard in place of the plan's */
	bool stranger;			/* @hears is set */
};

/**
 * to_held_look() - Find out how one end of a link is
 * @server: of port @at, which answered and has a table
 * @to: other end of the link
 */
void to_held_look(const struct to_fabric_server *server, const struct to_cluster *cluster,
		  struct to_port_ref at, struct to_port_ref to, struct to_held_end *end);

#endif
