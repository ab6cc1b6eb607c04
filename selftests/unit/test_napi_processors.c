// SPDX-License-Identifier: GPL-2.0-or-later
/* Which processors may send by XDP, and drivers to which that matters. */

#include "job.h"
#include "kernel/napi_processors.h"
#include "kernel/nic_driver.h"

static void the_last_of_a_list(void **state)
{
	(void)state;
	assert_int_equal(to_napi_processors_last("0"), 0);
	assert_int_equal(to_napi_processors_last("0-3"), 3);
	assert_int_equal(to_napi_processors_last("0-3,8"), 8);
	assert_int_equal(to_napi_processors_last("2,64-127\n"), 127);
	assert_int_equal(to_napi_processors_last(""), 0);
	assert_int_equal(to_napi_processors_last("\n"), 0);
}

static void any_processor_serves_what_has_no_interrupts(void **state)
{
	(void)state;
	assert_int_equal(to_napi_processors_highest("lo"), to_napi_processors_highest("none"));
}

static void drivers_with_a_queue_for_each_channel(void **state)
{
	(void)state;
	assert_true(to_nic_driver_numbered("mlx5_core"));
	assert_true(to_nic_driver_numbered("i40e"));
	assert_true(to_nic_driver_numbered("topoopt_nic"));
	assert_false(to_nic_driver_numbered("ice"));
	assert_false(to_nic_driver_numbered("veth"));
	assert_false(to_nic_driver_numbered(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_of_a_list),
		cmocka_unit_test(any_processor_serves_what_has_no_interrupts),
		cmocka_unit_test(drivers_with_a_queue_for_each_channel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
