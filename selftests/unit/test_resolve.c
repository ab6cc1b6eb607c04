// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding the ports of a server among the interfaces of its host:
 *
 *	eth0	a port as most are
 *	eth1	relays only; transmits through eth1r, which has the RDMA MAC
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/resolve.h"

enum { TOPO0 = 5, TOPO1 = 6, BRIDGE = 7, ETH0 = 10, ETH1 = 11, ETH1R = 12 };

static struct to_port ports[] = {
	{ .name = "eth0", .mac = { 2, 0, 0, 0, 0, 1 }, .relay_mac = { 2, 0, 0, 0, 0, 1 } },
	{ .name = "eth1", .mac = { 2, 0, 0, 0, 0, 3 }, .relay_mac = { 2, 0, 0, 0, 0, 2 },
	  .transmit = "eth1r" },
};

static const struct to_server server = { .name = "s0", .n_ports = 2, .ports = ports };

static const struct to_nic host[] = {
	{ .ifindex = TOPO0, .name = "topo0", .kind = "topoopt" },
	{ .ifindex = TOPO1, .name = "topo1", .kind = "topoopt", .owner = TOPO1 },
	{ .ifindex = BRIDGE, .name = "br0", .kind = "bridge" },
	{ .ifindex = ETH1R, .name = "eth1r", .mac = { 2, 0, 0, 0, 0, 3 } },
	{ .ifindex = ETH1, .name = "eth1", .mac = { 2, 0, 0, 0, 0, 2 }, .master = TOPO0 },
	{ .ifindex = ETH0, .name = "eth0", .mac = { 2, 0, 0, 0, 0, 1 } },
};

#define N_HOST (sizeof(host) / sizeof(*host))

/* A host that a test may change. */
struct fixture {
	struct to_nic nics[N_HOST];
	struct to_interfaces found;
	struct to_error err;
};

static void new_host(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	memcpy(f->nics, host, sizeof(host));
	f->found.nics = f->nics;
	f->found.n_nics = N_HOST;
	f->found.device = TOPO0;
}

static struct to_nic *nic(struct fixture *f, uint32_t ifindex)
{
	return (struct to_nic *)to_rtnl_nic_by_index(f->nics, N_HOST, ifindex);
}

/* On a plan in which all ports of @of are on links, or none is. */
static int resolve(struct to_interfaces *found, const struct to_server *of, bool linked,
		   struct to_error *err)
{
	struct to_server servers[] = { *of, { .name = "s1" } };
	struct to_link links[] = { { .a = { 0, 0 }, .b = { 1, 0 } }, { .a = { 0, 1 }, .b = { 1, 1 } } };
	struct to_cluster cluster = {
		.n_servers = 2, .servers = servers, .n_links = linked ? 2 : 0, .links = links };
	const struct to_plan plan = { .cluster = &cluster };

	return to_resolve_ports(found, &plan, 0, err);
}

static void expect_refused(struct fixture *f, int code, const char *text)
{
	assert_int_equal(resolve(&f->found, &server, true, &f->err), code);
	assert_string_equal(f->err.text, text);
}

static void test_ports(void **state)
{
	struct fixture f;

	(void)state;
	new_host(&f);
	assert_int_equal(resolve(&f.found, &server, true, &f.err), 0);
	assert_int_equal(f.found.port[0], ETH0);
	assert_int_equal(f.found.transmit[0], ETH0);
	assert_int_equal(f.found.rdma[0], ETH0);
	assert_int_equal(f.found.port[1], ETH1);
	assert_int_equal(f.found.transmit[1], ETH1R);
	assert_int_equal(f.found.rdma[1], ETH1R);
}

static void test_missing(void **state)
{
	struct fixture f;

	(void)state;
	new_host(&f);
	strcpy(nic(&f, ETH0)->name, "ens1");
	expect_refused(&f, -ENODEV, "server s0: port eth0: no such interface here");
	new_host(&f);
	strcpy(nic(&f, ETH1R)->name, "ens1");
	expect_refused(&f, -ENODEV,
		       "server s0: port eth1: no interface eth1r to transmit through");
}

