/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_EXCHANGE_H
#define TOPOOPT_EXCHANGE_H

/* A member's steps, done: elements are 32-bit floats, sent over connected sockets. */

#include "base/error.h"
#include "collectives/steps.h"

struct to_exchange_out;
struct to_exchange_in;

/**
 * struct to_exchange_done - a step that has ended
 * @thread, @step: of to_steps
 * @begin_s, @end_s: after to_exchange_run() began
 * @sent, @received: bytes; what is sent may still wait in a socket
 */
struct to_exchange_done {
	uint32_t thread, step;
	double begin_s, end_s;
	uint64_t sent, received;
};

/**
 * struct to_exchange - what is under way
 * @buffer: to_steps.size elements
 * @n_out, @n_in, @out, @in: connections, one for each lane and peer
 * @note: is told of each step that ends, NULL for nobody
 */
struct to_exchange {
	const struct to_steps *steps;
	float *buffer;
	uint32_t n_out, n_in;
	struct to_exchange_out *out;
	struct to_exchange_in *in;
	void (*note)(void *data, const struct to_exchange_done *done);
	void *data;
};

/** struct to_exchange_end - of a connection: with which peer, in which lane */
struct to_exchange_end {
	uint32_t peer, lane;
};

/**
 * to_exchange_init() - find the connections that @steps need, none made yet
 *
 * Return: 0 or -ENOMEM.
 */
int to_exchange_init(struct to_exchange *x, const struct to_steps *steps, float *buffer);

/** to_exchange_free() - and close its sockets */
void to_exchange_free(struct to_exchange *x);

/** to_exchange_out() - the @i-th of the connections that this member sends by */
struct to_exchange_end to_exchange_out(const struct to_exchange *x, uint32_t i);

/** to_exchange_set_out() - give that one its socket, which is taken over */
void to_exchange_set_out(struct to_exchange *x, uint32_t i, int fd);

/** to_exchange_in() - find the ends of the @i-th connection that this member receives by */
struct to_exchange_end to_exchange_in(const struct to_exchange *x, uint32_t i);

/**
 * to_exchange_set_in() - give a connection that this member receives by its socket
 * @fd: taken over on success; a socket that the connection had before is closed
 *
 * Return: 1 when the connection had no socket, 0 when it had one, -ENOENT when @end is none of
 * those that this member receives by.
 */
int to_exchange_set_in(struct to_exchange *x, struct to_exchange_end end, int fd);

/**
 * to_exchange_run() - do all steps
 * @deadline_ns: by to_clock_monotonic_ns()
 *
 * Return: 0; -ETIMEDOUT; -ECONNRESET and other errors of sockets, with @err naming the
 * member by its number.
 */
int to_exchange_run(struct to_exchange *x, uint64_t deadline_ns, struct to_error *err);

#endif
