// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets of indices: "0-5,9". */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/set.h"

#define N 12

/* @text's members as "0 1 2", or the error. */
static void parse(const char *text, char *out, size_t size)
{
	struct to_error err = {};
	uint32_t *members;
	unsigned int n;

	out[0] = '\0';
	if (to_set_parse(text, N, &members, &n, &err)) {
		snprintf(out, size, "%s", err.text);
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		snprintf(out + strlen(out), size - strlen(out), "%s%u",
			 i ? " " : "", members[i]);
	free(members);
}

static void parses(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "0", "0" },
		{ "11", "11" },
		{ "0-3", "0 1 2 3" },
		{ "5-5", "5" },
		{ "9,0-2,5", "9 0 1 2 5" },	/* the order stays */
		{ "12", "index 12 is outside 0 to 11" },
		{ "3-12", "index 12 is outside 0 to 11" },
		{ "0-4294967295", "index 4294967295 is outside 0 to 11" },
		{ "4-3", "range 4-3 runs backwards" },
		{ "1,2,1", "index 1 is there twice" },
		{ "0-5,5", "index 5 is there twice" },
		{ "all", "expected a set of indices like 0-5,9, not \"all\"" },
		{ ",", "expected a set of indices like 0-5,9, not \",\"" },
		{ "1,", "expected a set of indices like 0-5,9, not \"1,\"" },
		{ "1-", "expected a set of indices like 0-5,9, not \"1-\"" },
		{ "-1", "expected a set of indices like 0-5,9, not \"-1\"" },
		{ "1--2", "expected a set of indices like 0-5,9, not \"1--2\"" },
		{ "1 ", "expected a set of indices like 0-5,9, not \"1 \"" },
		{ "+1", "expected a set of indices like 0-5,9, not \"+1\"" },
		{ "0x1", "expected a set of indices like 0-5,9, not \"0x1\"" },
		{ "4294967296", "expected a set of indices like 0-5,9, not \"4294967296\"" },
	};
	char out[600];

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		parse(cases[i][0], out, sizeof(out));
		assert_string_equal(out, cases[i][1]);
	}
}

static void print(const uint32_t *members, unsigned int n, char **text)
{
	size_t len;
	FILE *out = open_memstream(text, &len);

	to_set_print(out, members, n);
	fclose(out);
}

static void prints(void **state)
{
	static const uint32_t order[] = { 9, 0, 1, 2, 5, 4, UINT32_MAX - 1, UINT32_MAX };
	char *text;

	(void)state;
	print(order, 8, &text);
	assert_string_equal(text, "9,0-2,5,4,4294967294-4294967295");
	free(text);
	print(order, 0, &text);
	assert_string_equal(text, "");
	free(text);
}

/* Every subset of 12 indices, and every one of them as an order. */
static void survives_the_round_trip(void **state)
{
	(void)state;
	for (unsigned int bits = 1; bits < 1 << N; bits++) {
		uint32_t members[N], *again;
		unsigned int n = 0, n_again;
		char *text;

		for (unsigned int i = 0; i < N; i++)
			if (bits >> (i * 5 % N) & 1)
				members[n++] = i * 5 % N;
		print(members, n, &text);
		assert_int_equal(to_set_parse(text, N, &again, &n_again, NULL), 0);
		assert_int_equal(n, n_again);
		assert_memory_equal(members, again, n * sizeof(*members));
		free(again);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses),
		cmocka_unit_test(prints),
		cmocka_unit_test(survives_the_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
