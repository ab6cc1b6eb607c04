// SPDX-License-Identifier: GPL-2.0-or-later
/* Rates of PCIe links from what sysfs says. */

#include "job.h"
#include "kernel/hardware.h"

static void rates_are_those_after_line_coding(void **state)
{
	(void)state;
	assert_int_equal(to_hardware_link_rate("2.5 GT/s PCIe", "1"), 2000000000);
	assert_int_equal(to_hardware_link_rate("5.0 GT/s PCIe", "8"), 32000000000);
	assert_int_equal(to_hardware_link_rate("16.0 GT/s PCIe", "16"), 252061538461);
	assert_int_equal(to_hardware_link_rate("32.0 GT/s PCIe", "4"), 126030769230);
	assert_int_equal(to_hardware_link_rate("64.0 GT/s PCIe", "16"), 968000000000);
}

static void what_is_unknown_is_no_rate(void **state)
{
	(void)state;
	assert_int_equal(to_hardware_link_rate("Unknown", "4"), 0);
	assert_int_equal(to_hardware_link_rate("", ""), 0);
	assert_int_equal(to_hardware_link_rate("8.0 GT/s PCIe", "0"), 0);
	assert_int_equal(to_hardware_link_rate("8.0 GT/s PCIe", "255"), 0);
}

static void an_interface_without_hardware_has_none(void **state)
{
	struct to_hardware hardware;

	(void)state;
	to_hardware_read(&hardware, "lo");
	assert_string_equal(hardware.pci, "");
	assert_int_equal(hardware.n_links, 0);
	assert_false(to_hardware_takes_roce("none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_those_after_line_coding),
		cmocka_unit_test(what_is_unknown_is_no_rate),
		cmocka_unit_test(an_interface_without_hardware_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
