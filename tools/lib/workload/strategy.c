// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/strategy.h"

#include <stdlib.h>
#include <string.h>


static struct to_strategy *strategy_alloc(const struct to_dnn_model *model, uint32_t n_servers,
					  uint64_t samples)
{
	struct to_strategy *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct to_strategy){ .model = model, .n_servers = n_servers, .samples = samples };
	s->at = calloc(model->n_operators, sizeof(*s->at));
	if (s->at)
		return s;
	free(s);
	return NULL;
}

struct to_strategy *to_strategy_new(const struct to_dnn_model *model, uint32_t n_servers,
				    unsigned int batch_per_gpu)
{
	unsigned int batch = batch_per_gpu ? batch_per_gpu : model->batch_per_gpu;
	struct to_strategy *s = strategy_alloc(model, n_servers,
					       (uint64_t)batch * model->device.gpus * n_servers);

	for (uint32_t op = 0; s && op < model->n_operators; op++)
		s->at[op] = (struct to_placement){ 0, 1, n_servers, false };
	return s;
}

struct to_strategy *to_strategy_copy(const struct to_strategy *strategy)
{
	struct to_strategy *s = strategy_alloc(strategy->model, strategy->n_servers,
					       strategy->samples);

	if (s)
		to_strategy_set(s, strategy);
	return s;
}

void to_strategy_free(struct to_strategy *strategy)
{
	if (strategy)
		free(strategy->at);
	free(strategy);
}

void to_strategy_set(struct to_strategy *strategy, const struct to_strategy *from)
{
	memcpy(strategy->at, from->at, strategy->model->n_operators * sizeof(*strategy->at));
}

void to_strategy_place_tables(struct to_strategy *strategy)
{
	const struct to_dnn_model *model = strategy->model;
	uint32_t next = 0;

	for (uint32_t op = 0; op < model->n_operators; op++)
		if (model->operators[op].type == TO_OPERATOR_EMBEDDING)
			strategy->at[op] = (struct to_placement){
				next++ % strategy->n_servers, 1, 1, false };
}

bool to_strategy_valid(const struct to_strategy *strategy, uint32_t op,
		       const struct to_placement *p)
{
	if (!p->n || !p->step || p->first >= strategy->n_servers)
		return false;
	if (p->n == 1)
		return p->step == 1 && !p->sharded;
	/* only parameters can be divided */
	if (p->sharded && !strategy->model->operators[op].parameter_bytes)
		return false;
	return p->first + (uint64_t)(p->n - 1) * p->step < strategy->n_servers;
}

double to_strategy_memory(const struct to_strategy *strategy, double *bytes)
{
	double most = 0;

	for (uint32_t x = 0; x < strategy->n_servers; x++)
		bytes[x] = 0;
	for (uint32_t op = 0; op < strategy->model->n_operators; op++) {
		const struct to_placement *p = &strategy->at[op];
		double each = strategy->model->operators[op].parameter_bytes;

		for (uint32_t i = 0; i < p->n; i++)
			bytes[p->first + i * p->step] += p->sharded ? each / p->n : each;
	}
	for (uint32_t x = 0; x < strategy->n_servers; x++)
		if (bytes[x] > most)
			most = bytes[x];
	return most;
}

bool to_strategy_fits(const struct to_strategy *strategy, double *scratch)
{
	const struct to_accelerator *device = &strategy->model->device;

	return to_strategy_memory(strategy, scratch) <= (double)device->memory_bytes * device->gpus;
}

bool to_placement_same(const struct to_placement *a, const struct to_placement *b)
{
	return a->first == b->first && a->step == b->step && a->n == b->n &&
	       a->sharded == b->sharded;
}

/* Whether an operator of the same placement comes before @op. */
static bool strategy_seen(const struct to_strategy *s, uint32_t op)
{
	for (uint32_t before = 0; before < op; before++)
		if (to_placement_same(&s->at[before], &s->at[op]))
			return true;
	return false;
}

static const char *strategy_how(const struct to_placement *p)
{
	return p->n == 1 ? "placed" : p->sharded ? "sharded" : "replicated";
}

static void strategy_print_servers(FILE *out, const struct to_placement *p)
{
	uint32_t last = p->first + (p->n - 1) * p->step;

	if (p->n == 1)
		fprintf(out, " server %u", p->first);
	else if (p->n == 2)
		fprintf(out, " servers %u and %u", p->first, last);
	else if (p->step == 1)
		fprintf(out, " servers %u to %u", p->first, last);
	else if (p->step == 2)
		fprintf(out, " servers %u to %u (%s)", p->first, last, p->first % 2 ? "odd" : "even");
	else
		fprintf(out, " servers %u to %u in steps of %u", p->first, last, p->step);
}

/* Operators placed as @op is; three or more that follow each other as a run. */
static void strategy_print_operators(FILE *out, const struct to_strategy *s, uint32_t op)
{
	const struct to_dnn_model *m = s->model;
	const char *before = "";
	uint32_t a, b;

	for (a = op; a < m->n_operators; a = b) {
		for (b = a; b < m->n_operators && to_placement_same(&s->at[b], &s->at[op]); b++)
			;
		if (b - a > 2)
			fprintf(out, "%s%s to %s", before, m->operators[a].name,
				m->operators[b - 1].name);
		for (; b - a <= 2 && a < b; a++) {
			fprintf(out, "%s%s", before, m->operators[a].name);
			before = ", ";
		}
		before = ", ";
		b += !(b < m->n_operators && to_placement_same(&s->at[b], &s->at[op]));
	}
}

void to_strategy_print(FILE *out, const struct to_strategy *s)
{
	for (uint32_t op = 0; op < s->model->n_operators; op++) {
		const struct to_placement *p = &s->at[op];

		if (strategy_seen(s, op))
			continue;
		fprintf(out, "  ");
		strategy_print_operators(out, s, op);
		fprintf(out, ": %s on", strategy_how(p));
		if (p->n == s->n_servers)
			fprintf(out, " all %u servers", p->n);
		else
			strategy_print_servers(out, p);
		fprintf(out, "\n");
	}
}

json_t *to_strategy_json(const struct to_strategy *s)
{
	const struct to_dnn_model *m = s->model;
	json_t *list = json_array();

	for (uint32_t op = 0; op < m->n_operators; op++) {
		const struct to_placement *p = &s->at[op];
		json_t *operators, *servers;

		if (strategy_seen(s, op))
			continue;
		operators = json_array();
		servers = json_array();
		for (uint32_t i = op; i < m->n_operators; i++)
			if (to_placement_same(&s->at[i], p))
				json_array_append_new(operators, json_string(m->operators[i].name));
		for (uint32_t i = 0; i < p->n; i++)
			json_array_append_new(servers, json_integer(p->first + i * p->step));
		if (json_array_append_new(list, json_pack("{s:o, s:s, s:o}", "operators", operators,
							  "how", strategy_how(p), "servers",
							  servers))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}
