// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/sip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/one_shot.h"
#include "topology/wavelengths.h"

int to_sip_read(const char *word, struct to_sip *sip, struct to_error *err)
{
	int end = 0;

	*sip = (struct to_sip){ 0 };
	if (!strncmp(word, "sip-ring:", 9)) {
		sip->ring = true;
		if (sscanf(word, "sip-ring:%5u,%5u%n", &sip->ports, &sip->reach, &end) < 2 ||
		    word[end] || strpbrk(word + 9, "+- "))
			return to_error_set(err, -EINVAL, "%s: expected sip-ring:W,REACH, wavelengths and the segments that a lightpath passes at most",
					    word);
		if (!sip->ports || sip->ports % 2 || sip->ports > TO_WAVELENGTHS_MAX)
			return to_error_set(err, -EINVAL, "%s: expected an even number of wavelengths, 2 to %u, half of them for each way round",
					    word, TO_WAVELENGTHS_MAX);
		if (!sip->reach || sip->reach > TO_REACH_MAX)
			return to_error_set(err, -EINVAL, "%s: expected a reach of 1 to %u", word,
					    TO_REACH_MAX);
		return 1;
	}
	if (strncmp(word, "sip-ocs:", 8))
		return 0;
	if (sscanf(word, "sip-ocs:%5u%n", &sip->ports, &end) < 1 || word[end] ||
	    strpbrk(word + 8, "+- "))
		return to_error_set(err, -EINVAL, "%s: expected sip-ocs:Q, optical switches", word);
	if (!sip->ports || sip->ports > TO_PORTS_MAX)
		return to_error_set(err, -EINVAL, "%s: expected 1 to %u optical switches", word,
				    TO_PORTS_MAX);
	return 1;
}

/* @sent from @x to @y, the shorter way, in hops within @reach; returns how many. */
static uint32_t sip_send(uint32_t n, unsigned int reach, uint32_t x, uint32_t y, uint64_t sent,
		     uint64_t *bytes)
{
	const uint32_t on = (y + n - x) % n;
	const bool back = n - on < on;
	const uint32_t distance = back ? n - on : on, hops = (distance + reach - 1) / reach;
	uint32_t at = x;

	for (uint32_t i = 1; i <= hops; i++) {
		const uint32_t done = (uint64_t)distance * i / hops;
		const uint32_t next = back ? (x + n - done) % n : (x + done) % n;

		bytes[(size_t)at * n + next] += sent;
		at = next;
	}
	return hops;
}

bool to_sip_hops(const struct to_sip *sip, uint32_t n, const uint64_t *mp, uint64_t *bytes)
{
	const unsigned int reach = sip->ring ? sip->reach : n;
	bool far = false;

	memset(bytes, 0, (size_t)n * n * sizeof(*bytes));
	for (uint32_t x = 0; x < n; x++)
		for (uint32_t y = 0; y < n; y++) {
			const uint64_t sent = mp[(size_t)x * n + y];

			if (x != y && sent)
				far |= sip_send(n, reach, x, y, sent, bytes) > 1;
		}
	return far;
}

void to_sip_bytes(const struct to_sip *sip, const struct to_demand *demand, uint64_t *bytes)
{
	const uint32_t n = demand->n;
	const unsigned int reach = sip->ring ? sip->reach : n;

	to_sip_hops(sip, n, demand->mp, bytes);
	for (unsigned int g = 0; g < demand->n_groups; g++) {
		const struct to_allreduce *group = &demand->groups[g];
		const unsigned int m = group->n_members;
		const uint64_t each = (double)group->bytes * (m - 1) / m;

		for (unsigned int i = 0; m > 1 && i < m; i++) {
			const uint32_t x = group->members[i], y = group->members[(i + 1) % m];

			sip_send(n, reach, x, y, each, bytes);
			sip_send(n, reach, y, x, each, bytes);
		}
	}
}

static int sip_no_memory(struct to_error *err)
{
	return to_error_set(err, -ENOMEM, "out of memory");
}

static int sip_cable_ring(const struct to_sip *sip, const uint64_t *bytes,
			  struct to_cluster *cluster, struct to_error *err)
{
	struct to_wavelengths lightpaths;
	int ret = to_wavelengths_init(&lightpaths, cluster->n_servers, sip->ports, sip->reach, err);

	if (ret)
		return ret;
	if (to_wavelengths_assign(&lightpaths, bytes, true) ||
	    to_wavelengths_cable(cluster, &lightpaths))
		ret = sip_no_memory(err);
	to_wavelengths_free(&lightpaths);
	return ret;
}

static int sip_cable_switches(const struct to_sip *sip, const uint64_t *bytes,
			      struct to_cluster *cluster, struct to_error *err)
{
	const size_t n = cluster->n_servers;
	uint16_t *count = calloc(n * n, sizeof(*count));
	int ret = -ENOMEM;

	if (count && !to_one_shot_links(bytes, n, sip->ports, true, count))
		ret = to_one_shot_cable(cluster, sip->ports, count, err);
	else
		sip_no_memory(err);
	free(count);
	return ret;
}

int to_sip_cable(const struct to_sip *sip, const struct to_demand *demand,
		 struct to_cluster *cluster, struct to_error *err)
{
	const size_t n = demand->n;
	uint64_t *bytes = calloc(n * n, sizeof(*bytes));
	int ret;

	if (!bytes)
		return sip_no_memory(err);
	to_sip_bytes(sip, demand, bytes);
	if (sip->ring)
		ret = sip_cable_ring(sip, bytes, cluster, err);
	else
		ret = sip_cable_switches(sip, bytes, cluster, err);
	free(bytes);
	return ret;
}
