// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands as argument vectors: the words are those that sh makes. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/argv.h"
#include "base/child.h"
#include "base/clock.h"

#define TEXTS 20000	/* made up, for the words that sh makes of them */

/* The words of @text as "[a][b c]", or the error. */
static void split(const char *text, char *out, size_t size)
{
	struct to_error err = {};
	struct to_argv argv;

	if (to_argv_split(&argv, text, &err)) {
		assert_null(argv.argv);
		snprintf(out, size, "%.500s", err.text);
		return;
	}
	assert_null(argv.argv[argv.n]);
	out[0] = '\0';
	for (unsigned int i = 0; i < argv.n; i++)
		snprintf(out + strlen(out), size - strlen(out), "[%s]", argv.argv[i]);
	to_argv_free(&argv);
}

static void splits(void **state)
{
	static const char shell[] =
		" is for a shell, and none runs the command: quote it, or use sh -c '...'";
	static const char *const cases[][2] = {
		{ "ssh {} toctl agent --stdio", "[ssh][{}][toctl][agent][--stdio]" },
		{ " \ta\t b ", "[a][b]" },
		{ "a 'b  c' d", "[a][b  c][d]" },
		{ "a \"b ' '", "a \" without another one that ends the quote" },
		{ "a 'b \"c\" \\'", "[a][b \"c\" \\]" },
		{ "a \"b \\\"c\\\" \\\\ \\$ \\` \\a\"", "[a][b \"c\" \\ $ ` \\a]" },
		{ "a\\ b \\'c \\\\ \\|", "[a b]['c][\\][|]" },
		{ "a'b'\"c\"d", "[abcd]" },
		{ "a '' \"\"", "[a][][]" },
		{ "sh -c '[ ! -e $0 ] || exit 1; exec b \"$0\" >&2' {}",
		  "[sh][-c][[ ! -e $0 ] || exit 1; exec b \"$0\" >&2][{}]" },
		{ "~ * ? [a] #b A=b é", "[~][*][?][[a]][#b][A=b][é]" },
		{ "", "expected a program and its arguments" },
		{ " \t ", "expected a program and its arguments" },
		{ "a 'b", "a ' without another one that ends the quote" },
		{ "a \"b\\\"", "a \" without another one that ends the quote" },
		{ "a \\", "a backslash at the end" },
		{ "a|b", "|" }, { "a & b", "&" }, { "a;b", ";" }, { "a <b", "<" }, { "a >b", ">" },
		{ "(a)", "(" }, { "a)", ")" }, { "$a", "$" }, { "`a`", "`" }, { "\"$a\"", "$" },
		{ "\"`a`\"", "`" }, { "a\nb", "a newline" },
	};
	char out[600], expected[300];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *want = cases[i][1];
		const bool refused = strlen(want) == 1 || !strcmp(want, "a newline");

		snprintf(expected, sizeof(expected), "%s%s", want, refused ? shell : "");
		split(cases[i][0], out, sizeof(out));
		assert_string_equal(out, expected);
	}
}

static void fills(void **state)
{
	static const char name[] = "s0'; touch x; $(id) \"`\\\n -x {}";
	struct to_argv template, argv = {};
	struct to_error err;

	(void)state;
	assert_int_equal(to_argv_split(&template, "ssh {} '{}.log {}' -- x", &err), 0);
	assert_int_equal(to_argv_fill(&argv, &template, name), 0);
	assert_int_equal(argv.n, 5);
	assert_string_equal(argv.argv[1], name);
	assert_int_equal(strlen(argv.argv[2]), 2 * strlen(name) + 5);
	assert_memory_equal(argv.argv[2], name, strlen(name));
	assert_string_equal(argv.argv[4], "x");
	assert_null(argv.argv[5]);
	to_argv_free(&argv);
	to_argv_free(&template);
}

static void quotes(void **state)
{
	static const char *const cases[][2] = {
		{ "a_B-9@%+=:,./", "a_B-9@%+=:,./" }, { "", "''" }, { "a b", "'a b'" },
		{ "a'b", "'a'\\''b'" }, { "$(id)", "'$(id)'" }, { "~", "'~'" }, { "é", "'é'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *word = to_argv_quote(cases[i][0]);

		assert_string_equal(word, cases[i][1]);
		free(word);
	}
}

/* A text of 1 to 12 pieces. */
static void make_up(char *text, uint64_t *seed)
{
	static const char *const pieces[] = {
		"a", "b", "{}", " ", " ", "\t", "'", "'", "\"", "\"", "\\", "|", ";", "$", "`", ">", "=", "-",
	};
	unsigned int n;

	text[0] = '\0';
	for (n = 1 + (*seed >> 33) % 12; n; n--) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		strcat(text, pieces[(*seed >> 33) % (sizeof(pieces) / sizeof(*pieces))]);
	}
}

/* What is split comes out of sh as it is; and what is quoted comes back from the splitter. */
static void agrees_with_sh(void **state)
{
	char *script = NULL, *expected = NULL, *output, text[64], arguments[80];
	size_t script_len, expected_len;
	FILE *sh = open_memstream(&script, &script_len);
	FILE *out = open_memstream(&expected, &expected_len);
	struct to_argv command = { (char *[]){ "sh", NULL }, 1 };
	unsigned int taken = 0;
	uint64_t seed = 1;
	struct to_error err;

	(void)state;
	for (unsigned int i = 0; i < TEXTS; i++) {
		struct to_argv argv;
		char *word;

		make_up(text, &seed);
		word = to_argv_quote(text);
		assert_int_equal(to_argv_split(&argv, word, &err), 0);
		assert_int_equal(argv.n, 1);
		assert_string_equal(argv.argv[0], text);
		to_argv_free(&argv);
		free(word);
		/* behind a word, as sh takes A=b for an assignment */
		snprintf(arguments, sizeof(arguments), "x %s", text);
		if (to_argv_split(&argv, arguments, &err))
			continue;
		taken++;
		fprintf(sh, "printf '<%%s>' %s\necho\n", arguments);
		for (unsigned int k = 0; k < argv.n; k++)
			fprintf(out, "<%s>", argv.argv[k]);
		fputc('\n', out);
		to_argv_free(&argv);
	}
	fclose(sh);
	fclose(out);
	assert_true(taken > TEXTS / 10);
	assert_int_equal(to_child_run(&command, script, 60 * TO_NS_PER_S, &output, &err), 0);
	assert_string_equal(output, expected);
	free(output);
	free(script);
	free(expected);
}

static void runs_without_a_shell(void **state)
{
	struct to_argv command;
	struct to_error err = {};
	char *output;

	(void)state;
	assert_int_equal(to_argv_split(&command, "printf '<%s>' '$(id)' \"a b\" '|cat'", &err), 0);
	assert_int_equal(to_child_run(&command, "", TO_NS_PER_S * 60, &output, &err), 0);
	assert_string_equal(output, "<$(id)><a b><|cat>");
	free(output);
	to_argv_free(&command);
	assert_int_equal(to_argv_split(&command, "/does/not/exist {}", &err), 0);
	assert_true(to_child_run(&command, "", TO_NS_PER_S * 60, &output, &err) < 0);
	assert_string_equal(err.text, "/does/not/exist: No such file or directory");
	to_argv_free(&command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits), cmocka_unit_test(fills), cmocka_unit_test(quotes),
		cmocka_unit_test(agrees_with_sh), cmocka_unit_test(runs_without_a_shell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
