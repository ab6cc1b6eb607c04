// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/plan_slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "format/cluster_json.h"
#include "format/plan_json.h"
#include "format/plan_tables_json.h"

static void plan_slice_print_end(FILE *out, const struct to_cluster *c, const char *key,
				 struct to_port_ref at)
{
	fprintf(out, "\"%s\":\"%s:%s\"", key, c->servers[at.server].name,
		c->servers[at.server].ports[at.port].name);
}

void to_plan_slice_print_cluster(FILE *out, const struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;

	fprintf(out, "{\"format\":\"topoopt-cluster\",\"version\":1,\n");
	to_cluster_print(out, c);
	fprintf(out, ",\n\"links\":[");
	for (unsigned int i = 0; i < c->n_links; i++) {
		fprintf(out, "%s\n {", i ? "," : "");
		plan_slice_print_end(out, c, "a", c->links[i].a);
		fprintf(out, ",");
		plan_slice_print_end(out, c, "b", c->links[i].b);
		fprintf(out, "}");
	}
	fprintf(out, "]}\n");
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
				    unsigned int *server, struct to_error *err)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));

	if (plan) {
		plan->demand = calloc(1, sizeof(*plan->demand));
		plan->cluster = to_cluster_parse(cluster, strlen(cluster), "cluster", err);
	}
	if (!plan || !plan->demand) {
		to_error_set(err, -ENOMEM, "out of memory");
		goto fail;
	}
	if (!plan->cluster)
		goto fail;
	snprintf(plan->demand->name, sizeof(plan->demand->name), "%s", job);
	if (to_plan_alloc_tables(plan) || to_plan_index(plan)) {
		to_error_set(err, -ENOMEM, "out of memory");
		goto fail;
	}
	if (!plan_slice_read_table(plan, table, server, err))
		return plan;
fail:
	to_plan_free(plan);
	return NULL;
}
