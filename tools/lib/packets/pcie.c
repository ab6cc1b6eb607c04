// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/pcie.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int to_packet_pcie_init(struct to_packet_simulator *s)
{
	const struct to_network *w = s->network;

	s->pcie = calloc(w->n_pcie + 1, sizeof(*s->pcie));
	if (!s->pcie)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->n_pcie; i++)
		s->pcie[i].cost = round(PACKET_SECOND / w->pcie_capacity[i] * (1 << 20));
	return 0;
}

uint64_t to_packet_pcie_free_at(const struct to_packet_simulator *s, uint32_t link, bool to_host)
{
	const struct to_network *w = s->network;
	uint64_t at = s->now;

	for (uint32_t i = w->n_pcie ? w->first_pcie[link] : 0;
	     w->n_pcie && i < w->first_pcie[link + 1]; i++)
		if (to_network_pcie_to_host(w->pcie[i]) == to_host && s->pcie[w->pcie[i]].free_at > at)
			at = s->pcie[w->pcie[i]].free_at;
	return at;
}

void to_packet_pcie_cross(struct to_packet_simulator *s, uint32_t link, bool to_host, uint64_t at,
			  uint32_t wire)
{
	const struct to_network *w = s->network;

	for (uint32_t i = w->n_pcie ? w->first_pcie[link] : 0;
	     w->n_pcie && i < w->first_pcie[link + 1]; i++) {
		struct packet_pcie *pcie = &s->pcie[w->pcie[i]];

		if (to_network_pcie_to_host(w->pcie[i]) == to_host)
			pcie->free_at = at + ((wire * pcie->cost + (1 << 19)) >> 20);
	}
}
