// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/plan_slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "format/cluster_json.h"
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

/* It does not matter when they cannot be kept. */
static void plan_slice_keep(struct to_plan_servers *servers, const char *cluster,
			    const struct to_cluster *parsed)
{
	const char *links = plan_slice_links(cluster);

	to_plan_servers_free(servers);
	if (!links)
		return;
	servers->text = strndup(cluster, links - cluster);
	servers->cluster = to_cluster_copy(parsed);
	if (!servers->text || !servers->cluster)
		to_plan_servers_free(servers);
}

static int plan_slice_read_table(struct to_plan *plan, const char *table, unsigned int *server,
				 struct to_error *err)
{
	unsigned int n = plan->cluster->n_servers;
	bool *done = calloc(n, sizeof(*done));
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	if (!done)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = to_json_open(&doc, &at, table, strlen(table), "table", plan->cluster, err);
	if (!ret)
		ret = to_plan_read_table(&at, plan, done);
	to_json_close(&doc);
	for (*server = 0; !ret && !done[*server]; ++*server)
		;
	free(done);
	return ret;
}

struct to_plan *to_plan_slice_parse(const char *job, const char *cluster, const char *table,
				    struct to_plan_servers *servers, unsigned int *server,
				    struct to_error *err)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));

	if (plan) {
		plan->demand = calloc(1, sizeof(*plan->demand));
		plan->cluster = plan_slice_relink(servers, cluster);
	}
	if (plan && !plan->cluster) {
		plan->cluster = to_cluster_parse(cluster, strlen(cluster), "cluster", err);
		if (plan->cluster)
			plan_slice_keep(servers, cluster, plan->cluster);
	}
	if (!plan || !plan->demand) {
		to_error_set(err, -ENOMEM, "out of memory");
		goto fail;
	}
	if (!plan->cluster)
		goto fail;
	snprintf(plan->demand->name, sizeof(plan->demand->name), "%s", job);
	if (to_cluster_join_shared(plan->cluster) || to_plan_alloc_tables(plan) ||
	    to_plan_index(plan)) {
		to_error_set(err, -ENOMEM, "out of memory");
		goto fail;
	}
	if (!plan_slice_read_table(plan, table, server, err))
		return plan;
fail:
	to_plan_free(plan);
	return NULL;
}
