// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESSES_CABLES 255	/* of which each gets a /24 */
#define ADDRESSES_PAIR_BITS 2	/* of a /30, which two ends need */
#define ADDRESSES_NODES (10u << 24 | 200u << 16)	/* 10.200.0.0 */
#define ADDRESSES_PORTS (10u << 24 | 201u << 16)	/* 10.201.0.0 */
#define ADDRESSES_END (10u << 24 | 255u << 16)		/* 10.255.0.0 */
#define ADDRESSES_PORTS_BY_INDEX 54	/* 10.201 to 10.254 */
#define ADDRESSES_SERVERS_BY_INDEX 65534

/**
 * struct numbering - subnets that are handed out one after the other
 * @next, @end: IPv4 addresses that are free, in host byte order
 * @bits: of host numbers in a cable's subnet
 * @n: subnets so far, which number those of IPv6
 */
struct numbering {
	uint64_t next, end;
	unsigned int bits;
	uint32_t n;
};

int to_addresses_prefix_parse(struct to_addresses_prefix *prefix, const char *text)
{
	char address[INET_ADDRSTRLEN], *end;
	const char *slash = strchr(text, '/');
	unsigned long length;
	uint32_t first;

	if (!slash || slash - text >= (ptrdiff_t)sizeof(address))
		return -EINVAL;
	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	length = strtoul(slash + 1, &end, 10);
	if (inet_pton(AF_INET, address, &prefix->network) != 1 || *end || end == slash + 1 ||
	    length < 8 || length > 28 || ntohl(prefix->network.s_addr) & (UINT32_MAX >> length))
		return -EINVAL;
	/* loaders refuse what no host has: 0, 127, and 224 and up */
	first = ntohl(prefix->network.s_addr) >> 24;
	if (!first || first == IN_LOOPBACKNET || first >= 224)
		return -EINVAL;
	prefix->length = length;
	return 0;
}

/* Bits of the host numbers 1 to @n, and of the two that nobody may have. */
static unsigned int addresses_host_bits(uint32_t n)
{
	unsigned int bits = 1;

	while ((1ull << bits) < n + 2ull)
		bits++;
	return bits;
}

/* Host @number, from 1, of IPv6 subnet @subnet and of the IPv4 subnet that begins at @v4. */
static void addresses_set(struct to_address *address, uint32_t v4, uint32_t subnet, uint32_t number)
{
	const uint32_t low = htonl(number);
	const uint32_t middle = htonl(subnet);

	address->has_v4 = address->has_v6 = true;
	address->v4.s_addr = htonl(v4 + number);
	address->v6 = (struct in6_addr){ .s6_addr = { 0xfd, 0, 0x74, 0x6f } };
	memcpy(&address->v6.s6_addr[4], &middle, sizeof(middle));
	memcpy(&address->v6.s6_addr[12], &low, sizeof(low));
}

/* The next subnet with @bits of host numbers, or UINT64_MAX when the prefix is used up. */
static uint64_t addresses_take(struct numbering *numbering, unsigned int bits)
{
	const uint64_t size = 1ull << bits;
	const uint64_t first = (numbering->next + size - 1) & ~(size - 1);

	if (first + size > numbering->end)
		return UINT64_MAX;
	numbering->next = first + size;
	numbering->n++;
	return first;
}

/* Begin with the servers, which are in a subnet of their own. */
static int addresses_begin(struct numbering *numbering, struct to_cluster *c,
			   const struct to_addresses_prefix *prefix)
{
	const uint32_t network = ntohl(prefix->network.s_addr);
	uint64_t nodes = ADDRESSES_NODES;

	*numbering = (struct numbering){ .next = ADDRESSES_PORTS, .end = ADDRESSES_END };
	if (prefix->length) {
		numbering->next = network;
		numbering->end = network + (1ull << (32 - prefix->length));
		nodes = addresses_take(numbering, addresses_host_bits(c->n_servers));
		numbering->n = 0;
	} else if (c->n_servers > ADDRESSES_SERVERS_BY_INDEX) {
		return -ERANGE;
	}
	if (nodes == UINT64_MAX)
		return -ERANGE;
	for (uint32_t s = 0; s < c->n_servers; s++)
		addresses_set(&c->servers[s].address, nodes, 0, s + 1);
	return 0;
}

/* A subnet for the ports at @select, of which each server has one at most. */
static int addresses_segment(struct numbering *numbering, struct to_cluster *c,
			     int (*select)(const struct to_server *server, unsigned int what),
			     unsigned int what)
{
	const unsigned int bits = addresses_host_bits(c->n_servers);
	uint64_t first = 0;

	for (uint32_t s = 0; s < c->n_servers; s++) {
		const int q = select(&c->servers[s], what);

		if (q < 0)
			continue;
		if (!first)
			first = addresses_take(numbering, numbering->bits > bits ? numbering->bits : bits);
		if (first == UINT64_MAX)
			return -ERANGE;
		addresses_set(&c->servers[s].ports[q].address, first, numbering->n, s + 1);
	}
	return 0;
}

/* Port @q of @server, unless it has an address. */
static int addresses_rest(const struct to_server *server, unsigned int q)
{
	return q < server->n_ports && !server->ports[q].address.has_v4 ? (int)q : -1;
}

