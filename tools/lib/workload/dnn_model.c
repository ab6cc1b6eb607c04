// SPDX-License-Identifier: GPL-2.0-or-later
/* model.json */

#include "workload/dnn_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/quantity.h"
#include "format/names.h"

/* In the order of enum to_operator_type. */
static const char *const dnn_model_types[] = {
	"embedding", "dense", "attention", "convolution", "other", NULL
};

void to_dnn_model_free(struct to_dnn_model *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->n_operators; i++)
		free(m->operators[i].inputs);
	free(m->operators);
	free(m->order);
	free(m);
}

static int dnn_model_read_type(const struct to_json *at, void *to)
{
	int type = to_json_choice(at, dnn_model_types);

	if (type < 0)
		return type;
	*(enum to_operator_type *)to = type;
	return 0;
}

static int dnn_model_read_count(const struct to_json *at, void *to)
{
	uint64_t value;
	int ret = to_json_positive(at, &value);

	if (!ret && value > 1000000)
		ret = to_json_error(at, -ERANGE, "expected 1 to 1000000");
	if (!ret)
		*(unsigned int *)to = value;
	return ret;
}

static int dnn_model_read_rate(const struct to_json *at, void *to)
{
	double value = json_number_value(at->value);

	if (!json_is_number(at->value) || !(value > 0))
		return to_json_error(at, -EINVAL, "expected a number greater than 0");
	*(double *)to = value;
	return 0;
}

static int dnn_model_read_part(const struct to_json *at, void *to)
{
	double value = json_number_value(at->value);

	if (!json_is_number(at->value) || !(value > 0 && value <= 1))
		return to_json_error(at, -EINVAL, "expected a number greater than 0, up to 1");
	*(double *)to = value;
	return 0;
}

static const struct to_json_field device_fields[] = {
	{ "gpus", dnn_model_read_count, offsetof(struct to_accelerator, gpus), true },
	{ "flops", dnn_model_read_rate, offsetof(struct to_accelerator, flops), true },
	{ "efficiency", dnn_model_read_part, offsetof(struct to_accelerator, efficiency), true },
	{ "memory_bandwidth", dnn_model_read_rate, offsetof(struct to_accelerator, memory_bandwidth), true },
	{ "memory_bytes", to_json_some_bytes, offsetof(struct to_accelerator, memory_bytes), true },
	{}
};

static int dnn_model_read_device(const struct to_json *at, void *to)
{
	return to_json_object(at, device_fields, to);
}

/* Inputs may name operators further down, so they are read when all names are known. */
static int dnn_model_skip_inputs(const struct to_json *at, void *to)
{
	unsigned int n;

	(void)to;
	return to_json_array(at, 0, NULL, &n);
}

static const struct to_json_field operator_fields[] = {
	{ "name", to_names_read, offsetof(struct to_operator, name), false },
	{ "type", dnn_model_read_type, offsetof(struct to_operator, type), false },
	{ "flops", to_json_u64, offsetof(struct to_operator, flops), false },
	{ "parameter_bytes", to_json_bytes, offsetof(struct to_operator, parameter_bytes), false },
	{ "output_bytes", to_json_bytes, offsetof(struct to_operator, output_bytes), false },
	{ "inputs", dnn_model_skip_inputs, 0, true },
	{}
};

/* @names: from a name to the operator's index. */
static int dnn_model_read_inputs(const struct to_json *at, json_t *names, struct to_operator *o)
{
	int ret;

	if (!at->value)
		return 0;
	ret = to_json_array(at, sizeof(*o->inputs), &o->inputs, &o->n_inputs);
	for (unsigned int i = 0; !ret && i < o->n_inputs; i++) {
		struct to_json child = to_json_element(at, i);
		const json_t *index;
		const char *name;

		ret = to_json_string(&child, &name);
		if (ret)
			break;
		index = json_object_get(names, name);
		if (!index)
			return to_json_error(&child, -ENOENT, "no operator is called \"%s\"", name);
		o->inputs[i] = json_integer_value(index);
		for (unsigned int k = 0; k < i; k++)
			if (o->inputs[k] == o->inputs[i])
				return to_json_error(&child, -EEXIST, "\"%s\" is there twice",
						     name);
	}
	return ret;
}

/* Name a cycle: among operators that wait, some input of each waits too. */
static int dnn_model_cycle(const struct to_json *at, const struct to_dnn_model *m, const bool *done)
{
	struct to_json child;
	uint32_t op = 0, other;

	while (done[op])
		op++;
	/* after as many steps as there are operators, @op is on the cycle */
	for (unsigned int step = 0; step <= m->n_operators; step++) {
		const struct to_operator *o = &m->operators[op];
		unsigned int i = 0;

		while (done[o->inputs[i]])
			i++;
		other = op;
		op = o->inputs[i];
	}
	child = to_json_element(at, op);
	if (other == op)
		return to_json_error_at(&child, "inputs", -ELOOP, "\"%s\" takes its own result",
					m->operators[op].name);
	return to_json_error_at(&child, "inputs", -ELOOP,
				"\"%s\" and \"%s\" wait for each other: the operators form a cycle",
				m->operators[op].name, m->operators[other].name);
}

