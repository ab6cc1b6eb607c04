// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/inventory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fnmatch.h>
#include <ifaddrs.h>
#include <net/if_arp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "format/names.h"
#include "kernel/rdma.h"
#include "kernel/rtnl.h"
#include "kernel/sysfs.h"

#define NS_PER_MS 1000000ull
#define ASK_MS 2000
#define LIGHT_MS 5000		/* for a link to come up */
#define LIGHT_STEP_MS 50
#define MBIT 1000000ull

/* Whether @pattern matches interface @name, or is an alternative name of it. */
static bool inventory_matches_one(const char *pattern, const char *name)
{
	return !fnmatch(pattern, name, 0) || if_nametoindex(pattern) == if_nametoindex(name);
}

static bool inventory_matches(const char *patterns, const char *name)
{
	char *copy = strdup(patterns), *save = NULL;
	bool found = false;

	for (char *word = copy ? strtok_r(copy, ",", &save) : NULL; word && !found;
	     word = strtok_r(NULL, ",", &save))
		found = inventory_matches_one(word, name);
	free(copy);
	return found;
}

/* Note the @patterns that match none of the interfaces that were taken. */
static int inventory_set_unmatched(struct to_inventory *inventory, const char *patterns)
{
	char *copy = strdup(patterns), *save = NULL;
	size_t length = 0;

	for (char *word = copy ? strtok_r(copy, ",", &save) : NULL; word;
	     word = strtok_r(NULL, ",", &save)) {
		bool found = false;

		for (unsigned int i = 0; i < inventory->n_nics && !found; i++)
			found = inventory_matches_one(word, inventory->nics[i].name);
		if (!found && to_text_is_clean(word) &&
		    length + strlen(word) + 2 < sizeof(inventory->unmatched))
			length += sprintf(inventory->unmatched + length, "%s%s",
					  length ? "," : "", word);
	}
	free(copy);
	return copy ? 0 : -ENOMEM;
}

/* The higher of the two values that the kernel takes for an interface (IN_DEV_MAXCONF). */
static unsigned int inventory_arp_ignore(const char *name)
{
	const char *const of[] = { "all", name };
	unsigned int most = 0;
	char line[16];

	for (unsigned int i = 0; i < 2; i++) {
		to_sysfs_line(line, sizeof(line), "/proc/sys/net/ipv4/conf/%s/arp_ignore", of[i]);
		if (atoi(line) > (int)most)
			most = atoi(line);
	}
	return most;
}

/* An IPv4 address of interface @name as text, "" when it has none. */
static void inventory_address(const struct ifaddrs *all, const char *name, char text[INET_ADDRSTRLEN])
{
	text[0] = '\0';
	for (const struct ifaddrs *a = all; a; a = a->ifa_next)
		if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET && !strcmp(a->ifa_name, name))
			inet_ntop(AF_INET, &((const struct sockaddr_in *)a->ifa_addr)->sin_addr,
				  text, INET_ADDRSTRLEN);
}

static void inventory_judge(struct to_inventory_nic *to, const struct to_nic *nic,
			    const struct to_nic *master, const struct ifaddrs *all)
{
	char path[64], address[INET_ADDRSTRLEN];

	snprintf(path, sizeof(path), "/sys/class/net/%s/device", nic->name);
	inventory_address(all, nic->name, address);
	if (nic->kind[0])
		snprintf(to->not_a_port, sizeof(to->not_a_port), "is of kind %.15s", nic->kind);
	else if (access(path, F_OK))
		snprintf(to->not_a_port, sizeof(to->not_a_port), "is no device");
	else if (master && strcmp(master->kind, "topoopt"))
		snprintf(to->not_a_port, sizeof(to->not_a_port), "belongs to %.15s",
			 to_names_is_interface(master->name) ? master->name : "another device");
	else if (!master && address[0])
		snprintf(to->not_a_port, sizeof(to->not_a_port), "has the address %s", address);
}

