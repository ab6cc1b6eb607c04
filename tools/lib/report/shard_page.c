// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/shard_page.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/text.h"
#include "report/page.h"

#define PAGE_COLORS 6		/* --color0 and so on, in report.css */
#define PAGE_TICKS 10		/* at most */

/* Drawing areas, in units of their viewBox. */
#define PAGE_LEFT 90.0
#define PAGE_WIDTH 1090.0
#define PAGE_TOP 24.0
#define PAGE_HEIGHT 620.0	/* of all servers, unless these get too high */
#define PAGE_ROW_MAX 18.0
#define PAGE_LABELS 40		/* servers, beyond which not each has its name */
#define PAGE_QUEUE 120.0

struct shard_page {
	const struct to_shard_schedule *d;
	const char *how, *version;
	double row;
};

static double page_x(const struct shard_page *page, double time)
{
	return PAGE_LEFT + PAGE_WIDTH * (time - page->d->begin) / (page->d->end - page->d->begin);
}

/* Seconds between ticks: as round as clocks are. */
static double page_step(double span)
{
	static const double steps[] = { 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200 };
	double step = 86400;

	for (unsigned int i = sizeof(steps) / sizeof(*steps); i-- && span / steps[i] <= PAGE_TICKS;)
		step = steps[i];
	while (span / step > PAGE_TICKS)
		step *= 2;
	return step;
}

static void page_axis(FILE *out, const struct shard_page *page, double height)
{
	const double span = page->d->end - page->d->begin, step = page_step(span);
	char text[16];

	for (double time = 0; time <= span; time += step) {
		const double x = page_x(page, page->d->begin + time);

		fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1f V%.1f\"/><text class=\"soft\" x=\"%.1f\" y=\"14\" "
			"font-size=\"12\" text-anchor=\"middle\">%s</text>\n", x, PAGE_TOP, height, x,
			to_hours_text(time, text));
	}
}

/* Servers next to each other in the cluster are one bar. */
static void page_bar(FILE *out, const struct shard_page *page, unsigned int job, unsigned int first,
		     unsigned int n, double from, double to, const char *opacity, const char *class)
{
	const struct to_shard_trace_job *asked = &page->d->trace->jobs[job];
	const struct to_shard_run *run = &page->d->runs[job];
	char waited[16], ran[16];

	fprintf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
		"style=\"fill:var(--color%u);opacity:%s\"><title>", class, page_x(page, from),
		PAGE_TOP + first * page->row, page_x(page, to) - page_x(page, from), n * page->row,
		job % PAGE_COLORS, opacity);
	to_markup_print(out, asked->name);
	fprintf(out, ": %u servers, waited %s, runs %s, %u cross-connects made</title></rect>\n",
		asked->servers, to_hours_text(run->ready - asked->submit, waited),
		to_hours_text(run->end - run->ready, ran), run->made);
}

static void page_job(FILE *out, const struct shard_page *page, unsigned int job)
{
	const struct to_shard_run *run = &page->d->runs[job];
	const unsigned int n = page->d->trace->jobs[job].servers;
	unsigned int first = 0, end;

	for (; first < n; first = end) {
		for (end = first + 1; end < n && run->servers[end] == run->servers[end - 1] + 1; end++)
			;
		if (run->ready > run->granted)
			page_bar(out, page, job, run->servers[first], end - first, run->granted,
				 run->ready, "0.35", "switches");
		page_bar(out, page, job, run->servers[first], end - first, run->ready, run->end, "1",
			 "runs");
	}
}

static void page_servers(FILE *out, const struct shard_page *page)
{
	const struct to_cluster *c = page->d->cluster;
	const double height = PAGE_TOP + c->n_servers * page->row;
	const unsigned int step = c->n_servers / PAGE_LABELS + 1;

	fprintf(out, "<section id=\"servers\"><h2>Servers</h2>\n<p>A colour is a job; pale while its links "
		"are being made. Hover for its name.</p>\n<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
		"aria-label=\"Jobs over time, a row for each server\">\n",
		PAGE_LEFT + PAGE_WIDTH + 40, height + 4);
	page_axis(out, page, height);
	for (unsigned int x = 0; x < c->n_servers; x += step) {
		fprintf(out, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"end\">",
			PAGE_LEFT - 6, PAGE_TOP + x * page->row + 11, 11.0);
		to_markup_print(out, c->servers[x].name);
		fprintf(out, "</text>\n");
	}
	for (unsigned int i = 0; i < page->d->trace->n; i++)
		page_job(out, page, i);
	fprintf(out, "</svg></section>\n");
}

