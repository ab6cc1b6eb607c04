// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/rendezvous.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define RENDEZVOUS_HERE UINT32_MAX	/* in place of a lane: to meet */
#define RENDEZVOUS_TRY_NS (5 * TO_NS_PER_S)
#define RENDEZVOUS_PAUSE_NS (TO_NS_PER_S / 20)
#define RENDEZVOUS_LOOK_MS 200		/* whether those that are met are still there */

/* First bytes of every connection. */
struct rendezvous_hello {
	uint64_t token;
	uint32_t lane, member;
} __attribute__((packed));

union rendezvous_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static const struct to_server *rendezvous_server(const struct to_rendezvous *r, uint32_t member)
{
	return &r->c->plan->cluster->servers[r->c->members[member]];
}

static int rendezvous_error(const struct to_rendezvous *r, uint32_t member, int code,
			    const char *what, struct to_error *err)
{
	return to_error_set(err, -code, "%s: %s", rendezvous_server(r, member)->name,
			    what ? what : strerror(code));
}

/* Of a server's node or a port, in @family. Return: its length, 0 when there is none. */
static socklen_t rendezvous_address(const struct to_server *server, unsigned int slot, int family,
				    uint16_t port, union rendezvous_address *to)
{
	const struct to_address *a = slot ? &server->ports[slot - 1].address : &server->address;

	memset(to, 0, sizeof(*to));
	if (family == AF_INET && a->has_v4) {
		to->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
		memcpy(&to->v4.sin_addr, &a->v4, sizeof(to->v4.sin_addr));
		return sizeof(to->v4);
	}
	if (family == AF_INET6 && a->has_v6) {
		to->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
		memcpy(&to->v6.sin6_addr, &a->v6, sizeof(to->v6.sin6_addr));
		return sizeof(to->v6);
	}
	return 0;
}

/* Reads and writes give up after @ns, or at the deadline. */
static void rendezvous_patience(const struct to_rendezvous *r, int fd, uint64_t ns)
{
	uint64_t now = to_clock_monotonic_ns();
	uint64_t left = now < r->deadline_ns ? r->deadline_ns - now : 1000;
	struct timeval time;

	left = ns && ns < left ? ns : left;
	time = (struct timeval){ .tv_sec = left / TO_NS_PER_S,
				 .tv_usec = left % TO_NS_PER_S / 1000 };
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

static bool rendezvous_send(int fd, const void *bytes, size_t n)
{
	while (n) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		bytes = (const char *)bytes + sent;
		n -= sent;
	}
	return true;
}

static bool rendezvous_receive(int fd, void *bytes, size_t n)
{
	ssize_t got = n ? recv(fd, bytes, n, MSG_WAITALL) : 0;

	if (got == 0 && n)
		errno = ECONNRESET;
	return (size_t)got == n;
}

/* IPv4 and IPv6, or IPv4 alone where the kernel has no other. Return: the socket, -1. */
static int rendezvous_listen(uint16_t port)
{
	const union rendezvous_address any = {
		.v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) } };
	const union rendezvous_address any4 = {
		.v4 = { .sin_family = AF_INET, .sin_port = htons(port) } };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, zero = 0;
	bool v6 = fd >= 0;

	if (!v6)
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (v6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (!bind(fd, v6 ? &any.any : &any4.any, v6 ? sizeof(any.v6) : sizeof(any4.v4)) &&
	    !listen(fd, SOMAXCONN))
		return fd;
	close(fd);
	return -1;
}

int to_rendezvous_open(struct to_rendezvous *r, struct to_error *err)
{
	struct rlimit files;

	r->listener = -1;
	r->met = malloc(r->c->n * sizeof(*r->met));
	if (!r->met)
		return to_error_set(err, -ENOMEM, "out of memory");
	memset(r->met, 0xff, r->c->n * sizeof(*r->met));
	/* a connection for each lane and peer */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	r->listener = rendezvous_listen(r->port);
	if (r->listener < 0)
		return to_error_set(err, -errno, "port %u: %s", r->port, strerror(errno));
	return 0;
}

void to_rendezvous_close(struct to_rendezvous *r)
{
	for (uint32_t m = 0; r->met && m < r->c->n; m++)
		if (r->met[m] >= 0)
			close(r->met[m]);
	free(r->met);
	if (r->listener >= 0)
		close(r->listener);
	r->met = NULL;
	r->listener = -1;
}

/* Whether one of those that are met already is gone: it gave up, and said why. */
static int rendezvous_gone(const struct to_rendezvous *r, struct to_error *err)
{
	for (uint32_t m = 0; m < (r->self ? 1 : r->c->n); m++) {
		struct pollfd met = { .fd = r->met[m], .events = POLLRDHUP };

		if (poll(&met, 1, 0) > 0)
			return rendezvous_error(r, m, ECONNRESET, "gave up", err);
	}
	return 0;
}

/* A socket that is connected to @member, until time is up. */
static int rendezvous_reach(const struct to_rendezvous *r, uint32_t member,
			    struct to_collective_ends ends, struct to_error *err)
{
	const struct to_server *self = rendezvous_server(r, r->self), *to = rendezvous_server(r, member);
	union rendezvous_address source, target;
	socklen_t source_size, size;
	int family = AF_INET, one = 1, fd;

