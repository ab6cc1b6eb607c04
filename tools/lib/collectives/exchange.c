// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define EXCHANGE_READ 65536

/* Elements on their way out, copied when their step began. */
struct exchange_block {
	struct exchange_block *next;
	size_t n, sent;		/* bytes */
	char bytes[];
};

struct to_exchange_out {
	struct to_exchange_end end;
	int fd;
	struct exchange_block *first, **last;
};

/*
 * @transfer: that is awaited, NULL for none
 * @range, @at: the next element of it to come
 * @part, @n_part: bytes of an element that has not come whole
 */
struct to_exchange_in {
	struct to_exchange_end end;
	int fd;
	const struct to_steps_transfer *transfer;
	uint32_t thread, range;
	uint64_t at;
	unsigned char part[sizeof(float)];
	unsigned int n_part;
};

struct exchange_thread {
	uint32_t step, awaited;
	struct to_exchange_done done;
};

struct exchange_run {
	struct to_exchange *x;
	struct exchange_thread *threads;
	struct pollfd *polls;
	uint64_t start_ns;
	struct to_error *err;
};

static int exchange_compare(const void *a, const void *b)
{
	const struct to_exchange_end *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return (x->peer > y->peer) - (x->peer < y->peer);
}

/* Lanes and peers of transfers that are sent, or received, each once. */
static uint32_t exchange_ends(const struct to_steps *steps, bool sent, struct to_exchange_end *ends)
{
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < steps->n_transfers; i++)
		if ((steps->transfers[i].kind == TO_STEPS_SEND) == sent)
			ends[n++] = (struct to_exchange_end){ steps->transfers[i].peer,
							      steps->transfers[i].lane };
	if (n)
		qsort(ends, n, sizeof(*ends), exchange_compare);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || exchange_compare(&ends[kept - 1], &ends[i]))
			ends[kept++] = ends[i];
	return kept;
}

int to_exchange_init(struct to_exchange *x, const struct to_steps *steps, float *buffer)
{
	struct to_exchange_end *ends = calloc(steps->n_transfers + 1, sizeof(*ends));

	*x = (struct to_exchange){ .steps = steps, .buffer = buffer };
	if (!ends)
		return -ENOMEM;
	x->n_out = exchange_ends(steps, true, ends);
	x->out = calloc(x->n_out + 1, sizeof(*x->out));
	for (uint32_t i = 0; x->out && i < x->n_out; i++)
		x->out[i] = (struct to_exchange_out){ .end = ends[i], .fd = -1, .last = &x->out[i].first };
	x->n_in = exchange_ends(steps, false, ends);
	x->in = calloc(x->n_in + 1, sizeof(*x->in));
	for (uint32_t i = 0; x->in && i < x->n_in; i++)
		x->in[i] = (struct to_exchange_in){ .end = ends[i], .fd = -1 };
	free(ends);
	if (x->out && x->in)
		return 0;
	free(x->out);
	free(x->in);
	return -ENOMEM;
}

void to_exchange_free(struct to_exchange *x)
{
	for (uint32_t i = 0; i < x->n_out; i++) {
		struct exchange_block *block = x->out[i].first, *next;

		for (; block; block = next) {
			next = block->next;
			free(block);
		}
		if (x->out[i].fd >= 0)
			close(x->out[i].fd);
	}
	for (uint32_t i = 0; i < x->n_in; i++)
		if (x->in[i].fd >= 0)
			close(x->in[i].fd);
	free(x->out);
	free(x->in);
	*x = (struct to_exchange){ 0 };
}

struct to_exchange_end to_exchange_out(const struct to_exchange *x, uint32_t i)
{
	return x->out[i].end;
}

struct to_exchange_end to_exchange_in(const struct to_exchange *x, uint32_t i)
{
	return x->in[i].end;
}

void to_exchange_set_out(struct to_exchange *x, uint32_t i, int fd)
{
	x->out[i].fd = fd;
}

static struct to_exchange_in *exchange_find_in(const struct to_exchange *x, struct to_exchange_end end)
{
	return bsearch(&end, x->in, x->n_in, sizeof(*x->in), exchange_compare);
}

int to_exchange_set_in(struct to_exchange *x, struct to_exchange_end end, int fd)
{
	struct to_exchange_in *in = exchange_find_in(x, end);
	int before;

	if (!in)
		return -ENOENT;
	before = in->fd;
	in->fd = fd;
	if (before < 0)
		return 1;
	close(before);
	return 0;
}

