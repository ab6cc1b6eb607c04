/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_UPKEEP_H
#define TOPOOPT_UPKEEP_H

/*
 * Finds what apply made beside the table and what is no longer there, and makes it again: the
 * device up, its ports enslaved, addresses, neighbours, routes and rules. An interface that
 * somebody set down stays down; what apply made on it is due when it is up again.
 */

#include "base/error.h"
#include "data/plan.h"
#include "kernel/apply_kept.h"
#include "kernel/resolve.h"
#include "kernel/rtnl.h"

/** enum to_lost_kind - what is lost */
enum to_lost_kind {
	TO_LOST_UP,		/* the device is down */
	TO_LOST_PORT,		/* a port is not enslaved */
	TO_LOST_TRANSMIT,	/* a port transmits through another interface */
	TO_LOST_ENTRY,		/* an address, neighbour, route or rule */
};

/** struct to_lost - something that apply made and that is no longer there */
struct to_lost {
	enum to_lost_kind kind;
	uint32_t ifindex;		/* interface that it is on */
	uint32_t transmit;		/* TO_LOST_TRANSMIT: interface to transmit through */
	struct to_change change;	/* TO_LOST_ENTRY: makes it again */
	bool restore;			/* set by the caller: to_upkeep_restore() makes it again */
	bool restored;			/* to_upkeep_restore() has made it again */
};

/** struct to_upkeep - one server's part of a plan beside what its kernel has */
struct to_upkeep {
	struct to_interfaces found;
	int missing[TO_PORTS_MAX];	/* 0, or a negative errno: the port is not as planned */
	struct to_error why[TO_PORTS_MAX];	/* of @missing */
	uint32_t down[2 * TO_PORTS_MAX];	/* ports, and what they transmit through, that are down */
	unsigned int n_down;		/* number of @down */
	struct to_lost *lost;		/* the device and its ports first */
	unsigned int n_lost;		/* number of @lost */
	struct to_entries entries;	/* of the plan, on interfaces that are there */
};

/**
 * to_upkeep_look() - compare this server's kernel with its part of a plan
 * @upkeep: to be closed with to_upkeep_close(), whatever this returns
 * @server: index in the plan, whose table is the active one
 * @device: name of the topoopt device
 * @kept: sockets
 *
 * Changes nothing. A port that is missing, has another MAC, or belongs to somebody else, is no
 * failure: it is left out.
 *
 * Return: 0; -ENODEV with @err when there is no device; another negative errno with @err.
 */
int to_upkeep_look(struct to_upkeep *upkeep, const struct to_plan *plan, unsigned int server,
		   const char *device, struct to_apply_kept *kept, struct to_error *err);

/**
 * to_upkeep_restore() - make again what to_lost.restore is set for
 *
 * Goes on after what the kernel refuses. Return: 0, or the first negative errno with @err.
 */
int to_upkeep_restore(struct to_upkeep *upkeep, struct to_apply_kept *kept, struct to_error *err);

/** to_upkeep_is_down() - tell whether an interface is one of to_upkeep.down */
bool to_upkeep_is_down(const struct to_upkeep *upkeep, uint32_t ifindex);

/** to_upkeep_text() - something lost, as a person would write it */
void to_upkeep_text(const struct to_upkeep *upkeep, const struct to_lost *lost, char *text,
		    size_t size);

void to_upkeep_close(struct to_upkeep *upkeep);

#endif
