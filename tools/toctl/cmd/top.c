// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "fabric_options.h"
#include "observer.h"
#include "pairs.h"
#include "top_screen.h"

#define TOP_SAMPLES 5	/* of pairs, to a look */

struct top_args {
	uint64_t interval_ns;
	struct to_fabric_options fabric;
};

/* Return: whether to go on. */
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

/* Draw, and obey keys, until it is time for the next look. Return: whether to go on. */
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

/* What is counted of pairs of servers. */
struct top_counting {
	struct to_pairs pairs;
	struct to_top_pairs list;
	bool counted;
};

static void top_stop_counting(struct top_counting *c)
{
	to_pairs_stop(&c->pairs);
	to_top_pairs_free(&c->list);
	c->counted = false;
}

/* Pairs are counted while they are shown, under the plan that is in force. */
static void top_count(struct top_counting *c, struct to_top_view *view, const struct top_args *args,
		      const struct to_plan *plan)
{
	const bool wanted = view->list == TO_TOP_PAIRS;
	struct to_traffic traffic = {};
	struct to_error err;

	if (c->pairs.plan && (!wanted || c->pairs.plan != plan))
		top_stop_counting(c);
	view->trouble[0] = '\0';
	if (wanted && !c->pairs.plan &&
	    to_pairs_start(&c->pairs, plan, &args->fabric, args->interval_ns / TOP_SAMPLES, &err))
		snprintf(view->trouble, sizeof(view->trouble), "%.150s", err.text);
	if (c->pairs.plan)
		to_pairs_take(&c->pairs, &traffic, view->trouble);
	if (traffic.seconds > 0) {
		to_top_pairs_free(&c->list);
		c->counted = !to_top_pairs_make(&c->list, plan, &traffic);
	}
	to_traffic_free(&traffic);
	view->pairs = c->counted ? &c->list : NULL;
}

static int top_loop(struct to_call *call, const struct top_args *args, WINDOW *screen,
		    struct to_observer *observer)
{
	struct to_top_view view = { .interval = args->interval_ns * 1e-9 };
	struct to_status status[2] = {};
	struct top_counting counting = {};
	bool again = true;
	int ret = 0;

	for (unsigned int i = 0; !ret && again; i++) {
		const uint64_t next = to_clock_monotonic_ns() + args->interval_ns;
		struct to_status *now = &status[i % 2], *before = &status[(i + 1) % 2];

		ret = to_observer_look(observer, now, &call->err);
		if (ret)
			break;
		to_top_compare(&view, i ? before : NULL, now);
		to_status_free(before);
		top_count(&counting, &view, args, observer->plan);
		again = top_show(screen, &view, now, next);
	}
	top_stop_counting(&counting);
	to_status_free(&status[0]);
	to_status_free(&status[1]);
	return ret;
}

static WINDOW *top_screen(SCREEN **terminal, struct to_error *err)
{
	WINDOW *screen;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		to_error_set(err, -ENOTTY, "not on a terminal: toctl status looks once");
		return NULL;
	}
	if (to_lazy_ncurses(err))
		return NULL;
	*terminal = to_ncurses.newterm(NULL, stdout, stdin);
	if (!*terminal) {
		to_error_set(err, -ENOTTY, "ncurses does not know this terminal ($TERM)");
		return NULL;
	}
	screen = to_ncurses.newwin(0, 0, 0, 0);
	to_ncurses.cbreak();
	to_ncurses.noecho();
	to_ncurses.curs_set(0);
	to_ncurses.keypad(screen, TRUE);
	if (to_ncurses.start_color() == OK) {
		to_ncurses.use_default_colors();
		to_ncurses.init_pair(TO_TOP_RED, COLOR_RED, -1);
	}
	return screen;
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
		screen = top_screen(&terminal, &call->err);
		ret = screen ? top_loop(call, args, screen, &observer) : -ENOTTY;
		if (screen) {
			to_ncurses.endwin();
			to_ncurses.delscreen(terminal);
		}
	}
	to_observer_close(&observer);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct top_args, field)

static const struct to_option top_options[] = {
	{ "interval", 'i', TO_OPTION_DURATION, FIELD(interval_ns), .argument = "TIME",
	  .min = 100000000, .max = 3600000000000, .help = "between looks; default: 1s" },
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
