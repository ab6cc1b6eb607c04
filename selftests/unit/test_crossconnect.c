// SPDX-License-Identifier: GPL-2.0-or-later
/* Links to ports of the same optical switch. */

#include <errno.h>

#include "job.h"
#include "topology/crossconnect.h"

#define N 24
#define D 6

static void check_ports(const struct to_cluster *c, const struct to_link *links,
			unsigned int n_links)
{
	bool transmits[N][D] = { 0 }, receives[N][D] = { 0 };
	bool duplex = c->link_mode == TO_LINKS_DUPLEX;

	for (unsigned int i = 0; i < n_links; i++) {
		struct to_port_ref a = links[i].a, b = links[i].b;

		assert_true(a.port < c->servers[a.server].n_ports);
		assert_true(b.port < c->servers[b.server].n_ports);
		assert_int_equal(c->servers[a.server].ports[a.port].optical_switch,
				 c->servers[b.server].ports[b.port].optical_switch);
		assert_false(transmits[a.server][a.port]);
		transmits[a.server][a.port] = true;
		if (duplex) {
			assert_false(transmits[b.server][b.port]);
			transmits[b.server][b.port] = true;
		} else {
			assert_false(receives[b.server][b.port]);
			receives[b.server][b.port] = true;
		}
	}
}

/*
 * Any directed graph with at most d links out and in fits d switches that have
 * one port of each server; what comes first must make way.
 */
static void simplex_links_always_fit(void **state)
{
	uint64_t random = 4;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		unsigned int n = 2 + to_random_below(&random, N - 1), d = 1 + to_random_below(&random, D);
		struct to_cluster *c = to_cluster_synthetic(n, d, GBPS, TO_LINKS_SIMPLEX, NULL);
		unsigned int out[N] = { 0 }, in[N] = { 0 }, n_links = 0;
		struct to_link links[N * D];
		struct to_error err = { "" };

		for (unsigned int i = 0; i < 10 * n * d; i++) {
			uint32_t a = to_random_below(&random, n), b = to_random_below(&random, n);

			if (a == b || out[a] == d || in[b] == d)
				continue;
			out[a]++;
			in[b]++;
			links[n_links++] = (struct to_link){ .a.server = a, .b.server = b, .ring = -1 };
		}
		assert_int_equal(to_crossconnect_assign(c, links, n_links, d, &err), 0);
		check_ports(c, links, n_links);
		to_cluster_free(c);
	}
}

static void spread_over(struct to_cluster *c, unsigned int n_switches)
{
	c->switches = realloc(c->switches, n_switches * sizeof(*c->switches));
	for (unsigned int i = 1; i < n_switches; i++)
		c->switches[i] = c->switches[0];
	c->n_switches = n_switches;
	for (unsigned int x = 0; x < c->n_servers; x++)
		for (unsigned int q = 0; q < c->servers[x].n_ports; q++)
			c->servers[x].ports[q].optical_switch = q % n_switches;
}

/* A ring of duplex links needs two colours, which an odd one does not have. */
static void duplex_rings_over_two_switches(void **state)
{
	(void)state;
	for (unsigned int n = 3; n < N; n++) {
		struct to_cluster *c = to_cluster_synthetic(n, 2, GBPS, TO_LINKS_DUPLEX, NULL);
		struct to_link links[N];
		struct to_error err = { "" };
		int ret;

		spread_over(c, 2);
		for (unsigned int i = 0; i < n; i++)
			links[i] = (struct to_link){ .a.server = i, .b.server = (i + 1) % n, .ring = 0 };
		ret = to_crossconnect_assign(c, links, n, 2, &err);
		if (n % 2) {
			assert_int_equal(ret, -ENOSPC);
			assert_string_equal(err.text, n == 3 ?
				"no optical switch has a free port of s2 and one of s0: duplex links want all ports of a job on one switch" :
				err.text);
		} else {
			assert_int_equal(ret, 0);
			check_ports(c, links, n);
		}
		to_cluster_free(c);
	}
}

/*
 * Servers 0 and 1 have one port, on switch 0, 2 and 3 have one on each of two. The
 * link of 2 and 3 comes first, takes switch 0 and must make way for that of 2 and
 * 0, whichever end of it comes first.
 */
