/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FRAME_MODEL_H
#define FRAME_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a relay has to do with a frame, written from the RFCs and from the spec
 * of the table, to hold the module against; shares no code with it.
 */

#define MODEL_HOPS 2
#define MODEL_PORTS 8

enum model_verdict {
	MODEL_CORE,		/* the kernel drops it before the module sees it */
	MODEL_PASS,		/* left to the stack, not counted */
	MODEL_LOCAL,
	MODEL_MISS,
	MODEL_RELAY,
	MODEL_DROP_HEADER,
	MODEL_DROP_TTL,
	MODEL_DROP_MTU,
	MODEL_DROP_NO_PORT,
	MODEL_VERDICTS
};

/**
 * struct model_port - port of the relay
 * @mac: of the port
 * @mtu: of the port
 * @hop: MAC address of the next hop behind it
 * @up: it has carrier
 */
struct model_port {
	uint8_t mac[6], hop[6];
	unsigned int mtu;
	bool up;
};

/**
 * struct model_group - next hop group: primaries, then a backup
 * @primary: ports of the primaries, @primaries of them
 * @backup: port of the backup, or -1
 */
struct model_group {
	int primary[MODEL_HOPS], backup;
	unsigned int primaries;
};

/**
 * struct model_route - route of the table
 * @bytes: 4 or 16, of the addresses
 * @dst_len: in bits; @src_len likewise, 0 when the source does not matter
 * @local: for this server
 * @group: index, or -1: none, as a local route may have
 */
struct model_route {
	unsigned int bytes, dst_len, src_len;
	uint8_t dst[16], src[16];
	bool local;
	int group;
};

struct model {
	struct model_port port[MODEL_PORTS];
	struct model_group group[MODEL_PORTS];
	struct model_route route[64];
	unsigned int ports, groups, routes;
};

/**
 * model_judge() - what happens to a frame
 * @model: ports and table
 * @in: port that it arrives at
 * @frame: with its MAC header and VLAN tags, @len bytes
 * @out: frame as it leaves, without MAC addresses; as large as @frame
 * @out_len: its length, only for MODEL_RELAY
 * @ports: bit per port that it may leave by, one of which it must
 */
enum model_verdict model_judge(const struct model *model, unsigned int in,
			       const uint8_t *frame, size_t len, uint8_t *out,
			       size_t *out_len, uint32_t *ports);

/* The checksum of RFC 1071 over an even number of bytes; 0 if it was right. */
uint16_t model_checksum(const uint8_t *data, size_t len);

/* The route of a packet, or NULL; addresses of @bytes bytes. */
const struct model_route *model_lookup(const struct model *model, const uint8_t *dst,
				       const uint8_t *src, unsigned int bytes);

#endif
