/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_WAVELENGTHS_H
#define TOPOOPT_WAVELENGTHS_H

/*
 * Wavelengths of an optical ring: SiP-Ring of SiP-ML (Khani et al., SIGCOMM 2021).
 *
 * Servers are round it in their order, and two fibres pass them, one each way round.
 * Half of the wavelengths go one way, half the other. A lightpath takes one of them on
 * all segments from its source to its destination, which is within reach; on the other
 * segments, other lightpaths use it again. So a server sends, and receives, on each
 * wavelength once at most.
 */

#include "data/cluster.h"

#define TO_REACH_MAX 64u
#define TO_WAVELENGTHS_MAX 1024u

/**
 * struct to_wavelengths - who sends to whom on which
 * @n: servers
 * @w: wavelengths, an even number: the first half to the next server, the others back
 * @reach: segments that a lightpath passes at most
 * @to: where the lightpath of a server leads, TO_SERVER_NONE for none:
 *	[wavelength * @n + server]
 * @count: lightpaths of each pair, n x n, row = source
 * @rate: the least that a pair within reach has, in lightpaths per byte; 0 when one has
 *	none, INFINITY when no bytes are to be sent
 */
struct to_wavelengths {
	uint32_t n;
	unsigned int w, reach;
	uint32_t *to;
	uint16_t *count;
	double rate;
};

/**
 * to_wavelengths_init() - begin with no wavelength used
 * @reach: more than n - 1 is as that
 *
 * Return: 0; -EINVAL with @err set for wavelengths that are not half and half, or a reach
 * of 0 or more than TO_REACH_MAX; -ENOMEM.
 */
int to_wavelengths_init(struct to_wavelengths *s, uint32_t n, unsigned int w, unsigned int reach,
			struct to_error *err);
void to_wavelengths_free(struct to_wavelengths *s);

/**
 * to_wavelengths_within() - may a lightpath lead from @x to @y, either way round?
 */
bool to_wavelengths_within(const struct to_wavelengths *s, uint32_t x, uint32_t y);

/**
 * to_wavelengths_assign() - lightpaths for demand
 * @bytes: n x n, row = source; what is not within reach gets none
 * @ring: wavelength 0 joins each server to the next, so that all reach all by relays
 *
 * First the least rate is made large: it says how many lightpaths each pair needs, and
 * these are packed, one wavelength after the other. What a wavelength can carry round the
 * ring is a unit of flow that leads round once, over lightpaths and idle segments, and the
 * most precious such flow is the longest path in a graph without cycles: the successive
 * paths of a minimum-cost flow, whose prices are high where a segment has as many
 * lightpaths left as wavelengths (SiP-ML, section 3.3, says minimum-cost flow, and no more).
 * Wavelengths that are left go where they save most time.
 *
 * Return: 0 or -ENOMEM.
 */
int to_wavelengths_assign(struct to_wavelengths *s, const uint64_t *bytes, bool ring);

/**
 * to_wavelengths_cable() - links of @cluster as the lightpaths are
 * @cluster: n servers of w ports or more, on no links; its optical switches are taken
 *	away, links are simplex
 *
 * Port c of a server is its wavelength c.
 *
 * Return: 0 or -ENOMEM.
 */
int to_wavelengths_cable(struct to_cluster *cluster, const struct to_wavelengths *s);

/**
 * to_wavelengths_find() - the lightpaths that the links of @cluster are
 *
 * Links are if they are simplex, on no optical switch, join ports of one number, and no
 * two of one number meet on a segment, ports of the lower half of the numbers one way
 * round, the others the other way.
 *
 * Return: 1 with @s for to_wavelengths_free(); 0 when they are not; -ENOMEM.
 */
int to_wavelengths_find(struct to_wavelengths *s, const struct to_cluster *cluster);

#endif
