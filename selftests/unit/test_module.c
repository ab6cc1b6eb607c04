// SPDX-License-Identifier: GPL-2.0-or-later
/* What a module says of itself, in words and as JSON, and what it is refused for. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel/module.h"

static const struct to_module today = { "0.1.0", 1U << TOPOOPT_FEATURE_CHECKS };
static const struct to_module lacking = { "0.0.9", 0 };
static const struct to_module silent;

static void text(void **state)
{
	char out[TO_MODULE_TEXT];

	(void)state;
	assert_string_equal(to_module_text(&today, out), "version 0.1.0, with continuity checks");
	assert_string_equal(to_module_text(&lacking, out),
			    "version 0.0.9, without continuity checks");
	assert_string_equal(to_module_text(&silent, out),
			    "an older version, without continuity checks");
}

static void require(void **state)
{
	struct to_error err = {};

	(void)state;
	assert_int_equal(to_module_require(&today, TOPOOPT_FEATURE_CHECKS, "this", &err), 0);
	assert_int_equal(to_module_require(&lacking, TOPOOPT_FEATURE_CHECKS, "this", &err),
			 -EOPNOTSUPP);
	assert_string_equal(err.text, "this needs continuity checks, which the loaded module 0.0.9 lacks: reload the module: modprobe -r topoopt_fwd; modprobe topoopt_fwd");
	assert_int_equal(to_module_require(&silent, TOPOOPT_FEATURE_CHECKS, "this", &err),
			 -EOPNOTSUPP);
	assert_string_equal(err.text, "this needs continuity checks, which the loaded module lacks: reload the module: modprobe -r topoopt_fwd; modprobe topoopt_fwd");
}

static void json_is(const struct to_module *module, const char *expected)
{
	json_t *json = to_module_json(module);
	char *out = json_dumps(json, JSON_COMPACT);

	assert_string_equal(out, expected);
	free(out);
	json_decref(json);
}

static void json(void **state)
{
	(void)state;
	json_is(&today, "{\"version\":\"0.1.0\",\"features\":[\"checks\"]}");
	json_is(&lacking, "{\"version\":\"0.0.9\",\"features\":[]}");
	json_is(&silent, "{\"version\":null,\"features\":[]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text), cmocka_unit_test(require), cmocka_unit_test(json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
