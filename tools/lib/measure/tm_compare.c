// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "data/allreduce.h"

#define COMPARE_MATRIX_MAX 16	/* servers of which two matrices fit side by side */
#define COMPARE_CELL 5		/* columns of a cell */

static double compare_excess(const struct to_tm_compare *c, size_t pair)
{
	double planned = c->planned[pair];
	double difference = fabs((double)c->measured[pair] - planned);

	return difference - planned * c->tolerance / 100 - c->slack;
}

static void compare_judge(struct to_tm_compare *c)
{
	const size_t cells = (size_t)c->n * c->n;

	for (size_t i = 0; i < cells; i++) {
		double excess = compare_excess(c, i);

		if (excess <= 0)
			continue;
		if (!c->beyond++ || excess > compare_excess(c, c->worst))
			c->worst = i;
	}
}

static const char *compare_name(const struct to_tm_compare *c, size_t server)
{
	return c->plan->cluster->servers[server].name;
}

/* Bytes of the unit in which the largest cell has at most four digits. */
static uint64_t compare_unit(const struct to_tm_compare *c, const char **name)
{
	static const char *const names[] = { "B", "kB", "MB", "GB", "TB" };
	const size_t cells = (size_t)c->n * c->n;
	uint64_t largest = 0, unit = 1;
	unsigned int i = 0;

	for (size_t k = 0; k < cells; k++) {
		if (c->planned[k] > largest)
			largest = c->planned[k];
		if (c->measured[k] > largest)
			largest = c->measured[k];
	}
	while (i < 4 && largest / unit > 9999) {
		unit *= 1000;
		i++;
	}
	*name = names[i];
	return unit;
}

static void compare_row(FILE *out, const struct to_tm_compare *c, const uint64_t *bytes,
			uint64_t unit)
{
	for (unsigned int j = 0; j < c->n; j++) {
		if (!bytes[j])
			fprintf(out, "%*s", COMPARE_CELL, ".");
		else
			fprintf(out, "%*.0f", COMPARE_CELL, (double)bytes[j] / unit);
	}
}

static void compare_matrices(FILE *out, const struct to_tm_compare *c)
{
	const int half = COMPARE_CELL * c->n;
	const char *name;
	uint64_t unit = compare_unit(c, &name);

	fprintf(out, "%8s %-*s    measured (%s)\n", "", half, "planned", name);
	fprintf(out, "%-8s ", "from\\to");
	for (int side = 0; side < 2; side++) {
		for (unsigned int j = 0; j < c->n; j++)
			fprintf(out, "%*.*s", COMPARE_CELL, COMPARE_CELL - 1, compare_name(c, j));
		fprintf(out, "%s", side ? "\n" : "    ");
	}
	for (size_t i = 0; i < c->n; i++) {
		fprintf(out, "%-8.8s ", compare_name(c, i));
		compare_row(out, c, c->planned + i * c->n, unit);
		fprintf(out, "    ");
		compare_row(out, c, c->measured + i * c->n, unit);
		fprintf(out, "\n");
	}
}

void to_tm_compare_print(FILE *out, const struct to_tm_compare *c)
{
	const size_t cells = (size_t)c->n * c->n;
	uint64_t planned = 0, measured = 0;

	for (size_t i = 0; i < cells; i++) {
		planned += c->planned[i];
		measured += c->measured[i];
	}
	if (c->n <= COMPARE_MATRIX_MAX)
		compare_matrices(out, c);
	fprintf(out, "planned %" PRIu64 " bytes, measured %" PRIu64
	       " bytes with headers and acknowledgements (%+.1f %%)\n",
	       planned, measured, planned ? 100.0 * measured / planned - 100 : 0);
	if (!c->beyond)
		fprintf(out, "every pair within %g %% and %" PRIu64 " bytes\n",
		       c->tolerance, c->slack);
}

json_t *to_tm_compare_json(const struct to_tm_compare *c)
{
	return json_pack("{s:o, s:o, s:i}", "planned", to_json_matrix(c->planned, c->n),
			 "measured", to_json_matrix(c->measured, c->n),
			 "pairs_beyond", (int)c->beyond);
}

int to_tm_compare_verdict(const struct to_tm_compare *c, struct to_error *err)
{
	if (!c->beyond)
		return 0;
	return to_error_set(err, -ERANGE,
			    "%u pairs differ by more than %g %% and %" PRIu64
			    " bytes, most %s -> %s: planned %" PRIu64 ", measured %" PRIu64,
			    c->beyond, c->tolerance, c->slack, compare_name(c, c->worst / c->n),
			    compare_name(c, c->worst % c->n), c->planned[c->worst],
			    c->measured[c->worst]);
}

int to_tm_compare_make(struct to_tm_compare *c, const struct to_tm *tm)
{
	const size_t n = c->plan->cluster->n_servers;

	c->n = n;
	c->planned = calloc(n * n, sizeof(*c->planned));
	c->measured = calloc(n * n, sizeof(*c->measured));
	if (!c->planned || !c->measured)
		return -ENOMEM;
	to_allreduce_and_mp(c->plan, c->iterations, c->planned);
	to_tm_matrix(tm, -1, -1, TO_TM_ALL, c->measured);
	compare_judge(c);
	return 0;
}

void to_tm_compare_free(struct to_tm_compare *c)
{
	free(c->planned);
	free(c->measured);
}
