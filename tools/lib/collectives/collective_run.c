// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/collective_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collectives/rendezvous.h"

#define COLLECTIVE_TOKEN_MIN 16		/* characters that are hard to guess */

/* A run under way. */
struct collective_run {
	const struct to_collective_run *run;
	struct to_steps steps;
	struct to_exchange exchange;
	struct to_rendezvous rendezvous;
	float *buffer;
	char *heard;		/* a byte of each member, at member 0 */
	unsigned int done;	/* repetitions */
};

int to_collective_run_token(char token[TO_PASSWORD_MAX], const char *path, struct to_error *err)
{
	int ret = to_password_read(token, path, TO_COLLECTIVE_TOKEN, err);

	if (ret || strlen(token) >= COLLECTIVE_TOKEN_MIN)
		return ret;
	return to_error_set(err, -EINVAL, "%s: a token has %d characters or more",
			    path ? path : TO_COLLECTIVE_TOKEN, COLLECTIVE_TOKEN_MIN);
}

static void collective_run_note(void *data, const struct to_exchange_done *done)
{
	const struct collective_run *r = data;

	r->run->note(r->run->data, r->done, done);
}

/* Return a number that all members of the same run have in common. */
static uint64_t collective_run_number(const struct to_collective_run *run)
{
	const struct to_collective_plan *c = run->plan;
	const uint64_t words[] = { c->algorithm, c->group, c->nodes, c->size, run->repeat };
	uint64_t number = strtoull(run->fingerprint, NULL, 16);

	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		number = (number ^ number >> 29 ^ words[i]) * 0x9e3779b97f4a7c15;
	return number;
}

static int collective_run_open(struct collective_run *r, struct to_error *err)
{
	const struct to_collective_run *run = r->run;

	if (to_collective_plan_steps(run->plan, run->self, &r->steps))
		return to_error_set(err, -ENOMEM, "out of memory");
	r->buffer = calloc(run->plan->size, sizeof(*r->buffer));
	r->heard = calloc(run->plan->n, 1);
	if (!r->buffer || !r->heard || to_exchange_init(&r->exchange, &r->steps, r->buffer))
		return to_error_set(err, -ENOMEM, "out of memory");
	if (run->note) {
		r->exchange.note = collective_run_note;
		r->exchange.data = r;
	}
	r->rendezvous = (struct to_rendezvous){
		.c = run->plan, .self = run->self, .run = collective_run_number(run),
		.token = run->token, .port = run->port,
		.deadline_ns = to_clock_monotonic_ns() + run->timeout_ns };
	return to_rendezvous_open(&r->rendezvous, &r->exchange, err);
}

static void collective_run_close(struct collective_run *r)
{
	to_rendezvous_close(&r->rendezvous);
	to_exchange_free(&r->exchange);
	to_steps_free(&r->steps);
	free(r->buffer);
	free(r->heard);
}

/* Do one repetition: all members begin together, and compare their sums at the end. */
static int collective_run_once(struct collective_run *r, struct to_collective_part *own,
			       struct to_error *err)
{
	const struct to_collective_run *run = r->run;
	uint64_t start_ns;
	int ret;

	to_collective_plan_fill(run->plan, run->self, r->buffer);
	ret = to_rendezvous_meet(&r->rendezvous, "", r->heard, 1, err);
	start_ns = to_clock_monotonic_ns();
	if (!ret)
		ret = to_exchange_run(&r->exchange, r->rendezvous.deadline_ns, err);
	if (ret)
		return ret;
	own->seconds += to_clock_seconds_since(start_ns) / (double)run->repeat;
	own->wrong += to_collective_plan_wrong(run->plan, r->buffer);
	return 0;
}

static int collective_run_do(struct collective_run *r, struct to_collective_part *own,
			     struct to_collective_part *all, struct to_error *err)
{
	const struct to_collective_run *run = r->run;
	uint64_t before[TO_PORTS_MAX] = { 0 };
	int ret = to_rendezvous_connect(&r->rendezvous, &r->exchange, err);

	if (!ret)
		ret = run->count(run->data, before, err);
	for (; !ret && r->done < run->repeat; r->done++)
		ret = collective_run_once(r, own, err);
	/* others may still send through this server */
	if (!ret)
		ret = to_rendezvous_meet(&r->rendezvous, "", r->heard, 1, err);
	if (!ret)
		ret = run->count(run->data, own->sent, err);
	if (ret)
		return ret;
	for (unsigned int q = 0; q < TO_PORTS_MAX; q++)
		own->sent[q] -= before[q];
	return to_rendezvous_meet(&r->rendezvous, own, all, sizeof(*own), err);
}

int to_collective_run(const struct to_collective_run *run, struct to_collective_part *own,
		      struct to_collective_part *all, struct to_error *err)
{
	struct collective_run r = { .run = run };
	int ret = collective_run_open(&r, err);

	*own = (struct to_collective_part){};
	if (!ret)
		ret = collective_run_do(&r, own, all, err);
	collective_run_close(&r);
	return ret;
}

void to_collective_run_print_step(FILE *out, unsigned int repetition,
				  const struct to_exchange_done *done)
{
	fprintf(out, "{\"run\": %u, \"thread\": %u, \"step\": %u, \"begin_s\": %.6f, \"end_s\": %.6f, "
		"\"sent\": %" PRIu64 ", \"received\": %" PRIu64 "}\n", repetition, done->thread,
		done->step, done->begin_s, done->end_s, done->sent, done->received);
}
