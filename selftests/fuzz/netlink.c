// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on what toctl reads from the kernel: the input is what a socket
 * receives, after two bytes that say who reads it and in which pieces.
 */

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/check.h"
#include "kernel/genl.h"
#include "measure/counters.h"
#include "switch/switch_driver.h"

/*
 * The kernel's side: messages that are left, all at once or one by one, and
 * the sequence numbers of what was asked.
 */
static struct {
	const uint8_t *at;
	size_t len;
	bool together;
	uint32_t first_seq, n_seq;
} kernel;

struct mnl_socket *__wrap_mnl_socket_open2(int bus, int flags)
{
	(void)bus;
	(void)flags;
	return (void *)&kernel;
}

int __wrap_mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid)
{
	(void)nl;
	(void)groups;
	(void)pid;
	return 0;
}

int __wrap_mnl_socket_close(struct mnl_socket *nl)
{
	(void)nl;
	return 0;
}

unsigned int __wrap_mnl_socket_get_portid(const struct mnl_socket *nl)
{
	(void)nl;
	return 1;
}

int __wrap_mnl_socket_get_fd(const struct mnl_socket *nl)
{
	(void)nl;
	return -1;
}

int __wrap_mnl_socket_setsockopt(const struct mnl_socket *nl, int type, void *buf, socklen_t len)
{
	(void)nl;
	(void)type;
	(void)buf;
	(void)len;
	return 0;
}

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *buf, size_t size)
{
	const struct nlmsghdr *nlh = buf;
	int left = size;

	(void)nl;
	kernel.first_seq = nlh->nlmsg_seq;
	for (kernel.n_seq = 0; mnl_nlmsg_ok(nlh, left); kernel.n_seq++)
		nlh = mnl_nlmsg_next(nlh, &left);
	return size;
}

static ssize_t receive(void *buf, size_t size, int when_empty)
{
	size_t len = kernel.len < size ? kernel.len : size;
	struct nlmsghdr *nlh = buf;
	int left;

	if (!kernel.len) {
		errno = when_empty;
		return -1;
	}
	if (!kernel.together && len >= sizeof(*nlh)) {
		uint32_t one;

		memcpy(&one, kernel.at + offsetof(struct nlmsghdr, nlmsg_len), sizeof(one));
		if (one && one <= len - NLMSG_ALIGNTO)
			len = NLMSG_ALIGN(one);
	}
	memcpy(buf, kernel.at, len);
	kernel.at += len;
	kernel.len -= len;
	/* it answers what it was asked */
	left = len;
	for (; mnl_nlmsg_ok(nlh, left) && nlh->nlmsg_len <= len;
	     nlh = mnl_nlmsg_next(nlh, &left))
		nlh->nlmsg_seq = kernel.first_seq +
				 nlh->nlmsg_seq % (kernel.n_seq ? kernel.n_seq : 1);
	return len;
}

ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
{
	(void)nl;
	return receive(buf, size, EIO);
}

ssize_t __wrap_recv(int fd, void *buf, size_t size, int flags)
{
	(void)fd;
	(void)flags;
	return receive(buf, size, EAGAIN);
}

/* The optical switch of the lab is a network namespace. */
int __wrap_open(const char *path, int flags, ...)
{
	(void)path;
	(void)flags;
	return dup(0);
}

int __wrap_setns(int fd, int type)
{
	(void)fd;
	(void)type;
	return 0;
}

/* The readers */

static void read_nics(struct to_netlink *nl, struct to_error *err)
{
	struct to_nic *nics;
	unsigned int n;

	if (!to_rtnl_nics(nl, &nics, &n, err))
		free(nics);
}

static void read_entries(struct to_netlink *nl, struct to_error *err)
{
	struct to_entries own = {}, foreign = {};
	char text[256];

	if (!to_rtnl_entries(nl, &own, &foreign, err)) {
		to_entries_sort(&own);
		for (unsigned int i = 0; i < own.n; i++)
			to_entry_text(&own.items[i], "eth0", text, sizeof(text));
	}
	to_entries_free(&own);
	to_entries_free(&foreign);
}

