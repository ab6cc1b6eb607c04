// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "format/demand_json.h"
#include "format/names.h"
#include "workload/chakra.h"

struct chakra_args {
	const char *output, *name, *dims;
	uint64_t ranks_per_server;
};

/* "4x2" into dimensions. */
static int chakra_read_dims(const char *text, struct to_chakra_options *options)
{
	unsigned long size;
	char *end;

	for (;; text = end + 1) {
		size = *text >= '1' && *text <= '9' ? strtoul(text, &end, 10) : 0;
		if (!size || size > TO_SERVERS_MAX || options->n_dims == TO_CHAKRA_DIMS_MAX)
			return -EINVAL;
		options->dims[options->n_dims++] = size;
		if (!*end)
			return 0;
		if (*end != 'x')
			return -EINVAL;
	}
}

static void chakra_print(FILE *out, const struct to_demand *d, const struct to_chakra_totals *t)
{
	char text[16];

	fprintf(out, "%s: %u ranks on %u servers, %llu nodes", d->name, t->n_ranks, d->n,
		(unsigned long long)t->n_nodes);
	if (t->compute_seconds > 0)
		fprintf(out, ", computing for %s", to_seconds_text(t->compute_seconds, text));
	fprintf(out, "\n");
	for (int k = 0; k < TO_COLLECTIVES; k++)
		if (t->collectives[k])
			fprintf(out, "  %-20s %8llu  %10s\n", to_collective_name(k),
				(unsigned long long)t->collectives[k],
				to_bytes_text(t->collective_bytes[k], text));
	if (t->sends)
		fprintf(out, "  %-20s %8llu  %10s\n", "send", (unsigned long long)t->sends,
			to_bytes_text(t->send_bytes, text));
	fprintf(out, "demand\n");
	for (unsigned int g = 0; g < d->n_groups; g++)
		fprintf(out, "  AllReduce of %u servers         %10s\n", d->groups[g].n_members,
			to_bytes_text(d->groups[g].bytes, text));
}

static uint64_t chakra_mp_bytes(const struct to_demand *d)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < (size_t)d->n * d->n; i++)
		bytes += d->mp[i];
	return bytes;
}

static int chakra_print_json(const struct to_demand *d, const struct to_chakra_totals *t)
{
	json_t *collectives = json_object(), *groups = json_array(), *json;

	for (int k = 0; k < TO_COLLECTIVES; k++)
		if (t->collectives[k])
			json_object_set_new(collectives, to_collective_name(k),
					    json_pack("{s:I s:I}", "count",
						      (json_int_t)t->collectives[k], "bytes",
						      (json_int_t)t->collective_bytes[k]));
	for (unsigned int g = 0; g < d->n_groups; g++)
		json_array_append_new(groups, json_pack("{s:i s:I}", "servers",
							(int)d->groups[g].n_members, "bytes",
							(json_int_t)d->groups[g].bytes));
	json = json_pack("{s:s s:i s:i s:I s:f s:{s:I s:I} s:o s:o s:I}", "name", d->name,
			 "ranks", (int)t->n_ranks, "servers", (int)d->n,
			 "nodes", (json_int_t)t->n_nodes, "compute_s", t->compute_seconds,
			 "sends", "count", (json_int_t)t->sends, "bytes", (json_int_t)t->send_bytes,
			 "collectives", collectives, "allreduce", groups,
			 "mp_bytes", (json_int_t)chakra_mp_bytes(d));
	if (!json)
		return -ENOMEM;
	to_json_write(json, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(json);
	return 0;
}

static int chakra_run(struct to_call *call, const void *data)
{
	const struct chakra_args *args = data;
	struct to_chakra_options options = { .ranks_per_server = args->ranks_per_server };
	/* the job itself may be on standard output */
	FILE *out = strcmp(args->output, "-") ? stdout : stderr;
	struct to_chakra_totals totals;
	struct to_demand *demand;
	char text[16];
	int ret;

	if (args->dims && chakra_read_dims(args->dims, &options))
		return to_usage(call, "--dims: expected up to %d sizes like 4x2, not \"%s\"",
				TO_CHAKRA_DIMS_MAX, args->dims);
	if (args->name && !to_names_is_label(args->name))
		return to_usage(call, "--name: expected " TO_NAMES_LABEL_EXPECTED);
	demand = to_chakra_load(call->operands, call->n_operands, &options, &totals, NULL, &call->err);
	if (!demand)
		return -EINVAL;
	if (args->name)
		strcpy(demand->name, args->name);
	ret = to_demand_save(demand, args->output, &call->err);
	if (!ret && call->json && out == stdout) {
		ret = chakra_print_json(demand, &totals);
		if (ret)
			to_error_set(&call->err, ret, "out of memory");
	} else if (!ret) {
		chakra_print(out, demand, &totals);
		fprintf(out, "  MP transfers                    %10s\n",
			to_bytes_text(chakra_mp_bytes(demand), text));
	}
	to_demand_free(demand);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct chakra_args, field)

static const struct to_option chakra_options[] = {
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "job to write; default: standard output" },
	{ "name", 0, TO_OPTION_STRING, FIELD(name), .argument = "NAME",
	  .help = "name of the job; default: the name of the traces" },
	{ "ranks-per-server", 0, TO_OPTION_NUMBER, FIELD(ranks_per_server), .argument = "N",
	  .min = 1, .max = TO_SERVERS_MAX,
	  .help = "consecutive ranks that share a server; default: 1" },
	{ "dims", 0, TO_OPTION_STRING, FIELD(dims), .argument = "AxB",
	  .help = "sizes of the dimensions of involved_dim, the fastest-varying first" },
	{}
};

const struct to_command to_cmd_chakra = {
	.name = "chakra",
	.summary = "Turn Chakra execution traces into a job",
	.operands = "NAME.RANK.et...",
	.min_operands = 1,
	.max_operands = UINT_MAX,
	.options = chakra_options,
	.args_size = sizeof(struct chakra_args),
	.defaults = &(const struct chakra_args){ .output = "-", .ranks_per_server = 1 },
	.run = chakra_run,
};