static void inventory_add(struct to_inventory *inventory, const struct to_nic *nic,
			 const struct to_nic *master, const char *ports,
			 const struct ifaddrs *all)
{
	struct to_inventory_nic *to = &inventory->nics[inventory->n_nics];
	struct to_rdma_port rdma;
	char line[32];
	long long mbits;

	to_sysfs_line(line, sizeof(line), "/sys/class/net/%s/type", nic->name);
	/* no file could have an interface whose name is refused */
	if (atoi(line) != ARPHRD_ETHER || !strcmp(nic->kind, "topoopt") ||
	    !to_names_is_interface(nic->name))
		return;
	if (ports && !inventory_matches(ports, nic->name))
		return;
	if (!ports)
		inventory_judge(to, nic, master, all);
	inventory->n_nics++;
	strcpy(to->name, nic->name);
	memcpy(to->mac, nic->mac, 6);
	to->up = nic->flags & IFF_UP;
	to->carrier = nic->carrier && to->up;
	to->mtu = nic->mtu;
	to_sysfs_line(line, sizeof(line), "/sys/class/net/%s/speed", nic->name);
	mbits = atoll(line);
	to->bandwidth = mbits > 0 ? mbits * MBIT : 0;
	to_rdma_find(&rdma, nic->name, NULL);
	strcpy(to->rdma, rdma.device);
	to->takes_roce = to->rdma[0] && to_hardware_takes_roce(to->rdma);
	to->arp_ignore = inventory_arp_ignore(nic->name);
	to_hardware_read(&to->hardware, nic->name);
}

static bool inventory_is_port(const struct to_inventory *inventory, const char *name)
{
	for (unsigned int i = 0; i < inventory->n_nics; i++)
		if (!inventory->nics[i].not_a_port[0] && !strcmp(inventory->nics[i].name, name))
			return true;
	return false;
}

/* Addresses by which others can ask for this server. */
static int inventory_addresses(struct to_inventory *inventory, const struct to_nic *nics,
			       unsigned int n, const struct ifaddrs *all)
{
	unsigned int room = 0;

	for (const struct ifaddrs *a = all; a; a = a->ifa_next)
		room++;
	inventory->addresses = calloc(room + 1, sizeof(*inventory->addresses));
	if (!inventory->addresses)
		return -ENOMEM;
	for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)a->ifa_addr;
		const struct to_nic *nic = to_rtnl_nic_find(nics, n, a->ifa_name);

		if (!in || in->sin_family != AF_INET || inventory_is_port(inventory, a->ifa_name) ||
		    (nic && !strcmp(nic->kind, "topoopt")) ||
		    ntohl(in->sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET)
			continue;
		inventory->addresses[inventory->n_addresses++] = in->sin_addr;
	}
	return 0;
}

static int inventory_by_name(const void *a, const void *b)
{
	return strverscmp(((const struct to_inventory_nic *)a)->name,
			  ((const struct to_inventory_nic *)b)->name);
}

int to_inventory_read(struct to_inventory *inventory, const char *ports, struct to_error *err)
{
	struct ifaddrs *all = NULL;
	struct to_nic *nics = NULL;
	struct to_netlink rt;
	unsigned int n = 0;
	int ret;

	memset(inventory, 0, sizeof(*inventory));
	if (gethostname(inventory->host, sizeof(inventory->host) - 1) ||
	    !to_names_is_name(inventory->host))
		inventory->host[0] = '\0';
	ret = to_netlink_open(&rt, NETLINK_ROUTE, err);
	if (ret)
		return ret;
	ret = to_rtnl_nics(&rt, &nics, &n, err);
	to_netlink_close(&rt);
	if (!ret && getifaddrs(&all))
		ret = to_error_set(err, -errno, "addresses: %s", strerror(errno));
	if (!ret) {
		inventory->nics = calloc(n + 1, sizeof(*inventory->nics));
		if (!inventory->nics)
			ret = to_error_set(err, -ENOMEM, "out of memory");
	}
	for (unsigned int i = 0; !ret && i < n; i++)
		inventory_add(inventory, &nics[i], to_rtnl_nic_by_index(nics, n, nics[i].master),
			      ports, all);
	if (!ret)
		qsort(inventory->nics, inventory->n_nics, sizeof(*inventory->nics), inventory_by_name);
	if (!ret && ((ports && inventory_set_unmatched(inventory, ports)) ||
		     inventory_addresses(inventory, nics, n, all)))
		ret = to_error_set(err, -ENOMEM, "out of memory");
	freeifaddrs(all);
	free(nics);
	if (ret)
		to_inventory_free(inventory);
	return ret;
}

