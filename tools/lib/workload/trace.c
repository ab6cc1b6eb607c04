// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "chakra.pb-c.h"
#include "workload/trace.h"

static const char *const collective_names[TO_COLLECTIVES] = {
	[TO_ALL_REDUCE] = "all-reduce", [TO_REDUCE] = "reduce", [TO_ALL_GATHER] = "all-gather",
	[TO_GATHER] = "gather", [TO_SCATTER] = "scatter", [TO_BROADCAST] = "broadcast",
	[TO_ALL_TO_ALL] = "all-to-all", [TO_REDUCE_SCATTER] = "reduce-scatter",
	[TO_REDUCE_SCATTER_BLOCK] = "reduce-scatter-block", [TO_BARRIER] = "barrier",
};

const char *to_collective_name(enum to_collective collective)
{
	return collective_names[collective];
}

/* Copy of a trace's text that fits on one line. */
static void trace_text(char to[TO_NAME_MAX], const char *from)
{
	size_t i;

	for (i = 0; i < TO_NAME_MAX - 1 && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	to[i] = 0;
}

/* Where in the trace something is wrong. */
static int trace_error(const struct to_trace *trace, const Chakra__Node *node, int code,
		       struct to_error *err, const char *what)
{
	char name[TO_NAME_MAX];

	trace_text(name, node->name);
	return to_error_set(err, code, "%s: node %llu (%s): %s", trace->path,
			    (unsigned long long)node->id, name, what);
}

static const Chakra__Attribute *trace_find(const Chakra__Node *node, const char *name)
{
	size_t i;

	for (i = 0; i < node->n_attr; i++)
		if (!strcmp(node->attr[i]->name, name))
			return node->attr[i];
	return NULL;
}

/* The value of integer attribute @attr, of any type; false if it is no integer or negative. */
static bool trace_integer(const Chakra__Attribute *attr, uint64_t *value)
{
	int64_t number;

	switch (attr->value_case) {
	case CHAKRA__ATTRIBUTE__VALUE_INT32_VAL:
		number = attr->int32_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_SINT32_VAL:
		number = attr->sint32_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_SFIXED32_VAL:
		number = attr->sfixed32_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_UINT32_VAL:
		number = attr->uint32_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_FIXED32_VAL:
		number = attr->fixed32_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_INT64_VAL:
		number = attr->int64_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_SINT64_VAL:
		number = attr->sint64_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_SFIXED64_VAL:
		number = attr->sfixed64_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_UINT64_VAL:
		number = attr->uint64_val;	/* 2^63 and more is no valid size */
		break;
	case CHAKRA__ATTRIBUTE__VALUE_FIXED64_VAL:
		number = attr->fixed64_val;
		break;
	default:
		return false;
	}
	*value = number;
	return number >= 0;
}

/* Attribute @name of @node, else @missing; with @missing UINT64_MAX, it is required. */
static int trace_number(const struct to_trace *trace, const Chakra__Node *node, const char *name,
			uint64_t max, uint64_t missing, uint64_t *value, struct to_error *err)
{
	const Chakra__Attribute *attr = trace_find(node, name);
	char what[128];

	*value = missing;
	if (!attr && missing != UINT64_MAX)
		return 0;
	if (!attr) {
		snprintf(what, sizeof(what), "has no %s", name);
		return trace_error(trace, node, -EINVAL, err, what);
	}
	if (trace_integer(attr, value) && *value <= max)
		return 0;
	snprintf(what, sizeof(what), "%s: expected an integer of 0 to %llu", name,
		 (unsigned long long)max);
	return trace_error(trace, node, -ERANGE, err, what);
}

static int trace_dims(const struct to_trace *trace, const Chakra__Node *node, uint64_t *dims,
		      struct to_error *err)
{
	const Chakra__Attribute *attr = trace_find(node, "involved_dim");
	const Chakra__BoolList *list;
	size_t i;

	*dims = UINT64_MAX;
	if (!attr)
		return 0;
	if (attr->value_case != CHAKRA__ATTRIBUTE__VALUE_BOOL_LIST || !attr->bool_list ||
	    attr->bool_list->n_values > 64)
		return trace_error(trace, node, -EINVAL, err,
				   "involved_dim: expected a list of up to 64 truth values");
	list = attr->bool_list;
	for (i = 0; i < list->n_values; i++)
		if (!list->values[i])
			*dims &= ~(1ull << i);
	return 0;
}

static int trace_collective(const struct to_trace *trace, const Chakra__Node *node,
			    struct to_trace_comm *comm, struct to_error *err)
{
	uint64_t collective;
	int ret;

	ret = trace_number(trace, node, "comm_type", TO_COLLECTIVES - 1, UINT64_MAX, &collective,
			   err);
	if (ret)
		return ret;
	comm->collective = collective;
	ret = trace_number(trace, node, "comm_size", INT64_MAX,
			   collective == TO_BARRIER ? 0 : UINT64_MAX, &comm->bytes, err);
	return ret ? ret : trace_dims(trace, node, &comm->dims, err);
}

static int trace_message(const struct to_trace *trace, const Chakra__Node *node,
			 struct to_trace_comm *comm, struct to_error *err)
{
	const char *peer = comm->kind == TO_TRACE_SEND ? "comm_dst" : "comm_src";
	uint64_t number;
	int ret;

	ret = trace_number(trace, node, peer, UINT32_MAX, UINT64_MAX, &number, err);
	if (ret)
		return ret;
	comm->peer = number;
	ret = trace_number(trace, node, "comm_tag", UINT32_MAX, 0, &number, err);
	if (ret)
		return ret;
	comm->tag = number;
	return trace_number(trace, node, "comm_size", INT64_MAX, UINT64_MAX, &comm->bytes, err);
}

static int trace_add_comm(struct to_trace *trace, const Chakra__Node *node, struct to_error *err)
{
	const Chakra__Attribute *group = trace_find(node, "pg_name");
	struct to_trace_comm *comm;
	uint32_t max;

	if (trace->n_comms == trace->max_comms) {
		max = 2 * trace->max_comms + 64;
		comm = realloc(trace->comms, max * sizeof(*comm));
		if (!comm)
			return to_error_set(err, -ENOMEM, "%s: out of memory", trace->path);
		trace->comms = comm;
		trace->max_comms = max;
	}
	comm = &trace->comms[trace->n_comms++];
	memset(comm, 0, sizeof(*comm));
	comm->id = node->id;
	trace_text(comm->name, node->name);
	if (group && (group->value_case != CHAKRA__ATTRIBUTE__VALUE_STRING_VAL ||
		      strlen(group->string_val) >= TO_NAME_MAX))
		return trace_error(trace, node, -EINVAL, err,
				   "pg_name: expected a string of up to 63 bytes");
	if (group)
		trace_text(comm->group, group->string_val);
	if (node->type == CHAKRA__NODE_TYPE__COMM_COLL_NODE) {
		comm->kind = TO_TRACE_COLLECTIVE;
		return trace_collective(trace, node, comm, err);
	}
	comm->kind = node->type == CHAKRA__NODE_TYPE__COMM_SEND_NODE ? TO_TRACE_SEND
								     : TO_TRACE_RECEIVE;
	return trace_message(trace, node, comm, err);
}

/* {"pg_name": "0", "ranks": [0, 1]} */
static bool trace_read_group(struct to_trace_group *group, const json_t *json)
{
	const char *name = json_string_value(json_object_get(json, "pg_name"));
	const json_t *ranks = json_object_get(json, "ranks"), *rank;
	size_t i;

	if (!name || !json_is_array(ranks))
		return false;
	trace_text(group->name, name);
	group->ranks = calloc(json_array_size(ranks) + 1, sizeof(*group->ranks));
	if (!group->ranks)
		return false;
	json_array_foreach(ranks, i, rank) {
		if (!json_is_integer(rank) || json_integer_value(rank) < 0 ||
		    json_integer_value(rank) >= TO_SERVERS_MAX)
			return false;
		group->ranks[group->n++] = json_integer_value(rank);
	}
	return true;
}

/* PyTorch lists its process groups as JSON in a string in a list: ['[{...}, ...]']. */
static int trace_read_groups(struct to_trace *trace, const Chakra__Node *node,
			     struct to_error *err)
{
	const char *text = node->inputs && node->inputs->values ? node->inputs->values : "";
	const char *from = strchr(text, '{'), *to = strrchr(text, '}');
	struct to_trace_group *groups;
	json_t *json, *group;
	char *list;
	size_t i;
	int ret = 0;

	if (!from || !to || to < from)
		return 0;
	if (asprintf(&list, "[%.*s]", (int)(to + 1 - from), from) < 0)
		return to_error_set(err, -ENOMEM, "%s: out of memory", trace->path);
	json = json_loads(list, 0, NULL);
	free(list);
	groups = realloc(trace->groups,
			 (trace->n_groups + json_array_size(json) + 1) * sizeof(*groups));
	if (groups)
		trace->groups = groups;
	if (!groups || !json)
		ret = -EINVAL;
	for (i = 0; !ret && i < json_array_size(json); i++) {
		group = json_array_get(json, i);
		groups = &trace->groups[trace->n_groups++];
		memset(groups, 0, sizeof(*groups));
		if (!trace_read_group(groups, group))
			ret = -EINVAL;
	}
	json_decref(json);
	return ret ? trace_error(trace, node, ret, err,
				 "expected process groups like [{\"pg_name\": \"0\", \"ranks\": [0, 1]}]")
		   : 0;
}

/* PyTorch's own operators, which launch those of the GPU; they send nothing themselves. */
static bool trace_on_cpu(const Chakra__Node *node)
{
	const Chakra__Attribute *attr = trace_find(node, "is_cpu_op");

	return attr && attr->value_case == CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL && attr->bool_val;
}

/* A node, and what it waits for. */
static int trace_keep(struct to_trace *trace, const Chakra__Node *node)
{
	const size_t n_after = node->n_ctrl_deps + node->n_data_deps;
	struct to_trace_node *nodes;
	uint64_t *after;
	size_t max;

	if (trace->n_nodes == trace->max_nodes) {
		max = 2 * (size_t)trace->max_nodes + 64;
		nodes = realloc(trace->nodes, max * sizeof(*nodes));
		if (!nodes)
			return -ENOMEM;
		trace->nodes = nodes;
		trace->max_nodes = max;
	}
	if (trace->n_after + n_after > trace->max_after) {
		max = 2 * trace->max_after + n_after + 64;
		after = realloc(trace->after, max * sizeof(*after));
		if (!after)
			return -ENOMEM;
		trace->after = after;
		trace->max_after = max;
	}
	trace->nodes[trace->n_nodes++] = (struct to_trace_node){
		.id = node->id, .comm = TO_TRACE_NO_COMM, .first_after = trace->n_after,
		.n_after = n_after };
	for (size_t i = 0; i < node->n_ctrl_deps; i++)
		trace->after[trace->n_after++] = node->ctrl_deps[i];
	for (size_t i = 0; i < node->n_data_deps; i++)
		trace->after[trace->n_after++] = node->data_deps[i];
	return 0;
}

static int trace_add_node(struct to_trace *trace, const Chakra__Node *node, struct to_error *err)
{
	if (trace_keep(trace, node))
		return to_error_set(err, -ENOMEM, "%s: out of memory", trace->path);
	if (trace_on_cpu(node) && node->type != CHAKRA__NODE_TYPE__METADATA_NODE)
		return 0;
	switch (node->type) {
	case CHAKRA__NODE_TYPE__COMP_NODE:
		trace->nodes[trace->n_nodes - 1].seconds = node->duration_micros * 1e-6;
		trace->compute_seconds += node->duration_micros * 1e-6;
		return 0;
	case CHAKRA__NODE_TYPE__METADATA_NODE:
		return strstr(node->name, "process_group:init")
			       ? trace_read_groups(trace, node, err) : 0;
	case CHAKRA__NODE_TYPE__COMM_SEND_NODE:
	case CHAKRA__NODE_TYPE__COMM_RECV_NODE:
	case CHAKRA__NODE_TYPE__COMM_COLL_NODE:
		trace->nodes[trace->n_nodes - 1].comm = trace->n_comms;
		return trace_add_comm(trace, node, err);
	default:
		return 0;
	}
}

/* Length of the next message. */
static int trace_length(const struct to_trace *trace, const uint8_t *data, size_t len, size_t *at,
			size_t *length, struct to_error *err)
{
	size_t start = *at;
	unsigned int shift = 0;
	uint8_t byte;

	*length = 0;
	do {
		if (*at == len)
			return to_error_set(err, -EINVAL,
					    "%s: byte %zu: the file ends within a length",
					    trace->path, start);
		byte = data[(*at)++];
		*length |= (size_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128 && shift < 35);
	if (byte & 128 || *length > INT32_MAX)
		return to_error_set(err, -EINVAL, "%s: byte %zu: no length of a message",
				    trace->path, start);
	if (*length > len - *at)
		return to_error_set(err, -EINVAL,
				    "%s: byte %zu: the file ends early: %zu bytes of a message of %zu are there",
				    trace->path, start, len - *at, *length);
	return 0;
}

static int trace_next(struct to_trace *trace, bool first, const uint8_t *message, size_t length,
		      size_t start, struct to_error *err)
{
	Chakra__GlobalMetadata *metadata;
	Chakra__Node *node;
	int ret;

	if (first) {
		metadata = chakra__global_metadata__unpack(NULL, length, message);
		if (!metadata)
			return to_error_set(err, -EINVAL,
					    "%s: not a Chakra trace: no metadata at its start",
					    trace->path);
		chakra__global_metadata__free_unpacked(metadata, NULL);
		return 0;
	}
	node = chakra__node__unpack(NULL, length, message);
	if (!node)
		return to_error_set(err, -EINVAL, "%s: byte %zu: no Chakra node", trace->path,
				    start);
	ret = trace_add_node(trace, node, err);
	chakra__node__free_unpacked(node, NULL);
	return ret;
}

int to_trace_parse(struct to_trace *trace, const char *path, const char *data, size_t len,
		   struct to_error *err)
{
	const uint8_t *bytes = (const uint8_t *)data;
	size_t at = 0, start, length;
	int ret = 0;

	memset(trace, 0, sizeof(*trace));
	trace->path = path;
	if (!len)
		return to_error_set(err, -EINVAL, "%s: the file is empty", path);
	while (!ret && at < len) {
		start = at;
		ret = trace_length(trace, bytes, len, &at, &length, err);
		if (!ret)
			ret = trace_next(trace, !start, bytes + at, length, start, err);
		at += length;
	}
	if (ret)
		to_trace_free(trace);
	return ret;
}

int to_trace_load(struct to_trace *trace, const char *path, struct to_error *err)
{
	size_t len;
	char *data;
	int ret;

	memset(trace, 0, sizeof(*trace));
	ret = to_file_read_bytes(path, TO_FILE_RECORDING_MAX, &data, &len, err);
	if (ret)
		return ret;
	ret = to_trace_parse(trace, path, data, len, err);
	free(data);
	return ret;
}

void to_trace_free(struct to_trace *trace)
{
	while (trace->n_groups)
		free(trace->groups[--trace->n_groups].ranks);
	free(trace->groups);
	free(trace->comms);
	free(trace->nodes);
	free(trace->after);
	memset(trace, 0, sizeof(*trace));
}