static void links_make_way_at_either_end(void **state)
{
	static const unsigned int ports[] = { 1, 1, 2, 2 };

	(void)state;
	for (unsigned int turn = 0; turn < 2; turn++) {
		struct to_cluster *c = to_cluster_synthetic(4, 2, GBPS, TO_LINKS_DUPLEX, NULL);
		struct to_link links[] = {
			{ .a.server = 2, .b.server = 3, .ring = -1 },
			{ .a.server = turn ? 0 : 2, .b.server = turn ? 2 : 0, .ring = -1 },
			{ .a.server = 3, .b.server = 1, .ring = -1 },
		};
		struct to_error err = { "" };

		spread_over(c, 2);
		for (unsigned int x = 0; x < 4; x++)
			c->servers[x].n_ports = ports[x];
		assert_int_equal(to_crossconnect_assign(c, links, 3, 2, &err), 0);
		check_ports(c, links, 3);
		to_cluster_free(c);
	}
}

/*
 * Of three links between two servers only two fit, one on either switch: the last
 * is left out, unless it is one that is needed.
 */
static void links_that_do_not_fit_are_left_out(void **state)
{
	static const int switches[2][3] = { { 0, 0, 1 }, { 0, 1, 1 } };

	(void)state;
	for (unsigned int needed = 0; needed < 2; needed++) {
		struct to_cluster *c = to_cluster_synthetic(2, 3, GBPS, TO_LINKS_DUPLEX, NULL);
		unsigned int n_links = 3;
		struct to_link links[3];
		struct to_error err = { "" };

		spread_over(c, 2);
		for (unsigned int i = 0; i < 6; i++)
			c->servers[i / 3].ports[i % 3].optical_switch = switches[i / 3][i % 3];
		for (unsigned int i = 0; i < 3; i++)
			links[i] = (struct to_link){ .a.server = 0, .b.server = 1, .ring = -1,
						     .tree = -1, .use = needed ? TO_LINK_REPAIR :
										 TO_LINK_MP };
		assert_int_equal(to_crossconnect_assign_most(c, links, &n_links, 3, &err),
				 needed ? -ENOSPC : 0);
		assert_int_equal(n_links, needed ? 3 : 2);
		if (!needed)
			check_ports(c, links, n_links);
		to_cluster_free(c);
	}
}

/* Ring r of every server leaves by port 2r and comes in by port 2r + 1. */
static void rings_look_alike_on_every_server(void **state)
{
	struct to_cluster *c = to_cluster_synthetic(12, 4, GBPS, TO_LINKS_DUPLEX, NULL);
	struct to_link links[24];

	(void)state;
	for (unsigned int i = 0; i < 24; i++) {
		uint32_t x = i % 12 * (i < 12 ? 1 : 5) % 12;

		links[i] = (struct to_link){ .a.server = x, .b.server = (x + (i < 12 ? 1 : 5)) % 12,
					     .ring = i / 12 };
	}
	assert_int_equal(to_crossconnect_assign(c, links, 24, 4, NULL), 0);
	check_ports(c, links, 24);
	for (unsigned int i = 0; i < 24; i++) {
		assert_int_equal(links[i].a.port, 2 * links[i].ring);
		assert_int_equal(links[i].b.port, 2 * links[i].ring + 1);
	}
	to_cluster_free(c);
}

/* Links at random, as many as ports allow, few of them parallel. */
static unsigned int random_links(const struct to_cluster *c, unsigned int d, uint64_t *random,
				 struct to_link *links)
{
	bool duplex = c->link_mode == TO_LINKS_DUPLEX;
	unsigned int tx[N] = { 0 }, rx[N] = { 0 }, *in = duplex ? tx : rx, n_links = 0;

	for (unsigned int i = 0; i < 4 * c->n_servers * d; i++) {
		uint32_t a = to_random_below(random, c->n_servers);
		uint32_t b = to_random_below(random, c->n_servers);

		if (a == b || tx[a] == d || in[b] == d)
			continue;
		tx[a]++;
		in[b]++;
		links[n_links++] = (struct to_link){ .a.server = a, .b.server = b, .ring = -1 };
	}
	return n_links;
}

static bool same_ends(const struct to_link *x, const struct to_link *y, bool duplex, bool ports)
{
	for (int turn = 0; turn < 1 + duplex; turn++) {
		struct to_port_ref a = turn ? y->b : y->a, b = turn ? y->a : y->b;

		if (x->a.server == a.server && x->b.server == b.server &&
		    (!ports || (x->a.port == a.port && x->b.port == b.port)))
			return true;
	}
	return false;
}

