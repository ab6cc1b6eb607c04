// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lightpaths of an optical ring and circuits of optical switches: they meet nowhere, and
 * the pair that is served worst has nearly as much as the integer program gives it.
 */

#include <errno.h>
#include <math.h>

#include "job.h"

#include <glpk.h>

#include "topology/one_shot.h"
#include "topology/sip.h"
#include "topology/wavelengths.h"

#define CASES 300
#define OPTIMA 60
#define NEAR 0.95	/* of the optimum, in the mean */

/* Each server sends up to 1 to 16 MiB to some others. */
static uint64_t *random_bytes(uint32_t n, uint32_t others, uint64_t *random)
{
	uint64_t *bytes = calloc((size_t)n * n, sizeof(*bytes));

	assert_non_null(bytes);
	for (uint32_t x = 0; x < n; x++)
		for (uint32_t i = 0; i < others; i++) {
			const uint32_t y = (x + 1 + to_random_below(random, n - 1)) % n;

			bytes[(size_t)x * n + y] = MIB * (1 + to_random_below(random, 16));
		}
	return bytes;
}

/* Lightpaths are within reach, on their way round, meet nowhere, and are those counted. */
static void check(const struct to_wavelengths *s, bool ring)
{
	const uint32_t n = s->n;
	uint16_t *count = calloc((size_t)n * n, sizeof(*count));
	bool *taken = calloc(n, sizeof(*taken));

	assert_non_null(count);
	assert_non_null(taken);
	for (unsigned int c = 0; c < s->w; c++) {
		const bool back = c >= s->w / 2;

		memset(taken, 0, n * sizeof(*taken));
		for (uint32_t x = 0; x < n; x++) {
			const uint32_t y = s->to[(size_t)c * n + x];
			uint32_t passed = 0;

			assert_true(!ring || c || y == (x + 1) % n);
			if (y == TO_SERVER_NONE)
				continue;
			assert_true(y < n && y != x);
			for (uint32_t at = x; at != y; at = back ? (at + n - 1) % n : (at + 1) % n) {
				const uint32_t segment = back ? (at + n - 1) % n : at;

				assert_false(taken[segment]);
				taken[segment] = true;
				passed++;
			}
			assert_true(passed <= s->reach);
			count[(size_t)x * n + y]++;
		}
	}
	assert_memory_equal(count, s->count, (size_t)n * n * sizeof(*count));
	free(count);
	free(taken);
}

static void init(struct to_wavelengths *s, uint32_t n, unsigned int w, unsigned int reach)
{
	struct to_error err = { "" };

	assert_int_equal(to_wavelengths_init(s, n, w, reach, &err), 0);
}

/* Lightpaths per byte of the pair within reach that has fewest. */
static double least(const struct to_wavelengths *s, const uint64_t *bytes)
{
	double rate = INFINITY;

	for (uint32_t x = 0; x < s->n; x++)
		for (uint32_t y = 0; y < s->n; y++) {
			const size_t pair = (size_t)x * s->n + y;

			if (x != y && bytes[pair] && to_wavelengths_within(s, x, y))
				rate = fmin(rate, (double)s->count[pair] / bytes[pair]);
		}
	return rate;
}

static void lightpaths_meet_nowhere(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned int i = 0; i < CASES; i++) {
		const uint32_t n = 2 + to_random_below(&random, 40);
		const unsigned int w = 2 + 2 * to_random_below(&random, 10);
		const bool ring = to_random_below(&random, 2);
		uint64_t *bytes = random_bytes(n, to_random_below(&random, 6), &random);
		struct to_wavelengths s;

		init(&s, n, w, 1 + to_random_below(&random, 20));
		assert_int_equal(to_wavelengths_assign(&s, bytes, ring), 0);
		check(&s, ring);
		assert_true(s.rate == least(&s, bytes));
		to_wavelengths_free(&s);
		free(bytes);
	}
}

/* One lightpath more of a pair, in the program's rows. */
struct column {
	glp_prob *program;
	int index[72], n;
	double value[72];
};

static void column_begin(struct column *c)
{
	c->n = 0;
}

static void column_add(struct column *c, int row)
{
	c->n++;
	c->index[c->n] = row;
	c->value[c->n] = 1;
}

