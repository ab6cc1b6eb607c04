// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "output.h"
#include "simulate_args.h"
#include "study/job_study.h"
#include "watch.h"

#define SIMULATE_SAVE_SECONDS 10 /* between two writes of what is done */

/* One run of the command. */
struct simulate {
	struct to_call *call;
	const struct to_simulate_args *args;
	struct to_watch watch;
	time_t saved;			/* when what is done was written */
};

static int simulate_ranks(struct to_call *call, const struct to_simulate_args *args)
{
	struct to_rank_study study;
	int ret = to_simulate_read_rank(call, args, &study);

	if (ret)
		return ret;
	ret = to_rank_study_run(&study, &call->err);
	if (!ret && call->json)
		ret = to_output_json(to_rank_study_json(&study),
				     JSON_INDENT(2) | JSON_PRESERVE_ORDER, &call->err);
	else if (!ret)
		to_rank_study_print(&study);
	to_rank_study_free(&study);
	return ret;
}

/* Tell whether --output is for the simulation, not for packets. */
static bool simulate_saves(const struct to_simulate_args *args)
{
	return args->output && !args->packets.capture;
}

static int simulate_watch(void *data, unsigned int done, unsigned int all)
{
	struct simulate *s = data;

	return to_watch_step(&s->watch, done, all);
}

/* Save iterations that are done: who is killed leaves them. */
static int simulate_iterated(void *data, const struct to_simulated *result, struct to_error *err)
{
	struct simulate *s = data;

	if (!simulate_saves(s->args) || to_output_is_stdout(s->args->output) ||
	    time(NULL) < s->saved + SIMULATE_SAVE_SECONDS)
		return 0;
	s->saved = time(NULL);
	return to_simulated_save(result, s->args->output, err);
}

static int simulate_output(struct to_call *call, const struct to_simulate_args *args,
			   const struct to_simulated *result)
{
	const bool taken = to_output_is_stdout(args->output) || to_output_is_stdout(args->report);
	int ret = 0;

	if (simulate_saves(args))
		ret = to_simulated_save(result, args->output, &call->err);
	if (!ret && args->report)
		ret = to_simulated_report(result, TO_VERSION, args->report, &call->err);
	if (ret)
		return ret;
	if (call->json && !taken)
		return to_output_json(to_simulated_json(result),
				      JSON_INDENT(2) | JSON_PRESERVE_ORDER, &call->err);
	to_simulated_print(taken ? stderr : stdout, result);
	return 0;
}

static int simulate_study(struct simulate *s, const struct to_job_setting *setting)
{
	struct to_error *err = &s->call->err;
	struct to_job_study *study;
	const struct to_simulated *result;
	int ret;

	to_watch_begin(&s->watch, s->call);
	study = to_job_study_new(setting, err);
	s->saved = time(NULL);
	result = study ? to_job_study_run(study, err) : NULL;
	to_watch_end(&s->watch);
	ret = result ? simulate_output(s->call, s->args, result) : -EINVAL;
	to_job_study_free(study);
	return ret;
}

static int simulate_run(struct to_call *call, const void *data)
{
	const struct to_simulate_args *args = data;
	struct simulate s = { .call = call, .args = args };
	struct to_simulate_operands operands;
	struct to_job_setting setting;
	int ret;

	if (args->rank.network)
		return simulate_ranks(call, args);
	ret = to_simulate_find_operands(call, args, &operands);
	if (!ret)
		ret = to_simulate_read(call, args, &operands, &setting);
	if (!ret) {
		setting.watch = simulate_watch;
		setting.iterated = simulate_iterated;
		setting.data = &s;
		ret = simulate_study(&s, &setting);
	}
	free(operands.traces);
	return ret;
}

const struct to_command to_cmd_simulate = {
	.name = "simulate",
	.summary = "Simulate iterations of a job on a fabric",
	.operands = "[PLAN] [TRACE...]",
	.max_operands = TO_SERVERS_MAX + 1,
	.options = to_simulate_options,
	.args_size = sizeof(struct to_simulate_args),
	.defaults = &to_simulate_defaults,
	.run = simulate_run,
};
