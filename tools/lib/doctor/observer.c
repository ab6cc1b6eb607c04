// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "control/state_file.h"
#include "doctor/plan_digests.h"
#include "format/plan_json.h"

/* Path of the plan in force. */
static const char *observer_path(const struct to_observer *o, char repair[PATH_MAX])
{
	if (!o->loop.repair)
		return o->path;
	snprintf(repair, PATH_MAX, "%s.repair", o->path);
	return repair;
}

/* Tell whether the file at @path has changed since it was @loaded. */
static bool observer_changed(const struct stat *loaded, const char *path)
{
	struct stat file;

	return !stat(path, &file) &&
	       (file.st_ino != loaded->st_ino || file.st_size != loaded->st_size ||
		file.st_mtim.tv_sec != loaded->st_mtim.tv_sec ||
		file.st_mtim.tv_nsec != loaded->st_mtim.tv_nsec);
}

/* Load the plan at @path in the place of @plan, unless that is what it is. Return: 1 if so. */
static int observer_load_plan(struct to_plan **plan, struct stat *loaded, const char *path,
			      unsigned int servers, struct to_error *err)
{
	struct to_plan *read;

	if (*plan && !observer_changed(loaded, path))
		return 0;
	read = to_plan_load_shared(path, err);
	if (!read)
		return -EINVAL;
	if (servers && servers != read->cluster->n_servers) {
		to_plan_free(read);
		return to_error_set(err, -EINVAL, "%s: has other servers now", path);
	}
	if (stat(path, loaded))
		memset(loaded, 0, sizeof(*loaded));
	to_plan_free(*plan);
	*plan = read;
	return 1;
}

/* Load the plan in force, and the operator's beside a repair, if they have changed. */
static int observer_load(struct to_observer *o, struct to_error *err)
{
	const unsigned int servers = o->plan ? o->plan->cluster->n_servers : 0;
	char repair[PATH_MAX];
	int ret;

	to_loop_state_free(&o->loop);
	ret = to_loop_state_read(&o->loop, o->path, o->log, err);
	if (ret)
		return ret;
	ret = observer_load_plan(&o->plan, &o->loaded, observer_path(o, repair), servers, err);
	if (ret > 0) {
		free(o->digests);
		o->digests = NULL;
		if (o->fabric)
			to_fabric_show(o->fabric, o->plan);
	}
	if (ret >= 0 && o->loop.repair) {
		ret = observer_load_plan(&o->wanted, &o->wanted_loaded, o->path,
					 o->plan->cluster->n_servers, err);
	} else {
		to_plan_free(o->wanted);
		o->wanted = NULL;
	}
	return ret < 0 ? ret : 0;
}

/*
 * Tell whether the plan was in force during the whole look. Between the steps of a change
 * servers have tables of neither plan.
 */
static bool observer_settled(const struct to_observer *o)
{
	struct to_loop_state now;
	char repair[PATH_MAX];
	struct to_error why;

	return !o->loop.change && !to_loop_state_read(&now, o->path, NULL, &why) && !now.change &&
	       now.repair == o->loop.repair && !observer_changed(&o->loaded, observer_path(o, repair));
}

int to_observer_open(struct to_observer *o, const char *path, const char *log,
		     const struct to_fabric_options *options, struct to_error *err)
{
	struct to_fabric_options observe = *options;
	int ret;

	*o = (struct to_observer){
		.path = path, .log = log, .losses.config = TO_LINK_LOSS_DEFAULTS,
	};
	ret = observer_load(o, err);
	if (ret)
		return ret;
	observe.observe = true;
	o->fabric = to_fabric_open(o->plan, &observe, err);
	if (!o->fabric)
		return -EIO;
	to_fabric_show(o->fabric, o->plan);
	return 0;
}

void to_observer_close(struct to_observer *o)
{
	to_fabric_close(o->fabric);
	to_loop_state_free(&o->loop);
	to_plan_free(o->plan);
	to_plan_free(o->wanted);
	free(o->digests);
	to_link_losses_free(&o->losses);
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
	ret = to_status_losses(&o->losses, o->plan->cluster, now, err);
	ret = ret ? ret : to_status_make(status, o->plan, o->wanted ? o->wanted : o->plan,
					 observer_settled(o) ? o->digests : NULL, &o->losses,
					 o->before, now, err);
	json_decref(o->before);
	o->before = now;
	return ret;
}

/* Read a look that was kept; NULL without one. */
static json_t *observer_kept(const char *path)
{
	char *text;
	size_t len;
	json_t *look;

	if (to_file_read(path, TO_FILE_MAX, &text, &len, NULL))
		return NULL;
	look = to_json_load(text, len, TO_JSON_MEMORY_MAX, path, NULL);
	free(text);
	return look;
}

static int observer_write(FILE *out, const void *look, struct to_error *err)
{
	return json_dumpf(look, out, JSON_COMPACT) ?
	       to_error_set(err, -ENOMEM, "out of memory") : 0;
}

/*
 * Look and forget: agents at pipes are started for the first look, which takes longer than a
 * look does, and what passes meanwhile is the error of what links lose.
 */
static int observer_start(struct to_observer *o, struct to_error *err)
{
	json_t *look;
	int ret = to_status_look(o->fabric, o->plan->cluster->n_servers, &look, err);

	if (!ret)
		json_decref(look);
	return ret;
}

int to_observer_look_once(struct to_observer *o, struct to_status *status,
			  struct to_error *not_kept, struct to_error *err)
{
	char path[PATH_MAX];
	int kept, ret;

	*not_kept = (struct to_error){};
	kept = to_state_file(o->plan->demand->name, "look.json", path, not_kept);
	if (!kept)
		o->before = observer_kept(path);
	ret = observer_start(o, err);
	if (!ret && o->before)
		ret = to_status_losses(&o->losses, o->plan->cluster, o->before, err);
	ret = ret ? ret : to_observer_look(o, status, err);
	if (!ret && !kept)
		kept = to_file_write(path, observer_write, o->before, not_kept);
	if (!kept)
		not_kept->text[0] = '\0';
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
