// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the topoopt device and its ports as interfaces. */

#include "doctor/check.h"
#include "kernel/xdp.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define GIDS_MAX 1024

/* First line of a file in sysfs, "" when there is none. */
static void check_sysfs_line(char *line, int size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void check_sysfs_line(char *line, int size, const char *fmt, ...)
{
	char path[512];
	va_list ap;
	FILE *file;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	line[0] = '\0';
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(line, size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

static const struct to_port *check_planned_port(const struct to_check_view *view,
						unsigned int p)
{
	return view->plan ? &view->plan->cluster->servers[view->server].ports[p] : NULL;
}

static bool check_planned_dark(const struct to_check_view *view, unsigned int p)
{
	struct to_port_ref peer;

	return view->plan &&
	       to_plan_peer(view->plan, (struct to_port_ref){ view->server, p }, &peer);
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
	} else if (check_planned_dark(view, p)) {
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

static void check_speed(struct to_checks *checks, const struct to_nic *nic,
			const struct to_port *planned)
{
	char path[128], line[32];
	long long mbits;

	/* Virtual interfaces have no speed worth the name. */
	snprintf(path, sizeof(path), "/sys/class/net/%s/device", nic->name);
	if (!planned || access(path, F_OK))
		return;
	check_sysfs_line(line, sizeof(line), "/sys/class/net/%s/speed", nic->name);
	mbits = atoll(line);
	if (mbits <= 0)
		return;
	if (mbits * 1000000 >= (long long)planned->bandwidth)
		to_check_add(checks, TO_CHECK_OK, "speed", nic->name, NULL,
			     "%lld Mbit/s", mbits);
	else
		to_check_add(checks, TO_CHECK_WARN, "speed", nic->name,
			     "check the transceiver, or correct the plan's bandwidth",
			     "%lld Mbit/s, planned for %llu", mbits,
			     (unsigned long long)planned->bandwidth / 1000000);
}

/* Names and state of an interface's offloads, by ethtool's ioctl. */
struct features {
	unsigned int n;
	struct ethtool_gstrings *names;
	struct ethtool_gfeatures *blocks;
};

static int check_features_ioctl(int fd, const char *name, void *data)
{
	struct ifreq ifr = { .ifr_data = data };

	snprintf(ifr.ifr_name, IFNAMSIZ, "%s", name);
	return ioctl(fd, SIOCETHTOOL, &ifr);
}

static bool check_features_read(int fd, const char *name, struct features *f)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t n;
	} sset = { .info = { .cmd = ETHTOOL_GSSET_INFO,
			     .sset_mask = 1ULL << ETH_SS_FEATURES } };
	unsigned int blocks;

	if (check_features_ioctl(fd, name, &sset) || !sset.info.sset_mask)
		return false;
	f->n = sset.n;
	blocks = (f->n + 31) / 32;
	f->names = calloc(1, sizeof(*f->names) + (size_t)f->n * ETH_GSTRING_LEN);
	f->blocks = calloc(1, sizeof(*f->blocks) + blocks * sizeof(f->blocks->features[0]));
	if (!f->names || !f->blocks)
		return false;
	f->names->cmd = ETHTOOL_GSTRINGS;
	f->names->string_set = ETH_SS_FEATURES;
	f->names->len = f->n;
	f->blocks->cmd = ETHTOOL_GFEATURES;
	f->blocks->size = blocks;
	return !check_features_ioctl(fd, name, f->names) &&
	       !check_features_ioctl(fd, name, f->blocks);
}

static bool check_features_on(const struct features *f, const char *feature)
{
	for (unsigned int i = 0; i < f->n; i++)
		if (!strncmp((const char *)f->names->data + (size_t)i * ETH_GSTRING_LEN,
			     feature, ETH_GSTRING_LEN))
			return f->blocks->features[i / 32].active & 1u << i % 32;
	return false;
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
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct features f = {};
	bool fine = true;
	char fix[200];

	if (fd >= 0 && check_features_read(fd, nic->name, &f)) {
		for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
			if (!check_features_on(&f, bad[i].feature))
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
	free(f.names);
	free(f.blocks);
	if (fd >= 0)
		close(fd);
}

/* What the GIDs of a port's RDMA device say. */
struct gids {
	char rdma[64];
	int index;	/* of the one that is RoCEv2 with the planned address, or -1 */
};

static void check_gids_of_port(struct gids *found, const char *rdma, const char *port,
			       const char *name, const struct to_address *address)
{
	char line[64];

	for (int i = 0; i < GIDS_MAX; i++) {
		struct in6_addr gid, want = address->v6;

		check_sysfs_line(line, sizeof(line), "/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs/%d",
				 rdma, port, i);
		/* GIDs are numbered without large gaps; the rest of the table is empty. */
		if (!line[0] && i > 64)
			return;
		if (strcmp(line, name))
			continue;
		snprintf(found->rdma, sizeof(found->rdma), "%.63s", rdma);
		check_sysfs_line(line, sizeof(line), "/sys/class/infiniband/%s/ports/%s/gid_attrs/types/%d",
				 rdma, port, i);
		if (strcmp(line, "RoCE v2"))
			continue;
		check_sysfs_line(line, sizeof(line), "/sys/class/infiniband/%s/ports/%s/gids/%d",
				 rdma, port, i);
		if (inet_pton(AF_INET6, line, &gid) != 1)
			continue;
		/* IPv4 goes first: what NCCL and others take unless told otherwise */
		if (address->has_v4) {
			want = (struct in6_addr){ .s6_addr[10] = 0xff, .s6_addr[11] = 0xff };
			memcpy(&want.s6_addr[12], &address->v4, 4);
		}
		if (!memcmp(&gid, &want, 16)) {
			found->index = i;
			return;
		}
	}
}

/* Names in a directory of sysfs, @max at most. Return: how many. */
static unsigned int check_list_directory(const char *path, char names[][64], unsigned int max)
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

/* @nic: where RDMA is, which has the port's address. */
static void check_gid(struct to_checks *checks, const struct to_port *planned,
		      const struct to_nic *nic)
{
	char devices[64][64], ports[8][64], path[192], fix[200];
	unsigned int n_devices, n_ports;
	struct gids found = { .index = -1 };

	n_devices = check_list_directory("/sys/class/infiniband", devices, 64);
	for (unsigned int d = 0; d < n_devices && found.index < 0; d++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/%.63s/ports", devices[d]);
		n_ports = check_list_directory(path, ports, 8);
		for (unsigned int i = 0; i < n_ports && found.index < 0; i++)
			check_gids_of_port(&found, devices[d], ports[i], nic->name,
					   &planned->address);
	}
	if (found.index >= 0) {
		to_check_add(checks, TO_CHECK_OK, "gid", nic->name, NULL,
			     "%s has the RoCEv2 GID %d of the port's address", found.rdma,
			     found.index);
	} else if (found.rdma[0]) {
		to_check_add(checks, TO_CHECK_FAIL, "gid", nic->name,
			     "toctl apply PLAN sets the address; the GID follows",
			     "%s has no RoCEv2 GID of the port's address", found.rdma);
	} else {
		snprintf(fix, sizeof(fix), "load the NIC's RDMA driver, or: rdma link add %s_rxe type rxe netdev %s",
			 nic->name, nic->name);
		to_check_add(checks, TO_CHECK_WARN, "gid", nic->name, fix,
			     "no RDMA device: TCP only");
	}
}

static void check_path(struct to_checks *checks, const struct to_nic *nic)
{
	const enum to_xdp_path path = to_xdp_path(nic->ifindex);
	char fix[200];

	switch (path) {
	case TO_XDP_SKB:
		to_check_add(checks, TO_CHECK_OK, "path", nic->name, NULL,
			     "relays through the kernel's queues");
		break;
	case TO_XDP_FOREIGN:
		to_check_add(checks, TO_CHECK_WARN, "path", nic->name,
			     "make sure that it passes on frames that are not its own",
			     "another XDP program sees all frames first");
		break;
	default:
		if (to_xdp_strips_tags(nic->name)) {
			snprintf(fix, sizeof(fix), "ethtool -K %s rxvlan off", nic->name);
			to_check_add(checks, TO_CHECK_WARN, "path", nic->name, fix,
				     "the NIC strips VLAN tags: nothing is relayed at XDP");
			break;
		}
		to_check_add(checks, TO_CHECK_OK, "path", nic->name, NULL,
			     "relays at %s XDP",
			     path == TO_XDP_NATIVE ? "native" : "generic");
	}
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
	check_speed(checks, nic, check_planned_port(view, p));
	check_offloads(checks, nic);
	return nic;
}

static void check_port(struct to_checks *checks, const struct to_check_view *view,
		       unsigned int p, uint32_t smallest)
{
	const struct to_port *planned = check_planned_port(view, p);
	const struct to_nic *nic, *rdma;

	nic = rdma = check_nic(checks, view, p, view->ports[p], smallest);
	if (nic) {
		check_master(checks, view, nic);
		check_path(checks, nic);
	}
	if (to_check_two(view, p))
		rdma = check_nic(checks, view, p, view->rdma[p], smallest);
	if (!planned)
		return;
	if (nic)
		check_mac(checks, nic, planned->relay_mac);
	if (rdma && rdma != nic)
		check_mac(checks, rdma, planned->mac);
	if (rdma && !check_planned_dark(view, p))
		check_gid(checks, planned, rdma);
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
