// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/circuits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int circuits_compare(const void *a, const void *b)
{
	const struct to_circuit *x = a, *y = b;

	if (x->in != y->in)
		return x->in < y->in ? -1 : 1;
	return (x->out > y->out) - (x->out < y->out);
}

void to_circuits_sort(struct to_circuits *circuits)
{
	/* qsort() wants an array, even for nothing */
	if (circuits->n)
		qsort(circuits->circuit, circuits->n, sizeof(*circuits->circuit),
		      circuits_compare);
}

int to_circuits_add(struct to_circuits *circuits, unsigned int in, unsigned int out)
{
	struct to_circuit *circuit = circuits->circuit;

	/* room doubles at powers of two */
	if (!(circuits->n & (circuits->n - 1)))
		circuit = realloc(circuit, (circuits->n ? 2 * circuits->n : 1) * sizeof(*circuit));
	if (!circuit)
		return -ENOMEM;
	circuits->circuit = circuit;
	circuit[circuits->n++] = (struct to_circuit){ in, out };
	return 0;
}

void to_circuits_free(struct to_circuits *circuits)
{
	free(circuits->circuit);
	memset(circuits, 0, sizeof(*circuits));
}

bool to_circuits_has(const struct to_circuits *circuits, const struct to_circuit *p)
{
	return circuits->n && bsearch(p, circuits->circuit, circuits->n, sizeof(*circuits->circuit),
				      circuits_compare);
}

const struct to_circuit *to_circuits_collision(const struct to_circuits *circuits)
{
	struct to_circuits ends = {};
	const struct to_circuit *twice = NULL;

	for (unsigned int side = 0; side < 2 && !twice; side++) {
		for (unsigned int i = 0; i < circuits->n; i++)
			if (to_circuits_add(
				    &ends,
				    side ? circuits->circuit[i].out : circuits->circuit[i].in, i))
				break;
		to_circuits_sort(&ends);
		for (unsigned int i = 0; i + 1 < ends.n && !twice; i++)
			if (ends.circuit[i].in == ends.circuit[i + 1].in)
				twice = &circuits->circuit[ends.circuit[i].out];
		to_circuits_free(&ends);
	}
	return twice;
}