static void column_end(struct column *c, unsigned int most)
{
	const int j = glp_add_cols(c->program, 1);

	glp_set_col_kind(c->program, j, GLP_IV);
	glp_set_col_bnds(c->program, j, GLP_DB, 0, most);
	glp_set_mat_col(c->program, j, c->n, c->index, c->value);
}

/* Column 1 is the rate, in lightpaths per MiB; a row for each pair, those below @first are others'. */
static void rate_column(struct column *c, const uint64_t *bytes, uint32_t n, int first,
			const int *row)
{
	const int j = glp_add_cols(c->program, 1);

	assert_int_equal(j, 1);
	glp_set_col_bnds(c->program, j, GLP_LO, 0, 0);
	glp_set_obj_dir(c->program, GLP_MAX);
	glp_set_obj_coef(c->program, j, 1);
	column_begin(c);
	for (size_t i = 0; i < (size_t)n * n; i++) {
		if (!row[i])
			continue;
		column_add(c, first + row[i]);
		c->value[c->n] = -(double)bytes[i] / MIB;
		glp_set_row_bnds(c->program, first + row[i], GLP_LO, 0, 0);
	}
	glp_set_mat_col(c->program, j, c->n, c->index, c->value);
}

static double solve(glp_prob *program)
{
	glp_iocp options;
	double rate;

	glp_init_iocp(&options);
	options.msg_lev = GLP_MSG_ERR;
	options.presolve = GLP_ON;
	assert_int_equal(glp_intopt(program, &options), 0);
	assert_int_equal(glp_mip_status(program), GLP_OPT);
	rate = glp_mip_obj_val(program) / MIB;
	glp_delete_prob(program);
	return rate;
}

/* Rows of pairs with bytes, from 1 on. */
static int number_pairs(const uint64_t *bytes, const struct to_wavelengths *s, uint32_t n, int *row)
{
	int pairs = 0;

	for (uint32_t x = 0; x < n; x++)
		for (uint32_t y = 0; y < n; y++)
			if (x != y && bytes[x * n + y] && (!s || to_wavelengths_within(s, x, y)))
				row[x * n + y] = ++pairs;
	return pairs;
}

/*
 * The integer program: lightpaths of each pair and way round, no more on a segment than
 * wavelengths of that way. It does not ask on which: it may be above what can be had.
 */
static double optimum(const struct to_wavelengths *s, const uint64_t *bytes)
{
	struct column c = { .program = glp_create_prob() };
	const uint32_t n = s->n;
	int row[64] = { 0 };

	glp_add_rows(c.program, 2 * n + number_pairs(bytes, s, n, row));
	for (uint32_t i = 1; i <= 2 * n; i++)
		glp_set_row_bnds(c.program, i, GLP_UP, 0, s->w / 2);
	rate_column(&c, bytes, n, 2 * n, row);
	for (uint32_t x = 0; x < n; x++)
		for (uint32_t y = 0; y < n; y++)
			for (unsigned int back = 0; row[x * n + y] && back < 2; back++) {
				const uint32_t d = back ? (x + n - y) % n : (y + n - x) % n;

				if (d > s->reach)
					continue;
				column_begin(&c);
				for (uint32_t i = 0; i < d; i++)
					column_add(&c, 1 + back * n +
						   (back ? x + n - 1 - i : x + i) % n);
				column_add(&c, 2 * n + row[x * n + y]);
				column_end(&c, s->w / 2);
			}
	return solve(c.program);
}

static void near_the_integer_program(void **state)
{
	double sum = 0, worst = 1;
	uint64_t random = 2;
	unsigned int cases = 0;

	(void)state;
	while (cases < OPTIMA) {
		const uint32_t n = 4 + to_random_below(&random, 5);
		const unsigned int w = 4 + 2 * to_random_below(&random, 7);
		uint64_t *bytes = random_bytes(n, 1 + to_random_below(&random, 3), &random);
		struct to_wavelengths s;
		double best;

		init(&s, n, w, 2 + to_random_below(&random, n - 2));
		assert_int_equal(to_wavelengths_assign(&s, bytes, false), 0);
		check(&s, false);
		best = optimum(&s, bytes);
		if (best > 0 && isfinite(s.rate)) {
			assert_true(s.rate <= best * (1 + 1e-6));
			sum += s.rate / best;
			worst = fmin(worst, s.rate / best);
			cases++;
		}
		to_wavelengths_free(&s);
		free(bytes);
	}
	print_message("# rate over the optimum: mean %.4f, least %.4f of %u\n", sum / cases, worst,
		      cases);
	assert_true(sum / cases >= NEAR);
}