/* Subnets of @bits for cables, after the servers. Return: 0 or -ERANGE. */
static int addresses_by_cable(struct to_cluster *c, const struct to_addresses_prefix *prefix,
			      unsigned int bits)
{
	struct numbering numbering;
	int ret = addresses_begin(&numbering, c, prefix);

	numbering.bits = bits;
	/* 10.201.1.0 is the first, so that its third number is that of the cable */
	if (!prefix->length && bits == 32 - TO_ADDRESSES_SUBNET)
		numbering.next += 1u << bits;
	for (uint32_t s = 0; s < c->n_servers; s++)
		for (unsigned int q = 0; q < c->servers[s].n_ports; q++)
			c->servers[s].ports[q].address = (struct to_address){};
	for (unsigned int i = 0; !ret && i < c->n_links; i++) {
		const struct to_link *l = &c->links[i];
		uint64_t first;

		if (to_link_is_shared(c, l))
			continue;
		first = addresses_take(&numbering, bits);
		if (first == UINT64_MAX)
			return -ERANGE;
		addresses_set(&c->servers[l->a.server].ports[l->a.port].address, first, numbering.n, 1);
		addresses_set(&c->servers[l->b.server].ports[l->b.port].address, first, numbering.n, 2);
	}
	for (unsigned int on = 1; !ret && on <= c->n_packet_switches; on++)
		ret = addresses_segment(&numbering, c, to_cluster_find_on, on);
	for (unsigned int q = 0; !ret && q < TO_PORTS_MAX; q++)
		ret = addresses_segment(&numbering, c, addresses_rest, q);
	return ret;
}

static int addresses_by_index(struct to_cluster *c, const struct to_addresses_prefix *prefix)
{
	const unsigned int bits = addresses_host_bits(c->n_servers);
	const uint64_t network = ntohl(prefix->network.s_addr);
	struct numbering numbering;
	int ret = addresses_begin(&numbering, c, prefix);

	for (uint32_t s = 0; !ret && s < c->n_servers; s++)
		for (unsigned int q = 0; q < c->servers[s].n_ports; q++) {
			uint64_t first = prefix->length ? network + ((q + 1ull) << bits) :
					 ADDRESSES_PORTS + (q << 16);

			if (prefix->length ? first + s + 1 >= numbering.end : q >= ADDRESSES_PORTS_BY_INDEX)
				return -ERANGE;
			addresses_set(&c->servers[s].ports[q].address, first, q + 1, s + 1);
		}
	return ret;
}

int to_addresses_number(struct to_cluster *c, const struct to_addresses_prefix *prefix,
			struct to_error *err)
{
	unsigned int cables = 0;
	int ret = -ERANGE;

	for (unsigned int i = 0; i < c->n_links; i++)
		cables += !to_link_is_shared(c, &c->links[i]);
	if (c->n_switches || !(cables + c->n_packet_switches)) {
		ret = addresses_by_index(c, prefix);
	} else {
		if (cables <= ADDRESSES_CABLES)
			ret = addresses_by_cable(c, prefix, 32 - TO_ADDRESSES_SUBNET);
		if (ret)
			ret = addresses_by_cable(c, prefix, ADDRESSES_PAIR_BITS);
	}
	if (!ret)
		return 0;
	return to_error_set(err, ret, prefix->length ? "the prefix is too small" :
			    "so many servers and ports take --prefix");
}

/* An IPv4 address, and the cable or packet switch that it is on. */
struct addressed {
	uint32_t address, segment;
};

static int addressed_compare(const void *a, const void *b)
{
	const struct addressed *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* All ports that links or packet switches join; 0 when one of them has no IPv4 address. */
static unsigned int addressed_list(const struct to_cluster *c, const struct to_link *links,
				   unsigned int n_links, struct addressed *list)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < n_links; i++) {
		const struct to_port_ref ends[] = { links[i].a, links[i].b };

		for (unsigned int k = 0; k < 2 && !to_link_is_shared(c, &links[i]); k++) {
			const struct to_address *a = &c->servers[ends[k].server].ports[ends[k].port].address;

			if (!a->has_v4)
				return 0;
			list[n++] = (struct addressed){ ntohl(a->v4.s_addr), i };
		}
	}
	for (uint32_t s = 0; s < c->n_servers; s++)
		for (unsigned int q = 0; q < c->servers[s].n_ports; q++) {
			const struct to_port *port = &c->servers[s].ports[q];

			if (port->packet_switch && !port->address.has_v4)
				return 0;
			if (port->packet_switch)
				list[n++] = (struct addressed){ ntohl(port->address.v4.s_addr),
								n_links + port->packet_switch };
		}
	return n;
}

/*
 * Whether subnets of @bits are the segments: in the order of addresses, two neighbours share
 * a subnet if and only if they share a segment, and no segment comes back later.
 */
static bool addressed_apart(const struct addressed *list, unsigned int n, unsigned int bits,
			    bool *seen)
{
	for (unsigned int i = 0; i < n; i++) {
		const bool same = i && list[i].segment == list[i - 1].segment;
		const bool subnet = i && !((list[i].address ^ list[i - 1].address) >> (32 - bits));

		if (i && same != subnet)
			return false;
		if (!same && seen[list[i].segment])
			return false;
		seen[list[i].segment] = true;
	}
	return true;
}

int to_addresses_subnet(const struct to_cluster *c, const struct to_link *links,
			unsigned int n_links)
{
	const size_t segments = n_links + c->n_packet_switches + 1;
	struct addressed *list;
	unsigned int n = 2 * n_links + 1, bits;
	bool *seen = calloc(segments, sizeof(*seen));
	int ret = 0;

	for (uint32_t s = 0; s < c->n_servers; s++)
		n += c->servers[s].n_ports;
	list = calloc(n, sizeof(*list));
	if (!list || !seen) {
		ret = -ENOMEM;
		goto out;
	}
	n = addressed_list(c, links, n_links, list);
	qsort(list, n, sizeof(*list), addressed_compare);
	for (bits = TO_ADDRESSES_SUBNET; n && !ret && bits < 32; bits++) {
		memset(seen, 0, segments * sizeof(*seen));
		if (addressed_apart(list, n, bits, seen))
			ret = bits;
	}
out:
	free(list);
	free(seen);
	return ret;
}
