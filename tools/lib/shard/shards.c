// SPDX-License-Identifier: GPL-2.0-or-later
#include "shard/shards.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/lock.h"
#include "control/state_file.h"
#include "format/cluster_json.h"
#include "format/plan_json.h"
#include "shard/shards_check.h"

#define SHARDS_JOB "cluster"	/* below /var/lib/topoopt */
#define SHARDS_FORMAT "topoopt-shards"

const char *const to_shard_states[] = { "planned", "changing", "active", "removing", NULL };

static void shards_file(const struct to_shards *s, const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%s/%s", s->dir, name);
}

void to_shards_plan_file(const struct to_shards *s, const struct to_shard *shard,
			 const struct to_shard_version *version, char *path)
{
	snprintf(path, PATH_MAX, "%s/plans/%s.%llu.json", s->dir, shard->name,
		 (unsigned long long)version->generation);
}

/* ---- shards.json ---- */

static int shards_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, SHARDS_FORMAT);
}

static int shards_read_state(const struct to_json *at, void *to)
{
	int state = to_json_choice(at, to_shard_states);

	if (state < 0)
		return state;
	*(enum to_shard_state *)to = state;
	return 0;
}

static const struct to_json_field shard_fields[] = {
	{ "name", to_json_name, offsetof(struct to_shard, name), false },
	{ "state", shards_read_state, offsetof(struct to_shard, state), false },
	{ "generation", to_json_positive, offsetof(struct to_shard, now.generation), false },
	{ "next", to_json_positive, offsetof(struct to_shard, next.generation), true },
	{}
};

static int shards_read_list(const struct to_json *at, void *to)
{
	struct to_shards *s = to;
	int ret = to_json_array(at, sizeof(*s->list), &s->list, &s->n);

	for (unsigned int i = 0; i < s->n && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = to_json_object(&child, shard_fields, &s->list[i]);
	}
	return ret;
}

static const struct to_json_field link_fields[] = {
	{ "a", to_cluster_read_port_ref, offsetof(struct to_link, a), false },
	{ "b", to_cluster_read_port_ref, offsetof(struct to_link, b), false },
	{}
};

static int shards_read_links(const struct to_json *at, void *to)
{
	struct to_shards *s = to;

	free(s->cluster->links);
	s->cluster->links = NULL;
	s->cluster->n_links = 0;
	return to_cluster_read_links(at, link_fields, s->cluster);
}

static int shards_read_drained(const struct to_json *at, void *to)
{
	struct to_shards *s = to;
	unsigned int n = 0;
	void *none = NULL;
	int ret = to_json_array(at, 0, &none, &n), server;

	for (unsigned int i = 0; i < n && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		char name[TO_NAME_MAX];

		ret = to_json_name(&child, name);
		if (ret)
			break;
		server = to_cluster_find_server(s->cluster, name);
		if (server < 0)
			return to_json_error(&child, -ENOENT, "no server is called \"%s\"", name);
		s->drained[server] = true;
	}
	return ret;
}

static const struct to_json_field shards_fields[] = {
	{ "format", shards_read_format, 0, false },
	{ "version", to_json_version, 0, false },
	{ "generation", to_json_u64, offsetof(struct to_shards, generation), false },
	{ "shards", shards_read_list, 0, false },
	{ "links", shards_read_links, 0, false },
	{ "drained", shards_read_drained, 0, true },
	{}
};

/* All of its servers and ports are there; what they are like, to_shards_check() looks at. */
static int shards_check_plan(const struct to_shards *s, const struct to_plan *plan,
			     const char *path, struct to_error *err)
{
	for (unsigned int i = 0; i < plan->cluster->n_servers; i++) {
		const struct to_server *server = &plan->cluster->servers[i];
		int at = to_cluster_find_server(s->cluster, server->name);

		if (at < 0 || s->cluster->servers[at].n_ports != server->n_ports)
			return to_error_set(err, -EINVAL,
					    "%.300s: the cluster has no server %s with %u ports", path,
					    server->name, server->n_ports);
	}
	return 0;
}

static int shards_read_plan(const struct to_shards *s, const struct to_shard *shard,
			    struct to_shard_version *version, struct to_error *err)
{
	char path[PATH_MAX];

	to_shards_plan_file(s, shard, version, path);
	version->plan = to_plan_load(path, err);
	return version->plan ? shards_check_plan(s, version->plan, path, err) : -EINVAL;
}

