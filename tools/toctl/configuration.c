// SPDX-License-Identifier: GPL-2.0-or-later
#include "configuration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/quantity.h"
#include "control/fabric_conf.h"

static int configuration_find(const char *name)
{
	for (int i = 0; i < TO_FABRIC_CONF_N; i++)
		if (!strcmp(to_fabric_conf_keys[i].name, name))
			return i;
	return -1;
}

static void configuration_fill(const struct to_fabric_conf *conf, const struct to_option *o,
			       void *args)
{
	const int id = configuration_find(o->name);
	void *field = (char *)args + o->offset;

	if (id < 0 || !conf->values[id])
		return;
	if (to_fabric_conf_keys[id].kind == TO_FABRIC_CONF_DURATION)
		to_quantity_duration(conf->values[id], field);
	else
		*(const char **)field = conf->values[id];
}

/* Refuse to write a file that fabric.conf is, or names. */
static int configuration_check_output(const struct to_fabric_conf *conf, const struct to_option *o,
				      const void *args, struct to_error *err)
{
	const char *path = NULL;

	if (o->type == TO_OPTION_OUTPUT)
		path = *(const char *const *)((const char *)args + o->offset);
	if (!path)
		return 0;
	if (conf->path && to_file_is_same(path, conf->path))
		return to_error_set(err, -EINVAL, "--%s would overwrite %s, which is read", o->name,
				    conf->path);
	for (int i = 0; i < TO_FABRIC_CONF_N; i++)
		if (to_fabric_conf_keys[i].kind == TO_FABRIC_CONF_FILE && conf->values[i] &&
		    to_file_is_same(path, conf->values[i]))
			return to_error_set(err, -EINVAL, "--%s would overwrite %s, which is %s",
					    o->name, conf->values[i], to_fabric_conf_keys[i].name);
	return 0;
}

int to_configuration_read(struct to_call *call, void *args)
{
	struct to_fabric_conf *conf = call->configuration = calloc(1, sizeof(*conf));
	int ret;

	if (!conf)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	ret = to_fabric_conf_load(conf, call->config, &call->err);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < call->set.n; i++)
		if (to_fabric_conf_set(conf, call->set.list[i], &call->err))
			return TO_EXIT_USAGE;
	for (const struct to_option *o = call->command->options; o && o->name; o++) {
		if (o->type == TO_OPTION_KEY)
			configuration_fill(conf, o, args);
		else if (configuration_check_output(conf, o, args, &call->err))
			return TO_EXIT_USAGE;
	}
	return 0;
}

void to_configuration_release(struct to_call *call)
{
	if (call->configuration)
		to_fabric_conf_free(call->configuration);
	free(call->configuration);
	call->configuration = NULL;
}
