/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_KAUTZ_H
#define TOPOOPT_KAUTZ_H

/*
 * Generalised Kautz graphs: the arcs of server i are i -> (-k i - j) mod n,
 * j = 1..k, for any n; no server is further than log_k n hops, rounded up
 * (Imase and Itoh, "A design for directed graphs with minimum diameter", IEEE
 * Transactions on Computers C-32(8), 1983).
 */

#include <stdbool.h>

#include "data/graph.h"

/** to_kautz_head() - where arc @j, 1 to @k, of server @i goes; may be @i */
uint32_t to_kautz_head(unsigned int n, unsigned int k, uint32_t i, unsigned int j);

/**
 * to_kautz_within() - has @graph the arcs of a generalised Kautz graph?
 *
 * Five of six arcs of one with two or more from each server; the rings of
 * AllReduce may have taken others for a few. It must be no accident: @graph has
 * less than half of all arcs that there could be, and the largest share of a
 * Kautz graph's that regular rings could have of such a graph is 3/4.
 */
bool to_kautz_within(const struct to_graph *graph);

#endif
