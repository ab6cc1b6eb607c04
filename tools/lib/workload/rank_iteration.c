// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/rank_iteration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

const char *const to_rank_policies[] = { "baseline", "themis", "ideal", NULL };

/*
 * The rank while time passes.
 * @inner: dimensions of the ranks that share operators, @outer: of those that have the same
 *	parts; no dimension where that is one rank
 * @all: Gbit/s of all dimensions
 * @now: seconds
 * @exchanged: when the all-to-all that was begun last ends
 * @last_bytes, @last_dims, @last: time of the AllReduce before, as many are alike
 * @bits: of AllReduce, which took @reducing seconds
 */
struct rank {
	const struct to_rank_setting *s;
	struct to_dimensions inner, outer;
	struct to_rank_iteration *result;
	bool *waits;		/* per operator: an embedding is behind it */
	double samples, all, now, exchanged, bits, reducing;
	double last_bytes, last;
	const struct to_dimensions *last_dims;
	struct to_error *err;
};

static bool rank_divides(const struct rank *r, const struct to_operator *o)
{
	return r->s->divided > 1 && (o->type == TO_OPERATOR_ATTENTION ||
				     o->type == TO_OPERATOR_DENSE || o->type == TO_OPERATOR_EMBEDDING);
}

static bool rank_exchanges(const struct rank *r, const struct to_operator *o)
{
	return r->s->tables && o->type == TO_OPERATOR_EMBEDDING;
}

static double rank_bandwidth(const struct to_dimensions *dims)
{
	double all = 0;

	for (unsigned int k = 0; k < dims->n; k++)
		all += dims->list[k].bandwidth;
	return all;
}

/* Bits that a rank sends in an AllReduce, whichever dimension comes first. */
static double rank_allreduce_bits(const struct to_dimensions *dims, double bytes)
{
	return 16 * bytes * (1 - 1.0 / dims->ranks);
}

static int rank_schedule(const struct rank *r, const struct to_dimensions *dims, double bytes,
			 double *seconds)
{
	struct to_chunk_setting setting = r->s->chunks;
	struct to_chunk_schedule schedule;
	struct to_chunk_run run;
	int ret;

	setting.collective = TO_CHUNK_ALLREDUCE;
	setting.bytes = llround(bytes);
	ret = to_chunk_schedule_init(&schedule, dims, &setting, r->err);
	if (ret)
		return ret;
	if (r->s->policy == TO_RANK_THEMIS)
		to_chunk_schedule_themis(&schedule);
	else
		to_chunk_schedule_baseline(&schedule);
	ret = to_chunk_run_init(&run, &schedule);
	if (!ret)
		ret = to_chunk_run(&run, &schedule, r->s->policy == TO_RANK_THEMIS ? r->s->order :
							     TO_CHUNK_FIFO);
	*seconds = (double)run.ps / TO_PS_PER_S;
	to_chunk_run_free(&run);
	to_chunk_schedule_free(&schedule);
	return ret ? to_error_set(r->err, ret, "out of memory") : 0;
}

/* Wait for an AllReduce over the ranks of @dims, which @waited counts. */
static int rank_allreduce(struct rank *r, const struct to_dimensions *dims, double bytes,
			  double *waited)
{
	int ret = 0;

	if (!dims->n || bytes < 1)
		return 0;
	if (r->s->policy == TO_RANK_IDEAL)
		r->last = rank_allreduce_bits(dims, bytes) / rank_bandwidth(dims);
	else if (dims != r->last_dims || bytes != r->last_bytes)
		ret = rank_schedule(r, dims, bytes, &r->last);
	if (ret)
		return ret;
	r->last_dims = dims;
	r->last_bytes = bytes;
	r->now += r->last;
	r->reducing += r->last;
	*waited += r->last;
	r->bits += rank_allreduce_bits(dims, bytes);
	return 0;
}

/* Mean share of what a rank has that it sends through @d, times the links that it passes there. */
static double rank_crossings(const struct to_dimension *d)
{
	double links = 0;

	for (unsigned int i = 1; i < d->size; i++)
		links += d->kind != TO_DIMENSION_RING ? 1 : i < d->size - i ? i : d->size - i;
	return links / d->size;
}

/* All to all of @bytes a rank, through one dimension after the other, in many pieces. */
static void rank_exchange(struct rank *r, double bytes)
{
	const struct to_dimensions *dims = &r->s->network;
	double longest = 0, latency = 0;

	for (unsigned int k = 0; k < dims->n; k++) {
		const struct to_dimension *d = &dims->list[k];

		longest = fmax(longest, 8 * bytes * rank_crossings(d) / (double)d->bandwidth);
		latency += 1e-12 * (double)to_chunk_latency_ps(d);
	}
	r->exchanged = r->now + longest + latency;
}

static void rank_wait(struct rank *r)
{
	if (r->exchanged <= r->now)
		return;
	r->result->results += r->exchanged - r->now;
	r->now = r->exchanged;
}

static void rank_compute(struct rank *r, uint32_t op, double factor)
{
	const struct to_dnn_model *m = r->s->model;
	const double part = rank_divides(r, &m->operators[op]) ? 1.0 / r->s->divided : 1;
	const double seconds = factor * to_dnn_model_seconds(m, op, r->samples, part);

	r->now += seconds;
	r->result->computing += seconds;
}

