// SPDX-License-Identifier: GPL-2.0-or-later
#include "sweep.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/command.h"
#include "format/names.h"

extern const struct to_command to_cmd_simulate;

static void sweep_free_axes(struct to_sweep_axis *axes, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int k = 0; k < axes[i].n; k++) {
			free(axes[i].values[k].text);
			free(axes[i].values[k].label);
		}
		free(axes[i].values);
	}
	free(axes);
}

void to_sweep_free(struct to_sweep *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->n_ratios; i++) {
		free(s->ratios[i].of);
		free(s->ratios[i].over);
	}
	free(s->ratios);
	sweep_free_axes(s->axes, s->n_axes);
	sweep_free_axes(s->fixed, s->n_fixed);
	json_decref(s->document);
	free(s);
}

/* Find the option @name of tosim simulate; options that write files are refused. */
static const struct to_option *sweep_option(const struct to_json *at, const char *name)
{
	const struct to_option *o = to_cmd_simulate.options;

	while (o->name && strcmp(o->name, name))
		o++;
	if (o->name && o->type != TO_OPTION_OUTPUT)
		return o;
	to_json_error(at, -EINVAL, "expected an option of tosim simulate, not \"%s\"", name);
	return NULL;
}

/* A file that the sweep names stands where the sweep does. */
static bool sweep_is_path(const struct to_option *o, const char *text)
{
	const size_t len = strlen(text);

	return *text != '/' && ((o->argument && !strcmp(o->argument, "FILE")) ||
				(len > 5 && !strcmp(text + len - 5, ".json")));
}

static char *sweep_path(const char *sweep, const char *text)
{
	const char *slash = strrchr(sweep, '/');
	const size_t len = slash ? slash + 1 - sweep : 0;
	char *path = malloc(len + strlen(text) + 1);

	if (path) {
		memcpy(path, sweep, len);
		strcpy(path + len, text);
	}
	return path;
}

/* Without folders and ".json", of what file names and shells leave alone; '_' joins labels. */
static char *sweep_label(const char *text)
{
	const char *slash = strrchr(text, '/');
	char *label = strdup(slash ? slash + 1 : text), *end;

	if (!label)
		return NULL;
	end = label + strlen(label);
	if (end - label > 5 && !strcmp(end - 5, ".json"))
		end[-5] = '\0';
	for (char *c = label; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".,=:+", *c))
			*c = '-';
	return label;
}

static int sweep_read_value(const struct to_json *at, const struct to_option *o,
			    struct to_sweep_value *value)
{
	const struct to_sweep *s = at->doc->context;
	char number[32];
	const char *text = json_string_value(at->value);

	if (json_is_integer(at->value))
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(at->value));
	else if (json_is_real(at->value))
		snprintf(number, sizeof(number), "%.17g", json_real_value(at->value));
	else if (json_is_true(at->value) && o->type == TO_OPTION_FLAG)
		*number = '\0';
	else if (!text)
		return to_json_error(at, -EINVAL, "expected a string or a number");
	if (text && !*text)
		return to_json_error(at, -EINVAL, "is empty");
	text = text ? text : number;
	value->label = sweep_label(text);
	value->text = sweep_is_path(o, text) ? sweep_path(s->path, text) : strdup(text);
	return value->label && value->text ? 0 : to_json_error(at, -ENOMEM, "out of memory");
}

static int sweep_read_options(const struct to_json *at, void *to)
{
	struct to_sweep *s = to;
	const char *key;
	json_t *value;

	if (!json_is_object(at->value))
		return to_json_error(at, -EINVAL, "expected an object");
	s->fixed = calloc(json_object_size(at->value) + 1, sizeof(*s->fixed));
	if (!s->fixed)
		return to_json_error(at, -ENOMEM, "out of memory");
	json_object_foreach(at->value, key, value) {
		const struct to_json child = to_json_member(at, key);
		struct to_sweep_axis *axis = &s->fixed[s->n_fixed++];
		int ret;

		axis->values = calloc(1, sizeof(*axis->values));
		axis->n = !!axis->values;
		axis->option = sweep_option(&child, key);
		ret = !axis->option ? -EINVAL : !axis->n ? -ENOMEM :
		      sweep_read_value(&child, axis->option, axis->values);
		if (ret)
			return ret;
	}
	return 0;
}

static int sweep_read_option(const struct to_json *at, void *to)
{
	const struct to_option **option = to;
	const char *name;
	int ret = to_json_string(at, &name);

	if (!ret)
		*option = sweep_option(at, name);
	return ret ? ret : *option ? 0 : -EINVAL;
}

