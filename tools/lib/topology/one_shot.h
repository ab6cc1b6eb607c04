/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ONE_SHOT_H
#define TOPOOPT_ONE_SHOT_H

/*
 * Circuits of optical switches that are set once for a job: SiP-OCS of SiP-ML (Khani et al.,
 * SIGCOMM 2021). Port q of every server is on switch q.
 */

#include "data/cluster.h"

/**
 * to_one_shot_links() - how many links each pair gets
 * @bytes: n x n, row = source
 * @q: switches, ports of a server
 * @ring: each server has one link or more to the next, so that all reach all by relays
 * @count: n x n, row = source; overwritten
 *
 * The least links per byte that a pair has are the most there can be: whatever leaves and
 * enters no server more than @q times is the sum of @q matchings (König). Links that are
 * left go where they save most time. Where a server sends to more than @q others, some get
 * none.
 *
 * Return: 0 or -ENOMEM.
 */
int to_one_shot_links(const uint64_t *bytes, uint32_t n, unsigned int q, bool ring,
		      uint16_t *count);

/**
 * to_one_shot_cable() - links of @cluster, simplex, as many as @count says
 * @cluster: of to_cluster_synthetic() with simplex links, on no links
 * @q: ports of a server that may be used
 *
 * Return: 0, or -ENOMEM with @err set.
 */
int to_one_shot_cable(struct to_cluster *cluster, unsigned int q, const uint16_t *count,
		      struct to_error *err);

#endif
