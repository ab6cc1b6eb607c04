// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings that do not list the servers, as their reader has the names. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/tm_json.h"

static const char *const servers[] = { "web", "api", "db" };

static struct to_tm_names names_of(unsigned int first, unsigned int second)
{
	struct to_server list[3] = { 0 };
	struct to_cluster cluster = { .n_servers = 3, .servers = list };
	struct to_tm_names names;

	strcpy(list[0].name, servers[first]);
	strcpy(list[1].name, servers[second]);
	strcpy(list[2].name, servers[3 - first - second]);
	assert_int_equal(to_tm_names_init(&names, &cluster), 0);
	return names;
}

/* What the second server recorded, for a reader that has names with this fingerprint. */
static char *record(const char *fingerprint)
{
	struct to_tm *tm = to_tm_new(3);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (unsigned int i = 0; i < 3; i++)
		strcpy(tm->servers[i], servers[i]);
	strcpy(tm->job, "job");
	strcpy(tm->plan, "0123456789abcdef");
	tm->interval_ns = 50000000;
	tm->server = 1;
	to_tm_print(out, tm, fingerprint);
	fclose(out);
	to_tm_free(tm);
	return text;
}

static void refuse(const char *text, const struct to_tm_names *names, const char *why)
{
	struct to_error err = { "" };

	assert_null(to_tm_parse(text, strlen(text), "tm", names, &err));
	assert_non_null(strstr(err.text, why));
}

static void test_known(void **state)
{
	struct to_tm_names names = names_of(0, 1), other = names_of(1, 0);
	char *text = record(names.fingerprint);
	struct to_error err = { "" };
	struct to_tm *tm;

	(void)state;
	assert_string_not_equal(names.fingerprint, other.fingerprint);
	assert_null(strstr(text, "web"));
	tm = to_tm_parse(text, strlen(text), "tm", &names, &err);
	assert_non_null(tm);
	assert_int_equal(tm->n_servers, 3);
	assert_int_equal(tm->server, 1);
	for (unsigned int i = 0; i < 3; i++)
		assert_string_equal(tm->servers[i], servers[i]);
	to_tm_free(tm);
	refuse(text, &other, "servers: expected names, or");
	refuse(text, NULL, "servers: expected an array");
	free(text);
	to_tm_names_free(&names);
	to_tm_names_free(&other);
}

static void test_other_order(void **state)
{
	struct to_tm_names names = names_of(1, 0);
	char *text = record(names.fingerprint);
	struct to_error err = { "" };
	struct to_tm *tm = to_tm_parse(text, strlen(text), "tm", &names, &err);

	(void)state;
	/* they are listed, in the order that they have there */
	assert_non_null(tm);
	assert_string_equal(tm->servers[0], "web");
	assert_string_equal(tm->servers[tm->server], "api");
	to_tm_free(tm);
	free(text);
	to_tm_names_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_other_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
