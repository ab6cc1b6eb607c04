// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the topoopt device and its ports as interfaces. */

#include "doctor/check.h"
#include "kernel/features.h"
#include "kernel/sysfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct to_port *check_planned_port(const struct to_check_view *view,
						unsigned int p)
{
	return view->plan ? &view->plan->cluster->servers[view->server].ports[p] : NULL;
}

static void check_device(struct to_checks *checks, const struct to_check_view *view)
{
	const struct to_nic *device = view->device;
	char fix[200];

	if (!device) {
		to_check_add(checks, TO_CHECK_FAIL, "device", "topoopt",
			     "toctl apply PLAN", "there is no topoopt device");
		return;
	}
	if (device->flags & IFF_UP) {
		to_check_add(checks, TO_CHECK_OK, "device", device->name, NULL, "up");
		return;
	}
	snprintf(fix, sizeof(fix), "ip link set %s up", device->name);
	to_check_add(checks, TO_CHECK_FAIL, "device", device->name, fix,
		     "down: nothing is relayed");
}

static void check_master(struct to_checks *checks, const struct to_check_view *view,
			 const struct to_nic *nic)
{
	char fix[200];

	if (!view->device || nic->master == view->device->ifindex)
		return;
	snprintf(fix, sizeof(fix), "ip link set %s master %s", nic->name,
		 view->device->name);
	to_check_add(checks, TO_CHECK_FAIL, "port", nic->name, fix,
		     "is not a port of %s", view->device->name);
}

static void check_mac(struct to_checks *checks, const struct to_nic *nic,
		      const uint8_t *mac)
{
	char fix[200];

	if (!memcmp(nic->mac, mac, 6))
		return;
	snprintf(fix, sizeof(fix),
		 "correct the plan, or: ip link set %s address %02x:%02x:%02x:%02x:%02x:%02x",
		 nic->name, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	to_check_add(checks, TO_CHECK_FAIL, "mac", nic->name, fix,
		     "not the planned MAC address");
}

static void check_link(struct to_checks *checks, const struct to_check_view *view,
		       unsigned int p, const struct to_nic *nic)
{
	char fix[200];

	if (!(nic->flags & IFF_UP)) {
		snprintf(fix, sizeof(fix), "ip link set %s up", nic->name);
		to_check_add(checks, TO_CHECK_FAIL, "port", nic->name, fix, "down");
	} else if (nic->carrier) {
		to_check_add(checks, TO_CHECK_OK, "carrier", nic->name, NULL, "up");
	} else if (to_check_dark(view, p)) {
		to_check_add(checks, TO_CHECK_OK, "carrier", nic->name, NULL,
			     "none, and no link is planned");
	} else {
		to_check_add(checks, view->plan ? TO_CHECK_FAIL : TO_CHECK_WARN,
			     "carrier", nic->name,
			     "check fibre, transceiver and cross-connect",
			     "no carrier");
	}
}

static void check_mtu(struct to_checks *checks, const struct to_check_view *view,
		      const struct to_nic *nic, uint32_t smallest)
{
	char fix[200];

	if (nic->mtu > smallest) {
		snprintf(fix, sizeof(fix), "give all ports one MTU: ip link set DEV mtu %u",
			 nic->mtu);
		to_check_add(checks, TO_CHECK_WARN, "mtu", nic->name, fix,
			     "%u, another port has %u: larger packets cannot be relayed",
			     nic->mtu, smallest);
	} else {
		to_check_add(checks, TO_CHECK_OK, "mtu", nic->name, NULL, "%u", nic->mtu);
	}
	if (view->device && view->device->mtu > nic->mtu) {
		snprintf(fix, sizeof(fix), "ip link set %s mtu %u", view->device->name,
			 nic->mtu);
		to_check_add(checks, TO_CHECK_WARN, "mtu", view->device->name, fix,
			     "%u, more than the %u of port %s", view->device->mtu,
			     nic->mtu, nic->name);
	}
}

/* Functions that share a cable each name its speed, and have a share each in the plan. */
static void check_speed(struct to_checks *checks, const struct to_nic *nic,
			const struct to_check_view *view, unsigned int p)
{
	const struct to_port *planned = check_planned_port(view, p);
	const unsigned long long mbits = planned ? to_sysfs_mbits(nic->name) : 0;
	unsigned long long bandwidth;

	if (!mbits)
		return;
	bandwidth = to_server_cable_bandwidth(&view->plan->cluster->servers[view->server], p);
	if (mbits * 1000000 >= bandwidth)
		to_check_add(checks, TO_CHECK_OK, "speed", nic->name, NULL,
			     "%llu Mbit/s", mbits);
	else
		to_check_add(checks, TO_CHECK_WARN, "speed", nic->name,
			     "check the transceiver, or correct the plan's bandwidth",
			     "%llu Mbit/s, planned for %llu", mbits,
			     bandwidth / 1000000);
}

/*
 * Aggregates that cannot be split into the original packets again: LRO rewrites
 * headers; UDP segments would get new IP identifications, which the invariant
 * CRC of RoCEv2 covers.
 */
static void check_offloads(struct to_checks *checks, const struct to_nic *nic)
{
	static const struct {
		const char *feature, *option, *text;
		enum to_verdict verdict;
	} bad[] = {
		{ "rx-lro", "lro",
		  "LRO is on: merged packets cannot be relayed", TO_CHECK_FAIL },
		{ "rx-udp-gro-forwarding", "rx-udp-gro-forwarding",
		  "on: RoCEv2 packets get merged and dropped", TO_CHECK_FAIL },
		{ "rx-gro-list", "rx-gro-list",
		  "on: RoCEv2 packets get merged and dropped", TO_CHECK_FAIL },
	};
	struct to_features features;
	bool fine = true;
	char fix[200];

	if (to_features_read(&features, nic->name)) {
		for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
			if (!to_features_on(&features, bad[i].feature))
				continue;
			snprintf(fix, sizeof(fix), "ethtool -K %s %s off", nic->name,
				 bad[i].option);
			to_check_add(checks, bad[i].verdict, bad[i].option, nic->name,
				     fix, "%s", bad[i].text);
			fine = false;
		}
		if (fine)
			to_check_add(checks, TO_CHECK_OK, "offloads", nic->name, NULL,
				     "LRO and UDP receive aggregation are off");
	}
	to_features_free(&features);
}

