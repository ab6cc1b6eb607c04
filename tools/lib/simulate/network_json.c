// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/network_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/quantity.h"
#include "format/names.h"

typedef char network_name[TO_NAME_MAX];

struct network_vertex {
	const char *name;
	uint32_t index;
};

/* @latency: by default; @by_name: all vertices, once both arrays of names are read */
struct network_file {
	double latency;
	network_name *servers, *switches;
	unsigned int n_servers, n_switches;
	struct network_vertex *by_name;
	struct to_network *network;
};

/* @ns: UINT64_MAX: not said */
struct network_link {
	uint32_t ends[2];
	uint64_t bandwidth, ns;
	bool duplex;
};

static int network_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-network");
}

static int network_read_names(const struct to_json *at, network_name **names, unsigned int *n)
{
	int ret = to_json_array(at, sizeof(**names), names, n);

	if (!ret && *n > TO_SERVERS_MAX)
		ret = to_json_error(at, -ERANGE, "%u are more than %u", *n, TO_SERVERS_MAX);
	for (unsigned int i = 0; !ret && i < *n; i++) {
		struct to_json name = to_json_element(at, i);

		ret = to_names_read_label(&name, (*names)[i]);
	}
	return ret;
}

static int network_read_servers(const struct to_json *at, void *to)
{
	struct network_file *file = to;
	int ret = network_read_names(at, &file->servers, &file->n_servers);

	return !ret && file->n_servers < 2 ? to_json_error(at, -EINVAL, "expected 2 servers or more")
					   : ret;
}

static int network_read_switches(const struct to_json *at, void *to)
{
	struct network_file *file = to;

	return network_read_names(at, &file->switches, &file->n_switches);
}

