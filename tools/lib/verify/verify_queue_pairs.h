/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_VERIFY_QUEUE_PAIRS_H
#define TOPOOPT_VERIFY_QUEUE_PAIRS_H

/* The part of to_verify() about packets that tables alone do not send. */

#include "routing/forwarding.h"
#include "verify/verify_links.h"

/**
 * to_verify_queue_pairs() - packets for the address that @f has resolved
 * @distance: see to_queue_pair_arc()
 * @mark: scratch, one per arc
 *
 * Those that the tables send meet no alternate, as alternates are for what a
 * failure turned back. Those of RDMA queue pairs leave any server by any port; they
 * may meet alternates, and leave their destination by the right port, but
 * never go round and round.
 */
void to_verify_queue_pairs(const struct to_forwarding *f, const struct to_verify_out *out,
			   const uint16_t *distance, uint32_t *mark);

#endif
