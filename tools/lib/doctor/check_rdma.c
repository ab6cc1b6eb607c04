// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the RDMA devices behind the ports. */

#include <arpa/inet.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "doctor/check.h"

#define GIDS_MAX 1024

/**
 * struct rdma_port - port of an RDMA device
 * @device: "" when there is none
 * @gid: the one that is RoCEv2 with the planned address, -1 when there is none
 * @before: one before it that is RoCEv2 of IPv4, too, -1 when there is none
 */
struct rdma_port {
	char device[64], port[8];
	int gid, before;
};

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

/* @address: the planned one, NULL when there is no plan. */
static void rdma_read_gids(struct rdma_port *found, const char *device, const char *port,
			   const char *name, const struct to_address *address)
{
	struct in6_addr gid;
	char line[64];
	int before = -1;
	bool own;

	for (int i = 0; i < GIDS_MAX; i++) {
		to_check_sysfs(line, sizeof(line), "/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs/%d",
			       device, port, i);
		/* GIDs are numbered without large gaps; the rest of the table is empty. */
		if (!line[0] && i > 64)
			return;
		own = !strcmp(line, name);
		if (own) {
			snprintf(found->device, sizeof(found->device), "%.63s", device);
			snprintf(found->port, sizeof(found->port), "%.7s", port);
		}
		to_check_sysfs(line, sizeof(line), "/sys/class/infiniband/%s/ports/%s/gid_attrs/types/%d",
			       device, port, i);
		if (!address || strcmp(line, "RoCE v2"))
			continue;
		to_check_sysfs(line, sizeof(line), "/sys/class/infiniband/%s/ports/%s/gids/%d",
			       device, port, i);
		if (inet_pton(AF_INET6, line, &gid) != 1)
			continue;
		if (own && rdma_gid_is(&gid, address)) {
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
		if (entry->d_name[0] != '.')
			snprintf(names[n++], 64, "%.63s", entry->d_name);
	if (dir)
		closedir(dir);
	return n;
}

/* The RDMA device of interface @name. */
static void rdma_find(struct rdma_port *found, const char *name, const struct to_address *address)
{
	char devices[64][64], ports[8][64], path[192];
	unsigned int n_devices, n_ports;

	*found = (struct rdma_port){ .gid = -1, .before = -1 };
	n_devices = rdma_list_directory("/sys/class/infiniband", devices, 64);
	for (unsigned int d = 0; d < n_devices && found->gid < 0; d++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/%.63s/ports", devices[d]);
		n_ports = rdma_list_directory(path, ports, 8);
		for (unsigned int i = 0; i < n_ports && found->gid < 0; i++)
			rdma_read_gids(found, devices[d], ports[i], name, address);
	}
}

static void rdma_check_gid(struct to_checks *checks, const char *name,
			   const struct rdma_port *rdma)
{
	char fix[200];

	if (rdma->gid >= 0 && rdma->before >= 0) {
		snprintf(fix, sizeof(fix), "set NCCL_IB_GID_INDEX=%d UCX_IB_GID_INDEX=%d, or load the RDMA driver again",
			 rdma->gid, rdma->gid);
		to_check_add(checks, TO_CHECK_WARN, "gid", name, fix,
			     "%s has the RoCEv2 GID %d of the port's address after GID %d of another",
			     rdma->device, rdma->gid, rdma->before);
	} else if (rdma->gid >= 0) {
		to_check_add(checks, TO_CHECK_OK, "gid", name, NULL,
			     "%s has the RoCEv2 GID %d of the port's address", rdma->device,
			     rdma->gid);
	} else if (rdma->device[0]) {
		to_check_add(checks, TO_CHECK_FAIL, "gid", name,
			     "toctl apply PLAN sets the address; the GID follows",
			     "%s has no RoCEv2 GID of the port's address", rdma->device);
	} else {
		snprintf(fix, sizeof(fix), "load the NIC's RDMA driver, or: rdma link add %s_rxe type rxe netdev %s",
			 name, name);
		to_check_add(checks, TO_CHECK_WARN, "gid", name, fix,
			     "no RDMA device: TCP only");
	}
}

static bool rdma_lit(const struct to_check_view *view, unsigned int p)
{
	const struct to_nic *nic = to_rtnl_nic_find(view->nics, view->n_nics, view->rdma[p]);

	return nic && nic->carrier && !to_check_dark(view, p);
}

/* The devices of ports that have a link, as NCCL and UCX name them. */
static void rdma_list_lit(const struct to_check_view *view, const struct rdma_port *rdma,
			  char *list, size_t size)
{
	size_t length = 0;

	list[0] = '\0';
	for (unsigned int p = 0; p < view->n_ports && length < size; p++)
		if (rdma[p].device[0] && rdma_lit(view, p))
			length += snprintf(list + length, size - length, "%s%s:%s",
					   length ? "," : "", rdma[p].device, rdma[p].port);
	/* half a list would be the wrong one */
	if (length >= size)
		snprintf(list, size, "...");
}

static void rdma_check_dark(struct to_checks *checks, const struct to_check_view *view,
			    const struct rdma_port *rdma)
{
	char list[160], fix[400] = "light a port: none of the RDMA devices has carrier";

	rdma_list_lit(view, rdma, list, sizeof(list));
	if (list[0])
		snprintf(fix, sizeof(fix), "run jobs without it: NCCL_IB_HCA==%s UCX_NET_DEVICES=%s",
			 list, list);
	for (unsigned int p = 0; p < view->n_ports; p++)
		if (rdma[p].device[0] && !rdma_lit(view, p) && !to_check_dark(view, p))
			to_check_add(checks, TO_CHECK_WARN, "rdma", view->rdma[p], fix,
				     "%s:%s reaches nobody: its queue pairs have no other cable",
				     rdma[p].device, rdma[p].port);
}

void to_check_rdma(struct to_checks *checks, const struct to_check_view *view)
{
	struct rdma_port rdma[TO_PORTS_MAX];

	for (unsigned int p = 0; p < view->n_ports; p++) {
		const struct to_address *address = !view->plan ? NULL :
			&view->plan->cluster->servers[view->server].ports[p].address;

		rdma_find(&rdma[p], view->rdma[p], address);
		if (view->plan && to_rtnl_nic_find(view->nics, view->n_nics, view->rdma[p]) &&
		    !to_check_dark(view, p))
			rdma_check_gid(checks, view->rdma[p], &rdma[p]);
	}
	rdma_check_dark(checks, view, rdma);
}
