// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>

#include "base/clock.h"
#include "cli/command.h"
#include "control/pairs.h"
#include "fabric_options.h"
#include "live_options.h"
#include "serving.h"

#define WATCH_SAMPLES 5	/* samples of pairs between two looks */

struct watch_args {
	const char *log;
	bool pairs;
	struct to_live_options live;
	struct to_fabric_options fabric;
};

static volatile sig_atomic_t watch_stop;

static void watch_signal(int signal)
{
	(void)signal;
	watch_stop = 1;
}

/* Count which server sends to which, under the plan in force. */
static int watch_count(struct to_pairs *pairs, struct to_live *live, struct to_error *err)
{
	const struct to_plan *plan = live->observer.plan;
	struct to_traffic traffic;
	char trouble[160];
	int ret = 0;

	if (pairs->plan != plan)
		to_pairs_stop(pairs);
	if (!pairs->plan)
		ret = to_pairs_start(pairs, plan, &live->fabric,
				     live->options.interval_ns / WATCH_SAMPLES, err);
	if (ret)
		return ret;
	to_pairs_take(pairs, &traffic, trouble);
	if (traffic.seconds > 0)
		to_live_traffic(live, &traffic);
	to_traffic_free(&traffic);
	return 0;
}

/* Look until stopped. Only the first look may fail the command. */
static int watch_loop(struct to_live *live, bool count, uint64_t interval_ns, struct to_error *err)
{
	struct to_pairs pairs = {};
	struct to_error later;
	int ret = to_live_look(live, err);

	if (!ret && count)
		ret = watch_count(&pairs, live, err);
	while (!ret && !watch_stop) {
		const uint64_t next = to_clock_monotonic_ns() + interval_ns;

		while (!watch_stop && to_clock_monotonic_ns() < next)
			to_clock_sleep(next - to_clock_monotonic_ns());
		if (!watch_stop && count)
			watch_count(&pairs, live, &later);
		if (!watch_stop)
			to_live_look(live, &later);
	}
	to_pairs_stop(&pairs);
	return ret;
}

static int watch_run(struct to_call *call, const void *data)
{
	const struct sigaction action = { .sa_handler = watch_signal };
	const struct watch_args *args = data;
	struct to_fabric_options fabric = args->fabric;
	struct to_live_options options = args->live;
	struct to_live live;
	int ret;

	if (call->json)
		return to_usage(call, "the page is HTML, its events at /events are JSON: toctl status --json looks once");
	if (args->pairs && fabric.etcd.endpoints)
		return to_usage(call, "--pairs counts over ssh, not through etcd: --set etcd.endpoints=");
	fabric.note = to_note;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	options.ready = to_serving(call);
	ret = to_live_open(&live, &options, call->n_operands ? call->operands[0] : "plan.json",
			   args->log, &fabric, &call->err);
	ret = ret ? ret : watch_loop(&live, args->pairs, args->live.interval_ns, &call->err);
	to_live_close(&live);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct watch_args, field)

static const struct to_option watch_options[] = {
	{ "listen", 0, TO_OPTION_STRING, FIELD(live.listen), .argument = "[ADDRESS:]PORT",
	  .help = "where to serve the page; default: 127.0.0.1:8080" },
	TO_LIVE_OPTIONS(struct watch_args, live, NULL),
	{ "interval", 'i', TO_OPTION_DURATION, FIELD(live.interval_ns), .argument = "TIME",
	  .min = 100000000, .max = 60000000000, .help = "time between two looks; default: 1s" },
	{ "pairs", 0, TO_OPTION_FLAG, FIELD(pairs),
	  .help = "count traffic between servers, by BPF programs; not through etcd" },
	{ "log", 0, TO_OPTION_STRING, FIELD(log), .argument = "FILE",
	  .help = "log of a toctl run; its decisions are shown" },
	TO_FABRIC_KEYS(struct watch_args, fabric),
	{}
};

const struct to_command to_cmd_watch = {
	.name = "watch",
	.summary = "Show a fabric in a browser, live",
	.operands = "[PLAN]",
	.max_operands = 1,
	.options = watch_options,
	.args_size = sizeof(struct watch_args),
	.defaults = &(const struct watch_args){
		.live = { .listen = "127.0.0.1:8080", .interval_ns = 1000000000,
			  .version = TO_VERSION },
		.fabric = TO_FABRIC_DEFAULTS,
	},
	.run = watch_run,
};
