/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LOSSY_H
#define TOPOOPT_LOSSY_H

/*
 * Which links are to be held down as they lose packets.
 *
 *	used --(lossy, see link_loss.h)--> held --(clean for its hold-down)--> used
 *
 * A held link carries checks alone. Each loss begins its hold-down (hold.h) anew: a check that
 * is lost, or no check where there were some. Where no checks are sent only time counts.
 *
 * Links that a packet switch makes are never held: a port on one has no link of its own.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/hold.h"
#include "data/cluster.h"
#include "measure/link_losses.h"

/** struct to_lossy_config - when a link is held down, and for how long */
struct to_lossy_config {
	double rate;		/* share of packets that a link may lose, 0 to 1; 0: no link is held */
	uint64_t hold_ns;	/* least time without a loss before a link is used again */
};

/** TO_LOSSY_DEFAULTS - 0.1 %; half a minute is 300 checks at the default interval */
#define TO_LOSSY_DEFAULTS { .rate = 0.001, .hold_ns = 30000000000 }

/** struct to_lossy_link - one link */
struct to_lossy_link {
	struct to_port_ref a, b;
	struct to_hold hold;
	struct {
		uint64_t heard, lost;	/* checks at the last look */
	} ways[2];		/* from @a to @b, and back */
	struct to_port_ref from, to;	/* direction that was lossy last */
	char why[TO_LINK_LOSS_TEXT];	/* what that lost: "loses 5 % of ..." */
};

/** struct to_lossy - all links of one cluster */
struct to_lossy {
	struct to_lossy_config config;
	struct to_link_losses losses;
	unsigned int n_links, n_held;
	struct to_lossy_link *links;	/* in the order of the cluster's */
};

/** to_lossy_init() - begin with no link of @cluster held. Return: 0 or -ENOMEM. */
int to_lossy_init(struct to_lossy *lossy, const struct to_lossy_config *config,
		  const struct to_cluster *cluster);
void to_lossy_free(struct to_lossy *lossy);

/**
 * to_lossy_look() - judge all links by a look at all servers
 * @cluster: as of to_lossy_init()
 * @replies: per server, what its agent said (agent_look.h), or NULL
 * @now_ns: end of the look, CLOCK_MONOTONIC
 * @span_ns: time that the look took
 *
 * Return: whether a link is held or used again from now on.
 */
bool to_lossy_look(struct to_lossy *lossy, const struct to_cluster *cluster,
		   const json_t *const *replies, uint64_t now_ns, uint64_t span_ns);

#endif
