// SPDX-License-Identifier: GPL-2.0-or-later
#include "observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/plan_digests.h"
#include "format/plan_json.h"

/* Path of what is in force. */
static const char *observer_path(const struct to_observer *o, char repair[PATH_MAX])
{
	if (!o->loop.repair)
		return o->path;
	snprintf(repair, PATH_MAX, "%s.repair", o->path);
	return repair;
}

/* Whether the file at @path is not what is loaded. */
static bool observer_changed(const struct to_observer *o, const char *path)
{
	struct stat file;

	return !stat(path, &file) &&
	       (file.st_ino != o->loaded.st_ino || file.st_size != o->loaded.st_size ||
		file.st_mtim.tv_sec != o->loaded.st_mtim.tv_sec ||
		file.st_mtim.tv_nsec != o->loaded.st_mtim.tv_nsec);
}

/* Load what is in force, unless it is what is loaded already. */
static int observer_load(struct to_observer *o, struct to_error *err)
{
	char repair[PATH_MAX];
	struct to_plan *plan;
	const char *path;
	int ret;

	to_loop_state_free(&o->loop);
	ret = to_loop_state_read(&o->loop, o->path, o->log, err);
	if (ret)
		return ret;
	path = observer_path(o, repair);
	if (o->plan && !observer_changed(o, path))
		return 0;
	plan = to_plan_load_shared(path, err);
	if (!plan)
		return -EINVAL;
	if (stat(path, &o->loaded))
		memset(&o->loaded, 0, sizeof(o->loaded));
	if (o->plan && o->plan->cluster->n_servers != plan->cluster->n_servers) {
		to_plan_free(plan);
		return to_error_set(err, -EINVAL, "%s: has other servers now", path);
	}
	to_plan_free(o->plan);
	o->plan = plan;
	free(o->digests);
	o->digests = NULL;
	return 0;
}

/*
 * Whether the plan was in force all the time: between the steps of a change servers run
 * what neither plan says.
 */
static bool observer_settled(const struct to_observer *o)
{
	struct to_loop_state now;
	char repair[PATH_MAX];
	struct to_error why;

	return !o->loop.change && !to_loop_state_read(&now, o->path, NULL, &why) && !now.change &&
	       now.repair == o->loop.repair && !observer_changed(o, observer_path(o, repair));
}

int to_observer_open(struct to_observer *o, const char *path, const char *log,
		     const struct to_fabric_options *options, struct to_error *err)
{
	struct to_fabric_options observe = *options;
	int ret;

	*o = (struct to_observer){ .path = path, .log = log };
	ret = observer_load(o, err);
	if (ret)
		return ret;
	observe.observe = true;
	o->fabric = to_fabric_open(o->plan, &observe, err);
	return o->fabric ? 0 : -EIO;
}

void to_observer_close(struct to_observer *o)
{
	to_fabric_close(o->fabric);
	to_loop_state_free(&o->loop);
	to_plan_free(o->plan);
	free(o->digests);
	json_decref(o->before);
}

int to_observer_look(struct to_observer *o, struct to_status *status, struct to_error *err)
{
	json_t *now;
	int ret = observer_load(o, err);

	ret = ret ? ret : to_status_look(o->fabric, o->plan->cluster->n_servers, &now, err);
	if (ret)
		return ret;
	if (!o->digests)
		o->digests = to_plan_digests(o->plan);
	ret = to_status_make(status, o->plan, observer_settled(o) ? o->digests : NULL, o->before, now,
			     err);
	json_decref(o->before);
	o->before = now;
	return ret;
}

json_t *to_observer_json(const struct to_observer *o, const struct to_status *status)
{
	const char *controller = to_fabric_controller(o->fabric);
	json_t *object = to_status_json(status);
	json_t *loop = json_pack("{s:b, s:s, s:b, s:b}", "running", o->loop.running || controller[0],
				 "controller", controller, "change", o->loop.change,
				 "repair", o->loop.repair);

	if (o->loop.decision)
		json_object_set(loop, "decision", o->loop.decision);
	json_object_set_new(object, "loop", loop);
	return object;
}