/* All send alike to all within reach of a ring of 1024: each segment is full. */
static void a_large_ring_is_full(void **state)
{
	const uint32_t n = 1024, reach = 8;
	const unsigned int w = 72;	/* 1 + 2 + ... + 8 each way */
	uint64_t *bytes = calloc((size_t)n * n, sizeof(*bytes));
	struct to_wavelengths s;

	(void)state;
	assert_non_null(bytes);
	for (uint32_t x = 0; x < n; x++)
		for (uint32_t d = 1; d <= reach; d++)
			bytes[(size_t)x * n + (x + d) % n] =
				bytes[(size_t)x * n + (x + n - d) % n] = MIB;
	init(&s, n, w, reach);
	assert_int_equal(to_wavelengths_assign(&s, bytes, false), 0);
	check(&s, false);
	assert_true(s.rate >= 1. / MIB);
	to_wavelengths_free(&s);
	free(bytes);
}

/* Far pairs get none, and those that are left take what is there. */
static void all_wavelengths_are_used(void **state)
{
	uint64_t bytes[100] = { 0 };
	struct to_wavelengths s;

	(void)state;
	bytes[0 * 10 + 2] = bytes[0 * 10 + 5] = MIB;
	init(&s, 10, 8, 3);
	assert_int_equal(to_wavelengths_assign(&s, bytes, false), 0);
	check(&s, false);
	assert_int_equal(s.count[0 * 10 + 2], 4);
	assert_int_equal(s.count[0 * 10 + 5], 0);
	assert_true(to_wavelengths_within(&s, 0, 7) && !to_wavelengths_within(&s, 0, 5));
	to_wavelengths_free(&s);

	/* both ways round */
	init(&s, 10, 8, 8);
	assert_int_equal(to_wavelengths_assign(&s, bytes, false), 0);
	check(&s, false);
	assert_int_equal(s.count[0 * 10 + 2] + s.count[0 * 10 + 5], 8);
	to_wavelengths_free(&s);
}

static void cabled_as_assigned(void **state)
{
	struct to_wavelengths s, found;
	uint64_t random = 3, *bytes = random_bytes(12, 4, &random);
	struct to_cluster *cluster = to_cluster_synthetic(12, 6, 0, TO_LINKS_SIMPLEX, NULL);

	(void)state;
	assert_non_null(cluster);
	assert_int_equal(to_wavelengths_find(&found, cluster), 0);
	init(&s, 12, 6, 4);
	assert_int_equal(to_wavelengths_assign(&s, bytes, true), 0);
	check(&s, true);
	assert_int_equal(to_wavelengths_cable(cluster, &s), 0);
	assert_int_equal(to_wavelengths_find(&found, cluster), 1);
	assert_memory_equal(found.to, s.to, 12 * 6 * sizeof(*s.to));
	assert_memory_equal(found.count, s.count, 144 * sizeof(*s.count));
	assert_true(found.reach <= 4);
	to_wavelengths_free(&found);

	/* a link that meets another on its wavelength */
	for (unsigned int i = 0; i < cluster->n_links; i++)
		if (!cluster->links[i].a.server && !cluster->links[i].a.port)
			cluster->links[i].b.server = 2;
	assert_int_equal(to_wavelengths_find(&found, cluster), 0);
	to_wavelengths_free(&s);
	to_cluster_free(cluster);
	free(bytes);
}

static void refused(void **state)
{
	struct to_wavelengths s;
	struct to_error err = { "" };

	(void)state;
	assert_int_equal(to_wavelengths_init(&s, 8, 0, 4, &err), -EINVAL);
	assert_int_equal(to_wavelengths_init(&s, 8, 3, 4, &err), -EINVAL);
	assert_int_equal(to_wavelengths_init(&s, 8, 4, 0, &err), -EINVAL);
	assert_int_equal(to_wavelengths_init(&s, 8, 4, 65, &err), -EINVAL);
}

