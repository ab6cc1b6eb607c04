/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SWITCH_DRIVER_H
#define TOPOOPT_SWITCH_DRIVER_H

/* What the drivers of optical switches and switch.c share. */

#include "data/cluster.h"
#include "switch/circuits.h"

struct to_switch;

/**
 * struct to_switch_driver - how a kind of optical switch is spoken to
 * @sides: a port's input and output are joined apart: every circuit is a pair of
 *	its own. Without, a pair carries light both ways
 * @open: connect, check that the switch has the ports; sets to_switch.state; may be NULL
 * @read: the pairs that are joined, in any order, calloc()ed
 * @change: end the circuits @off, then make the circuits @on, and no others, which may
 *	change at the same time; return when the switch says that it is done, -ETIMEDOUT
 *	only when it was asked to and has not said in time whether it is
 * @close: also after an @open that failed; may be NULL
 *
 * Errors hold what the switch said, without its name. Any call may be made
 * after another one failed: a driver connects anew when it has to.
 */
struct to_switch_driver {
	bool sides;
	int (*open)(struct to_switch *sw, struct to_error *err);
	int (*read)(struct to_switch *sw, struct to_circuits *pairs, struct to_error *err);
	int (*change)(struct to_switch *sw, const struct to_circuits *off,
		      const struct to_circuits *on, struct to_error *err);
	void (*close)(struct to_switch *sw);
};

/**
 * struct to_switch - an open switch
 * @optical: its entry in the cluster
 * @sides: as of its driver, or because its outputs have numbers of their own
 * @state: the driver's
 */
struct to_switch {
	const struct to_optical_switch *optical;
	const struct to_switch_driver *driver;
	enum to_link_mode mode;
	bool sides;
	void *state;
};

extern const struct to_switch_driver to_switch_command, to_switch_netns, to_switch_polatis_scpi,
	to_switch_polatis_restconf, to_switch_sonic;

/** to_switch_netns_name() - the namespace that the lab's driver works in */
const char *to_switch_netns_name(const struct to_switch_control *control);

/**
 * to_switch_driver_pairs() - Number circuits as the switch does
 * @pairs: gets a pair per circuit, or one per two circuits on a switch without sides
 *
 * Return: 0, or -ENOMEM with @err set.
 */
int to_switch_driver_pairs(const struct to_switch *sw, const struct to_circuits *circuits,
			   struct to_circuits *pairs, struct to_error *err);

#endif
