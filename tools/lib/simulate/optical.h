/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_OPTICAL_H
#define TOPOOPT_OPTICAL_H

/*
 * Optical switches that follow the demand while an iteration runs: now and then
 * Algorithm 5 (topology/reconfig.h), or SiP-ML's own way, chooses links for the bytes that
 * are not sent yet, and while they change nothing is sent.
 */

#include "simulate/network_named.h"
#include "simulate/optical_sip.h"
#include "simulate/router.h"
#include "topology/reconfig.h"

/**
 * struct to_optical_setting - how links change
 * @dark: seconds that it takes
 * @every: seconds between decisions, more than @dark; INFINITY: the first one stays
 * @relayed: servers relay, over shortest paths, and their links join all of them; else a
 *	transfer waits for a link between its ends
 * @sip: a fabric of SiP-ML; without ports, Algorithm 5 with @discount
 */
struct to_optical_setting {
	double dark, every;
	enum to_discount discount;
	bool relayed;
	struct to_sip sip;
};

/**
 * to_optical_named() - the setting that @word names
 *
 *	topoopt-reconfig	10 ms, each 50 ms (TopoOpt, section 5.1)
 *	sip-ring		25 us, each 100 us, and parallel links are worth the same
 *				(TopoOpt, appendix D; SiP-ML, section 4.1)
 *	sip-ring:W,REACH	the same times, and lightpaths of W wavelengths that lead REACH
 *				segments on at most; what leads farther is relayed
 *	sip-ocs:Q		Q optical switches, set once for all that is sent
 *	ocs:DARK		each 5 times DARK
 *
 * Return: 1; 0 when @word is no such; -EINVAL with @err set.
 */
int to_optical_named(const char *word, struct to_optical_setting *setting, struct to_error *err);

/**
 * struct to_optical - links now, and those decided on
 * @algorithm: of AllReduce, each of whose transfers goes on its own
 * @sip: of SiP-ML's fabrics; else, to the end:
 * @count: links of each pair, n x n, row = source
 * @n_next, @next: decided on, in no order
 */
struct to_optical {
	struct to_optical_setting setting;
	struct to_optical_sip *sip;
	enum to_algorithm algorithm;
	struct to_cluster *cluster;
	unsigned int degree;
	uint64_t seed;
	uint8_t *count;
	uint32_t n_next;
	struct to_link *next;
};

/**
 * to_router_optical() - the router of servers whose links change
 *
 * Its network has a link for each port, or for each peer of SiP-ML's fabrics, which begins
 * without one: then it leads back to its own server. There is nothing to send over before to_optical_change().
 *
 * Return: NULL with @err set.
 */
struct to_router *to_router_optical(const struct to_network_setting *servers,
				    const struct to_optical_setting *setting,
				    const struct to_shortest_options *options,
				    struct to_error *err);

/**
 * to_optical_decide() - choose links for @unsent bytes, n x n, row = source
 *
 * Return: 1; 0 when they are those of now; -ENOMEM, or -ENOSPC when servers that relay
 * have too few ports to reach each other.
 */
int to_optical_decide(struct to_router *router, const uint64_t *unsent, struct to_error *err);

/** to_optical_change() - have the links that were decided on; 0 or -ENOMEM */
int to_optical_change(struct to_router *router);

/** to_optical_joins() - may @src send to @dst now? */
bool to_optical_joins(const struct to_router *router, uint32_t src, uint32_t dst);

#endif