struct page_change {
	double time;
	int jobs;
};

static int page_compare(const void *a, const void *b)
{
	const struct page_change *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->jobs - y->jobs;
}

static int page_queue(FILE *out, const struct shard_page *page)
{
	const struct to_shard_trace *trace = page->d->trace;
	struct page_change *changes = calloc(2 * (size_t)trace->n, sizeof(*changes));
	int waiting = 0, most = 1;

	if (!changes)
		return -ENOMEM;
	for (unsigned int i = 0; i < trace->n; i++) {
		changes[2 * i] = (struct page_change){ trace->jobs[i].submit, 1 };
		changes[2 * i + 1] = (struct page_change){ page->d->runs[i].granted, -1 };
	}
	qsort(changes, 2 * (size_t)trace->n, sizeof(*changes), page_compare);
	for (unsigned int i = 0; i < 2 * trace->n; i++) {
		waiting += changes[i].jobs;
		most = waiting > most ? waiting : most;
	}
	fprintf(out, "<section id=\"queue\"><h2>Jobs that wait for servers</h2>\n<svg viewBox=\"0 0 %.0f %.0f\" "
		"role=\"img\" aria-label=\"Jobs that wait, over time\">\n", PAGE_LEFT + PAGE_WIDTH + 40,
		PAGE_TOP + PAGE_QUEUE + 8);
	page_axis(out, page, PAGE_TOP + PAGE_QUEUE);
	fprintf(out, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" font-size=\"12\" text-anchor=\"end\">%d</text>\n"
		"<path class=\"curve\" style=\"fill:none;stroke:var(--bar);stroke-width:2\" d=\"M%.1f %.1f",
		PAGE_LEFT - 6, PAGE_TOP + 10, most, PAGE_LEFT, PAGE_TOP + PAGE_QUEUE);
	for (unsigned int i = 0; i < 2 * trace->n; i++) {
		waiting += changes[i].jobs;
		if (i + 1 == 2 * trace->n || changes[i + 1].time > changes[i].time)
			fprintf(out, "H%.2fV%.2f", page_x(page, changes[i].time),
				PAGE_TOP + PAGE_QUEUE * (1 - (double)waiting / most));
	}
	fprintf(out, "\"/>\n</svg></section>\n");
	free(changes);
	return 0;
}

static int shard_page_write(FILE *out, const void *data, struct to_error *err)
{
	const struct shard_page *page = data;
	const struct to_shard_schedule *d = page->d;
	char time[16];

	to_page_begin(out, d->trace->name, ": jobs", TO_PAGE_STILL);
	fprintf(out, "<header><h1>");
	to_markup_print(out, d->trace->name);
	fprintf(out, "</h1>\n<p>%u jobs on %u servers in %s, <b>%s</b>. Of the servers' time <b>%.1f&#8239;%%</b> "
		"run jobs, %.1f&#8239;%% wait for links, %.1f&#8239;%% are fragmented, %.1f&#8239;%% too few for "
		"the next job, %.1f&#8239;%% idle.</p></header>\n<main>\n", d->trace->n, d->servers,
		to_hours_text(d->end - d->begin, time), page->how, 100 * d->shares[TO_SHARE_RUNS],
		100 * d->shares[TO_SHARE_SWITCHES], 100 * d->shares[TO_SHARE_FRAGMENTED],
		100 * d->shares[TO_SHARE_FEW], 100 * d->shares[TO_SHARE_IDLE]);
	if (d->end > d->begin) {
		page_servers(out, page);
		if (page_queue(out, page))
			return to_error_set(err, -ENOMEM, "out of memory");
	}
	fprintf(out, "</main>\n<footer>toctl %s</footer>\n</body></html>\n", page->version);
	return 0;
}

int to_shard_page_save(const struct to_shard_schedule *d, const char *how, const char *version,
		       const char *path, struct to_error *err)
{
	const double row = PAGE_HEIGHT / d->cluster->n_servers;
	const struct shard_page page = { .d = d, .how = how, .version = version,
					 .row = row < PAGE_ROW_MAX ? row : PAGE_ROW_MAX };

	return to_file_write(path, shard_page_write, &page, err);
}
