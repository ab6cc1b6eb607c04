// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/user.h"
#include "cli/command.h"
#include "data/large.h"
#include "format/demand_json.h"

struct read_args {
	const char *user;
};

struct read_text {
	const char *text;
	size_t len;
};

static int read_write(FILE *out, const void *data, struct to_error *err)
{
	const struct read_text *read = data;

	(void)err;	/* the caller looks at the stream */
	fwrite(read->text, 1, read->len, out);
	return 0;
}

static int read_run(struct to_call *call, const void *data)
{
	const struct read_args *args = data;
	const char *path = call->operands[0];
	struct to_demand *demand = NULL;
	size_t len;
	char *text;
	uid_t uid;
	int ret = to_user_become(args->user, &uid, &call->err);

	ret = ret ? ret : to_user_read(path, uid, TO_FILE_SERVICE_MAX, &text, &len, &call->err);
	if (ret)
		return ret;
	demand = to_demand_parse(text, len, path, to_large_most(false), &call->err);
	ret = demand ? to_file_write("-", read_write, &(struct read_text){ text, len },
				     &call->err) : -EINVAL;
	to_demand_free(demand);
	free(text);
	return ret;
}

static const struct to_option read_options[] = {
	{ "user", 0, TO_OPTION_STRING, offsetof(struct read_args, user), true, "USER",
	  .help = "name or number of the user with whose rights the file is read" },
	{}
};

const struct to_command to_cmd_job_read = {
	.name = "job read",
	.summary = "Print a job.json, read with the rights of a user",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.options = read_options,
	.args_size = sizeof(struct read_args),
	.run = read_run,
};