/* The same of circuits: rows and columns of at most @q. */
static double optimum_of_switches(const uint64_t *bytes, uint32_t n, unsigned int q)
{
	struct column c = { .program = glp_create_prob() };
	int row[64] = { 0 };

	glp_add_rows(c.program, 2 * n + number_pairs(bytes, NULL, n, row));
	for (uint32_t i = 1; i <= 2 * n; i++)
		glp_set_row_bnds(c.program, i, GLP_UP, 0, q);
	rate_column(&c, bytes, n, 2 * n, row);
	for (uint32_t x = 0; x < n; x++)
		for (uint32_t y = 0; y < n; y++) {
			if (!row[x * n + y])
				continue;
			column_begin(&c);
			column_add(&c, 1 + x);
			column_add(&c, 1 + n + y);
			column_add(&c, 2 * n + row[x * n + y]);
			column_end(&c, q);
		}
	return solve(c.program);
}

static void switches_serve_the_worst_pair_best(void **state)
{
	uint64_t random = 4;

	(void)state;
	for (unsigned int i = 0; i < OPTIMA; i++) {
		const uint32_t n = 3 + to_random_below(&random, 6);
		const unsigned int q = 2 + to_random_below(&random, 7);
		uint64_t *bytes = random_bytes(n, 1 + to_random_below(&random, 3), &random);
		struct to_cluster *cluster = to_cluster_synthetic(n, q, 0, TO_LINKS_SIMPLEX, NULL);
		uint16_t count[64] = { 0 };
		struct to_error err = { "" };
		double rate = INFINITY;

		assert_non_null(cluster);
		assert_int_equal(to_one_shot_links(bytes, n, q, false, count), 0);
		for (uint32_t x = 0; x < n; x++)
			for (uint32_t y = 0; y < n; y++)
				if (bytes[x * n + y])
					rate = fmin(rate, (double)count[x * n + y] / bytes[x * n + y]);
		assert_true(fabs(rate / optimum_of_switches(bytes, n, q) - 1) < 1e-6 || rate == 0);
		assert_int_equal(to_one_shot_cable(cluster, q, count, &err), 0);
		for (unsigned int k = 0; k < cluster->n_links; k++)
			assert_int_equal(cluster->links[k].a.port, cluster->links[k].b.port);
		to_cluster_free(cluster);
		free(bytes);
	}
}

/* 3 segments a hop: 0 to 5 of 12 is 0-2-5, and a group's ring goes both ways. */
static void far_transfers_are_relayed(void **state)
{
	const struct to_sip ring = { .ring = true, .ports = 4, .reach = 3 };
	struct to_demand *demand = job_new(12);
	uint64_t bytes[144], all = 0;

	(void)state;
	demand->mp[0 * 12 + 5] = 100;
	to_sip_bytes(&ring, demand, bytes);
	assert_int_equal(bytes[0 * 12 + 2], 100);
	assert_int_equal(bytes[2 * 12 + 5], 100);
	demand->mp[0 * 12 + 5] = 0;
	job_group(demand, 0, 4, 3, 300);
	to_sip_bytes(&ring, demand, bytes);
	assert_int_equal(bytes[0 * 12 + 2], 200);
	assert_int_equal(bytes[2 * 12 + 4], 200);
	assert_int_equal(bytes[4 * 12 + 2], 200);
	assert_int_equal(bytes[10 * 12 + 0], 200);
	for (unsigned int i = 0; i < 144; i++)
		all += bytes[i];
	assert_int_equal(all, 12 * 200);
	to_demand_free(demand);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lightpaths_meet_nowhere),
		cmocka_unit_test(near_the_integer_program),
		cmocka_unit_test(a_large_ring_is_full),
		cmocka_unit_test(all_wavelengths_are_used),
		cmocka_unit_test(cabled_as_assigned),
		cmocka_unit_test(refused),
		cmocka_unit_test(switches_serve_the_worst_pair_best),
		cmocka_unit_test(far_transfers_are_relayed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