static int shards_read(struct to_shards *s, struct to_error *err)
{
	struct to_json_doc doc;
	struct to_json at;
	char path[PATH_MAX], *data;
	size_t len;
	int ret;

	s->drained = calloc(s->cluster->n_servers, sizeof(*s->drained));
	if (!s->drained)
		return to_error_set(err, -ENOMEM, "out of memory");
	shards_file(s, "shards.json", path);
	ret = to_file_read(path, TO_FILE_MAX, &data, &len, err);
	if (ret)
		return ret;
	ret = to_json_open(&doc, &at, data, len, path, s->cluster, err);
	if (!ret)
		ret = to_json_object(&at, shards_fields, s);
	to_json_close(&doc);
	free(data);
	for (unsigned int i = 0; i < s->n && !ret; i++) {
		ret = shards_read_plan(s, &s->list[i], &s->list[i].now, err);
		if (!ret && s->list[i].next.generation)
			ret = shards_read_plan(s, &s->list[i], &s->list[i].next, err);
	}
	return ret;
}

static void shards_print_end(FILE *out, const struct to_cluster *c, const char *key,
			     struct to_port_ref at)
{
	fprintf(out, "\"%s\":\"%s:%s\"", key, c->servers[at.server].name,
		c->servers[at.server].ports[at.port].name);
}

static int shards_print(FILE *out, const void *data, struct to_error *err)
{
	const struct to_shards *s = data;
	const struct to_cluster *c = s->cluster;
	unsigned int drained = 0;

	(void)err;
	fprintf(out, "{\"format\":\"" SHARDS_FORMAT "\",\"version\":1,\"generation\":%llu,\n\"shards\":[",
		(unsigned long long)s->generation);
	for (unsigned int i = 0; i < s->n; i++) {
		fprintf(out, "%s\n {\"name\":\"%s\",\"state\":\"%s\",\"generation\":%llu", i ? "," : "",
			s->list[i].name, to_shard_states[s->list[i].state],
			(unsigned long long)s->list[i].now.generation);
		if (s->list[i].next.plan)
			fprintf(out, ",\"next\":%llu", (unsigned long long)s->list[i].next.generation);
		fprintf(out, "}");
	}
	fprintf(out, "],\n\"drained\":[");
	for (unsigned int i = 0; i < c->n_servers; i++)
		if (s->drained[i])
			fprintf(out, "%s\"%s\"", drained++ ? "," : "", c->servers[i].name);
	fprintf(out, "],\n\"links\":[");
	for (unsigned int i = 0; i < c->n_links; i++) {
		fprintf(out, "%s\n {", i ? "," : "");
		shards_print_end(out, c, "a", c->links[i].a);
		fprintf(out, ",");
		shards_print_end(out, c, "b", c->links[i].b);
		fprintf(out, "}");
	}
	fprintf(out, "]}\n");
	return 0;
}

/* Plans that no shard has any more, and those of commands that were killed. */
static void shards_sweep(const struct to_shards *s)
{
	char path[PATH_MAX], plan[PATH_MAX];
	struct dirent *entry;
	DIR *plans;

	shards_file(s, "plans", path);
	plans = opendir(path);
	while (plans && (entry = readdir(plans))) {
		bool ours = false;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/plans/%s", s->dir, entry->d_name);
		for (unsigned int i = 0; i < s->n && !ours; i++) {
			to_shards_plan_file(s, &s->list[i], &s->list[i].now, plan);
			ours = !strcmp(plan, path);
			to_shards_plan_file(s, &s->list[i], &s->list[i].next, plan);
			ours |= !strcmp(plan, path);
		}
		if (!ours)
			unlink(path);
	}
	if (plans)
		closedir(plans);
}

static int shards_save_plan(const struct to_shards *s, const struct to_shard *shard,
			    struct to_shard_version *version, struct to_error *err)
{
	char path[PATH_MAX];
	int ret = 0;

	to_shards_plan_file(s, shard, version, path);
	if (version->unsaved)
		ret = to_plan_save(version->plan, path, err);
	version->unsaved = ret;
	return ret;
}

