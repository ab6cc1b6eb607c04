// SPDX-License-Identifier: GPL-2.0-or-later
#include "shard/shard_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shard/shard_plan.h"
#include "shard/shard_servers.h"

/* Split "s0,s3" in place. Return: number of names, which may exceed @most. */
static unsigned int shard_job_split(char *text, const char **names, unsigned int most)
{
	unsigned int n = 0;
	char *rest;

	for (char *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		if (n < most)
			names[n] = name;
		n++;
	}
	return n;
}

/* Name the servers that @of has, and free ones near them. */
static int shard_job_keep(const struct to_shards *s, const struct to_shard *of, unsigned int n,
			  const char **names, struct to_error *err)
{
	const struct to_cluster *own = of->now.plan->cluster;
	unsigned int has = own->n_servers < n ? own->n_servers : n, i;
	uint32_t *servers = calloc(n, sizeof(*servers));
	bool *available = to_shards_free(s, NULL);
	int ret = servers && available ? 0 : to_error_set(err, -ENOMEM, "out of memory");

	for (i = 0; i < has && !ret; i++)
		servers[i] = to_cluster_find_server(s->cluster, own->servers[i].name);
	if (!ret)
		ret = to_shard_servers_more(s->cluster, available, has, n, servers, err);
	for (i = 0; i < n && !ret; i++)
		names[i] = s->cluster->servers[servers[i]].name;
	free(servers);
	free(available);
	return ret;
}

struct to_plan *to_shard_job_plan(const struct to_shard_job *job, const struct to_shards *s,
				  const char *name, const struct to_shard *of,
				  const struct to_demand *demand, struct to_error *err)
{
	struct to_shard_request request = {
		.name = name, .of = of, .demand = demand,
		.planner = { .fixed = job->fixed, .rings = job->rings, .effort = job->effort,
			     .seed = 1 } };
	const char **names = calloc(demand->n, sizeof(*names));
	char *text = strdup(job->on ? job->on : "");
	struct to_plan *plan = NULL;
	unsigned int n;
	int ret = 0;

	if (!names || !text) {
		ret = to_error_set(err, -ENOMEM, "out of memory");
	} else if (job->on) {
		n = shard_job_split(text, names, demand->n);
		if (n != demand->n)
			ret = to_error_set(err, -EINVAL,
					   "%s: the job has %u servers, --on names %u", job->job,
					   demand->n, n);
		request.servers = names;
	} else if (of && !demand->names) {
		ret = shard_job_keep(s, of, demand->n, names, err);
		request.servers = names;
	}
	if (!ret)
		plan = to_shard_plan(s, &request, err);
	free(names);
	free(text);
	return plan;
}
