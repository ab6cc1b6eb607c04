// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json.h"
#include "cli/command.h"
#include "doctor/observer.h"
#include "fabric_options.h"
#include "status_print.h"

struct status_args {
	const char *log;
	struct to_fabric_options fabric;
};

struct status {
	struct to_observer observer;
	struct to_status st;
};

static void status_print_json(const struct status *s)
{
	json_t *object = to_observer_json(&s->observer, &s->st);

	to_json_write(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
}

static int status_exit(const struct to_status *st)
{
	static const int exits[] = {
		[TO_HEALTH_HEALTHY] = TO_EXIT_OK, [TO_HEALTH_DEGRADED] = TO_EXIT_DEGRADED,
		[TO_HEALTH_BROKEN] = TO_EXIT_FAILURE,
	};

	return st->reached ? exits[st->health] : TO_EXIT_UNKNOWN;
}

static int status_run(struct to_call *call, const void *data)
{
	const struct status_args *args = data;
	struct to_fabric_options options = args->fabric;
	struct status s = {};
	struct to_error not_kept;
	int ret;

	options.note = to_note;
	ret = to_observer_open(&s.observer, call->n_operands ? call->operands[0] : "plan.json",
			       args->log, &options, &call->err);
	ret = ret ? ret : to_observer_look_once(&s.observer, &s.st, &not_kept, &call->err);
	if (!ret) {
		if (not_kept.text[0])
			to_call_note(call, "the next one will not know of this one: %s", not_kept.text);
		if (call->json)
			status_print_json(&s);
		else
			to_status_print(call, &s.observer, &s.st);
	}
	ret = ret ? TO_EXIT_UNKNOWN : status_exit(&s.st);
	to_status_free(&s.st);
	to_observer_close(&s.observer);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct status_args, field)

static const struct to_option status_options[] = {
	TO_FABRIC_KEYS(struct status_args, fabric),
	{ "log", 0, TO_OPTION_STRING, FIELD(log), .argument = "FILE",
	  .help = "log of a toctl run; its last decision is printed" },
	{}
};

const struct to_command to_cmd_status = {
	.name = "status",
	.summary = "Tell whether a fabric is healthy",
	.operands = "[PLAN]",
	.max_operands = 1,
	.options = status_options,
	.args_size = sizeof(struct status_args),
	.defaults = &(const struct status_args){ .fabric = TO_FABRIC_DEFAULTS },
	.run = status_run,
};
