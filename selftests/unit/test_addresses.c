// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses: a subnet per cable, and whether subnets tell cables apart. */

#include <arpa/inet.h>
#include <errno.h>

#include "data/addresses.h"
#include "job.h"

#define SERVERS 4

static struct to_cluster *cluster;
static struct to_addresses_prefix prefix;

/* A ring of @n servers on cables; port eth0 of each leads to eth1 of the next. */
static void ring(unsigned int n)
{
	struct to_error err;

	cluster = to_cluster_synthetic(n, 2, 0, TO_LINKS_DUPLEX, &err);
	assert_non_null(cluster);
	cluster->n_switches = 0;
	cluster->links = calloc(n, sizeof(*cluster->links));
	assert_non_null(cluster->links);
	cluster->n_links = n;
	for (uint32_t s = 0; s < n; s++) {
		for (unsigned int q = 0; q < 2; q++)
			cluster->servers[s].ports[q].optical_switch = -1;
		cluster->links[s] = (struct to_link){ .a = { s, 0 }, .b = { (s + 1) % n, 1 } };
	}
	prefix = (struct to_addresses_prefix){};
}

static int done(void **state)
{
	(void)state;
	to_cluster_free(cluster);
	cluster = NULL;
	return 0;
}

static int number(const char *text)
{
	struct to_error err;

	if (text)
		assert_int_equal(to_addresses_prefix_parse(&prefix, text), 0);
	return to_addresses_number(cluster, &prefix, &err);
}

static int subnet(void)
{
	return to_addresses_subnet(cluster, cluster->links, cluster->n_links);
}

static void assert_address(const struct to_address *address, const char *v4, const char *v6)
{
	char text[INET6_ADDRSTRLEN];

	assert_string_equal(inet_ntop(AF_INET, &address->v4, text, sizeof(text)), v4);
	assert_string_equal(inet_ntop(AF_INET6, &address->v6, text, sizeof(text)), v6);
}

static void a_cable_is_a_subnet(void **state)
{
	(void)state;
	ring(SERVERS);
	assert_int_equal(subnet(), 0);
	assert_int_equal(number(NULL), 0);
	assert_address(&cluster->servers[2].address, "10.200.0.3", "fd00:746f::3");
	assert_address(&cluster->servers[2].ports[0].address, "10.201.3.1", "fd00:746f:0:3::1");
	assert_address(&cluster->servers[3].ports[1].address, "10.201.3.2", "fd00:746f:0:3::2");
	assert_int_equal(subnet(), 24);
}

static void the_256th_cable_makes_all_subnets_small(void **state)
{
	(void)state;
	ring(255);
	assert_int_equal(number(NULL), 0);
	assert_address(&cluster->servers[0].ports[1].address, "10.201.255.2", "fd00:746f:0:ff::2");
	assert_int_equal(subnet(), 24);
	to_cluster_free(cluster);
	ring(256);
	assert_int_equal(number(NULL), 0);
	assert_address(&cluster->servers[0].ports[0].address, "10.201.0.1", "fd00:746f:0:1::1");
	assert_address(&cluster->servers[0].ports[1].address, "10.201.3.254", "fd00:746f:0:100::2");
	assert_int_equal(subnet(), 30);
}

static void a_prefix_bounds_them(void **state)
{
	(void)state;
	ring(SERVERS);
	assert_int_equal(number("10.210.0.0/16"), 0);
	assert_address(&cluster->servers[0].address, "10.210.0.1", "fd00:746f::1");
	assert_address(&cluster->servers[1].ports[0].address, "10.210.2.1", "fd00:746f:0:2::1");
	assert_int_equal(number("192.0.2.32/27"), 0);
	assert_address(&cluster->servers[3].address, "192.0.2.36", "fd00:746f::4");
	assert_address(&cluster->servers[1].ports[0].address, "192.0.2.45", "fd00:746f:0:2::1");
	assert_int_equal(subnet(), 30);
	assert_int_equal(number("192.0.2.32/28"), -ERANGE);
}

