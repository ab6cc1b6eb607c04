// SPDX-License-Identifier: GPL-2.0-or-later
#include "top_screen.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "doctor/status_changes.h"

#define TOP_HEAD 4	/* lines above the list */
#define TOP_BAR 20
#define TOP_DARK (NCURSES_BITS(TO_TOP_RED, 0) | A_BOLD)

enum { TOP_PLAIN = A_NORMAL, TOP_BOLD = A_BOLD, TOP_REVERSE = A_REVERSE };

WINDOW *to_top_open(SCREEN **terminal, struct to_error *err)
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

void to_top_close(SCREEN *terminal)
{
	to_ncurses.endwin();
	to_ncurses.delscreen(terminal);
}

static void top_clock(double time, char text[16])
{
	const time_t seconds = time;
	struct tm tm;

	text[0] = '\0';
	if (localtime_r(&seconds, &tm))
		strftime(text, 16, "%T", &tm);
}

/* A line, cut where the screen ends. */
static void __attribute__((format(printf, 4, 5)))
top_line(WINDOW *screen, int y, int look, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (to_ncurses.wmove(screen, y, 0) == ERR)
		return;
	to_ncurses.wattron(screen, look);
	to_ncurses.waddnstr(screen, text, to_ncurses.getmaxx(screen) - 1);
	to_ncurses.wattroff(screen, look);
	to_ncurses.wclrtoeol(screen);
}

/* Data of to_top_compare()'s listener. */
struct top_listener {
	struct to_top_view *view;
	double time;
};

static void top_event(void *data, const char *subject, const char *check, const char *text)
{
	const struct top_listener *listener = data;
	struct to_top_view *view = listener->view;
	char clock[16];

	top_clock(listener->time, clock);
	snprintf(view->events[view->n_events++ % TO_TOP_EVENTS], sizeof(view->events[0]),
		 "%s %.64s: %s%s%.80s", clock, subject, check ? check : "", check ? ": " : "", text);
}

void to_top_compare(struct to_top_view *view, const struct to_status *before,
		    const struct to_status *now)
{
	struct top_listener listener = { .view = view, .time = now->time };

	to_status_changes(before, now, top_event, &listener);
}

static void top_head(WINDOW *screen, const struct to_top_view *view, const struct to_status *st)
{
	const unsigned int n = st->plan->cluster->n_servers;
	char clock[16], generation[40] = "no common generation", off[32] = "";

	top_clock(st->time, clock);
	if (st->generation)
		snprintf(generation, sizeof(generation), "generation %" PRIu64, st->generation);
	if (st->off_plan >= 0)
		snprintf(off, sizeof(off), "   off plan %.1f %%", st->off_plan * 100);
	top_line(screen, 0, TOP_BOLD, "%s  %.24s  %u of %u servers, %s: %s", clock,
		 st->plan->demand->name, st->reached, n, generation,
		 to_status_word(st));
	top_line(screen, 1, TOP_PLAIN, "ports %u of %u lit   backups %u%s", st->lit, st->ports,
		 st->backups, off);
	if (st->seconds > 0)
		top_line(screen, 2, TOP_PLAIN,
			 "in %.3g s: %" PRIu64 " misses, %" PRIu64 " drops, %" PRIu64
			 " at full queues, %" PRIu64 " by TTL", st->seconds, st->misses, st->drops,
			 st->congested, st->expired);
	else
		top_line(screen, 2, TOP_PLAIN, "counts come in %.3g s", view->interval);
}

static double top_share(const struct to_status *st, const struct to_status_arc *arc)
{
	return st->bytes ? (double)arc->bytes / st->bytes : 0;
}

static void top_fill(char bar[TOP_BAR + 1], double part)
{
	const long filled = lround(part * TOP_BAR);

	for (int i = 0; i < TOP_BAR; i++)
		bar[i] = i < filled ? '#' : '.';
	bar[TOP_BAR] = '\0';
}

/* What qsort() needs beside two arcs. */
static const struct to_status *top_sorted;
static enum to_top_order top_order;

