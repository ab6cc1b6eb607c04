// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzer of the relay: frames of all kinds, truncated at every length and
 * mutated, go into its ports; what comes out is held against a model
 * (frame_model.h), byte by byte and in the order of their port.
 *
 *   fuzz_frames SEED FRAMES NETNS TABLE [forge|wild]
 *
 * Runs in the relay's namespace. TABLE says what the relay has:
 *
 *   port NAME MAC NEXT-HOP-MAC MTU PEER|tap|down
 *   group ID PORT[,PORT] BACKUP|-
 *   route PREFIX SOURCE-PREFIX|any GROUP-ID|local [GROUP-ID]
 *   neighbour PORT NAME SERVER SERVER-PORT
 *
 * PEER is the other end of a veth, in NETNS; a tap has packets with a virtio
 * header. A relay of this NAME expects a neighbour's continuity checks at PORT.
 * Frames go into the first port and into the taps, there with any part
 * of them outside the linear buffer. With "forge", they also claim offloads
 * that they may not have; then nothing but where they may come out is checked.
 * With "wild", devices are even told to write checksums into the IP header, and
 * it is only checked that good packets go on passing.
 *
 * Prints how many frames met which fate; status 1, and the frame, when the
 * relay did something else.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "frame_check.h"
#include "frame_model.h"
#include "frame_random.h"

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5	/* since 6.2 */
#endif
#define BATCH 32
#define MAX_SENTRIES 16384	/* a forged aggregate may come in half as many pieces */

/* One injected frame, and what has to come of it. */
struct shot {
	struct frame in, out;
	unsigned int port;
	enum model_verdict verdict;
	uint32_t ports;
};

static struct {
	struct model model;
	char name[MODEL_PORTS][IFNAMSIZ];
	int fd[MODEL_PORTS];		/* peer or tap, -1 for none */
	bool tap[MODEL_PORTS];
	bool forge, wild;		/* peers have a virtio header, too */
	bool honest;
	struct shot shot[BATCH];
	unsigned int shots;
	struct frame *got[MODEL_PORTS];	/* in order of arrival */
	unsigned int gots[MODEL_PORTS];
	unsigned long number, refused, count[MODEL_VERDICTS];
	uint64_t seed;
	uint32_t fence;
	char names[3][16];
	struct check_names check;	/* without a relay: none is expected */
	unsigned int check_port;
} fuzz;

static const char *const verdicts[] = {
	[MODEL_CORE] = "core", [MODEL_PASS] = "pass", [MODEL_LOCAL] = "local",
	[MODEL_MISS] = "miss", [MODEL_RELAY] = "relay", [MODEL_DROP_HEADER] = "header",
	[MODEL_DROP_TTL] = "ttl", [MODEL_DROP_MTU] = "mtu", [MODEL_DROP_NO_PORT] = "no-port",
};

/* --- the table --- */

static unsigned int find_port(const char *name)
{
	unsigned int i;

	for (i = 0; i < fuzz.model.ports; i++)
		if (!strcmp(fuzz.name[i], name))
			return i;
	die("no port '%s'", name);
}

static void read_mac(const char *text, uint8_t *mac)
{
	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3,
		   mac + 4, mac + 5) != 6)
		die("no MAC address: %s", text);
}

static unsigned int read_prefix(char *text, uint8_t *address, unsigned int *bytes)
{
	char *slash = strchr(text, '/');

	if (slash)
		*slash = 0;
	*bytes = strchr(text, ':') ? 16 : 4;
	if (inet_pton(*bytes == 4 ? AF_INET : AF_INET6, text, address) != 1)
		die("no address: %s", text);
	return slash ? strtoul(slash + 1, NULL, 10) : 8 * *bytes;
}

static int open_tap(const char *name)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK), room = 1 << 22;

	memcpy(request.ifr_name, name, strnlen(name, IFNAMSIZ - 1));
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request) || ioctl(fd, TUNSETOFFLOAD, 0))
		die("tap %s: %s", name, strerror(errno));
	/* Limited, it takes the path that honours the length of the linear part. */
	ioctl(fd, TUNSETSNDBUF, &room);
	return fd;
}