static void change_entries(struct to_netlink *nl, struct to_error *err)
{
	struct to_change changes[3] = {};

	for (unsigned int i = 0; i < 3; i++) {
		changes[i].verb = i;
		changes[i].entry.kind = i;
		changes[i].entry.family = AF_INET;
		changes[i].old = changes[i].entry;
	}
	if (to_rtnl_change(nl, changes, 3, err))
		to_rtnl_undo(nl, changes, 3);
}

static void read_counters(struct to_netlink *nl, struct to_error *err)
{
	const uint32_t ifindex = 1;
	struct to_counters *counters = to_counters_open(nl, &ifindex, 1, NULL, err);
	struct to_tm_counters values;

	to_counters_read(counters, &values, err);
	to_counters_close(counters);
}

static void with_rtnl(void (*read)(struct to_netlink *nl, struct to_error *err),
		      struct to_error *err)
{
	struct to_netlink nl;

	if (to_netlink_open(&nl, NETLINK_ROUTE, err))
		return;
	read(&nl, err);
	to_netlink_close(&nl);
}

static void read_device(struct to_genl *genl, struct to_error *err)
{
	struct to_device device;
	uint64_t generation = 0;

	if (!to_genl_device(genl, 1, &device, err))
		to_genl_commit(genl, 1, device.generation, &generation, err);
}

static void read_ports(struct to_genl *genl, struct to_error *err)
{
	struct to_kernel_port *ports;
	unsigned int n;

	if (!to_genl_ports(genl, 1, &ports, &n, err))
		free(ports);
}

static void read_table(struct to_genl *genl, struct to_error *err)
{
	struct to_kernel_table table;

	if (!to_genl_table(genl, 1, false, &table, err))
		to_kernel_table_free(&table);
}

static void read_route(struct to_genl *genl, struct to_error *err)
{
	struct to_kernel_route route = { .family = AF_INET, .dst = { 10, 0, 0, 1 } };
	struct to_kernel_group group = {};
	uint64_t generation;

	if (!to_genl_route(genl, 1, &route, &group, &generation, err))
		free(group.nexthops);
}

static void with_genl(void (*read)(struct to_genl *genl, struct to_error *err),
		      struct to_error *err)
{
	struct to_genl genl;

	if (to_genl_open(&genl, err))
		return;
	read(&genl, err);
	to_genl_close(&genl);
}

static void read_chains(void)
{
	struct to_check_view view = { .ports = { "eth0" }, .n_ports = 1 };
	struct to_checks checks = {};

	to_check_netfilter(&checks, &view);
	to_checks_free(&checks);
}

static void read_switch(struct to_error *err)
{
	struct to_optical_switch optical = { .name = "ocs", .n_ports = 8 };
	struct to_switch sw = { .optical = &optical, .driver = &to_switch_netns };
	struct to_circuits pairs = {};

	if (!to_switch_netns.open(&sw, err))
		to_switch_netns.read(&sw, &pairs, err);
	free(pairs.circuit);
	to_switch_netns.close(&sw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct to_error err = {};

	if (len < 2)
		return 0;
	kernel.at = data + 2;
	kernel.len = len - 2;
	kernel.together = data[1] & 1;
	switch (data[0] % 10) {
	case 0: with_rtnl(read_nics, &err); break;
	case 1: with_rtnl(read_entries, &err); break;
	case 2: with_rtnl(change_entries, &err); break;
	case 3: with_rtnl(read_counters, &err); break;
	case 4: with_genl(read_device, &err); break;
	case 5: with_genl(read_ports, &err); break;
	case 6: with_genl(read_table, &err); break;
	case 7: with_genl(read_route, &err); break;
	case 8: read_chains(); break;
	case 9: read_switch(&err); break;
	}
	return 0;
}
