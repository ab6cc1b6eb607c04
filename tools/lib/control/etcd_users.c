// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/etcd_users.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/password.h"
#include "base/text.h"
#include "control/etcd_http.h"
#include "control/etcd_key.h"

/**
 * struct users - the work
 * @enabled: etcd asks for users already
 * @known: names of the users that there are, and that were not made yet
 *
 * Until etcd asks for users, anybody may have made users and roles: those that are to be made
 * are made anew then, and others are refused.
 */
struct users {
	const struct to_etcd_options *options;
	const char *directory;
	struct to_etcd *etcd;
	bool enabled;
	json_t *known;
	struct to_etcd_users *result;
};

/* Takes @request. What is there already is as good as made. */
static int users_call(struct users *u, const char *path, json_t *request, struct to_error *err)
{
	struct to_error why = {};
	json_t *reply = NULL;
	int ret = request ? to_etcd_call(u->etcd, path, request, &reply, &why) :
			    to_error_set(&why, -ENOMEM, "out of memory");

	json_decref(request);
	json_decref(reply);
	if (ret && strstr(why.text, "already exists"))
		return 0;
	return ret ? to_error_set(err, ret, "%s", why.text) : 0;
}

/* Take away what a stranger may have made. Takes @request. */
static int users_drop(struct users *u, const char *path, json_t *request, struct to_error *err)
{
	struct to_error why = {};
	int ret = u->enabled ? 0 : users_call(u, path, json_incref(request), &why);

	json_decref(request);
	return ret && !strstr(why.text, "not found") ? to_error_set(err, ret, "%s", why.text) : 0;
}

/* Whether etcd asks for users, and which it knows. */
static int users_list(struct users *u, struct to_error *err)
{
	json_t *request = json_object(), *reply = NULL;
	const json_t *name;
	size_t i;
	int ret = to_etcd_call(u->etcd, "/v3/auth/user/list", request, &reply, err);

	json_decref(request);
	if (ret)
		return ret;
	u->known = json_object();
	json_array_foreach(json_object_get(reply, "users"), i, name)
		if (json_is_string(name))
			json_object_set_new(u->known, json_string_value(name), json_true());
	json_decref(reply);
	return u->known ? 0 : to_error_set(err, -ENOMEM, "out of memory");
}

static int users_file(const struct users *u, char path[4096], const char *name,
		      struct to_error *err)
{
	if (snprintf(path, 4096, "%s/%s", u->directory, name) >= 4096 - 8)
		return to_error_set(err, -ENAMETOOLONG, "%s: the name is too long", u->directory);
	return 0;
}

/* Another user would know the passwords in a file of its own, and decide what is in its directory. */
static int users_check_owner(const char *path, struct to_error *err)
{
	struct stat st;

	if (stat(path, &st))
		return to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	if (st.st_uid && st.st_uid != geteuid())
		return to_error_set(err, -EPERM, "%s: belongs to another user", path);
	return st.st_mode & (S_IWGRP | S_IWOTH) && S_ISDIR(st.st_mode) ?
	       to_error_set(err, -EPERM, "%s: others may write there; chmod 700 it", path) : 0;
}

static int users_open(struct users *u, struct to_error *err)
{
	struct to_etcd_options options = *u->options;
	struct to_error why = {};
	char root[4096];
	int ret;

	options.user = options.password_file = options.role = NULL;
	u->etcd = to_etcd_open(&options, err);
	if (!u->etcd)
		return -EHOSTUNREACH;
	ret = users_list(u, &why);
	if (ret != -EACCES)
		return ret ? to_error_set(err, ret, "%s", why.text) : 0;
	to_etcd_close(u->etcd);
	u->enabled = true;
	options.user = u->options->user ? u->options->user : TO_ETCD_ROOT;
	/* fabric.conf may have the file of a controller */
	options.password_file = u->options->user ? u->options->password_file : NULL;
	ret = users_file(u, root, TO_ETCD_ROOT, err);
	if (ret)
		return ret;
	if (!options.password_file && !getenv(TO_ETCD_PASSWORD))
		options.password_file = root;
	u->etcd = to_etcd_open(&options, err);
	return u->etcd ? users_list(u, err) : -EACCES;
}

/* The password is in the file only once etcd has it, too. */
static int users_set_password(struct users *u, const char *user, bool known, const char *path,
			      struct to_error *err)
{
	char new[4096 + 8], password[TO_PASSWORD_MAX];
	int ret = to_password_make(password, err);

