// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the RDMA devices behind the ports. */

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "doctor/check.h"
#include "kernel/rdma.h"

static void rdma_check_gid(struct to_checks *checks, const char *name,
			   const struct to_rdma_port *rdma)
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

/* Whether @nic has the link-local address of its MAC address (RFC 4291, A) and no other. */
static bool rdma_has_eui64(const struct to_nic *nic)
{
	const uint8_t *mac = nic->mac;
	unsigned int n = 0, own = 0;
	FILE *file = fopen("/proc/net/if_inet6", "re");
	char address[33], want[33], name[IFNAMSIZ];

	snprintf(want, sizeof(want), "fe80000000000000%02x%02x%02xfffe%02x%02x%02x", mac[0] ^ 2, mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
	while (file && fscanf(file, "%32s %*x %*x %*x %*x %15s", address, name) == 2)
		if (!strcmp(name, nic->name) && !strncmp(address, "fe80", 4)) {
			n++;
			own += !strcmp(address, want);
		}
	if (file)
		fclose(file);
	return n == 1 && own;
}

/* The GID index that most ports have, the lowest of several; -1 without any. */
static int rdma_common_gid(const struct to_rdma_port *rdma, const bool *used, unsigned int n)
{
	unsigned int most = 0;
	int common = -1;

	for (unsigned int p = 0; p < n; p++) {
		unsigned int equal = 0;

		for (unsigned int q = 0; q < n; q++)
			equal += used[p] && used[q] && rdma[q].gid == rdma[p].gid;
		if (equal > most || (equal && equal == most && rdma[p].gid < common)) {
			most = equal;
			common = rdma[p].gid;
		}
	}
	return common;
}

/* Clients take one GID index for all devices: name those that have drifted from it. */
static void rdma_check_drift(struct to_checks *checks, const struct to_check_view *view,
			     const struct to_rdma_port *rdma, const bool *used)
{
	const int common = rdma_common_gid(rdma, used, view->n_ports);
	char fix[400], text[INET_ADDRSTRLEN];

	for (unsigned int p = 0; p < view->n_ports; p++) {
		const struct to_nic *nic = to_rtnl_nic_find(view->nics, view->n_nics, view->rdma[p]);
		const struct to_address *address;

		if (!used[p] || rdma[p].gid == common || !nic)
			continue;
		address = &view->plan->cluster->servers[view->server].ports[p].address;
		if (!rdma_has_eui64(nic))
			snprintf(fix, sizeof(fix), "ip link set %s addrgenmode eui64, set it down and up, then toctl apply: its link-local address is not that of its MAC address, and takes an index",
				 nic->name);
		else if (address->has_v4)
			snprintf(fix, sizeof(fix), "with no job on it: ip address del %1$s/32 dev %2$s && ip address add %1$s/32 dev %2$s",
				 inet_ntop(AF_INET, &address->v4, text, sizeof(text)), nic->name);
		else
			snprintf(fix, sizeof(fix), "with no job on it: load the RDMA driver again, then toctl apply");
		to_check_add(checks, TO_CHECK_WARN, "gid", view->rdma[p], fix,
			     "%s has the port's address at GID %d, others at %d: NCCL and UCX take one index for all",
			     rdma[p].device, rdma[p].gid, common);
	}
}

static bool rdma_lit(const struct to_check_view *view, unsigned int p)
{
	const struct to_nic *nic = to_rtnl_nic_find(view->nics, view->n_nics, view->rdma[p]);

	return nic && nic->carrier && !to_check_dark(view, p);
}

/* The devices of ports that have a link, as NCCL and UCX name them. */
static void rdma_list_lit(const struct to_check_view *view, const struct to_rdma_port *rdma,
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
			    const struct to_rdma_port *rdma)
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
	struct to_rdma_port rdma[TO_PORTS_MAX];
	bool used[TO_PORTS_MAX] = {};

	for (unsigned int p = 0; p < view->n_ports; p++) {
		const struct to_address *address = !view->plan ? NULL :
			&view->plan->cluster->servers[view->server].ports[p].address;

		to_rdma_find(&rdma[p], view->rdma[p], address);
		if (view->plan && to_rtnl_nic_find(view->nics, view->n_nics, view->rdma[p]) &&
		    !to_check_dark(view, p))
			rdma_check_gid(checks, view->rdma[p], &rdma[p]);
		used[p] = view->plan && rdma[p].gid >= 0 && rdma_lit(view, p);
	}
	if (view->plan)
		rdma_check_drift(checks, view, rdma, used);
	rdma_check_dark(checks, view, rdma);
}
