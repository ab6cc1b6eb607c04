// SPDX-License-Identifier: GPL-2.0-or-later
#include <jansson.h>
#include <stdlib.h>

#include "base/json.h"
#include "cli/command.h"
#include "control/fabric_conf.h"

static int use_run(struct to_call *call, const void *args)
{
	const char *given = getenv(TO_FABRIC_CONF_VARIABLE);
	char *link;
	int ret = to_fabric_conf_use(call->operands[0], &link, &call->err);

	(void)args;
	if (ret)
		return ret;
	if (given && *given)
		to_call_note(call, "$" TO_FABRIC_CONF_VARIABLE " is set: %s counts, not this file",
			     given);
	if (call->json) {
		json_t *out = json_pack("{s:s, s:s}", "file", call->operands[0], "link", link);

		to_json_write(out, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(out);
	} else {
		printf("%s leads to %s\n", link, call->operands[0]);
	}
	free(link);
	return 0;
}

const struct to_command to_cmd_fabric_use = {
	.name = "fabric use",
	.summary = "Make a file your fabric.conf",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.run = use_run,
};
