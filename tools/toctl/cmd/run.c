// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>

#include "base/clock.h"
#include "cli/command.h"
#include "control/controller.h"
#include "fabric_options.h"
#include "live_options.h"
#include "serving.h"
#include "switches.h"

#define RUN_BY_SWITCH UINT64_MAX

struct run_args {
	const char *log, *replay;
	uint64_t change_cost_ns;
	double lossy;	/* percent */
	struct to_live_options live;
	struct to_controller_config controller;
};

static volatile sig_atomic_t run_stop;

static void run_signal(int signal)
{
	(void)signal;
	run_stop = 1;
}

/* Run with a page, which looks at the fabric itself and is told what the controller decides. */
static int run_live(struct to_call *call, struct to_controller_config *config,
		    const struct run_args *args, struct to_run_log *log)
{
	struct to_live_options options = args->live;
	struct to_live live;
	int ret;

	options.ready = to_serving(call);
	ret = to_live_open(&live, &options, config->plan, NULL, &args->controller.fabric, &call->err);
	ret = ret ? ret : to_live_start(&live, &call->err);
	if (!ret) {
		log->tell = to_live_log;
		config->traffic = to_live_traffic;
		log->data = config->data = &live;
		ret = to_controller_run(config, &call->err);
	}
	to_live_close(&live);
	return ret;
}

static int run_run(struct to_call *call, const void *data)
{
	const struct sigaction action = { .sa_handler = run_signal };
	const struct run_args *args = data;
	struct to_controller_config config = args->controller;
	struct to_run_log log;
	int ret;

	config.plan = call->operands[0];
	if (args->replay && args->live.listen)
		return to_usage(call, "--replay looks at no fabric: it goes without --listen");
	if (!(args->lossy >= 0 && args->lossy < 100))
		return to_usage(call, "--lossy: expected a percentage from 0 to below 100, not %g", args->lossy);
	config.lossy.rate = args->lossy / 100;
	config.dry_run |= !!args->replay;
	config.beside = !args->replay;
	if (args->change_cost_ns != RUN_BY_SWITCH)
		config.candidates.change_cost = args->change_cost_ns * 1e-9;
	config.fabric.note = to_note;
	config.stop = &run_stop;
	config.log = &log;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	ret = to_run_log_open(&log, args->log, call->json, &call->err);
	if (ret)
		return ret;
	if (args->replay)
		ret = to_controller_replay(&config, args->replay, &call->err);
	else if (args->live.listen)
		ret = run_live(call, &config, args, &log);
	else
		ret = to_controller_run(&config, &call->err);
	to_run_log_close(&log);
	return ret > 0 ? TO_EXIT_FAILURE : ret;
}

#define FIELD(field) .offset = offsetof(struct run_args, field)

static const struct to_option run_options[] = {
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(log), .argument = "FILE",
	  .help = "append decisions to FILE as JSON lines" },
	{ "initial", 0, TO_OPTION_STRING, FIELD(controller.initial), .argument = "FILE",
	  .help = "plan to begin with if PLAN is missing or damaged" },
	{ "dry-run", 0, TO_OPTION_FLAG, FIELD(controller.dry_run),
	  .help = "decide, but change nothing" },
	{ "replay", 0, TO_OPTION_STRING, FIELD(replay), .argument = "FILE",
	  .help = "take traffic from a merged tm.json; implies --dry-run" },
	{ "listen", 0, TO_OPTION_STRING, FIELD(live.listen), .argument = "[ADDRESS:]PORT",
	  .help = "serve a live page with all decisions" },
	TO_LIVE_OPTIONS(struct run_args, live, "listen"),
	{ "interval", 'i', TO_OPTION_DURATION, FIELD(controller.interval_ns), .argument = "TIME",
	  .min = 1000000, .max = 3600000000000,
	  .help = "time between two measurements; default: 50ms" },
	{ "memory", 0, TO_OPTION_DURATION, FIELD(controller.candidates.memory_ns),
	  .argument = "TIME", .min = 1000000, .max = 3600000000000,
	  .help = "span of past traffic to plan for; default: 10s" },
	{ "change-cost", 0, TO_OPTION_DURATION, FIELD(change_cost_ns), .argument = "TIME",
	  .max = 86400000000000,
	  .help = "busy time that new links must save beyond their dark time; default: "
		  "reconfiguration time of the slowest optical switch, at least 250ms" },
	{ "carrier-timeout", 0, TO_OPTION_DURATION, FIELD(controller.carrier_ns), .argument = "TIME",
	  .min = 1, .advanced = true, .help = "time for new links to come up; default: 5s" },
	{ "repair-after", 0, TO_OPTION_DURATION, FIELD(controller.carrier.after_ns),
	  .argument = "TIME", .max = 3600000000000,
	  .help = "plan without ports that lack carrier this long; 0s: never; default: 1s" },
	{ "repair-hold", 0, TO_OPTION_DURATION, FIELD(controller.carrier.hold_ns),
	  .argument = "TIME", .min = 1000000, .max = 3600000000000,
	  .advanced = true,
	  .help = "return to the plan once all ports have carrier this long; default: 10s" },
	{ "lossy", 0, TO_OPTION_REAL, FIELD(lossy), .argument = "PERCENT",
	  .help = "plan without links that lose more packets than this, or 3 of 20 checks; 0: never; default: 0.1" },
	{ "lossy-hold", 0, TO_OPTION_DURATION, FIELD(controller.lossy.hold_ns), .argument = "TIME",
	  .min = 1000000, .max = 3600000000000, .advanced = true,
	  .help = "use such a link again once it has lost nothing this long; default: 30s" },
	TO_ALLOW_KEY(struct run_args, controller.allow),
	TO_FABRIC_KEYS(struct run_args, controller.fabric),
	{}
};

const struct to_command to_cmd_run = {
	.name = "run",
	.summary = "Keep a fabric planned for its traffic",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = run_options,
	.args_size = sizeof(struct run_args),
	.defaults = &(const struct run_args){
		.change_cost_ns = RUN_BY_SWITCH, .lossy = 0.1,
		.live = { .interval_ns = TO_NS_PER_S, .version = TO_VERSION },
		.controller = {
			.interval_ns = 50000000,
			.carrier_ns = 5000000000,
			.carrier = TO_CARRIER_DEFAULTS, .lossy = TO_LOSSY_DEFAULTS,
			.candidates = TO_CANDIDATES_DEFAULTS,
			.fabric = TO_FABRIC_DEFAULTS,
		},
	},
	.run = run_run,
};
