/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SIP_H
#define TOPOOPT_SIP_H

/* The two fabrics of SiP-ML (Khani et al., SIGCOMM 2021), by the words that people give. */

#include "data/cluster.h"
#include "data/demand.h"

#define TO_SIP_WAVELENGTH 25000000000ull	/* bits/s of one: section 4.1 */

/**
 * struct to_sip - one of them
 * @ring: SiP-Ring, see topology/wavelengths.h; else SiP-OCS, see topology/one_shot.h
 * @ports: of a server: wavelengths, or optical switches
 * @reach: of a lightpath, in segments
 */
struct to_sip {
	bool ring;
	unsigned int ports, reach;
};

/**
 * to_sip_read() - "sip-ring:W,REACH" or "sip-ocs:Q"
 *
 * Return: 1; 0 when @word is neither; -EINVAL with @err set.
 */
int to_sip_read(const char *word, struct to_sip *sip, struct to_error *err);

/**
 * to_sip_bytes() - what pairs that may have links send to each other for @demand
 * @bytes: n x n, row = source; overwritten
 *
 * AllReduce goes round a ring in the order of its group, half each way. What leads farther
 * than lightpaths reach is relayed, in hops of about equal length.
 */
void to_sip_bytes(const struct to_sip *sip, const struct to_demand *demand, uint64_t *bytes);

/**
 * to_sip_hops() - the same of transfers alone
 * @mp: n x n, row = source
 *
 * Return: whether any is relayed.
 */
bool to_sip_hops(const struct to_sip *sip, uint32_t n, const uint64_t *mp, uint64_t *bytes);

/**
 * to_sip_cable() - links of @cluster as suit @demand
 * @cluster: of to_cluster_synthetic(), as many servers as @demand has, with simplex links
 *
 * Relays lead from each server to all others.
 *
 * Return: 0, or -ENOMEM or -EINVAL with @err set.
 */
int to_sip_cable(const struct to_sip *sip, const struct to_demand *demand,
		 struct to_cluster *cluster, struct to_error *err);

#endif