void to_inventory_free(struct to_inventory *inventory)
{
	for (unsigned int i = 0; i < inventory->n_nics; i++)
		free(inventory->nics[i].answers);
	free(inventory->nics);
	free(inventory->addresses);
	memset(inventory, 0, sizeof(*inventory));
}

/* Return: whether all that could be ports and are up have light. */
static int inventory_look_again(struct to_inventory *inventory, struct to_netlink *rt,
				bool *all, struct to_error *err)
{
	struct to_nic *nics = NULL;
	unsigned int n = 0;
	int ret = to_rtnl_nics(rt, &nics, &n, err);

	*all = true;
	for (unsigned int i = 0; !ret && i < inventory->n_nics; i++) {
		struct to_inventory_nic *nic = &inventory->nics[i];
		const struct to_nic *now = to_rtnl_nic_find(nics, n, nic->name);

		nic->up = now && now->flags & IFF_UP;
		nic->carrier = nic->up && now->carrier;
		*all &= nic->carrier || nic->not_a_port[0];
	}
	free(nics);
	return ret;
}

int to_inventory_up(struct to_inventory *inventory, struct to_error *err)
{
	struct to_netlink rt;
	bool all = true;
	int ret;

	ret = to_netlink_open(&rt, NETLINK_ROUTE, err);
	if (ret)
		return ret;
	for (unsigned int i = 0; !ret && i < inventory->n_nics; i++) {
		struct to_inventory_nic *nic = &inventory->nics[i];

		if (nic->not_a_port[0] || nic->up)
			continue;
		ret = to_rtnl_set_up(&rt, if_nametoindex(nic->name), true, err);
		all = false;
	}
	for (uint64_t end = to_clock_monotonic_ns() + LIGHT_MS * NS_PER_MS;
	     !ret && !all && to_clock_monotonic_ns() < end; poll(NULL, 0, LIGHT_STEP_MS))
		ret = inventory_look_again(inventory, &rt, &all, err);
	to_netlink_close(&rt);
	return ret;
}

int to_inventory_ask(struct to_inventory *inventory, const struct in_addr *targets,
		     unsigned int n, struct to_error *err)
{
	struct to_probe *probes = calloc(inventory->n_nics + 1, sizeof(*probes));
	struct to_answers *answers = calloc(inventory->n_nics + 1, sizeof(*answers));
	struct to_inventory_nic **asked = calloc(inventory->n_nics + 1, sizeof(*asked));
	int ret = probes && answers && asked ? 0 : to_error_set(err, -ENOMEM, "out of memory");
	unsigned int n_probes = 0;

	for (unsigned int i = 0; !ret && i < inventory->n_nics; i++) {
		struct to_inventory_nic *nic = &inventory->nics[i];

		if (nic->not_a_port[0] || !nic->carrier)
			continue;
		ret = to_probe_open(&probes[n_probes], if_nametoindex(nic->name), nic->mac, err);
		if (!ret)
			asked[n_probes++] = nic;
	}
	if (!ret) {
		ret = to_probe_arp_all(probes, n_probes, targets, n, ASK_MS, answers);
		if (ret)
			to_error_set(err, ret, "ARP: %s", strerror(-ret));
	}
	for (unsigned int p = 0; p < n_probes; p++) {
		free(asked[p]->answers);
		asked[p]->answers = answers[p].items;
		asked[p]->n_answers = answers[p].n;
		to_probe_close(&probes[p]);
	}
	free(probes);
	free(answers);
	free(asked);
	return ret;
}

