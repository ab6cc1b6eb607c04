// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/cable_load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

#define LOAD_PORT 47115		/* TCP */
#define LOAD_STREAMS 4		/* connections of a cable, for several processors and queues */
#define LOAD_CABLES 64		/* cables of one request at one host */
#define LOAD_BLOCK 65536	/* bytes written or read at once */
#define LOAD_UNSENT (2 * LOAD_BLOCK)	/* bytes that may wait in a socket when a phase ends */
#define LOAD_TICK_NS 20000000ull	/* longest wait in a system call */
#define LOAD_SETTLED 0.4	/* part of a phase after which bytes count */

/** struct load_stream - one connection */
struct load_stream {
	struct load_end *end;
	int fd;			/* -1: there is none */
	pthread_t sends, receives;
	unsigned int threads;	/* that run: 1 is @sends, 2 both */
	uint64_t received[TO_CABLE_PHASES];	/* bytes in the settled part of each phase */
};

/** struct load_end - this end of one cable */
struct load_end {
	struct in_addr own, peer;
	bool first;		/* this is the first end, which connects */
	uint64_t rate;		/* bits/s */
	int listener;
	uint64_t begin_ns;	/* CLOCK_MONOTONIC of the first phase */
	pthread_t thread;
	bool started;
	struct load_stream streams[LOAD_STREAMS];
	struct to_error err;	/* "" for none */
};

/* Tell whether this host has @address. */
static bool load_is_own(struct in_addr address)
{
	const struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = address };
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const bool own = fd >= 0 && !bind(fd, (const struct sockaddr *)&at, sizeof(at));

	if (fd >= 0)
		close(fd);
	return own;
}

static void load_tune(int fd, uint64_t rate)
{
	const struct timeval tick = { .tv_usec = LOAD_TICK_NS / 1000 };
	const uint64_t pace = rate / 8 / LOAD_STREAMS;
	const int unsent = LOAD_UNSENT, on = 1;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof(tick));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tick, sizeof(tick));
	setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &pace, sizeof(pace));
	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int load_socket(struct in_addr own, uint16_t port)
{
	const struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = own,
					.sin_port = htons(port) };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	int code;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!bind(fd, (const struct sockaddr *)&at, sizeof(at)))
		return fd;
	code = -errno;
	close(fd);
	return code;
}

/* Connect, again and again while the other end does not listen yet. */
static int load_connect(const struct load_end *end, uint64_t until_ns)
{
	const struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = end->peer,
					.sin_port = htons(LOAD_PORT) };
	int fd, code = -ETIMEDOUT;

	while (to_clock_monotonic_ns() < until_ns) {
		struct timeval tick = { .tv_usec = 500000 };

		fd = load_socket(end->own, 0);
		if (fd < 0)
			return fd;
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tick, sizeof(tick));
		if (!connect(fd, (const struct sockaddr *)&to, sizeof(to)))
			return fd;
		code = errno == EINPROGRESS || errno == EAGAIN ? -ETIMEDOUT : -errno;
		close(fd);
		to_clock_sleep(LOAD_TICK_NS);
	}
	return code;
}

