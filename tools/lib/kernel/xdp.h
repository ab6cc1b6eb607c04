/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_XDP_H
#define TOPOOPT_XDP_H

/* The relay at XDP of all ports of a server: switch on, switch off. */

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/xdp_egress.h"

/**
 * enum to_xdp_mode - what apply is to do about XDP
 * @TO_XDP_KEEP: leave it as it is
 * @TO_XDP_OFF: every packet through the queues of the kernel
 * @TO_XDP_AUTO: RoCEv2 at XDP, where drivers do it natively and without loss
 * @TO_XDP_ON: everything but TCP at XDP, generic where there is no native one
 */
enum to_xdp_mode { TO_XDP_KEEP, TO_XDP_OFF, TO_XDP_AUTO, TO_XDP_ON };

/** enum to_xdp_path - program that frames meet which a port receives */
enum to_xdp_path {
	TO_XDP_SKB,		/* none that relays: all go to the kernel's queues */
	TO_XDP_NATIVE,		/* the relay, in the driver */
	TO_XDP_GENERIC,		/* the relay, behind the driver */
	TO_XDP_FOREIGN,		/* another XDP program */
};

/** Words for enum to_xdp_path: "skb", "xdp", "xdp-generic", "foreign-xdp". */
extern const char *const to_xdp_path_names[];

/** struct to_xdp_port - a port, and what became of XDP there */
struct to_xdp_port {
	uint32_t ifindex, transmit;	/* interface that receives, and that sends */
	char name[IFNAMSIZ], transmit_name[IFNAMSIZ];
	enum to_xdp_path path;		/* program that it has now; not set by to_xdp_attach() */
	char why[200];			/* why that is not what was asked for, or "" */
	struct to_xdp_egress egress;	/* what XDP sends through the port */
};

/** to_xdp_path() - return the program that frames meet which an interface receives */
enum to_xdp_path to_xdp_path(uint32_t ifindex);

/**
 * to_xdp_stripping() - tell whether a NIC strips VLAN tags from what it receives
 *
 * XDP never sees such a tag, so a redirected frame would lose it, and with it the priority that
 * PFC goes by. The module leaves all frames of such a port to the kernel's queues.
 *
 * Return: what to tell ethtool -K to end that, else NULL.
 */
const char *to_xdp_stripping(const char *name);

/**
 * to_xdp_attach() - attach the programs that relaying at XDP needs
 * @device: ifindex of the topoopt device
 * @ports: interfaces of all ports of the device; gets the rest
 * @n: number of ports
 * @mode: TO_XDP_AUTO or TO_XDP_ON
 *
 * The relay goes to each port. Interfaces that ports transmit through get a program that passes
 * frames on, if their driver sends for XDP only with a program. Programs of ours are replaced,
 * and no frame meets none meanwhile. Programs of others stay.
 *
 * Return: 0, also if some ports have to do without, see to_xdp_port.why; -EOPNOTSUPP if the
 * kernel or the module lacks what the programs need, so all ports relay in the kernel's queues;
 * another negative errno.
 */
int to_xdp_attach(uint32_t device, struct to_xdp_port *ports, unsigned int n,
		  enum to_xdp_mode mode, struct to_error *err);

/**
 * to_xdp_detach() - remove programs of ours from all ports and what they transmit through
 *
 * Return: 0, or a negative errno.
 */
int to_xdp_detach(uint32_t device, const struct to_xdp_port *ports, unsigned int n,
		  struct to_error *err);

#endif
