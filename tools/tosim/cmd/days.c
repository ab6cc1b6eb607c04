// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/effort.h"
#include "base/file.h"
#include "base/text.h"
#include "format/cluster_json.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "report/shard_page.h"
#include "shard/shard_schedule.h"
#include "shard/shards.h"

struct days_args {
	const char *state, *cluster, *trace, *output, *report;
	uint64_t servers, degree, move, dark, movers, effort;
	int policy, switching;
};

struct days {
	const struct days_args *args;
	struct to_shard_schedule schedule;
	struct to_shard_times waiting, completion;
	struct to_progress progress;
};

/* In the order of enum to_shard_share. */
static const char *const days_shares[] = { "runs", "switches", "fragmented", "few", "idle" };

static volatile sig_atomic_t days_stop;

static void days_signal(int signal)
{
	(void)signal;
	days_stop = 1;
}

static int days_watch(void *data, unsigned int done, unsigned int all)
{
	struct days *s = data;

	to_progress(&s->progress, done, all);
	return days_stop;
}

/* The cluster is a file, some number of servers, or the one whose shards are in a directory. */
static int days_cluster(struct to_call *call, const struct days_args *args,
			    struct to_shards *shards)
{
	const struct to_shards_place place = { .dir = args->state };

	*shards = (struct to_shards){};
	if (!args->cluster && !args->servers)
		return to_shards_open(shards, &place, false, &call->err);
	shards->cluster = args->cluster ? to_cluster_load(args->cluster, &call->err) :
			  to_cluster_synthetic(args->servers, args->degree, 0, TO_LINKS_DUPLEX,
					       &call->err);
	return shards->cluster ? 0 : -EINVAL;
}

/* Nothing in the folder of the state is written here. */
static int days_check_output(struct to_call *call, const char *option, const char *path,
				 const struct to_shards *shards)
{
	char *copy = path ? strdup(path) : NULL;
	struct stat dir, state;
	int ret = 0;

	if (copy && strcmp(path, "-") && !stat(dirname(copy), &dir) && shards->store &&
	    !stat(to_shards_where(shards), &state) &&
	    dir.st_dev == state.st_dev && dir.st_ino == state.st_ino)
		ret = to_usage(call, "%s %s would be in the folder of --state, which is read", option, path);
	free(copy);
	return ret;
}

static void days_how(const struct days_args *args, char *how, size_t size)
{
	char move[16], dark[16];

	if (args->switching == TO_SHARD_OCS)
		snprintf(how, size, "%s, ocs: dark for %s", to_shard_policies[args->policy],
			 to_seconds_text(args->dark * 1e-9, dark));
	else
		snprintf(how, size, "%s, %s: %s a cross-connect, %llu at once",
			 to_shard_policies[args->policy], to_shard_switchings[args->switching],
			 to_hours_text(args->move * 1e-9, move), (unsigned long long)args->movers);
}

static void days_print_times(const char *name, const struct to_shard_times *t)
{
	char text[4][16];

	printf("  %-15s mean %s, median %s, 99th percentile %s, longest %s\n", name,
	       to_hours_text(t->mean, text[0]), to_hours_text(t->median, text[1]),
	       to_hours_text(t->p99, text[2]), to_hours_text(t->max, text[3]));
}

static unsigned long long days_made(const struct days *s, unsigned int *ahead)
{
	unsigned long long made = 0;

	*ahead = 0;
	for (unsigned int i = 0; i < s->schedule.trace->n; i++) {
		made += s->schedule.runs[i].made;
		*ahead += s->schedule.runs[i].ahead;
	}
	return made;
}

