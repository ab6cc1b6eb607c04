/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COLLECTIVE_RUN_H
#define TOPOOPT_COLLECTIVE_RUN_H

/* One member's part of an AllReduce over the links of a plan, done and timed. */

#include <stdio.h>

#include "base/password.h"
#include "collectives/collective_plan.h"
#include "collectives/exchange.h"

#define TO_COLLECTIVE_TOKEN "TOPOOPT_COLLECTIVE_TOKEN"	/* in the environment */

/**
 * to_collective_run_token() - read the token of a run
 * @path: of a file that only its owner may read; NULL: the environment's TO_COLLECTIVE_TOKEN
 *
 * Return: what to_password_read() returns; -EINVAL when it is easy to guess.
 */
int to_collective_run_token(char token[TO_PASSWORD_MAX], const char *path, struct to_error *err);

/** struct to_collective_part - what one member has done */
struct to_collective_part {
	uint64_t wrong;			/* sums that are wrong, of all repetitions */
	double seconds;			/* mean time of a repetition */
	uint64_t sent[TO_PORTS_MAX];	/* bytes that each port has sent, in all repetitions */
};

/** struct to_collective_run - what one member is to do; all pointers are borrowed */
struct to_collective_run {
	const struct to_collective_plan *plan;	/* steps and members */
	uint32_t self;			/* number of this member; member 0 hears of all others */
	const char *fingerprint;	/* of the plan's file, equal at all members */
	const char *token;		/* secret that all members have in common */
	uint64_t repeat;		/* repetitions */
	uint16_t port;			/* TCP port that all members listen at */
	uint64_t timeout_ns;		/* time for all repetitions and the start of all members */

	/*
	 * Set @sent to the bytes that each port of this server has sent until now. Return: 0 or
	 * a negative errno with @err.
	 */
	int (*count)(void *data, uint64_t sent[TO_PORTS_MAX], struct to_error *err);

	/* Told of each step that ends; NULL: nobody. */
	void (*note)(void *data, unsigned int repetition, const struct to_exchange_done *done);
	void *data;			/* for count() and note() */
};

/**
 * to_collective_run() - meet all members, do the steps, and compare the sums
 * @own: set to the part of this member
 * @all: set to the parts of all members, at member 0; an array of plan->n
 *
 * Return: 0; -EPROTO with @err: another member runs another collective; another negative errno
 * with @err: members cannot be reached, or not in time; -ENOMEM.
 */
int to_collective_run(const struct to_collective_run *run, struct to_collective_part *own,
		      struct to_collective_part *all, struct to_error *err);

/** to_collective_run_print_step() - print a line of JSON for a step that has ended */
void to_collective_run_print_step(FILE *out, unsigned int repetition,
				  const struct to_exchange_done *done);

#endif
