// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters for Prometheus: on standard output, in a file, or over HTTP. */

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/command.h"
#include "kernel/metrics.h"
#include "kernel/metrics_serve.h"
#include "serving.h"

struct export_args {
	const char *dev, *output, *listen;
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
	if (args->output) {
		ret = to_file_write(args->output, export_text, &metrics, &call->err);
	} else if (call->json) {
		json = to_metrics_json(&metrics);
		to_json_write(json, stdout, JSON_INDENT(2));
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

	if (args->listen && args->output)
		return to_usage(call, "--listen and --output are mutually exclusive");
	if ((args->listen || args->output) && call->json)
		return to_usage(call, "--json goes to standard output, not with --listen or --output");
	if (args->listen)
		return to_metrics_serve(args->listen, args->dev, TO_VERSION, to_serving(call),
					&call->err);
	return export_once(call, args);
}

static const struct to_option export_options[] = {
	{ "output", 'o', TO_OPTION_OUTPUT, offsetof(struct export_args, output),
	  .argument = "FILE",
	  .help = "file to replace, for node_exporter's textfile collector" },
	{ "listen", 0, TO_OPTION_STRING, offsetof(struct export_args, listen),
	  .argument = "[ADDRESS:]PORT",
	  .help = "serve /metrics over HTTP; default address: 127.0.0.1" },
	{ "dev", 0, TO_OPTION_STRING, offsetof(struct export_args, dev),
	  .argument = "DEV", .help = "only this topoopt device; default: all" },
	{}
};

const struct to_command to_cmd_export = {
	.name = "export",
	.summary = "Export counters and state as OpenMetrics",
	.options = export_options,
	.args_size = sizeof(struct export_args),
	.run = export_run,
};
