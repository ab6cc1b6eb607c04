// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/tm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


const char *const to_tm_class_names[TO_TM_CLASSES + 1] = {
	[TO_TM_ROCE] = "roce", [TO_TM_TCP] = "tcp", [TO_TM_OTHER] = "other",
};

struct to_tm *to_tm_new(unsigned int n_servers)
{
	struct to_tm *tm = calloc(1, sizeof(*tm));

	if (!tm)
		return NULL;
	tm->server = TO_TM_FABRIC;
	tm->n_servers = n_servers;
	tm->servers = calloc(n_servers, sizeof(*tm->servers));
	if (!tm->servers) {
		free(tm);
		return NULL;
	}
	return tm;
}

static void tm_free_sample(struct to_tm_sample *sample)
{
	free(sample->flows);
	free(sample->ports);
	free(sample->links);
}

void to_tm_free(struct to_tm *tm)
{
	if (!tm)
		return;
	for (unsigned int i = 0; i < tm->n_samples; i++)
		tm_free_sample(&tm->samples[i]);
	free(tm->samples);
	free(tm->servers);
	free(tm->ports);
	free(tm->links);
	free(tm->missing);
	free(tm->stale);
	free(tm);
}

/* Room for one more in an array that doubles. */
static void *tm_grow(void *array, unsigned int n, size_t size)
{
	if (n && (n & (n - 1)))
		return array;
	return reallocarray(array, n ? 2 * (size_t)n : 1, size);
}

struct to_tm_sample *to_tm_add_sample(struct to_tm *tm)
{
	struct to_tm_sample *samples;

	samples = tm_grow(tm->samples, tm->n_samples, sizeof(*samples));
	if (!samples)
		return NULL;
	tm->samples = samples;
	samples[tm->n_samples] = (struct to_tm_sample){};
	return &samples[tm->n_samples++];
}

int to_tm_add_flow(struct to_tm_sample *sample, const struct to_tm_flow *flow)
{
	struct to_tm_flow *flows;

	flows = tm_grow(sample->flows, sample->n_flows, sizeof(*flows));
	if (!flows)
		return -ENOMEM;
	sample->flows = flows;
	flows[sample->n_flows++] = *flow;
	return 0;
}

int to_tm_check_fabric(const struct to_tm *tm, const struct to_cluster *cluster,
		       struct to_error *err)
{
	if (tm->server != TO_TM_FABRIC)
		return to_error_set(err, -EINVAL,
				    "server: it is the recording of %s alone: merge first",
				    tm->servers[tm->server]);
	if (tm->n_servers != cluster->n_servers)
		return to_error_set(err, -EINVAL, "servers: there are %u, the plan has %u",
				    tm->n_servers, cluster->n_servers);
	for (unsigned int s = 0; s < tm->n_servers; s++)
		if (strcmp(tm->servers[s], cluster->servers[s].name))
			return to_error_set(err, -EINVAL,
					    "servers[%u]: it is %s, in the plan it is %s", s,
					    tm->servers[s], cluster->servers[s].name);
	for (unsigned int s = 0; tm->missing && s < tm->n_servers; s++)
		if (tm->missing[s])
			return to_error_set(err, -EINVAL, "missing: it was merged without %s",
					    tm->servers[s]);
	return 0;
}

unsigned int to_tm_drop_incomplete(struct to_tm *tm)
{
	const unsigned int n = tm->n_samples;

	tm->n_samples = 0;
	for (unsigned int i = 0; i < n; i++) {
		if (tm->samples[i].absent)
			tm_free_sample(&tm->samples[i]);
		else
			tm->samples[tm->n_samples++] = tm->samples[i];
	}
	return n - tm->n_samples;
}

bool to_tm_in_view(const struct to_tm_flow *flow, enum to_tm_view view)
{
	switch (view) {
	case TO_TM_ORIGINATED:
		return flow->in == TO_TM_NO_PORT;
	case TO_TM_DELIVERED:
		return flow->out == TO_TM_NO_PORT;
	case TO_TM_RELAYED:
		return flow->in != TO_TM_NO_PORT && flow->out != TO_TM_NO_PORT;
	default:
		return true;
	}
}

uint64_t to_tm_matrix(const struct to_tm *tm, int sample, int class,
		      enum to_tm_view view, uint64_t *bytes)
{
	const size_t n = tm->n_servers;
	uint64_t other = 0;

	memset(bytes, 0, n * n * sizeof(*bytes));
	for (unsigned int i = 0; i < tm->n_samples; i++) {
		const struct to_tm_sample *s = &tm->samples[i];

		if (sample >= 0 && i != (unsigned int)sample)
			continue;
		for (unsigned int j = 0; j < s->n_flows; j++) {
			const struct to_tm_flow *flow = &s->flows[j];

			if ((class >= 0 && flow->class != (unsigned int)class) ||
			    !to_tm_in_view(flow, view))
				continue;
			if (flow->src == TO_TM_NONE || flow->dst == TO_TM_NONE)
				other += flow->bytes;
			else
				bytes[flow->src * n + flow->dst] += flow->bytes;
		}
	}
	return other;
}