static const struct to_nic *check_find_nic(const struct to_check_view *view, const char *name)
{
	return to_rtnl_nic_find(view->nics, view->n_nics, name);
}

/* What each interface of a port needs; NULL when it is not there. */
static const struct to_nic *check_nic(struct to_checks *checks,
				      const struct to_check_view *view,
				      unsigned int p, const char *name,
				      uint32_t smallest)
{
	const struct to_nic *nic = check_find_nic(view, name);

	if (!nic) {
		to_check_add(checks, TO_CHECK_FAIL, "port", name,
			     "check the driver and the interface's name",
			     "no such interface");
		return NULL;
	}
	check_link(checks, view, p, nic);
	check_mtu(checks, view, nic, smallest);
	check_speed(checks, nic, view, p);
	check_offloads(checks, nic);
	return nic;
}

static void check_port(struct to_checks *checks, const struct to_check_view *view,
		       unsigned int p, uint32_t smallest)
{
	const struct to_port *planned = check_planned_port(view, p);
	const struct to_nic *nic, *rdma;

	nic = rdma = check_nic(checks, view, p, view->ports[p], smallest);
	if (nic)
		check_master(checks, view, nic);
	if (to_check_two(view, p))
		rdma = check_nic(checks, view, p, view->rdma[p], smallest);
	if (!planned)
		return;
	if (nic)
		check_mac(checks, nic, planned->relay_mac);
	if (rdma && rdma != nic)
		check_mac(checks, rdma, planned->mac);
}

void to_check_ports(struct to_checks *checks, const struct to_check_view *view)
{
	uint32_t smallest = UINT32_MAX;

	check_device(checks, view);
	for (unsigned int p = 0; p < view->n_ports; p++) {
		const struct to_nic *nic = check_find_nic(view, view->ports[p]);
		const struct to_nic *rdma = check_find_nic(view, view->rdma[p]);

		if (nic && nic->mtu < smallest)
			smallest = nic->mtu;
		if (rdma && rdma->mtu < smallest)
			smallest = rdma->mtu;
	}
	for (unsigned int p = 0; p < view->n_ports; p++)
		check_port(checks, view, p, smallest);
}