static json_t *inventory_mac(const uint8_t *mac)
{
	return json_sprintf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
			    mac[5]);
}

static json_t *inventory_ipv4(struct in_addr address)
{
	char text[INET_ADDRSTRLEN];

	return json_string(inet_ntop(AF_INET, &address, text, sizeof(text)));
}

static json_t *inventory_nic_json(const struct to_inventory_nic *nic)
{
	json_t *answers = json_array(), *object;

	for (unsigned int i = 0; i < nic->n_answers; i++) {
		const struct to_answer *answer = &nic->answers[i];

		json_array_append_new(answers,
				      json_pack("{so* so}", "ipv4", answer->address.s_addr ?
						inventory_ipv4(answer->address) : NULL, "mac",
						inventory_mac(answer->mac)));
	}
	object = json_pack("{ss so sb sb si sI ss sb si ss ss so}", "name", nic->name, "mac",
			 inventory_mac(nic->mac), "up", nic->up, "carrier", nic->carrier, "mtu",
			 nic->mtu, "bandwidth", (json_int_t)nic->bandwidth, "rdma", nic->rdma,
			 "takes_roce", nic->takes_roce, "arp_ignore", nic->arp_ignore,
			 "not_a_port", nic->not_a_port, "lldp", nic->lldp, "answers", answers);
	if (object)
		to_hardware_json(&nic->hardware, object);
	return object;
}

int to_inventory_print(FILE *out, const struct to_inventory *inventory)
{
	json_t *addresses = json_array(), *nics = json_array(), *all;
	int ret;

	for (unsigned int i = 0; i < inventory->n_addresses; i++)
		json_array_append_new(addresses, inventory_ipv4(inventory->addresses[i]));
	for (unsigned int i = 0; i < inventory->n_nics; i++)
		json_array_append_new(nics, inventory_nic_json(&inventory->nics[i]));
	all = json_pack("{ss si ss so so}", "format", "topoopt-inventory", "version", 1, "host",
			inventory->host, "addresses", addresses, "nics", nics);
	if (inventory->unmatched[0])
		json_object_set_new(all, "unmatched", json_string(inventory->unmatched));
	ret = to_json_write(all, out, JSON_INDENT(1)) ? -ENOMEM : 0;
	json_decref(all);
	putc('\n', out);
	return ret;
}

static int inventory_read_ipv4(const struct to_json *at, void *to)
{
	struct to_address address = {};
	int ret = to_json_ipv4(at, &address);

	*(struct in_addr *)to = address.v4;
	return ret;
}

static int inventory_read_text(const struct to_json *at, void *to)
{
	const char *text = json_string_value(at->value);

	if (!text || (*text && !to_names_is_label(text)))
		return to_json_error(at, -EINVAL, "expected " TO_NAMES_LABEL_EXPECTED ", or none");
	strcpy(to, text);
	return 0;
}

/* The name of an RDMA device or a host, "" without one. */
static int inventory_read_name(const struct to_json *at, void *to)
{
	const char *text = json_string_value(at->value);

	*(char *)to = '\0';
	return text && !*text ? 0 : to_names_read(at, to);
}

