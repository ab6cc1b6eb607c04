// SPDX-License-Identifier: GPL-2.0-or-later
#include <jansson.h>
#include <stdlib.h>

#include "base/json.h"
#include "cli/command.h"
#include "control/fabric_conf.h"

static const char *const show_origins[] = {
	[TO_FABRIC_CONF_DEFAULT] = "default", [TO_FABRIC_CONF_FROM_FILE] = "file",
	[TO_FABRIC_CONF_FROM_OPTION] = "--set",
};

static int show_json(const struct to_fabric_conf *conf)
{
	json_t *keys = json_array(), *out;

	for (unsigned int i = 0; i < TO_FABRIC_CONF_N; i++)
		json_array_append_new(keys, json_pack(
			"{s:s, s:s, s:s}", "key", to_fabric_conf_keys[i].name,
			"value", to_fabric_conf_text(conf, i),
			"from", show_origins[conf->origins[i]]));
	out = json_pack("{s:s?, s:s?, s:o}", "file", conf->path, "found_by", conf->found_by,
			"keys", keys);
	to_json_write(out, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(out);
	return 0;
}

static int show_run(struct to_call *call, const void *args)
{
	const struct to_fabric_conf *conf = call->configuration;

	(void)args;
	if (call->json)
		return show_json(conf);
	if (conf->path)
		printf("%s (%s)\n", conf->path, conf->found_by);
	else
		printf("no file: all keys have their defaults\n");
	for (unsigned int i = 0; i < TO_FABRIC_CONF_N; i++)
		if (call->verbose || conf->origins[i] != TO_FABRIC_CONF_DEFAULT)
			printf("  %-20s %s%s\n", to_fabric_conf_keys[i].name,
			       to_fabric_conf_text(conf, i),
			       conf->origins[i] == TO_FABRIC_CONF_FROM_FILE ? "" :
			       conf->origins[i] == TO_FABRIC_CONF_DEFAULT ? " (default)" : " (--set)");
	return 0;
}

const struct to_command to_cmd_fabric_show = {
	.name = "fabric show",
	.summary = "Show how to reach the fabric, and which file says so",
	.configured = true,
	.run = show_run,
};
