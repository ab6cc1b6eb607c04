// SPDX-License-Identifier: GPL-2.0-or-later
/* The relay's duties, as frame_model.h says. */

#include <string.h>

#include "frame_model.h"

static unsigned int model_be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

uint16_t model_checksum(const uint8_t *data, size_t len)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += model_be16(data + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* --- the table --- */

static bool model_covers(const uint8_t *prefix, unsigned int bits, const uint8_t *addr)
{
	unsigned int i;

	for (i = 0; i < bits; i++)
		if ((prefix[i / 8] ^ addr[i / 8]) & 0x80 >> i % 8)
			return false;
	return true;
}

const struct model_route *model_lookup(const struct model *model, const uint8_t *dst,
				       const uint8_t *src, unsigned int bytes)
{
	const struct model_route *best = NULL, *route;
	unsigned int i;

	for (i = 0; i < model->routes; i++) {
		route = &model->route[i];
		if (route->bytes != bytes || !model_covers(route->dst, route->dst_len, dst) ||
		    !model_covers(route->src, route->src_len, src))
			continue;
		if (!best || route->dst_len > best->dst_len ||
		    (route->dst_len == best->dst_len && route->src_len > best->src_len))
			best = route;
	}
	return best;
}

/* The ports that a group may use now. */
static uint32_t model_choices(const struct model *model, const struct model_group *group)
{
	uint32_t ports = 0;
	unsigned int i;

	for (i = 0; i < group->primaries; i++)
		if (model->port[group->primary[i]].up)
			ports |= 1U << group->primary[i];
	if (!ports && group->backup >= 0 && model->port[group->backup].up)
		ports = 1U << group->backup;
	return ports;
}

/* --- addresses and options --- */

/* RFC 1122, 3927: this network, loopback, link-local, multicast and above. */
static bool model_scoped4(const uint8_t *a)
{
	return a[0] == 0 || a[0] == 127 || (a[0] == 169 && a[1] == 254) || a[0] >= 224;
}

/* RFC 4291: multicast, link-local, unspecified, loopback, IPv4-compatible. */
static bool model_scoped6(const uint8_t *a)
{
	static const uint8_t zero[8];

	return a[0] == 0xff || (a[0] == 0xfe && (a[1] & 0xc0) == 0x80) || !memcmp(a, zero, 8);
}

/* RFC 791: whether a router has to look at them, or to complain of them. */
static bool model_options4(const uint8_t *option, unsigned int len)
{
	unsigned int i = 0;

	while (i < len && option[i] != 0) {
		if (option[i] == 1) {
			i++;
			continue;
		}
		/* source routes, router alert */
		if (option[i] == 131 || option[i] == 137 || option[i] == 148)
			return true;
		if (len - i < 2 || option[i + 1] < 2 || option[i + 1] > len - i)
			return true;
		i += option[i + 1];
	}
	return false;
}

/* RFC 8200, 2711, 2675: the same for hop-by-hop options; @len to the end of the packet. */
static bool model_options6(const uint8_t *header, unsigned int len)
{
	unsigned int i = 2, end;

	if (len < 8)
		return true;
	end = (header[1] + 1) * 8;
	if (end > len)
		return true;
	while (i < end) {
		if (header[i] == 0) {
			i++;
			continue;
		}
		/* router alert, jumbo payload */
		if (header[i] == 5 || header[i] == 0xc2 || end - i < 2 ||
		    header[i + 1] + 2U > end - i)
			return true;
		i += 2 + header[i + 1];
	}
	return false;
}

/* --- packets --- */

struct model_packet {
	const uint8_t *ip;
	unsigned int room;	/* bytes to the end of the frame */
	unsigned int len;	/* of the packet, once it is found right */
	unsigned int bytes;	/* of an address */
	const uint8_t *dst, *src;
};

/* Before anything is said about the rest: is it IP at all? */
static bool model_parse(struct model_packet *packet, unsigned int type)
{
	const uint8_t *ip = packet->ip;

	if (type == 0x0800 && packet->room >= 20 && ip[0] >> 4 == 4 && (ip[0] & 15) >= 5) {
		packet->bytes = 4;
		packet->src = ip + 12;
		packet->dst = ip + 16;
		return true;
	}
	if (type == 0x86dd && packet->room >= 40 && ip[0] >> 4 == 6) {
		packet->bytes = 16;
		packet->src = ip + 8;
		packet->dst = ip + 24;
		return true;
	}
	return false;
}

static enum model_verdict model_check4(struct model_packet *packet)
{
	const uint8_t *ip = packet->ip;
	unsigned int head = (ip[0] & 15) * 4;

	packet->len = model_be16(ip + 2);
	if (model_scoped4(packet->dst) || model_scoped4(packet->src))
		return MODEL_PASS;
	if (head > packet->room)
		return MODEL_DROP_HEADER;
	if (model_options4(ip + 20, head - 20))
		return MODEL_PASS;
	if (packet->len < head || packet->len > packet->room || model_checksum(ip, head))
		return MODEL_DROP_HEADER;
	return ip[8] <= 1 ? MODEL_DROP_TTL : MODEL_RELAY;
}

static enum model_verdict model_check6(struct model_packet *packet)
{
	const uint8_t *ip = packet->ip;
	unsigned int end;

	packet->len = 40 + model_be16(ip + 4);
	if (model_scoped6(packet->dst) || model_scoped6(packet->src))
		return MODEL_PASS;
	end = packet->len < packet->room ? packet->len : packet->room;
	if (ip[6] == 0 && model_options6(ip + 40, end - 40))
		return MODEL_PASS;
	if (packet->len > packet->room)
		return MODEL_DROP_HEADER;
	return ip[7] <= 1 ? MODEL_DROP_TTL : MODEL_RELAY;
}

/* RFC 8200: the protocol of an unfragmented packet, which starts at *@at; -1 of others. */
static int model_protocol6(const struct model_packet *packet, unsigned int *at)
{
	const uint8_t *header;
	int proto = packet->ip[6];

	for (*at = 40;; proto = header[0]) {
		header = packet->ip + *at;
		switch (proto) {
		case 0:
		case 43:
		case 44:
		case 51:
		case 60:
			break;
		case 59:
			return -1;
		default:
			return proto;
		}
		if (*at + 2 > packet->room)
			return -1;
		if (proto == 44 && (*at + 4 > packet->room || model_be16(header + 2)))
			return -1;
		*at += proto == 44 ? 8 : proto == 51 ? (header[1] + 2) * 4 : (header[1] + 1) * 8;
	}
}

/* InfiniBand's annex A17: UDP to port 4791. */
static bool model_roce(const struct model_packet *packet)
{
	unsigned int at = (packet->ip[0] & 15) * 4;
	int proto = packet->ip[9];

	if (packet->bytes == 16)
		proto = model_protocol6(packet, &at);
	else if (model_be16(packet->ip + 6) & 0x3fff)
		return false;
	return proto == 17 && at + 4 <= packet->room && model_be16(packet->ip + at + 2) == 4791;
}

/* Whether what is for this server came in by a port of the route's group, or needs none. */
static bool model_home(const struct model *model, const struct model_route *route,
		       const struct model_packet *packet, unsigned int in)
{
	const struct model_group *group = &model->group[route->group];
	unsigned int i;

	if (route->group < 0 || group->backup == (int)in)
		return true;
	for (i = 0; i < group->primaries; i++)
		if (group->primary[i] == (int)in)
			return true;
	return !model_roce(packet);
}

static void model_hop(uint8_t *ip, unsigned int bytes)
{
	unsigned int head = (ip[0] & 15) * 4, check;

	if (bytes == 16) {
		ip[7]--;
		return;
	}
	ip[8]--;
	ip[10] = ip[11] = 0;
	check = model_checksum(ip, head);
	ip[10] = check >> 8;
	ip[11] = check;
}

enum model_verdict model_judge(const struct model *model, unsigned int in,
			       const uint8_t *frame, size_t len, uint8_t *out,
			       size_t *out_len, uint32_t *ports)
{
	const struct model_route *route;
	struct model_packet packet = {};
	unsigned int at = 12, type, tags, i;
	enum model_verdict verdict;

	type = model_be16(frame + at);
	for (tags = 0; type == 0x8100 || type == 0x88a8; tags++) {
		/* The core takes the first tag off, and wants to see what follows. */
		if (!tags && len < at + 8)
			return MODEL_CORE;
		if (tags == 2 || len < at + 6)
			return MODEL_PASS;
		at += 4;
		type = model_be16(frame + at);
	}
	if (memcmp(frame, model->port[in].mac, 6))
		return MODEL_PASS;
	packet.ip = frame + at + 2;
	packet.room = len - at - 2;
	if (!model_parse(&packet, type))
		return MODEL_PASS;
	route = model_lookup(model, packet.dst, packet.src, packet.bytes);
	if (!route)
		return MODEL_MISS;
	if (route->local && model_home(model, route, &packet, in))
		return MODEL_LOCAL;
	verdict = packet.bytes == 4 ? model_check4(&packet) : model_check6(&packet);
	if (verdict != MODEL_RELAY)
		return verdict;

	*ports = model_choices(model, &model->group[route->group]);
	if (!*ports)
		return MODEL_DROP_NO_PORT;
	for (i = 0; i < model->ports; i++)
		if (*ports & 1U << i && packet.len > model->port[i].mtu)
			return MODEL_DROP_MTU;
	*out_len = packet.ip - frame + packet.len;
	memcpy(out, frame, *out_len);
	model_hop(out + (packet.ip - frame), packet.bytes);
	return MODEL_RELAY;
}
