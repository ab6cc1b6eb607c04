// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/initial_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/limits.h"
#include "format/plan_json.h"

/* Return: 0, or a negative errno: what is there instead of a plan is not known. */
static int initial_plan_set_aside(const struct to_controller_config *config,
				  const struct to_error *why, struct to_error *err)
{
	const char *path = config->plan;
	struct to_error unread = { 0 };
	char *aside, *text;
	size_t len;
	int ret = to_file_read(path, TO_FILE_MAX, &text, &len, &unread);

	if (ret == -ENOENT) {
		to_run_log(config->log, "initial",
			   json_pack("{s:s}", "plan", config->initial),
			   "%s is not there: beginning with %s", path, config->initial);
		return 0;
	}
	if (ret)
		return to_error_set(err, ret, "%s", unread.text);
	free(text);
	if (asprintf(&aside, "%s.damaged", path) < 0)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = config->dry_run ? 0 : to_file_replace(aside, path, err);
	free(aside);
	if (!ret)
		to_run_log(config->log, "initial",
			   json_pack("{s:s, s:s}", "plan", config->initial, "error",
				     why->text),
			   "%s, kept as %s.damaged: beginning with %s", why->text, path,
			   config->initial);
	return ret;
}

static int initial_plan_write(const struct to_controller_config *config,
			      const struct to_plan *plan, struct to_error *err)
{
	char *new;
	int ret;

	if (asprintf(&new, "%s.new", config->plan) < 0)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = to_plan_save(plan, new, err);
	ret = ret ? ret : to_file_replace(config->plan, new, err);
	free(new);
	return ret;
}

struct to_plan *to_initial_plan_load(const struct to_controller_config *config,
				     struct to_error *err)
{
	struct to_error why = { 0 };
	struct to_plan *plan = to_plan_load_shared(config->plan, &why);
	int ret;

	if (plan)
		return plan;
	if (!config->initial) {
		to_error_set(err, -EINVAL, "%s", why.text);
		return NULL;
	}
	plan = to_plan_load_shared(config->initial, err);
	if (!plan)
		return NULL;
	ret = initial_plan_set_aside(config, &why, err);
	if (!ret && !config->dry_run)
		ret = initial_plan_write(config, plan, err);
	if (!ret)
		return plan;
	to_plan_free(plan);
	return NULL;
}
