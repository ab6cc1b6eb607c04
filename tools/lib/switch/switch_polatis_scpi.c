// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Polatis optical switches by SCPI over TCP:
 *
 *	:oxc:swit:conn:add (@1,2),(@17,18)	joins 1 to 17 and 2 to 18
 *	:oxc:swit:conn:sub (@1),(@17)		parts them
 *	:oxc:swit:conn:stat?			(@1,2),(@17,18)
 *	:oxc:swit:size?				16,16: inputs, outputs
 *
 * Commands answer nothing: *opc? answers 1 when they are done, and what went
 * wrong is in the error queue, read until it says 0.
 *
 * A connection lasts for one call of the driver: the switch, or a firewall on
 * the path, may close one that is idle, and a switch has few sessions.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "switch/switch_driver.h"

#define SCPI_PORT "5025"
#define SCPI_LINE_MAX (1U << 20)	/* 1024 pairs take 10 kB */
#define SCPI_ERRORS_MAX 32		/* entries of an error queue */

/**
 * struct scpi - a connection
 * @fd: -1 while there is none
 * @deadline: of the present answer, CLOCK_MONOTONIC ns
 * @buf: what has come, @len bytes; the line returned last is @taken of them
 */
struct scpi {
	int fd;
	uint64_t timeout, deadline;
	char *buf;
	size_t len, room, taken;
};

static void scpi_hang_up(struct scpi *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->len = s->taken = 0;
}

/* After an error nobody knows which answer comes next: begin anew. */
static int scpi_lost(struct scpi *s, int code, struct to_error *err)
{
	scpi_hang_up(s);
	if (code == -ETIMEDOUT)
		return to_error_set(err, code, "no answer in %.3g s", s->timeout / 1e9);
	return to_error_set(err, code, "%s", strerror(-code));
}

static int scpi_wait(const struct scpi *s, short events)
{
	struct pollfd fd = { .fd = s->fd, .events = events };

	for (;;) {
		uint64_t now = to_clock_monotonic_ns();
		int ready;

		if (now >= s->deadline)
			return -ETIMEDOUT;
		ready = poll(&fd, 1, (s->deadline - now + 999999) / 1000000);
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
	}
}

static int scpi_try(struct scpi *s, const struct addrinfo *to)
{
	socklen_t len = sizeof(int);
	int ret = 0, one = 1;

	s->fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return -errno;
	if (connect(s->fd, to->ai_addr, to->ai_addrlen))
		ret = errno == EINPROGRESS ? scpi_wait(s, POLLOUT) : -errno;
	if (!ret && !getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &ret, &len))
		ret = -ret;
	if (ret) {
		close(s->fd);
		s->fd = -1;
		return ret;
	}
	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return 0;
}

/* "host", "host:port", "[2001:db8::1]", "[2001:db8::1]:port" or a bare IPv6 address. */
static void scpi_split(const char *address, char *host, size_t size, const char **port)
{
	const char *end, *colon = strrchr(address, ':');

	*port = SCPI_PORT;
	if (address[0] == '[' && (end = strchr(address, ']'))) {
		address++;
		if (end[1] == ':')
			*port = end + 2;
	} else if (colon && strchr(address, ':') == colon) {
		end = colon;
		*port = colon + 1;
	} else {
		end = address + strlen(address);
	}
	snprintf(host, size, "%.*s", (int)(end - address), address);
}

static int scpi_connect(const struct to_switch *sw, struct to_error *err)
{
	const char *address = sw->optical->control.address, *port;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	char host[sizeof(sw->optical->control.address)];
	struct scpi *s = sw->state;
	int ret;

	s->deadline = to_clock_monotonic_ns() + s->timeout;
	if (s->fd >= 0)
		return 0;
	scpi_split(address, host, sizeof(host), &port);
	ret = getaddrinfo(host, port, &hints, &found);
	if (ret)
		return to_error_set(err, -EHOSTUNREACH, "%s: %s", address, gai_strerror(ret));
	ret = -EHOSTUNREACH;
	for (const struct addrinfo *to = found; to && s->fd < 0; to = to->ai_next)
		ret = scpi_try(s, to);
	freeaddrinfo(found);
	if (ret == -ETIMEDOUT)
		return to_error_set(err, -EHOSTUNREACH, "%s: no answer in %.3g s", address,
				    s->timeout / 1e9);
	return ret ? to_error_set(err, ret, "%s: %s", address, strerror(-ret)) : 0;
}

