// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/steps.h"

/*
 * Pieces of thread @t that belong to servers which agree with @server in the digits t, t + 1,
 * .. t + @w, modulo k: CheckDigits() of the paper.
 */
static void bml_pieces(struct to_steps *steps, const struct to_bcube *bcube, uint32_t server,
		       unsigned int t, unsigned int w, unsigned int part, unsigned int of)
{
	const struct to_elements all = { 0, steps->size };
	unsigned int open[TO_BCUBE_LEVELS_MAX], n_open = 0;
	uint32_t fixed = 0, sets = 1;

	for (unsigned int l = 0; l < bcube->k; l++) {
		if ((l + bcube->k - t) % bcube->k <= w) {
			fixed += to_bcube_digit(bcube, server, l) * bcube->weight[l];
		} else {
			open[n_open++] = l;
			sets *= bcube->n;
		}
	}
	for (uint32_t set = 0; set < sets; set++) {
		uint32_t owner = fixed, left = set;

		for (unsigned int i = 0; i < n_open; i++, left /= bcube->n)
			owner += left % bcube->n * bcube->weight[open[i]];
		to_steps_elements(steps, to_steps_piece(
			to_steps_piece(all, t * bcube->servers + owner,
				       bcube->k * bcube->servers), part, of));
	}
}

/* Transfers of step @w of one direction with all neighbours; @w counts back in a broadcast. */
static void bml_step(struct to_steps *steps, const struct to_bcube *bcube, const uint8_t *parts,
		     unsigned int t, unsigned int w, bool broadcast)
{
	const unsigned int level = (w + t) % bcube->k;
	const unsigned int own = to_bcube_digit(bcube, steps->self, level);

	to_steps_step(steps);
	for (unsigned int receive = 0; receive < 2; receive++)
		for (unsigned int i = 1; i < bcube->n; i++) {
			/* each begins with another neighbour */
			unsigned int digit = (own + (receive ? bcube->n - i : i)) % bcube->n;
			uint32_t peer = to_bcube_neighbour(bcube, steps->self, level, digit);

			for (unsigned int part = 0, of = parts ? parts[peer] : 1; part < of; part++) {
				to_steps_transfer(steps, !receive ? TO_STEPS_SEND :
						  broadcast ? TO_STEPS_COPY : TO_STEPS_ADD, peer,
						  t + part * bcube->k);
				/* a sum goes to its owner, and comes from its owner's side back */
				bml_pieces(steps, bcube, receive != broadcast ? steps->self : peer,
					   t, w, part, of);
			}
		}
}

void to_steps_bml(struct to_steps *steps, const struct to_bcube *bcube, const uint8_t *parts)
{
	for (unsigned int t = 0; t < bcube->k; t++) {
		to_steps_thread(steps);
		for (unsigned int w = 0; w < bcube->k; w++)
			bml_step(steps, bcube, parts, t, w, false);
		for (unsigned int w = bcube->k; w--;)
			bml_step(steps, bcube, parts, t, w, true);
	}
}
