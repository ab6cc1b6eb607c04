// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/command.h"
#include "data/tm.h"
#include "format/tm_json.h"
#include "measure/tm_merge.h"
#include "measure/tm_merge_report.h"

#define MERGE_PORTS 4096	/* bytes of the names of ports in a warning */

struct merge_args {
	const char *output;
	bool partial;
};

/* Warn of what makes the matrix less exact. */
static void merge_warn(const struct to_call *call, const struct to_tm *tm)
{
	const unsigned int absent = to_tm_merge_report_absent(tm);
	char ports[MERGE_PORTS] = "";
	size_t at = 0;

	if (absent)
		to_call_note(call, "%u of %u samples lack a server's part", absent, tm->n_samples);
	if (!tm->n_stale)
		return;
	for (unsigned int i = 0; i < tm->n_stale && at < sizeof(ports); i++)
		at += snprintf(ports + at, sizeof(ports) - at, " %s:%s",
			       tm->servers[tm->stale[i].server], tm->stale[i].port);
	to_call_note(call, "counters that stand still while bytes pass:%s; %u samples remain, where both ends of a link have such ones",
		     ports, tm->n_samples);
}

static int merge_run(struct to_call *call, const void *data)
{
	const struct merge_args *args = data;
	FILE *out = strcmp(args->output, "-") ? stdout : stderr;
	struct to_tm **records, *tm = NULL;
	json_t *json;
	int ret = -EINVAL;
	unsigned int n;

	records = calloc(call->n_operands, sizeof(*records));
	if (!records)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	for (n = 0; n < call->n_operands; n++) {
		records[n] = to_tm_load(call->operands[n], &call->err);
		if (!records[n])
			goto out;
	}
	tm = to_tm_merge(records, n, args->partial, &call->err);
	if (!tm)
		goto out;
	ret = to_tm_save(tm, args->output, &call->err);
	if (ret)
		goto out;
	if (out == stderr && call->quiet) {
		/* the matrix has standard output */
	} else if (call->json) {
		json = to_tm_merge_report_json(tm);
		to_json_write(json, out, JSON_INDENT(2));
		fputc('\n', out);
		json_decref(json);
	} else {
		to_tm_merge_report_print(out, tm);
	}
	merge_warn(call, tm);
out:
	to_tm_free(tm);
	while (n)
		to_tm_free(records[--n]);
	free(records);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct merge_args, field)

static const struct to_option merge_options[] = {
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), true, "FILE",
	  .help = "matrix to write; - is standard output" },
	{ "partial", 0, TO_OPTION_FLAG, FIELD(partial),
	  .help = "merge although servers are missing" },
	{}
};

const struct to_command to_cmd_tm_merge = {
	.name = "tm merge",
	.summary = "Merge recordings of servers into a traffic matrix",
	.operands = "TM...",
	.min_operands = 1,
	.max_operands = UINT_MAX,
	.options = merge_options,
	.args_size = sizeof(struct merge_args),
	.run = merge_run,
};
