// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/command.h"
#include "data/allreduce.h"
#include "data/tm.h"
#include "format/plan_json.h"
#include "format/tm_json.h"

#define MATRIX_MAX 16	/* servers of which two matrices fit side by side */
#define CELL 5

struct compare_args {
	double iterations, tolerance;
	uint64_t slack;
};

/**
 * struct compare - two matrices, n x n, row = source
 * @beyond: pairs that differ by more than what is tolerated
 * @worst: the pair that exceeds it most
 */
struct compare {
	const struct compare_args *args;
	const struct to_plan *plan;
	unsigned int n;
	uint64_t *planned, *measured;
	unsigned int beyond;
	size_t worst;
};

static double compare_excess(const struct compare *compare, size_t pair)
{
	double planned = compare->planned[pair];
	double difference = fabs((double)compare->measured[pair] - planned);

	return difference - planned * compare->args->tolerance / 100 -
	       compare->args->slack;
}

static void compare_judge(struct compare *compare)
{
	const size_t cells = (size_t)compare->n * compare->n;

	for (size_t i = 0; i < cells; i++) {
		double excess = compare_excess(compare, i);

		if (excess <= 0)
			continue;
		if (!compare->beyond++ ||
		    excess > compare_excess(compare, compare->worst))
			compare->worst = i;
	}
}

static const char *compare_name(const struct compare *compare, size_t server)
{
	return compare->plan->cluster->servers[server].name;
}

/* Bytes of the unit in which the largest cell has at most four digits. */
static uint64_t compare_unit(const struct compare *compare, const char **name)
{
	static const char *const names[] = { "B", "kB", "MB", "GB", "TB" };
	const size_t cells = (size_t)compare->n * compare->n;
	uint64_t largest = 0, unit = 1;
	unsigned int i = 0;

	for (size_t c = 0; c < cells; c++) {
		if (compare->planned[c] > largest)
			largest = compare->planned[c];
		if (compare->measured[c] > largest)
			largest = compare->measured[c];
	}
	while (i < 4 && largest / unit > 9999) {
		unit *= 1000;
		i++;
	}
	*name = names[i];
	return unit;
}

static void compare_row(const struct compare *compare, const uint64_t *bytes,
			uint64_t unit)
{
	for (unsigned int j = 0; j < compare->n; j++) {
		if (!bytes[j])
			printf("%*s", CELL, ".");
		else
			printf("%*.0f", CELL, (double)bytes[j] / unit);
	}
}

static void compare_matrices(const struct compare *compare)
{
	const int half = CELL * compare->n;
	const char *name;
	uint64_t unit = compare_unit(compare, &name);

	printf("%8s %-*s    measured (%s)\n", "", half, "planned", name);
	printf("%-8s ", "from\\to");
	for (int side = 0; side < 2; side++) {
		for (unsigned int j = 0; j < compare->n; j++)
			printf("%*.*s", CELL, CELL - 1, compare_name(compare, j));
		printf("%s", side ? "\n" : "    ");
	}
	for (size_t i = 0; i < compare->n; i++) {
		printf("%-8.8s ", compare_name(compare, i));
		compare_row(compare, compare->planned + i * compare->n, unit);
		printf("    ");
		compare_row(compare, compare->measured + i * compare->n, unit);
		printf("\n");
	}
}

static void compare_text(const struct compare *compare)
{
	const size_t cells = (size_t)compare->n * compare->n;
	uint64_t planned = 0, measured = 0;

	for (size_t i = 0; i < cells; i++) {
		planned += compare->planned[i];
		measured += compare->measured[i];
	}
	if (compare->n <= MATRIX_MAX)
		compare_matrices(compare);
	printf("planned %" PRIu64 " bytes, measured %" PRIu64
	       " bytes with headers and acknowledgements (%+.1f %%)\n",
	       planned, measured, planned ? 100.0 * measured / planned - 100 : 0);
	if (!compare->beyond)
		printf("every pair within %g %% and %" PRIu64 " bytes\n",
		       compare->args->tolerance, compare->args->slack);
}

