// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/probe.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define NS_PER_MS 1000000ull
#define FRAME_MAX (65536 + ETH_HLEN)
#define ROUNDS 8	/* an ARP request may be lost */
#define ANSWERS_MAX 4096

struct arp_frame {
	struct ethhdr eth;
	uint16_t htype, ptype;
	uint8_t hlen, plen;
	uint16_t op;
	uint8_t sha[6];
	uint8_t spa[4];
	uint8_t tha[6];
	uint8_t tpa[4];
} __attribute__((packed));

struct echo_frame {
	struct ethhdr eth;
	struct iphdr ip;
	struct icmphdr icmp;
} __attribute__((packed));

static int probe_socket(uint32_t ifindex, uint16_t protocol)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_protocol = htons(protocol),
		.sll_ifindex = ifindex,
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int code;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&at, sizeof(at))) {
		code = -errno;
		close(fd);
		return code;
	}
	return fd;
}

int to_probe_open(struct to_probe *probe, uint32_t ifindex, const uint8_t *mac,
		  struct to_error *err)
{
	probe->ifindex = ifindex;
	memcpy(probe->mac, mac, 6);
	probe->ip = -1;
	probe->arp = probe_socket(ifindex, ETH_P_ARP);
	if (probe->arp >= 0)
		probe->ip = probe_socket(ifindex, ETH_P_IP);
	if (probe->arp < 0 || probe->ip < 0) {
		int code = probe->arp < 0 ? probe->arp : probe->ip;

		to_probe_close(probe);
		return to_error_set(err, code, "packet socket: %s", strerror(-code));
	}
	return 0;
}

void to_probe_close(struct to_probe *probe)
{
	if (probe->arp >= 0)
		close(probe->arp);
	if (probe->ip >= 0)
		close(probe->ip);
	probe->arp = probe->ip = -1;
}

/* Next frame before @end_ns; its length, or -ETIMEDOUT or another errno. */
static ssize_t probe_receive(int fd, void *frame, size_t size, uint64_t end_ns)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now = to_clock_monotonic_ns();
		ssize_t len;

		if (now >= end_ns)
			return -ETIMEDOUT;
		if (poll(&p, 1, (end_ns - now) / NS_PER_MS + 1) < 0 && errno != EINTR)
			return -errno;
		len = recv(fd, frame, size, 0);
		if (len >= 0)
			return len;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
}

static int probe_arp_ask(const struct to_probe *probe, struct in_addr target)
{
	struct arp_frame f = {
		.eth.h_proto = htons(ETH_P_ARP), .htype = htons(ARPHRD_ETHER),
		.ptype = htons(ETH_P_IP), .hlen = 6, .plen = 4,
		.op = htons(ARPOP_REQUEST),
	};

	memset(f.eth.h_dest, 0xff, 6);
	memcpy(f.eth.h_source, probe->mac, 6);
	memcpy(f.sha, probe->mac, 6);
	memcpy(f.tpa, &target, 4);
	return send(probe->arp, &f, sizeof(f), 0) < 0 ? -errno : 0;
}

/* Whether @f answers a question of @probe for one of @targets. */
static bool probe_answers(const struct to_probe *probe, const struct arp_frame *f,
			  const struct in_addr *targets, unsigned int n)
{
	if (f->op != htons(ARPOP_REPLY) || memcmp(f->tha, probe->mac, 6))
		return false;
	for (unsigned int i = 0; i < n; i++)
		if (!memcmp(f->spa, &targets[i], 4))
			return true;
	return false;
}

int to_probe_arp(struct to_probe *probe, const struct in_addr *targets, unsigned int n,
		 const uint8_t (*wanted)[6], unsigned int n_wanted, int timeout_ms, uint8_t mac[6])
{
	uint64_t end = to_clock_monotonic_ns() + timeout_ms * NS_PER_MS;
	bool answered = false;
	struct arp_frame f;
	int ret;

	for (unsigned int i = 0; i < n; i++) {
		ret = probe_arp_ask(probe, targets[i]);
		if (ret)
			return ret;
	}
	for (;;) {
		ssize_t len = probe_receive(probe->arp, &f, sizeof(f), end);

		if (len == -ETIMEDOUT && answered)
			return 0;
		if (len < 0)
			return len;
		if (len < (ssize_t)sizeof(f) || !probe_answers(probe, &f, targets, n))
			continue;
		memcpy(mac, f.sha, 6);
		answered = true;
		for (unsigned int i = 0; i < n_wanted; i++)
			if (!memcmp(mac, wanted[i], 6))
				return 0;
	}
}

/* Is @f an answer to one of @targets, or another's question? */
static bool probe_tells(const struct to_probe *probe, const struct arp_frame *f,
			const struct in_addr *targets, unsigned int n)
{
	if (f->op == htons(ARPOP_REQUEST))
		return memcmp(f->sha, probe->mac, 6);
	return probe_answers(probe, f, targets, n);
}

