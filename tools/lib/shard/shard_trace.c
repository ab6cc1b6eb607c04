// SPDX-License-Identifier: GPL-2.0-or-later
#include "shard/shard_trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "data/cluster.h"
#include "format/names.h"

#define TRACE_SECONDS_MAX 1e9

static int trace_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-trace");
}

static int trace_read_servers(const struct to_json *at, void *to)
{
	unsigned int *servers = to;
	int ret = to_json_u32(at, servers);

	if (!ret && (!*servers || *servers > TO_SERVERS_MAX))
		return to_json_error(at, -ERANGE, "expected 1 to %d servers", TO_SERVERS_MAX);
	return ret;
}

static int trace_read_seconds(const struct to_json *at, void *to)
{
	double *seconds = to;
	int ret = to_json_real(at, seconds);

	if (!ret && *seconds > TRACE_SECONDS_MAX)
		return to_json_error(at, -ERANGE, "expected %.0f seconds or less", TRACE_SECONDS_MAX);
	return ret;
}

static const struct to_json_field job_fields[] = {
	{ "name", to_names_read_label, offsetof(struct to_shard_trace_job, name), false },
	{ "servers", trace_read_servers, offsetof(struct to_shard_trace_job, servers), false },
	{ "submit_s", trace_read_seconds, offsetof(struct to_shard_trace_job, submit), false },
	{ "run_s", trace_read_seconds, offsetof(struct to_shard_trace_job, run), false },
	{ "limit_s", trace_read_seconds, offsetof(struct to_shard_trace_job, limit), true },
	{}
};

static int trace_read_jobs(const struct to_json *at, void *to)
{
	struct to_shard_trace *trace = to;
	int ret = to_json_array(at, sizeof(*trace->jobs), &trace->jobs, &trace->n);

	for (unsigned int i = 0; i < trace->n && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		struct to_shard_trace_job *job = &trace->jobs[i];

		ret = to_json_object(&child, job_fields, job);
		job->limit = fmax(job->limit, job->run);
		job->place = i;
	}
	if (!ret && !trace->n)
		return to_json_error(at, -EINVAL, "expected a job or more");
	return ret;
}

static const struct to_json_field trace_fields[] = {
	{ "format", trace_read_format, 0, false },
	{ "version", to_json_version, 0, false },
	{ "comment", to_json_comment, 0, true },
	{ "name", to_names_read_label, offsetof(struct to_shard_trace, name), false },
	{ "jobs", trace_read_jobs, 0, false },
	{}
};

static int trace_compare(const void *a, const void *b)
{
	const struct to_shard_trace_job *x = a, *y = b;

	if (x->submit != y->submit)
		return x->submit < y->submit ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

int to_shard_trace_parse(struct to_shard_trace *trace, const char *data, size_t len,
			 const char *name, struct to_error *err)
{
	struct to_json_doc doc;
	struct to_json at;
	int ret = to_json_open(&doc, &at, data, len, name, NULL, err);

	*trace = (struct to_shard_trace){};
	if (!ret)
		ret = to_json_object(&at, trace_fields, trace);
	to_json_close(&doc);
	if (ret)
		to_shard_trace_free(trace);
	else
		qsort(trace->jobs, trace->n, sizeof(*trace->jobs), trace_compare);
	return ret;
}

int to_shard_trace_load(struct to_shard_trace *trace, const char *path, struct to_error *err)
{
	char *data;
	size_t len;
	int ret = to_file_read(path, TO_FILE_MAX, &data, &len, err);

	if (ret)
		return ret;
	ret = to_shard_trace_parse(trace, data, len, path, err);
	free(data);
	return ret;
}

void to_shard_trace_free(struct to_shard_trace *trace)
{
	free(trace->jobs);
	*trace = (struct to_shard_trace){};
}
