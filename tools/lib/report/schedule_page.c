// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/schedule_page.h"

#include <errno.h>

#include "base/file.h"
#include "base/text.h"
#include "report/page.h"

#define PAGE_COLORS 6		/* --color0 and so on, in report.css */
#define PAGE_POINTS 11		/* of a curve: powers of 2 */

/* Drawing areas, in units of their viewBox. */
#define GANTT_LEFT 120u
#define GANTT_WIDTH 1060u
#define GANTT_ROW 52u
#define GANTT_TOP 28u
#define CHART_LEFT 46u
#define CHART_WIDTH 470u
#define CHART_HEIGHT 260u
#define CHART_TOP 12u

struct schedule_page {
	const struct to_chunk_schedule *s;
	const struct to_chunk_run *run;
	const char *how, *version;
};

/* A policy as the charts draw it. */
struct page_curve {
	const char *name, *color;
	bool themis;
	enum to_chunk_order order;
};

static const struct page_curve page_curves[] = {
	{ "baseline", "--soft", false, TO_CHUNK_FIFO },
	{ "Themis, first in first out", "--second", true, TO_CHUNK_FIFO },
	{ "Themis, smallest chunk first", "--bar", true, TO_CHUNK_SCF },
};

#define PAGE_CURVES (sizeof(page_curves) / sizeof(*page_curves))

static void page_bar(FILE *out, const struct schedule_page *page, unsigned int k, uint32_t stage)
{
	const struct to_chunk_stage *st = &page->s->stages[stage];
	double scale = (double)GANTT_WIDTH / page->run->ps, begin = page->run->start[stage] * scale;
	unsigned int chunk = stage / page->s->n_stages;
	char bytes[16], from[16], to[16];

	fprintf(out, "<rect class=\"stage-%s\" x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"16\" "
		"style=\"fill:var(--color%u);opacity:%s\"><title>chunk %u, %s, %s, %s to %s</title></rect>\n",
		st->gather ? "allgather" : "reduce-scatter", GANTT_LEFT + begin,
		GANTT_TOP + k * GANTT_ROW + (st->gather ? 24 : 4), st->ps * scale,
		chunk % PAGE_COLORS, st->gather ? "0.6" : "1", chunk,
		st->gather ? "all-gather" : "reduce-scatter",
		to_bytes_text(to_chunk_stage_bytes(page->s, st), bytes),
		to_seconds_text((double)page->run->start[stage] / TO_PS_PER_S, from),
		to_seconds_text((double)(page->run->start[stage] + st->ps) / TO_PS_PER_S, to));
}

static void page_gantt(FILE *out, const struct schedule_page *page)
{
	const struct to_dimensions *network = &page->s->network;
	unsigned int height = GANTT_TOP + network->n * GANTT_ROW;
	char time[16];

	fprintf(out, "<section id=\"gantt\"><h2>Chunks in each dimension</h2>\n<p>Bars are bytes on the "
		"links: reduce-scatters above, all-gathers below. Between them a dimension waits for "
		"chunks, or for the latencies of their steps.</p>\n<svg viewBox=\"0 0 %u %u\" role=\"img\" "
		"aria-label=\"Chunks over time, a row for each dimension\">\n",
		GANTT_LEFT + GANTT_WIDTH + 36, height + 4);
	for (unsigned int i = 0; i <= 5; i++)
		fprintf(out, "<path class=\"grid\" d=\"M%.1f %u V%u\"/><text class=\"soft\" x=\"%.1f\" y=\"16\" "
			"font-size=\"12\" text-anchor=\"middle\">%s</text>\n",
			GANTT_LEFT + i * GANTT_WIDTH / 5.0, GANTT_TOP, height,
			GANTT_LEFT + i * GANTT_WIDTH / 5.0,
			to_seconds_text((double)page->run->ps / TO_PS_PER_S * i / 5, time));
	for (unsigned int k = 0; k < network->n; k++) {
		const uint32_t *order = &page->run->order[(size_t)k * page->run->per_dimension];
		unsigned int y = GANTT_TOP + k * GANTT_ROW;

		fprintf(out, "<text x=\"0\" y=\"%u\" font-size=\"14\">%u: %s %u</text><text class=\"soft\" x=\"0\" "
			"y=\"%u\" font-size=\"12\">%.1f %% used</text>\n", y + 18, k + 1,
			to_dimension_kinds[network->list[k].kind], network->list[k].size, y + 36,
			100 * to_chunk_run_utilisation(page->run, page->s, k));
		for (unsigned int i = 0; i < page->run->per_dimension; i++)
			page_bar(out, page, k, order[i]);
	}
	fprintf(out, "</svg></section>\n");
}

/* Utilisation of a policy with other bytes or chunks; -1 where there is no such schedule. */
static int page_point(const struct schedule_page *page, const struct page_curve *curve, uint64_t bytes,
		      unsigned int chunks, double *used)
{
	struct to_chunk_setting setting = page->s->setting;
	struct to_chunk_schedule s;
	struct to_chunk_run run;
	int ret;

	*used = -1;
	setting.bytes = bytes;
	setting.n_chunks = chunks;
	ret = to_chunk_schedule_init(&s, &page->s->network, &setting, NULL);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	if (curve->themis)
		to_chunk_schedule_themis(&s);
	else
		to_chunk_schedule_baseline(&s);
	ret = to_chunk_run_init(&run, &s);
	if (!ret)
		ret = to_chunk_run(&run, &s, curve->order);
	if (!ret)
		*used = to_chunk_run_utilisation(&run, &s, s.network.n);
	to_chunk_run_free(&run);
	to_chunk_schedule_free(&s);
	return ret;
}

