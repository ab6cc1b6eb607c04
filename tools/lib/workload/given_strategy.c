// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/given_strategy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct to_strategy *given_find(const char *word, const struct to_dnn_model *model,
				      uint32_t n_servers, unsigned int batch_per_gpu,
				      struct to_error *err)
{
	const bool tables = !strcmp(word, "tables");
	struct to_strategy *strategy;

	if (!tables && strcmp(word, "data"))
		return to_strategy_load(word, model, n_servers, batch_per_gpu, err);
	strategy = to_strategy_new(model, n_servers, batch_per_gpu);
	if (!strategy)
		to_error_set(err, -ENOMEM, "out of memory");
	else if (tables)
		to_strategy_place_tables(strategy);
	return strategy;
}

struct to_strategy *to_given_strategy(const char *word, const struct to_dnn_model *model,
				      uint32_t n_servers, unsigned int batch_per_gpu,
				      struct to_error *err)
{
	double *memory = calloc(n_servers, sizeof(*memory));
	struct to_strategy *strategy;

	if (!memory) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	strategy = given_find(word, model, n_servers, batch_per_gpu, err);
	if (strategy && !to_strategy_fits(strategy, memory)) {
		to_error_set(err, -ENOSPC,
			     "%s: no room: %.4g GB of parameters are on one server, which holds %.4g GB",
			     word, to_strategy_memory(strategy, memory) / 1e9,
			     (double)model->device.memory_bytes * model->device.gpus / 1e9);
		to_strategy_free(strategy);
		strategy = NULL;
	}
	free(memory);
	return strategy;
}
