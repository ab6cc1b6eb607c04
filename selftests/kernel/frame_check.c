// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_check.h"

#include <string.h>

/* Offsets in the frame. */
enum {
	CHECK_PDU = 14,
	CHECK_MAID = CHECK_PDU + 10,
	CHECK_TLV = CHECK_PDU + 74,
	CHECK_NONCE = CHECK_TLV + 17,
	CHECK_SERVER = CHECK_TLV + 51,
	CHECK_AUTHENTICATION = CHECK_TLV + 131,
	CHECK_BYTES = CHECK_TLV + 140,
};

#define CHECK_FABRIC 7

static struct {
	uint8_t nonce[8];	/* of the relay, from its last check */
	uint64_t own;		/* nonce of the neighbour */
	uint32_t sequence;
} check;

static uint64_t rotate(uint64_t x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_rounds(uint64_t *v, unsigned int rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

/* SipHash-2-4 (Aumasson and Bernstein 2012) with the key of a fabric that has none: zeros. */
static uint64_t sip(const uint8_t *data, size_t len)
{
	uint64_t v[] = { 0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261,
			 0x7465646279746573 };
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		word |= (uint64_t)data[i] << 8 * (i % 8);
		if (i % 8 != 7)
			continue;
		v[3] ^= word;
		sip_rounds(v, 2);
		v[0] ^= word;
		word = 0;
	}
	word |= (uint64_t)len << 56;
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void put64(uint8_t *at, uint64_t value)
{
	for (unsigned int i = 0; i < 8; i++)
		at[i] = value >> (56 - 8 * i);
}

static void put32(uint8_t *at, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		at[i] = value >> (24 - 8 * i);
}

/* The name that is expected, or one of others: the relay's, any, none, one without an end. */
static void put_name(uint8_t *at, size_t size, const char *expected, const char *relay)
{
	unsigned int i, len;

	if (!one_in(6)) {
		memcpy(at, expected, strlen(expected));
	} else if (one_in(4)) {
		memcpy(at, relay, strlen(relay));
	} else {
		len = below(size + 1);
		for (i = 0; i < len; i++)
			at[i] = one_in(40) ? below(256) : 'a' + below(26);
	}
}

static void put_tlv(uint8_t *tlv, const struct check_names *names, const uint8_t *mac)
{
	static const uint8_t start[] = { 31, 0, 136, 0x02, 0x54, 0x4f, 1, 1 };

	memcpy(tlv, start, sizeof(start));
	tlv[8] = one_in(4) ? below(256) : 3;
	put64(tlv + 9, one_in(10) ? below(20) : CHECK_FABRIC);
	if (one_in(50))
		check.own = (uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX);
	put64(tlv + 17, check.own);
	if (!one_in(4))
		memcpy(tlv + 25, check.nonce, 8);
	put64(tlv + 33, below(1000));
	put32(tlv + 41, one_in(10) ? below(UINT32_MAX) : 1514);
	memcpy(tlv + 45, mac, 6);
	if (one_in(10))
		tlv[45 + below(6)] ^= 1 << below(8);
	put_name(tlv + 51, 64, names->server, names->relay);
	put_name(tlv + 115, 16, names->port, names->relay);
}

static void damage(struct frame *f)
{
	unsigned int i;

	for (i = 1 + below(4); i--;) {
		if (one_in(6))
			f->len = CHECK_PDU + below(f->len - CHECK_PDU + 1);
		else
			f->data[CHECK_PDU + below(CHECK_BYTES - CHECK_PDU)] ^= 1 << below(8);
		if (f->len <= CHECK_PDU)
			return;
	}
}

void frame_check_make(struct frame *f, const struct check_names *names, const uint8_t *to,
		      const uint8_t *from)
{
	static const uint8_t group[] = { 0x01, 0x80, 0xc2, 0, 0, 0x30 };
	static const uint8_t maid[] = { 1, 2, 7, 't', 'o', 'p', 'o', 'o', 'p', 't' };
	uint8_t *pdu = f->data + CHECK_PDU;

	memset(f->data, 0, CHECK_BYTES);
	memcpy(f->data, one_in(8) ? group : to, 6);
	memcpy(f->data + 6, from, 6);
	f->len = 12;
	put16(f, 0x8902);
	pdu[1] = 1;
	pdu[2] = one_in(10) ? below(256) : 1 + below(4);
	pdu[3] = 70;
	check.sequence += one_in(20) ? below(UINT32_MAX) : 1;
	put32(pdu + 4, check.sequence);
	memcpy(f->data + CHECK_MAID, maid, sizeof(maid));
	put_tlv(f->data + CHECK_TLV, names, from);
	put64(f->data + CHECK_AUTHENTICATION,
	      sip(pdu, CHECK_AUTHENTICATION - CHECK_PDU));
	f->len = CHECK_BYTES + (one_in(10) ? below(1200) : 0);
	memset(f->data + CHECK_BYTES, 0, f->len - CHECK_BYTES);
	if (one_in(4))
		damage(f);
}

bool frame_check_hear(const struct frame *f, const struct check_names *names)
{
	if (!names->relay || f->len < CHECK_BYTES || f->data[12] != 0x89 || f->data[13] != 0x02 ||
	    strncmp((const char *)f->data + CHECK_SERVER, names->relay, 64))
		return false;
	memcpy(check.nonce, f->data + CHECK_NONCE, sizeof(check.nonce));
	return true;
}
