/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PROBE_H
#define TOPOOPT_PROBE_H

/* Probes sent out of one port, past all routing: who is at the other end? */

#include <netinet/in.h>
#include <stdint.h>

#include "base/error.h"

/** struct to_probe - an open port */
struct to_probe {
	int arp, ip;		/* packet sockets */
	uint32_t ifindex;
	uint8_t mac[6];
};

/** to_probe_open() - 0, or a negative errno; -EPERM without CAP_NET_RAW */
int to_probe_open(struct to_probe *probe, uint32_t ifindex, const uint8_t *mac,
		  struct to_error *err);
void to_probe_close(struct to_probe *probe);

/**
 * to_probe_arp() - ask for @targets and wait for the first answer
 * @who: gets the index of the target that answered, may be NULL
 * @mac: gets the MAC that answered
 *
 * Return: 0, or -ETIMEDOUT after @timeout_ms, or another errno.
 */
int to_probe_arp(struct to_probe *probe, const struct in_addr *targets,
		 unsigned int n, int timeout_ms, unsigned int *who,
		 uint8_t mac[6]);

/**
 * to_probe_echo() - an ICMP echo of @size bytes (of IP), not to be fragmented
 *
 * Return: 0 when the answer came; -ETIMEDOUT; -EMSGSIZE when the port cannot
 * send so much; another errno.
 */
int to_probe_echo(struct to_probe *probe, struct in_addr src, struct in_addr dst,
		  const uint8_t *mac, unsigned int size, int timeout_ms);

#endif
