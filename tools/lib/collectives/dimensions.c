// SPDX-License-Identifier: GPL-2.0-or-later
/* dims.json */

#include "collectives/dimensions.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/quantity.h"

const char *const to_dimension_kinds[] = { "ring", "direct", "switch", NULL };

unsigned int to_dimension_steps(const struct to_dimension *d)
{
	switch (d->kind) {
	case TO_DIMENSION_RING:
		return d->size - 1;
	case TO_DIMENSION_DIRECT:
		return 1;
	case TO_DIMENSION_SWITCH:
		break;
	}
	return 32 - __builtin_clz(d->size - 1);
}

/* What a document has, before it is checked as a whole. */
struct dimensions_document {
	struct to_dimensions *dims;
	unsigned int ranks;
};

static int dimensions_read_kind(const struct to_json *at, void *to)
{
	int kind = to_json_choice(at, to_dimension_kinds);

	if (kind < 0)
		return kind;
	*(enum to_dimension_kind *)to = kind;
	return 0;
}

static int dimensions_read_size(const struct to_json *at, void *to)
{
	unsigned int *size = to;
	int ret = to_json_u32(at, size);

	if (!ret && (*size < 2 || *size > TO_DIMENSIONS_RANKS_MAX))
		return to_json_error(at, -ERANGE, "expected 2 to %u", TO_DIMENSIONS_RANKS_MAX);
	return ret;
}

static const struct to_json_field dimension_fields[] = {
	{ "kind", dimensions_read_kind, offsetof(struct to_dimension, kind), false },
	{ "size", dimensions_read_size, offsetof(struct to_dimension, size), false },
	{ "bandwidth", to_json_rate, offsetof(struct to_dimension, bandwidth), false },
	{ "latency", to_json_duration, offsetof(struct to_dimension, latency_ns), true },
	{}
};

static int dimensions_read_list(const struct to_json *at, void *to)
{
	struct to_dimensions *dims = ((struct dimensions_document *)to)->dims;
	int ret = to_json_array(at, 0, NULL, &dims->n);

	if (!ret && (!dims->n || dims->n > TO_DIMENSIONS_MAX))
		ret = to_json_error(at, -ERANGE, "expected 1 to %d dimensions", TO_DIMENSIONS_MAX);
	dims->ranks = 1;
	for (unsigned int i = 0; !ret && i < dims->n; i++) {
		struct to_json child = to_json_element(at, i);

		ret = to_json_object(&child, dimension_fields, &dims->list[i]);
		if (!ret && dims->list[i].size > TO_DIMENSIONS_RANKS_MAX / dims->ranks)
			ret = to_json_error(&child, -ERANGE, "with it there are more than %u ranks",
					    TO_DIMENSIONS_RANKS_MAX);
		if (!ret)
			dims->ranks *= dims->list[i].size;
	}
	return ret;
}

static int dimensions_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-dimensions");
}

static const struct to_json_field dimensions_fields[] = {
	{ "format", dimensions_read_format, 0, true },
	{ "version", to_json_version, 0, true },
	{ "comment", to_json_comment, 0, true },
	{ "dimensions", dimensions_read_list, 0, false },
	{ "ranks", dimensions_read_size, offsetof(struct dimensions_document, ranks), true },
	{}
};

int to_dimensions_parse(const char *data, size_t len, const char *name,
			struct to_dimensions *dims, struct to_error *err)
{
	struct dimensions_document document = { .dims = dims };
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	memset(dims, 0, sizeof(*dims));
	ret = to_json_open(&doc, &at, data, len, name, NULL, err);
	if (!ret)
		ret = to_json_object(&at, dimensions_fields, &document);
	if (!ret && document.ranks && document.ranks != dims->ranks)
		ret = to_json_error_at(&at, "ranks", -EINVAL, "the sizes of the dimensions make %u ranks",
				       dims->ranks);
	to_json_close(&doc);
	return ret;
}

int to_dimensions_put_inside(struct to_dimensions *dims, const struct to_dimension *inner,
			     struct to_error *err)
{
	if (dims->n == TO_DIMENSIONS_MAX || inner->size > TO_DIMENSIONS_RANKS_MAX / dims->ranks)
		return to_error_set(err, -ERANGE, "with %u ranks inside each of %u there are more than %d "
				    "dimensions or %u ranks", inner->size, dims->ranks,
				    TO_DIMENSIONS_MAX, TO_DIMENSIONS_RANKS_MAX);
	for (unsigned int k = dims->n++; k; k--) {
		dims->list[k] = dims->list[k - 1];
		dims->list[k].bandwidth /= inner->size;
		if (!dims->list[k].bandwidth)
			return to_error_set(err, -ERANGE, "%u ranks share less than 1 bit/s each",
					    inner->size);
	}
	dims->list[0] = *inner;
	dims->ranks *= inner->size;
	return 0;
}

int to_dimensions_divide(const struct to_dimensions *dims, unsigned int ranks,
			 struct to_dimensions *inner, struct to_dimensions *outer,
			 struct to_error *err)
{
	unsigned int left = ranks;

	*inner = *outer = (struct to_dimensions){ .ranks = 1 };
	for (unsigned int k = 0; k < dims->n; k++) {
		struct to_dimension in = dims->list[k], out = in;

		in.size = left < in.size ? left : in.size;
		out.size /= in.size;
		if (left % in.size || in.size * out.size != dims->list[k].size ||
		    (in.size > 1 && out.size > 1 && in.kind == TO_DIMENSION_RING))
			return to_error_set(err, -EINVAL, "%u ranks are no whole dimensions, or part of a "
					    "switch or direct one, from the innermost outwards", ranks);
		left /= in.size;
		if (in.size > 1)
			inner->list[inner->n++] = in;
		if (out.size > 1)
			outer->list[outer->n++] = out;
		inner->ranks *= in.size;
		outer->ranks *= out.size;
	}
	return left == 1 ? 0 : to_error_set(err, -EINVAL, "there are only %u ranks, not %u", dims->ranks,
					    ranks);
}
