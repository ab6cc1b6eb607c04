/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CIRCUITS_H
#define TOPOOPT_CIRCUITS_H

/* What joins the ports of an optical switch. */

#include <stdbool.h>

/**
 * struct to_circuit - light that enters a switch at port @in and leaves it at @out
 *
 * Ports as cluster.json numbers them. A duplex cross-connect is two circuits, one
 * each way, a simplex one is one circuit.
 */
struct to_circuit {
	unsigned int in, out;
};

/** struct to_circuits - circuits of one switch, sorted by @in; each port once per side */
struct to_circuits {
	unsigned int n;
	struct to_circuit *circuit;
};

/** to_circuits_add() - Append a circuit; 0 or -ENOMEM */
int to_circuits_add(struct to_circuits *circuits, unsigned int in, unsigned int out);

/** to_circuits_sort() - Sort by input, then by output */
void to_circuits_sort(struct to_circuits *circuits);

/** to_circuits_has() - Tell whether @p is one of @circuits, which are sorted */
bool to_circuits_has(const struct to_circuits *circuits, const struct to_circuit *p);

/** to_circuits_collision() - Return the first circuit that shares an input or output, or NULL */
const struct to_circuit *to_circuits_collision(const struct to_circuits *circuits);

void to_circuits_free(struct to_circuits *circuits);

#endif
