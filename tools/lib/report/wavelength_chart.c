// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wavelength_chart.h"

#include "topology/wavelengths.h"

#define CHART_COLORS 6		/* --color0 and so on, in report.css */
#define CHART_LEFT 40u
#define CHART_TOP 24u
#define CHART_WIDTH 1100u
#define CHART_ROW 14u
#define CHART_NAMES 32u		/* of servers below the axis, at most */

/* Segments @from to @from + @n of wavelength @c, of the lightpath from @x to @y. */
static void chart_bar(FILE *out, const struct to_cluster *cluster, unsigned int c, uint32_t from,
		      uint32_t n, uint32_t x, uint32_t y)
{
	const double segment = (double)CHART_WIDTH / cluster->n_servers;

	fprintf(out, "<rect class=\"lightpath\" x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" "
		"style=\"fill:var(--color%u)\"><title>wavelength %u: ", CHART_LEFT + from * segment + 0.5,
		CHART_TOP + c * CHART_ROW + 1, n * segment - 1, CHART_ROW - 2, x % CHART_COLORS, c);
	to_markup_print(out, cluster->servers[x].name);
	fprintf(out, " to ");
	to_markup_print(out, cluster->servers[y].name);
	fprintf(out, "</title></rect>\n");
}

static void chart_lightpath(FILE *out, const struct to_cluster *cluster, unsigned int c, bool back,
			    uint32_t x, uint32_t y)
{
	const uint32_t n = cluster->n_servers, first = back ? y : x, last = back ? x : y;

	if (first < last) {
		chart_bar(out, cluster, c, first, last - first, x, y);
		return;
	}
	/* past the last server, on to the first */
	chart_bar(out, cluster, c, first, n - first, x, y);
	if (last)
		chart_bar(out, cluster, c, 0, last, x, y);
}

static void chart_draw(FILE *out, const struct to_cluster *cluster, const struct to_wavelengths *s)
{
	const uint32_t n = s->n, step = (n + CHART_NAMES - 1) / CHART_NAMES;
	const unsigned int height = CHART_TOP + s->w * CHART_ROW;
	uint64_t used = 0;

	for (size_t i = 0; i < (size_t)s->w * n; i++) {
		const uint32_t x = i % n, y = s->to[i];

		if (y != TO_SERVER_NONE)
			used += i < (size_t)s->w / 2 * n ? (y + n - x) % n : (x + n - y) % n;
	}
	fprintf(out, "<section id=\"wavelengths\"><h2>Wavelengths</h2>\n<p>Each bar is a lightpath, in the "
		"colour of its source; a row is a wavelength, a column the segment between two servers. "
		"The upper half leads to the right, the lower to the left. %.1f&#8239;%% of wavelengths and "
		"segments are used.</p>\n<svg viewBox=\"0 0 %u %u\" role=\"img\" "
		"aria-label=\"Lightpaths by wavelength over segments\">\n",
		100. * used / ((double)s->w * n), CHART_LEFT + CHART_WIDTH + 20, height + 4);
	for (uint32_t x = 0; x < n; x += step) {
		const double at = CHART_LEFT + x * (double)CHART_WIDTH / n;

		fprintf(out, "<path class=\"grid\" d=\"M%.1f %u V%u\"/><text class=\"soft\" x=\"%.1f\" y=\"14\" "
			"font-size=\"11\" text-anchor=\"middle\">", at, CHART_TOP, height, at);
		to_markup_print(out, cluster->servers[x].name);
		fprintf(out, "</text>\n");
	}
	for (unsigned int c = 0; c < s->w; c++) {
		fprintf(out, "<text class=\"soft\" x=\"0\" y=\"%u\" font-size=\"11\">%u</text>\n",
			CHART_TOP + c * CHART_ROW + 11, c);
		for (uint32_t x = 0; x < n; x++)
			if (s->to[(size_t)c * n + x] != TO_SERVER_NONE)
				chart_lightpath(out, cluster, c, c >= s->w / 2, x,
						s->to[(size_t)c * n + x]);
	}
	fprintf(out, "</svg></section>\n");
}

int to_wavelength_chart(FILE *out, const struct to_cluster *cluster)
{
	struct to_wavelengths s;
	int ret = to_wavelengths_find(&s, cluster);

	if (ret < 1)
		return ret;
	chart_draw(out, cluster, &s);
	to_wavelengths_free(&s);
	return 0;
}