static int open_peer(const char *name)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(name) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0), on = 1, room = 1 << 25;

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    (fuzz.forge && setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on))))
		die("%s: %s", name, strerror(errno));
	return fd;
}

static void read_port(const char *name, char *mac, char *hop, char *mtu, char *peer)
{
	unsigned int i = fuzz.model.ports++;
	struct model_port *port = &fuzz.model.port[i];

	memcpy(fuzz.name[i], name, strnlen(name, IFNAMSIZ - 1));
	read_mac(mac, port->mac);
	read_mac(hop, port->hop);
	port->mtu = strtoul(mtu, NULL, 10);
	port->up = strcmp(peer, "down");
	fuzz.tap[i] = !strcmp(peer, "tap");
	fuzz.fd[i] = fuzz.tap[i] ? open_tap(name) : port->up ? open_peer(peer) : -1;
	fuzz.got[i] = calloc(MAX_SENTRIES, sizeof(struct frame));
}

static void read_group(unsigned int id, char *primaries, const char *backup)
{
	struct model_group *group = &fuzz.model.group[id];
	char *name, *rest;

	for (name = strtok_r(primaries, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		group->primary[group->primaries++] = find_port(name);
	group->backup = strcmp(backup, "-") ? (int)find_port(backup) : -1;
}

static void read_route(char *dst, char *src, const char *group, const char *local_group)
{
	struct model_route *route = &fuzz.model.route[fuzz.model.routes++];

	route->dst_len = read_prefix(dst, route->dst, &route->bytes);
	if (strcmp(src, "any"))
		route->src_len = read_prefix(src, route->src, &route->bytes);
	route->local = !strcmp(group, "local");
	if (route->local)
		group = *local_group ? local_group : "-1";
	route->group = atoi(group);
}

static void read_neighbour(const char *port, char words[][64])
{
	for (unsigned int i = 0; i < COUNT(fuzz.names); i++)
		memcpy(fuzz.names[i], words[i], strnlen(words[i], sizeof(fuzz.names[i]) - 1));
	fuzz.check = (struct check_names){ fuzz.names[0], fuzz.names[1], fuzz.names[2] };
	fuzz.check_port = find_port(port);
}

/* The peers are opened in the namespace, the taps in ours. */
static void read_table(const char *file, const char *netns)
{
	char line[256], word[6][64], path[280];
	int home = open("/proc/self/ns/net", O_RDONLY), there;
	FILE *stream = fopen(file, "r");

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	there = open(path, O_RDONLY);
	if (!stream || home < 0 || there < 0)
		die("%s or %s: %s", file, path, strerror(errno));
	while (fgets(line, sizeof(line), stream)) {
		memset(word, 0, sizeof(word));
		sscanf(line, "%63s %63s %63s %63s %63s %63s", word[0], word[1], word[2], word[3],
		       word[4], word[5]);
		if (!strcmp(word[0], "port")) {
			if (setns(strcmp(word[5], "tap") ? there : home, CLONE_NEWNET))
				die("setns: %s", strerror(errno));
			read_port(word[1], word[2], word[3], word[4], word[5]);
		} else if (!strcmp(word[0], "group")) {
			read_group(atoi(word[1]), word[2], word[3]);
		} else if (!strcmp(word[0], "route")) {
			read_route(word[1], word[2], word[3], word[4]);
		} else if (!strcmp(word[0], "neighbour")) {
			read_neighbour(word[1], word + 2);
		}
	}
	fclose(stream);
}

/* --- in and out --- */

/* Offloads as a liar would claim them. */
static void forge(struct virtio_net_hdr *header, const struct frame *f)
{
	static const uint8_t types[] = { VIRTIO_NET_HDR_GSO_TCPV4, VIRTIO_NET_HDR_GSO_TCPV6,
		VIRTIO_NET_HDR_GSO_UDP, VIRTIO_NET_HDR_GSO_UDP_L4, VIRTIO_NET_HDR_GSO_NONE };
	static const uint16_t sizes[] = { 1, 8, 100, 536, 1400, 1448, 65535 };
	unsigned int l4 = 14, check;

	while (f->data[l4 - 2] == 0x81 || f->data[l4 - 2] == 0x88)
		l4 += 4;
	l4 += f->data[l4 - 1] == 0xdd ? 40 : 20;

	header->gso_type = one_in(20) ? below(256) : types[below(COUNT(types))];
	if (one_in(10))
		header->gso_type |= VIRTIO_NET_HDR_GSO_ECN;
	header->gso_size = one_in(10) ? below(65536) : sizes[below(COUNT(sizes))];
	header->flags = one_in(4) ? 0 : VIRTIO_NET_HDR_F_NEEDS_CSUM;
	check = fuzz.wild ? 0 : l4;
	header->csum_start = one_in(6) ? check + below(f->len) : l4;
	header->csum_offset = one_in(6) ? below(64) : one_in(2) ? 16 : 6;
	header->hdr_len = one_in(2) ? l4 + 20 : below(f->len + 1);
}

/* Return: false when the kernel does not take it. */
static bool inject(unsigned int port, struct frame *f)
{
	struct virtio_net_hdr header = {};
	struct iovec part[] = { { &header, sizeof(header) }, { f->data, f->len } };
	bool plain = !fuzz.tap[port] && !fuzz.forge;
	struct msghdr message = { .msg_iov = part + plain, .msg_iovlen = 2 - plain };

	if (fuzz.forge && !fuzz.honest && !one_in(4))
		forge(&header, f);
	else if (fuzz.tap[port])
		header.hdr_len = 14 + below(f->len < 128 ? f->len - 13 : 114);
	if (fuzz.tap[port])
		return writev(fuzz.fd[port], part, 2) > 0;
	return sendmsg(fuzz.fd[port], &message, 0) > 0;
}

static ssize_t receive_peer(unsigned int port, struct frame *f)
{
	struct virtio_net_hdr header;
	struct iovec part[] = { { &header, sizeof(header) }, { f->data, sizeof(f->data) - 4 } };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control;
	struct msghdr message = { .msg_iov = part + !fuzz.forge, .msg_iovlen = 1 + fuzz.forge,
		.msg_control = &control, .msg_controllen = sizeof(control) };
	const struct tpacket_auxdata *aux;
	struct cmsghdr *head;
	ssize_t len;

	len = recvmsg(fuzz.fd[port], &message, 0);
	if (len < 0)
		return len;
	len -= fuzz.forge ? sizeof(header) : 0;
	for (head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
		aux = (const struct tpacket_auxdata *)CMSG_DATA(head);
		if (head->cmsg_type != PACKET_AUXDATA || !(aux->tp_status & TP_STATUS_VLAN_VALID))
			continue;
		memmove(f->data + 16, f->data + 12, len - 12);
		f->data[12] = aux->tp_vlan_tpid >> 8;
		f->data[13] = aux->tp_vlan_tpid;
		f->data[14] = aux->tp_vlan_tci >> 8;
		f->data[15] = aux->tp_vlan_tci;
		len += 4;
	}
	return len;
}

/*
 * What the relay's own stack says is not relayed: to many, ARP, or from its
 * address, which no mutation makes of another one.
 */
static bool own(const struct frame *f)
{
	static const uint8_t v4[] = { 10, 6, 77, 177 };
	static const uint8_t v6[16] = { 0xfd, 0, 0, 6, [12] = 0xb1, 0xb1, 0x7e, 0x57 };
	unsigned int at = 12;

	while (at + 6 < f->len && ((f->data[at] == 0x81 && !f->data[at + 1]) ||
				   (f->data[at] == 0x88 && f->data[at + 1] == 0xa8)))
		at += 4;
	at += 2;
	return f->data[0] & 1 || (f->data[at - 2] == 8 && f->data[at - 1] == 6) ||
	       (f->len >= at + 16 && !memcmp(f->data + at + 12, v4, 4)) ||
	       (f->len >= at + 24 && !memcmp(f->data + at + 8, v6, 16));
}

static void receive_all(void)
{
	struct virtio_net_hdr header;
	struct iovec part[] = { { &header, sizeof(header) }, {} };
	struct frame *f;
	unsigned int port;
	ssize_t len;

	for (port = 0; port < fuzz.model.ports; port++) {
		while (fuzz.fd[port] >= 0 && fuzz.gots[port] < MAX_SENTRIES) {
			f = &fuzz.got[port][fuzz.gots[port]];
			part[1] = (struct iovec){ f->data, sizeof(f->data) };
			len = fuzz.tap[port] ? readv(fuzz.fd[port], part, 2) - (ssize_t)sizeof(header) :
					       receive_peer(port, f);
			if (len < 0)
				break;
			f->len = len;
			fuzz.gots[port] += !(port == fuzz.check_port &&
					     frame_check_hear(f, &fuzz.check)) && !own(f);
		}
	}
}

/* --- the verdict --- */

static void dump(const char *what, const struct frame *f)
{
	size_t i;

	fprintf(stderr, "%s, %zu bytes:", what, f->len);
	for (i = 0; i < f->len && i < 160; i++)
		fprintf(stderr, "%s%02x", i % 32 ? "" : "\n  ", f->data[i]);
	fputc('\n', stderr);
}

static void __attribute__((noreturn)) blame(const struct shot *shot, unsigned int port,
					    const struct frame *got)
{
	fprintf(stderr, "seed %llu, before frame %lu: a frame for '%s', into %s\n",
		(unsigned long long)fuzz.seed, fuzz.number, verdicts[shot->verdict],
		fuzz.name[shot->port]);
	dump("sent", &shot->in);
	if (shot->verdict == MODEL_RELAY)
		dump("to come out but for addresses", &shot->out);
	if (got) {
		fprintf(stderr, "out of %s came\n", fuzz.name[port]);
		dump("", got);
	}
	exit(1);
}

static bool as_expected(const struct shot *shot, unsigned int port, const struct frame *got)
{
	return got->len == shot->out.len &&
	       !memcmp(got->data, fuzz.model.port[port].hop, 6) &&
	       !memcmp(got->data + 6, fuzz.model.port[port].mac, 6) &&
	       !memcmp(got->data + 12, shot->out.data + 12, got->len - 12);
}

/*
 * Frames that came in by one port stay in order. Those of a tap are relayed at
 * once and may overtake those of a veth, which wait in the kernel's backlog.
 */
static bool arrived(const struct shot *shot, unsigned int port, unsigned int *next, bool *taken)
{
	unsigned int i;

	for (i = next[shot->port]; i < fuzz.gots[port] && i < BATCH; i++) {
		if (taken[i] || !as_expected(shot, port, &fuzz.got[port][i]))
			continue;
		taken[i] = true;
		next[shot->port] = i + 1;
		return true;
	}
	return false;
}

static const struct frame *first_untaken(unsigned int port, const bool *taken)
{
	unsigned int i;

	for (i = 0; i < fuzz.gots[port]; i++)
		if (i == BATCH || !taken[i])
			return &fuzz.got[port][i];
	return NULL;
}

static void compare(void)
{
	unsigned int next[MODEL_PORTS][MODEL_PORTS] = {}, i, port;
	bool taken[MODEL_PORTS][BATCH] = {};
	const struct frame *stray;

	for (i = 0; i < fuzz.shots; i++) {
		struct shot *shot = &fuzz.shot[i];

		if (shot->verdict != MODEL_RELAY)
			continue;
		for (port = 0; port < fuzz.model.ports; port++)
			if (shot->ports & 1U << port && arrived(shot, port, next[port], taken[port]))
				break;
		if (port == fuzz.model.ports) {
			port = __builtin_ctz(shot->ports);
			blame(shot, port, first_untaken(port, taken[port]));
		}
	}
	for (port = 0; port < fuzz.model.ports; port++) {
		stray = first_untaken(port, taken[port]);
		if (stray)
			blame(&fuzz.shot[fuzz.shots - 1], port, stray);
	}
}

/* All that a forged frame must not do: leave by a port that its route has not. */
static void compare_forged(void)
{
	const struct model_route *route;
	unsigned int port, i, at, bytes;
	const struct model_group *group;
	const struct frame *f;
	bool right;

	for (port = 0; port < fuzz.model.ports; port++) {
		for (i = 0; i < fuzz.gots[port]; i++) {
			f = &fuzz.got[port][i];
			for (at = 12; f->data[at] == 0x81 || f->data[at] == 0x88; at += 4)
				;
			at += 2;
			bytes = f->data[at] >> 4 == 4 ? 4 : 16;
			route = model_lookup(&fuzz.model, f->data + at + (bytes == 4 ? 16 : 24),
					     f->data + at + (bytes == 4 ? 12 : 8), bytes);
			right = route && route->group >= 0;
			if (right) {
				group = &fuzz.model.group[route->group];
				right = group->primary[0] == (int)port || group->backup == (int)port ||
					(group->primaries > 1 && group->primary[1] == (int)port);
			}
			if (!right || memcmp(f->data, fuzz.model.port[port].hop, 6) ||
			    memcmp(f->data + 6, fuzz.model.port[port].mac, 6))
				blame(&fuzz.shot[0], port, f);
		}
	}
}

/* --- the run --- */

static struct shot *shoot(unsigned int port, const struct frame *frame)
{
	struct shot *shot = &fuzz.shot[fuzz.shots];

	shot->in = *frame;
	shot->port = port;
	shot->verdict = model_judge(&fuzz.model, port, frame->data, frame->len, shot->out.data,
				    &shot->out.len, &shot->ports);
	fuzz.number++;
	if (inject(port, &shot->in)) {
		fuzz.shots++;
		fuzz.count[shot->verdict]++;
	} else {
		fuzz.refused++;
	}
	return shot;
}

/* The number of a fence that has come out of a port, or 0. */
static uint32_t fence_of(unsigned int port)
{
	uint32_t number = 0;
	unsigned int i;

	for (i = fuzz.gots[port]; i-- && !number;)
		if (fuzz.got[port][i].len == 50 && !memcmp(fuzz.got[port][i].data + 42, "FENC", 4))
			memcpy(&number, fuzz.got[port][i].data + 46, 4);
	return number;
}

/*
 * A good packet to every port that one may leave by: once it has come out, so
 * has all that was sent before. Return: the ports that it did not come out of.
 */
static uint32_t fence(int seconds)
{
	struct timespec start, now;
	unsigned int i, port, check;
	struct frame f;
	uint32_t waiting = 0;

	fuzz.fence++;
	fuzz.honest = true;
	for (i = 0; i < fuzz.model.routes; i++) {
		const struct model_route *route = &fuzz.model.route[i];

		if (route->bytes != 4 || route->src_len || route->local ||
		    route->dst[0] != 10 || fuzz.model.group[route->group].primaries > 1)
			continue;
		port = fuzz.model.group[route->group].primary[0];
		if (!fuzz.model.port[port].up || waiting & 1U << port)
			continue;
		f.len = 0;
		memcpy(f.data, fuzz.model.port[0].mac, 6);
		memcpy(f.data + 6, fuzz.model.port[0].hop, 6);
		f.len = 12;
		put16(&f, 0x0800);
		put16(&f, 0x4500);
		put16(&f, 36);
		put16(&f, fuzz.fence);
		put16(&f, 0);
		put16(&f, 0x4011);
		put16(&f, 0);
		put16(&f, 0x0a09);
		put16(&f, 1);
		memcpy(f.data + f.len, route->dst, 4);
		f.data[f.len + 3] = 200;
		f.len += 4;
		put16(&f, 9);
		put16(&f, 9);
		put16(&f, 16);
		put16(&f, 0);
		memcpy(f.data + f.len, "FENC", 4);
		memcpy(f.data + f.len + 4, &fuzz.fence, 4);
		f.len += 8;
		check = model_checksum(f.data + 14, 20);
		f.data[24] = check >> 8;
		f.data[25] = check;
		waiting |= 1U << port;
		shoot(0, &f);
	}
	fuzz.honest = false;
	clock_gettime(CLOCK_MONOTONIC, &start);
	while (waiting) {
		receive_all();
		for (port = 0; port < fuzz.model.ports; port++)
			if (waiting & 1U << port && fence_of(port) == fuzz.fence)
				waiting &= ~(1U << port);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec > seconds)
			break;
	}
	return waiting;
}

static void forget(void)
{
	unsigned int port;

	for (port = 0; port < fuzz.model.ports; port++)
		fuzz.gots[port] = 0;
	fuzz.shots = 0;
}

static void flush(void)
{
	uint32_t missing = fence(20);

	if (!fuzz.forge)
		compare();
	else if (missing)
		die("seed %llu, before frame %lu: good packets do not pass any more",
		    (unsigned long long)fuzz.seed, fuzz.number);
	else if (!fuzz.wild)
		compare_forged();
	forget();
}

/* A tap has carrier, and is a next hop, some time after it was opened. */
static void settle(void)
{
	unsigned int tries, lost;
	uint32_t missing;

	for (tries = 0; (missing = fence(1)); tries++) {
		if (tries == 20)
			die("good packets do not pass");
		lost = __builtin_popcount(missing);
		fuzz.count[MODEL_RELAY] -= lost;
		fuzz.count[MODEL_DROP_NO_PORT] += lost;
		forget();
	}
	forget();
}

static unsigned int some_way_in(void)
{
	unsigned int port;

	do
		port = below(fuzz.model.ports);
	while (port && !fuzz.tap[port]);
	return port;
}

/* A check that arrives where one is expected, or at @port. Return: which of them. */
static unsigned int make_check(struct frame *f, unsigned int port)
{
	port = one_in(3) ? port : fuzz.check_port;
	frame_check_make(f, &fuzz.check, fuzz.model.port[port].mac,
			 fuzz.model.port[fuzz.check_port].hop);
	return port;
}

int main(int argc, char **argv)
{
	unsigned long frames, cut = 0;
	unsigned int port = 0, i;
	struct frame whole = {}, f;
	cpu_set_t first;

	if (argc < 5) {
		fprintf(stderr, "usage: fuzz_frames SEED FRAMES NETNS TABLE [forge|wild]\n");
		return 2;
	}
	fuzz.seed = strtoull(argv[1], NULL, 0);
	frame_random_init(&fuzz.model, fuzz.seed);
	frames = strtoul(argv[2], NULL, 0);
	fuzz.forge = argc > 5;
	fuzz.wild = fuzz.forge && !strcmp(argv[5], "wild");
	/* One processor, so that frames of a port stay in order. */
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	read_table(argv[4], argv[3]);
	settle();

	while (fuzz.number < frames) {
		/* Of some frames, every beginning; of the others, what chance makes of them. */
		if (cut) {
			f = whole;
			f.len = cut--;
			if (cut < 14)
				cut = 0;
		} else {
			port = some_way_in();
			if (fuzz.check.relay && one_in(8))
				port = make_check(&f, port);
			else
				frame_random_make(&f, port);
			if (one_in(200)) {
				whole = f;
				cut = f.len < 300 ? f.len : 300;
			} else if (one_in(3)) {
				frame_random_mutate(&f);
			}
		}
		shoot(port, &f);
		if (fuzz.shots > BATCH - MODEL_PORTS)
			flush();
	}
	if (fuzz.shots)
		flush();
	printf("frames %lu refused %lu", fuzz.number, fuzz.refused);
	for (i = 0; i < MODEL_VERDICTS; i++)
		printf(" %s %lu", verdicts[i], fuzz.count[i]);
	putchar('\n');
	return 0;
}