	snprintf(new, sizeof(new), "%s.new", path);
	ret = ret ? ret : to_password_write(new, password, err);
	ret = ret ? ret : users_call(u, known ? "/v3/auth/user/changepw" : "/v3/auth/user/add",
				     json_pack("{s:s, s:s}", "name", user, "password", password),
				     err);
	explicit_bzero(password, sizeof(password));
	if (!ret && rename(new, path))
		ret = to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	u->result->made += !ret;
	return ret;
}

/* @name: of its password file */
static int users_make(struct users *u, const char *user, const char *name, struct to_error *err)
{
	const bool known = u->enabled && json_object_get(u->known, user);
	char path[4096], password[TO_PASSWORD_MAX];
	int ret = users_file(u, path, name, err);

	ret = ret ? ret : users_drop(u, "/v3/auth/user/delete", json_pack("{s:s}", "name", user), err);
	if (ret)
		return ret;
	json_object_del(u->known, user);
	u->result->users++;
	if (access(path, F_OK))
		return users_set_password(u, user, known, path, err);
	ret = users_check_owner(path, err);
	ret = ret ? ret : to_password_read(password, path, NULL, err);
	if (!ret && !known)
		ret = users_call(u, "/v3/auth/user/add", json_pack("{s:s, s:s}", "name", user,
								   "password", password), err);
	u->result->made += !ret && !known;
	return ret;
}

static int users_make_role(struct users *u, const char *role, struct to_error *err)
{
	int ret = users_drop(u, "/v3/auth/role/delete", json_pack("{s:s}", "role", role), err);

	return ret ? ret : users_call(u, "/v3/auth/role/add", json_pack("{s:s}", "name", role), err);
}

static int users_grant(struct users *u, const char *user, const char *role,
		       struct to_error *err)
{
	return users_call(u, "/v3/auth/user/grant",
			  json_pack("{s:s, s:s}", "user", user, "role", role), err);
}

/* @key: all that begin with it when it ends with a slash */
static int users_allow(struct users *u, const char *role, const char *what, const char *key,
		       struct to_error *err)
{
	const bool all = key[strlen(key) - 1] == '/';

	return users_call(u, "/v3/auth/role/grant",
			  json_pack("{s:s, s:{s:s, s:o*, s:o*}}", "name", role, "perm",
				    "permType", what, "key", to_etcd_key(u->etcd, key, false),
				    "range_end", all ? to_etcd_key(u->etcd, key, true) : NULL),
			  err);
}

static int users_make_root(struct users *u, struct to_error *err)
{
	int ret;

	/* Who is the administrator already may be called otherwise. */
	if (u->enabled)
		return 0;
	ret = users_make(u, TO_ETCD_ROOT, TO_ETCD_ROOT, err);
	ret = ret ? ret : users_make_role(u, TO_ETCD_ROOT, err);
	return ret ? ret : users_grant(u, TO_ETCD_ROOT, TO_ETCD_ROOT, err);
}

static int users_make_controller(struct users *u, struct to_error *err)
{
	static const char *const writes[] = {
		TO_ETCD_CONTROLLER, TO_ETCD_REQUESTS, TO_ETCD_PLANS, TO_ETCD_SHARDS,
	};
	char user[320];
	int ret;

	to_etcd_user(user, u->options->prefix, TO_ETCD_CONTROLLER);
	ret = users_make(u, user, TO_ETCD_CONTROLLER, err);
	ret = ret ? ret : users_make_role(u, user, err);
	for (unsigned int i = 0; !ret && i < sizeof(writes) / sizeof(*writes); i++)
		ret = users_allow(u, user, "READWRITE", writes[i], err);
	ret = ret ? ret : users_allow(u, user, "READ", TO_ETCD_AGENTS, err);
	ret = ret ? ret : users_allow(u, user, "READ", TO_ETCD_SAMPLES, err);
	return ret ? ret : users_grant(u, user, user, err);
}

/* An observer asks by a look, which agents answer without changing anything. */
static int users_make_observer(struct users *u, struct to_error *err)
{
	static const char *const reads[] = {
		TO_ETCD_CONTROLLER, TO_ETCD_REQUESTS, TO_ETCD_PLANS, TO_ETCD_AGENTS,
		TO_ETCD_SAMPLES, TO_ETCD_SHARDS,
	};
	char user[320];
	int ret;

	to_etcd_user(user, u->options->prefix, TO_ETCD_OBSERVER);
	ret = users_make(u, user, TO_ETCD_OBSERVER, err);
	ret = ret ? ret : users_make_role(u, user, err);
	for (unsigned int i = 0; !ret && i < sizeof(reads) / sizeof(*reads); i++)
		ret = users_allow(u, user, "READ", reads[i], err);
	ret = ret ? ret : users_allow(u, user, "WRITE", TO_ETCD_LOOK, err);
	return ret ? ret : users_grant(u, user, user, err);
}

