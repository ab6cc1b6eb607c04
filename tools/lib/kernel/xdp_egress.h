/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_XDP_EGRESS_H
#define TOPOOPT_XDP_EGRESS_H

/* What XDP should send through an interface, and the program that its driver needs for that. */

#include <linux/topoopt_bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* All traffic classes. */
#define TO_XDP_CLASSES	(TOPOOPT_XDP_ROCE | TOPOOPT_XDP_TCP | TOPOOPT_XDP_OTHER)

/**
 * struct to_xdp_egress - what XDP should send through an interface
 * @classes: 1 << enum topoopt_traffic_class, of all that it should send
 * @why: why it should not send the others, or what becomes of them; ""
 * @fix: command or action that mends that; ""
 */
struct to_xdp_egress {
	uint32_t classes;
	char why[160], fix[160];
};

/**
 * to_xdp_egress_judge() - judge an interface by its driver, channels and PFC
 * @ifname: interface
 * @processor: highest number of a processor that may send there
 * @classes: traffic classes that are wanted
 * @lossy: send RoCEv2 also where PFC does not hold it
 */
void to_xdp_egress_judge(struct to_xdp_egress *egress, const char *ifname, unsigned int processor,
			 uint32_t classes, bool lossy);

/**
 * to_xdp_egress_lost() - say that an interface lost a frame that XDP sent
 * @error: positive errno
 * @lossy: RoCEv2 is sent there by XDP all the same
 */
void to_xdp_egress_lost(struct to_xdp_egress *egress, const char *ifname, int error, bool lossy);

/**
 * to_xdp_egress_open() - have a driver send what XDP redirects
 * @ifindex: interface that is no port
 * @pass: descriptor of the program that passes all frames on
 *
 * Attaches the program if the driver needs one. Leaves programs of others alone.
 *
 * Return: 0; or a negative errno with @err, nothing is attached.
 */
int to_xdp_egress_open(uint32_t ifindex, int pass, struct to_error *err);

#endif
