// SPDX-License-Identifier: GPL-2.0
/* Frames of continuity checks, written and read. */

#include <linux/ctype.h>
#include <linux/etherdevice.h>
#include <linux/string.h>
#include <linux/topoopt.h>

#include "ccm.h"

#define TOPOOPT_CCM_OPCODE	1
#define TOPOOPT_CCM_RDI		BIT(7)
#define TOPOOPT_CCM_INTERVAL	GENMASK(2, 0)
#define TOPOOPT_CCM_TLV_TYPE	31
#define TOPOOPT_CCM_VERSION	1
#define TOPOOPT_CCM_TABLE	BIT(0)
#define TOPOOPT_CCM_UP		BIT(1)
#define TOPOOPT_CCM_EXPECTS	BIT(2)

const u8 topoopt_ccm_group[ETH_ALEN] = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x30 + TOPOOPT_CCM_LEVEL
};

/* Header of a CCM; the first TLV follows. */
struct topoopt_ccm_header {
	u8 level_version;
	u8 opcode;
	u8 flags;
	u8 tlv_offset;		/* from behind this byte */
	__be32 sequence;
	__be16 mep;
	u8 maid[48];
	u8 y1731[16];
} __packed;

static_assert(sizeof(struct topoopt_ccm_header) == TOPOOPT_CCM_TLV);

/* The organisation-specific TLV, and the end of TLVs. */
struct topoopt_ccm_tlv {
	u8 type;
	__be16 length;
	u8 company[3];
	u8 subtype;
	u8 version;
	u8 flags;
	__be64 fabric;
	__be64 nonce;
	__be64 echo;
	__be64 generation;
	__be32 largest;
	u8 mac[ETH_ALEN];
	char server[TOPOOPT_CCM_SERVER];
	char port[TOPOOPT_CCM_PORT];
	__be64 authentication;
	u8 end;
} __packed;

static_assert(sizeof(struct topoopt_ccm_header) + sizeof(struct topoopt_ccm_tlv) ==
	      TOPOOPT_CCM_LEN);

/* What all our TLVs begin with. */
static const u8 topoopt_ccm_start[] = {
	TOPOOPT_CCM_TLV_TYPE, 0, offsetof(struct topoopt_ccm_tlv, end) - 3,
	0x02, 0x54, 0x4f, 1
};

/* No domain name, and an association whose name is text. */
static const u8 topoopt_ccm_maid[48] = { 1, 2, 7, 't', 'o', 'p', 'o', 'o', 'p', 't' };

static u64 topoopt_ccm_authenticate(const u8 *pdu, const siphash_key_t *key)
{
	return siphash(pdu, TOPOOPT_CCM_TLV + offsetof(struct topoopt_ccm_tlv, authentication),
		       key);
}

void topoopt_ccm_write(u8 *pdu, const struct topoopt_ccm *ccm, const siphash_key_t *key)
{
	struct topoopt_ccm_tlv *tlv = (void *)(pdu + TOPOOPT_CCM_TLV);
	struct topoopt_ccm_header *header = (void *)pdu;

	memset(pdu, 0, TOPOOPT_CCM_LEN);
	header->level_version = TOPOOPT_CCM_LEVEL << 5;
	header->opcode = TOPOOPT_CCM_OPCODE;
	header->flags = ccm->interval | (ccm->rdi ? TOPOOPT_CCM_RDI : 0);
	header->tlv_offset = TOPOOPT_CCM_TLV - offsetofend(struct topoopt_ccm_header, tlv_offset);
	header->sequence = cpu_to_be32(ccm->sequence);
	header->mep = cpu_to_be16(ccm->mep);
	memcpy(header->maid, topoopt_ccm_maid, sizeof(header->maid));

	memcpy(tlv, topoopt_ccm_start, sizeof(topoopt_ccm_start));
	tlv->version = TOPOOPT_CCM_VERSION;
	tlv->flags = (ccm->table ? TOPOOPT_CCM_TABLE : 0) | (ccm->up ? TOPOOPT_CCM_UP : 0) |
		     (ccm->expects ? TOPOOPT_CCM_EXPECTS : 0);
	tlv->fabric = cpu_to_be64(ccm->fabric);
	tlv->nonce = cpu_to_be64(ccm->nonce);
	tlv->echo = cpu_to_be64(ccm->echo);
	tlv->generation = cpu_to_be64(ccm->generation);
	tlv->largest = cpu_to_be32(ccm->largest);
	ether_addr_copy(tlv->mac, ccm->mac);
	memcpy(tlv->server, ccm->server, sizeof(tlv->server));
	memcpy(tlv->port, ccm->port, sizeof(tlv->port));
	tlv->authentication = cpu_to_be64(topoopt_ccm_authenticate(pdu, key));
}

bool topoopt_ccm_ours(const u8 *pdu, unsigned int len)
{
	const struct topoopt_ccm_header *header = (const void *)pdu;

	return len >= TOPOOPT_CCM_LEN && header->opcode == TOPOOPT_CCM_OPCODE &&
	       header->tlv_offset ==
	       TOPOOPT_CCM_TLV - offsetofend(struct topoopt_ccm_header, tlv_offset) &&
	       !memcmp(pdu + TOPOOPT_CCM_TLV, topoopt_ccm_start, sizeof(topoopt_ccm_start));
}

bool topoopt_ccm_name_valid(const char *name, size_t size)
{
	size_t len = strnlen(name, size), i;

	for (i = 0; i < len; i++)
		if (!isascii(name[i]) || (!isalnum(name[i]) && !strchr("._-", name[i])))
			return false;
	return len && len < size;
}

static bool topoopt_ccm_read_name(char *name, const char *from, size_t size)
{
	if (!topoopt_ccm_name_valid(from, size))
		return false;
	strscpy_pad(name, from, size);
	return true;
}

bool topoopt_ccm_read(const u8 *pdu, const siphash_key_t *key, struct topoopt_ccm *ccm)
{
	const struct topoopt_ccm_tlv *tlv = (const void *)(pdu + TOPOOPT_CCM_TLV);
	const struct topoopt_ccm_header *header = (const void *)pdu;

	ccm->interval = header->flags & TOPOOPT_CCM_INTERVAL;
	if (tlv->version != TOPOOPT_CCM_VERSION ||
	    ccm->interval < TOPOOPT_CHECK_INTERVAL_3MS ||
	    ccm->interval > TOPOOPT_CHECK_INTERVAL_1S ||
	    be64_to_cpu(tlv->authentication) != topoopt_ccm_authenticate(pdu, key) ||
	    !topoopt_ccm_read_name(ccm->server, tlv->server, sizeof(ccm->server)) ||
	    !topoopt_ccm_read_name(ccm->port, tlv->port, sizeof(ccm->port)))
		return false;
	ccm->sequence = be32_to_cpu(header->sequence);
	ccm->mep = be16_to_cpu(header->mep);
	ccm->rdi = header->flags & TOPOOPT_CCM_RDI;
	ccm->table = tlv->flags & TOPOOPT_CCM_TABLE;
	ccm->up = tlv->flags & TOPOOPT_CCM_UP;
	ccm->expects = tlv->flags & TOPOOPT_CCM_EXPECTS;
	ccm->fabric = be64_to_cpu(tlv->fabric);
	ccm->nonce = be64_to_cpu(tlv->nonce);
	ccm->echo = be64_to_cpu(tlv->echo);
	ccm->generation = be64_to_cpu(tlv->generation);
	ccm->largest = be32_to_cpu(tlv->largest);
	ether_addr_copy(ccm->mac, tlv->mac);
	return true;
}
