/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_XDP_PROGRAM_H
#define TOPOOPT_XDP_PROGRAM_H

/* XDP programs on interfaces: which one is there, attach, replace, remove. */

#include <stdint.h>

#include "base/error.h"

/** enum to_xdp_owner - whose program an interface has */
enum to_xdp_owner {
	TO_XDP_NOBODY,		/* no program */
	TO_XDP_RELAY,		/* ours that relays, bpf/relay.bpf.c */
	TO_XDP_PASS,		/* ours that passes all frames on, bpf/pass.bpf.c */
	TO_XDP_STRANGER,	/* somebody else's */
};

/**
 * struct to_xdp_program - the program of an interface
 * @owner: whose it is
 * @flags: XDP_FLAGS_DRV_MODE or XDP_FLAGS_SKB_MODE; 0 unless it is ours
 * @fd: holds the program, or -1
 */
struct to_xdp_program {
	enum to_xdp_owner owner;
	uint32_t flags;
	int fd;
};

/** to_xdp_program_look() - find out which program an interface has; release the result */
struct to_xdp_program to_xdp_program_look(uint32_t ifindex);

/** to_xdp_program_release() - close a program's descriptor; may be called again */
void to_xdp_program_release(struct to_xdp_program *program);

/**
 * to_xdp_program_attach() - attach a program to an interface
 * @now: program of ours that it replaces, or none
 * @fd: program to attach
 * @flags: XDP_FLAGS_DRV_MODE or XDP_FLAGS_SKB_MODE
 *
 * No frame meets no program while one replaces another in the same mode.
 *
 * Return: 0, or a negative errno; to_verifier_log() may have the driver's words.
 */
int to_xdp_program_attach(uint32_t ifindex, struct to_xdp_program *now, int fd, uint32_t flags);

/**
 * to_xdp_program_detach() - remove a program of ours from an interface
 * @which: TO_XDP_RELAY or TO_XDP_PASS for that alone; TO_XDP_NOBODY for either
 * @held: gets the removed program, for to_xdp_program_give_back() or
 *	to_xdp_program_release(); NULL: not wanted
 *
 * Return: 0, also if there was none, or a negative errno with @err.
 */
int to_xdp_program_detach(uint32_t ifindex, enum to_xdp_owner which, struct to_xdp_program *held,
			  struct to_error *err);

/** to_xdp_program_give_back() - attach a removed program again, and release it */
void to_xdp_program_give_back(uint32_t ifindex, struct to_xdp_program *held);

#endif