static void test_macs(void **state)
{
	struct fixture f;

	(void)state;
	new_host(&f);
	nic(&f, ETH0)->mac[5] = 9;
	expect_refused(&f, -EINVAL, "server s0: port eth0: interface eth0 has MAC 02:00:00:00:00:09, the plan's mac is 02:00:00:00:00:01");
	new_host(&f);
	nic(&f, ETH1)->mac[5] = 9;
	expect_refused(&f, -EINVAL, "server s0: port eth1: interface eth1 has MAC 02:00:00:00:00:09, the plan's relay_mac is 02:00:00:00:00:02");
	new_host(&f);
	nic(&f, ETH1R)->mac[5] = 9;
	expect_refused(&f, -EINVAL, "server s0: port eth1: interface eth1r has MAC 02:00:00:00:00:09, the plan's mac is 02:00:00:00:00:03");
}

/* A relay MAC says that there are two interfaces; the plan must name the other. */
static void test_no_transmit(void **state)
{
	struct to_port port = ports[1];
	const struct to_server without = { .name = "s0", .n_ports = 1, .ports = &port };
	struct fixture f;

	(void)state;
	new_host(&f);
	port.transmit[0] = '\0';
	assert_int_equal(resolve(&f.found, &without, true, &f.err), -EINVAL);
	assert_non_null(strstr(f.err.text, "but no \"transmit\""));
}

/* A NIC that is gone is none of a plan that has no link on it; the others are found. */
static void test_gone(void **state)
{
	struct fixture f;

	(void)state;
	new_host(&f);
	nic(&f, ETH0)->mac[5] ^= 1;
	assert_int_equal(resolve(&f.found, &server, true, &f.err), -EINVAL);
	assert_int_equal(resolve(&f.found, &server, false, &f.err), 0);
	assert_int_equal(f.found.port[0], 0);
	assert_int_equal(f.found.transmit[0], 0);
	assert_int_equal(f.found.rdma[0], 0);
	assert_int_equal(f.found.port[1], ETH1);
}

static void test_taken(void **state)
{
	struct fixture f;

	(void)state;
	new_host(&f);
	nic(&f, ETH0)->master = BRIDGE;
	expect_refused(&f, -EBUSY, "server s0: port eth0 belongs to br0 already");

	/* Before the device is made, a port of another one is no less taken. */
	new_host(&f);
	f.found.device = 0;
	expect_refused(&f, -EBUSY, "server s0: port eth1 belongs to topo0 already");

	new_host(&f);
	nic(&f, ETH0)->owner = TOPO1;
	expect_refused(&f, -EBUSY, "server s0: port eth0: topo1 transmits through eth0 already");
	new_host(&f);
	nic(&f, ETH1R)->owner = TOPO1;
	expect_refused(&f, -EBUSY, "server s0: port eth1: topo1 transmits through eth1r already");
}

/* Entries of another topoopt device stay; those of nobody's interface go. */
static void test_entries(void **state)
{
	struct to_entry items[] = {
		{ .kind = TO_ENTRY_ADDRESS, .ifindex = TOPO0 },
		{ .kind = TO_ENTRY_ADDRESS, .ifindex = TOPO1 },
		{ .kind = TO_ENTRY_RULE, .table = TO_RTNL_TABLE(TOPO1) },
		{ .kind = TO_ENTRY_RULE, .table = TO_RTNL_TABLE(ETH0) },
		{ .kind = TO_ENTRY_ROUTE, .ifindex = 99 },
	};
	struct to_entries entries = { items, 5, 5 };
	struct fixture f;

	(void)state;
	new_host(&f);
	to_resolve_entries(&f.found, &entries);
	assert_int_equal(entries.n, 3);
	assert_int_equal(items[0].ifindex, TOPO0);
	assert_int_equal(items[1].table, TO_RTNL_TABLE(ETH0));
	assert_int_equal(items[2].ifindex, 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_macs),
		cmocka_unit_test(test_no_transmit),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