static int rank_forward(struct rank *r, uint32_t op)
{
	const struct to_operator *o = &r->s->model->operators[op];

	rank_compute(r, op, 1);
	if (!rank_divides(r, o))
		return 0;
	return rank_allreduce(r, &r->inner, r->samples * (double)o->output_bytes, &r->result->results);
}

static int rank_backward(struct rank *r, uint32_t op)
{
	const struct to_dnn_model *m = r->s->model;
	const struct to_operator *o = &m->operators[op];
	double bytes = 0;
	int ret = r->s->recompute ? rank_forward(r, op) : 0;

	rank_compute(r, op, m->backward);
	for (unsigned int i = 0; i < o->n_inputs; i++)
		bytes += r->samples * (double)m->operators[o->inputs[i]].output_bytes;
	if (ret || !rank_divides(r, o))
		return ret;
	return rank_allreduce(r, &r->inner, bytes, &r->result->results);
}

/* Forth, and back; embeddings that are exchanged come first and last. */
static int rank_passes(struct rank *r)
{
	const struct to_dnn_model *m = r->s->model;
	double exchanged = 0;
	uint32_t left = 0;
	int ret = 0;

	for (uint32_t i = 0; i < m->n_operators; i++) {
		const struct to_operator *o = &m->operators[i];

		if (!rank_exchanges(r, o))
			continue;
		rank_compute(r, i, 1);
		exchanged += r->samples * (double)o->output_bytes;
	}
	if (exchanged > 0)
		rank_exchange(r, exchanged);
	for (uint32_t i = 0; !ret && i < m->n_operators; i++) {
		const uint32_t op = m->order[i];

		if (rank_exchanges(r, &m->operators[op]))
			continue;
		if (r->waits[op])
			rank_wait(r);
		left += r->waits[op];
		ret = rank_forward(r, op);
	}
	for (uint32_t i = m->n_operators; !ret && i-- > 0;) {
		const uint32_t op = m->order[i];

		if (rank_exchanges(r, &m->operators[op]))
			continue;
		ret = rank_backward(r, op);
		if (r->waits[op] && !--left && exchanged > 0)
			rank_exchange(r, exchanged);
	}
	rank_wait(r);
	for (uint32_t i = 0; i < m->n_operators; i++)
		if (rank_exchanges(r, &m->operators[i]))
			rank_compute(r, i, m->backward);
	return ret;
}

/* What a rank has of parameters: @gradients without tables, @memory with its part of them. */
static void rank_parameters(const struct rank *r, double *gradients, double *memory)
{
	const struct to_dnn_model *m = r->s->model;

	*gradients = *memory = 0;
	for (uint32_t i = 0; i < m->n_operators; i++) {
		const struct to_operator *o = &m->operators[i];
		double bytes = (double)o->parameter_bytes / (rank_divides(r, o) ? r->s->divided : 1);

		if (rank_exchanges(r, o)) {
			*memory += (double)o->parameter_bytes / r->s->network.ranks;
			continue;
		}
		*gradients += bytes;
		*memory += bytes;
	}
}

static void rank_find_waits(struct rank *r)
{
	const struct to_dnn_model *m = r->s->model;

	for (uint32_t i = 0; i < m->n_operators; i++) {
		const uint32_t op = m->order[i];

		for (unsigned int k = 0; k < m->operators[op].n_inputs; k++) {
			const uint32_t in = m->operators[op].inputs[k];

			r->waits[op] |= r->waits[in] || rank_exchanges(r, &m->operators[in]);
		}
	}
}

static int rank_run(struct rank *r)
{
	const struct to_dnn_model *m = r->s->model;
	const double room = (double)m->device.memory_bytes * m->device.gpus;
	struct to_rank_iteration *result = r->result;
	double memory;
	int ret;

	rank_parameters(r, &result->gradient_bytes, &memory);
	if (memory > room)
		return to_error_set(r->err, -ENOSPC,
				    "no room: a rank has %.4g GB of parameters, and holds %.4g GB",
				    memory / 1e9, room / 1e9);
	rank_find_waits(r);
	ret = rank_passes(r);
	if (!ret)
		ret = rank_allreduce(r, &r->outer, result->gradient_bytes, &result->gradients);
	result->time = r->now;
	result->used = r->reducing > 0 ? r->bits / (r->all * r->reducing) : 0;
	return ret;
}

int to_rank_iteration(const struct to_rank_setting *setting, struct to_rank_iteration *iteration,
		      struct to_error *err)
{
	const struct to_dnn_model *m = setting->model;
	const unsigned int batch = setting->batch ? setting->batch : m->batch_per_gpu;
	struct rank r = { .s = setting, .result = iteration, .err = err,
			  .samples = (double)batch * m->device.gpus,
			  .all = rank_bandwidth(&setting->network) };
	int ret;

	*iteration = (struct to_rank_iteration){ 0 };
	ret = to_dimensions_divide(&setting->network, setting->divided, &r.inner, &r.outer, err);
	if (ret)
		return ret;
	r.waits = calloc(m->n_operators, sizeof(*r.waits));
	ret = r.waits ? rank_run(&r) : to_error_set(err, -ENOMEM, "out of memory");
	free(r.waits);
	return ret;
}
