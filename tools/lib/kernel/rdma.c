// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "format/names.h"
#include "kernel/rdma.h"
#include "kernel/sysfs.h"

#define GIDS_MAX 1024

static bool rdma_gid_is(const struct in6_addr *gid, const struct to_address *address)
{
	struct in6_addr want = address->v6;

	/* IPv4 goes first: what NCCL and others take unless told otherwise */
	if (address->has_v4) {
		want = (struct in6_addr){ .s6_addr[10] = 0xff, .s6_addr[11] = 0xff };
		memcpy(&want.s6_addr[12], &address->v4, 4);
	}
	return !memcmp(gid, &want, 16);
}

/* The GID that a port has by default: link-local, from the MAC address (RFC 4291, A). */
static bool rdma_gid_is_of_mac(const struct in6_addr *gid, const uint8_t *mac)
{
	const uint8_t *id = &gid->s6_addr[8];

	return IN6_IS_ADDR_LINKLOCAL(gid) && id[0] == (mac[0] ^ 2) && id[3] == 0xff &&
	       id[4] == 0xfe && !memcmp(id + 1, mac + 1, 2) && !memcmp(id + 5, mac + 3, 3);
}

/*
 * @address: the planned one, NULL when there is no plan. RDMA devices of all network
 * namespaces may be seen here, and interfaces of the same name in them: the device is that
 * of @mac, if any is.
 */
static void rdma_read_gids(struct to_rdma_port *found, const char *device, const char *port,
			   const char *name, const uint8_t *mac, const struct to_address *address)
{
	struct in6_addr gid;
	char line[64];
	int before = -1;
	bool own, is;

	for (int i = 0; i < GIDS_MAX; i++) {
		to_sysfs_line(line, sizeof(line), "/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs/%d",
			       device, port, i);
		/* GIDs are numbered without large gaps; the rest of the table is empty. */
		if (!line[0] && i > 64)
			return;
		own = !strcmp(line, name);
		to_sysfs_line(line, sizeof(line), "/sys/class/infiniband/%s/ports/%s/gids/%d",
			       device, port, i);
		if (inet_pton(AF_INET6, line, &gid) != 1)
			continue;
		is = own && address && rdma_gid_is(&gid, address);
		if (own && (is || !found->device[0] || rdma_gid_is_of_mac(&gid, mac))) {
			snprintf(found->device, sizeof(found->device), "%.63s", device);
			snprintf(found->port, sizeof(found->port), "%.7s", port);
		}
		to_sysfs_line(line, sizeof(line), "/sys/class/infiniband/%s/ports/%s/gid_attrs/types/%d",
			       device, port, i);
		if (!address || strcmp(line, "RoCE v2"))
			continue;
		if (is) {
			found->gid = i;
			found->before = before;
			return;
		}
		if (before < 0 && IN6_IS_ADDR_V4MAPPED(&gid))
			before = i;
	}
}

/* Names in a directory of sysfs, @max at most. Return: how many. */
static unsigned int rdma_list_directory(const char *path, char names[][64], unsigned int max)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	unsigned int n = 0;

	while (dir && n < max && (entry = readdir(dir)))
		if (to_names_is_name(entry->d_name))
			snprintf(names[n++], 64, "%.63s", entry->d_name);
	if (dir)
		closedir(dir);
	return n;
}

void to_rdma_find(struct to_rdma_port *found, const char *name,
		  const struct to_address *address)
{
	char devices[64][64], ports[8][64], path[192], line[32];
	unsigned int n_devices, n_ports;
	uint8_t mac[6] = {};

	*found = (struct to_rdma_port){ .gid = -1, .before = -1 };
	to_sysfs_line(line, sizeof(line), "/sys/class/net/%s/address", name);
	sscanf(line, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4],
	       &mac[5]);
	n_devices = rdma_list_directory("/sys/class/infiniband", devices, 64);
	for (unsigned int d = 0; d < n_devices && found->gid < 0; d++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/%.63s/ports", devices[d]);
		n_ports = rdma_list_directory(path, ports, 8);
		for (unsigned int i = 0; i < n_ports && found->gid < 0; i++)
			rdma_read_gids(found, devices[d], ports[i], name, mac, address);
	}
}
