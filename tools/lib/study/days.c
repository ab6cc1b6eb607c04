// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/days.h"

#include <errno.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "report/shard_page.h"

/* In the order of enum to_shard_share. */
static const char *const days_shares[] = { "runs", "switches", "fragmented", "few", "idle" };

static void days_how(const struct to_days *s, char *how, size_t size)
{
	char move[16], dark[16];

	if (s->options.switching == TO_SHARD_OCS)
		snprintf(how, size, "%s, ocs: dark for %s", to_shard_policies[s->options.policy],
			 to_seconds_text(s->options.dark, dark));
	else
		snprintf(how, size, "%s, %s: %s a cross-connect, %llu at once",
			 to_shard_policies[s->options.policy], to_shard_switchings[s->options.switching],
			 to_hours_text(s->options.move, move), (unsigned long long)s->options.movers);
}

static void days_print_times(const char *name, const struct to_shard_times *t)
{
	char text[4][16];

	printf("  %-15s mean %s, median %s, 99th percentile %s, longest %s\n", name,
	       to_hours_text(t->mean, text[0]), to_hours_text(t->median, text[1]),
	       to_hours_text(t->p99, text[2]), to_hours_text(t->max, text[3]));
}

static unsigned long long days_made(const struct to_days *s, unsigned int *ahead)
{
	unsigned long long made = 0;

	*ahead = 0;
	for (unsigned int i = 0; i < s->schedule.trace->n; i++) {
		made += s->schedule.runs[i].made;
		*ahead += s->schedule.runs[i].ahead;
	}
	return made;
}

void to_days_print(const struct to_days *s)
{
	const struct to_shard_schedule *d = &s->schedule;
	unsigned int ahead;
	const unsigned long long made = days_made(s, &ahead);
	char how[96], text[16];

	days_how(s, how, sizeof(how));
	printf("%s: %u jobs on %u servers in %s, %s\n", d->trace->name, d->trace->n, d->servers,
	       to_hours_text(d->end - d->begin, text), how);
	days_print_times("waiting", &s->waiting);
	days_print_times("completion", &s->completion);
	printf("  %-15s %.2f %% run jobs, %.2f %% wait for links\n", "servers",
	       100 * d->shares[TO_SHARE_RUNS], 100 * d->shares[TO_SHARE_SWITCHES]);
	printf("  %-15s %.2f %% fragmented, %.2f %% too few for the next job, %.2f %% idle\n", "free servers",
	       100 * d->shares[TO_SHARE_FRAGMENTED], 100 * d->shares[TO_SHARE_FEW],
	       100 * d->shares[TO_SHARE_IDLE]);
	printf("  %-15s %llu cross-connects made, %u jobs ahead of their turn\n", "moves", made, ahead);
}

/* ---- JSON ---- */

static json_t *days_times_json(const struct to_shard_times *t)
{
	return json_pack("{s:f s:f s:f s:f}", "mean", t->mean, "median", t->median, "p99", t->p99,
			 "max", t->max);
}

static json_t *days_jobs_json(const struct to_days *s)
{
	const struct to_shard_schedule *d = &s->schedule;
	json_t *jobs = json_array();

	for (unsigned int i = 0; i < d->trace->n; i++) {
		const struct to_shard_trace_job *asked = &d->trace->jobs[i];
		const struct to_shard_run *run = &d->runs[i];
		json_t *servers = json_array();

		for (unsigned int k = 0; k < asked->servers; k++)
			json_array_append_new(servers, json_string(d->cluster->servers[run->servers[k]].name));
		json_array_append_new(jobs, json_pack(
			"{s:s s:f s:f s:f s:f s:i s:b s:o}", "name", asked->name, "submit_s", asked->submit,
			"granted_s", run->granted, "ready_s", run->ready, "end_s", run->end,
			"cross_connects", run->made, "ahead", run->ahead, "servers", servers));
	}
	return jobs;
}

json_t *to_days_json(const struct to_days *s)
{
	const struct to_shard_schedule *d = &s->schedule;
	unsigned int ahead;
	const unsigned long long made = days_made(s, &ahead);
	json_t *shares = json_object();

	for (unsigned int k = 0; k < TO_SHARES; k++)
		json_object_set_new(shares, days_shares[k], json_real(d->shares[k]));
	return json_pack("{s:s s:i s:s s:s s:f s:i s:f s:f s:f s:o s:o s:o s:I s:i s:o}",
			 "trace", d->trace->name, "servers", d->servers,
			 "policy", to_shard_policies[s->options.policy],
			 "switching", to_shard_switchings[s->options.switching],
			 "move_s", s->options.move, "movers", (int)s->options.movers,
			 "dark_s", s->options.dark, "begin_s", d->begin, "end_s", d->end,
			 "waiting_s", days_times_json(&s->waiting),
			 "completion_s", days_times_json(&s->completion), "shares", shares,
			 "cross_connects", (json_int_t)made, "ahead", ahead,
			 "jobs", days_jobs_json(s));
}

static int days_write(FILE *out, const void *data, struct to_error *err)
{
	json_t *object = to_days_json(data);
	int ret = object ? 0 : to_error_set(err, -ENOMEM, "out of memory");

	if (!ret && (to_json_write(object, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER) ||
		     fputc('\n', out) == EOF))
		ret = to_error_set(err, -EIO, "cannot write");
	json_decref(object);
	return ret;
}

int to_days_run(struct to_days *s, const struct to_shards *shards,
		const struct to_shard_trace *trace, struct to_error *err)
{
	int ret = to_shard_schedule(&s->schedule, shards, trace, &s->options, err);

	if (ret)
		return ret;
	ret = to_shard_schedule_times(&s->schedule, &s->waiting, &s->completion);
	if (!ret)
		return 0;
	to_shard_schedule_free(&s->schedule);
	return to_error_set(err, ret, "out of memory");
}

void to_days_free(struct to_days *s)
{
	to_shard_schedule_free(&s->schedule);
}

int to_days_save(const struct to_days *s, const char *path, struct to_error *err)
{
	return to_file_write(path, days_write, s, err);
}

int to_days_report(const struct to_days *s, const char *version, const char *path,
		   struct to_error *err)
{
	char how[96];

	days_how(s, how, sizeof(how));
	return to_shard_page_save(&s->schedule, how, version, path, err);
}