static int probe_note_answer(const struct arp_frame *f, struct to_answers *answers)
{
	struct to_answer answer = {}, *more;

	if (f->op == htons(ARPOP_REPLY))
		memcpy(&answer.address, f->spa, 4);
	memcpy(answer.mac, f->sha, 6);
	for (unsigned int i = 0; i < answers->n; i++)
		if (answers->items[i].address.s_addr == answer.address.s_addr &&
		    !memcmp(answers->items[i].mac, answer.mac, sizeof(answer.mac)))
			return 0;
	if (answers->n == ANSWERS_MAX)
		return -E2BIG;
	more = realloc(answers->items, (answers->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	answers->items = more;
	more[answers->n++] = answer;
	return 0;
}

/* What has come to @probe; 0 or a negative errno. */
static int probe_note_all(const struct to_probe *probe, const struct in_addr *targets,
			  unsigned int n, struct to_answers *answers)
{
	struct arp_frame f;
	ssize_t len;
	int ret = 0;

	while (!ret && (len = recv(probe->arp, &f, sizeof(f), 0)) >= 0)
		if (len >= (ssize_t)sizeof(f) && probe_tells(probe, &f, targets, n))
			ret = probe_note_answer(&f, answers);
	return ret ? ret : errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

int to_probe_arp_all(const struct to_probe *probes, unsigned int n_probes,
		     const struct in_addr *targets, unsigned int n, int timeout_ms,
		     struct to_answers *answers)
{
	struct pollfd *polls = calloc(n_probes + 1, sizeof(*polls));
	const uint64_t begin = to_clock_monotonic_ns();
	int ret = polls ? 0 : -ENOMEM;
	uint64_t now;

	for (unsigned int p = 0; !ret && p < n_probes; p++)
		polls[p] = (struct pollfd){ .fd = probes[p].arp, .events = POLLIN };
	for (unsigned int round = 0; !ret && round < ROUNDS; round++) {
		const uint64_t end = begin + timeout_ms * NS_PER_MS * (round + 1) / ROUNDS;

		for (unsigned int i = 0; !ret && i < n_probes * n; i++)
			ret = probe_arp_ask(&probes[i / n], targets[i % n]);
		while (!ret && (now = to_clock_monotonic_ns()) < end) {
			if (poll(polls, n_probes, (end - now) / NS_PER_MS + 1) < 0 && errno != EINTR)
				ret = -errno;
			for (unsigned int p = 0; !ret && p < n_probes; p++)
				ret = probe_note_all(&probes[p], targets, n, &answers[p]);
		}
	}
	free(polls);
	return ret;
}

static uint16_t probe_checksum(const void *data, size_t len)
{
	const uint16_t *p = data;
	uint32_t sum = 0;

	for (; len > 1; len -= 2)
		sum += *p++;
	if (len)
		sum += *(const uint8_t *)p;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void probe_echo_fill(struct echo_frame *f, const struct to_probe *probe,
			    struct in_addr src, struct in_addr dst,
			    const uint8_t *mac, unsigned int size)
{
	memcpy(f->eth.h_dest, mac, 6);
	memcpy(f->eth.h_source, probe->mac, 6);
	f->eth.h_proto = htons(ETH_P_IP);
	f->ip = (struct iphdr){
		.version = 4, .ihl = 5, .tot_len = htons(size), .ttl = 1,
		.frag_off = htons(IP_DF), .protocol = IPPROTO_ICMP,
		.saddr = src.s_addr, .daddr = dst.s_addr,
	};
	f->ip.check = probe_checksum(&f->ip, sizeof(f->ip));
	f->icmp = (struct icmphdr){
		.type = ICMP_ECHO, .un.echo.id = htons(getpid()),
		.un.echo.sequence = htons(size),
	};
	f->icmp.checksum = probe_checksum(&f->icmp, size - sizeof(f->ip));
}

int to_probe_echo(struct to_probe *probe, struct in_addr src, struct in_addr dst,
		  const uint8_t *mac, unsigned int size, int timeout_ms)
{
	uint64_t end = to_clock_monotonic_ns() + timeout_ms * NS_PER_MS;
	struct echo_frame *f = calloc(1, FRAME_MAX);
	ssize_t len;
	int ret;

	if (!f)
		return -ENOMEM;
	probe_echo_fill(f, probe, src, dst, mac, size);
	ret = send(probe->ip, f, ETH_HLEN + size, 0) < 0 ? -errno : 0;
	while (!ret) {
		len = probe_receive(probe->ip, f, FRAME_MAX, end);
		if (len < 0)
			ret = len;
		else if (len >= (ssize_t)sizeof(*f) && f->ip.ihl == 5 &&
			 f->ip.protocol == IPPROTO_ICMP &&
			 f->ip.saddr == dst.s_addr && f->ip.daddr == src.s_addr &&
			 f->icmp.type == ICMP_ECHOREPLY &&
			 f->icmp.un.echo.id == htons(getpid()) &&
			 f->icmp.un.echo.sequence == htons(size))
			break;
	}
	free(f);
	return ret;
}
