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
 * to_probe_arp() - ask for @targets and wait for the answer of an expected interface
 * @wanted: MAC addresses of the expected ones; the first that answers ends the wait. A question
 *	reaches all functions that share a cable, and each answers
 * @mac: gets the MAC address that answered: a wanted one, else that of the last answer
 *
 * Return: 0, or -ETIMEDOUT without an answer in @timeout_ms, or another errno.
 */
int to_probe_arp(struct to_probe *probe, const struct in_addr *targets, unsigned int n,
		 const uint8_t (*wanted)[6], unsigned int n_wanted, int timeout_ms, uint8_t mac[6]);

/**
 * struct to_answer - whoever has @address answered through an interface with @mac
 * @address: 0 when @mac was only heard to ask somebody, so frames come from there, and may
 *	not go there
 */
struct to_answer {
	struct in_addr address;
	uint8_t mac[6];
};

/** struct to_answers - each that came, once; @items is for free() */
struct to_answers {
	struct to_answer *items;
	unsigned int n;
};

/**
 * to_probe_arp_all() - ask for @targets through @probes at once, and again, for all of
 *	@timeout_ms
 * @answers: of each probe: all that came, and who else asked
 *
 * An address may answer through several interfaces. Return: 0, also without an answer, or
 * a negative errno.
 */
int to_probe_arp_all(const struct to_probe *probes, unsigned int n_probes,
		     const struct in_addr *targets, unsigned int n, int timeout_ms,
		     struct to_answers *answers);

/**
 * to_probe_echo() - an ICMP echo of @size bytes (of IP), not to be fragmented
 *
 * Return: 0 when the answer came; -ETIMEDOUT; -EMSGSIZE when the port cannot
 * send so much; another errno.
 */
int to_probe_echo(struct to_probe *probe, struct in_addr src, struct in_addr dst,
		  const uint8_t *mac, unsigned int size, int timeout_ms);

#endif