static int load_accept(const struct load_end *end, uint64_t until_ns)
{
	while (to_clock_monotonic_ns() < until_ns) {
		struct sockaddr_in from;
		socklen_t len = sizeof(from);
		const int fd = accept4(end->listener, (struct sockaddr *)&from, &len, SOCK_CLOEXEC);

		if (fd >= 0 && from.sin_addr.s_addr == end->peer.s_addr)
			return fd;
		if (fd >= 0)
			close(fd);
		else if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -ETIMEDOUT;
}

/* The phase at @now_ns, and how far it is; TO_CABLE_PHASES after the last. */
static unsigned int load_phase(const struct load_end *end, uint64_t now_ns, double *part)
{
	const uint64_t passed = now_ns - end->begin_ns;

	*part = (double)(passed % TO_CABLE_PHASE_NS) / TO_CABLE_PHASE_NS;
	return passed < TO_CABLE_PHASES * TO_CABLE_PHASE_NS ? passed / TO_CABLE_PHASE_NS :
							       TO_CABLE_PHASES;
}

static void *load_send(void *data)
{
	static const char block[LOAD_BLOCK];
	struct load_stream *s = data;
	const unsigned int silent = s->end->first ? TO_CABLE_SECOND : TO_CABLE_FIRST;
	unsigned int phase;
	double part;

	while ((phase = load_phase(s->end, to_clock_monotonic_ns(), &part)) < TO_CABLE_PHASES) {
		if (phase == silent)
			to_clock_sleep(LOAD_TICK_NS);
		else if (send(s->fd, block, sizeof(block), MSG_NOSIGNAL) < 0 &&
			 errno != EAGAIN && errno != EINTR)
			break;
	}
	return NULL;
}

static void *load_receive(void *data)
{
	struct load_stream *s = data;
	char block[LOAD_BLOCK];
	unsigned int phase;
	double part;

	for (;;) {
		const ssize_t len = recv(s->fd, block, sizeof(block), 0);

		phase = load_phase(s->end, to_clock_monotonic_ns(), &part);
		if (phase == TO_CABLE_PHASES || !len ||
		    (len < 0 && errno != EAGAIN && errno != EINTR))
			return NULL;
		if (len > 0 && part >= LOAD_SETTLED)
			s->received[phase] += len;
	}
}

static int load_streams(struct load_end *end)
{
	const uint64_t until = to_clock_monotonic_ns() + TO_CABLE_CONNECT_NS;

	for (unsigned int i = 0; i < LOAD_STREAMS; i++) {
		const int fd = end->first ? load_connect(end, until) : load_accept(end, until);

		if (fd < 0)
			return fd;
		end->streams[i].fd = fd;
		load_tune(fd, end->rate);
	}
	return 0;
}

static void *load_run(void *data)
{
	struct load_end *end = data;
	int ret = load_streams(end);

	end->begin_ns = to_clock_monotonic_ns();
	for (unsigned int i = 0; !ret && i < LOAD_STREAMS; i++) {
		struct load_stream *s = &end->streams[i];

		ret = -pthread_create(&s->sends, NULL, load_send, s);
		s->threads += !ret;
		ret = ret ? ret : -pthread_create(&s->receives, NULL, load_receive, s);
		s->threads += !ret;
	}
	for (unsigned int i = 0; i < LOAD_STREAMS; i++) {
		struct load_stream *s = &end->streams[i];

		if (s->threads > 0)
			pthread_join(s->sends, NULL);
		if (s->threads > 1)
			pthread_join(s->receives, NULL);
		if (s->fd >= 0)
			close(s->fd);
	}
	if (ret == -ETIMEDOUT)
		to_error_set(&end->err, ret, "no connection with the other end in %llu s",
			     TO_CABLE_CONNECT_NS / TO_NS_PER_S);
	else if (ret)
		to_error_set(&end->err, ret, "%s", strerror(-ret));
	return NULL;
}

/* Begin to load a cable, if this host is one of its ends. Return: whether it is. */
static bool load_begin(struct load_end *end, const json_t *cable)
{
	const char *first = json_string_value(json_object_get(cable, "first"));
	const char *second = json_string_value(json_object_get(cable, "second"));
	const json_int_t rate = json_integer_value(json_object_get(cable, "rate"));
	struct in_addr a, b;
	int code;

	if (!first || !second || rate <= 0 || inet_pton(AF_INET, first, &a) != 1 ||
	    inet_pton(AF_INET, second, &b) != 1)
		return false;
	*end = (struct load_end){ .first = load_is_own(a), .rate = rate, .listener = -1 };
	if (!end->first && !load_is_own(b))
		return false;
	end->own = end->first ? a : b;
	end->peer = end->first ? b : a;
	for (unsigned int i = 0; i < LOAD_STREAMS; i++)
		end->streams[i] = (struct load_stream){ .end = end, .fd = -1 };
	if (!end->first) {
		end->listener = load_socket(end->own, LOAD_PORT);
		if (end->listener < 0) {
			to_error_set(&end->err, 0, "%s", strerror(-end->listener));
			return true;
		}
		load_tune(end->listener, end->rate);
		listen(end->listener, LOAD_STREAMS);
	}
	code = pthread_create(&end->thread, NULL, load_run, end);
	end->started = !code;
	if (code)
		to_error_set(&end->err, 0, "%s", strerror(code));
	return true;
}

static json_t *load_end(struct load_end *end)
{
	char own[INET_ADDRSTRLEN], peer[INET_ADDRSTRLEN];
	json_t *received = json_array(), *object;

	if (end->started)
		pthread_join(end->thread, NULL);
	if (end->listener >= 0)
		close(end->listener);
	for (unsigned int p = 0; p < TO_CABLE_PHASES; p++) {
		double bytes = 0;

		for (unsigned int i = 0; i < LOAD_STREAMS; i++)
			bytes += end->streams[i].received[p];
		json_array_append_new(received, json_real(8 * bytes / (1 - LOAD_SETTLED) *
							  TO_NS_PER_S / TO_CABLE_PHASE_NS));
	}
	inet_ntop(AF_INET, &end->own, own, sizeof(own));
	inet_ntop(AF_INET, &end->peer, peer, sizeof(peer));
	object = json_pack("{s:s, s:s, s:o}", "address", own, "peer", peer, "received", received);
	if (object && end->err.text[0])
		json_object_set_new(object, "error", json_string(end->err.text));
	return object;
}

json_t *to_cable_load_answer(const json_t *request)
{
	struct load_end *ends = calloc(LOAD_CABLES, sizeof(*ends));
	json_t *list = json_array(), *reply;
	const json_t *cable;
	unsigned int n = 0;
	size_t i;

	if (ends)
		json_array_foreach(json_object_get(request, "cables"), i, cable)
			n += n < LOAD_CABLES && load_begin(&ends[n], cable);
	for (unsigned int k = 0; k < n; k++)
		json_array_append_new(list, load_end(&ends[k]));
	free(ends);
	reply = json_pack("{s:b, s:o}", "ok", 1, "load", list);
	if (reply && json_object_get(request, "id"))
		json_object_set(reply, "id", json_object_get(request, "id"));
	return reply;
}
