// SPDX-License-Identifier: GPL-2.0-or-later
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "job/client_check.h"

/* Version of the newest NCCL of this server as NCCL_VERSION_CODE has it, 0 for none. */
static unsigned int client_nccl_version(const char *root)
{
	static const char *const directories[] = {
		"/usr/lib", "/usr/lib/*", "/usr/lib64", "/usr/local/lib", "/usr/local/lib/*",
		"/usr/local/cuda/lib64",
	};
	unsigned int newest = 0, major, minor, patch;
	char pattern[PATH_MAX];
	glob_t found = {};

	for (unsigned int i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		snprintf(pattern, sizeof(pattern), "%s%s/libnccl.so.*.*.*", root, directories[i]);
		glob(pattern, i ? GLOB_APPEND : 0, NULL, &found);
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (sscanf(strrchr(found.gl_pathv[i], '/'), "/libnccl.so.%u.%u.%u", &major, &minor,
			   &patch) == 3 && major * 10000 + minor * 100 + patch > newest)
			newest = major * 10000 + minor * 100 + patch;
	globfree(&found);
	return newest;
}

static void client_check_version(struct to_checks *checks, unsigned int version)
{
	const bool old = version < TO_ENV_NCCL_SUBNET_AWARE;

	if (version)
		to_check_add(checks, old ? TO_CHECK_WARN : TO_CHECK_OK, "version", "nccl",
			     old ? "install NCCL 2.30.7 or later" : NULL,
			     old ? "NCCL %u.%u.%u does not choose the port by its cable" :
				   "NCCL %u.%u.%u", version / 10000, version / 100 % 100,
			     version % 100);
}

/* A setting that differs from the one that the plan asks for. */
static void client_check_setting(struct to_checks *checks, const char *client,
				 const char *where, const char *key, const char *is,
				 const char *wanted)
{
	char fix[400];

	if (!strcmp(is, wanted))
		return;
	snprintf(fix, sizeof(fix), "%s=%s", key, wanted);
	to_check_add(checks, TO_CHECK_WARN, "setting", client, fix, "%s has %s=%.100s", where, key,
		     is);
}

/* Lines KEY=VALUE (NCCL, src/misc/param.cc); a comment, from "#" on, has no key of ours. */
static void client_check_nccl_conf(struct to_checks *checks, const char *root,
				   json_t *variables)
{
	char path[PATH_MAX], *line = NULL, *equals;
	const char *wanted;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/etc/nccl.conf", root);
	file = fopen(path, "r");
	if (!file)
		return;
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		equals = strchr(line, '=');
		if (!equals)
			continue;
		*equals = '\0';
		wanted = json_string_value(json_object_get(variables, line));
		if (wanted)
			client_check_setting(checks, "nccl", "/etc/nccl.conf", line, equals + 1,
					     wanted);
	}
	free(line);
	fclose(file);
}

static void client_check_memlock(struct to_checks *checks, const char *client)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_max == RLIM_INFINITY)
		to_check_add(checks, TO_CHECK_OK, "memlock", client, NULL,
			     "locked memory has no limit here");
	else
		to_check_add(checks, TO_CHECK_WARN, "memlock", client,
			     "LimitMEMLOCK=infinity in the unit that starts jobs, memlock unlimited in /etc/security/limits.conf",
			     "locked memory is limited to %llu KiB here: RDMA cannot register larger buffers",
			     (unsigned long long)limit.rlim_max / 1024);
}

void to_client_check(struct to_checks *checks, const struct to_env_view *view,
		     enum to_env_client client, const char *root)
{
	const char *name = to_env_clients[client], *key;
	struct to_env_view versioned = *view;
	json_t *variables, *warnings, *value;
	struct to_error err = {};
	size_t i;

	if (client == TO_ENV_NCCL) {
		versioned.version = client_nccl_version(root);
		client_check_version(checks, versioned.version);
		/* where it is not known, what an old one lacks is told, too */
		if (!versioned.version)
			versioned.version = 1;
	}
	if (client == TO_ENV_NCCL || client == TO_ENV_UCX)
		client_check_memlock(checks, name);
	if (to_env_make(&versioned, client, &variables, &warnings, &err)) {
		to_check_add(checks, TO_CHECK_FAIL, "ports", name, NULL, "%s", err.text);
		return;
	}
	to_check_add(checks, TO_CHECK_OK, "ports", name, NULL,
		     "%zu variables of toctl job env make it use the planned ports",
		     json_object_size(variables));
	json_array_foreach(warnings, i, value) {
		to_check_add(checks, TO_CHECK_WARN, "path", name, NULL, "%s",
			     json_string_value(value));
	}
	json_object_foreach(variables, key, value) {
		if (getenv(key))
			client_check_setting(checks, name, "the environment", key, getenv(key),
					     json_string_value(value));
	}
	if (client == TO_ENV_NCCL)
		client_check_nccl_conf(checks, root, variables);
	json_decref(variables);
	json_decref(warnings);
}

/* Ranks of the first AllReduce group that @server is in, else of all servers. */
static int client_ranks(struct to_ranks *ranks, const struct to_plan *plan, unsigned int server,
			struct to_error *err)
{
	struct to_ranks group;
	struct to_error none;
	int ret = to_ranks_find(ranks, plan, TO_RANKS_NONE, TO_RANKS_NONE, err);

	for (uint32_t g = 0; !ret && to_ranks_place(ranks, server) < 0 &&
	     !to_ranks_find(&group, plan, g, TO_RANKS_NONE, &none); g++)
		if (to_ranks_place(&group, server) >= 0)
			*ranks = group;
	return ret;
}

void to_client_check_server(struct to_checks *checks, const struct to_plan *plan,
			    unsigned int server, const char *device, enum to_env_client client)
{
	struct to_env_port ports[TO_PORTS_MAX] = {};
	struct to_ranks ranks;
	const struct to_env_view view = {
		.ranks = &ranks, .server = server, .device = device, .ports = ports,
	};
	struct to_error err;

	if (client_ranks(&ranks, plan, server, &err) ||
	    to_env_look(&plan->cluster->servers[server], ports, &err)) {
		to_check_add(checks, TO_CHECK_FAIL, "ports", to_env_clients[client], NULL, "%s",
			     err.text);
		return;
	}
	to_client_check(checks, &view, client, "");
}
