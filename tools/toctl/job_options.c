// SPDX-License-Identifier: GPL-2.0-or-later
#include "job_options.h"

#include <errno.h>

#include "format/plan_json.h"

int to_job_open(struct to_call *call, const struct to_job_options *options,
		struct to_plan **plan, struct to_ranks *ranks)
{
	struct to_error why = { "" };
	int ret;

	*plan = to_plan_load_shared(call->operands[0], &call->err);
	if (!*plan)
		return -EINVAL;
	ret = to_ranks_find(ranks, *plan, options->group, options->ring, &why);
	if (!ret)
		return 0;
	to_plan_free(*plan);
	return to_error_set(&call->err, ret, "%s: %.400s", call->operands[0], why.text);
}

int to_ring_limits_check(struct to_call *call, const struct to_ring_limits *limits)
{
	if (limits->tolerance < 0)
		return to_usage(call, "--tolerance: expected 0 or more");
	return 0;
}