/* Role @all is what all agents may. */
static int users_make_agents(struct users *u, char all[320], struct to_error *err)
{
	static const char *const reads[] = {
		TO_ETCD_CONTROLLER, TO_ETCD_REQUESTS, TO_ETCD_PLANS,
	};
	int ret;

	to_etcd_user(all, u->options->prefix, "agents");
	ret = users_make_role(u, all, err);
	for (unsigned int i = 0; !ret && i < sizeof(reads) / sizeof(*reads); i++)
		ret = users_allow(u, all, "READ", reads[i], err);
	return ret;
}

static int users_make_agent(struct users *u, const char *all, const char *server,
			    struct to_error *err)
{
	static const char *const writes[] = {
		TO_ETCD_OWNER, "state", "matrix", "look", TO_ETCD_RIVAL,
	};
	char user[320], name[256], key[512];
	int ret;

	snprintf(name, sizeof(name), TO_ETCD_AGENTS "%s", server);
	to_etcd_user(user, u->options->prefix, name);
	ret = users_make(u, user, name, err);
	ret = ret ? ret : users_make_role(u, user, err);
	/* By name: controllers read all that there is below agents/. */
	for (unsigned int i = 0; !ret && i < sizeof(writes) / sizeof(*writes); i++) {
		snprintf(key, sizeof(key), "%s/%s", name, writes[i]);
		ret = users_allow(u, user, "READWRITE", key, err);
	}
	snprintf(key, sizeof(key), TO_ETCD_SAMPLES "%s/", server);
	ret = ret ? ret : users_allow(u, user, "READWRITE", key, err);
	ret = ret ? ret : users_grant(u, user, user, err);
	return ret ? ret : users_grant(u, user, all, err);
}

/* Users that a stranger may have made would outlive what shuts strangers out. */
static int users_refuse_others(const struct users *u, struct to_error *err)
{
	char list[256], name[64];
	size_t length = 0;
	const char *user;
	json_t *value;

	json_object_foreach(u->known, user, value)
		if (length < sizeof(list))
			length += snprintf(list + length, sizeof(list) - length, "%s%s", length ? ", " : "",
					   to_text_clean(name, sizeof(name), user));
	if (!length)
		return 0;
	return to_error_set(err, -EEXIST,
			    "anybody may have made the users that etcd has (%s): delete those that are not yours (etcdctl user delete), or have etcd ask for users yourself (etcdctl auth enable), then run this again",
			    list);
}

static int users_enable(struct users *u, struct to_error *err)
{
	int ret;

	if (u->enabled)
		return 0;
	ret = users_refuse_others(u, err);
	if (ret)
		return ret;
	u->result->enabled = true;
	return users_call(u, "/v3/auth/enable", json_object(), err);
}

static int users_make_directory(const struct users *u, const char *name, struct to_error *err)
{
	char path[4096];
	int ret = users_file(u, path, name, err);

	if (!ret && mkdir(path, 0700) && errno != EEXIST)
		ret = to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	return ret ? ret : users_check_owner(path, err);
}

int to_etcd_users_init(const struct to_etcd_options *options, const struct to_cluster *cluster,
		       const char *directory, struct to_etcd_users *result,
		       struct to_error *err)
{
	struct users u = { .options = options, .directory = directory, .result = result };
	char all[320];
	int ret = 0;

	memset(result, 0, sizeof(*result));
	for (unsigned int i = 0; i < cluster->n_servers; i++)
		if (strchr(cluster->servers[i].name, '/') || cluster->servers[i].name[0] == '.')
			return to_error_set(err, -EINVAL, "server \"%s\" cannot have a password file of its name",
					    cluster->servers[i].name);
	ret = users_make_directory(&u, "", err);
	ret = ret ? ret : users_make_directory(&u, TO_ETCD_AGENTS, err);
	ret = ret ? ret : users_open(&u, err);
	ret = ret ? ret : users_make_root(&u, err);
	ret = ret ? ret : users_make_controller(&u, err);
	ret = ret ? ret : users_make_observer(&u, err);
	ret = ret ? ret : users_make_agents(&u, all, err);
	for (unsigned int i = 0; !ret && i < cluster->n_servers; i++)
		ret = users_make_agent(&u, all, cluster->servers[i].name, err);
	ret = ret ? ret : users_enable(&u, err);
	json_decref(u.known);
	to_etcd_close(u.etcd);
	return ret;
}
