// SPDX-License-Identifier: GPL-2.0-or-later
/* What the closed loop's log says of NICs whose counters stand still. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "control/stale_log.h"

/* Each change is said once, with all ports. */
static void test_changes(void **state)
{
	struct to_tm_end ends[] = { { 0, "eth1" }, { 1, "eth0" } };
	char path[] = "/tmp/test_stale_log.XXXXXX", text[4096];
	char names[2][TO_NAME_MAX] = { "s0", "s1" };
	struct to_tm tm = { .n_servers = 2, .servers = names, .stale = ends };
	const int fd = mkstemp(path);
	struct to_error err = { 0 };
	struct to_run_log log;
	unsigned int n = 0;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(to_run_log_open(&log, path, true, &err), 0);
	to_stale_log(&log, &tm, &n);
	tm.n_stale = 1;
	to_stale_log(&log, &tm, &n);
	to_stale_log(&log, &tm, &n);
	tm.n_stale = 2;
	to_stale_log(&log, &tm, &n);
	tm.n_stale = 0;
	to_stale_log(&log, &tm, &n);
	to_run_log_close(&log);
	text[read(fd, text, sizeof(text) - 1)] = '\0';
	close(fd);
	unlink(path);

	/* three changes, each said once */
	for (int i = 0; i < 3; i++) {
		static const char *const ports[] = { "[\"s0:eth1\"]",
						     "[\"s0:eth1\",\"s1:eth0\"]", "[]" };
		char *at = strstr(text, "\"event\":\"stale\"");

		assert_non_null(at);
		memset(at, ' ', 1);
		at = strstr(at, "\"ports\":");
		assert_non_null(at);
		assert_memory_equal(at + 8, ports[i], strlen(ports[i]));
	}
	assert_null(strstr(text, "\"event\":\"stale\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_changes) };

	return cmocka_run_group_tests_name("stale_log", tests, NULL, NULL);
}