int to_shards_save(struct to_shards *s, struct to_error *err)
{
	char path[PATH_MAX];
	int ret = 0;

	for (unsigned int i = 0; i < s->n && !ret; i++) {
		ret = shards_save_plan(s, &s->list[i], &s->list[i].now, err);
		ret = ret ? ret : shards_save_plan(s, &s->list[i], &s->list[i].next, err);
	}
	if (ret)
		return ret;
	s->generation++;
	shards_file(s, "shards.json", path);
	ret = to_file_write(path, shards_print, s, err);
	if (!ret)
		shards_sweep(s);
	return ret;
}

/* ---- the directory ---- */

static int shards_dir(struct to_shards *s, const char *dir, struct to_error *err)
{
	char path[PATH_MAX];
	int n;

	*s = (struct to_shards){ .lock = -1 };
	if (dir) {
		n = snprintf(s->dir, sizeof(s->dir), "%s", dir);
	} else {
		int ret = to_state_file(SHARDS_JOB, "shards.json", path, err);

		if (ret)
			return ret;
		*strrchr(path, '/') = '\0';
		n = snprintf(s->dir, sizeof(s->dir), "%s", path);
	}
	return n < (int)sizeof(s->dir) ? 0 :
	       to_error_set(err, -ENAMETOOLONG, "%.300s: %s", dir ? dir : path,
			    strerror(ENAMETOOLONG));
}

static int shards_lock(struct to_shards *s, struct to_error *err)
{
	char path[PATH_MAX], by[32] = "";
	pid_t holder = 0;

	shards_file(s, "lock", path);
	s->lock = to_lock_take(path, 0, &holder, err);
	if (s->lock >= 0)
		return 0;
	if (holder)
		snprintf(by, sizeof(by), " (process %d)", holder);
	return s->lock != -EBUSY ? s->lock :
	       to_error_set(err, -EBUSY, "%.300s: another toctl%s is changing the cluster", s->dir, by);
}

static void shards_empty(struct to_shards *s)
{
	for (unsigned int i = 0; i < s->n; i++) {
		to_plan_free(s->list[i].now.plan);
		to_plan_free(s->list[i].next.plan);
	}
	free(s->list);
	free(s->drained);
	s->drained = NULL;
	to_cluster_free(s->cluster);
	s->list = NULL;
	s->cluster = NULL;
	s->n = 0;
}

void to_shards_close(struct to_shards *s)
{
	shards_empty(s);
	if (s->lock >= 0)
		close(s->lock);
	s->lock = -1;
}

static int shards_load(struct to_shards *s, struct to_error *err)
{
	char path[PATH_MAX];

	shards_empty(s);
	shards_file(s, "shards.json", path);
	if (access(path, F_OK) && errno == ENOENT)
		return to_error_set(err, -ENOENT,
				    "%.300s: no cluster is shared here: toctl shard init", s->dir);
	shards_file(s, "cluster.json", path);
	s->cluster = to_cluster_load(path, err);
	return s->cluster ? shards_read(s, err) : -EINVAL;
}

int to_shards_open(struct to_shards *s, const char *dir, bool change, struct to_error *err)
{
	uint64_t generation;
	int ret = shards_dir(s, dir, err);

	if (!ret && change)
		ret = shards_lock(s, err);
	if (!ret)
		ret = shards_load(s, err);
	/* a plan that was replaced while others were read */
	while (ret && !change && s->generation) {
		generation = s->generation;
		ret = shards_load(s, err);
		if (ret && s->generation == generation)
			break;
	}
	if (ret)
		to_shards_close(s);
	return ret;
}

static int shards_print_cluster(FILE *out, const void *data, struct to_error *err)
{
	(void)err;
	to_cluster_print_file(out, data);
	return 0;
}

static void shards_init_line(void *data, const char *line)
{
	struct to_error *err = data;

	if (err && !err->text[0])
		to_error_set(err, -EINVAL, "%s", line);
}

