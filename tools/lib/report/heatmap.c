// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/heatmap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define LEVELS 9
#define SVG_CELLS_MAX 256

/* From little to much: character, colour of an ANSI terminal, the same as RGB. */
static const struct {
	char letter;
	unsigned char ansi;
	const char *rgb;
} ramp[LEVELS] = {
	{ '.', 17, "#00005f" }, { ':', 24, "#005f87" }, { '-', 30, "#008787" },
	{ '=', 36, "#00af87" }, { '+', 78, "#5fd787" }, { '*', 114, "#87d787" },
	{ 'o', 150, "#afd787" }, { '%', 222, "#ffd787" }, { '#', 228, "#ffff87" },
};

/*
 * The matrix as it is drawn: n x n cells, each the sum of step x step servers
 * of the heatmap.
 */
struct cells {
	unsigned int n, step;
	double *bytes, least, most;
	double total;
};

static int cells_init(struct cells *c, const struct to_heatmap *map,
		      unsigned int room)
{
	c->step = (map->n + room - 1) / room;
	c->n = (map->n + c->step - 1) / c->step;
	c->least = INFINITY;
	c->most = c->total = 0;
	c->bytes = calloc((size_t)c->n * c->n, sizeof(*c->bytes));
	if (!c->bytes)
		return -ENOMEM;
	for (size_t i = 0; i < map->n; i++)
		for (size_t j = 0; j < map->n; j++)
			c->bytes[i / c->step * c->n + j / c->step] +=
				map->bytes[i * map->n + j];
	for (size_t i = 0; i < (size_t)c->n * c->n; i++) {
		double bytes = c->bytes[i];

		c->total += bytes;
		if (bytes && bytes < c->least)
			c->least = bytes;
		if (bytes > c->most)
			c->most = bytes;
	}
	/* What differs by little looks as if it did. */
	if (c->least > c->most / 10)
		c->least = c->most / 10;
	return 0;
}

/* Step of the ramp, -1 for nothing. */
static int cells_level(const struct cells *c, unsigned int i, unsigned int j)
{
	double bytes = c->bytes[(size_t)i * c->n + j];
	int level;

	if (!bytes)
		return -1;
	level = LEVELS * log(bytes / c->least) / log(c->most / c->least);
	return level < LEVELS ? level : LEVELS - 1;
}

/* How many rows or columns share a label, which takes @width cells. */
static unsigned int label_every(const struct cells *c, unsigned int width)
{
	static const unsigned int steps[] = { 1, 2, 5, 10, 20, 50, 100 };
	unsigned int i = 0;

	while (i < 6 && (steps[i] < width || c->n / steps[i] > 40))
		i++;
	return steps[i];
}

static void text_cell(FILE *out, int level, bool color)
{
	if (level < 0)
		fprintf(out, "  ");
	else if (color)
		fprintf(out, "\033[48;5;%dm  \033[0m", ramp[level].ansi);
	else
		fprintf(out, "%c%c", ramp[level].letter, ramp[level].letter);
}

static void text_legend(FILE *out, const struct cells *c, bool color)
{
	char least[16], most[16], total[16];

	fprintf(out, "\n%s ", to_bytes_text(c->least, least));
	for (int level = 0; level < LEVELS; level++)
		text_cell(out, level, color);
	fprintf(out, " %s, logarithmic; %s in all", to_bytes_text(c->most, most),
		to_bytes_text(c->total, total));
	if (c->step > 1)
		fprintf(out, "; a cell is %u x %u servers", c->step, c->step);
	fprintf(out, "\n");
}

static unsigned int label_width(const struct to_heatmap *map)
{
	unsigned int width = 6;

	for (unsigned int i = 0; map->names && i < map->n; i++)
		if (strlen(map->names[i]) + 6 > width)
			width = strlen(map->names[i]) + 6;
	return width < 24 ? width : 24;
}

