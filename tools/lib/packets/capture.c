// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/capture.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <string.h>

#define CAPTURE_MAGIC 0xa1b23c4d	/* nanoseconds */
#define CAPTURE_HEADERS 128	/* room for those of a packet */
#define CAPTURE_SNAP 16384
#define CAPTURE_DSCP (26 << 2)		/* the class that Documentation/queues.md gives RoCEv2 */
#define CAPTURE_ECT 2
#define CAPTURE_CE 3
#define CAPTURE_ICRC 4
#define CAPTURE_TIMESTAMPS 12
#define CAPTURE_PSN 0xffffff
#define CAPTURE_ECE 0x40

enum capture_opcode {
	CAPTURE_FIRST = 0x00, CAPTURE_MIDDLE = 0x01, CAPTURE_LAST = 0x02, CAPTURE_ONLY = 0x04,
	CAPTURE_ACK = 0x11, CAPTURE_CNP = 0x81,
};

struct capture_file_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy, snap, link_type;
};

struct capture_record {
	uint32_t seconds, nanoseconds, captured, length;
};

struct capture_bth {
	uint8_t opcode, flags;
	uint16_t partition;
	uint32_t queue_pair, psn;
} __attribute__((packed));

static const uint8_t capture_zeros[CAPTURE_SNAP];

/* Headers, @at bytes of them, then @beyond of zeros: Wireshark refuses RoCEv2 that is cut. */
struct capture_frame {
	uint8_t bytes[CAPTURE_HEADERS];
	size_t at, beyond;
};

void to_packet_capture_begin(FILE *file)
{
	const struct capture_file_header header = { CAPTURE_MAGIC, 2, 4, 0, 0, CAPTURE_SNAP, 1 };

	fwrite(&header, sizeof(header), 1, file);
}

static void capture_put(struct capture_frame *frame, const void *header, size_t size)
{
	memcpy(frame->bytes + frame->at, header, size);
	frame->at += size;
}

static uint32_t capture_receiver(const struct to_packet_simulator *s, uint32_t at)
{
	while (!(s->paths[at] & PACKET_LAST))
		at++;
	return s->ports[packet_link(s, at)].to;
}

/* MAC addresses as of toctl's clusters, of the ports that @link joins. */
static void capture_ethernet(const struct to_packet_simulator *s, uint32_t link,
			     struct capture_frame *frame)
{
	const struct packet_port *port = &s->ports[link];
	const struct ether_header header = {
		.ether_dhost = { 0x02, 0x54, 0x4f, 0, port->to >> 8, port->to },
		.ether_shost = { 0x02, 0x54, 0x4f, 0, port->from >> 8, port->from },
		.ether_type = htons(ETHERTYPE_IP) };

	capture_put(frame, &header, sizeof(header));
}

static uint16_t capture_checksum(const void *header, size_t size)
{
	uint32_t sum = 0;
	uint16_t word;

	for (size_t i = 0; i < size; i += sizeof(word)) {
		memcpy(&word, (const uint8_t *)header + i, sizeof(word));
		sum += word;
	}
	sum = (sum & 0xffff) + (sum >> 16);
	return ~((sum & 0xffff) + (sum >> 16));
}

static void capture_ip(const struct to_packet_simulator *s, const struct to_packet *p,
		       uint32_t from, uint32_t to, int protocol, size_t length,
		       struct capture_frame *frame)
{
	const bool ecn = s->options.transport == TO_TRANSPORT_DCQCN ||
			 s->options.transport == TO_TRANSPORT_DCTCP;
	const bool marked = p->kind == TO_PACKET_DATA && p->marked;
	struct iphdr header = {
		.version = 4, .ihl = 5,
		.tos = CAPTURE_DSCP | (marked ? CAPTURE_CE : ecn ? CAPTURE_ECT : 0),
		.tot_len = htons(sizeof(header) + length), .id = htons(p->number),
		.frag_off = htons(IP_DF), .ttl = 64, .protocol = protocol,
		.saddr = htonl(s->capture.addresses[from]),
		.daddr = htonl(s->capture.addresses[to]) };

	header.check = capture_checksum(&header, sizeof(header));
	capture_put(frame, &header, sizeof(header));
}

static uint8_t capture_opcode(const struct packet_flow *f, const struct to_packet *p)
{
	const uint32_t at = p->number % f->chunk_packets;

	if (p->kind == TO_PACKET_CNP)
		return CAPTURE_CNP;
	if (p->kind != TO_PACKET_DATA)
		return CAPTURE_ACK;
	if (f->chunk_packets == 1)
		return CAPTURE_ONLY;
	return !at ? CAPTURE_FIRST : at + 1 == f->chunk_packets ? CAPTURE_LAST : CAPTURE_MIDDLE;
}

