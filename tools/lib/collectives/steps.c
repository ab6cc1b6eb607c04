// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/steps.h"

#include <stdlib.h>
#include <string.h>

#include "data/allreduce_steps.h"

void to_steps_init(struct to_steps *steps, uint32_t self, uint64_t size)
{
	*steps = (struct to_steps){ .self = self, .size = size };
}

void to_steps_free(struct to_steps *steps)
{
	free(steps->threads);
	free(steps->steps);
	free(steps->transfers);
	free(steps->elements);
	to_steps_init(steps, steps->self, steps->size);
}

/* Room for one more in an array that doubles when its count is a power of two. */
static void *steps_grow(struct to_steps *steps, void *array, uint32_t n, size_t size)
{
	void *more;

	if (steps->failed || (n & (n - 1)))
		return array;
	more = reallocarray(array, n ? 2 * (size_t)n : 1, size);
	if (more)
		return more;
	steps->failed = true;
	return array;
}

void to_steps_thread(struct to_steps *steps)
{
	steps->threads = steps_grow(steps, steps->threads, steps->n_threads, sizeof(*steps->threads));
	if (!steps->failed)
		steps->threads[steps->n_threads++] = (struct to_steps_part){ steps->n_steps, 0 };
}

void to_steps_step(struct to_steps *steps)
{
	steps->steps = steps_grow(steps, steps->steps, steps->n_steps, sizeof(*steps->steps));
	if (steps->failed)
		return;
	steps->threads[steps->n_threads - 1].n++;
	steps->steps[steps->n_steps++] = (struct to_steps_part){ steps->n_transfers, 0 };
}

void to_steps_transfer(struct to_steps *steps, enum to_steps_kind kind, uint32_t peer,
		       uint32_t lane)
{
	steps->transfers = steps_grow(steps, steps->transfers, steps->n_transfers,
				      sizeof(*steps->transfers));
	if (steps->failed)
		return;
	steps->steps[steps->n_steps - 1].n++;
	steps->transfers[steps->n_transfers++] = (struct to_steps_transfer){
		.kind = kind, .peer = peer, .lane = lane, .first = steps->n_elements };
}

void to_steps_elements(struct to_steps *steps, struct to_elements elements)
{
	struct to_steps_transfer *transfer;
	struct to_elements *last;

	if (steps->failed || !elements.n)
		return;
	transfer = &steps->transfers[steps->n_transfers - 1];
	last = transfer->n ? &steps->elements[steps->n_elements - 1] : NULL;
	if (last && last->first + last->n == elements.first) {
		last->n += elements.n;
		return;
	}
	steps->elements = steps_grow(steps, steps->elements, steps->n_elements,
				     sizeof(*steps->elements));
	if (steps->failed)
		return;
	transfer->n++;
	steps->elements[steps->n_elements++] = elements;
}

struct to_elements to_steps_piece(struct to_elements whole, uint32_t index, uint32_t of)
{
	uint64_t first = whole.n / of * index + whole.n % of * index / of;
	uint64_t end = whole.n / of * (index + 1) + whole.n % of * (index + 1) / of;

	return (struct to_elements){ whole.first + first, end - first };
}

uint64_t to_steps_transfer_size(const struct to_steps *steps, const struct to_steps_transfer *transfer)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < transfer->n; i++)
		size += steps->elements[transfer->first + i].n;
	return size;
}

void to_steps_ps(struct to_steps *steps, uint32_t n)
{
	const struct to_elements all = { 0, steps->size }, own = to_steps_piece(all, steps->self, n);

	to_steps_thread(steps);
	for (unsigned int pull = 0; pull < 2; pull++) {
		to_steps_step(steps);
		for (unsigned int receive = 0; receive < 2; receive++)
			for (uint32_t i = 1; i < n; i++) {
				/* each begins with another peer */
				uint32_t peer = (steps->self + (receive ? n - i : i)) % n;

				to_steps_transfer(steps, !receive ? TO_STEPS_SEND :
						  pull ? TO_STEPS_COPY : TO_STEPS_ADD, peer, 0);
				to_steps_elements(steps, receive != pull ? own : to_steps_piece(all, peer, n));
			}
	}
}

void to_steps_ring(struct to_steps *steps, const uint32_t *order, uint32_t n, uint32_t lane,
		   struct to_elements whole)
{
	struct to_allreduce_send out, in;
	uint32_t at = 0, before;

	while (order[at] != steps->self)
		at++;
	to_steps_thread(steps);
	before = to_allreduce_steps_ring_send(n, true, 0, at).to;
	for (unsigned int s = 0; s < to_allreduce_steps_ring(n); s++) {
		out = to_allreduce_steps_ring_send(n, false, s, at);
		in = to_allreduce_steps_ring_send(n, false, s, before);
		to_steps_step(steps);
		to_steps_transfer(steps, TO_STEPS_SEND, order[out.to], lane);
		to_steps_elements(steps, to_steps_piece(whole, out.piece, out.pieces));
		to_steps_transfer(steps, in.sum ? TO_STEPS_ADD : TO_STEPS_COPY, order[in.from],
				  lane);
		to_steps_elements(steps, to_steps_piece(whole, in.piece, in.pieces));
	}
}

/* A step of a tree that exchanges @chunk with the children, or with the parent. */
static void steps_tree_step(struct to_steps *steps, const struct to_steps_tree *tree, bool up,
			    enum to_steps_kind kind, uint32_t lane, struct to_elements chunk)
{
	const uint32_t parent = tree->parents[steps->self];

	to_steps_step(steps);
	for (uint32_t peer = 0; peer < tree->n; peer++) {
		uint32_t of = tree->parts ? tree->parts[peer] : 1;

		if (up ? peer != parent : tree->parents[peer] != steps->self)
			continue;
		for (uint32_t part = 0; part < of; part++) {
			to_steps_transfer(steps, kind, peer, lane + 2 * part);
			to_steps_elements(steps, to_steps_piece(chunk, part, of));
		}
	}
}

void to_steps_tree(struct to_steps *steps, const struct to_steps_tree *tree, uint32_t lane,
		   struct to_elements whole, uint64_t chunk)
{
	const uint32_t *parents = tree->parents;
	const bool root = parents[steps->self] == TO_SERVER_NONE;

	for (unsigned int down = 0; down < (root ? 1 : 2); down++) {
		to_steps_thread(steps);
		for (uint64_t at = 0; at < whole.n; at += chunk) {
			struct to_elements part = { whole.first + at,
						    whole.n - at < chunk ? whole.n - at : chunk };

			if (down)
				steps_tree_step(steps, tree, true, TO_STEPS_COPY, lane + 1, part);
			else
				steps_tree_step(steps, tree, false, TO_STEPS_ADD, lane, part);
			if (down || root)
				steps_tree_step(steps, tree, false, TO_STEPS_SEND, lane + 1, part);
			else
				steps_tree_step(steps, tree, true, TO_STEPS_SEND, lane, part);
		}
	}
}
