// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters for Prometheus: on standard output, in a file, or over HTTP. */

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "kernel/metrics.h"
#include "serve.h"

struct export_args {
	const char *dev, *textfile, *listen;
};

static int export_text(FILE *out, const void *data, struct to_error *err)
{
	(void)err;
	to_metrics_print(data, TO_METRICS_PROMETHEUS, out);
	return 0;
}

static int export_once(struct to_call *call, const struct export_args *args)
{
	struct to_metrics metrics = { .version = TO_VERSION };
	json_t *json;
	int ret;

	ret = to_metrics_read(&metrics, args->dev, &call->err);
	if (ret)
		return ret;
	if (args->textfile) {
		ret = to_file_write(args->textfile, export_text, &metrics, &call->err);
	} else if (call->json) {
		json = to_metrics_json(&metrics);
		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(json);
	} else {
		to_metrics_print(&metrics, TO_METRICS_OPENMETRICS, stdout);
	}
	to_metrics_free(&metrics);
	return ret;
}

static int export_run(struct to_call *call, const void *data)
{
	const struct export_args *args = data;

	if (args->listen && args->textfile)
		return to_usage(call, "--listen and --textfile are mutually exclusive");
	if ((args->listen || args->textfile) && call->json)
		return to_usage(call, "--json goes to standard output, not with --listen or --textfile");
	if (args->listen)
		return to_serve_metrics(args->listen, args->dev, &call->err);
	return export_once(call, args);
}

static const struct to_option export_options[] = {
	{ "dev", 'd', TO_OPTION_STRING, offsetof(struct export_args, dev),
	  .argument = "DEV", .help = "only this topoopt device; default: all" },
	{ "textfile", 0, TO_OPTION_OUTPUT, offsetof(struct export_args, textfile),
	  .argument = "FILE",
	  .help = "replace FILE atomically, for node_exporter's textfile collector" },
	{ "listen", 'l', TO_OPTION_STRING, offsetof(struct export_args, listen),
	  .argument = "[ADDRESS:]PORT",
	  .help = "serve them over HTTP as /metrics; default address: 127.0.0.1" },
	{}
};

const struct to_command to_cmd_export = {
	.name = "export",
	.summary = "Export counters and state as OpenMetrics",
	.options = export_options,
	.args_size = sizeof(struct export_args),
	.run = export_run,
};