/* Sort operators after their inputs, otherwise in the order of the file. */
static int dnn_model_sort(const struct to_json *at, struct to_dnn_model *m)
{
	bool *done = calloc(m->n_operators, sizeof(*done));
	unsigned int n = 0, before;
	int ret = 0;

	m->order = calloc(m->n_operators, sizeof(*m->order));
	if (!done || !m->order) {
		free(done);
		return to_json_error(at, -ENOMEM, "out of memory");
	}
	do {
		before = n;
		for (uint32_t op = 0; op < m->n_operators; op++) {
			const struct to_operator *o = &m->operators[op];
			unsigned int i = 0;

			while (i < o->n_inputs && done[o->inputs[i]])
				i++;
			if (done[op] || i < o->n_inputs)
				continue;
			done[op] = true;
			m->order[n++] = op;
		}
	} while (n > before);
	if (n < m->n_operators)
		ret = dnn_model_cycle(at, m, done);
	free(done);
	return ret;
}

static int dnn_model_read_operators(const struct to_json *at, void *to)
{
	struct to_dnn_model *m = to;
	json_t *names = json_object(), *before;
	unsigned int i;
	int ret;

	ret = to_json_array(at, sizeof(*m->operators), &m->operators, &m->n_operators);
	if (!ret && !m->n_operators)
		ret = to_json_error(at, -EINVAL, "expected 1 operator or more");
	for (i = 0; !ret && i < m->n_operators; i++) {
		struct to_json child = to_json_element(at, i);
		struct to_operator *o = &m->operators[i];

		ret = to_json_object(&child, operator_fields, o);
		before = ret ? NULL : json_object_get(names, o->name);
		if (before)
			ret = to_json_error_at(&child, "name", -EEXIST,
					       "operators[%lld] is also called \"%s\"",
					       (long long)json_integer_value(before), o->name);
		else if (!ret)
			json_object_set_new(names, o->name, json_integer(i));
	}
	for (i = 0; !ret && i < m->n_operators; i++) {
		struct to_json child = to_json_element(at, i);
		struct to_json inputs = to_json_member(&child, "inputs");

		ret = dnn_model_read_inputs(&inputs, names, &m->operators[i]);
	}
	if (!ret)
		ret = dnn_model_sort(at, m);
	json_decref(names);
	return ret;
}

static int dnn_model_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-model");
}

static const struct to_json_field dnn_model_fields[] = {
	{ "format", dnn_model_read_format, 0, false },
	{ "version", to_json_version, 0, false },
	{ "comment", to_json_comment, 0, true },
	{ "name", to_names_read_label, offsetof(struct to_dnn_model, name), false },
	{ "batch_per_gpu", dnn_model_read_count, offsetof(struct to_dnn_model, batch_per_gpu), false },
	{ "backward", dnn_model_read_rate, offsetof(struct to_dnn_model, backward), true },
	{ "device", dnn_model_read_device, offsetof(struct to_dnn_model, device), true },
	{ "operators", dnn_model_read_operators, 0, false },
	{}
};

struct to_dnn_model *to_dnn_model_parse(const char *data, size_t len, const char *name,
					struct to_error *err)
{
	struct to_dnn_model *m = calloc(1, sizeof(*m));
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	if (!m) {
		to_error_set(err, -ENOMEM, "%s: out of memory", name);
		return NULL;
	}
	m->backward = 2;
	m->device = (struct to_accelerator){ .gpus = 4, .flops = 156e12, .efficiency = 0.5,
					.memory_bandwidth = 2039e9, .memory_bytes = 80000000000 };
	ret = to_json_open(&doc, &at, data, len, name, NULL, err);
	if (!ret)
		ret = to_json_object(&at, dnn_model_fields, m);
	to_json_close(&doc);
	if (!ret)
		return m;
	to_dnn_model_free(m);
	return NULL;
}

struct to_dnn_model *to_dnn_model_load(const char *path, struct to_error *err)
{
	struct to_dnn_model *model;
	char *data;
	size_t len;

	if (to_file_read(path, TO_FILE_MAX, &data, &len, err))
		return NULL;
	model = to_dnn_model_parse(data, len, path, err);
	free(data);
	return model;
}

double to_dnn_model_seconds(const struct to_dnn_model *model, uint32_t op, double samples,
			    double part)
{
	const struct to_operator *o = &model->operators[op];
	const struct to_accelerator *device = &model->device;
	double bytes = samples * o->output_bytes * part, flops = samples * o->flops * part;

	if (o->type == TO_OPERATOR_EMBEDDING)
		bytes *= 2;	/* the rows, and their copies */
	else
		bytes += (double)o->parameter_bytes * part * device->gpus;
	for (unsigned int i = 0; i < o->n_inputs; i++)
		bytes += samples * model->operators[o->inputs[i]].output_bytes;
	return fmax(flops / (device->flops * device->efficiency),
		    bytes / device->memory_bandwidth) /
	       device->gpus;
}
