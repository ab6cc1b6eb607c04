// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/bcube_loads.h"

#include <errno.h>
#include <stdlib.h>

static int bcube_loads_ring(struct to_steps *steps, const struct to_bcube *b)
{
	uint32_t *order = calloc(b->servers, sizeof(*order));

	if (!order)
		return -ENOMEM;
	to_bcube_ring(b, order);
	to_steps_ring(steps, order, b->servers, 0, (struct to_elements){ 0, steps->size });
	free(order);
	return 0;
}

int to_bcube_loads_steps(const struct to_bcube_loads *loads,
			 enum to_collective_algorithm algorithm, uint32_t member,
			 struct to_steps *steps)
{
	int ret = 0;

	to_steps_init(steps, member, loads->size);
	if (algorithm == TO_COLLECTIVE_BML)
		to_steps_bml(steps, &loads->bcube, NULL);
	else if (algorithm == TO_COLLECTIVE_PS)
		to_steps_ps(steps, loads->bcube.servers);
	else
		ret = bcube_loads_ring(steps, &loads->bcube);
	if (!ret && !steps->failed)
		return 0;
	to_steps_free(steps);
	return -ENOMEM;
}

static void bcube_loads_add(struct to_bcube_loads *l, uint32_t step, uint32_t from,
			    const struct to_steps_transfer *t, uint64_t elements)
{
	const struct to_bcube *b = &l->bcube;
	uint32_t path[TO_BCUBE_LEVELS_MAX];
	unsigned int hops = to_bcube_path(b, from, t->peer, path);

	for (unsigned int h = 0; h < hops; h++, from = path[h - 1]) {
		unsigned int level = 0;

		while (to_bcube_digit(b, from, level) == to_bcube_digit(b, path[h], level))
			level++;
		l->out[((size_t)step * b->servers + from) * b->k + level] += elements;
		l->in[((size_t)step * b->servers + path[h]) * b->k + level] += elements;
	}
}

static void bcube_loads_add_member(struct to_bcube_loads *l, const struct to_steps *s)
{
	for (uint32_t t = 0; t < s->n_threads; t++)
		for (uint32_t w = 0; w < s->threads[t].n; w++) {
			const struct to_steps_part *step = &s->steps[s->threads[t].first + w];

			for (uint32_t i = 0; i < step->n; i++) {
				const struct to_steps_transfer *x = &s->transfers[step->first + i];

				if (x->kind == TO_STEPS_SEND)
					bcube_loads_add(l, w, s->self, x, to_steps_transfer_size(s, x));
			}
		}
}

int to_bcube_loads_init(struct to_bcube_loads *loads, const struct to_bcube *bcube,
			enum to_collective_algorithm algorithm)
{
	size_t ports = (size_t)bcube->servers * bcube->k;
	struct to_steps steps;
	int ret = 0;

	*loads = (struct to_bcube_loads){ .bcube = *bcube, .size = (uint64_t)bcube->servers * bcube->k };
	loads->steps = algorithm == TO_COLLECTIVE_BML ? 2 * bcube->k :
		       algorithm == TO_COLLECTIVE_PS ? 2 : 2 * (bcube->servers - 1);
	loads->out = calloc(loads->steps * ports, sizeof(*loads->out));
	loads->in = calloc(loads->steps * ports, sizeof(*loads->in));
	if (!loads->out || !loads->in)
		ret = -ENOMEM;
	for (uint32_t m = 0; !ret && m < bcube->servers; m++) {
		ret = to_bcube_loads_steps(loads, algorithm, m, &steps);
		if (ret)
			break;
		bcube_loads_add_member(loads, &steps);
		to_steps_free(&steps);
	}
	if (ret)
		to_bcube_loads_free(loads);
	return ret;
}

void to_bcube_loads_free(struct to_bcube_loads *loads)
{
	free(loads->out);
	free(loads->in);
	loads->out = loads->in = NULL;
}

double to_bcube_loads_time(const struct to_bcube_loads *loads, bool *even)
{
	const size_t ports = (size_t)loads->bcube.servers * loads->bcube.k;
	uint64_t all = 0;

	*even = true;
	for (uint32_t w = 0; w < loads->steps; w++) {
		const uint64_t *out = &loads->out[w * ports], *in = &loads->in[w * ports];
		uint64_t most = 0;

		for (size_t p = 0; p < ports; p++) {
			*even &= out[p] == *out && in[p] == *out;
			most = out[p] > most ? out[p] : most;
			most = in[p] > most ? in[p] : most;
		}
		all += most;
	}
	return (double)all / loads->size;
}
