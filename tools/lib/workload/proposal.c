// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/proposal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/random.h"

static bool proposal_like(const struct to_operator *a, const struct to_operator *b)
{
	return a->type == b->type && a->flops == b->flops && a->n_inputs == b->n_inputs &&
	       a->parameter_bytes == b->parameter_bytes && a->output_bytes == b->output_bytes;
}

int to_proposals_init(struct to_proposals *proposals, const struct to_dnn_model *model,
		      uint32_t n_servers)
{
	*proposals = (struct to_proposals){ .model = model, .n_servers = n_servers };
	proposals->first_like = calloc(model->n_operators, sizeof(*proposals->first_like));
	if (!proposals->first_like)
		return -ENOMEM;
	for (uint32_t op = 0; op < model->n_operators; op++)
		while (!proposal_like(&model->operators[proposals->first_like[op]],
				      &model->operators[op]))
			proposals->first_like[op]++;
	return 0;
}

void to_proposals_free(struct to_proposals *proposals)
{
	free(proposals->first_like);
}

/* Some of the servers: neighbours, or spread evenly; often a power of two of them. */
static struct to_placement proposal_some(const struct to_proposals *proposals, uint64_t *random)
{
	uint32_t n = proposals->n_servers, some, step = 1;

	if (to_random_below(random, 4)) {
		some = n;
		while (some > 3 && to_random_below(random, 3))
			some /= 2;
	} else {
		some = 1 + to_random_below(random, n);
	}
	if (to_random_below(random, 2))
		step = n / some;
	if (some == 1)
		step = 1;
	return (struct to_placement){ to_random_below(random, n - (some - 1) * step), step, some,
				      false };
}

static struct to_placement proposal_placement(const struct to_proposals *proposals,
					      uint64_t *random)
{
	struct to_placement p = { 0, 1, proposals->n_servers, false };

	switch (to_random_below(random, 8)) {
	case 0:
	case 1:
		break;
	case 2:
	case 3:
		p.first = to_random_below(random, proposals->n_servers);
		p.n = 1;
		break;
	case 4:
		p.sharded = true;
		break;
	default:
		p = proposal_some(proposals, random);
		p.sharded = to_random_below(random, 2);
	}
	return p;
}

static void proposal_put(struct to_strategy *strategy, uint32_t op, struct to_placement p)
{
	if (p.n == 1 || !strategy->model->operators[op].parameter_bytes)
		p.sharded = false;
	strategy->at[op] = p;
}

/* Assign operators like @op to the servers of a placement one by one. */
static void proposal_deal(const struct to_proposals *proposals, struct to_strategy *strategy,
			  uint32_t op, uint64_t *random)
{
	struct to_placement p = proposal_some(proposals, random);
	uint32_t k = to_random_below(random, p.n);

	for (uint32_t i = 0; i < proposals->model->n_operators; i++)
		if (proposals->first_like[i] == proposals->first_like[op])
			proposal_put(strategy, i, (struct to_placement){
				p.first + k++ % p.n * p.step, 1, 1, false });
}

/* Block @index of @n parts of all servers: neighbours, or spread evenly. */
static struct to_placement proposal_block(const struct to_proposals *proposals, uint32_t index,
					  uint32_t parts, bool spread)
{
	uint32_t n = proposals->n_servers;
	uint32_t begin = (uint64_t)index * n / parts, end = (index + 1ull) * n / parts;
	struct to_placement p = { begin, 1, end - begin, false };

	if (spread)
		p = (struct to_placement){ index, parts, (n - index - 1) / parts + 1, false };
	if (p.n == 1)
		p.step = 1;
	return p;
}

/*
 * Stages: cut the operators, tables aside, into runs of about as many bytes of
 * parameters, and replicate each on servers of its own.
 */
static void proposal_stages(const struct to_proposals *proposals, struct to_strategy *strategy,
			    uint64_t *random)
{
	const struct to_dnn_model *m = proposals->model;
	uint32_t most = proposals->n_servers < 8 ? proposals->n_servers : 8;
	uint32_t parts = 2 + to_random_below(random, most - 1), op;
	double shift = to_random_below(random, 1024) / 1024. - .5, total = 0, before = 0;
	bool spread = to_random_below(random, 2);

	for (op = 0; op < m->n_operators; op++)
		if (m->operators[op].type != TO_OPERATOR_EMBEDDING)
			total += m->operators[op].parameter_bytes;
	for (op = 0; op < m->n_operators; op++) {
		double at = total ? before / total * parts + shift : 0;
		uint32_t index = at > 0 ? at : 0;

		if (m->operators[op].type == TO_OPERATOR_EMBEDDING)
			continue;
		before += m->operators[op].parameter_bytes;
		proposal_put(strategy, op,
			     proposal_block(proposals, index < parts ? index : parts - 1, parts,
					    spread));
	}
}

/* Move to the placement of an input, or else of an operator that takes this one's result. */
static void proposal_join(const struct to_proposals *proposals, struct to_strategy *strategy,
			  uint32_t op, uint64_t *random)
{
	const struct to_operator *o = &proposals->model->operators[op];
	uint32_t other;

	if (o->n_inputs && to_random_below(random, 2)) {
		other = o->inputs[to_random_below(random, o->n_inputs)];
		proposal_put(strategy, op, strategy->at[other]);
	} else if (o->n_inputs) {
		other = o->inputs[to_random_below(random, o->n_inputs)];
		proposal_put(strategy, other, strategy->at[op]);
	}
}

void to_propose(const struct to_proposals *proposals, struct to_strategy *strategy,
		uint64_t *random)
{
	uint32_t n = proposals->model->n_operators, op = to_random_below(random, n), other, i;
	struct to_placement p = proposal_placement(proposals, random);

	switch (to_random_below(random, 10)) {
	case 0:
		for (i = 0; i < n; i++)
			if (proposals->first_like[i] == proposals->first_like[op])
				proposal_put(strategy, i, p);
		break;
	case 1:
		proposal_deal(proposals, strategy, op, random);
		break;
	case 2:
		other = to_random_below(random, n);
		p = strategy->at[other];
		proposal_put(strategy, other, strategy->at[op]);
		proposal_put(strategy, op, p);
		break;
	case 3:
		proposal_stages(proposals, strategy, random);
		break;
	case 4:
	case 5:
		proposal_join(proposals, strategy, op, random);
		break;
	case 6:
		other = op + 2 + to_random_below(random, 7);
		for (i = op; i < n && i < other; i++)
			proposal_put(strategy, i, p);
		break;
	default:
		proposal_put(strategy, op, p);
	}
}