static int sweep_read_values(const struct to_json *at, void *to)
{
	struct to_sweep_axis *axis = to;
	int ret = to_json_array(at, sizeof(*axis->values), &axis->values, &axis->n);

	if (!ret && !axis->n)
		return to_json_error(at, -EINVAL, "expected at least one value");
	/* "option" comes first in the table of fields */
	for (unsigned int i = 0; !ret && i < axis->n; i++) {
		const struct to_json child = to_json_element(at, i);

		ret = sweep_read_value(&child, axis->option, &axis->values[i]);
		for (unsigned int k = 0; !ret && k < i; k++)
			if (!strcmp(axis->values[k].label, axis->values[i].label))
				ret = to_json_error(&child, -EINVAL,
						    "\"%s\" is the name of another value, too",
						    axis->values[i].label);
	}
	return ret;
}

static const struct to_json_field axis_fields[] = {
	{ "option", sweep_read_option, offsetof(struct to_sweep_axis, option), false },
	{ "values", sweep_read_values, 0, false },
	{}
};

static int sweep_read_axes(const struct to_json *at, void *to)
{
	struct to_sweep *s = to;
	int ret = to_json_array(at, sizeof(*s->axes), &s->axes, &s->n_axes);

	s->n_points = 1;
	for (unsigned int i = 0; !ret && i < s->n_axes; i++) {
		const struct to_json child = to_json_element(at, i);

		ret = to_json_object(&child, axis_fields, &s->axes[i]);
		for (unsigned int k = 0; !ret && k < i; k++)
			if (s->axes[k].option == s->axes[i].option)
				ret = to_json_error(&child, -EINVAL, "\"%s\" has an axis before",
						    s->axes[i].option->name);
		if (!ret && s->axes[i].n > TO_SWEEP_POINTS_MAX / s->n_points)
			ret = to_json_error(at, -ERANGE, "more than %u points",
					    TO_SWEEP_POINTS_MAX);
		s->n_points *= ret ? 1 : s->axes[i].n;
	}
	return ret;
}

/* Which values of axes a side of a ratio is at; UINT_MAX where it does not say. */
static int sweep_read_side(const struct to_json *at, void *to)
{
	const struct to_sweep *s = at->doc->context;
	unsigned int **side = to;
	const char *key;
	json_t *value;

	if (!json_is_object(at->value))
		return to_json_error(at, -EINVAL, "expected an object");
	*side = malloc((s->n_axes + 1) * sizeof(**side));
	if (!*side)
		return to_json_error(at, -ENOMEM, "out of memory");
	memset(*side, 0xff, (s->n_axes + 1) * sizeof(**side));
	json_object_foreach(at->value, key, value) {
		const struct to_json child = to_json_member(at, key);
		struct to_sweep_value said = { NULL };
		unsigned int i = 0, k = 0;
		int ret = 0;

		while (i < s->n_axes && strcmp(s->axes[i].option->name, key))
			i++;
		if (i == s->n_axes)
			return to_json_error(&child, -EINVAL, "expected one of the axes, not \"%s\"", key);
		ret = sweep_read_value(&child, s->axes[i].option, &said);
		while (!ret && k < s->axes[i].n && strcmp(s->axes[i].values[k].label, said.label))
			k++;
		if (!ret && k == s->axes[i].n)
			ret = to_json_error(&child, -EINVAL, "the axis has no value \"%s\"", said.label);
		(*side)[i] = k;
		free(said.text);
		free(said.label);
		if (ret)
			return ret;
	}
	return 0;
}

static int sweep_read_ratio(const struct to_json *at, void *to)
{
	int ret = to_json_real(at, to);

	if (!ret && !(*(double *)to > 0))
		return to_json_error(at, -ERANGE, "expected more than 0");
	return ret;
}

#define RATIO(field) offsetof(struct to_sweep_ratio, field)

static const struct to_json_field ratio_fields[] = {
	{ "name", to_names_read_label, RATIO(name), false },
	{ "comment", to_json_comment, 0, true },
	{ "of", sweep_read_side, RATIO(of), false },
	{ "over", sweep_read_side, RATIO(over), false },
	{ "ratio", sweep_read_ratio, RATIO(published), false },
	{}
};

static int sweep_read_published(const struct to_json *at, void *to)
{
	struct to_sweep *s = to;
	int ret = to_json_array(at, sizeof(*s->ratios), &s->ratios, &s->n_ratios);

	for (unsigned int i = 0; !ret && i < s->n_ratios; i++) {
		const struct to_json child = to_json_element(at, i);

		ret = to_json_object(&child, ratio_fields, &s->ratios[i]);
	}
	return ret;
}