static int top_compare_arcs(const void *a, const void *b)
{
	const struct to_status_arc *x = *(const struct to_status_arc *const *)a;
	const struct to_status_arc *y = *(const struct to_status_arc *const *)b;
	double p = x->utilisation, q = y->utilisation;

	if (top_order != TO_TOP_NAME && x->lit != y->lit)
		return x->lit ? 1 : -1;
	if (top_order == TO_TOP_OFF_PLAN) {
		p = to_top_off(top_share(top_sorted, x), x->planned);
		q = to_top_off(top_share(top_sorted, y), y->planned);
	}
	if (top_order != TO_TOP_NAME && p != q)
		return p < q ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* What is lost, in percent; "-" while that is not known. */
static const char *top_lost(const struct to_status_arc *arc, char text[16])
{
	const struct to_link_figures *f = &arc->lost;

	if (arc->loss == TO_LINK_UNPROVEN)
		return "-";
	if (arc->loss == TO_LINK_CLEAN)
		return "no";
	snprintf(text, 16, "%.2g%%", f->by_checks ? 100.0 * f->checks_lost / f->checks :
					  f->sent ? 100.0 * f->lost / f->sent : 0.0);
	return text;
}

static void top_arc(WINDOW *screen, int y, const struct to_status *st,
		    const struct to_status_arc *arc)
{
	char names[2][TO_STATUS_END], bar[TOP_BAR + 1], lost[16];
	const char *from = to_status_end(st, arc->from, names[0]);
	const char *to = to_status_end(st, arc->to, names[1]);

	top_fill(bar, arc->utilisation);
	if (!arc->lit)
		top_line(screen, y, TOP_DARK, "%-13.13s > %-13.13s no light",
			 from, to);
	else if (!arc->counted)
		top_line(screen, y, TOP_PLAIN, "%-13.13s > %-13.13s -", from, to);
	else
		top_line(screen, y, arc->loss == TO_LINK_LOSSY ? TOP_DARK : TOP_PLAIN,
			 "%-13.13s > %-13.13s %s %5.1f%% %7.2f %5.1f%% %5.1f%% %s",
			 from, to, bar, arc->utilisation * 100, arc->rate / 1e9,
			 top_share(st, arc) * 100, arc->planned * 100, top_lost(arc, lost));
}

static void top_arcs(WINDOW *screen, const struct to_top_view *view, const struct to_status *st,
		     int lines)
{
	const struct to_status_arc **arcs = calloc(st->n_arcs + 1, sizeof(*arcs));

	top_line(screen, TOP_HEAD - 1, TOP_REVERSE, "%-29s %-20s %6s %7s %6s %6s LOSS", "LINK",
		 "UTILISATION", "", "Gbit/s", "SHARE", "PLAN");
	for (unsigned int i = 0; arcs && i < st->n_arcs; i++)
		arcs[i] = &st->arcs[i];
	top_sorted = st;
	top_order = view->order;
	if (arcs)
		qsort(arcs, st->n_arcs, sizeof(*arcs), top_compare_arcs);
	for (int i = 0; arcs && i < lines; i++)
		if (view->first + i < st->n_arcs)
			top_arc(screen, TOP_HEAD + i, st, arcs[view->first + i]);
	free(arcs);
}

static void top_servers(WINDOW *screen, const struct to_top_view *view, const struct to_status *st,
			int lines)
{
	top_line(screen, TOP_HEAD - 1, TOP_REVERSE, "%-20s %10s %7s %7s %8s %8s %8s", "SERVER",
		 "GENERATION", "LIT", "BACKUPS", "MISSES", "DROPS", "FULL");
	for (int i = 0; i < lines && view->first + i < st->plan->cluster->n_servers; i++) {
		const struct to_status_server *s = &st->servers[view->first + i];

		if (!s->reached)
			top_line(screen, TOP_HEAD + i, TOP_DARK, "%-20.20s %s",
				 s->name, s->error);
		else
			top_line(screen, TOP_HEAD + i, TOP_PLAIN,
				 "%-20.20s %10" PRIu64 " %3u/%-3u %7u %8" PRIu64 " %8" PRIu64
				 " %8" PRIu64, s->name, s->generation, s->lit, s->ports, s->backups,
				 s->misses, s->drops, s->congested);
	}
}

/* As top_compare_arcs(), of pairs. */
static int top_compare_pairs(const void *a, const void *b)
{
	const struct to_top_pair *x = *(const struct to_top_pair *const *)a;
	const struct to_top_pair *y = *(const struct to_top_pair *const *)b;
	double p = x->rate, q = y->rate;

	if (top_order == TO_TOP_OFF_PLAN) {
		p = to_top_off(x->share, x->planned);
		q = to_top_off(y->share, y->planned);
	}
	if (top_order != TO_TOP_NAME && p != q)
		return p < q ? 1 : -1;
	return x < y ? -1 : x > y;
}

static void top_pair(WINDOW *screen, int y, const struct to_top_view *view,
		     const struct to_status *st, const struct to_top_pair *pair)
{
	const struct to_server *s = st->plan->cluster->servers;
	char bar[TOP_BAR + 1];

	top_fill(bar, view->pairs.hottest > 0 ? pair->rate / view->pairs.hottest : 0);
	top_line(screen, y, TOP_PLAIN, "%-16.16s > %-16.16s %s %8.2f %5.1f%% %5.1f%%",
		 s[pair->from].name, s[pair->to].name, bar, pair->rate / 1e9, pair->share * 100,
		 pair->planned * 100);
}

static void top_pairs(WINDOW *screen, const struct to_top_view *view, const struct to_status *st,
		      int lines)
{
	const struct to_top_pairs *pairs = &view->pairs;
	const unsigned int n = pairs->n;
	const struct to_top_pair **sorted = calloc(n + 1, sizeof(*sorted));

	top_line(screen, TOP_HEAD - 1, TOP_REVERSE, "%-35s %-20s %8s %6s %6s", "FROM AND TO",
		 "OF THE HOTTEST PAIR", "Gbit/s", "SHARE", "PLAN");
	if (!pairs->items)
		top_line(screen, TOP_HEAD, TOP_PLAIN, "%s", pairs->trouble[0] ? pairs->trouble :
			 "counting begins: the first figures come in a moment");
	for (unsigned int i = 0; sorted && i < n; i++)
		sorted[i] = &pairs->items[i];
	top_order = view->order;
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), top_compare_pairs);
	for (int i = 0; sorted && i < lines && view->first + i < n; i++)
		top_pair(screen, TOP_HEAD + i, view, st, sorted[view->first + i]);
	free(sorted);
}

