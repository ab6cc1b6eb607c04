// SPDX-License-Identifier: GPL-2.0-or-later
/* A strategy out of what tosim simulate --json printed. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "workload/strategy.h"

/* @seen: per operator, whether it has its placement */
struct strategy_load {
	struct to_strategy *strategy;
	bool *seen;
};

/* Servers in even steps are what a placement can be. */
static int load_servers(const struct to_json *at, void *to)
{
	struct to_placement *p = to;
	unsigned int n;
	int ret = to_json_array(at, 0, NULL, &n);

	if (!ret && !n)
		return to_json_error(at, -EINVAL, "expected at least one server");
	for (unsigned int i = 0; !ret && i < n; i++) {
		const struct to_json element = to_json_element(at, i);
		unsigned int server;

		ret = to_json_u32(&element, &server);
		if (!ret && i == 0)
			*p = (struct to_placement){ server, 1, n, p->sharded };
		else if (!ret && i == 1 && server > p->first)
			p->step = server - p->first;
		else if (!ret && server != p->first + (uint64_t)i * p->step)
			ret = to_json_error(&element, -EINVAL, "expected servers in even steps");
	}
	return ret;
}

static int load_how(const struct to_json *at, void *to)
{
	static const char *const words[] = { "placed", "replicated", "sharded", NULL };
	struct to_placement *p = to;
	const int how = to_json_choice(at, words);

	p->sharded = how == 2;
	return how < 0 ? how : 0;
}

static int load_operators(const struct to_json *at, void *to)
{
	unsigned int n;

	(void)to;
	return to_json_array(at, 0, NULL, &n);
}

static const struct to_json_field load_fields[] = {
	{ "operators", load_operators, 0, false },
	{ "how", load_how, 0, false },
	{ "servers", load_servers, 0, false },
	{}
};

static int load_operator(struct strategy_load *load, const struct to_json *at,
			 const struct to_placement *p)
{
	const struct to_dnn_model *m = load->strategy->model;
	const char *name;
	uint32_t op = 0;
	int ret = to_json_string(at, &name);

	if (ret)
		return ret;
	while (op < m->n_operators && strcmp(m->operators[op].name, name))
		op++;
	if (op == m->n_operators)
		return to_json_error(at, -ENOENT, "%s has no operator \"%s\"", m->name, name);
	if (load->seen[op])
		return to_json_error(at, -EEXIST, "\"%s\" has been placed before", name);
	if (!to_strategy_valid(load->strategy, op, p))
		return to_json_error(at, -EINVAL, "\"%s\" cannot be there: %u servers, and only parameters can be sharded",
				     name, load->strategy->n_servers);
	load->seen[op] = true;
	load->strategy->at[op] = *p;
	return 0;
}

static int load_placements(struct strategy_load *load, const struct to_json *list)
{
	const struct to_dnn_model *m = load->strategy->model;
	unsigned int n, n_operators;
	int ret = to_json_array(list, 0, NULL, &n);

	for (unsigned int i = 0; !ret && i < n; i++) {
		const struct to_json at = to_json_element(list, i);
		struct to_placement p = { .step = 1 };
		struct to_json operators;

		ret = to_json_object(&at, load_fields, &p);
		if (ret)
			return ret;
		operators = to_json_member(&at, "operators");
		ret = to_json_array(&operators, 0, NULL, &n_operators);
		for (unsigned int k = 0; !ret && k < n_operators; k++) {
			const struct to_json element = to_json_element(&operators, k);

			ret = load_operator(load, &element, &p);
		}
	}
	for (uint32_t op = 0; !ret && op < m->n_operators; op++)
		if (!load->seen[op])
			ret = to_json_error(list, -EINVAL, "\"%s\" is placed nowhere",
					    m->operators[op].name);
	return ret;
}

static int load_document(struct strategy_load *load, const char *path, const char *text,
			 size_t len, struct to_error *err)
{
	struct to_json_doc doc = {};
	struct to_json at, list;
	int ret = to_json_open(&doc, &at, text, len, path, NULL, err);

	if (ret)
		return ret;
	list = to_json_member(&at, "strategy");
	if (json_is_array(list.value))
		ret = load_placements(load, &list);
	else
		ret = to_json_error(&at, -EINVAL,
				    "has no strategy: expected what tosim simulate --model prints with --json");
	to_json_close(&doc);
	return ret;
}

struct to_strategy *to_strategy_load(const char *path, const struct to_dnn_model *model,
				     uint32_t n_servers, unsigned int batch_per_gpu,
				     struct to_error *err)
{
	struct strategy_load load = { 0 };
	size_t len;
	char *text;
	int ret = to_file_read(path, TO_FILE_MAX, &text, &len, err);

	if (ret)
		return NULL;
	load.strategy = to_strategy_new(model, n_servers, batch_per_gpu);
	load.seen = calloc(model->n_operators, sizeof(*load.seen));
	if (load.strategy && load.seen)
		ret = load_document(&load, path, text, len, err);
	else
		ret = to_error_set(err, -ENOMEM, "out of memory");
	free(load.seen);
	free(text);
	if (!ret)
		return load.strategy;
	to_strategy_free(load.strategy);
	return NULL;
}
