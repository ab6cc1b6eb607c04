/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LINK_LOSSES_H
#define TOPOOPT_LINK_LOSSES_H

/* What each link of a cluster loses, from looks at all servers. */

#include <jansson.h>

#include "data/cluster.h"
#include "measure/link_loss.h"

/**
 * struct to_link_losses - all links of one cluster
 *
 * A packet switch hides who has sent a packet: links that it makes are judged by checks alone.
 */
struct to_link_losses {
	struct to_link_loss_config config;
	unsigned int n_links;
	struct to_link *links;		/* copied from the cluster, sorted by ends */
	struct to_link_loss (*ways)[2];	/* per link: from a to b, and from b to a */
};

/**
 * to_link_losses_follow() - judge the links of @cluster from now on
 * @losses: zeroed, or of another cluster of the same servers: links of both keep what is known
 *
 * Return: 0 or -ENOMEM; then @losses is unchanged.
 */
int to_link_losses_follow(struct to_link_losses *losses, const struct to_cluster *cluster);

/** to_link_losses_free() - forget all; the thresholds stay */
void to_link_losses_free(struct to_link_losses *losses);

/**
 * to_link_losses_look() - judge all links by a look at all servers
 * @cluster: with the servers and link mode of the one that is followed
 * @replies: per server, what its agent said (agent_look.h), or NULL
 * @time_ns: end of the look, CLOCK_MONOTONIC
 * @span_ns: time that it took
 *
 * An end whose agent did not answer, or counts no packets, adds nothing.
 */
void to_link_losses_look(struct to_link_losses *losses, const struct to_cluster *cluster,
			 const json_t *const *replies, uint64_t time_ns, uint64_t span_ns);

/** to_link_losses_reset() - forget both directions of the link of ports @a and @b */
void to_link_losses_reset(struct to_link_losses *losses, struct to_port_ref a,
			  struct to_port_ref b);

/** to_link_losses_find() - return the direction from port @from to port @to, or NULL */
const struct to_link_loss *to_link_losses_find(const struct to_link_losses *losses,
					       struct to_port_ref from, struct to_port_ref to);

#endif