static int inventory_read_answers(const struct to_json *at, void *to)
{
	static const struct to_json_field fields[] = {
		{ "ipv4", inventory_read_ipv4, offsetof(struct to_answer, address), true },
		{ "mac", to_json_mac, offsetof(struct to_answer, mac), false },
		{}
	};
	struct to_inventory_nic *nic = to;
	int ret = to_json_array(at, sizeof(*nic->answers), &nic->answers, &nic->n_answers);

	for (unsigned int i = 0; !ret && i < nic->n_answers; i++) {
		const struct to_json element = to_json_element(at, i);

		ret = to_json_object(&element, fields, &nic->answers[i]);
	}
	return ret;
}

/* As inventory_read_text(), for fields with their own sizes. */
static int inventory_read_short(const struct to_json *at, char *to, size_t size)
{
	char text[TO_NAME_MAX];
	int ret = inventory_read_text(at, text);

	if (!ret && strlen(text) >= size)
		return to_json_error(at, -EINVAL, "expected %zu bytes at most", size - 1);
	if (!ret)
		strcpy(to, text);
	return ret;
}

static int inventory_read_pci(const struct to_json *at, void *to)
{
	struct to_hardware *hardware = to;

	return inventory_read_short(at, hardware->pci, sizeof(hardware->pci));
}

static int inventory_read_card(const struct to_json *at, void *to)
{
	struct to_hardware *hardware = to;

	return inventory_read_short(at, hardware->card, sizeof(hardware->card));
}

static int inventory_read_connector(const struct to_json *at, void *to)
{
	struct to_hardware *hardware = to;

	return inventory_read_short(at, hardware->connector, sizeof(hardware->connector));
}

static int inventory_read_pcie(const struct to_json *at, void *to)
{
	static const struct to_json_field fields[] = {
		{ "name", to_names_read_interface, offsetof(struct to_hardware_link, name), false },
		{ "rate", to_json_positive, offsetof(struct to_hardware_link, rate), false },
		{}
	};
	struct to_hardware *hardware = to;
	int ret = 0;

	if (!json_is_array(at->value) || json_array_size(at->value) > TO_HARDWARE_LINKS)
		return to_json_error(at, -EINVAL, "expected %u PCIe links at most", TO_HARDWARE_LINKS);
	for (unsigned int i = 0; !ret && i < json_array_size(at->value); i++) {
		const struct to_json element = to_json_element(at, i);

		ret = to_json_object(&element, fields, &hardware->links[hardware->n_links++]);
	}
	return ret;
}

static int inventory_read_nics(const struct to_json *at, void *to)
{
#define NIC(member) offsetof(struct to_inventory_nic, member)
	static const struct to_json_field fields[] = {
		{ "name", to_names_read_interface, NIC(name), false },
		{ "mac", to_json_mac, NIC(mac), false },
		{ "up", to_json_bool, NIC(up), false },
		{ "carrier", to_json_bool, NIC(carrier), false },
		{ "mtu", to_json_u32, NIC(mtu), false },
		{ "bandwidth", to_json_u64, NIC(bandwidth), false },
		{ "rdma", inventory_read_name, NIC(rdma), false },
		{ "takes_roce", to_json_bool, NIC(takes_roce), true },
		{ "arp_ignore", to_json_u32, NIC(arp_ignore), true },
		{ "pci", inventory_read_pci, NIC(hardware), true },
		{ "card", inventory_read_card, NIC(hardware), true },
		{ "connector", inventory_read_connector, NIC(hardware), true },
		{ "pcie", inventory_read_pcie, NIC(hardware), true },
		{ "not_a_port", inventory_read_text, NIC(not_a_port), false },
		{ "lldp", inventory_read_text, NIC(lldp), true },
		{ "answers", inventory_read_answers, 0, false },
		{}
	};
#undef NIC
	struct to_inventory *inventory = to;
	int ret = to_json_array(at, sizeof(*inventory->nics), &inventory->nics, &inventory->n_nics);

	for (unsigned int i = 0; !ret && i < inventory->n_nics; i++) {
		const struct to_json element = to_json_element(at, i);

		ret = to_json_object(&element, fields, &inventory->nics[i]);
	}
	return ret;
}

