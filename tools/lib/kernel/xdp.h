/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_XDP_H
#define TOPOOPT_XDP_H

/* The relay at XDP (bpf/relay.bpf.c): load, attach to ports, replace, remove. */

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/**
 * enum to_xdp_mode - what apply is to do about XDP
 * @TO_XDP_KEEP: leave it as it is
 * @TO_XDP_OFF: every packet through the queues of the kernel
 * @TO_XDP_AUTO: RoCEv2 at XDP, where drivers do it natively and without loss
 * @TO_XDP_ON: everything but TCP at XDP, generic where there is no native one
 */
enum to_xdp_mode { TO_XDP_KEEP, TO_XDP_OFF, TO_XDP_AUTO, TO_XDP_ON };

/**
 * enum to_xdp_path - where frames that a port receives are relayed
 * @TO_XDP_SKB: in the kernel's queues; no XDP program
 * @TO_XDP_NATIVE: by our program in the driver, what it leaves as @TO_XDP_SKB
 * @TO_XDP_GENERIC: by our program behind the driver, likewise
 * @TO_XDP_FOREIGN: another XDP program is there
 */
enum to_xdp_path { TO_XDP_SKB, TO_XDP_NATIVE, TO_XDP_GENERIC, TO_XDP_FOREIGN };

/** Words for them: "skb", "xdp", "xdp-generic", "foreign-xdp". */
extern const char *const to_xdp_path_names[];

/**
 * struct to_xdp_port - a port
 * @path: set by to_xdp_attach()
 * @why: why that is not what was asked for, or ""
 */
struct to_xdp_port {
	uint32_t ifindex;
	char name[IFNAMSIZ];
	enum to_xdp_path path;
	char why[160];
};

/** to_xdp_path() - where frames that this port receives are relayed */
enum to_xdp_path to_xdp_path(uint32_t ifindex);

/**
 * to_xdp_stripping() - whether a NIC strips VLAN tags from what it receives
 *
 * XDP never sees such a tag, so that a redirected frame would lose it, and with
 * it the priority that PFC goes by: the module leaves all frames of such a port
 * to the kernel's queues.
 *
 * Return: what to tell ethtool -K so that it does not, else NULL.
 */
const char *to_xdp_stripping(const char *name);

/**
 * to_xdp_attach() - attach the program to ports
 * @mode: TO_XDP_AUTO or TO_XDP_ON
 *
 * A program of ours that is there is replaced, with no frame in between that
 * meets none; one of somebody else stays.
 *
 * Return: 0, also when some ports have to do without, see to_xdp_port.why;
 * -EOPNOTSUPP when the kernel or the module lacks what the program needs, so
 * that all ports relay in the kernel's queues; another negative errno.
 */
int to_xdp_attach(struct to_xdp_port *ports, unsigned int n, enum to_xdp_mode mode,
		  struct to_error *err);

/**
 * struct to_xdp_held - a program that was removed from a port
 * @flags: how it was attached, XDP_FLAGS_*_MODE; 0: there is none
 * @fd: holds it
 */
struct to_xdp_held {
	uint32_t flags;
	int fd;
};

/**
 * to_xdp_detach() - remove a program of ours
 * @held: gets it, for to_xdp_give_back() or to_xdp_let_go(); NULL: not wanted
 *
 * Return: 0, also when there was none, or a negative errno.
 */
int to_xdp_detach(uint32_t ifindex, struct to_xdp_held *held, struct to_error *err);

/** to_xdp_give_back() - attach what to_xdp_detach() removed, and let it go */
void to_xdp_give_back(uint32_t ifindex, struct to_xdp_held *held);

/** to_xdp_let_go() - close it; may be called again */
void to_xdp_let_go(struct to_xdp_held *held);

#endif
