// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/table_digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* An interface by its name, which ends with its NUL; one that is no port by its number. */
static uint64_t digest_port(uint64_t hash, uint32_t ifindex, const struct to_table_port *ports,
			    unsigned int n)
{
	for (unsigned int i = 0; ifindex && i < n; i++)
		if (ports[i].ifindex == ifindex)
			return to_hash(hash, ports[i].name, strlen(ports[i].name) + 1);
	return to_hash(hash, &ifindex, sizeof(ifindex));
}

static uint64_t digest_group(const struct to_kernel_group *group,
			     const struct to_table_port *ports, unsigned int n)
{
	uint64_t hash = to_hash(TO_HASH_BEGIN, &group->n, sizeof(group->n));

	for (unsigned int i = 0; i < group->n; i++) {
		const struct to_kernel_nexthop *nh = &group->nexthops[i];
		const uint8_t backup = nh->backup;

		hash = digest_port(hash, nh->port, ports, n);
		hash = digest_port(hash, nh->ingress, ports, n);
		hash = to_hash(hash, &nh->weight, sizeof(nh->weight));
		hash = to_hash(hash, nh->mac, sizeof(nh->mac));
		hash = to_hash(hash, &backup, sizeof(backup));
	}
	return hash;
}

/* Digest of group @id; its number is no part of it. */
static uint64_t digest_find_group(const struct to_kernel_table *table, const uint64_t *groups,
				  uint32_t id)
{
	if (id < table->n_groups && table->groups[id].id == id)
		return groups[id];
	for (unsigned int i = 0; i < table->n_groups; i++)
		if (table->groups[i].id == id)
			return groups[i];
	return 0;
}

int to_table_digest(const struct to_kernel_table *table, const struct to_table_port *ports,
		    unsigned int n, uint64_t *digest)
{
	uint64_t *groups = malloc((table->n_groups + 1) * sizeof(*groups));
	uint64_t sum = table->n_routes;

	if (!groups)
		return -ENOMEM;
	for (unsigned int i = 0; i < table->n_groups; i++)
		groups[i] = digest_group(&table->groups[i], ports, n);
	for (unsigned int i = 0; i < table->n_routes; i++) {
		const struct to_kernel_route *r = &table->routes[i];
		const uint64_t group = digest_find_group(table, groups, r->group);
		const uint8_t lengths[] = { r->family, r->dst_len, r->src_len, r->type };
		uint64_t hash = to_hash(TO_HASH_BEGIN, r->dst, sizeof(r->dst));

		hash = to_hash(hash, r->src, sizeof(r->src));
		hash = to_hash(hash, lengths, sizeof(lengths));
		hash = to_hash(hash, &r->server, sizeof(r->server));
		/* a sum, as their order says nothing */
		sum += to_hash(hash, &group, sizeof(group));
	}
	free(groups);
	*digest = sum;
	return 0;
}
