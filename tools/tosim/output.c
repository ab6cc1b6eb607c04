// SPDX-License-Identifier: GPL-2.0-or-later
#include "output.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"

bool to_output_is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

int to_output_check(struct to_call *call, const char *output, const char *report)
{
	if (to_output_is_stdout(output) && to_output_is_stdout(report))
		return to_usage(call, "--output and --report cannot both go to standard output");
	return 0;
}

int to_output_json(json_t *object, size_t flags, struct to_error *err)
{
	if (!object)
		return to_error_set(err, -ENOMEM, "out of memory");
	to_json_write(object, stdout, flags);
	putchar('\n');
	json_decref(object);
	return 0;
}
