// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/rendezvous.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "collectives/endpoints.h"
#include "collectives/greeting.h"

#define RENDEZVOUS_HERE UINT32_MAX	/* in place of a lane: to meet */
#define RENDEZVOUS_TRY_NS (5 * TO_NS_PER_S)	/* for each message of a greeting */
#define RENDEZVOUS_PAUSE_NS (TO_NS_PER_S / 20)	/* between two tries to connect */
#define RENDEZVOUS_STRANGERS 256u	/* connections of those who have proved nothing yet */
#define RENDEZVOUS_ACCEPTS 32u		/* per listener and turn, so that greetings make progress */

enum rendezvous_state {
	RENDEZVOUS_PAUSE,	/* until the next try */
	RENDEZVOUS_CONNECT,
	RENDEZVOUS_CHALLENGE,	/* the challenge is awaited */
	RENDEZVOUS_WELCOME,	/* the welcome is awaited */
	RENDEZVOUS_DONE,
};

/* A connection that this member makes. */
struct rendezvous_out {
	struct to_exchange_end end;
	struct to_endpoints endpoints;
	enum rendezvous_state state;
	int fd;
	uint64_t until_ns;		/* end of this state */
	size_t got;			/* bytes of the awaited message */
	bool answered;			/* somebody has answered a hello, without a valid proof */
	struct to_greeting_challenge challenge;
	struct to_greeting_hello hello;
	struct to_greeting_welcome welcome;
};

/* A connection that was accepted; who made it has proved nothing yet. */
struct rendezvous_in {
	int fd;
	uint64_t until_ns;
	size_t got;			/* bytes of @hello */
	struct to_greeting_challenge challenge;
	struct to_greeting_hello hello;
};

/* What to_rendezvous_connect() waits for. */
struct rendezvous_wait {
	struct to_rendezvous *r;
	struct to_exchange *x;
	uint32_t n_outs, n_open;	/* connections to make, and those of them that are not made */
	uint32_t n_awaited;		/* connections that other members have not made */
	uint64_t n_refused;		/* hellos without a valid proof */
	struct rendezvous_out *outs;
	unsigned int n_ins;
	struct rendezvous_in ins[RENDEZVOUS_STRANGERS];
	struct pollfd *polls;		/* of listeners, those that are met, @outs, @ins */
	struct to_error *err;
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

/* Whether a listener has this address already. */
static bool rendezvous_listens(const struct to_rendezvous *r, const struct to_endpoints *to)
{
	union to_endpoint at;

	for (unsigned int i = 0; i < r->n_listeners; i++) {
		socklen_t size = sizeof(at);

		memset(&at, 0, sizeof(at));
		if (!getsockname(r->listeners[i], &at.any, &size) && size == to->size &&
		    !memcmp(&at, &to->target, size))
			return true;
	}
	return false;
}

/* Listen where member @from will connect to. */
static int rendezvous_listen(struct to_rendezvous *r, uint32_t from, struct to_collective_ends ends,
			     struct to_error *err)
{
	const struct to_server *self = rendezvous_server(r, r->self);
	struct to_endpoints to;
	int fd, one = 1, code;

