// SPDX-License-Identifier: GPL-2.0-or-later
#include "sweep_result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"

static json_t *sweep_values_json(const struct to_sweep *s, unsigned int point)
{
	json_t *values = json_object();

	for (unsigned int i = 0; i < s->n_axes; i++)
		json_object_set_new(values, s->axes[i].option->name,
				    json_string(to_sweep_value(s, point, i)->label));
	return values;
}

static json_t *sweep_axes_json(const struct to_sweep *s)
{
	json_t *axes = json_array();

	for (unsigned int i = 0; i < s->n_axes; i++) {
		json_t *values = json_array();

		for (unsigned int k = 0; k < s->axes[i].n; k++)
			json_array_append_new(values, json_string(s->axes[i].values[k].label));
		json_array_append_new(axes, json_pack("{s:s s:o}", "option", s->axes[i].option->name,
						      "values", values));
	}
	return axes;
}

static json_t *sweep_ratios_json(const struct to_sweep_result *r)
{
	json_t *ratios = json_array();

	for (unsigned int i = 0; i < r->sweep->n_ratios; i++) {
		const struct to_sweep_ratio *ratio = &r->sweep->ratios[i];
		const struct to_sweep_found found = to_sweep_find(r->sweep, ratio, r->times);

		json_array_append_new(ratios, json_pack("{s:s s:f s:i s:f s:f s:f}",
			"name", ratio->name, "published", ratio->published, "pairs", (int)found.n,
			"mean", found.mean, "min", found.min, "max", found.max));
	}
	return ratios;
}

json_t *to_sweep_result_json(const struct to_sweep_result *r)
{
	static const char *const kept[] = { "iteration_time_s", "critical_path_s", "changes",
					    "iterations", "events", "cpu_s" };
	const struct to_sweep *s = r->sweep;
	json_t *points = json_array();

	for (unsigned int i = 0; i < s->n_points; i++) {
		json_t *point = r->points[i] ? json_pack("{s:o}", "values", sweep_values_json(s, i)) :
					       NULL;

		for (unsigned int k = 0; point && k < sizeof(kept) / sizeof(*kept); k++)
			json_object_set(point, kept[k], json_object_get(r->points[i], kept[k]));
		if (point)
			json_array_append_new(points, point);
	}
	return json_pack("{s:s s:i s:o s:o s:o}", "name", s->name, "missing", (int)r->missing,
			 "axes", sweep_axes_json(s), "points", points,
			 "ratios", sweep_ratios_json(r));
}

static double sweep_time(const json_t *point, const char *which)
{
	return json_number_value(json_object_get(json_object_get(point, "iteration_time_s"), which));
}

/* Find the width of a column: of its longest value, or its name. */
static int sweep_width(const struct to_sweep_axis *axis)
{
	size_t width = strlen(axis->option->name);

	for (unsigned int i = 0; i < axis->n; i++)
		if (strlen(axis->values[i].label) > width)
			width = strlen(axis->values[i].label);
	return width;
}

static void sweep_print_points(const struct to_sweep_result *r)
{
	const struct to_sweep *s = r->sweep;
	char mean[16], p99[16];

	printf("%s: %u points", s->name, s->n_points - r->missing);
	if (r->missing)
		printf(", %u more are missing", r->missing);
	printf("\n ");
	for (unsigned int i = 0; i < s->n_axes; i++)
		printf(" %-*s", sweep_width(&s->axes[i]), s->axes[i].option->name);
	printf(" %10s %10s\n", "iteration", "p99");
	for (unsigned int k = 0; k < s->n_points; k++) {
		if (!r->points[k])
			continue;
		putchar(' ');
		for (unsigned int i = 0; i < s->n_axes; i++)
			printf(" %-*s", sweep_width(&s->axes[i]), to_sweep_value(s, k, i)->label);
		printf(" %10s %10s\n", to_seconds_text(sweep_time(r->points[k], "mean"), mean),
		       to_seconds_text(sweep_time(r->points[k], "p99"), p99));
	}
}

static void sweep_print_ratios(const struct to_sweep_result *r)
{
	const struct to_sweep *s = r->sweep;
	int width = strlen("ratio");

	for (unsigned int i = 0; i < s->n_ratios; i++)
		if ((int)strlen(s->ratios[i].name) > width)
			width = strlen(s->ratios[i].name);
	if (s->n_ratios)
		printf("\n  %-*s  published   here  off by  from pair to pair\n", width, "ratio");
	for (unsigned int i = 0; i < s->n_ratios; i++) {
		const struct to_sweep_ratio *ratio = &s->ratios[i];
		const struct to_sweep_found found = to_sweep_find(s, ratio, r->times);

		printf("  %-*s %10.4g", width, ratio->name, ratio->published);
		if (found.n)
			printf(" %6.3g %+6.0f%%  %.3g to %.3g", found.mean,
			       100 * (found.mean / ratio->published - 1), found.min, found.max);
		putchar('\n');
	}
}

void to_sweep_result_print(const struct to_sweep_result *r)
{
	sweep_print_points(r);
	sweep_print_ratios(r);
}

int to_sweep_result_init(struct to_sweep_result *r, const struct to_sweep *sweep,
			 json_t *const *points, struct to_error *err)
{
	*r = (struct to_sweep_result){ .sweep = sweep, .points = points };
	r->times = calloc(sweep->n_points, sizeof(*r->times));
	if (!r->times)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < sweep->n_points; i++) {
		r->missing += !points[i];
		r->times[i] = points[i] ? sweep_time(points[i], "mean") : -1;
	}
	return 0;
}

void to_sweep_result_free(struct to_sweep_result *r)
{
	free(r->times);
}