void to_heatmap_text(FILE *out, const struct to_heatmap *map,
		     unsigned int columns, bool color)
{
	unsigned int label = label_width(map), every;
	struct cells c;

	if (cells_init(&c, map, columns > label + 16 ? (columns - label) / 2 : 8))
		return;
	fprintf(out, "%s (rows send, columns receive)\n\n", map->title);
	if (!c.total) {
		fprintf(out, "nothing is sent\n");
		free(c.bytes);
		return;
	}
	every = label_every(&c, c.n * c.step > 999 ? 3 : 2);
	fprintf(out, "%*s", label, "");
	for (unsigned int j = 0; j < c.n; j += every)
		fprintf(out, "%-*u", 2 * every, j * c.step);
	fprintf(out, "\n");
	for (unsigned int i = 0; i < c.n; i++) {
		fprintf(out, "%4u %-*.*s ", i * c.step, label - 6, label - 6,
			map->names && c.step == 1 ? map->names[i] : "");
		for (unsigned int j = 0; j < c.n; j++)
			text_cell(out, cells_level(&c, i, j), color);
		fprintf(out, "\n");
	}
	text_legend(out, &c, color);
	free(c.bytes);
}

/* Paper is white where a terminal is dark: much is dark here. */
static const char *svg_color(int level)
{
	return ramp[LEVELS - 1 - level].rgb;
}

static void svg_label(FILE *out, const struct to_heatmap *map,
		      const struct cells *c, unsigned int i)
{
	if (map->names && c->step == 1)
		to_markup_print(out, map->names[i]);
	else
		fprintf(out, "%u", i * c->step);
}

static void svg_axes(FILE *out, const struct to_heatmap *map,
		     const struct cells *c, unsigned int cell)
{
	unsigned int every = label_every(c, (11 + cell - 1) / cell);

	for (unsigned int i = 0; i < c->n; i += every) {
		fprintf(out, "<text x=\"-6\" y=\"%u\" text-anchor=\"end\">",
			i * cell + cell / 2 + 4);
		svg_label(out, map, c, i);
		fprintf(out, "</text>\n<text transform=\"translate(%u -6) rotate(-60)\">",
			i * cell + cell / 2 + 4);
		svg_label(out, map, c, i);
		fprintf(out, "</text>\n");
	}
}

static void svg_cells(FILE *out, const struct to_heatmap *map,
		      const struct cells *c, unsigned int cell)
{
	char text[16];

	for (unsigned int i = 0; i < c->n; i++)
		for (unsigned int j = 0; j < c->n; j++) {
			int level = cells_level(c, i, j);

			if (level < 0)
				continue;
			fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"%s\"><title>",
				j * cell, i * cell, cell, cell, svg_color(level));
			svg_label(out, map, c, i);
			fprintf(out, " to ");
			svg_label(out, map, c, j);
			fprintf(out, ": %s</title></rect>\n",
				to_bytes_text(c->bytes[(size_t)i * c->n + j], text));
		}
}

static void svg_legend(FILE *out, const struct cells *c, unsigned int y)
{
	char least[16], most[16], total[16];

	for (int level = 0; level < LEVELS; level++)
		fprintf(out, "<rect x=\"%d\" y=\"%u\" width=\"20\" height=\"12\" fill=\"%s\"/>\n",
			20 * level, y, svg_color(level));
	fprintf(out, "<text x=\"0\" y=\"%u\">%s</text>\n"
		"<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s</text>\n"
		"<text x=\"%d\" y=\"%u\">logarithmic; %s in all",
		y + 26, to_bytes_text(c->least, least), 20 * LEVELS, y + 26,
		to_bytes_text(c->most, most), 20 * LEVELS + 12, y + 10,
		to_bytes_text(c->total, total));
	if (c->step > 1)
		fprintf(out, "; a cell is %u x %u servers", c->step, c->step);
	fprintf(out, "</text>\n");
}

int to_heatmap_svg(FILE *out, const struct to_heatmap *map)
{
	unsigned int cell, size, left = 110, top = 120;
	struct cells c;

	if (cells_init(&c, map, SVG_CELLS_MAX))
		return -ENOMEM;
	cell = 640 / c.n;
	cell = cell > 24 ? 24 : cell < 3 ? 3 : cell;
	size = cell * c.n;
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"20\" y=\"24\" font-size=\"15\">",
		left + (size > 400 ? size : 400) + 40, top + size + 70);
	to_markup_print(out, map->title);
	fprintf(out, "</text>\n<text x=\"20\" y=\"42\">rows send, columns receive</text>\n"
		"<g transform=\"translate(%u %u)\">\n"
		"<rect width=\"%u\" height=\"%u\" fill=\"#f4f4f4\"/>\n",
		left, top, size, size);
	svg_axes(out, map, &c, cell);
	svg_cells(out, map, &c, cell);
	svg_legend(out, &c, size + 20);
	fprintf(out, "</g>\n</svg>\n");
	free(c.bytes);
	return 0;
}
