// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/plan_slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "format/cluster_json.h"
#include "format/continuity_json.h"
#include "format/plan_json.h"
#include "format/plan_tables_json.h"

void to_plan_servers_free(struct to_plan_servers *servers)
{
	free(servers->text);
	to_cluster_free(servers->cluster);
	*servers = (struct to_plan_servers){ NULL };
}

/* Where the links begin as to_cluster_print_file() writes them, or NULL. */
static const char *plan_slice_links(const char *cluster)
{
	return strstr(cluster, TO_CLUSTER_LINKS);
}

/*
 * The same servers as those before, with the links of @cluster; NULL when it is to be
 * read as a whole, which says what is wrong.
 */
static struct to_cluster *plan_slice_relink(const struct to_plan_servers *servers,
					    const char *cluster)
{
	const char *links = plan_slice_links(cluster);
	struct to_cluster *copy;
	char *text;

	if (!links || !servers->text || strlen(servers->text) != (size_t)(links - cluster) ||
	    memcmp(servers->text, cluster, links - cluster))
		return NULL;
	if (asprintf(&text, "{%s", links + 1) < 0)
		return NULL;
	copy = to_cluster_copy(servers->cluster);
	if (copy && to_cluster_parse_links(copy, text, strlen(text), "cluster", NULL)) {
		to_cluster_free(copy);
		copy = NULL;
	}
	free(text);
	return copy;
}

uint64_t to_plan_slice_servers(const char *cluster, const char **links)
{
	const char *at = plan_slice_links(cluster);

	if (!at)
		return 0;
	*links = at + strlen(TO_CLUSTER_LINKS) - 1;
	return to_hash(TO_HASH_BEGIN, cluster, at - cluster);
}

/* It does not matter when they cannot be kept. */
static void plan_slice_keep(struct to_plan_servers *servers, const char *cluster,
			    const struct to_cluster *parsed)
{
	const char *links = plan_slice_links(cluster);

	to_plan_servers_free(servers);
	if (!links)
		return;
	servers->text = strndup(cluster, links - cluster);
	servers->fingerprint = to_hash(TO_HASH_BEGIN, cluster, links - cluster);
	servers->cluster = to_cluster_copy(parsed);
	if (!servers->text || !servers->cluster)
		to_plan_servers_free(servers);
}

/* The plan of @cluster, which it takes over, or NULL. */
static struct to_plan *plan_slice_new(const char *job, struct to_cluster *cluster,
				      struct to_error *err)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));

	if (plan) {
		plan->cluster = cluster;
		plan->demand = calloc(1, sizeof(*plan->demand));
	} else {
		to_cluster_free(cluster);
	}
	if (!plan || !plan->demand)
		goto fail;
	snprintf(plan->demand->name, sizeof(plan->demand->name), "%s", job);
	if (!to_cluster_join_shared(plan->cluster) && !to_plan_alloc_tables(plan) &&
	    !to_plan_index(plan))
		return plan;
fail:
	to_plan_free(plan);
	to_error_set(err, -ENOMEM, "out of memory");
	return NULL;
}

/* @plan with the table at @at, or NULL; closes @doc. */
static struct to_plan *plan_slice_finish(struct to_plan *plan, struct to_json_doc *doc,
					 const struct to_json *at, unsigned int *server,
					 struct to_error *err)
{
	bool *done = calloc(plan->cluster->n_servers, sizeof(*done));
	int ret = done ? to_plan_read_table(at, plan, done) :
			 to_error_set(err, -ENOMEM, "out of memory");

	to_json_close(doc);
	for (*server = 0; !ret && !done[*server]; ++*server)
		;
	free(done);
	if (!ret)
		return plan;
	to_plan_free(plan);
	return NULL;
}

struct to_plan *to_plan_slice_parse(const char *job, const char *cluster, const char *table,
				    struct to_plan_servers *servers, unsigned int *server,
				    struct to_error *err)
{
	struct to_cluster *read = plan_slice_relink(servers, cluster);
	struct to_json_doc doc;
	struct to_plan *plan;
	struct to_json at;

	if (!read) {
		read = to_cluster_parse(cluster, strlen(cluster), "cluster", err);
		if (!read)
			return NULL;
		plan_slice_keep(servers, cluster, read);
	}
	plan = plan_slice_new(job, read, err);
	if (!plan)
		return NULL;
	if (!to_json_open(&doc, &at, table, strlen(table), "table", plan->cluster, err))
		return plan_slice_finish(plan, &doc, &at, server, err);
	to_json_close(&doc);
	to_plan_free(plan);
	return NULL;
}

struct to_plan *to_plan_slice_take(const char *job, json_t *links, json_t *table,
				   const struct to_plan_servers *servers, unsigned int *server,
				   struct to_error *err)
{
	struct to_cluster *cluster;
	struct to_json_doc doc;
	struct to_plan *plan;
	struct to_json at;

	if (!servers->cluster) {
		to_error_set(err, -ENOENT, "cluster: the servers are missing");
		return NULL;
	}
	cluster = to_cluster_copy(servers->cluster);
	if (!cluster) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	if (to_cluster_take_links(cluster, links, "links", err)) {
		to_cluster_free(cluster);
		return NULL;
	}
	plan = plan_slice_new(job, cluster, err);
	if (!plan)
		return NULL;
	to_json_open_value(&doc, &at, table, "table", plan->cluster, err);
	return plan_slice_finish(plan, &doc, &at, server, err);
}

/* The dark links of @plan; NULL: none. */
static json_t *plan_slice_dark(const struct to_plan *plan)
{
	char *text = NULL;
	size_t len = 0;
	json_t *dark;
	FILE *out = plan->n_dark ? open_memstream(&text, &len) : NULL;

	if (!out)
		return NULL;
	to_plan_print_dark(out, plan);
	fclose(out);
	dark = json_loadb(text, len, 0, NULL);
	free(text);
	return dark;
}

json_t *to_plan_slice_rest(const struct to_plan *plan, const bool *unable)
{
	json_t *rest = json_pack("{s:o*, s:o*}", "dark", plan_slice_dark(plan), "checks",
				 to_continuity_json(plan->cluster, unable));

	if (json_object_size(rest))
		return rest;
	json_decref(rest);
	return NULL;
}

int to_plan_slice_add_rest(struct to_plan *plan, json_t *rest, struct to_error *err)
{
	json_t *dark = json_object_get(rest, "dark"), *checks = json_object_get(rest, "checks");
	struct to_json_doc doc;
	struct to_json at;
	int ret = 0;

	if (dark) {
		to_json_open_value(&doc, &at, dark, "dark", plan->cluster, err);
		ret = to_plan_read_dark(&at, plan);
		to_json_close(&doc);
	}
	if (!ret && checks) {
		to_json_open_value(&doc, &at, checks, "checks", plan->cluster, err);
		ret = to_continuity_read(&at, plan->cluster);
		to_json_close(&doc);
	}
	return ret;
}