	size = rendezvous_address(to, ends.to, family, r->port, &target);
	source_size = rendezvous_address(self, ends.from, family, 0, &source);
	if (!size || !source_size) {
		family = AF_INET6;
		size = rendezvous_address(to, ends.to, family, r->port, &target);
		source_size = rendezvous_address(self, ends.from, family, 0, &source);
	}
	if (!size || !source_size)
		return rendezvous_error(r, member, EAFNOSUPPORT, "no address to reach it by", err);
	for (;;) {
		fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return to_error_set(err, -errno, "socket: %s", strerror(errno));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		rendezvous_patience(r, fd, RENDEZVOUS_TRY_NS);
		if (ends.from && bind(fd, &source.any, source_size)) {
			close(fd);
			return to_error_set(err, -errno, "%s: its address is not on this host: toctl apply first",
					    self->ports[ends.from - 1].name);
		}
		if (!connect(fd, &target.any, size))
			break;
		close(fd);
		if (to_clock_monotonic_ns() >= r->deadline_ns)
			return rendezvous_error(r, member, ETIMEDOUT, "cannot be reached", err);
		if (rendezvous_gone(r, err))
			return -ECONNRESET;
		to_clock_sleep(RENDEZVOUS_PAUSE_NS);
	}
	rendezvous_patience(r, fd, 0);
	return fd;
}

/* Return: the socket, which has said hello. */
static int rendezvous_hello(const struct to_rendezvous *r, uint32_t member, uint32_t lane,
			    struct to_collective_ends ends, struct to_error *err)
{
	const struct rendezvous_hello hello = {
		htobe64(r->token), htobe32(lane), htobe32(r->self) };
	int fd = rendezvous_reach(r, member, ends, err), code;

	if (fd < 0 || rendezvous_send(fd, &hello, sizeof(hello)))
		return fd;
	code = errno;
	close(fd);
	return rendezvous_error(r, member, code, NULL, err);
}

/* One that has come. Return: 1, 0 when it is none of ours, or a negative errno. */
static int rendezvous_take(struct to_rendezvous *r, struct to_exchange *x, int fd,
			   struct to_error *err)
{
	struct rendezvous_hello hello;
	struct to_exchange_end end;

	rendezvous_patience(r, fd, RENDEZVOUS_TRY_NS);
	if (!rendezvous_receive(fd, &hello, sizeof(hello)))
		return 0;
	end = (struct to_exchange_end){ be32toh(hello.member), be32toh(hello.lane) };
	if (end.peer >= r->c->n)
		return 0;
	if (be64toh(hello.token) != r->token)
		return rendezvous_error(r, end.peer, EPROTO, "runs another plan, algorithm or size", err);
	rendezvous_patience(r, fd, 0);
	if (end.lane != RENDEZVOUS_HERE)
		return !to_exchange_set_in(x, end, fd);
	if (r->self || r->met[end.peer] >= 0)
		return 0;
	r->met[end.peer] = fd;
	return 1;
}

static int rendezvous_accept(struct to_rendezvous *r, struct to_exchange *x, uint32_t awaited,
			     struct to_error *err)
{
	while (awaited) {
		struct pollfd poller = { .fd = r->listener, .events = POLLIN };
		uint64_t now = to_clock_monotonic_ns();
		int fd, taken;

		if (now >= r->deadline_ns)
			return to_error_set(err, -ETIMEDOUT, "%u connections of other servers are missing",
					    awaited);
		if (rendezvous_gone(r, err))
			return -ECONNRESET;
		if (poll(&poller, 1, RENDEZVOUS_LOOK_MS) <= 0)
			continue;
		fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		taken = rendezvous_take(r, x, fd, err);
		if (taken <= 0)
			close(fd);
		if (taken < 0)
			return taken;
		awaited -= taken;
	}
	return 0;
}

int to_rendezvous_connect(struct to_rendezvous *r, struct to_exchange *x, struct to_error *err)
{
	const struct to_collective_ends nodes = { .arc = UINT32_MAX };

	if (r->self) {
		r->met[0] = rendezvous_hello(r, 0, RENDEZVOUS_HERE, nodes, err);
		if (r->met[0] < 0)
			return r->met[0];
	}
	for (uint32_t i = 0; i < x->n_out; i++) {
		struct to_exchange_end end = to_exchange_out(x, i);
		int fd = rendezvous_hello(r, end.peer, end.lane,
					  to_collective_plan_ends(r->c, r->self, end.peer, end.lane), err);

		if (fd < 0)
			return fd;
		to_exchange_set_out(x, i, fd);
	}
	return rendezvous_accept(r, x, x->n_in + (r->self ? 0 : r->c->n - 1), err);
}

int to_rendezvous_meet(struct to_rendezvous *r, const void *mine, void *all, size_t size,
		       struct to_error *err)
{
	char go = 0;

	if (r->self) {
		if (!rendezvous_send(r->met[0], mine, size) ||
		    !rendezvous_receive(r->met[0], &go, sizeof(go)))
			return rendezvous_error(r, 0, errno == EAGAIN ? ETIMEDOUT : errno, NULL, err);
		return 0;
	}
	memcpy(all, mine, size);
	for (uint32_t m = 1; m < r->c->n; m++)
		if (!rendezvous_receive(r->met[m], (char *)all + m * size, size))
			return rendezvous_error(r, m, errno == EAGAIN ? ETIMEDOUT : errno, NULL, err);
	for (uint32_t m = 1; m < r->c->n; m++)
		if (!rendezvous_send(r->met[m], &go, sizeof(go)))
			return rendezvous_error(r, m, errno, NULL, err);
	return 0;
}
