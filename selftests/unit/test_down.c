// SPDX-License-Identifier: GPL-2.0-or-later
/* Words for ports and servers that are down, and the links that go dark with them. */

#include "job.h"

#include <errno.h>

#include "data/down.h"

static struct to_cluster *triangle(enum to_link_mode mode)
{
	static const struct to_link links[] = {
		{ .a = { 0, 0 }, .b = { 1, 1 } },
		{ .a = { 1, 0 }, .b = { 2, 1 } },
		{ .a = { 2, 0 }, .b = { 0, 1 } },
	};
	struct to_error err = { 0 };
	struct to_cluster *c = to_cluster_synthetic(3, 2, 0, mode, &err);

	assert_non_null(c);
	free(c->links);
	c->links = malloc(sizeof(links));
	assert_non_null(c->links);
	memcpy(c->links, links, sizeof(links));
	c->n_links = 3;
	return c;
}

static void check_links(const struct to_down *down, bool a, bool b, bool c)
{
	assert_int_equal(down->links[0], a);
	assert_int_equal(down->links[1], b);
	assert_int_equal(down->links[2], c);
	assert_int_equal(down->n_dark, a + b + c);
}

static void test_port_and_server(void **state)
{
	(void)state;
	for (int mode = TO_LINKS_DUPLEX; mode <= TO_LINKS_SIMPLEX; mode++) {
		struct to_cluster *c = triangle(mode);
		char text[TO_DOWN_NAME_MAX];
		struct to_error err = { 0 };
		struct to_down down;

		assert_int_equal(to_down_init(&down, c), 0);
		check_links(&down, false, false, false);
		/* either end darkens the link, and only this link */
		assert_int_equal(to_down_parse(&down, c, "s1:eth1", &err), 0);
		check_links(&down, true, false, false);
		assert_true(to_down_has(&down, (struct to_port_ref){ 1, 1 }));
		assert_false(to_down_has(&down, (struct to_port_ref){ 0, 0 }));
		assert_false(to_down_has(&down, (struct to_port_ref){ 1, 0 }));
		assert_false(down.servers[1]);
		/* the same again, and the other end of the same link */
		assert_int_equal(to_down_parse(&down, c, "s1:eth1", &err), 0);
		assert_int_equal(down.n, 1);
		assert_int_equal(to_down_parse(&down, c, "s0:eth0", &err), 0);
		check_links(&down, true, false, false);
		assert_int_equal(to_down_parse(&down, c, "s2", &err), 0);
		check_links(&down, true, true, true);
		assert_true(down.servers[2]);
		assert_int_equal(to_down_parse(&down, c, "s2:eth1", &err), 0);
		assert_int_equal(down.n, 3);
		assert_string_equal(to_down_name(c, down.list[0], text), "s1:eth1");
		assert_string_equal(to_down_name(c, down.list[2], text), "s2");
		to_down_free(&down);
		to_cluster_free(c);
	}
}

static void test_unknown_names(void **state)
{
	static const char *const words[][2] = {
		{ "s3", "no server is called \"s3\"" },
		{ "s3:eth0", "no server is called \"s3\"" },
		{ "", "no server is called \"\"" },
		{ ":eth0", "no server is called \"\"" },
		{ "s0:", "server \"s0\" has no port \"\"" },
		{ "s0:eth2", "server \"s0\" has no port \"eth2\"" },
		{ "s0:eth0:", "server \"s0\" has no port \"eth0:\"" },
		{ "s0 ", "no server is called \"s0 \"" },
	};
	struct to_cluster *c = triangle(TO_LINKS_DUPLEX);
	struct to_error err;
	struct to_down down;
	char longest[600];

	(void)state;
	assert_int_equal(to_down_init(&down, c), 0);
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		assert_int_equal(to_down_parse(&down, c, words[i][0], &err), -ENOENT);
		assert_string_equal(err.text, words[i][1]);
	}
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(to_down_parse(&down, c, longest, &err), -ENOENT);
	memcpy(longest, "s0:", 3);
	assert_int_equal(to_down_parse(&down, c, longest, &err), -ENOENT);
	assert_int_equal(down.n, 0);
	check_links(&down, false, false, false);
	to_down_free(&down);
	to_cluster_free(c);
}

/* A word of the command line names a cable; a plan names the functions that are down. */
static void test_shared_cable(void **state)
{
	struct to_cluster *c = triangle(TO_LINKS_DUPLEX);
	const char *const words[] = { "s0:eth1", "s2:eth0" };
	struct to_error err = { 0 };
	struct to_down down;

	(void)state;
	for (unsigned int q = 0; q < 2; q++)
		strcpy(c->servers[0].ports[q].cable, "p0");
	assert_int_equal(to_down_init(&down, c), 0);
	assert_int_equal(to_down_parse(&down, c, "s0:eth1", &err), 0);
	check_links(&down, false, false, true);
	/* the other function keeps the light */
	assert_false(to_down_cuts(&down, c, (struct to_port_ref){ 0, 1 }));
	assert_false(to_down_cuts(&down, c, (struct to_port_ref){ 0, 0 }));
	assert_int_equal(to_down_parse(&down, c, "s0:eth0", &err), 0);
	assert_int_equal(down.n, 2);
	assert_true(to_down_cuts(&down, c, (struct to_port_ref){ 0, 1 }));
	/* a cable of one function is dark with it */
	assert_int_equal(to_down_parse(&down, c, "s2:eth0", &err), 0);
	assert_true(to_down_cuts(&down, c, (struct to_port_ref){ 2, 0 }));
	assert_false(to_down_cuts(&down, c, (struct to_port_ref){ 2, 1 }));
	to_down_free(&down);

	assert_int_equal(to_down_parse_all(&down, c, words, 2, "plan", &err), 0);
	assert_int_equal(down.n, 3);
	check_links(&down, true, false, true);
	assert_int_equal(down.list[0].port, 1);
	assert_int_equal(down.list[1].server, 0);
	assert_int_equal(down.list[1].port, 0);
	assert_int_equal(down.list[2].server, 2);
	to_down_free(&down);
	to_cluster_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port_and_server),
		cmocka_unit_test(test_unknown_names),
		cmocka_unit_test(test_shared_cable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
