// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/dimensions_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "collectives/dimensions_plan.h"
#include "format/plan_json.h"

static int dimensions_read_plan(const char *data, size_t len, const char *path,
				const struct to_dimensions_of *of, struct to_dimensions *dims,
				struct to_error *err)
{
	struct to_plan *plan = to_plan_parse(data, len, path, err);
	struct to_error why = { "" };
	int ret = -EINVAL;

	if (!plan)
		return ret;
	ret = to_dimensions_of_plan(plan, of->latency_ns, dims, &why);
	if (!ret && of->gpus)
		ret = to_dimensions_put_inside(dims, &(const struct to_dimension){
			TO_DIMENSION_SWITCH, of->gpus, of->gpu_bandwidth, of->latency_ns }, &why);
	to_plan_free(plan);
	return ret ? to_error_set(err, ret, "%s: %.400s", path, why.text) : 0;
}

/* Tell whether the format of a file is a plan's; 0 or a negative errno. */
static int dimensions_find_plan(const char *data, size_t len, const char *path, bool *plan,
				struct to_error *err)
{
	struct to_json_doc doc;
	struct to_json at, member;
	int ret = to_json_open_deferred(&doc, &at, data, len, path, "tables", NULL, err);

	*plan = false;
	if (!ret && json_is_object(at.value)) {
		member = to_json_member(&at, "format");
		*plan = json_is_string(member.value) &&
			!strcmp(json_string_value(member.value), "topoopt-plan");
	}
	to_json_close(&doc);
	return ret;
}

static int dimensions_read(const char *data, size_t len, const char *path,
			   const struct to_dimensions_of *of, struct to_dimensions *dims,
			   struct to_error *err)
{
	bool plan = false;
	int ret = of ? dimensions_find_plan(data, len, path, &plan, err) : 0;

	if (ret)
		return ret;
	if (plan)
		return dimensions_read_plan(data, len, path, of, dims, err);
	if (of && of->gpus)
		return to_error_set(err, -EINVAL, "%s: --gpus is for plans: dims.json has all dimensions",
				    path);
	return to_dimensions_parse(data, len, path, dims, err);
}

int to_dimensions_load(const char *path, const struct to_dimensions_of *plan,
		       struct to_dimensions *dims, struct to_error *err)
{
	char *data;
	size_t len;
	int ret = to_file_read(path, TO_FILE_MAX, &data, &len, err);

	if (ret)
		return ret;
	ret = dimensions_read(data, len, path, plan, dims, err);
	free(data);
	return ret;
}