static unsigned int count_stayed(const struct to_link *now, unsigned int n_now,
				 const struct to_link *links, unsigned int n_links, bool duplex)
{
	unsigned int stayed = 0;

	for (unsigned int i = 0; i < n_links; i++)
		for (unsigned int k = 0; k < n_now; k++)
			stayed += same_ends(&links[i], &now[k], duplex, true);
	return stayed;
}

struct choice {
	const struct to_cluster *c;
	const struct to_link *now, *links;
	unsigned int n_now, n_links, tx[N][D], rx[N][D];
	bool taken[N * D];
};

/* The most links that could stay, over all choices of switches; -1 for none. */
static int most_that_stay(struct choice *h, unsigned int at)
{
	bool duplex = h->c->link_mode == TO_LINKS_DUPLEX;
	int best = -1;

	if (at == h->n_links)
		return 0;
	for (unsigned int s = 0; s < h->c->n_switches; s++) {
		const struct to_link *l = &h->links[at];
		unsigned int *tx = &h->tx[l->a.server][s];
		unsigned int *rx = &(duplex ? h->tx : h->rx)[l->b.server][s], k;
		int more;

		if (!*tx || !*rx)
			continue;
		for (k = 0; k < h->n_now; k++) {
			struct to_port_ref a = h->now[k].a;

			if (!h->taken[k] && same_ends(l, &h->now[k], duplex, false) &&
			    h->c->servers[a.server].ports[a.port].optical_switch == (int)s)
				break;
		}
		--*tx;
		--*rx;
		if (k < h->n_now)
			h->taken[k] = true;
		more = most_that_stay(h, at + 1);
		if (more >= 0 && more + (k < h->n_now) > best)
			best = more + (k < h->n_now);
		if (k < h->n_now)
			h->taken[k] = false;
		++*tx;
		++*rx;
	}
	return best;
}

/* New links that have some of the old ones' pairs: no choice moves fewer. */
static void as_few_move_as_can(void **state)
{
	uint64_t random = 5;
	unsigned int all = 0;

	(void)state;
	for (unsigned int round = 0; round < 3000; round++) {
		enum to_link_mode mode = round % 3 ? TO_LINKS_SIMPLEX : TO_LINKS_DUPLEX;
		unsigned int n = 2 + to_random_below(&random, 4), d = 1 + to_random_below(&random, 3);
		struct to_cluster *c = to_cluster_synthetic(n, d, GBPS, mode, NULL);
		struct to_link now[N * D], links[N * D];
		struct choice h = { .c = c, .now = now, .links = links };
		struct to_error err = { "" };
		int most, ret;

		if (mode == TO_LINKS_DUPLEX && round % 2)
			spread_over(c, 1 + to_random_below(&random, d));
		h.n_now = random_links(c, d, &random, now);
		/* not all fit two duplex switches */
		while (to_crossconnect_assign(c, now, h.n_now, d, &err))
			h.n_now--;
		h.n_links = random_links(c, d, &random, links);
		for (unsigned int x = 0; x < n; x++)
			for (unsigned int q = 0; q < d; q++) {
				h.tx[x][c->servers[x].ports[q].optical_switch]++;
				h.rx[x][c->servers[x].ports[q].optical_switch]++;
			}
		ret = to_crossconnect_reassign(c, now, h.n_now, links, h.n_links, &err);
		most = most_that_stay(&h, 0);
		assert_true(ret == 0 || (ret == -ENOSPC && mode == TO_LINKS_DUPLEX));
		if (!ret) {
			check_ports(c, links, h.n_links);
			assert_int_equal(count_stayed(now, h.n_now, links, h.n_links, !mode), most);
			all += most;
		}
		to_cluster_free(c);
	}
	assert_true(all > 1000);
}

/*
 * Links that fit, by the ports they have, all get some; of others only those are
 * left out that are not needed.
 */