static int network_compare(const void *a, const void *b)
{
	const struct network_vertex *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int network_compare_both(const void *a, const void *b)
{
	const struct network_vertex *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Vertices without links, and an index of their names. */
static int network_begin(const struct to_json *at, struct network_file *file)
{
	const uint32_t n = file->n_servers + file->n_switches;
	struct network_vertex *v = calloc(n, sizeof(*v));
	struct to_network *w = to_network_new(file->n_servers, file->n_switches);

	file->by_name = v;
	file->network = w;
	if (!v || !w)
		return to_json_error(at, -ENOMEM, "out of memory");
	memcpy(w->names, file->servers, file->n_servers * sizeof(*w->names));
	if (file->n_switches)
		memcpy(w->names + file->n_servers, file->switches,
		       file->n_switches * sizeof(*w->names));
	for (uint32_t x = 0; x < n; x++)
		v[x] = (struct network_vertex){ w->names[x], x };
	qsort(v, n, sizeof(*v), network_compare_both);
	for (uint32_t i = 1; i < n; i++)
		if (!network_compare(&v[i - 1], &v[i]))
			return to_error_set(at->doc->err, -EEXIST,
					    "%s: two servers or packet switches are called \"%s\"",
					    at->doc->name, v[i].name);
	return 0;
}

static int network_read_end(const struct to_json *at, uint32_t *vertex)
{
	const struct network_file *file = at->doc->context;
	struct network_vertex wanted = { NULL, 0 }, *found;
	int ret = to_json_string(at, &wanted.name);

	if (ret)
		return ret;
	found = bsearch(&wanted, file->by_name, file->network->n_vertices, sizeof(wanted),
			network_compare);
	if (!found)
		return to_json_error(at, -ENOENT, "no server or packet switch is called \"%s\"",
				     wanted.name);
	*vertex = found->index;
	return 0;
}

static int network_read_ends(const struct to_json *at, void *to)
{
	uint32_t *ends = to;
	int ret = 0;

	if (!json_is_array(at->value) || json_array_size(at->value) != 2)
		return to_json_error(at, -EINVAL, "expected the names of two ends");
	for (unsigned int i = 0; !ret && i < 2; i++) {
		struct to_json end = to_json_element(at, i);

		ret = network_read_end(&end, &ends[i]);
	}
	if (!ret && ends[0] == ends[1])
		ret = to_json_error(at, -EINVAL, "a link from \"%s\" to itself",
				    json_string_value(json_array_get(at->value, 0)));
	return ret;
}

static int network_read_latency(const struct to_json *at, void *to)
{
	uint64_t *ns = to;
	int ret = to_json_duration(at, ns);

	if (!ret && *ns > 1000000000)
		ret = to_json_error(at, -ERANGE, "expected a second or less");
	return ret;
}

static const struct to_json_field link_fields[] = {
	{ "ends", network_read_ends, offsetof(struct network_link, ends), false },
	{ "bandwidth", to_json_rate, offsetof(struct network_link, bandwidth), false },
	{ "latency", network_read_latency, offsetof(struct network_link, ns), true },
	{ "duplex", to_json_bool, offsetof(struct network_link, duplex), true },
	{}
};

static int network_read_links(const struct to_json *at, void *to)
{
	struct network_file *file = to;
	unsigned int n;
	int ret = to_json_array(at, 0, NULL, &n);

	if (!ret)
		ret = network_begin(at, file);
	for (unsigned int i = 0; !ret && i < n; i++) {
		struct to_json child = to_json_element(at, i);
		struct network_link link = { .ns = UINT64_MAX, .duplex = true };
		double latency;

		ret = to_json_object(&child, link_fields, &link);
		if (ret)
			break;
		latency = link.ns == UINT64_MAX ? file->latency : link.ns * 1e-9;
		to_network_add(file->network, link.ends[0], link.ends[1], link.bandwidth / 8.,
			       latency);
		if (link.duplex)
			to_network_add(file->network, link.ends[1], link.ends[0],
				       link.bandwidth / 8., latency);
	}
	if (!ret && to_network_finish(file->network))
		ret = to_json_error(at, -ENOMEM, "out of memory");
	return ret;
}

static const struct to_json_field network_fields[] = {
	{ "format", network_read_format, 0, false },
	{ "version", to_json_version, 0, false },
	{ "comment", to_json_comment, 0, true },
	{ "servers", network_read_servers, 0, false },
	{ "packet_switches", network_read_switches, 0, true },
	{ "links", network_read_links, 0, false },
	{}
};

/* The first server that server 0 does not reach, n_servers: none; @queue: scratch. */
static uint32_t network_unreached(const struct to_network *w, uint32_t *queue, bool *reached)
{
	uint32_t head = 0, tail = 0, x, i;

	memset(reached, 0, w->n_vertices * sizeof(*reached));
	queue[tail++] = 0;
	reached[0] = true;
	while (head < tail) {
		x = queue[head++];
		for (i = w->out[x]; i < w->out[x + 1]; i++) {
			const uint32_t y = w->links[i].to;

			if (!reached[y])
				queue[tail++] = y;
			reached[y] = true;
		}
	}
	for (x = 0; x < w->n_servers && reached[x]; x++)
		;
	return x;
}

/* Server 0 must reach all, and all server 0. */
static int network_check_paths(const struct to_network *w, const char *name, struct to_error *err)
{
	const uint32_t n = w->n_servers;
	struct to_network *back = to_network_new(n, w->n_vertices - n);
	uint32_t *queue = calloc(w->n_vertices, sizeof(*queue)), from = n, to = n;
	bool *reached = calloc(w->n_vertices, sizeof(*reached));
	int ret = -ENOMEM;

	for (uint32_t i = 0; back && i < w->n_links; i++)
		to_network_add(back, w->links[i].to, w->links[i].from, 1, 0);
	if (back && queue && reached && !to_network_finish(back)) {
		to = network_unreached(w, queue, reached);
		from = network_unreached(back, queue, reached);
		ret = to < n || from < n ? -EHOSTUNREACH : 0;
	}
	if (ret == -EHOSTUNREACH)
		to_error_set(err, ret, "%s: links: no path from \"%s\" to \"%s\"", name,
			     w->names[to < n ? 0 : from], w->names[to < n ? to : 0]);
	else if (ret)
		to_error_set(err, ret, "%s: out of memory", name);
	to_network_free(back);
	free(queue);
	free(reached);
	return ret;
}

struct to_network *to_network_parse(const char *data, size_t len, const char *name,
				    double latency, struct to_error *err)
{
	struct network_file file = { .latency = latency };
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	ret = to_json_open(&doc, &at, data, len, name, &file, err);
	if (!ret)
		ret = to_json_object(&at, network_fields, &file);
	to_json_close(&doc);
	if (!ret)
		ret = network_check_paths(file.network, name, err);
	free(file.servers);
	free(file.switches);
	free(file.by_name);
	if (!ret)
		return file.network;
	to_network_free(file.network);
	return NULL;
}

struct to_network *to_network_load(const char *path, double latency, struct to_error *err)
{
	struct to_network *network;
	size_t len;
	char *data;

	if (to_file_read(path, TO_FILE_MAX, &data, &len, err))
		return NULL;
	network = to_network_parse(data, len, path, latency, err);
	free(data);
	return network;
}
