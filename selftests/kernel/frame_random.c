// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_random.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/random.h"

static struct {
	const struct model *model;
	uint64_t state;
} frames;

void frame_random_init(const struct model *model, uint64_t seed)
{
	frames.model = model;
	frames.state = seed;
}

uint32_t below(uint32_t bound)
{
	return to_random_below(&frames.state, bound);
}

bool one_in(uint32_t n)
{
	return !below(n);
}

static void put8(struct frame *f, unsigned int value)
{
	f->data[f->len++] = value;
}

void put16(struct frame *f, unsigned int value)
{
	put8(f, value >> 8);
	put8(f, value & 0xff);
}

static void put_noise(struct frame *f, unsigned int len)
{
	while (len--)
		put8(f, below(256));
}

/* Inside a prefix of the table, or one of those that no relay may take. */
static void put_address(struct frame *f, unsigned int bytes, bool source)
{
	static const char *const special[] = { "0.0.0.0", "127.0.0.1", "169.254.1.1", "224.0.0.1",
		"255.255.255.255", "240.0.0.1", "10.99.0.1", "::", "::1", "fe80::1", "ff02::1",
		"::ffff:10.1.0.1", "fd99::1" };
	const struct model_route *route;
	uint8_t *at = f->data + f->len;
	const char *text;

	f->len += bytes;
	if (one_in(12)) {
		do
			text = special[below(COUNT(special))];
		while (!strchr(text, ':') != (bytes == 4));
		inet_pton(bytes == 4 ? AF_INET : AF_INET6, text, at);
		return;
	}
	do
		route = &frames.model->route[below(frames.model->routes)];
	while (route->bytes != bytes ||
	       (source && (route->local || (!route->src_len && !one_in(4)))));
	memcpy(at, source && route->src_len ? route->src : route->dst, bytes);
	if (at[bytes - 1] == 0)
		at[bytes - 1] = below(8);
}

static void put_transport(struct frame *f, unsigned int proto)
{
	static const uint16_t sizes[] = { 1372, 1458, 1472, 1473, 4000, 4172, 4173, 8900 };
	unsigned int size = one_in(20) ? sizes[below(COUNT(sizes))] : below(80);

	switch (proto) {
	case 17:
		put16(f, 1024 + below(4));
		put16(f, one_in(2) ? 4791 : 9);
		put16(f, one_in(10) ? below(65536) : 8 + size);
		put16(f, below(65536));
		break;
	case 6:
		put16(f, 1024 + below(4));
		put16(f, 9);
		put_noise(f, 8);
		put8(f, one_in(10) ? below(256) : 0x50);
		put_noise(f, 7);
		break;
	}
	put_noise(f, size);
}

static void put_options4(struct frame *f, unsigned int len)
{
	static const uint8_t kinds[] = { 0, 1, 1, 7, 7, 68, 130, 131, 137, 148, 25 };
	size_t end = f->len + len;
	unsigned int n;

	while (f->len < end) {
		put8(f, one_in(20) ? below(256) : kinds[below(COUNT(kinds))]);
		if (f->data[f->len - 1] < 2 || f->len == end)
			continue;
		n = end - f->len + 1;
		if (!one_in(10))
			n = n < 4 ? n : 4;
		put8(f, one_in(10) ? below(44) : n);
		while (n-- > 2 && f->len < end)
			put8(f, below(256));
	}
}

static void put_ip4(struct frame *f)
{
	static const uint8_t protos[] = { 17, 17, 6, 1, 47 };
	static const uint8_t ttls[] = { 64, 64, 64, 255, 2, 1, 0 };
	unsigned int options = one_in(3) ? 4 * below(11) : 0, check;
	unsigned int proto = one_in(20) ? below(256) : protos[below(COUNT(protos))];
	uint8_t *ip = f->data + f->len;

	put8(f, 0x45 + options / 4);
	put8(f, below(256));
	put16(f, 0);
	put16(f, below(65536));
	put16(f, one_in(6) ? below(65536) : 0x4000);
	put8(f, ttls[below(COUNT(ttls))]);
	put8(f, proto);
	put16(f, 0);
	put_address(f, 4, true);
	put_address(f, 4, false);
	put_options4(f, options);
	put_transport(f, proto);
	ip[2] = (f->data + f->len - ip) >> 8;
	ip[3] = f->data + f->len - ip;
	check = model_checksum(ip, 20 + options) ^ (one_in(16) ? 1 << below(16) : 0);
	ip[10] = check >> 8;
	ip[11] = check;
}

