// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/recorded_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/argv.h"
#include "base/clock.h"
#include "control/missing.h"
#include "doctor/plan_digests.h"
#include "verify/verify.h"

#define RECORDED_JOB_SETTLING 8	/* intervals after the end in which recordings may come in */

/* A job under way. */
struct recorded_job {
	const struct to_recorded_job *job;
	struct to_fabric *fabric;
	struct to_launcher launcher;
	struct to_ring_traffic traffic;
	struct to_missing missing;
	json_t *reasons;	/* by server, why its recording was missing last */
	unsigned int samples;	/* recorded intervals */
	unsigned int partial;	/* recorded intervals that lack a server */
	struct to_error failed;	/* why the recording ended, "" while it goes on */
};

static void recorded_job_violation(void *data, const char *line)
{
	struct to_error *first = data;

	if (!first->text[0])
		to_error_set(first, 0, "%s", line);
}

static int recorded_job_verify(const struct to_recorded_job *job, struct to_error *err)
{
	struct to_verify_report report;
	struct to_error first = { "" };
	int ret = to_verify(job->plan, recorded_job_violation, &first, &report);

	if (ret)
		return to_error_set(err, ret, "out of memory");
	if (report.violations)
		return to_error_set(err, -EINVAL, "%s is not valid: %.400s", job->path, first.text);
	return 0;
}

static int recorded_job_differs(const char *path, uint64_t generation, struct to_error *err)
{
	char *file = to_argv_quote(path);

	to_error_set(err, -ESTALE,
		     "generation %" PRIu64 ", which is active, is not %.200s: toctl apply --all %s",
		     generation, path, file && strlen(file) < 250 ? file : "PLAN");
	free(file);
	return -ESTALE;
}

/* Compare what servers have with the plan by staging it. */
static int recorded_job_stage(const struct recorded_job *run, bool *differs, struct to_error *err)
{
	int ret = to_fabric_stage(run->fabric, run->job->plan, differs, err);

	return ret ? ret : to_fabric_abort(run->fabric, err);
}

/* Compare what servers have with the plan by looks, which an observer may ask for. */
static int recorded_job_look(const struct recorded_job *run, bool *differs, struct to_error *err)
{
	const struct to_plan *plan = run->job->plan;
	const unsigned int n = plan->cluster->n_servers;
	json_t **replies = calloc(n, sizeof(*replies));
	uint64_t *digests = to_plan_digests(plan);
	int ret = replies && digests ? to_fabric_look(run->fabric, replies, err) :
				       to_error_set(err, -ENOMEM, "out of memory");

	*differs = false;
	for (unsigned int i = 0; !ret && i < n; i++) {
		const char *table = json_string_value(json_object_get(replies[i], "table"));

		*differs |= !table || strtoull(table, NULL, 16) != digests[i];
		json_decref(replies[i]);
	}
	free(replies);
	free(digests);
	if (!ret)
		to_fabric_assume(run->fabric, plan);
	return ret;
}

/* Check that every server has the tables of the plan, under one generation. */
static int recorded_job_check_active(const struct recorded_job *run, struct to_error *err)
{
	const struct to_recorded_job *job = run->job;
	const struct to_fabric_server *servers = to_fabric_servers(run->fabric);
	uint64_t generation;
	bool differs;
	int ret = to_fabric_status(run->fabric, err);

	if (!ret && to_fabric_controller(run->fabric)[0])
		ret = to_error_set(err, -EBUSY, "a controller is at work: %s",
				   to_fabric_controller(run->fabric));
	if (!ret)
		ret = to_fabric_generation(run->fabric, &generation, err);
	for (unsigned int i = 0; !ret && i < job->plan->cluster->n_servers; i++)
		if (servers[i].staged)
			ret = to_error_set(err, -EBUSY, "%s has a stage that is not committed",
					   servers[i].name);
	if (ret)
		return ret;
	ret = job->fabric.etcd.endpoints ? recorded_job_look(run, &differs, err) :
					   recorded_job_stage(run, &differs, err);
	return ret || !differs ? ret : recorded_job_differs(job->path, generation, err);
}

/* Warn of how much was not told of a server, once that is known. */
static void recorded_job_note_rest(struct recorded_job *run, bool end)
{
	const struct to_fabric_server *servers = to_fabric_servers(run->fabric);
	struct to_error text;

	for (unsigned int s = 0; s < run->missing.n_servers; s++) {
		const unsigned int left_out = to_missing_rest(&run->missing, s, end);

		if (!left_out)
			continue;
		to_error_set(&text, 0, TO_NOTE_LEFT_OUT, servers[s].name, left_out);
		run->job->fabric.note(text.text);
	}
}

