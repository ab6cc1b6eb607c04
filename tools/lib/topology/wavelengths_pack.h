/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_WAVELENGTHS_PACK_H
#define TOPOOPT_WAVELENGTHS_PACK_H

/* Lightpaths of one way round an optical ring onto its wavelengths. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct to_fibre - one way round
 * @n: servers; that at position p is p, or n - 1 - p when @back
 * @reach: positions that a lightpath leads on, at most
 * @colours: wavelengths
 * @back: from each server to the one before it
 * @ring: on the first wavelength, each sends to the next
 * @bytes: of each source and length: [to_fibre_cell()]
 * @need: lightpaths of it that are to be packed
 * @wanted: per position, bit d - 1 where some of length d are
 * @load: lightpaths to be packed that pass from each position to the next
 * @ends: those that end at each position
 * @hop: length of the lightpath from a position, 0 for none: [colour * n + position]
 * @best: the same of the packing that is kept
 * @whim: of prices, per position
 */
struct to_fibre {
	uint32_t n;
	unsigned int reach, colours;
	bool back, ring;
	double *bytes;
	uint32_t *need, *load, *ends;
	uint64_t *wanted;
	uint8_t *hop, *best;

	double *whim;
	double *price, *value;		/* scratch, n + 1 */
	uint8_t *take, *path;
};

/** to_fibre_server() - at @position, and the position of a server */
static inline uint32_t to_fibre_server(const struct to_fibre *f, uint32_t position)
{
	return f->back ? f->n - 1 - position : position;
}

/** to_fibre_cell() - return the index of lightpaths from server @x to the server @d on */
static inline size_t to_fibre_cell(const struct to_fibre *f, uint32_t x, uint32_t d)
{
	return (size_t)to_fibre_server(f, x) * f->reach + d - 1;
}

/** to_fibre_end() - server that is @d on from server @x */
static inline uint32_t to_fibre_end(const struct to_fibre *f, uint32_t x, uint32_t d)
{
	return (f->back ? x + f->n - d : x + d) % f->n;
}

/** to_fibre_sends() - length of the lightpath of server @x on @colour, as kept; 0 for none */
static inline uint32_t to_fibre_sends(const struct to_fibre *f, unsigned int colour, uint32_t x)
{
	return f->best[(size_t)colour * f->n + to_fibre_server(f, x)];
}

/** to_fibre_free() - wavelengths that lightpaths may have */
static inline unsigned int to_fibre_free(const struct to_fibre *f)
{
	return f->colours - f->ring;
}

/** to_fibre_init() - nothing to send; 0 or -ENOMEM */
int to_fibre_init(struct to_fibre *f, uint32_t n, unsigned int reach, unsigned int colours,
		  bool back, bool ring);
void to_fibre_free_all(struct to_fibre *f);

/** to_fibre_clear() - begin with no lightpath needed; @random varies prices a little, or is NULL */
void to_fibre_clear(struct to_fibre *f, uint64_t *random);

/** to_fibre_want() - need @count lightpaths more from server @x to the one @d on; the ring's counts */
void to_fibre_want(struct to_fibre *f, uint32_t x, uint32_t d, uint32_t count);

/** to_fibre_loads() - after the last to_fibre_want() */
void to_fibre_loads(struct to_fibre *f);

/** to_fibre_add() - need @more or fewer of them, after to_fibre_loads() */
void to_fibre_add(struct to_fibre *f, uint32_t x, uint32_t d, int more);

/** to_fibre_busiest() - most lightpaths on a segment from server @x to the one @d on */
uint32_t to_fibre_busiest(const struct to_fibre *f, uint32_t x, uint32_t d);

/** to_fibre_pack() - find wavelengths for all that are needed; whether it could */
bool to_fibre_pack(struct to_fibre *f);

/** to_fibre_keep() - what has been packed */
void to_fibre_keep(struct to_fibre *f);

/**
 * to_fibre_fill() - lightpaths more on what is kept, where there is place
 * @count: of each pair, both ways round, n x n; counted up
 */
void to_fibre_fill(struct to_fibre *f, uint16_t *count);

#endif
