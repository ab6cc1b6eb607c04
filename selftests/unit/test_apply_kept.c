// SPDX-License-Identifier: GPL-2.0-or-later
/* What an agent keeps from one table to the next, and when it does not trust it. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <libmnl/libmnl.h>

#include "kernel/apply_kept.h"

static unsigned int opened, closed;
static bool refuse;

int __wrap_to_genl_open(struct to_genl *genl, struct to_error *err);
int __wrap_to_genl_open(struct to_genl *genl, struct to_error *err)
{
	(void)genl;
	opened++;
	return refuse ? to_error_set(err, -ENOENT, "no module") : 0;
}

void __wrap_to_genl_close(struct to_genl *genl);
void __wrap_to_genl_close(struct to_genl *genl)
{
	(void)genl;
	closed++;
}

static struct to_entries one_entry(void)
{
	struct to_entries entries = { 0 };

	assert_non_null(to_entries_add(&entries));
	return entries;
}

/* A socket that failed is replaced by the call after that, and nobody has to know. */
static void test_socket(void **state)
{
	struct to_apply_kept kept = { 0 };
	struct to_error err = { "" };
	struct mnl_socket *first;
	struct to_nic *nics;
	unsigned int n = 0;

	(void)state;
	assert_int_equal(to_apply_kept_route(&kept, &err), 0);
	first = kept.rt.socket;
	assert_int_equal(to_rtnl_nics(&kept.rt, &nics, &n, &err), 0);
	free(nics);
	assert_int_equal(to_apply_kept_route(&kept, &err), 0);
	assert_ptr_equal(kept.rt.socket, first);

	close(mnl_socket_get_fd(first));
	assert_int_not_equal(to_rtnl_nics(&kept.rt, &nics, &n, &err), 0);
	assert_true(n > 0);
	n = 0;
	assert_int_equal(to_apply_kept_route(&kept, &err), 0);
	assert_int_equal(to_rtnl_nics(&kept.rt, &nics, &n, &err), 0);
	assert_true(n > 0);
	free(nics);
	to_apply_kept_close(&kept);
	assert_null(kept.rt.socket);
}

/* Another device may be of a module that was loaded anew: nothing of the former holds. */
static void test_device(void **state)
{
	const struct to_device device = { .ifindex = 7, .generation = 3 };
	struct to_kernel_table table = { .generation = 3 };
	struct to_apply_kept kept = { 0 };
	struct to_error err = { "" };

	(void)state;
	opened = closed = 0;
	assert_int_equal(to_apply_kept_device(&kept, 7, &err), 0);
	to_apply_kept_give(&kept, &table);
	assert_int_equal(to_apply_kept_device(&kept, 7, &err), 0);
	assert_int_equal(opened, 1);
	assert_int_equal(to_apply_kept_device(&kept, 8, &err), 0);
	assert_int_equal(opened, 2);
	assert_int_equal(closed, 2);

	refuse = true;
	assert_int_equal(to_apply_kept_device(&kept, 7, &err), -ENOENT);
	refuse = false;
	assert_int_equal(to_apply_kept_device(&kept, 7, &err), 0);
	assert_int_equal(opened, 4);
	assert_false(to_apply_kept_take(&kept, &device, &table));
	to_apply_kept_close(&kept);
}

/* The table is given once, under the generation that it had. */
static void test_table(void **state)
{
	struct to_device device = { .ifindex = 7, .generation = 4 };
	struct to_kernel_table table = { .generation = 3 }, got = { 0 };
	struct to_apply_kept kept = { 0 };
	struct to_error err = { "" };

	(void)state;
	assert_int_equal(to_apply_kept_device(&kept, 7, &err), 0);
	to_apply_kept_give(&kept, &table);
	assert_false(to_apply_kept_take(&kept, &device, &got));
	device.generation = 3;
	assert_true(to_apply_kept_take(&kept, &device, &got));
	assert_int_equal(got.generation, 3);
	assert_false(to_apply_kept_take(&kept, &device, &got));
	to_apply_kept_close(&kept);
}

/* Entries are not read again in a further step of a change, and only there. */
static void test_entries(void **state)
{
	struct to_device device = { .ifindex = 7, .generation = 3 };
	struct to_entries own = one_entry(), foreign = one_entry();
	struct to_apply_kept kept = { 0 };
	struct to_error err = { "" };

	(void)state;
	assert_int_equal(to_apply_kept_device(&kept, 7, &err), 0);
	to_apply_kept_leave(&kept, 3, &own, &foreign);
	assert_null(own.items);
	assert_false(to_apply_kept_entries(&kept, &device, &own, &foreign));
	kept.further = true;
	device.generation = 4;
	assert_false(to_apply_kept_entries(&kept, &device, &own, &foreign));
	device.generation = 3;
	device.ifindex = 8;
	assert_false(to_apply_kept_entries(&kept, &device, &own, &foreign));
	device.ifindex = 7;
	assert_true(to_apply_kept_entries(&kept, &device, &own, &foreign));
	assert_int_equal(own.n, 1);
	assert_int_equal(foreign.n, 1);
	to_entries_free(&own);
	to_entries_free(&foreign);
	assert_false(to_apply_kept_entries(&kept, &device, &own, &foreign));
	to_apply_kept_close(&kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_socket),
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
