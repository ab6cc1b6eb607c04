// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One server's part of an iteration over UDP, for packets.sh: sends all of its flows at once,
 * each paced at RATE, and receives what others send.
 *
 *	paced RATE PORT BYTES START <FLOWS
 *
 * RATE: bit/s of a flow on the wire; BYTES: of payload that come here, at UDP port PORT;
 * START: by the realtime clock, ns; FLOWS: a line "ADDRESS BYTES" each. Prints the seconds
 * from START until everything was sent and has come, as JSON; fails when that takes a minute.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define PACED_PAYLOAD 4172u	/* of an MTU of 4200 */
#define PACED_HEADERS 42u	/* of Ethernet, IPv4 and UDP */
#define PACED_QUEUE (16 << 20)	/* bytes of a socket's queues */
#define PACED_FLOWS 64
#define PACED_PATIENCE 60e9	/* ns */

struct flow {
	int fd;
	uint64_t left, next_ns;
};

static void paced_fail(const char *what)
{
	fprintf(stderr, "paced: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int paced_socket(void)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), size = PACED_QUEUE;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		paced_fail("socket");
	return fd;
}

/* Return: how many there are. */
static unsigned int paced_read_flows(struct flow *flows, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	char address[INET_ADDRSTRLEN];
	unsigned int n = 0;

	while (n < PACED_FLOWS && scanf("%15s %" SCNu64, address, &flows[n].left) == 2) {
		flows[n].fd = paced_socket();
		if (inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
		    connect(flows[n].fd, (struct sockaddr *)&to, sizeof(to)))
			paced_fail(address);
		n++;
	}
	return n;
}

/* Send what is due. Return: when something is next, UINT64_MAX when all was sent. */
static uint64_t paced_send(struct flow *flows, unsigned int n, double rate, uint64_t now)
{
	static const char payload[PACED_PAYLOAD];
	uint64_t next = UINT64_MAX;

	for (struct flow *f = flows; f < flows + n; f++) {
		while (f->left && f->next_ns <= now) {
			const uint64_t size = f->left < PACED_PAYLOAD ? f->left : PACED_PAYLOAD;

			if (send(f->fd, payload, size, 0) != (ssize_t)size)
				paced_fail("send");
			f->left -= size;
			f->next_ns += (size + PACED_HEADERS) * 8e9 / rate;
		}
		if (f->left && f->next_ns < next)
			next = f->next_ns;
	}
	return next;
}

int main(int argc, char **argv)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct flow flows[PACED_FLOWS];
	uint64_t expected, start, begin, now, next, received = 0;
	struct pollfd in = { .events = POLLIN };
	static char buffer[PACED_PAYLOAD];
	unsigned int n;
	double rate;

	if (argc != 5) {
		fprintf(stderr, "usage: paced RATE PORT BYTES START <FLOWS\n");
		return 2;
	}
	rate = atof(argv[1]);
	any.sin_port = htons(atoi(argv[2]));
	expected = strtoull(argv[3], NULL, 10);
	start = strtoull(argv[4], NULL, 10);
	in.fd = paced_socket();
	if (bind(in.fd, (struct sockaddr *)&any, sizeof(any)))
		paced_fail("bind");
	n = paced_read_flows(flows, ntohs(any.sin_port));
	to_clock_sleep_until(start);
	begin = now = to_clock_monotonic_ns();
	for (unsigned int i = 0; i < n; i++)
		flows[i].next_ns = begin;
	while ((next = paced_send(flows, n, rate, now)) != UINT64_MAX || received < expected) {
		const uint64_t wait = next < now + 100000000 ? next - now : 100000000;
		const struct timespec pause = { .tv_nsec = wait };
		ssize_t got;

		if (ppoll(&in, 1, &pause, NULL) < 0)
			paced_fail("ppoll");
		while ((got = recv(in.fd, buffer, sizeof(buffer), 0)) > 0)
			received += got;
		now = to_clock_monotonic_ns();
		if (now - begin > PACED_PATIENCE) {
			fprintf(stderr, "paced: %" PRIu64 " of %" PRIu64 " bytes have come\n", received, expected);
			return 1;
		}
	}
	printf("{\"seconds\": %.6f}\n", (now - begin) * 1e-9);
	return 0;
}
