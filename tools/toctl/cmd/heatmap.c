// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/command.h"
#include "cli/large.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "report/heatmap_data.h"

struct heatmap_args {
	const char *output;
	bool load, large;
};

static const struct to_option heatmap_options[] = {
	{ .name = "output", .letter = 'o', .type = TO_OPTION_OUTPUT, .argument = "FILE",
	  .offset = offsetof(struct heatmap_args, output),
	  .help = "SVG image to write; default: text on the terminal" },
	{ .name = "load", .offset = offsetof(struct heatmap_args, load),
	  .help = "draw the load of links: predicted by a plan, or measured" },
	TO_LARGE_OPTION(offsetof(struct heatmap_args, large)),
	{}
};

static int heatmap_print_json(const struct to_heatmap *map)
{
	printf("{\"title\": ");
	to_json_print_string(stdout, map->title);
	printf(",\n\"servers\": ");
	if (!map->names)
		printf("%u", map->n);
	for (unsigned int i = 0; map->names && i < map->n; i++)
		printf("%s\"%s\"%s", i ? ", " : "[", map->names[i],
		       i + 1 < map->n ? "" : "]");
	printf(",\n\"bytes\": [");
	for (size_t i = 0; i < map->n; i++) {
		printf("%s\n[", i ? "," : "");
		for (size_t j = 0; j < map->n; j++)
			printf("%s%llu", j ? ", " : "",
			       (unsigned long long)map->bytes[i * map->n + j]);
		printf("]");
	}
	printf("]}\n");
	return 0;
}

static int heatmap_write_svg(FILE *out, const void *map, struct to_error *err)
{
	int ret = to_heatmap_svg(out, map);

	return ret ? to_error_set(err, ret, "out of memory") : 0;
}

static int heatmap_show(struct to_call *call, const struct heatmap_args *args,
			const struct to_heatmap *map)
{
	bool terminal = isatty(STDOUT_FILENO);
	struct winsize size = {};

	if (args->output)
		return to_file_write(args->output, heatmap_write_svg, map, &call->err);
	if (call->json)
		return heatmap_print_json(map);
	if (!terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		size.ws_col = 152;	/* 64 cells */
	to_heatmap_text(stdout, map, size.ws_col, terminal && !getenv("NO_COLOR"));
	return 0;
}

enum heatmap_format { HEATMAP_JOB, HEATMAP_PLAN, HEATMAP_TM };

/* The "format" of the file at @data, or a negative errno; a job may leave it out. */
static int heatmap_format(const char *data, size_t len, const char *name, struct to_error *err)
{
	static const char *const formats[] = { "topoopt-job", "topoopt-plan", "topoopt-tm", NULL };
	struct to_json_doc doc;
	struct to_json at, member;
	int ret;

	ret = to_json_open_deferred(&doc, &at, data, len, name, "tables", NULL, err);
	if (!ret) {
		member = to_json_member(&at, "format");
		if (member.value)
			ret = to_json_choice(&member, formats);
	}
	to_json_close(&doc);
	return ret;
}

static int heatmap_draw(struct to_call *call, const struct heatmap_args *args,
			const char *data, size_t len)
{
	const char *path = call->operands[0];
	struct to_demand *demand = NULL;
	struct to_plan *plan = NULL;
	struct to_heatmap map = {};
	int ret = -EINVAL, format = heatmap_format(data, len, path, &call->err);
	struct to_tm *tm = NULL;

	if (format < 0)
		return format;
	if (format == HEATMAP_PLAN) {
		plan = to_plan_parse(data, len, path, &call->err);
		if (plan)
			ret = to_heatmap_data_of_plan(&map, plan, args->load);
	} else if (format == HEATMAP_TM) {
		tm = to_tm_parse(data, len, path, NULL, &call->err);
		if (tm && args->load && tm->server != TO_TM_FABRIC)
			to_error_set(&call->err, 0,
				     "%s: a recording of %s alone has no link load: merge first",
				     path, tm->servers[tm->server]);
		else if (tm && !to_large_check(path, tm->n_servers, args->large, &call->err))
			ret = to_heatmap_data_of_tm(&map, tm, args->load);
	} else if (args->load) {
		to_error_set(&call->err, 0, "%s: only a plan or a traffic matrix has link loads",
			     path);
	} else {
		demand = to_demand_parse(data, len, path, to_large_most(args->large), &call->err);
		if (demand)
			ret = to_heatmap_data_of_job(&map, demand);
	}
	if (ret == -ENOMEM)
		to_error_set(&call->err, ret, "out of memory");
	if (!ret)
		ret = heatmap_show(call, args, &map);
	to_heatmap_data_free(&map);
	to_tm_free(tm);
	to_plan_free(plan);
	to_demand_free(demand);
	return ret;
}

static int heatmap_run(struct to_call *call, const void *args)
{
	char *data;
	size_t len;
	int ret;

	ret = to_file_read(call->operands[0], TO_FILE_RECORDING_MAX, &data, &len, &call->err);
	if (ret)
		return ret;
	ret = heatmap_draw(call, args, data, len);
	free(data);
	return ret;
}

const struct to_command to_cmd_heatmap = {
	.name = "heatmap",
	.summary = "Draw traffic or link load as a heat map",
	.operands = "TM|JOB|PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = heatmap_options,
	.args_size = sizeof(struct heatmap_args),
	.run = heatmap_run,
};