int to_shards_init(struct to_shards *s, const char *dir, const char *path, struct to_error *err)
{
	char file[PATH_MAX];
	bool shared;
	long wrong;
	int ret = shards_dir(s, dir, err);

	if (ret)
		return ret;
	shards_file(s, "plans", file);
	if ((mkdir(s->dir, 0777) && errno != EEXIST) || (mkdir(file, 0777) && errno != EEXIST))
		return to_error_set(err, -errno, "%.300s: %s", file, strerror(errno));
	ret = shards_lock(s, err);
	if (!ret) {
		s->cluster = to_cluster_load(path, err);
		ret = s->cluster ? 0 : -EINVAL;
	}
	shards_file(s, "shards.json", file);
	shared = !access(file, F_OK);
	if (!ret && shared)
		ret = shards_read(s, err);
	else if (!ret)
		s->drained = calloc(s->cluster->n_servers, sizeof(*s->drained));
	if (!ret && !s->drained)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	if (!ret) {
		wrong = to_shards_check(s, shards_init_line, err);
		ret = wrong > 0 ? -EINVAL : wrong;
	}
	if (!ret && shared && !s->n) {
		/* nobody's links: those of the file are the latest word */
		struct to_cluster *again = to_cluster_load(path, err);

		to_cluster_free(s->cluster);
		s->cluster = again;
		ret = again ? 0 : -EINVAL;
	}
	shards_file(s, "cluster.json", file);
	if (!ret)
		ret = to_file_write(file, shards_print_cluster, s->cluster, err);
	if (!ret)
		ret = to_shards_save(s, err);
	if (ret)
		to_shards_close(s);
	return ret;
}

/* ---- shards ---- */

struct to_shard *to_shards_find(const struct to_shards *s, const char *name, struct to_error *err)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (!strcmp(s->list[i].name, name))
			return &s->list[i];
	to_error_set(err, -ENOENT, "%.300s: no shard is called %.63s", s->dir, name);
	return NULL;
}

/* The servers of @plan, if it is one, are of shard @owner. */
static void shards_own(const struct to_shards *s, const struct to_plan *plan, int owner, int *owners)
{
	for (unsigned int k = 0; plan && k < plan->cluster->n_servers; k++)
		owners[to_cluster_find_server(s->cluster, plan->cluster->servers[k].name)] = owner;
}

int *to_shards_owners(const struct to_shards *s)
{
	int *owners = calloc(s->cluster->n_servers, sizeof(*owners));

	for (unsigned int i = 0; owners && i < s->cluster->n_servers; i++)
		owners[i] = -1;
	for (unsigned int i = 0; owners && i < s->n; i++) {
		shards_own(s, s->list[i].now.plan, i, owners);
		shards_own(s, s->list[i].next.plan, i, owners);
	}
	return owners;
}

bool *to_shards_free(const struct to_shards *s, const struct to_shard *of)
{
	bool *list = calloc(s->cluster->n_servers, sizeof(*list));
	int *owners = to_shards_owners(s);

	for (unsigned int i = 0; list && owners && i < s->cluster->n_servers; i++)
		list[i] = !s->drained[i] &&
			  (owners[i] < 0 || (of && owners[i] == of - s->list));
	if (!owners) {
		free(list);
		list = NULL;
	}
	free(owners);
	return list;
}

const struct to_shard_version *to_shard_goal(const struct to_shard *shard)
{
	return shard->next.plan ? &shard->next : &shard->now;
}

void to_shard_set_next(const struct to_shards *s, struct to_shard *shard, struct to_plan *plan)
{
	to_plan_free(shard->next.plan);
	shard->next = (struct to_shard_version){
		.plan = plan, .generation = s->generation + 1, .unsaved = plan };
}

void to_shard_settle(struct to_shard *shard)
{
	if (!shard->next.plan)
		return;
	to_plan_free(shard->now.plan);
	shard->now = shard->next;
	shard->next = (struct to_shard_version){};
}

struct to_shard *to_shards_add(struct to_shards *s, const char *name, struct to_plan *plan,
			       struct to_error *err)
{
	struct to_shard *list = reallocarray(s->list, s->n + 1, sizeof(*list)), *shard;

	if (!list) {
		to_error_set(err, -ENOMEM, "out of memory");
		to_plan_free(plan);
		return NULL;
	}
	s->list = list;
	shard = &list[s->n++];
	*shard = (struct to_shard){
		.now = { .plan = plan, .generation = s->generation + 1, .unsaved = true } };
	snprintf(shard->name, sizeof(shard->name), "%s", name);
	return shard;
}

void to_shards_drop(struct to_shards *s, struct to_shard *shard)
{
	to_plan_free(shard->now.plan);
	to_plan_free(shard->next.plan);
	s->n--;
	memmove(shard, shard + 1, (s->list + s->n - shard) * sizeof(*shard));
}
