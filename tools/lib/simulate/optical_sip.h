/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_OPTICAL_SIP_H
#define TOPOOPT_OPTICAL_SIP_H

/* The links of SiP-ML's fabrics while an iteration runs, for simulate/optical.h. */

#include "simulate/network.h"
#include "topology/sip.h"
#include "topology/wavelengths.h"

/**
 * struct to_optical_sip - links now, and those decided on
 * @lightpaths: of SiP-Ring, as decided on
 * @each: bytes/s of a wavelength, or of a port
 * @lit, @chosen: links of each pair, now and as decided on: n x n, row = source
 * @relays, @relay: servers do, now and as decided on, as some are too far from each other, or
 *	have no link
 * @bytes: scratch, n x n
 */
struct to_optical_sip {
	struct to_sip sip;
	struct to_wavelengths lightpaths;
	double each;
	uint16_t *lit, *chosen;
	bool relays, relay;
	uint64_t *bytes;
};

/** to_optical_sip_peers() - others that a server has links to at a time, at most */
unsigned int to_optical_sip_peers(const struct to_sip *sip);

/**
 * to_optical_sip_new() - no links
 * @capacity: bytes/s of a server, over all its wavelengths or ports
 *
 * Return: NULL with @err set.
 */
struct to_optical_sip *to_optical_sip_new(const struct to_sip *sip, uint32_t n, double capacity,
					  struct to_error *err);
void to_optical_sip_free(struct to_optical_sip *o);

/** to_optical_sip_decide() - as to_optical_decide() */
int to_optical_sip_decide(struct to_optical_sip *o, uint32_t n, const uint64_t *unsent);

/** to_optical_sip_change() - links of @network as decided on; a link for all between two */
void to_optical_sip_change(struct to_optical_sip *o, struct to_network *network);

#endif