static double page_x(unsigned int i)
{
	return CHART_LEFT + i * (double)CHART_WIDTH / (PAGE_POINTS - 1);
}

static double page_y(double used)
{
	return CHART_TOP + (1 - used) * CHART_HEIGHT;
}

static int page_chart_curve(FILE *out, const struct schedule_page *page, const struct page_curve *curve,
			    const uint64_t *bytes, const unsigned int *chunks)
{
	char comma = 'M';
	double used;

	fprintf(out, "<path class=\"curve\" style=\"fill:none;stroke:var(%s);stroke-width:2\" d=\"", curve->color);
	for (unsigned int i = 0; i < PAGE_POINTS; i++) {
		int ret = page_point(page, curve, bytes[i], chunks[i], &used);

		if (ret)
			return ret;
		if (used < 0)
			continue;
		fprintf(out, "%c%.1f %.1f", comma, page_x(i), page_y(used));
		comma = 'L';
	}
	fprintf(out, "\"><title>%s</title></path>\n", curve->name);
	return 0;
}

/* Utilisation over one axis: @labels of its points are bytes or chunks. */
static int page_chart(FILE *out, const struct schedule_page *page, const char *id, const char *title,
		      const uint64_t *bytes, const unsigned int *chunks, bool by_bytes)
{
	char text[16];
	int ret = 0;

	fprintf(out, "<section id=\"%s\"><h2>%s</h2>\n<svg viewBox=\"0 0 %u %u\" role=\"img\" "
		"aria-label=\"%s\">\n", id, title, CHART_LEFT + CHART_WIDTH + 32,
		CHART_TOP + CHART_HEIGHT + 28, title);
	for (unsigned int i = 0; i <= 5; i++)
		fprintf(out, "<path class=\"grid\" d=\"M%u %.1f h%u\"/><text class=\"soft\" x=\"%u\" y=\"%.1f\" "
			"font-size=\"12\" text-anchor=\"end\">%u&#8239;%%</text>\n", CHART_LEFT, page_y(i / 5.0),
			CHART_WIDTH, CHART_LEFT - 6, page_y(i / 5.0) + 4, i * 20);
	for (unsigned int i = 0; i < PAGE_POINTS; i += 2) {
		snprintf(text, sizeof(text), "%u", chunks[i]);
		fprintf(out, "<text class=\"soft\" x=\"%.1f\" y=\"%u\" font-size=\"12\" text-anchor=\"middle\">%s"
			"</text>\n", page_x(i), CHART_TOP + CHART_HEIGHT + 20,
			by_bytes ? to_bytes_text(bytes[i], text) : text);
	}
	for (unsigned int c = 0; !ret && c < PAGE_CURVES; c++)
		ret = page_chart_curve(out, page, &page_curves[c], bytes, chunks);
	fprintf(out, "</svg>\n<p class=\"legend\">");
	for (unsigned int c = 0; c < PAGE_CURVES; c++)
		fprintf(out, "<span><i style=\"border-color:var(%s)\"></i>%s</span>", page_curves[c].color,
			page_curves[c].name);
	fprintf(out, "</p></section>\n");
	return ret;
}

/* From a 32nd of the buffer to 32 times that, and from 1 chunk to 1024. */
static int page_charts(FILE *out, const struct schedule_page *page)
{
	const struct to_chunk_setting *setting = &page->s->setting;
	uint64_t bytes[2][PAGE_POINTS];
	unsigned int chunks[2][PAGE_POINTS];
	int ret;

	for (unsigned int i = 0; i < PAGE_POINTS; i++) {
		bytes[0][i] = setting->bytes > UINT64_MAX >> 7 ? setting->bytes :
								setting->bytes * (1u << i) / 32;
		chunks[0][i] = setting->n_chunks;
		bytes[1][i] = setting->bytes;
		chunks[1][i] = 1u << i;
	}
	fprintf(out, "<div class=\"pair\">\n");
	ret = page_chart(out, page, "by-size", "Utilisation by size of the buffer", bytes[0], chunks[0], true);
	if (!ret)
		ret = page_chart(out, page, "by-chunks", "Utilisation by number of chunks", bytes[1],
				 chunks[1], false);
	fprintf(out, "</div>\n");
	return ret;
}

static int schedule_page_write(FILE *out, const void *data, struct to_error *err)
{
	const struct schedule_page *page = data;
	const struct to_chunk_schedule *s = page->s;
	char size[16], chunk[16], time[16], title[64];

	snprintf(title, sizeof(title), "%s of %s", to_chunk_collectives[s->setting.collective],
		 to_bytes_text(s->setting.bytes, size));
	to_page_begin(out, title, ": schedule", TO_PAGE_STILL);
	fprintf(out, "<header><h1>%s</h1>\n<p>%u ranks, %u chunks of %s, <b>%s</b>: %s, <b>%.2f&#8239;%%</b> of the "
		"bandwidth used</p></header>\n<main>\n", title, s->network.ranks, s->setting.n_chunks,
		to_bytes_text((double)s->setting.bytes / s->setting.n_chunks, chunk), page->how,
		to_seconds_text((double)page->run->ps / TO_PS_PER_S, time),
		100 * to_chunk_run_utilisation(page->run, s, s->network.n));
	page_gantt(out, page);
	if (page_charts(out, page))
		return to_error_set(err, -ENOMEM, "out of memory");
	fprintf(out, "</main>\n<footer>toctl %s</footer>\n</body></html>\n", page->version);
	return 0;
}

int to_schedule_page_save(const struct to_chunk_schedule *s, const struct to_chunk_run *run,
			  const char *how, const char *version, const char *path,
			  struct to_error *err)
{
	struct schedule_page page = { .s = s, .run = run, .how = how, .version = version };

	return to_file_write(path, schedule_page_write, &page, err);
}
