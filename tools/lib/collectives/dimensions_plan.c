// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/dimensions_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a server has in each dimension, while sizes are tried. */
struct dimensions_trial {
	const struct to_cluster *c;
	struct to_dimensions *dims;
	unsigned int n;			/* dimensions to be tried */
	uint64_t *bandwidth;		/* [server * n + dimension], out of it */
	uint64_t *peers;		/* the same: to whom it has links, by dimensions_bit() */
	unsigned int cables[TO_DIMENSIONS_MAX], shared[TO_DIMENSIONS_MAX];	/* arcs, by dimension */
};

#define DIMENSIONS_NEXT (1ull << 1)
#define DIMENSIONS_BACK (1ull << 63)

/* Bit of a peer by the @difference of digits; 0 for those in the middle of large meshes. */
static uint64_t dimensions_bit(unsigned int size, unsigned int difference)
{
	if (difference == size - 1)
		return DIMENSIONS_BACK;
	return difference < 63 ? 1ull << difference : 0;
}

/* The only digit in which @a and @b differ; @n dimensions when they differ in more. */
static unsigned int dimensions_digit(const struct to_dimensions *dims, uint32_t a, uint32_t b,
				     unsigned int *difference)
{
	unsigned int found = dims->n;

	for (unsigned int k = 0; k < dims->n; k++) {
		unsigned int size = dims->list[k].size, x = a % size, y = b % size;

		a /= size;
		b /= size;
		if (x == y)
			continue;
		if (found < dims->n)
			return dims->n;
		found = k;
		*difference = (y + size - x) % size;
	}
	return found;
}

static bool dimensions_add_arc(struct dimensions_trial *t, struct to_port_ref from, uint32_t to)
{
	unsigned int difference = 0, k = dimensions_digit(t->dims, from.server, to, &difference);
	const struct to_port *port = &t->c->servers[from.server].ports[from.port];
	uint64_t peer;

	if (k == t->n)
		return false;
	peer = dimensions_bit(t->dims->list[k].size, difference);
	/* a port on a packet switch counts once, for the neighbour that all have */
	if (!port->packet_switch || peer == DIMENSIONS_BACK)
		t->bandwidth[from.server * t->n + k] += port->bandwidth;
	(port->packet_switch ? t->shared : t->cables)[k]++;
	t->peers[from.server * t->n + k] |= peer;
	return peer;
}

/*
 * Whether all servers have a link to all others of dimension @k, by cables or all of them by
 * packet switches, or else round a ring.
 */
static bool dimensions_is(struct dimensions_trial *t, unsigned int k)
{
	struct to_dimension *d = &t->dims->list[k];
	uint64_t all = UINT64_MAX, any = 0;

	if (t->shared[k] && t->cables[k])
		return false;
	d->bandwidth = UINT64_MAX;
	for (uint32_t s = 0; s < t->c->n_servers; s++) {
		uint64_t bandwidth = t->bandwidth[s * t->n + k];

		all &= t->peers[s * t->n + k];
		any |= t->peers[s * t->n + k];
		d->bandwidth = bandwidth < d->bandwidth ? bandwidth : d->bandwidth;
	}
	d->kind = t->shared[k] ? TO_DIMENSION_SWITCH : TO_DIMENSION_DIRECT;
	if (d->size <= 64 && all == (((1ull << (d->size - 1)) - 2) | DIMENSIONS_BACK))
		return true;
	d->kind = TO_DIMENSION_RING;
	return all && !t->shared[k] && !(any & ~(DIMENSIONS_NEXT | DIMENSIONS_BACK));
}

static bool dimensions_fit(struct dimensions_trial *t)
{
	const struct to_cluster *c = t->c;
	bool fit = true;

	memset(t->bandwidth, 0, (size_t)c->n_servers * t->n * sizeof(*t->bandwidth));
	memset(t->peers, 0, (size_t)c->n_servers * t->n * sizeof(*t->peers));
	memset(t->cables, 0, sizeof(t->cables));
	memset(t->shared, 0, sizeof(t->shared));
	for (unsigned int i = 0; fit && i < c->n_links; i++) {
		const struct to_link *l = &c->links[i];

		fit = dimensions_add_arc(t, l->a, l->b.server) &&
		      (c->link_mode == TO_LINKS_SIMPLEX || dimensions_add_arc(t, l->b, l->a.server));
	}
	for (unsigned int k = 0; fit && k < t->n; k++)
		fit = dimensions_is(t, k);
	return fit;
}

/* All ways to write what is @left of the servers as a product of the sizes from dimension @k. */
static bool dimensions_try(struct dimensions_trial *t, unsigned int k, unsigned int left)
{
	if (k + 1 == t->n) {
		t->dims->list[k].size = left;
		return left > 1 && dimensions_fit(t);
	}
	for (unsigned int size = 2; size <= left / 2; size++) {
		if (left % size)
			continue;
		t->dims->list[k].size = size;
		if (dimensions_try(t, k + 1, left / size))
			return true;
	}
	return false;
}

int to_dimensions_of_plan(const struct to_plan *plan, uint64_t latency_ns,
			  struct to_dimensions *dims, struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;
	struct dimensions_trial t = { .c = c, .dims = dims };
	bool found = false;
	size_t cells = (size_t)c->n_servers * TO_DIMENSIONS_MAX;

	t.bandwidth = calloc(cells, sizeof(*t.bandwidth));
	t.peers = calloc(cells, sizeof(*t.peers));
	for (t.n = 1; t.bandwidth && t.peers && !found && t.n <= TO_DIMENSIONS_MAX; t.n++) {
		*dims = (struct to_dimensions){ .n = t.n, .ranks = c->n_servers };
		found = dimensions_try(&t, 0, c->n_servers);
	}
	for (unsigned int k = 0; found && k < dims->n; k++)
		dims->list[k].latency_ns = latency_ns;
	if (!t.bandwidth || !t.peers)
		to_error_set(err, -ENOMEM, "out of memory");
	else if (!found)
		to_error_set(err, -EINVAL, "the links are of no torus or product of full meshes whose "
			     "servers are in its order: describe the dimensions in a dims.json");
	free(t.bandwidth);
	free(t.peers);
	return found ? 0 : -EINVAL;
}