/* Warn of servers whose recordings are missing, once for each reason. */
static void recorded_job_note_missing(struct recorded_job *run, const struct to_tm *tm)
{
	const struct to_fabric_server *servers = to_fabric_servers(run->fabric);
	struct to_missing *m = &run->missing;
	struct to_error text;

	for (unsigned int s = 0; tm->missing && s < tm->n_servers; s++)
		if (tm->missing[s])
			json_object_set_new(run->reasons, servers[s].name,
					    json_string(servers[s].error));
	recorded_job_note_rest(run, false);
	if (!to_missing_look(m, tm, servers, false))
		return;
	to_error_set(&text, 0, "no traffic data from:%s%s%s", m->names, m->why.text[0] ? "; " : "",
		     m->why.text);
	run->job->fabric.note(text.text);
}

/* Record an interval. Return: end of the last sample in ns, 0 if none came or recording failed. */
static uint64_t recorded_job_sample(struct recorded_job *run)
{
	struct to_error err = { "" };	/* may be set though there are samples */
	uint64_t until = 0;
	struct to_tm *tm;

	if (to_fabric_sample(run->fabric, run->job->interval_ns, &tm, &err)) {
		run->failed = err;
		return 0;
	}
	recorded_job_note_missing(run, tm);
	to_ring_traffic_add(&run->traffic, tm, &run->failed);
	for (unsigned int i = 0; i < tm->n_samples; i++) {
		run->samples++;
		run->partial += !!tm->samples[i].absent;
		until = tm->samples[i].end_ns;
	}
	to_tm_free(tm);
	return until;
}

/* Return: status of the command, or a negative errno when it was not started. */
static int recorded_job_command(struct recorded_job *run, char **command, struct to_error *err)
{
	uint64_t ended, until = 0;
	int status, ret;

	recorded_job_sample(run);
	if (run->failed.text[0])
		return to_error_set(err, -EIO, "%s", run->failed.text);
	ret = to_launcher_prepare(&run->launcher, &run->job->launcher, command[0], err);
	if (!ret)
		ret = to_launcher_start(&run->launcher, command, err);
	if (ret)
		return ret;
	while (!to_launcher_wait(&run->launcher, run->failed.text[0], &status))
		recorded_job_sample(run);
	ended = to_clock_realtime_ns();
	for (unsigned int i = 0; !run->failed.text[0] && until < ended &&
				 i < RECORDED_JOB_SETTLING && !to_launcher_interrupted(); i++)
		until = recorded_job_sample(run);
	return status;
}

static void recorded_job_report(struct recorded_job *run, FILE *out)
{
	const struct to_recorded_job *job = run->job;
	struct to_error text = { "" };

	recorded_job_note_rest(run, true);
	if (run->failed.text[0]) {
		to_error_set(&text, 0, "the traffic was not recorded: %.400s", run->failed.text);
		job->fabric.note(text.text);
		return;
	}
	if (run->partial) {
		to_error_set(&text, 0, "%u of %u intervals lack a server's part", run->partial,
			     run->samples);
		job->fabric.note(text.text);
	}
	if (to_ring_report(out, job->json, job->plan, &run->traffic, run->reasons, &job->limits,
			   &text))
		job->fabric.note(text.text);
}

int to_recorded_job_run(const struct to_recorded_job *job, char **command, FILE *out,
			struct to_error *err)
{
	struct recorded_job run = {
		.job = job, .launcher = { .note = job->fabric.note } };
	struct to_fabric_options options = job->fabric;
	int ret = recorded_job_verify(job, err);

	if (ret)
		return ret;
	/* through etcd, whose users say who may only look */
	options.observe = options.etcd.endpoints;
	run.fabric = to_fabric_open(job->plan, &options, err);
	if (!run.fabric)
		return -EHOSTUNREACH;
	ret = recorded_job_check_active(&run, err);
	if (!ret)
		ret = to_ring_traffic_init(&run.traffic, job->plan->cluster->n_servers, err);
	run.reasons = json_object();
	if (!ret && (!run.reasons || to_missing_init(&run.missing, job->plan->cluster->n_servers)))
		ret = to_error_set(err, -ENOMEM, "out of memory");
	if (!ret)
		ret = recorded_job_command(&run, command, err);
	if (ret >= 0)
		recorded_job_report(&run, out);
	to_launcher_clean(&run.launcher);
	to_ring_traffic_free(&run.traffic);
	to_missing_free(&run.missing);
	json_decref(run.reasons);
	to_fabric_close(run.fabric);
	return ret;
}
