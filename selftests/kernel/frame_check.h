/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FRAME_CHECK_H
#define FRAME_CHECK_H

/*
 * Continuity checks that a relay may meet, written from the layout in its kmod/ccm.h;
 * shares no code with it.
 */

#include "frame_random.h"

/** struct check_names - the two ends of a link whose neighbour is checked */
struct check_names {
	const char *relay;	/* name of the relay */
	const char *server;	/* name of the neighbour */
	const char *port;	/* name of the neighbour's port */
};

/**
 * frame_check_make() - make a check, or what somebody would pass for one
 * @f: gets the frame
 * @to: MAC address of the port that it arrives at
 * @from: MAC address of the neighbour
 *
 * One in four is damaged after it was authenticated. The others are authentic, and say
 * true and false things of all kinds.
 */
void frame_check_make(struct frame *f, const struct check_names *names, const uint8_t *to,
		      const uint8_t *from);

/**
 * frame_check_hear() - take a frame that left the relay
 *
 * Remembers the nonce of a check, to be repeated.
 *
 * Return: whether it is a check of the relay.
 */
bool frame_check_hear(const struct frame *f, const struct check_names *names);

#endif