unsigned int to_top_lines(const struct to_top_view *view, const struct to_status *st)
{
	switch (view->list) {
	case TO_TOP_SERVERS:
		return st->plan->cluster->n_servers;
	case TO_TOP_PAIRS:
		return view->pairs.n;
	default:
		return st->n_arcs;
	}
}

void to_top_draw(WINDOW *screen, const struct to_top_view *view, const struct to_status *st)
{
	const int height = to_ncurses.getmaxy(screen);
	const int events = height >= 20 ? 6 : 3, lines = height - TOP_HEAD - events - 2;

	to_ncurses.werase(screen);
	top_head(screen, view, st);
	if (view->list == TO_TOP_SERVERS)
		top_servers(screen, view, st, lines);
	else if (view->list == TO_TOP_PAIRS)
		top_pairs(screen, view, st, lines);
	else
		top_arcs(screen, view, st, lines);
	top_line(screen, height - events - 2, TOP_REVERSE, "EVENTS");
	for (int i = 0; i < events && (unsigned int)i < view->n_events; i++)
		top_line(screen, height - events - 1 + i, TOP_PLAIN, "%s",
			 view->events[(view->n_events - 1 - i) % TO_TOP_EVENTS]);
	top_line(screen, height - 1, TOP_BOLD,
		 "q quit  l links  s servers  p pairs  u by use  o off plan  n by name  up, down");
	to_ncurses.wrefresh(screen);
}
