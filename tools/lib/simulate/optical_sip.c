// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/optical_sip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topology/one_shot.h"

unsigned int to_optical_sip_peers(const struct to_sip *sip)
{
	return sip->ring && 2 * sip->reach < sip->ports ? 2 * sip->reach : sip->ports;
}

void to_optical_sip_free(struct to_optical_sip *o)
{
	if (!o)
		return;
	to_wavelengths_free(&o->lightpaths);
	free(o->lit);
	free(o->chosen);
	free(o->bytes);
	free(o);
}

struct to_optical_sip *to_optical_sip_new(const struct to_sip *sip, uint32_t n, double capacity,
					  struct to_error *err)
{
	struct to_optical_sip *o = calloc(1, sizeof(*o));
	const size_t cells = (size_t)n * n;

	if (o) {
		o->sip = *sip;
		o->each = capacity / sip->ports;
		o->lit = calloc(cells, sizeof(*o->lit));
		o->chosen = calloc(cells, sizeof(*o->chosen));
		o->bytes = calloc(cells, sizeof(*o->bytes));
	}
	if (!o || !o->lit || !o->chosen || !o->bytes)
		to_error_set(err, -ENOMEM, "out of memory");
	else if (!sip->ring ||
		 !to_wavelengths_init(&o->lightpaths, n, sip->ports, sip->reach, err))
		return o;
	to_optical_sip_free(o);
	return NULL;
}

/* Have all that are to send links? */
static bool sip_all_joined(const struct to_optical_sip *o, uint32_t n, const uint64_t *bytes)
{
	for (size_t i = 0; i < (size_t)n * n; i++)
		if (bytes[i] && !o->chosen[i])
			return false;
	return true;
}

int to_optical_sip_decide(struct to_optical_sip *o, uint32_t n, const uint64_t *unsent)
{
	const size_t cells = (size_t)n * n;
	int ret;

	if (o->sip.ring) {
		const bool far = to_sip_hops(&o->sip, n, unsent, o->bytes);

		ret = to_wavelengths_assign(&o->lightpaths, o->bytes, far);
		if (ret)
			return ret;
		memcpy(o->chosen, o->lightpaths.count, cells * sizeof(*o->chosen));
		o->relay = far;
	} else {
		ret = to_one_shot_links(unsent, n, o->sip.ports, false, o->chosen);
		o->relay = !ret && !sip_all_joined(o, n, unsent);
		if (o->relay)
			ret = to_one_shot_links(unsent, n, o->sip.ports, true, o->chosen);
		if (ret)
			return ret;
	}
	return o->relay != o->relays || memcmp(o->lit, o->chosen, cells * sizeof(*o->lit));
}

void to_optical_sip_change(struct to_optical_sip *o, struct to_network *w)
{
	const size_t n = w->n_servers;

	memcpy(o->lit, o->chosen, n * n * sizeof(*o->lit));
	o->relays = o->relay;
	for (uint32_t i = 0; i < w->n_links; i++)
		w->links[i].to = w->links[i].from;
	for (uint32_t x = 0; x < n; x++) {
		struct to_network_link *link = &w->links[w->out[x]];

		for (uint32_t y = 0; y < n; y++) {
			if (!o->lit[x * n + y])
				continue;
			link->to = y;
			link->capacity = o->lit[x * n + y] * o->each;
			link++;
		}
	}
}