/* Elements of a transfer, copied for who sends them later. */
static int exchange_enqueue(struct exchange_run *r, const struct to_steps_transfer *t, uint64_t size)
{
	const struct to_exchange *x = r->x;
	struct to_exchange_end end = { t->peer, t->lane };
	struct to_exchange_out *out = bsearch(&end, x->out, x->n_out, sizeof(*x->out), exchange_compare);
	struct exchange_block *block = malloc(sizeof(*block) + size * sizeof(float));
	char *to;

	if (!block)
		return to_error_set(r->err, -ENOMEM, "out of memory");
	*block = (struct exchange_block){ .n = size * sizeof(float) };
	to = block->bytes;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct to_elements *e = &x->steps->elements[t->first + i];

		memcpy(to, x->buffer + e->first, e->n * sizeof(float));
		to += e->n * sizeof(float);
	}
	*out->last = block;
	out->last = &block->next;
	return 0;
}

static int exchange_begin(struct exchange_run *r, uint32_t thread)
{
	const struct to_steps *s = r->x->steps;
	struct exchange_thread *t = &r->threads[thread];
	const struct to_steps_part *step = &s->steps[s->threads[thread].first + t->step];
	int ret = 0;

	t->done = (struct to_exchange_done){
		.thread = thread, .step = t->step, .begin_s = to_clock_seconds_since(r->start_ns) };
	for (uint32_t i = 0; !ret && i < step->n; i++) {
		const struct to_steps_transfer *transfer = &s->transfers[step->first + i];
		const uint64_t size = to_steps_transfer_size(s, transfer);
		struct to_exchange_in *in;

		if (!size)
			continue;
		if (transfer->kind == TO_STEPS_SEND) {
			ret = exchange_enqueue(r, transfer, size);
			t->done.sent += size * sizeof(float);
			continue;
		}
		in = exchange_find_in(r->x, (struct to_exchange_end){ transfer->peer, transfer->lane });
		in->transfer = transfer;
		in->thread = thread;
		in->range = 0;
		in->at = 0;
		t->awaited++;
		t->done.received += size * sizeof(float);
	}
	return ret;
}

/* Begin steps of a thread until one awaits something. */
static int exchange_advance(struct exchange_run *r, uint32_t thread, bool begun)
{
	struct exchange_thread *t = &r->threads[thread];
	int ret = 0;

	while (!ret && !t->awaited && t->step < r->x->steps->threads[thread].n) {
		if (begun) {
			t->done.end_s = to_clock_seconds_since(r->start_ns);
			if (r->x->note)
				r->x->note(r->x->data, &t->done);
			t->step++;
		}
		begun = t->step < r->x->steps->threads[thread].n;
		if (begun)
			ret = exchange_begin(r, thread);
	}
	return ret;
}

static int exchange_lost(struct exchange_run *r, struct to_exchange_end end, ssize_t ret)
{
	int code = !ret || errno == EPIPE ? ECONNRESET : errno;

	return to_error_set(r->err, -code, "member %u, lane %u: %s", end.peer, end.lane,
			    code == ECONNRESET ? "the connection was closed" : strerror(code));
}

