// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/large.h"
#include "format/tm_json.h"
#include "measure/tm_text.h"

#define ALL_SAMPLES UINT64_MAX

struct show_args {
	int class, view;
	uint64_t sample, top;
	bool large;
};

static int show_print(struct to_call *call, const struct to_tm_text *text)
{
	json_t *json;

	if (!call->json)
		return to_tm_text_print(stdout, text, &call->err);
	json = to_tm_text_json(text);
	if (!json)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	to_json_write(json, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(json);
	return 0;
}

static int show_run(struct to_call *call, const void *data)
{
	const struct show_args *args = data;
	struct to_tm *tm = to_tm_load(call->operands[0], &call->err);
	struct to_tm_text text = {
		.tm = tm, .class = args->class, .view = args->view, .top = args->top,
		.sample = args->sample == ALL_SAMPLES ? -1 : (int)args->sample };
	int ret;

	if (!tm)
		return -EINVAL;
	ret = to_large_check(call->operands[0], tm->n_servers, args->large, &call->err);
	if (!ret)
		ret = to_tm_text_make(&text, &call->err);
	if (!ret)
		ret = show_print(call, &text);
	free(text.bytes);
	to_tm_free(tm);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct show_args, field)

static const struct to_option show_options[] = {
	{ "class", 0, TO_OPTION_CHOICE, FIELD(class), .choices = to_tm_text_classes,
	  .help = "class of traffic; default: all" },
	{ "view", 0, TO_OPTION_CHOICE, FIELD(view), .choices = to_tm_text_views,
	  .help = "flows of a server's recording; default: all" },
	{ "sample", 0, TO_OPTION_NUMBER, FIELD(sample), .argument = "N",
	  .max = INT32_MAX, .help = "sample to show, from 0; default: the sum of all" },
	{ "top", 0, TO_OPTION_NUMBER, FIELD(top), .argument = "N", .min = 1,
	  .help = "busiest pairs to list; default: 20 above 16 servers" },
	TO_LARGE_OPTION(offsetof(struct show_args, large)),
	{}
};

const struct to_command to_cmd_tm_show = {
	.name = "tm show",
	.summary = "Print a traffic matrix",
	.operands = "TM",
	.min_operands = 1,
	.max_operands = 1,
	.options = show_options,
	.args_size = sizeof(struct show_args),
	.defaults = &(const struct show_args){ .sample = ALL_SAMPLES },
	.run = show_run,
};