static int sweep_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-sweep");
}

static const struct to_json_field sweep_fields[] = {
	{ "format", sweep_read_format, 0, false },
	{ "version", to_json_version, 0, false },
	{ "comment", to_json_comment, 0, true },
	{ "name", to_names_read_label, offsetof(struct to_sweep, name), false },
	{ "options", sweep_read_options, 0, true },
	{ "axes", sweep_read_axes, 0, false },
	/* which knows the axes by then */
	{ "published", sweep_read_published, 0, true },
	{}
};

/* What points depend on; NULL when out of memory. */
static json_t *sweep_document(json_t *all)
{
	json_t *document = json_copy(all);

	json_object_del(document, "comment");
	json_object_del(document, "published");
	return document;
}

struct to_sweep *to_sweep_load(const char *path, struct to_error *err)
{
	struct to_sweep *s = calloc(1, sizeof(*s));
	struct to_json_doc doc;
	struct to_json at;
	size_t len;
	char *data;
	int ret;

	if (!s) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	s->path = path;
	ret = to_file_read(path, TO_FILE_MAX, &data, &len, err);
	if (!ret) {
		ret = to_json_open(&doc, &at, data, len, path, s, err);
		if (!ret)
			ret = to_json_object(&at, sweep_fields, s);
		if (!ret)
			s->document = sweep_document(at.value);
		if (!ret && !s->document)
			ret = to_error_set(err, -ENOMEM, "out of memory");
		to_json_close(&doc);
		free(data);
	}
	if (!ret)
		return s;
	to_sweep_free(s);
	return NULL;
}

const struct to_sweep_value *to_sweep_value(const struct to_sweep *s, unsigned int point,
					    unsigned int axis)
{
	for (unsigned int i = s->n_axes - 1; i > axis; i--)
		point /= s->axes[i].n;
	return &s->axes[axis].values[point % s->axes[axis].n];
}

struct to_sweep_found to_sweep_find(const struct to_sweep *s, const struct to_sweep_ratio *ratio,
				    const double *times)
{
	struct to_sweep_found found = { 0 };

	for (unsigned int point = 0; point < s->n_points; point++) {
		unsigned int other = 0, each = 1, left = point;
		bool of = true;

		for (unsigned int i = s->n_axes; i-- > 0; each *= s->axes[i].n) {
			const unsigned int value = left % s->axes[i].n;

			left /= s->axes[i].n;
			of &= ratio->of[i] == UINT_MAX || ratio->of[i] == value;
			other += each * (ratio->over[i] == UINT_MAX ? value : ratio->over[i]);
		}
		if (!of || times[point] < 0 || !(times[other] > 0))
			continue;
		found.mean += times[point] / times[other];
		found.min = fmin(found.n ? found.min : INFINITY, times[point] / times[other]);
		found.max = fmax(found.max, times[point] / times[other]);
		found.n++;
	}
	if (found.n)
		found.mean /= found.n;
	return found;
}

char *to_sweep_file(const struct to_sweep *s, unsigned int point, const char *dir)
{
	char *path = NULL;
	size_t len;
	FILE *out = open_memstream(&path, &len);

	if (!out)
		return NULL;
	fprintf(out, "%s/", dir);
	for (unsigned int i = 0; i < s->n_axes; i++)
		fprintf(out, "%s%s", i ? "_" : "", to_sweep_value(s, point, i)->label);
	fprintf(out, "%s.json", s->n_axes ? "" : "point");
	if (!fclose(out))
		return path;
	free(path);
	return NULL;
}

static int sweep_add_option(struct to_argv *command, const struct to_option *o,
			    const struct to_sweep_value *value)
{
	const int ret = to_argv_add(command, "--%s", o->name);

	return ret || o->type == TO_OPTION_FLAG ? ret : to_argv_add(command, "%s", value->text);
}

int to_sweep_command(const struct to_sweep *s, unsigned int point, const char *program,
		     struct to_argv *command)
{
	int ret = to_argv_add(command, "%s", program);

	ret = ret ? ret : to_argv_add(command, "simulate");
	for (unsigned int i = 0; !ret && i < s->n_fixed; i++)
		ret = sweep_add_option(command, s->fixed[i].option, s->fixed[i].values);
	for (unsigned int i = 0; !ret && i < s->n_axes; i++)
		ret = sweep_add_option(command, s->axes[i].option, to_sweep_value(s, point, i));
	return ret ? ret : to_argv_add(command, "--json");
}