static int compare_json(const struct compare *compare, struct to_error *err)
{
	json_t *object = json_pack("{s:o, s:o, s:i}",
				   "planned", to_json_matrix(compare->planned, compare->n),
				   "measured", to_json_matrix(compare->measured, compare->n),
				   "pairs_beyond", compare->beyond);

	if (!object)
		return to_error_set(err, -ENOMEM, "out of memory");
	json_dumpf(object, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(object);
	return 0;
}

static int compare_files(struct compare *compare, const struct to_tm *tm,
			 struct to_call *call)
{
	const struct to_cluster *cluster = compare->plan->cluster;
	const size_t n = cluster->n_servers;
	char fingerprint[17];
	int ret;

	ret = to_tm_fingerprint(call->operands[0], fingerprint, &call->err);
	if (ret)
		return ret;
	if (tm->n_servers != n || strcmp(tm->plan, fingerprint))
		return to_error_set(&call->err, -EINVAL,
				    "%s was not measured under the plan %s",
				    call->operands[1], call->operands[0]);
	if (tm->server != TO_TM_FABRIC)
		return to_error_set(&call->err, -EINVAL,
				    "%s is one server's recording; merge them by toctl tm merge",
				    call->operands[1]);
	compare->n = n;
	compare->planned = calloc(n * n, sizeof(*compare->planned));
	compare->measured = calloc(n * n, sizeof(*compare->measured));
	if (!compare->planned || !compare->measured)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	to_allreduce_and_mp(compare->plan, compare->args->iterations,
			    compare->planned);
	to_tm_matrix(tm, -1, -1, TO_TM_ALL, compare->measured);
	compare_judge(compare);

	if (call->json)
		ret = compare_json(compare, &call->err);
	else
		compare_text(compare);
	if (!ret && compare->beyond)
		ret = to_error_set(&call->err, -ERANGE,
				   "%u pairs differ by more than %g %% and %" PRIu64
				   " bytes, most %s -> %s: planned %" PRIu64
				   ", measured %" PRIu64, compare->beyond,
				   compare->args->tolerance, compare->args->slack,
				   compare_name(compare, compare->worst / n),
				   compare_name(compare, compare->worst % n),
				   compare->planned[compare->worst],
				   compare->measured[compare->worst]);
	return ret;
}

static int compare_run(struct to_call *call, const void *data)
{
	const struct compare_args *args = data;
	struct compare compare = { .args = args };
	struct to_plan *plan;
	struct to_tm *tm = NULL;
	int ret = -EINVAL;

	if (args->iterations <= 0 || args->tolerance < 0)
		return to_usage(call, "--iterations and --tolerance are positive");
	plan = to_plan_load_shared(call->operands[0], &call->err);
	if (plan)
		tm = to_tm_load(call->operands[1], &call->err);
	if (tm) {
		compare.plan = plan;
		ret = compare_files(&compare, tm, call);
	}
	free(compare.planned);
	free(compare.measured);
	to_tm_free(tm);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct compare_args, field)

static const struct to_option compare_options[] = {
	{ "iterations", 0, TO_OPTION_REAL, FIELD(iterations), .argument = "X",
	  .help = "training iterations that the matrix covers; default: 1" },
	{ "tolerance", 0, TO_OPTION_REAL, FIELD(tolerance), .argument = "PERCENT",
	  .help = "deviation of a pair that is tolerated; default: 10" },
	{ "slack", 0, TO_OPTION_NUMBER, FIELD(slack), .argument = "BYTES",
	  .help = "bytes per pair that are tolerated beside; default: 65536" },
	{}
};

const struct to_command to_cmd_tm_compare = {
	.name = "tm compare",
	.summary = "Compare a measured traffic matrix with the plan",
	.operands = "PLAN TM",
	.min_operands = 2,
	.max_operands = 2,
	.options = compare_options,
	.args_size = sizeof(struct compare_args),
	.defaults = &(const struct compare_args){
		.iterations = 1, .tolerance = 10, .slack = 65536 },
	.run = compare_run,
};