/* @number: of its flow among those of its leg; @extra: bytes behind the BTH. */
static void capture_roce(const struct to_packet_simulator *s, const struct to_packet *p,
			 uint32_t from, uint32_t number, size_t extra, struct capture_frame *frame)
{
	const struct packet_flow *f = &s->flows[p->flow];
	/* an ACK has the number of the last packet that it is for, a NAK that of the first missing */
	const uint32_t psn = p->kind == TO_PACKET_ACK ? p->number - 1 : p->number;
	const struct udphdr udp = { .source = htons(TO_PATH_SOURCE_PORT + number),
		.dest = htons(TO_PATH_ROCE_PORT),
		.len = htons(sizeof(udp) + sizeof(struct capture_bth) + extra + CAPTURE_ICRC) };
	const struct capture_bth bth = { .opcode = capture_opcode(f, p), .partition = 0xffff,
		.queue_pair = htonl((1 + from * 256 + number) & CAPTURE_PSN),
		.psn = htonl(p->kind == TO_PACKET_CNP ? 0 : psn & CAPTURE_PSN) };
	/* syndrome: unlimited credits, or PSN sequence error; a count of messages */
	const uint32_t aeth = htonl((p->kind == TO_PACKET_NAK ? 0x60u : 0x1fu) << 24 |
				    (p->number / f->chunk_packets & CAPTURE_PSN));

	capture_put(frame, &udp, sizeof(udp));
	capture_put(frame, &bth, sizeof(bth));
	if (p->kind == TO_PACKET_ACK || p->kind == TO_PACKET_NAK) {
		capture_put(frame, &aeth, sizeof(aeth));
		extra -= sizeof(aeth);
	}
	frame->beyond = extra + CAPTURE_ICRC;
}

/* Bytes before packet @number of a flow. */
static uint64_t capture_offset(const struct to_packet_simulator *s, const struct packet_flow *f,
			       uint32_t number)
{
	return number / f->chunk_packets * f->chunk +
	       (uint64_t)(number % f->chunk_packets) * s->options.mtu;
}

static void capture_tcp(const struct to_packet_simulator *s, const struct to_packet *p,
			uint32_t number, size_t extra, struct capture_frame *frame)
{
	const bool data = p->kind == TO_PACKET_DATA;
	const uint16_t own = TO_PATH_SOURCE_PORT + number, other = TO_PATH_ROCE_PORT;
	const uint32_t offset = capture_offset(s, &s->flows[p->flow], p->number);
	struct tcphdr tcp = { .source = htons(data ? own : other),
		.dest = htons(data ? other : own), .seq = htonl(data ? 1 + offset : 1),
		.ack_seq = htonl(data ? 1 : 1 + offset), .doff = 8, .window = htons(UINT16_MAX) };
	/* two that do nothing, then timestamps of milliseconds */
	uint8_t options[CAPTURE_TIMESTAMPS] = { 1, 1, 8, 10 };
	const uint32_t now = htonl(s->now / 1000000000);

	tcp.th_flags = TH_ACK;
	if (!data && p->marked && s->options.transport == TO_TRANSPORT_DCTCP)
		tcp.th_flags |= CAPTURE_ECE;
	memcpy(options + 4, &now, sizeof(now));
	capture_put(frame, &tcp, sizeof(tcp));
	capture_put(frame, options, sizeof(options));
	frame->beyond = extra;
}

void to_packet_capture_add(const struct to_packet_simulator *s, const struct to_packet *p)
{
	const struct packet_flow *f = &s->flows[p->flow];
	const uint32_t number = p->flow - s->legs[f->leg].first_flow;
	const uint32_t at = p->kind == TO_PACKET_DATA ? f->path : f->back;
	const uint32_t from = s->ports[packet_link(s, at)].from, to = capture_receiver(s, at);
	const bool tcp = packet_tcp(s);
	const size_t extra = p->wire - s->options.headers;
	struct capture_frame frame = { .at = 0 };
	struct capture_record record;

	capture_ethernet(s, packet_link(s, p->at), &frame);
	if (tcp) {
		capture_ip(s, p, from, to, IPPROTO_TCP,
			   sizeof(struct tcphdr) + CAPTURE_TIMESTAMPS + extra, &frame);
		capture_tcp(s, p, number, extra, &frame);
	} else {
		capture_ip(s, p, from, to, IPPROTO_UDP,
			   sizeof(struct udphdr) + sizeof(struct capture_bth) + extra + CAPTURE_ICRC,
			   &frame);
		capture_roce(s, p, from, number, extra, &frame);
	}
	record = (struct capture_record){ s->now / PACKET_SECOND, s->now % PACKET_SECOND / 1000,
					  frame.at + frame.beyond, frame.at + frame.beyond };
	fwrite(&record, sizeof(record), 1, s->capture.file);
	fwrite(frame.bytes, frame.at, 1, s->capture.file);
	fwrite(capture_zeros, frame.beyond, 1, s->capture.file);
}
