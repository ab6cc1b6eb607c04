// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/figure_list.h"

#include <stddef.h>

#include "base/text.h"

static const char *figure_hops(double value, char text[24])
{
	snprintf(text, 24, "%.3f hops", value);
	return text;
}

static const char *figure_whole_hops(double value, char text[24])
{
	snprintf(text, 24, "%.0f hops", value);
	return text;
}

static const char *figure_ratio(double value, char text[24])
{
	snprintf(text, 24, "%.3f", value);
	return text;
}

#define FIGURE(member) \
	.value = offsetof(struct to_figures, member), \
	.bound = offsetof(struct to_figures, member##_bound)

/**
 * struct figure - one of the list
 * @value, @bound: where they are in struct to_figures
 * @whole: they are unsigned int, not double
 * @print: one of them, as text
 */
static const struct figure {
	const char *name, *meaning;
	size_t value, bound;
	bool whole;
	const char *(*print)(double value, char *text);
} figures[TO_FIGURES] = {
	[TO_FIGURE_COMM_TIME] = { "communication time", "busiest link, per training iteration",
		FIGURE(comm_time), .print = to_seconds_text },
	[TO_FIGURE_ALLREDUCE_TIME] = { "AllReduce time", "busiest link, AllReduce alone",
		FIGURE(allreduce_time), .print = to_seconds_text },
	[TO_FIGURE_LINK_LOAD] = { "max link load", "bytes in one direction, per iteration",
		FIGURE(max_link_load), .print = to_bytes_text },
	[TO_FIGURE_MP_LINK_LOAD] = { "max MP link load", "the same, MP transfers alone",
		FIGURE(max_mp_link_load), .print = to_bytes_text },
	[TO_FIGURE_BANDWIDTH_TAX] = { "bandwidth tax", "bytes on links per byte of demand",
		FIGURE(bandwidth_tax), .print = figure_ratio },
	[TO_FIGURE_MEAN_HOPS] = { "mean hops", "of shortest paths, over all pairs of servers",
		FIGURE(mean_hops), .print = figure_hops },
	[TO_FIGURE_DIAMETER] = { "diameter", "between the two servers farthest apart",
		FIGURE(diameter), .whole = true, .print = figure_whole_hops },
};

const char *to_figure_name(enum to_figure which)
{
	return figures[which].name;
}

const char *to_figure_meaning(enum to_figure which)
{
	return figures[which].meaning;
}

static double figure_at(const struct to_figures *f, size_t offset, bool whole)
{
	const void *at = (const char *)f + offset;

	return whole ? *(const unsigned int *)at : *(const double *)at;
}

double to_figure_value(const struct to_figures *f, enum to_figure which)
{
	return figure_at(f, figures[which].value, figures[which].whole);
}

double to_figure_bound(const struct to_figures *f, enum to_figure which)
{
	return figure_at(f, figures[which].bound, figures[which].whole);
}

const char *to_figure_text(enum to_figure which, double value, char text[24])
{
	return figures[which].print(value, text);
}
