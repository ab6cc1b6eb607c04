// SPDX-License-Identifier: GPL-2.0-or-later
/* Generalised Kautz graphs, their rings, and plans on them. */

#include <math.h>

#include "job.h"

#include "graph/factor.h"
#include "graph/kautz.h"

/* The arcs without self loops as simplex links. */
static unsigned int arcs(struct to_link *links, unsigned int n, unsigned int k)
{
	unsigned int n_links = 0;

	for (uint32_t i = 0; i < n; i++) {
		for (unsigned int j = 1; j <= k; j++) {
			uint32_t head = to_kautz_head(n, k, i, j);

			assert_true(head < n);
			if (head != i)
				links[n_links++] = (struct to_link){ .a.server = i, .b.server = head,
								     .ring = -1, .tree = -1 };
		}
	}
	return n_links;
}

static struct to_graph *kautz(unsigned int n, unsigned int k, unsigned int lose)
{
	struct to_link *links = calloc((size_t)n * k, sizeof(*links));
	struct to_graph *graph;

	assert_non_null(links);
	graph = to_graph_new(n, links, arcs(links, n, k) - lose, TO_LINKS_SIMPLEX);
	assert_non_null(graph);
	free(links);
	return graph;
}

static void degree_and_diameter(void **state)
{
	static uint16_t distance[1024];
	static uint32_t order[1024];

	(void)state;
	for (unsigned int k = 2; k <= 8; k++) {
		for (unsigned int n = k + 1; n <= 1024; n += 1 + n / 7) {
			struct to_graph *g = kautz(n, k, 0);
			unsigned int diameter = 0;

			for (double reach = 1; reach < n; reach *= k)
				diameter++;
			for (uint32_t x = 0; x < n; x++) {
				unsigned int out = g->out[x + 1] - g->out[x];
				unsigned int in = g->in[x + 1] - g->in[x];

				/* a self loop takes one of each */
				assert_int_equal(out, in);
				assert_true(out == k || out == k - 1);
				assert_int_equal(to_graph_distances(g, x, TO_SERVER_NONE, distance,
								    order), n);
				assert_true(distance[order[n - 1]] <= diameter);
			}
			to_graph_free(g);
		}
	}
}

/* All factors become rings; arcs that are new are counted, all others are kept. */
static void arcs_become_rings(void **state)
{
	unsigned int all = 0, fresh = 0;

	(void)state;
	for (unsigned int k = 2; k <= 8; k++) {
		for (unsigned int n = 2 * k + 1; n <= 300; n += 1 + n / 5) {
			uint32_t *heads = calloc((size_t)n * k, sizeof(*heads));
			unsigned int *left = calloc((size_t)n * n, sizeof(*left)), added, more = 0;
			struct to_factors f;

			assert_true(heads && left);
			for (uint32_t i = 0; i < n; i++) {
				for (unsigned int j = 1; j <= k; j++) {
					heads[i * k + j - 1] = to_kautz_head(n, k, i, j);
					left[i * n + heads[i * k + j - 1]]++;
				}
			}
			assert_int_equal(to_factors_init(&f, heads, n, k), 0);
			added = to_factors_merge(&f, 4000, 1);
			for (unsigned int c = 0; c < k; c++) {
				unsigned int length = 0;
				uint32_t at = 0;

				do {
					uint32_t next = f.next[(size_t)c * n + at];

					if (left[at * n + next])
						left[at * n + next]--;
					else
						more++;
					at = next;
				} while (++length <= n && at);
				assert_int_equal(length, n);
			}
			assert_true(more <= added);
			all += n * k;
			fresh += added;
			to_factors_free(&f);
			free(heads);
			free(left);
		}
	}
	assert_true(fresh < all / 20);
}

static void plans_are_right(void **state)
{
	(void)state;
	for (unsigned int n = 13; n < 80; n += 12) {
		for (unsigned int i = 0; i < 8; i++) {
			enum to_link_mode mode = i % 2;
			unsigned int degree = i / 2 % 2 ? 8 : 4, k = degree;
			struct to_demand *demand = job_new(n);
			struct to_error err = { "" };
			struct to_plan *plan;
			struct to_figures f;

			/* with AllReduce, and without */
			if (i < 4)
				job_group(demand, 0, 1, n, 1000 * MIB);
			job_hot(demand, n / 2, MIB);
			plan = job_plan_family(demand, degree, mode, &to_family_kautz, &err);
			assert_string_equal(err.text, "");
			f = job_verify(plan).figures;
			assert_int_equal(f.degree, degree);
			if (mode == TO_LINKS_DUPLEX)
				k /= 2;
			if (i < 4 && plan->candidates[0].ports == degree) {
				/* all links, both ways on duplex ones */
				assert_int_equal(plan->n_rings, k);
				assert_true(fabs(f.allreduce_time - f.allreduce_time_bound) < 1e-9);
				/* near Moore, as far as each arc goes one way */
				if (mode == TO_LINKS_SIMPLEX)
					assert_true(f.mean_hops < 1.08 * f.mean_hops_bound);
			}
			if (4 * degree < n)
				assert_string_equal(f.family, "kautz");
			to_plan_free(plan);
		}
	}
}

/* By its links, not by what made them. */
static void is_named_by_its_links(void **state)
{
	struct to_graph *g;

	(void)state;
	for (unsigned int n = 24; n < 200; n += 17) {
		struct to_link *links = calloc(4 * (size_t)n, sizeof(*links));

		assert_non_null(links);
		g = kautz(n, 4, 0);
		assert_true(to_kautz_within(g));
		to_graph_free(g);
		/* a few arcs may be others, but not half of them */
		g = kautz(n, 4, n / 4);
		assert_true(to_kautz_within(g));
		to_graph_free(g);
		g = kautz(n, 4, 2 * n);
		assert_false(to_kautz_within(g));
		to_graph_free(g);
		for (uint32_t i = 0; i < 4 * n; i++)
			links[i] = (struct to_link){ .a.server = i / 4,
						     .b.server = (i / 4 + 1 + 3 * (i % 4)) % n };
		g = to_graph_new(n, links, 4 * n, TO_LINKS_SIMPLEX);
		assert_false(to_kautz_within(g));
		to_graph_free(g);
		free(links);
	}
	/* all arcs that there can be hold any graph */
	g = kautz(7, 6, 0);
	assert_false(to_kautz_within(g));
	to_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(degree_and_diameter),
		cmocka_unit_test(arcs_become_rings),
		cmocka_unit_test(plans_are_right),
		cmocka_unit_test(is_named_by_its_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