/* An extension header in front of the next one. */
static void put_extension(struct frame *f, unsigned int kind, unsigned int next)
{
	static const uint8_t options[] = { 0, 1, 5, 0xc2, 0x1e, 0x63 };
	unsigned int units = one_in(4) ? below(4) : 0, end;

	put8(f, next);
	if (kind == 44) {
		put8(f, 0);
		put16(f, one_in(2) ? 0 : below(65536));
		put_noise(f, 4);
		return;
	}
	if (kind == 51) {
		put8(f, 4 + units);
		put_noise(f, 4 * (4 + units) + 6);
		return;
	}
	put8(f, units);
	end = f->len + 6 + 8 * units;
	if (kind == 43) {
		put_noise(f, end - f->len);
		return;
	}
	while (f->len < end) {
		put8(f, one_in(12) ? below(256) : options[one_in(3) ? below(COUNT(options)) : 0]);
		if (!f->data[f->len - 1] || f->len == end)
			continue;
		put8(f, one_in(10) ? below(256) : below(end - f->len));
		put_noise(f, f->data[f->len - 1] < end - f->len ? f->data[f->len - 1] : end - f->len);
	}
}

static void put_ip6(struct frame *f)
{
	static const uint8_t kinds[] = { 0, 60, 43, 44, 51, 60 };
	static const uint8_t protos[] = { 17, 17, 6, 58, 59 };
	unsigned int proto = one_in(20) ? below(256) : protos[below(COUNT(protos))];
	unsigned int chain[8], n = one_in(3) ? below(7) : 0, i;
	uint8_t *ip = f->data + f->len;

	for (i = 0; i < n; i++)
		chain[i] = i ? kinds[below(COUNT(kinds))] : kinds[below(2)];
	chain[n] = proto;
	put16(f, 0x6000 | below(4096));
	put_noise(f, 2);
	put16(f, 0);
	put8(f, chain[0]);
	put8(f, one_in(4) ? below(4) : 64);
	put_address(f, 16, true);
	put_address(f, 16, false);
	for (i = 0; i < n; i++)
		put_extension(f, chain[i], chain[i + 1]);
	put_transport(f, proto);
	i = f->data + f->len - ip - 40;
	ip[4] = i >> 8;
	ip[5] = i;
}

void frame_random_make(struct frame *f, unsigned int port)
{
	static const uint16_t tpids[] = { 0x8100, 0x8100, 0x88a8, 0x9100 };
	static const uint16_t types[] = { 0x0806, 0x8847, 0x8915, 0x0100, 0x88cc };
	unsigned int tags = one_in(3) ? below(4) : 0;
	bool v6 = one_in(2);

	f->len = 0;
	memcpy(f->data, frames.model->port[port].mac, 6);
	if (one_in(40))
		f->data[below(6)] ^= 1 << below(8);
	f->len = 6;
	put16(f, 0x0255);
	put_noise(f, 4);
	while (tags--) {
		put16(f, tpids[below(COUNT(tpids))]);
		put16(f, below(65536));
	}
	put16(f, one_in(40) ? types[below(COUNT(types))] : v6 ? 0x86dd : 0x0800);
	if (v6)
		put_ip6(f);
	else
		put_ip4(f);
	if (one_in(8))
		put_noise(f, 1 + below(60));
}

/* The checksum is corrected most of the time, so that the damage goes deeper. */
void frame_random_mutate(struct frame *f)
{
	unsigned int at = 12, i, head, check;

	for (i = 1 + below(4); i--;) {
		switch (below(4)) {
		case 0:
			f->data[14 + below(f->len < 80 ? f->len - 14 : 66)] ^= 1 << below(8);
			break;
		case 1:
			f->data[12 + below(f->len < 60 ? f->len - 12 : 48)] = below(256);
			break;
		case 2:
			f->len = 14 + below(f->len - 13);
			break;
		case 3:
			/* version and header length, or total length */
			while (at + 6 < f->len && (f->data[at] == 0x81 || f->data[at] == 0x88))
				at += 4;
			if (at + 8 < f->len)
				f->data[at + (one_in(2) ? 2 : 4 + below(4))] = below(256);
			break;
		}
		if (f->len < 15)
			return;
	}
	for (at = 12; at + 6 < f->len && (f->data[at] == 0x81 || f->data[at] == 0x88); at += 4)
		;
	at += 2;
	head = (f->data[at] & 15) * 4;
	if (one_in(4) || at + head > f->len || head < 20 || f->data[at] >> 4 != 4)
		return;
	f->data[at + 10] = f->data[at + 11] = 0;
	check = model_checksum(f->data + at, head);
	f->data[at + 10] = check >> 8;
	f->data[at + 11] = check;
}