static int exchange_write(struct exchange_run *r, struct to_exchange_out *out)
{
	struct exchange_block *block = out->first;
	ssize_t n = send(out->fd, block->bytes + block->sent, block->n - block->sent, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : exchange_lost(r, out->end, n);
	block->sent += n;
	if (block->sent < block->n)
		return 0;
	out->first = block->next;
	if (!out->first)
		out->last = &out->first;
	free(block);
	return 0;
}

/* Bytes that are missing of what @in awaits. */
static size_t exchange_missing(const struct to_exchange *x, const struct to_exchange_in *in)
{
	const struct to_elements *e = &x->steps->elements[in->transfer->first];
	uint64_t n = 0;

	for (uint32_t i = in->range; i < in->transfer->n; i++)
		n += e[i].n;
	return (n - in->at) * sizeof(float) - in->n_part;
}

/* Whole elements that came. Return: how many bytes of them were taken. */
static size_t exchange_take(const struct to_exchange *x, struct to_exchange_in *in,
			    const unsigned char *bytes, size_t n)
{
	const struct to_elements *e = &x->steps->elements[in->transfer->first + in->range];
	const bool add = in->transfer->kind == TO_STEPS_ADD;
	float *at = &x->buffer[e->first + in->at], value;
	uint64_t elements = n / sizeof(value);

	if (elements > e->n - in->at)
		elements = e->n - in->at;
	for (uint64_t i = 0; i < elements; i++) {
		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		at[i] = add ? at[i] + value : value;
	}
	in->at += elements;
	if (in->at == e->n) {
		in->at = 0;
		in->range++;
	}
	return elements * sizeof(value);
}

static void exchange_absorb(const struct to_exchange *x, struct to_exchange_in *in,
			    const unsigned char *bytes, size_t n)
{
	while (n) {
		size_t taken = 1;

		if (!in->n_part && n >= sizeof(in->part)) {
			taken = exchange_take(x, in, bytes, n);
		} else {
			in->part[in->n_part++] = *bytes;
			if (in->n_part == sizeof(in->part)) {
				exchange_take(x, in, in->part, sizeof(in->part));
				in->n_part = 0;
			}
		}
		bytes += taken;
		n -= taken;
	}
}

static int exchange_read(struct exchange_run *r, struct to_exchange_in *in)
{
	unsigned char bytes[EXCHANGE_READ];
	size_t missing = exchange_missing(r->x, in);
	ssize_t n = recv(in->fd, bytes, missing < sizeof(bytes) ? missing : sizeof(bytes), 0);

	if (n <= 0)
		return n && (errno == EAGAIN || errno == EINTR) ? 0 : exchange_lost(r, in->end, n);
	exchange_absorb(r->x, in, bytes, n);
	if ((size_t)n < missing)
		return 0;
	in->transfer = NULL;
	r->threads[in->thread].awaited--;
	return exchange_advance(r, in->thread, true);
}

/* Sockets that something can happen on now. Return: how many. */
static nfds_t exchange_watch(struct exchange_run *r)
{
	const struct to_exchange *x = r->x;
	nfds_t n = 0;

	for (uint32_t i = 0; i < x->n_out + x->n_in; i++) {
		bool out = i < x->n_out;
		bool wanted = out ? !!x->out[i].first : !!x->in[i - x->n_out].transfer;

		r->polls[i] = (struct pollfd){
			.fd = !wanted ? -1 : out ? x->out[i].fd : x->in[i - x->n_out].fd,
			.events = out ? POLLOUT : POLLIN };
		n += wanted;
	}
	return n;
}

static int exchange_turn(struct exchange_run *r, uint64_t deadline_ns)
{
	struct to_exchange *x = r->x;
	uint64_t now = to_clock_monotonic_ns();
	int ret;

	if (now >= deadline_ns)
		return to_error_set(r->err, -ETIMEDOUT, "time is up");
	ret = poll(r->polls, x->n_out + x->n_in, (int)((deadline_ns - now) / 1000000 % 100000) + 1);
	if (ret < 0)
		return errno == EINTR ? 0 : to_error_set(r->err, -errno, "poll: %s", strerror(errno));
	ret = 0;
	for (uint32_t i = 0; !ret && i < x->n_out + x->n_in; i++) {
		if (!r->polls[i].revents)
			continue;
		ret = i < x->n_out ? exchange_write(r, &x->out[i]) : exchange_read(r, &x->in[i - x->n_out]);
	}
	return ret;
}

static int exchange_start(struct exchange_run *r)
{
	const struct to_exchange *x = r->x;
	int ret = 0;

	for (uint32_t i = 0; i < x->n_out + x->n_in; i++) {
		int fd = i < x->n_out ? x->out[i].fd : x->in[i - x->n_out].fd;

		if (fcntl(fd, F_SETFL, O_NONBLOCK))
			return to_error_set(r->err, -errno, "a connection is missing");
	}
	for (uint32_t t = 0; !ret && t < x->steps->n_threads; t++)
		ret = exchange_advance(r, t, false);
	return ret;
}

int to_exchange_run(struct to_exchange *x, uint64_t deadline_ns, struct to_error *err)
{
	struct exchange_run r = { .x = x, .err = err, .start_ns = to_clock_monotonic_ns() };
	int ret;

	r.threads = calloc(x->steps->n_threads + 1, sizeof(*r.threads));
	r.polls = calloc(x->n_out + x->n_in + 1, sizeof(*r.polls));
	ret = r.threads && r.polls ? exchange_start(&r) : to_error_set(err, -ENOMEM, "out of memory");
	while (!ret && exchange_watch(&r))
		ret = exchange_turn(&r, deadline_ns);
	free(r.threads);
	free(r.polls);
	return ret;
}