	if (!to_endpoints_find(&to, r->c, from, r->self, ends, r->port))
		return rendezvous_error(r, from, EAFNOSUPPORT, "no address to be reached by", err);
	if (rendezvous_listens(r, &to))
		return 0;
	fd = socket(to.target.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return to_error_set(err, -errno, "socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!bind(fd, &to.target.any, to.size) && !listen(fd, SOMAXCONN)) {
		r->listeners[r->n_listeners++] = fd;
		return 0;
	}
	code = errno;
	close(fd);
	if (code == EADDRNOTAVAIL)
		return to_error_set(err, -code, "%s: its address is not on this host: toctl apply first",
				    ends.to ? self->ports[ends.to - 1].name : self->name);
	return to_error_set(err, -code, "port %u: %s", r->port, strerror(code));
}

static const struct to_collective_ends rendezvous_nodes = { .arc = UINT32_MAX };

int to_rendezvous_open(struct to_rendezvous *r, const struct to_exchange *x, struct to_error *err)
{
	struct rlimit files;
	int ret = to_mac_load(err);

	if (ret)
		return ret;
	r->n_listeners = 0;
	r->met = malloc(r->c->n * sizeof(*r->met));
	/* a node and its ports have an address of either family each */
	r->listeners = calloc(2 * (1 + TO_PORTS_MAX), sizeof(*r->listeners));
	if (!r->met || !r->listeners)
		return to_error_set(err, -ENOMEM, "out of memory");
	memset(r->met, 0xff, r->c->n * sizeof(*r->met));
	/* a connection for each lane and peer */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	for (uint32_t m = 1; !ret && !r->self && m < r->c->n; m++)
		ret = rendezvous_listen(r, m, rendezvous_nodes, err);
	for (uint32_t i = 0; !ret && i < x->n_in; i++) {
		struct to_exchange_end end = to_exchange_in(x, i);

		ret = rendezvous_listen(r, end.peer, to_collective_plan_ends(r->c, end.peer, r->self,
									     end.lane), err);
	}
	return ret;
}

static void rendezvous_stop_listening(struct to_rendezvous *r)
{
	for (unsigned int i = 0; i < r->n_listeners; i++)
		close(r->listeners[i]);
	r->n_listeners = 0;
}

void to_rendezvous_close(struct to_rendezvous *r)
{
	rendezvous_stop_listening(r);
	for (uint32_t m = 0; r->met && m < r->c->n; m++)
		if (r->met[m] >= 0)
			close(r->met[m]);
	free(r->met);
	free(r->listeners);
	r->met = NULL;
	r->listeners = NULL;
}

/* Read more of a message. Return: 1 when it is complete, 0 when not, -1 when it cannot be. */
static int rendezvous_read(int fd, void *message, size_t size, size_t *got)
{
	ssize_t n = recv(fd, (char *)message + *got, size - *got, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -1;
	*got += n;
	return *got == size;
}

/* Send a message that fits into the buffer of any new socket. */
static bool rendezvous_write(int fd, const void *message, size_t size)
{
	return send(fd, message, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static void rendezvous_await(struct rendezvous_out *out, enum rendezvous_state state, uint64_t ns)
{
	out->state = state;
	out->got = 0;
	out->until_ns = to_clock_monotonic_ns() + ns;
}

static void rendezvous_retry(struct rendezvous_out *out)
{
	if (out->fd >= 0)
		close(out->fd);
	out->fd = -1;
	rendezvous_await(out, RENDEZVOUS_PAUSE, RENDEZVOUS_PAUSE_NS);
}

static int rendezvous_try(const struct rendezvous_wait *w, struct rendezvous_out *out,
			  struct to_collective_ends ends)
{
	const struct to_server *self = rendezvous_server(w->r, w->r->self);
	int one = 1;

	out->fd = socket(out->endpoints.target.any.sa_family,
			 SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (out->fd < 0)
		return to_error_set(w->err, -errno, "socket: %s", strerror(errno));
	setsockopt(out->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (ends.from && bind(out->fd, &out->endpoints.source.any, out->endpoints.size))
		return to_error_set(w->err, -errno, "%s: its address is not on this host: toctl apply first",
				    self->ports[ends.from - 1].name);
	if (!connect(out->fd, &out->endpoints.target.any, out->endpoints.size))
		rendezvous_await(out, RENDEZVOUS_CHALLENGE, RENDEZVOUS_TRY_NS);
	else if (errno == EINPROGRESS)
		rendezvous_await(out, RENDEZVOUS_CONNECT, RENDEZVOUS_TRY_NS);
	else
		rendezvous_retry(out);
	return 0;
}

static struct to_collective_ends rendezvous_ends(const struct to_rendezvous *r,
						 const struct rendezvous_out *out)
{
	return out->end.lane == RENDEZVOUS_HERE ? rendezvous_nodes :
	       to_collective_plan_ends(r->c, r->self, out->end.peer, out->end.lane);
}

static bool rendezvous_connected(int fd)
{
	socklen_t size = sizeof(int);
	int code = 0;

	return !getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) && !code;
}

/* Answer a challenge. Return: whether the hello is on its way. */
static bool rendezvous_say_hello(const struct to_rendezvous *r, struct rendezvous_out *out)
{
	out->hello = (struct to_greeting_hello){
		.run = htobe64(r->run), .from = htobe32(r->self), .to = htobe32(out->end.peer),
		.lane = htobe32(out->end.lane) };
	return to_greeting_hello(&out->hello, r->token, &out->challenge) &&
	       rendezvous_write(out->fd, &out->hello, sizeof(out->hello));
}

static int rendezvous_other_run(const struct to_rendezvous *r, uint32_t member, struct to_error *err)
{
	return rendezvous_error(r, member, EPROTO, "runs another plan, algorithm or size", err);
}

static int rendezvous_take_welcome(struct rendezvous_wait *w, struct rendezvous_out *out)
{
	struct to_rendezvous *r = w->r;

	if (!to_greeting_welcome_valid(&out->welcome, r->token, &out->challenge, &out->hello)) {
		out->answered = true;
		rendezvous_retry(out);
		return 0;
	}
	if (be64toh(out->welcome.run) != r->run)
		return rendezvous_other_run(r, out->end.peer, w->err);
	if (out->end.lane == RENDEZVOUS_HERE)
		r->met[0] = out->fd;
	else
		to_exchange_set_out(w->x, out - w->outs, out->fd);
	out->fd = -1;
	out->state = RENDEZVOUS_DONE;
	w->n_open--;
	return 0;
}

/* Go on with a connection that poll() has something to say about. */
static int rendezvous_step_out(struct rendezvous_wait *w, struct rendezvous_out *out)
{
	int got;

	if (out->state == RENDEZVOUS_CONNECT) {
		if (rendezvous_connected(out->fd))
			rendezvous_await(out, RENDEZVOUS_CHALLENGE, RENDEZVOUS_TRY_NS);
		else
			rendezvous_retry(out);
		return 0;
	}
	if (out->state == RENDEZVOUS_CHALLENGE) {
		got = rendezvous_read(out->fd, &out->challenge, sizeof(out->challenge), &out->got);
		if (got < 0 || (got && !rendezvous_say_hello(w->r, out)))
			rendezvous_retry(out);
		else if (got)
			rendezvous_await(out, RENDEZVOUS_WELCOME, RENDEZVOUS_TRY_NS);
		return 0;
	}
	got = rendezvous_read(out->fd, &out->welcome, sizeof(out->welcome), &out->got);
	if (got > 0)
		return rendezvous_take_welcome(w, out);
	if (got < 0) {
		out->answered = true;
		rendezvous_retry(out);
	}
	return 0;
}

/* Begin the next try, or give this one up. */
static int rendezvous_expire_out(struct rendezvous_wait *w, struct rendezvous_out *out)
{
	if (out->state == RENDEZVOUS_PAUSE)
		return rendezvous_try(w, out, rendezvous_ends(w->r, out));
	rendezvous_retry(out);
	return 0;
}

/* Forget an accepted connection; its socket is closed or has been taken. */
static void rendezvous_forget(struct rendezvous_wait *w, unsigned int i)
{
	w->ins[i] = w->ins[--w->n_ins];
}

static void rendezvous_drop(struct rendezvous_wait *w, unsigned int i)
{
	close(w->ins[i].fd);
	rendezvous_forget(w, i);
}

static void rendezvous_drop_oldest(struct rendezvous_wait *w)
{
	unsigned int oldest = 0;

	for (unsigned int i = 1; i < w->n_ins; i++)
		if (w->ins[i].until_ns < w->ins[oldest].until_ns)
			oldest = i;
	if (w->n_ins)
		rendezvous_drop(w, oldest);
}

/* Take a connection of a member. Return: 1, 0 when it was made again, -ENOENT when it is not awaited. */
static int rendezvous_admit(struct rendezvous_wait *w, struct to_exchange_end end, int fd)
{
	struct to_rendezvous *r = w->r;
	int before;

	if (end.lane != RENDEZVOUS_HERE)
		return to_exchange_set_in(w->x, end, fd);
	if (r->self || !end.peer)
		return -ENOENT;
	before = r->met[end.peer];
	r->met[end.peer] = fd;
	if (before < 0)
		return 1;
	close(before);
	return 0;
}

static int rendezvous_take_hello(struct rendezvous_wait *w, unsigned int i)
{
	struct rendezvous_in *in = &w->ins[i];
	const struct to_rendezvous *r = w->r;
	const struct to_exchange_end end = { be32toh(in->hello.from), be32toh(in->hello.lane) };
	struct to_greeting_welcome welcome = { .run = htobe64(r->run) };
	int ret;

	if (!to_greeting_hello_valid(&in->hello, r->token, &in->challenge)) {
		w->n_refused++;
		rendezvous_drop(w, i);
		return 0;
	}
	if (end.peer >= r->c->n || be32toh(in->hello.to) != r->self ||
	    !to_greeting_welcome(&welcome, r->token, &in->challenge, &in->hello) ||
	    !rendezvous_write(in->fd, &welcome, sizeof(welcome))) {
		rendezvous_drop(w, i);
		return 0;
	}
	if (be64toh(in->hello.run) != r->run)
		return rendezvous_other_run(r, end.peer, w->err);
	ret = rendezvous_admit(w, end, in->fd);
	if (ret < 0) {
		rendezvous_drop(w, i);
		return 0;
	}
	rendezvous_forget(w, i);
	w->n_awaited -= ret;
	return 0;
}

static int rendezvous_step_in(struct rendezvous_wait *w, unsigned int i)
{
	struct rendezvous_in *in = &w->ins[i];
	int got = rendezvous_read(in->fd, &in->hello, sizeof(in->hello), &in->got);

	if (got > 0)
		return rendezvous_take_hello(w, i);
	if (got < 0)
		rendezvous_drop(w, i);
	return 0;
}

/* Accept what waits at a listener. The oldest of too many strangers make room. */
static void rendezvous_accept(struct rendezvous_wait *w, int listener)
{
	for (unsigned int n = 0; n < RENDEZVOUS_ACCEPTS; n++) {
		struct rendezvous_in *in;
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), one = 1;

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE)
				rendezvous_drop_oldest(w);
			return;
		}
		if (w->n_ins == RENDEZVOUS_STRANGERS)
			rendezvous_drop_oldest(w);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		in = &w->ins[w->n_ins++];
		*in = (struct rendezvous_in){
			.fd = fd, .until_ns = to_clock_monotonic_ns() + RENDEZVOUS_TRY_NS };
		if (!to_greeting_challenge(&in->challenge) ||
		    !rendezvous_write(fd, &in->challenge, sizeof(in->challenge)))
			rendezvous_drop(w, w->n_ins - 1);
	}
}

/* Members that this one stays connected to until the end. */
static uint32_t rendezvous_n_met(const struct to_rendezvous *r)
{
	return r->self ? 1 : r->c->n;
}

/* Fill the array for poll(). Return: when the next state ends. */
static uint64_t rendezvous_watch(const struct rendezvous_wait *w, nfds_t *n)
{
	const struct to_rendezvous *r = w->r;
	uint64_t until_ns = r->deadline_ns;
	struct pollfd *poller = w->polls;

	for (unsigned int i = 0; i < r->n_listeners; i++)
		*poller++ = (struct pollfd){ .fd = r->listeners[i], .events = POLLIN };
	for (uint32_t m = 0; m < rendezvous_n_met(r); m++)
		*poller++ = (struct pollfd){ .fd = r->met[m], .events = POLLRDHUP };
	for (uint32_t i = 0; i < w->n_outs; i++) {
		const struct rendezvous_out *out = &w->outs[i];

		*poller++ = (struct pollfd){
			.fd = out->fd, .events = out->state == RENDEZVOUS_CONNECT ? POLLOUT : POLLIN };
		if (out->state != RENDEZVOUS_DONE && out->until_ns < until_ns)
			until_ns = out->until_ns;
	}
	for (unsigned int i = 0; i < w->n_ins; i++) {
		*poller++ = (struct pollfd){ .fd = w->ins[i].fd, .events = POLLIN };
		if (w->ins[i].until_ns < until_ns)
			until_ns = w->ins[i].until_ns;
	}
	*n = poller - w->polls;
	return until_ns;
}

/* Serve all that poll() has something to say about, or whose time is over. */
static int rendezvous_serve(struct rendezvous_wait *w)
{
	const struct to_rendezvous *r = w->r;
	const struct pollfd *listeners = w->polls, *met = listeners + r->n_listeners;
	const struct pollfd *outs = met + rendezvous_n_met(r), *ins = outs + w->n_outs;
	const uint64_t now = to_clock_monotonic_ns();
	int ret = 0;

	for (uint32_t m = 0; m < rendezvous_n_met(r); m++)
		if (met[m].revents)
			return rendezvous_error(r, m, ECONNRESET, "gave up", w->err);
	for (uint32_t i = 0; !ret && i < w->n_outs; i++) {
		struct rendezvous_out *out = &w->outs[i];

		if (out->state == RENDEZVOUS_DONE)
			continue;
		if (outs[i].revents)
			ret = rendezvous_step_out(w, out);
		else if (out->until_ns <= now)
			ret = rendezvous_expire_out(w, out);
	}
	/* backwards: one that is forgotten is replaced by the last, which has been served */
	for (unsigned int i = w->n_ins; !ret && i-- > 0;) {
		if (ins[i].revents)
			ret = rendezvous_step_in(w, i);
		else if (w->ins[i].until_ns <= now)
			rendezvous_drop(w, i);
	}
	for (unsigned int i = 0; !ret && i < r->n_listeners; i++)
		if (listeners[i].revents)
			rendezvous_accept(w, r->listeners[i]);
	return ret;
}

/* The deadline has passed: name a member that is missing, best one that has been heard of. */
static int rendezvous_late(const struct rendezvous_wait *w)
{
	const struct rendezvous_out *missing = NULL;

	for (uint32_t i = 0; i < w->n_outs; i++)
		if (w->outs[i].state != RENDEZVOUS_DONE && (!missing || w->outs[i].answered))
			missing = &w->outs[i];
	if (missing)
		return rendezvous_error(w->r, missing->end.peer, ETIMEDOUT, missing->answered ?
					"does not prove to have the token of this server" :
					"cannot be reached", w->err);
	return to_error_set(w->err, -ETIMEDOUT, "%u connections of other servers are missing%s",
			    w->n_awaited, w->n_refused ? ", and some have come with another token" : "");
}

static int rendezvous_wait(struct rendezvous_wait *w)
{
	int ret = 0;

	while (!ret && (w->n_open || w->n_awaited)) {
		uint64_t now, until_ns;
		nfds_t n;

		until_ns = rendezvous_watch(w, &n);
		now = to_clock_monotonic_ns();
		if (now >= w->r->deadline_ns)
			return rendezvous_late(w);
		if (poll(w->polls, n, until_ns > now ? (until_ns - now) / 1000000 % 100000 + 1 : 0) < 0) {
			if (errno == EINTR)
				continue;
			return to_error_set(w->err, -errno, "poll: %s", strerror(errno));
		}
		ret = rendezvous_serve(w);
	}
	return ret;
}

/* List the connections to make: those of the exchange in their order, then that to member 0. */
static int rendezvous_list(struct rendezvous_wait *w)
{
	const struct to_rendezvous *r = w->r;

	for (uint32_t i = 0; i < w->n_outs; i++) {
		struct rendezvous_out *out = &w->outs[i];

		out->end = i < w->x->n_out ? to_exchange_out(w->x, i) :
			   (struct to_exchange_end){ 0, RENDEZVOUS_HERE };
		if (!to_endpoints_find(&out->endpoints, r->c, r->self, out->end.peer,
				       rendezvous_ends(r, out), r->port))
			return rendezvous_error(r, out->end.peer, EAFNOSUPPORT,
						"no address to reach it by", w->err);
	}
	return 0;
}

static void rendezvous_free(struct rendezvous_wait *w)
{
	while (w->n_ins)
		rendezvous_drop(w, w->n_ins - 1);
	for (uint32_t i = 0; w->outs && i < w->n_outs; i++)
		if (w->outs[i].fd >= 0)
			close(w->outs[i].fd);
	free(w->outs);
	free(w->polls);
	free(w);
}

/* Let reads and writes of a socket wait until the deadline. */
static void rendezvous_block(const struct to_rendezvous *r, int fd)
{
	uint64_t now = to_clock_monotonic_ns();
	uint64_t left = now < r->deadline_ns ? r->deadline_ns - now : 1000;
	const struct timeval time = { .tv_sec = left / TO_NS_PER_S,
				      .tv_usec = left % TO_NS_PER_S / 1000 };

	fcntl(fd, F_SETFL, 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

int to_rendezvous_connect(struct to_rendezvous *r, struct to_exchange *x, struct to_error *err)
{
	struct rendezvous_wait *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return to_error_set(err, -ENOMEM, "out of memory");
	w->r = r;
	w->x = x;
	w->err = err;
	w->n_outs = w->n_open = x->n_out + !!r->self;
	w->n_awaited = x->n_in + (r->self ? 0 : r->c->n - 1);
	w->outs = calloc(w->n_outs + 1, sizeof(*w->outs));
	for (uint32_t i = 0; w->outs && i < w->n_outs; i++)
		w->outs[i].fd = -1;
	w->polls = calloc(r->n_listeners + r->c->n + w->n_outs + RENDEZVOUS_STRANGERS, sizeof(*w->polls));
	ret = w->outs && w->polls ? rendezvous_list(w) : to_error_set(err, -ENOMEM, "out of memory");
	if (!ret)
		ret = rendezvous_wait(w);
	rendezvous_free(w);
	rendezvous_stop_listening(r);
	for (uint32_t m = 0; !ret && m < rendezvous_n_met(r); m++)
		if (r->met[m] >= 0)
			rendezvous_block(r, r->met[m]);
	return ret;
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
