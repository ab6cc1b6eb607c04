// SPDX-License-Identifier: GPL-2.0-or-later
#include "shard/shards.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "format/cluster_json.h"
#include "format/names.h"
#include "format/plan_json.h"
#include "shard/shards_check.h"
#include "shard/shards_store.h"

#define SHARDS_CLUSTER "cluster.json"
#define SHARDS_FORMAT "topoopt-shards"

const char *const to_shard_states[] = { "planned", "changing", "active", "removing", NULL };

/* Its name in the store; 256 bytes. */
static void shards_plan_name(const struct to_shard *shard, const struct to_shard_version *version,
			     char name[256])
{
	snprintf(name, 256, TO_SHARDS_PLANS "%s.%llu.json", shard->name,
		 (unsigned long long)version->generation);
}

void to_shards_plan_file(const struct to_shards *s, const struct to_shard *shard,
			 const struct to_shard_version *version, char *path)
{
	char name[256];

	shards_plan_name(shard, version, name);
	snprintf(path, PATH_MAX, "%s/%s", to_shards_where(s), name);
}

const char *to_shards_where(const struct to_shards *s)
{
	return s->store->where;
}

int to_shards_check_output(const struct to_shards *s, const char *path, struct to_error *err)
{
	char *copy = path && strcmp(path, "-") ? strdup(path) : NULL;
	struct stat dir, state;
	const bool inside = copy && s->store && !stat(dirname(copy), &dir) &&
		!stat(to_shards_where(s), &state) &&
		dir.st_dev == state.st_dev && dir.st_ino == state.st_ino;

	free(copy);
	return inside ? to_error_set(err, -EINVAL, "%s would be in the directory of the shards' state, which is read",
				     path) : 0;
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
	{ "name", to_names_read, offsetof(struct to_shard, name), false },
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

		ret = to_names_read(&child, name);
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

struct to_plan *to_shards_read_plan(const struct to_shards *s, const struct to_shard *shard,
				    const struct to_shard_version *version, struct to_error *err)
{
	char path[PATH_MAX], name[256], *text;
	struct to_plan *plan;
	size_t len;

	shards_plan_name(shard, version, name);
	if (s->store->read(s->store, name, &text, &len, err))
		return NULL;
	to_shards_plan_file(s, shard, version, path);
	plan = to_plan_parse(text, len, path, err);
	free(text);
	if (!plan || (!to_cluster_refuse_shared(plan->cluster, path, TO_CLUSTER_CABLES_ONLY, err) &&
		      !shards_check_plan(s, plan, path, err)))
		return plan;
	to_plan_free(plan);
	return NULL;
}

static int shards_read_cluster(struct to_shards *s, struct to_error *err)
{
	char path[PATH_MAX], *text;
	size_t len;
	int ret = s->store->read(s->store, SHARDS_CLUSTER, &text, &len, err);

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/" SHARDS_CLUSTER, to_shards_where(s));
	s->cluster = to_cluster_parse(text, len, path, err);
	free(text);
	return s->cluster ? to_cluster_refuse_shared(s->cluster, path, TO_CLUSTER_CABLES_ONLY, err) :
			    -EINVAL;
}

/* What shards.json, @text, says of s->cluster, and the plans that it names. */
static int shards_read(struct to_shards *s, const char *text, size_t len, struct to_error *err)
{
	struct to_json_doc doc;
	struct to_json at;
	char path[PATH_MAX];
	int ret;

	s->drained = calloc(s->cluster->n_servers, sizeof(*s->drained));
	if (!s->drained)
		return to_error_set(err, -ENOMEM, "out of memory");
	snprintf(path, sizeof(path), "%s/" TO_SHARDS_INDEX, to_shards_where(s));
	ret = to_json_open(&doc, &at, text, len, path, s->cluster, err);
	if (!ret)
		ret = to_json_object(&at, shards_fields, s);
	to_json_close(&doc);
	for (struct to_shard *shard = s->list; shard < s->list + s->n && !ret; shard++) {
		shard->now.plan = to_shards_read_plan(s, shard, &shard->now, err);
		if (shard->now.plan && shard->next.generation)
			shard->next.plan = to_shards_read_plan(s, shard, &shard->next, err);
		if (!shard->now.plan || (shard->next.generation && !shard->next.plan))
			ret = -EINVAL;
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

static bool shards_has_plan(const void *data, const char *name)
{
	const struct to_shards *s = data;
	char plan[256];

	for (const struct to_shard *shard = s->list; shard < s->list + s->n; shard++) {
		shards_plan_name(shard, &shard->now, plan);
		if (!strcmp(plan, name))
			return true;
		shards_plan_name(shard, &shard->next, plan);
		if (!strcmp(plan, name))
			return true;
	}
	return false;
}

static int shards_print_plan(FILE *out, const void *data, struct to_error *err)
{
	return to_plan_print(data, out, err);
}

static int shards_save_plan(const struct to_shards *s, const struct to_shard *shard,
			    struct to_shard_version *version, struct to_error *err)
{
	char name[256];
	int ret = 0;

	shards_plan_name(shard, version, name);
	if (version->unsaved)
		ret = s->store->write(s->store, name, shards_print_plan, version->plan, err);
	version->unsaved = ret;
	return ret;
}

int to_shards_save(struct to_shards *s, struct to_error *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < s->n && !ret; i++) {
		ret = shards_save_plan(s, &s->list[i], &s->list[i].now, err);
		ret = ret ? ret : shards_save_plan(s, &s->list[i], &s->list[i].next, err);
	}
	if (ret)
		return ret;
	s->generation++;
	ret = s->store->replace(s->store, shards_print, s, err);
	if (!ret)
		s->store->sweep(s->store, shards_has_plan, s);
	return ret;
}

/* ---- the state ---- */

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
	if (s->store)
		s->store->close(s->store);
	s->store = NULL;
}

static int shards_open_store(struct to_shards *s, const struct to_shards_place *place, bool make,
			     bool change, struct to_error *err)
{
	int ret = 0;

	*s = (struct to_shards){};
	s->store = place->etcd ? to_shards_etcd(place->etcd, change, &ret, err) :
				 to_shards_directory(place->dir, make, change, &ret, err);
	return ret;
}

static int shards_load(struct to_shards *s, struct to_error *err)
{
	char *text;
	size_t len;
	int ret;

	shards_empty(s);
	ret = s->store->read(s->store, TO_SHARDS_INDEX, &text, &len, err);
	if (ret == -ENOENT)
		return to_error_set(err, ret, "%.300s: no cluster is shared here: toctl shard init",
				    to_shards_where(s));
	if (ret)
		return ret;
	ret = shards_read_cluster(s, err);
	if (!ret)
		ret = shards_read(s, text, len, err);
	free(text);
	return ret;
}

int to_shards_open(struct to_shards *s, const struct to_shards_place *place, bool change,
		   struct to_error *err)
{
	uint64_t generation;
	int ret = shards_open_store(s, place, false, change, err);

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

/* The shards that are there already, on the cluster of file @path. */
static int shards_keep(struct to_shards *s, const char *path, struct to_error *err)
{
	char *text;
	size_t len;
	long wrong;
	int ret = s->store->read(s->store, TO_SHARDS_INDEX, &text, &len, err);

	if (ret == -ENOENT) {
		s->drained = calloc(s->cluster->n_servers, sizeof(*s->drained));
		return s->drained ? 0 : to_error_set(err, -ENOMEM, "out of memory");
	}
	if (ret)
		return ret;
	ret = shards_read(s, text, len, err);
	free(text);
	if (!ret) {
		wrong = to_shards_check(s, shards_init_line, err);
		ret = wrong > 0 ? -EINVAL : wrong;
	}
	if (!ret && !s->n) {
		/* nobody's links: those of the file are the latest word */
		to_cluster_free(s->cluster);
		s->cluster = to_cluster_load(path, err);
		ret = s->cluster ? 0 : -EINVAL;
	}
	return ret;
}

int to_shards_init(struct to_shards *s, const struct to_shards_place *place, const char *path,
		   struct to_error *err)
{
	int ret = shards_open_store(s, place, true, true, err);

	if (ret)
		return ret;
	s->cluster = to_cluster_load(path, err);
	ret = s->cluster ? shards_keep(s, path, err) : -EINVAL;
	if (!ret)
		ret = s->store->write(s->store, SHARDS_CLUSTER, shards_print_cluster, s->cluster, err);
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
	to_error_set(err, -ENOENT, "%.300s: no shard is called %.63s", to_shards_where(s),
		     name);
	return NULL;
}

struct to_shard *to_shards_find_settled(const struct to_shards *s, const char *name,
					struct to_error *err)
{
	struct to_shard *shard = to_shards_find(s, name, err);

	if (!shard || shard->state == TO_SHARD_PLANNED || shard->state == TO_SHARD_ACTIVE)
		return shard;
	to_error_set(err, -EBUSY, "shard %s is %s: complete that first", name,
		     to_shard_states[shard->state]);
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
