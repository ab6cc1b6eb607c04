// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/clock.h"
#include "cli/command.h"
#include "doctor/observer.h"
#include "fabric_options.h"
#include "top_screen.h"

#define TOP_SAMPLES 5	/* samples of pairs between two looks */

struct top_args {
	uint64_t interval_ns;
	struct to_fabric_options fabric;
};

/* Obey a key. Return: false to quit. */
static bool top_key(struct to_top_view *view, int key, unsigned int lines)
{
	switch (key) {
	case 'q':
		return false;
	case 'l':
	case 's':
	case 'p':
		view->list = key == 'l' ? TO_TOP_LINKS : key == 's' ? TO_TOP_SERVERS : TO_TOP_PAIRS;
		view->first = 0;
		break;
	case 'u':
	case 'o':
	case 'n':
		view->order = key == 'u' ? TO_TOP_UTILISATION :
			      key == 'o' ? TO_TOP_OFF_PLAN : TO_TOP_NAME;
		view->first = 0;
		break;
	case KEY_UP:
	case 'k':
		view->first -= view->first > 0;
		break;
	case KEY_DOWN:
	case 'j':
		view->first += view->first + 1 < lines;
		break;
	}
	return true;
}

/* Draw and obey keys until the next look. Return: false to quit. */
static bool top_show(WINDOW *screen, struct to_top_view *view, const struct to_status *st,
		     uint64_t until_ns)
{
	uint64_t now;
	int key;

	do {
		to_top_draw(screen, view, st);
		now = to_clock_monotonic_ns();
		to_ncurses.wtimeout(screen, now < until_ns ? (until_ns - now) / 1000000 + 1 : 0);
		key = to_ncurses.wgetch(screen);
		if (!top_key(view, key, to_top_lines(view, st)))
			return false;
	} while (to_clock_monotonic_ns() < until_ns);
	return true;
}

static int top_loop(struct to_call *call, const struct top_args *args, WINDOW *screen,
		    struct to_observer *observer)
{
	struct to_top_view view = { .interval = args->interval_ns * 1e-9 };
	struct to_status status[2] = {};
	bool again = true;
	int ret = 0;

	for (unsigned int i = 0; again; i++) {
		const uint64_t next = to_clock_monotonic_ns() + args->interval_ns;
		struct to_status *now = &status[i % 2], *before = &status[(i + 1) % 2];

		ret = to_observer_look(observer, now, &call->err);
		if (ret)
			break;
		to_top_compare(&view, i ? before : NULL, now);
		to_status_free(before);
		/* counting costs the servers time, so only while it is shown */
		if (view.list == TO_TOP_PAIRS)
			to_top_pairs_count(&view.pairs, observer->plan, &args->fabric,
					   args->interval_ns / TOP_SAMPLES);
		else
			to_top_pairs_stop(&view.pairs);
		again = top_show(screen, &view, now, next);
	}
	to_top_pairs_stop(&view.pairs);
	to_status_free(&status[0]);
	to_status_free(&status[1]);
	return ret;
}

static int top_run(struct to_call *call, const void *data)
{
	const struct top_args *args = data;
	struct to_observer observer;
	SCREEN *terminal;
	WINDOW *screen;
	int ret;

	if (call->json)
		return to_usage(call, "what a screen shows is no JSON: toctl status --json has it");
	ret = to_observer_open(&observer, call->n_operands ? call->operands[0] : "plan.json", NULL,
			       &args->fabric, &call->err);
	if (!ret) {
		screen = to_top_open(&terminal, &call->err);
		ret = screen ? top_loop(call, args, screen, &observer) : -ENOTTY;
		if (screen)
			to_top_close(terminal);
	}
	to_observer_close(&observer);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct top_args, field)

static const struct to_option top_options[] = {
	{ "interval", 'i', TO_OPTION_DURATION, FIELD(interval_ns), .argument = "TIME",
	  .min = 100000000, .max = 3600000000000, .help = "time between two looks; default: 1s" },
	TO_FABRIC_KEYS(struct top_args, fabric),
	{}
};

const struct to_command to_cmd_top = {
	.name = "top",
	.summary = "Show links and servers on a terminal, live",
	.operands = "[PLAN]",
	.max_operands = 1,
	.options = top_options,
	.args_size = sizeof(struct top_args),
	.defaults = &(const struct top_args){ .interval_ns = 1000000000,
					      .fabric = TO_FABRIC_DEFAULTS },
	.run = top_run,
};