static void new_links_that_do_not_fit_are_left_out(void **state)
{
	unsigned int cornered = 0, left_out = 0;
	uint64_t random = 7;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		unsigned int n = 3 + to_random_below(&random, 8), d = 2 + to_random_below(&random, 3);
		struct to_cluster *c = to_cluster_synthetic(n, d, GBPS, TO_LINKS_DUPLEX, NULL);
		struct to_link now[N * D], links[N * D], again[N * D];
		unsigned int n_now, n_links, most, needed;
		struct to_error err = { "" };
		bool fits = round % 2;
		int ret;

		spread_over(c, d);
		n_now = random_links(c, d, &random, now);
		while (to_crossconnect_assign(c, now, n_now, d, &err))
			n_now--;
		most = n_links = random_links(c, d, &random, links);
		while (fits && to_crossconnect_assign(c, links, n_links, d, &err))
			most = --n_links;
		for (unsigned int i = 0; i < n_links && !fits; i++)
			links[i].a.port = links[i].b.port = TO_PORT_NONE;
		memcpy(again, links, sizeof(again));
		ret = to_crossconnect_reassign(c, now, n_now, again, n_links, &err);
		cornered += ret && fits;
		needed = fits ? n_links : to_random_below(&random, n_links < n ? n_links : n);
		memcpy(again, links, sizeof(again));
		ret = to_crossconnect_reassign_most(c, now, n_now, again, needed, &most, &err);
		assert_true(!ret || (ret == -ENOSPC && !fits));
		if (!ret) {
			assert_true(most >= needed && (!fits || most == n_links));
			check_ports(c, again, most);
			left_out += n_links - most;
			for (unsigned int i = 0; i < needed; i++)
				assert_true(same_ends(&again[i], &links[i], true, false));
		}
		to_cluster_free(c);
	}
	printf("# %u times all fit but not from where they were, %u links left out\n", cornered,
	       left_out);
	assert_true(cornered > 10 && left_out > 100);
}

/* A triangle does not fit two duplex switches. */
static void needed_links_are_not_left_out(void **state)
{
	(void)state;
	for (unsigned int needed = 0; needed <= 3; needed++) {
		struct to_cluster *c = to_cluster_synthetic(3, 2, GBPS, TO_LINKS_DUPLEX, NULL);
		unsigned int n_links = 3;
		struct to_link links[3];
		struct to_error err = { "" };

		spread_over(c, 2);
		for (unsigned int i = 0; i < 3; i++)
			links[i] = (struct to_link){ { i, TO_PORT_NONE },
						     { (i + 1) % 3, TO_PORT_NONE },
						     TO_LINK_MP, -1, -1 };
		assert_int_equal(to_crossconnect_reassign_most(c, NULL, 0, links, needed, &n_links,
							       &err), needed < 3 ? 0 : -ENOSPC);
		assert_int_equal(n_links, needed < 3 ? 2 : 3);
		if (needed < 3)
			check_ports(c, links, n_links);
		to_cluster_free(c);
	}
}

/* Hundreds of links on one switch: every pair that was linked stays, ports and all. */
static void one_switch_needs_no_search(void **state)
{
	struct to_cluster *c = to_cluster_synthetic(N, D, GBPS, TO_LINKS_DUPLEX, NULL);
	struct to_link now[N * D], links[N * D];
	unsigned int n_now, n_links, stay = 0;
	bool taken[N * D] = { 0 };
	uint64_t random = 6;

	(void)state;
	n_now = random_links(c, D, &random, now);
	n_links = random_links(c, D, &random, links);
	assert_int_equal(to_crossconnect_assign(c, now, n_now, D, NULL), 0);
	assert_int_equal(to_crossconnect_reassign(c, now, n_now, links, n_links, NULL), 0);
	check_ports(c, links, n_links);
	for (unsigned int i = 0; i < n_links; i++)
		for (unsigned int k = 0; k < n_now; k++)
			if (!taken[k] && same_ends(&links[i], &now[k], true, false)) {
				taken[k] = true;
				stay++;
				break;
			}
	assert_true(stay > 0);
	assert_int_equal(count_stayed(now, n_now, links, n_links, true), stay);
	to_cluster_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simplex_links_always_fit),
		cmocka_unit_test(duplex_rings_over_two_switches),
		cmocka_unit_test(links_make_way_at_either_end),
		cmocka_unit_test(links_that_do_not_fit_are_left_out),
		cmocka_unit_test(rings_look_alike_on_every_server),
		cmocka_unit_test(as_few_move_as_can),
		cmocka_unit_test(new_links_that_do_not_fit_are_left_out),
		cmocka_unit_test(needed_links_are_not_left_out),
		cmocka_unit_test(one_switch_needs_no_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