static void days_print(const struct days *s)
{
	const struct to_shard_schedule *d = &s->schedule;
	unsigned int ahead;
	const unsigned long long made = days_made(s, &ahead);
	char how[96], text[16];

	days_how(s->args, how, sizeof(how));
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

static json_t *days_jobs_json(const struct days *s)
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

static json_t *days_json(const struct days *s)
{
	const struct days_args *args = s->args;
	const struct to_shard_schedule *d = &s->schedule;
	unsigned int ahead;
	const unsigned long long made = days_made(s, &ahead);
	json_t *shares = json_object();

	for (unsigned int k = 0; k < TO_SHARES; k++)
		json_object_set_new(shares, days_shares[k], json_real(d->shares[k]));
	return json_pack("{s:s s:i s:s s:s s:f s:i s:f s:f s:f s:o s:o s:o s:I s:i s:o}",
			 "trace", d->trace->name, "servers", d->servers,
			 "policy", to_shard_policies[args->policy],
			 "switching", to_shard_switchings[args->switching],
			 "move_s", args->move * 1e-9, "movers", (int)args->movers,
			 "dark_s", args->dark * 1e-9, "begin_s", d->begin, "end_s", d->end,
			 "waiting_s", days_times_json(&s->waiting),
			 "completion_s", days_times_json(&s->completion), "shares", shares,
			 "cross_connects", (json_int_t)made, "ahead", ahead,
			 "jobs", days_jobs_json(s));
}

static int days_write(FILE *out, const void *data, struct to_error *err)
{
	json_t *object = days_json(data);
	int ret = object ? 0 : to_error_set(err, -ENOMEM, "out of memory");

	if (!ret && (json_dumpf(object, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER) ||
		     fputc('\n', out) == EOF))
		ret = to_error_set(err, -EIO, "cannot write");
	json_decref(object);
	return ret;
}

/* ---- the command ---- */

static int days_show(struct to_call *call, const struct days *s)
{
	const struct days_args *args = s->args;
	char how[96];
	int ret = 0;

	if (args->output)
		ret = to_file_write(args->output, days_write, s, &call->err);
	if (!ret && args->report) {
		days_how(args, how, sizeof(how));
		ret = to_shard_page_save(&s->schedule, how, TO_VERSION, args->report, &call->err);
	}
	if (!ret && call->json)
		ret = days_write(stdout, s, &call->err);
	else if (!ret)
		days_print(s);
	return ret;
}

static int days_trace(struct to_call *call, const struct days_args *args,
			  const struct to_shard_trace *trace, const struct to_shards *shards)
{
	struct days s = { .args = args };
	const struct to_shard_schedule_options options = {
		.policy = args->policy, .switching = args->switching, .move = args->move * 1e-9,
		.dark = args->dark * 1e-9, .movers = args->movers, .effort = args->effort,
		.watch = days_watch, .data = &s };
	struct to_error why = { "" };
	int ret = to_shard_schedule(&s.schedule, shards, trace, &options, &why);

	to_progress_end(&s.progress);
	if (ret)
		return to_error_set(&call->err, ret, "%.300s: %.600s", args->trace, why.text);
	ret = to_shard_schedule_times(&s.schedule, &s.waiting, &s.completion);
	ret = ret ? to_error_set(&call->err, ret, "out of memory") : days_show(call, &s);
	to_shard_schedule_free(&s.schedule);
	return ret;
}

static int days_run(struct to_call *call, const void *data)
{
	const struct sigaction action = { .sa_handler = days_signal, .sa_flags = SA_RESETHAND };
	const struct days_args *args = data;
	struct to_shard_trace trace;
	struct to_shards shards;
	int ret;

	if (!!args->state + !!args->cluster + !!args->servers > 1)
		return to_usage(call, "--state, --cluster and --servers say what the cluster is: give one");
	if (!args->servers != !args->degree)
		return to_usage(call, "--servers and --degree go together");
	ret = to_shard_trace_load(&trace, args->trace, &call->err);
	if (ret)
		return ret;
	sigaction(SIGINT, &action, NULL);
	ret = days_cluster(call, args, &shards);
	if (!ret) {
		ret = days_check_output(call, "--output", args->output, &shards);
		ret = ret ? ret : days_check_output(call, "--report", args->report, &shards);
		ret = ret ? ret : days_trace(call, args, &trace, &shards);
		to_shards_close(&shards);
	}
	to_shard_trace_free(&trace);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct days_args, field)

static const struct to_option days_options[] = {
	{ "trace", 't', TO_OPTION_STRING, FIELD(trace), .argument = "FILE", .required = true,
	  .help = "jobs, and when they are submitted: trace.json" },
	{ "policy", 'p', TO_OPTION_CHOICE, FIELD(policy), .choices = to_shard_policies,
	  .help = "who is next; default: fifo" },
	{ "switching", 0, TO_OPTION_CHOICE, FIELD(switching), .choices = to_shard_switchings,
	  .help = "how links are made; default: panel" },
	{ "move-time", 0, TO_OPTION_DURATION, FIELD(move), .argument = "TIME",
	  .max = 1000000000000000, .help = "until a fibre of a panel is moved; default: 60s" },
	{ "movers", 0, TO_OPTION_NUMBER, FIELD(movers), .argument = "N", .min = 1, .max = 1000,
	  .help = "people or robots that move fibres at once; default: 1" },
	{ "dark-time", 0, TO_OPTION_DURATION, FIELD(dark), .argument = "TIME", .max = 1000000000000,
	  .help = "of links that optical switches, or look-ahead ports, change; default: 10ms" },
	{ "cluster", 'c', TO_OPTION_STRING, FIELD(cluster), .argument = "FILE",
	  .help = "cluster.json, with the links in place; default: the one of --state" },
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "N", .min = 2,
	  .max = TO_SERVERS_MAX, .help = "a cluster of so many servers on one panel" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D", .min = 1,
	  .max = TO_PORTS_MAX, .help = "ports of each of --servers" },
	{ "effort", 'e', TO_OPTION_NUMBER, FIELD(effort), .argument = "E", .min = TO_EFFORT_MIN,
	  .max = TO_EFFORT_MAX, .help = "1 to 9, of each plan; default: 1" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "where to write what --json prints" },
	{ "report", 'r', TO_OPTION_OUTPUT, FIELD(report), .argument = "FILE",
	  .help = "also write an HTML page: jobs by server and time, and the queue" },
	{ "state", 0, TO_OPTION_STRING, FIELD(state), .argument = "DIR",
	  .help = "directory of shards whose cluster it is; default: /var/lib/topoopt/cluster" },
	{}
};

const struct to_command to_cmd_days = {
	.name = "days",
	.summary = "Simulate how long jobs wait for servers and links",
	.options = days_options,
	.args_size = sizeof(struct days_args),
	.defaults = &(const struct days_args){
		.move = 60000000000, .dark = 10000000, .movers = 1, .effort = TO_EFFORT_MIN },
	.run = days_run,
};