static int scpi_send(struct scpi *s, const char *text, size_t len, struct to_error *err)
{
	while (len) {
		ssize_t sent = send(s->fd, text, len, MSG_NOSIGNAL);
		int ret = 0;

		if (sent < 0 && errno == EAGAIN)
			ret = scpi_wait(s, POLLOUT);
		else if (sent < 0 && errno != EINTR)
			ret = -errno;
		if (ret)
			return scpi_lost(s, ret, err);
		if (sent > 0) {
			text += sent;
			len -= sent;
		}
	}
	return 0;
}

/* The next line, without its end; valid until the next call. */
static int scpi_line(struct scpi *s, char **line, struct to_error *err)
{
	char *end;

	s->len -= s->taken;
	memmove(s->buf, s->buf + s->taken, s->len);
	s->taken = 0;
	while (!(end = memchr(s->buf, '\n', s->len))) {
		ssize_t got;
		int ret;

		if (s->len == s->room) {
			char *more = s->room < SCPI_LINE_MAX ? realloc(s->buf, 2 * s->room) : NULL;

			if (!more)
				return scpi_lost(s, -ENOBUFS, err);
			s->buf = more;
			s->room *= 2;
		}
		ret = scpi_wait(s, POLLIN);
		if (ret)
			return scpi_lost(s, ret, err);
		got = recv(s->fd, s->buf + s->len, s->room - s->len, 0);
		if (!got)
			return scpi_lost(s, -ECONNRESET, err);
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return scpi_lost(s, -errno, err);
		s->len += got > 0 ? got : 0;
	}
	s->taken = end + 1 - s->buf;
	while (end > s->buf && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	*end = '\0';
	*line = s->buf;
	return 0;
}

static int scpi_query(const struct to_switch *sw, const char *query, char **line,
		      struct to_error *err)
{
	struct scpi *s = sw->state;
	int ret = scpi_connect(sw, err);

	if (!ret)
		ret = scpi_send(s, query, strlen(query), err);
	return ret ? ret : scpi_line(s, line, err);
}

/* Empty the error queue; the first entry is the verdict. */
static int scpi_verdict(const struct to_switch *sw, struct to_error *err)
{
	int failed = 0;

	for (unsigned int i = 0; i < SCPI_ERRORS_MAX; i++) {
		char *line, *end;
		long code;
		int ret = scpi_query(sw, ":syst:err?\n", &line, err);

		if (ret)
			return ret;
		code = strtol(line, &end, 10);
		if (end == line)
			return to_error_set(err, -EPROTO, "its error queue says \"%s\"", line);
		if (!code)
			return failed;
		if (!failed)
			failed = to_error_set(err, -EIO, "%s", line);
	}
	return failed;
}

/* ":oxc:swit:conn:add (@1,2),(@17,18)", and wait until it is done. */
static int scpi_command(const struct to_switch *sw, const char *verb,
			const struct to_circuits *pairs, struct to_error *err)
{
	struct scpi *s = sw->state;
	char *text = NULL, *line;
	size_t size;
	FILE *out;
	int ret;

	if (!pairs->n)
		return 0;
	out = open_memstream(&text, &size);
	if (!out)
		return to_error_set(err, -ENOMEM, "out of memory");
	fprintf(out, "*cls\n:oxc:swit:conn:%s (@", verb);
	for (unsigned int i = 0; i < pairs->n; i++)
		fprintf(out, "%s%u", i ? "," : "", pairs->circuit[i].in);
	fprintf(out, "),(@");
	for (unsigned int i = 0; i < pairs->n; i++)
		fprintf(out, "%s%u", i ? "," : "", pairs->circuit[i].out);
	fprintf(out, ")\n");
	ret = fclose(out) ? to_error_set(err, -ENOMEM, "out of memory") : scpi_connect(sw, err);
	if (!ret)
		ret = scpi_send(s, text, size, err);
	free(text);
	if (!ret)
		ret = scpi_query(sw, "*opc?\n", &line, err);
	return ret ? ret : scpi_verdict(sw, err);
}

static int scpi_change(struct to_switch *sw, const struct to_circuits *off,
		       const struct to_circuits *on, struct to_error *err)
{
	struct to_circuits remove = {}, add = {};
	int ret = to_switch_driver_pairs(sw, off, &remove, err);

	if (!ret)
		ret = to_switch_driver_pairs(sw, on, &add, err);
	if (!ret)
		ret = scpi_command(sw, "sub", &remove, err);
	if (!ret)
		ret = scpi_command(sw, "add", &add, err);
	scpi_hang_up(sw->state);
	to_circuits_free(&remove);
	to_circuits_free(&add);
	return ret;
}

/* One "(@1,2,3)"; Return: where it ends, NULL when it is none. */
static const char *scpi_list(const char *text, struct to_circuits *ports)
{
	unsigned long port;
	char *end;

	if (strncmp(text, "(@", 2))
		return NULL;
	text += 2;
	if (*text == ')')
		return text + 1;
	for (;; text = end + 1) {
		port = strtoul(text, &end, 10);
		if (end == text || !port || port > UINT32_MAX || to_circuits_add(ports, port, 0))
			return NULL;
		if (*end == ')')
			return end + 1;
		if (*end != ',')
			return NULL;
	}
}

static int scpi_read(struct to_switch *sw, struct to_circuits *pairs, struct to_error *err)
{
	struct to_circuits in = {}, out = {};
	const char *end;
	char *line;
	int ret = scpi_query(sw, ":oxc:swit:conn:stat?\n", &line, err);

	if (ret)
		return ret;
	end = scpi_list(line, &in);
	end = end && *end == ',' ? scpi_list(end + 1, &out) : NULL;
	if (!end || *end || in.n != out.n)
		ret = to_error_set(err, -EPROTO, "its cross-connects read \"%.60s\"", line);
	for (unsigned int i = 0; i < in.n && !ret; i++)
		if (to_circuits_add(pairs, in.circuit[i].in, out.circuit[i].in))
			ret = to_error_set(err, -ENOMEM, "out of memory");
	scpi_hang_up(sw->state);
	to_circuits_free(&in);
	to_circuits_free(&out);
	return ret;
}

static int scpi_open(struct to_switch *sw, struct to_error *err)
{
	unsigned int wanted = sw->optical->n_ports, offset = sw->optical->control.egress_offset;
	struct scpi *s = calloc(1, sizeof(*s));
	unsigned int in, out;
	char *line;
	int ret;

	sw->state = s;
	if (!s)
		return to_error_set(err, -ENOMEM, "out of memory");
	s->fd = -1;
	s->timeout = sw->optical->control.timeout_ns;
	s->room = 4096;
	s->buf = malloc(s->room);
	if (!s->buf)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = scpi_query(sw, ":oxc:swit:size?\n", &line, err);
	scpi_hang_up(s);
	if (ret)
		return ret;
	if (sscanf(line, "%u,%u", &in, &out) != 2)
		return to_error_set(err, -EPROTO, "its size reads \"%.60s\"", line);
	if (offset ? wanted > in || wanted > out || offset < in : wanted > in + out)
		return to_error_set(err, -ERANGE,
				    "it has the inputs 1 to %u and the outputs %u to %u, too few for %u ports with \"egress_offset\" %u",
				    in, in + 1, in + out, wanted, offset);
	return 0;
}

static void scpi_close(struct to_switch *sw)
{
	struct scpi *s = sw->state;

	if (!s)
		return;
	scpi_hang_up(s);
	free(s->buf);
	free(s);
}

const struct to_switch_driver to_switch_polatis_scpi = {
	.open = scpi_open,
	.read = scpi_read,
	.change = scpi_change,
	.close = scpi_close,
};