static int inventory_read_addresses(const struct to_json *at, void *to)
{
	struct to_inventory *inventory = to;
	int ret = to_json_array(at, sizeof(*inventory->addresses), &inventory->addresses,
				&inventory->n_addresses);

	for (unsigned int i = 0; !ret && i < inventory->n_addresses; i++) {
		const struct to_json element = to_json_element(at, i);

		ret = inventory_read_ipv4(&element, &inventory->addresses[i]);
	}
	return ret;
}

static int inventory_read_unmatched(const struct to_json *at, void *to)
{
	const char *text = json_string_value(at->value);

	if (!text || !to_text_is_clean(text) || strlen(text) >= TO_INVENTORY_UNMATCHED)
		return to_json_error(at, -EINVAL, "expected patterns of names");
	strcpy(to, text);
	return 0;
}

static int inventory_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-inventory");
}

int to_inventory_parse(struct to_inventory *inventory, const char *text, size_t len,
		       const char *name, struct to_error *err)
{
	static const struct to_json_field fields[] = {
		{ "format", inventory_read_format, 0, false },
		{ "version", to_json_version, 0, false },
		{ "host", inventory_read_name, offsetof(struct to_inventory, host), true },
		{ "addresses", inventory_read_addresses, 0, false },
		{ "nics", inventory_read_nics, 0, false },
		{ "unmatched", inventory_read_unmatched, offsetof(struct to_inventory, unmatched), true },
		{}
	};
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	memset(inventory, 0, sizeof(*inventory));
	ret = to_json_open(&doc, &at, text, len, name, NULL, err);
	if (ret)
		return ret;
	ret = to_json_object(&at, fields, inventory);
	to_json_close(&doc);
	if (ret)
		to_inventory_free(inventory);
	return ret;
}

static void inventory_print_answer(FILE *out, const struct to_answer *answer)
{
	char address[INET_ADDRSTRLEN];

	fprintf(out, "    %s, %02x:%02x:%02x:%02x:%02x:%02x\n", answer->address.s_addr ?
		inet_ntop(AF_INET, &answer->address, address, sizeof(address)) : "only heard",
		answer->mac[0], answer->mac[1], answer->mac[2], answer->mac[3],
		answer->mac[4], answer->mac[5]);
}

void to_inventory_print_text(FILE *out, const struct to_inventory *inventory)
{
	if (inventory->unmatched[0])
		fprintf(out, "no interface is called %s\n", inventory->unmatched);
	if (!inventory->n_nics)
		fprintf(out, "no interface could be a port\n");
	for (unsigned int i = 0; i < inventory->n_nics; i++) {
		const struct to_inventory_nic *nic = &inventory->nics[i];
		char speed[24] = "-";

		if (nic->bandwidth)
			snprintf(speed, sizeof(speed), "%lluG",
				 (unsigned long long)nic->bandwidth / 1000000000);
		fprintf(out, "%-15s %02x:%02x:%02x:%02x:%02x:%02x %6s  %-8s mtu %u%s%s%s%s\n",
			nic->name, nic->mac[0], nic->mac[1], nic->mac[2], nic->mac[3], nic->mac[4],
			nic->mac[5], speed, !nic->up ? "down" : nic->carrier ? "light" : "no light",
			nic->mtu, nic->rdma[0] ? "  " : "", nic->rdma,
			nic->not_a_port[0] ? "  no port: " : "", nic->not_a_port);
		if (nic->hardware.pci[0])
			fprintf(out, "    PCI %s%s%s\n", nic->hardware.pci,
				nic->hardware.connector[0] ? ", connector " : "", nic->hardware.connector);
		if (nic->lldp[0])
			fprintf(out, "    %s (LLDP)\n", nic->lldp);
		for (unsigned int k = 0; k < nic->n_answers; k++)
			inventory_print_answer(out, &nic->answers[k]);
	}
}