static void a_prefix_is_one(void **state)
{
	static const char *const wrong[] = { "10.0.0.0", "10.0.0.0/7", "10.0.0.0/29", "10.0.0.1/24",
		"10.0.0.0/", "10.0.0.0/16x", "fd00::/64", "/16", "10.0.0.0.0/16", "" };

	(void)state;
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(to_addresses_prefix_parse(&prefix, wrong[i]), -EINVAL);
}

static void optical_switches_leave_addresses_by_port(void **state)
{
	(void)state;
	ring(SERVERS);
	cluster->n_switches = 1;
	assert_int_equal(number(NULL), 0);
	assert_address(&cluster->servers[2].ports[1].address, "10.202.0.3", "fd00:746f:0:2::3");
	cluster->n_switches = 0;
	assert_int_equal(subnet(), 0);
}

/* eth1 of all servers is on a packet switch, eth0 of the first two on a cable. */
static void a_packet_switch_is_a_subnet(void **state)
{
	(void)state;
	ring(SERVERS);
	cluster->packet_switches = calloc(1, sizeof(*cluster->packet_switches));
	assert_non_null(cluster->packet_switches);
	cluster->n_packet_switches = 1;
	for (uint32_t s = 0; s < SERVERS; s++)
		cluster->servers[s].ports[1].packet_switch = 1;
	cluster->n_links = 1;
	cluster->links[0].b.port = 0;
	assert_int_equal(number(NULL), 0);
	assert_address(&cluster->servers[1].ports[0].address, "10.201.1.2", "fd00:746f:0:1::2");
	assert_address(&cluster->servers[1].ports[1].address, "10.201.2.2", "fd00:746f:0:2::2");
	assert_address(&cluster->servers[3].ports[1].address, "10.201.2.4", "fd00:746f:0:2::4");
	assert_address(&cluster->servers[2].ports[0].address, "10.201.3.3", "fd00:746f:0:3::3");
	assert_int_equal(subnet(), 24);
	cluster->servers[3].ports[1].address.v4.s_addr = htonl(0x0ac90909);
	assert_int_equal(subnet(), 0);
}

static void what_mixes_cables_is_found(void **state)
{
	(void)state;
	ring(SERVERS);
	assert_int_equal(number(NULL), 0);
	/* two cables in one /24, told apart by 25 bits */
	cluster->servers[0].ports[0].address.v4.s_addr = htonl(0x0ac90281);
	cluster->servers[1].ports[1].address.v4.s_addr = htonl(0x0ac90282);
	assert_int_equal(subnet(), 25);
	/* an end that is in no subnet of others, nor in that of its cable */
	cluster->servers[1].ports[1].address.v4.s_addr = htonl(0x0ac90901);
	assert_int_equal(subnet(), 0);
	cluster->servers[1].ports[1].address.has_v4 = false;
	assert_int_equal(subnet(), 0);
	/* straight cables by index: eth0 to eth0 and eth1 to eth1 by turns */
	cluster->n_switches = 1;
	assert_int_equal(number(NULL), 0);
	cluster->n_switches = 0;
	for (uint32_t s = 0; s < SERVERS; s++)
		cluster->links[s] = (struct to_link){ .a = { s, s % 2 }, .b = { (s + 1) % 4, s % 2 } };
	assert_int_equal(subnet(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_cable_is_a_subnet, done),
		cmocka_unit_test_teardown(the_256th_cable_makes_all_subnets_small, done),
		cmocka_unit_test_teardown(a_prefix_bounds_them, done),
		cmocka_unit_test(a_prefix_is_one),
		cmocka_unit_test_teardown(optical_switches_leave_addresses_by_port, done),
		cmocka_unit_test_teardown(a_packet_switch_is_a_subnet, done),
		cmocka_unit_test_teardown(what_mixes_cables_is_found, done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
