// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"

void to_traffic_free(struct to_traffic *traffic)
{
	free(traffic->bytes);
	free(traffic->tcp);
	*traffic = (struct to_traffic){ 0 };
}

void to_traffic_add(struct to_traffic *traffic, const struct to_tm *tm, unsigned int sample)
{
	const struct to_tm_sample *s = &tm->samples[sample];

	traffic->seconds += s->elapsed_ns * 1e-9;
	for (unsigned int k = 0; k < s->n_flows; k++) {
		const struct to_tm_flow *flow = &s->flows[k];
		size_t pair = (size_t)flow->src * traffic->n + flow->dst;

		if (flow->src == TO_TM_NONE || flow->dst == TO_TM_NONE || flow->src == flow->dst)
			continue;
		traffic->bytes[pair] += flow->bytes;
		if (flow->class == TO_TM_TCP)
			traffic->tcp[pair] += flow->bytes;
	}
}

/* Say why the matrix is not of the plan's job, if it is not. */
static int traffic_check(const struct to_tm *tm, const struct to_plan *plan, struct to_error *err)
{
	if (strcmp(tm->job, plan->demand->name))
		return to_error_set(err, -EINVAL,
				    "job: it is of job \"%s\", the plan of job \"%s\"", tm->job,
				    plan->demand->name);
	if (!tm->n_samples)
		return to_error_set(err, -EINVAL, "samples: there are none");
	return to_tm_check_fabric(tm, plan->cluster, err);
}

int to_traffic_of(const struct to_tm *tm, const struct to_plan *plan,
		  struct to_traffic *traffic, struct to_error *err)
{
	const size_t n = plan->cluster->n_servers;
	bool whole = false;
	int ret = traffic_check(tm, plan, err);

	if (ret)
		return ret;
	*traffic = (struct to_traffic){ .n = n, .bytes = calloc(n * n, sizeof(*traffic->bytes)),
					.tcp = calloc(n * n, sizeof(*traffic->tcp)) };
	if (!traffic->bytes || !traffic->tcp) {
		to_traffic_free(traffic);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	for (unsigned int i = 0; i < tm->n_samples; i++) {
		if (tm->samples[i].absent)
			continue;
		to_traffic_add(traffic, tm, i);
		whole = true;
	}
	if (traffic->seconds > 0)
		return 0;
	to_traffic_free(traffic);
	if (!whole)
		return to_error_set(err, -EINVAL, "samples: every one lacks a server's part");
	return to_error_set(err, -EINVAL, "samples: they last no time");
}

int to_traffic_demand(const struct to_traffic *traffic, const struct to_plan *plan,
		      struct to_demand **demand)
{
	struct to_rings rings = to_allreduce_of(plan);
	struct to_demand *measured = to_demand_copy(plan->demand);
	uint64_t *buffers = calloc(plan->demand->n_groups + 1, sizeof(*buffers));
	const size_t cells = (size_t)traffic->n * traffic->n;
	int ret = -ENOMEM;

	if (!measured || !buffers)
		goto out;
	for (size_t i = 0; i < cells; i++)
		measured->mp[i] = traffic->bytes[i] - (traffic->tcp ? traffic->tcp[i] : 0);
	ret = to_allreduce_take(&rings, measured->mp, buffers);
	for (size_t i = 0; traffic->tcp && i < cells; i++)
		measured->mp[i] += traffic->tcp[i];
	for (size_t i = 0; i < traffic->n; i++)
		measured->mp[i * (traffic->n + 1)] = 0;
	/* a group of the job remains one while it sends nothing */
	for (unsigned int i = 0; i < measured->n_groups; i++)
		measured->groups[i].bytes = buffers[i] ? buffers[i] : 1;
out:
	free(buffers);
	if (ret) {
		to_demand_free(measured);
		measured = NULL;
	}
	*demand = measured;
	return ret;
}
