// SPDX-License-Identifier: GPL-2.0-or-later
/* Clusters from what servers found at their interfaces. */

#include "job.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/discovery.h"
#include "doctor/lldp.h"

#define SERVERS 4
#define NICS 3

/*
 * Servers a to d with eth0 to eth2, at first without an answer. eth0 of each leads to eth1
 * of the next in ring(); eth2 has no light.
 */
static struct to_discovery_server servers[SERVERS];
static struct to_checks checks;

static void mac_of(uint8_t mac[6], unsigned int s, unsigned int i)
{
	memcpy(mac, (uint8_t[]){ 2, 0, 0, 0, s, i }, 6);
}

static int setup(void **state)
{
	static const char *const names[SERVERS] = { "a", "b", "c", "d" };

	(void)state;
	for (unsigned int s = 0; s < SERVERS; s++) {
		struct to_inventory *inventory = &servers[s].inventory;

		servers[s].name = names[s];
		inventory->nics = calloc(NICS, sizeof(*inventory->nics));
		inventory->addresses = calloc(2, sizeof(*inventory->addresses));
		inventory->n_nics = NICS;
		inventory->n_addresses = 2;
		inet_pton(AF_INET, "172.17.0.1", &inventory->addresses[0]);
		inventory->addresses[1].s_addr = htonl(0xc0000200 + s);
		for (unsigned int i = 0; i < NICS; i++) {
			struct to_inventory_nic *nic = &inventory->nics[i];

			snprintf(nic->name, sizeof(nic->name), "eth%u", i);
			mac_of(nic->mac, s, i);
			nic->up = true;
			nic->carrier = i < 2;
			nic->bandwidth = 200000000000;
		}
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned int s = 0; s < SERVERS; s++)
		to_inventory_free(&servers[s].inventory);
	to_checks_free(&checks);
	return 0;
}

/* @s:@i hears @t:@k, who answers if @answers and else only asked. */
static void hears(unsigned int s, unsigned int i, unsigned int t, unsigned int k, bool answers)
{
	struct to_inventory_nic *nic = &servers[s].inventory.nics[i];
	struct to_answer *answer;

	nic->answers = realloc(nic->answers, (nic->n_answers + 1) * sizeof(*nic->answers));
	answer = &nic->answers[nic->n_answers++];
	answer->address = (struct in_addr){ answers ? htonl(0xc0000200 + t) : 0 };
	mac_of(answer->mac, t, k);
}

static void cable(unsigned int s, unsigned int i, unsigned int t, unsigned int k)
{
	hears(s, i, t, k, true);
	hears(t, k, s, i, true);
}

static void ring(void)
{
	for (unsigned int s = 0; s < SERVERS; s++)
		cable(s, 0, (s + 1) % SERVERS, 1);
}

static struct to_cluster *discover(const struct to_discovery_options *options, struct to_error *err)
{
	static const struct to_discovery_options none;

	return to_discovery_cluster(servers, SERVERS, options ? options : &none, &checks, err);
}

/* The cluster, which must have @links. */
static struct to_cluster *discover_links(unsigned int links)
{
	struct to_error err = { "" };
	struct to_cluster *c = discover(NULL, &err);

	assert_string_equal(err.text, "");
	assert_non_null(c);
	assert_int_equal(c->n_links, links);
	return c;
}

/* The finding about @subject, which must be there. */
static const struct to_check *found(const char *subject, const char *name)
{
	for (unsigned int i = 0; i < checks.n; i++)
		if (!strcmp(checks.items[i].subject, subject) && !strcmp(checks.items[i].name, name))
			return &checks.items[i];
	fail_msg("nothing about %s", subject);
	return NULL;
}

static bool failed(void)
{
	for (unsigned int i = 0; i < checks.n; i++)
		if (checks.items[i].verdict == TO_CHECK_FAIL)
			return true;
	return false;
}

/* What lldpctl says of a's interfaces. */
static void who_says_to_be_there_is_named(void **state)
{
	static const char text[] =
		"{\"lldp\":[{\"interface\":["
		"{\"name\":\"lo\",\"chassis\":[{\"name\":[{\"value\":\"x\"}]}]},"
		/* a sibling on one's own connector */
		"{\"name\":\"eth1\",\"chassis\":[{\"id\":[{\"type\":\"mac\",\"value\":\"02:00:00:00:00:01\"}],"
		"\"name\":[{\"value\":\"a\"}]}]},"
		"{\"name\":\"eth1\",\"via\":\"LLDP\",\"chassis\":[{\"id\":[{\"type\":\"mac\",\"value\":\"02:00:00:00:09:01\"}],"
		"\"name\":[{\"value\":\"tor1\"}]}],\"port\":[{\"id\":[{\"type\":\"ifname\",\"value\":\"Ethernet12\"}]}]},"
		"{\"name\":\"eth0\",\"chassis\":[{\"name\":[{\"value\":\"\\u001b]0;\"}]}]},"
		"{\"name\":\"eth2\",\"chassis\":[{\"id\":[{\"value\":\"02:00:00:00:00:09\"}]}]}]}]}";
	static const char odd[] = "{\"lldp\":[{\"interface\":[1,{},{\"name\":\"eth0\"}]}]}";
	struct to_inventory_nic *nics = servers[0].inventory.nics;
	struct to_cluster *c;

	(void)state;
	to_lldp_parse(&servers[0].inventory, text, sizeof(text) - 1);
	assert_string_equal(nics[0].lldp, "");
	assert_string_equal(nics[1].lldp, "tor1 Ethernet12");
	assert_string_equal(nics[2].lldp, "02:00:00:00:00:09");
	to_lldp_parse(&servers[1].inventory, odd, sizeof(odd) - 1);
	to_lldp_parse(&servers[1].inventory, "no JSON", 7);
	assert_string_equal(servers[1].inventory.nics[0].lldp, "");

	for (unsigned int s = 0; s + 1 < SERVERS; s++)
		cable(s, 0, s + 1, 1);
	c = discover_links(SERVERS - 1);
	assert_string_equal(found("a:eth1", "cabling")->text,
			    "light, but no server answers; tor1 Ethernet12 says to be there (LLDP)");
	assert_string_equal(found("d:eth0", "cabling")->text, "light, but no server answers");
	/* b:eth1 is moved to a switch */
	to_checks_free(&checks);
	servers[0].inventory.nics[0].n_answers = 0;
	servers[1].inventory.nics[1].n_answers = 0;
	strcpy(servers[1].inventory.nics[1].lldp, "tor2 Ethernet1");
	to_discovery_compare(servers, c, &checks);
	assert_string_equal(found("b:eth1", "cabling")->text,
			    "leads to tor2 Ethernet1 (LLDP), the file says a:eth0");
	to_cluster_free(c);
}

static void a_ring_is_found(void **state)
{
	struct to_cluster *c;

	(void)state;
	ring();
	c = discover_links(4);
	for (unsigned int s = 0; s < SERVERS; s++) {
		assert_int_equal(c->servers[s].n_ports, 2);
		assert_string_equal(c->servers[s].name, servers[s].name);
		assert_int_equal(c->servers[s].ports[1].bandwidth, 200000000000);
		assert_memory_equal(c->servers[s].ports[1].mac, c->servers[s].ports[1].relay_mac, 6);
	}
	assert_int_equal(ntohl(c->servers[2].ports[1].address.v4.s_addr), 0x0ac90302);	/* 10.201.3.2 */
	assert_int_equal(c->links[0].a.server, 0);
	assert_int_equal(c->links[0].b.server, 1);
	assert_int_equal(c->links[0].b.port, 1);
	assert_string_equal(found("a:eth0", "cabling")->text, "leads to b:eth1");
	assert_string_equal(found("a:eth2", "carrier")->text, "no light");
	assert_int_equal(found("a:eth2", "carrier")->verdict, TO_CHECK_WARN);
	to_cluster_free(c);
}

static void addresses_come_from_the_prefix(void **state)
{
	struct to_discovery_options options = {};
	struct to_cluster *c;
	struct to_error err;

	(void)state;
	to_addresses_prefix_parse(&options.prefix, "192.0.2.32/27");
	ring();
	c = discover(&options, &err);
	assert_non_null(c);
	assert_int_equal(ntohl(c->servers[0].address.v4.s_addr), 0xc0000221);
	assert_int_equal(ntohl(c->servers[3].ports[1].address.v4.s_addr), 0xc0000236);
	to_cluster_free(c);
	options.prefix.length = 28;
	assert_null(discover(&options, &err));
	assert_string_equal(err.text, "the prefix is too small");
}

static void a_fibre_of_one_direction_is_named(void **state)
{
	struct to_cluster *c;

	(void)state;
	for (unsigned int s = 0; s < SERVERS - 1; s++)
		cable(s, 0, s + 1, 1);
	hears(3, 0, 0, 1, false);
	c = discover_links(3);
	assert_int_equal(found("d:eth0", "cabling")->verdict, TO_CHECK_FAIL);
	assert_string_equal(found("d:eth0", "cabling")->text, "hears a:eth1, which does not hear it");
	assert_string_equal(found("a:eth1", "cabling")->text, "light, but no server answers");
	to_cluster_free(c);
}

static void a_network_is_no_cable(void **state)
{
	struct to_cluster *c;

	(void)state;
	ring();
	for (unsigned int s = 0; s < SERVERS; s++)
		servers[s].inventory.nics[2].carrier = true;
	for (unsigned int s = 0; s < SERVERS; s++)
		for (unsigned int t = 0; t < SERVERS; t++)
			if (s != t)
				hears(s, 2, t, 2, true);
	c = discover_links(4);
	assert_int_equal(c->servers[0].n_ports, 2);
	assert_string_equal(found("a:eth2", "cabling")->text, "3 interfaces answer, b:eth2 first: a network, no cable");
	to_cluster_free(c);
}

/* eth2 of a and c reach that of b through a switch that keeps them from each other. */
static void a_network_that_isolates_is_no_cable(void **state)
{
	struct to_cluster *c;

	(void)state;
	ring();
	for (unsigned int s = 0; s < 3; s++)
		servers[s].inventory.nics[2].carrier = true;
	cable(0, 2, 1, 2);
	cable(2, 2, 1, 2);
	c = discover_links(4);
	for (unsigned int s = 0; s < 3; s++)
		assert_int_equal(c->servers[s].n_ports, 2);
	assert_string_equal(found("c:eth2", "cabling")->text, "leads to b:eth2, as others do: a network, no cable");
	to_cluster_free(c);
}

/* eth1 and eth2 of b are on one cable to eth0 of a, which hears both. */
static void two_interfaces_make_one_port(void **state)
{
	struct to_cluster *c;

	(void)state;
	ring();
	servers[1].inventory.nics[2].carrier = true;
	strcpy(servers[1].inventory.nics[2].rdma, "mlx5_2");
	cable(0, 0, 1, 2);
	c = discover_links(4);
	assert_int_equal(c->servers[1].n_ports, 2);
	assert_string_equal(c->servers[1].ports[1].name, "eth1");
	assert_string_equal(c->servers[1].ports[1].transmit, "eth2");
	assert_int_equal(c->servers[1].ports[1].mac[5], 2);
	assert_int_equal(c->servers[1].ports[1].relay_mac[5], 1);
	to_cluster_free(c);
}

/*
 * Servers a to d are DGX Sparks in a ring: nics[0], [1] are the functions of connector p0 in
 * PCI domains 0 and 2, nics[2], [3] those of p1. p0 of each is cabled to p1 of the next.
 */
static void sparks(void)
{
	static const char *const names[] = { "enp1s0f0np0", "enP2p1s0f0np0", "enp1s0f1np1", "enP2p1s0f1np1" };

	for (unsigned int s = 0; s < SERVERS; s++) {
		struct to_inventory *inventory = &servers[s].inventory;

		free(inventory->nics);
		inventory->nics = calloc(4, sizeof(*inventory->nics));
		inventory->n_nics = 4;
		for (unsigned int i = 0; i < 4; i++) {
			struct to_inventory_nic *nic = &inventory->nics[i];
			struct to_hardware *hardware = &nic->hardware;

			strcpy(nic->name, names[i]);
			mac_of(nic->mac, s, i);
			nic->up = nic->carrier = nic->takes_roce = true;
			nic->bandwidth = 200000000000;
			nic->mtu = 9000;
			snprintf(nic->rdma, sizeof(nic->rdma), "mlx5_%u", i);
			snprintf(hardware->pci, sizeof(hardware->pci), "000%u:01:00.%u", i % 2 * 2, i / 2);
			snprintf(hardware->connector, sizeof(hardware->connector), "p%u", i / 2);
			snprintf(hardware->card, sizeof(hardware->card), "c0ffee%u", s);
			hardware->n_links = 1;
			hardware->links[0].rate = 126030769230;
			snprintf(hardware->links[0].name, IFNAMSIZ, "000%u.01.00", i % 2 * 2);
		}
	}
}

/* @s's connector @i to @t's @k: all functions hear each other, and siblings hear siblings. */
static void spark_cable(unsigned int s, unsigned int i, unsigned int t, unsigned int k)
{
	for (unsigned int f = 0; f < 2; f++) {
		for (unsigned int g = 0; g < 2; g++)
			cable(s, 2 * i + f, t, 2 * k + g);
		hears(s, 2 * i + f, s, 2 * i + !f, true);
		hears(t, 2 * k + f, t, 2 * k + !f, true);
	}
}

static void sparks_in_a_ring(void)
{
	sparks();
	for (unsigned int s = 0; s < SERVERS; s++)
		spark_cable(s, 0, (s + 1) % SERVERS, 1);
}

static void functions_are_ports_that_share_cables(void **state)
{
	struct to_cluster *c;

	(void)state;
	sparks_in_a_ring();
	c = discover_links(8);
	for (unsigned int s = 0; s < SERVERS; s++) {
		const struct to_server *server = &c->servers[s];

		assert_int_equal(server->n_ports, 4);
		assert_int_equal(to_server_cables(server), 2);
		assert_string_equal(server->ports[0].cable, "p0");
		assert_string_equal(server->ports[3].cable, "p1");
		assert_string_equal(server->ports[3].card, "card0");
		assert_int_equal(server->n_pcie, 2);
		assert_int_equal(server->pcie[1].rate, 126030769230);
		assert_string_equal(server->pcie[server->ports[1].pcie - 1].name, "0002.01.00");
		assert_int_equal(server->ports[0].pcie, server->ports[2].pcie);
		assert_int_equal(server->ports[2].transit, TO_TRANSIT_NONE);
		assert_string_equal(server->ports[1].transmit, "");
		assert_int_equal(server->ports[1].bandwidth, 100000000000);
	}
	/* each function to that of the same PCI domain */
	for (unsigned int i = 0; i < c->n_links; i++)
		assert_int_equal(c->links[i].a.port % 2, c->links[i].b.port % 2);
	assert_string_equal(found("a:enP2p1s0f0np0", "cabling")->text, "leads to b:enP2p1s0f1np1");
	assert_non_null(strstr(found("a", "transit")->text, "4 of its ports take RoCEv2"));
	to_checks_free(&checks);
	to_discovery_compare(servers, c, &checks);
	assert_false(failed());
	to_cluster_free(c);
}

/* Of two functions, the one without RDMA relays for the other, whichever comes first. */
static void a_function_without_rdma_relays(void **state)
{
	struct to_cluster *c;

	(void)state;
	for (unsigned int without = 0; without < 2; without++) {
		sparks_in_a_ring();
		for (unsigned int s = 0; s < SERVERS; s++)
			for (unsigned int i = without; i < 4; i += 2)
				servers[s].inventory.nics[i].rdma[0] = '\0';
		c = discover_links(4);
		assert_int_equal(c->servers[2].n_ports, 2);
		assert_string_equal(c->servers[2].ports[1].name, without ? "enP2p1s0f1np1" : "enp1s0f1np1");
		assert_string_equal(c->servers[2].ports[1].transmit,
				    without ? "enp1s0f1np1" : "enP2p1s0f1np1");
		assert_string_equal(c->servers[2].ports[1].cable, "");
		assert_int_equal(c->servers[2].ports[1].transit, TO_TRANSIT_KERNEL);
		to_cluster_free(c);
		teardown(NULL);
		setup(NULL);
	}
}

/* The second function of b's p1 is down. */
static void a_function_that_is_down_is_named(void **state)
{
	struct to_inventory_nic *nic;
	struct to_cluster *c, *other;

	(void)state;
	sparks_in_a_ring();
	c = discover_links(8);
	nic = &servers[1].inventory.nics[3];
	nic->up = nic->carrier = false;
	nic->n_answers = 0;
	for (unsigned int f = 0; f < 2; f++) {
		nic = &servers[0].inventory.nics[f];
		for (unsigned int i = 0; i < nic->n_answers; i++)
			if (nic->answers[i].mac[4] == 1 && nic->answers[i].mac[5] == 3)
				nic->answers[i--] = nic->answers[--nic->n_answers];
	}
	to_checks_free(&checks);
	to_discovery_compare(servers, c, &checks);
	assert_string_equal(found("a:enP2p1s0f0np0", "cabling")->text,
			    "b:enP2p1s0f1np1 does not answer, and b:enp1s0f1np1 on its cable does");
	assert_string_equal(found("b:enP2p1s0f1np1", "cabling")->text,
			    "down; the file says to a:enP2p1s0f0np0");
	assert_int_equal(found("a:enp1s0f0np0", "cabling")->verdict, TO_CHECK_OK);
	to_checks_free(&checks);
	other = discover_links(7);
	assert_string_equal(found("a:enP2p1s0f0np0", "cabling")->text,
			    "shares its cable, and b:enp1s0f1np1 is alone at the other end");
	to_cluster_free(other);
	to_cluster_free(c);
}

/* The first function of b's p1 is down: the second is joined to that of its own domain. */
static void functions_keep_to_their_domain(void **state)
{
	struct to_inventory_nic *nic;
	struct to_cluster *c;

	(void)state;
	sparks_in_a_ring();
	nic = &servers[1].inventory.nics[2];
	nic->up = nic->carrier = false;
	nic->n_answers = 0;
	for (unsigned int f = 0; f < 2; f++) {
		nic = &servers[0].inventory.nics[f];
		for (unsigned int i = 0; i < nic->n_answers; i++)
			if (nic->answers[i].mac[4] == 1 && nic->answers[i].mac[5] == 2)
				nic->answers[i--] = nic->answers[--nic->n_answers];
	}
	c = discover_links(7);
	assert_string_equal(found("a:enp1s0f0np0", "cabling")->text,
			    "shares its cable, and b:enP2p1s0f1np1 is alone at the other end");
	assert_string_equal(found("a:enP2p1s0f0np0", "cabling")->text, "leads to b:enP2p1s0f1np1");
	to_cluster_free(c);
}

/* Cables of a's p0 and c's p0 are swapped. */
static void swapped_cables_of_functions_are_named(void **state)
{
	struct to_cluster *c;

	(void)state;
	sparks_in_a_ring();
	c = discover_links(8);
	teardown(NULL);
	setup(NULL);
	sparks();
	spark_cable(0, 0, 3, 1);
	spark_cable(2, 0, 1, 1);
	spark_cable(1, 0, 2, 1);
	spark_cable(3, 0, 0, 1);
	to_discovery_compare(servers, c, &checks);
	assert_int_equal(checks.n, 16);
	assert_non_null(strstr(found("a:enp1s0f0np0", "cabling")->fix, "to b:enp1s0f1np1"));
	assert_int_equal(found("b:enp1s0f0np0", "cabling")->verdict, TO_CHECK_OK);
	to_cluster_free(c);
}

/* Two NICs of a and two of b in one LAN, whose connectors say that they are not one cable. */
static void connectors_tell_a_network_from_a_cable(void **state)
{
	struct to_error err;

	(void)state;
	sparks();
	for (unsigned int f = 0; f < 2; f++) {
		for (unsigned int g = 0; g < 2; g++)
			cable(0, f, 1, g);
		strcpy(servers[f].inventory.nics[1].hardware.connector, "p7");
	}
	assert_null(discover(NULL, &err));
	assert_non_null(strstr(found("a:enp1s0f0np0", "cabling")->text, "a network, no cable"));
}

/* b answers nobody; others hear it ask. */
static void a_server_that_does_not_answer_arp_is_named(void **state)
{
	struct to_inventory *inventory = &servers[1].inventory;
	struct to_cluster *c;

	(void)state;
	for (unsigned int arp_ignore = 0; arp_ignore < 2; arp_ignore++) {
		cable(2, 0, 3, 1);
		cable(3, 0, 0, 1);
		hears(1, 1, 0, 0, true);
		hears(1, 0, 2, 1, true);
		hears(0, 0, 1, 1, false);
		hears(2, 1, 1, 0, false);
		inventory->nics[0].arp_ignore = inventory->nics[1].arp_ignore = arp_ignore;
		c = discover_links(4);
		assert_int_equal(found("b:eth0", "arp")->verdict, TO_CHECK_WARN);
		assert_string_equal(found("b:eth0", "arp")->text, arp_ignore ?
				    "does not answer ARP, as arp_ignore is 1; the cable is good" :
				    "does not answer ARP, and others hear it; the cable is good");
		assert_int_equal(found("a:eth0", "cabling")->verdict, TO_CHECK_OK);
		to_checks_free(&checks);
		to_discovery_compare(servers, c, &checks);
		assert_false(failed());
		assert_non_null(strstr(found("a:eth0", "arp")->fix, arp_ignore ? "on b: sysctl -w net.ipv4.conf.all.arp_ignore=0" : "on b: look for a filter"));
		to_cluster_free(c);
		teardown(NULL);
		setup(NULL);
		inventory = &servers[1].inventory;
	}
}

/* Nobody answers ARP, and all hear each other ask. */
static void servers_that_all_ignore_arp_are_cabled(void **state)
{
	struct to_cluster *c;

	(void)state;
	for (unsigned int s = 0; s < SERVERS; s++) {
		hears(s, 0, (s + 1) % SERVERS, 1, false);
		hears((s + 1) % SERVERS, 1, s, 0, false);
		servers[s].inventory.nics[0].arp_ignore = servers[s].inventory.nics[1].arp_ignore = 2;
	}
	c = discover_links(4);
	assert_false(failed());
	to_checks_free(&checks);
	to_discovery_compare(servers, c, &checks);
	assert_false(failed());
	assert_int_equal(found("d:eth1", "arp")->verdict, TO_CHECK_WARN);
	to_cluster_free(c);
}

/* The cables are right, and what runs over them is not. */
static void settings_are_compared_with_the_file(void **state)
{
	struct to_cluster *c;

	(void)state;
	sparks_in_a_ring();
	c = discover_links(8);
	to_checks_free(&checks);
	servers[0].inventory.nics[1].mtu = 1500;
	servers[2].inventory.nics[2].bandwidth = 100000000000;
	to_discovery_compare(servers, c, &checks);
	assert_false(failed());
	assert_int_equal(checks.n, 16 + 2);
	assert_string_equal(found("a:enP2p1s0f0np0", "mtu")->text, "1500, and 9000 at b:enP2p1s0f1np1");
	assert_string_equal(found("c:enp1s0f1np1", "speed")->text,
			    "100000 Mbit/s, the file says 200000 for its cable");
	to_cluster_free(c);
}

static void what_is_left_out_says_why(void **state)
{
	struct to_inventory *inventory = &servers[1].inventory;
	struct to_cluster *c;
	struct to_error err;

	(void)state;
	ring();
	strcpy(inventory->nics[2].not_a_port, "has the address 192.168.177.11");
	strcpy(servers[0].inventory.nics[2].not_a_port, "is of kind bridge");
	strcpy(inventory->unmatched, "ens*");
	servers[0].inventory.nics[0].mtu = 9000;
	c = discover_links(4);
	assert_string_equal(found("b:eth2", "left out")->text, "has the address 192.168.177.11");
	assert_string_equal(found("b:eth2", "left out")->fix, "to take it: --ports eth2");
	assert_int_equal(found("b:eth2", "left out")->verdict, TO_CHECK_OK);
	assert_string_equal(found("b", "ports")->text, "no interface is called ens*");
	assert_string_equal(found("a:eth0", "mtu")->text, "9000, and 0 at b:eth1");
	assert_string_equal(found("a:eth0", "mtu")->fix, "on b: ip link set eth1 mtu 9000");
	to_cluster_free(c);
	to_checks_free(&checks);
	for (unsigned int i = 0; i < 2; i++)
		strcpy(inventory->nics[i].not_a_port, "belongs to bond0");
	assert_null(discover(NULL, &err));
	assert_int_equal(found("b:eth1", "left out")->verdict, TO_CHECK_WARN);
}

static void what_is_wrong_is_named(void **state)
{
	struct to_cluster *c;

	(void)state;
	cable(0, 0, 1, 1);
	cable(2, 0, 3, 1);
	servers[0].inventory.nics[0].bandwidth = 100000000000;
	servers[3].inventory.nics[1].bandwidth = 0;
	c = discover_links(2);
	assert_string_equal(found("a:eth0", "speed")->text, "100000 Mbit/s, others have 200000");
	assert_string_equal(found("d:eth1", "speed")->text, "the driver names no speed, 100 Gbit/s are taken");
	assert_string_equal(found("c", "path")->text, "no path leads to a");
	assert_string_equal(found("d", "path")->text, "no path leads to a");
	to_cluster_free(c);
}

static void what_makes_no_cluster_is_refused(void **state)
{
	struct to_error err;

	(void)state;
	assert_null(discover(NULL, &err));
	assert_string_equal(err.text, "no cable was found between these servers");
	cable(0, 0, 1, 1);
	assert_null(discover(NULL, &err));
	assert_string_equal(err.text, "c has no cable: leave it out");
	mac_of(servers[3].inventory.nics[1].mac, 0, 0);
	assert_null(discover(NULL, &err));
	assert_string_equal(err.text, "a MAC address is there twice");
	assert_string_equal(found("d:eth1", "mac")->text, "has the MAC address of a:eth0, too");
}

static void servers_are_asked_for_by_an_address_of_their_own(void **state)
{
	struct in_addr targets[SERVERS];
	struct to_error err;

	(void)state;
	assert_int_equal(to_discovery_targets(servers, SERVERS, targets, &err), 0);
	assert_int_equal(ntohl(targets[2].s_addr), 0xc0000202);
	servers[2].inventory.n_addresses = 1;
	assert_int_equal(to_discovery_targets(servers, SERVERS, targets, &err), -ENOENT);
	assert_string_equal(err.text, "c: no IPv4 address that no other server has: others cannot ask for it");
}

static void an_inventory_survives_the_round_trip(void **state)
{
	static const char broken[] = "{\"format\": \"topoopt-inventory\", \"version\": 1,\n\"addresses\": [], \"nics\": 1}";
	struct to_inventory again;
	struct to_error err;
	char *text, *second;
	size_t len;
	FILE *out;

	(void)state;
	ring();
	hears(0, 1, 2, 2, false);
	strcpy(servers[0].inventory.nics[2].not_a_port, "has the address 192.0.2.9");
	strcpy(servers[0].inventory.unmatched, "ens*,x?");
	servers[0].inventory.nics[1].takes_roce = true;
	servers[0].inventory.nics[1].arp_ignore = 2;
	servers[0].inventory.nics[1].hardware = (struct to_hardware){
		.pci = "0002:01:00.1", .card = "c0ffee", .connector = "p1", .n_links = 2,
		.links = { { "0000.01.00", 1000 }, { "0000.02.00", 2000 } } };
	out = open_memstream(&text, &len);
	assert_int_equal(to_inventory_print(out, &servers[0].inventory), 0);
	fclose(out);
	assert_int_equal(to_inventory_parse(&again, text, len, "a", &err), 0);
	out = open_memstream(&second, &len);
	assert_int_equal(to_inventory_print(out, &again), 0);
	fclose(out);
	assert_string_equal(text, second);
	to_inventory_free(&again);
	free(text);
	free(second);
	assert_int_equal(to_inventory_parse(&again, broken, strlen(broken), "a", &err), -EINVAL);
	assert_string_equal(err.text, "a:2: nics: expected an array");
}

/* The cables of a and c at b and d were swapped after the file was written. */
static void swapped_cables_are_named(void **state)
{
	struct to_cluster *c;

	(void)state;
	ring();
	c = discover_links(4);
	for (unsigned int s = 0; s < SERVERS; s++)
		for (unsigned int i = 0; i < NICS; i++)
			servers[s].inventory.nics[i].n_answers = 0;
	to_checks_free(&checks);
	cable(0, 0, 3, 1);
	cable(2, 0, 1, 1);
	cable(1, 0, 2, 1);
	to_discovery_compare(servers, c, &checks);
	assert_string_equal(found("a:eth0", "cabling")->text, "leads to d:eth1, the file says b:eth1");
	assert_string_equal(found("a:eth0", "cabling")->fix, "move the cable from d:eth1 to b:eth1");
	assert_string_equal(found("a:eth1", "cabling")->text, "leads to nobody, the file says d:eth0");
	assert_int_equal(found("b:eth0", "cabling")->verdict, TO_CHECK_OK);
	to_cluster_free(c);
}

/* All eth0 on one packet switch: d does not answer a, and c hears one that should not be there. */
static void who_is_not_on_a_packet_switch_is_named(void **state)
{
	struct to_cluster *c;

	(void)state;
	ring();
	c = discover_links(4);
	c->n_links = 0;
	c->n_packet_switches = 1;
	c->packet_switches = calloc(1, sizeof(*c->packet_switches));
	c->packet_switches[0] = (struct to_packet_switch){ "tor0", SERVERS };
	to_checks_free(&checks);
	for (unsigned int s = 0; s < SERVERS; s++) {
		c->servers[s].ports[0].packet_switch = 1;
		servers[s].inventory.nics[0].n_answers = 0;
		for (unsigned int t = 0; t < SERVERS; t++)
			if (t != s)
				hears(s, 0, t, 0, s != 0 || t != 3);
	}
	hears(2, 0, 1, 1, true);
	to_discovery_compare(servers, c, &checks);
	assert_string_equal(found("a:eth0", "cabling")->text,
			    "of 3 others on tor0 1 do not answer, d:eth0 first");
	assert_string_equal(found("b:eth0", "cabling")->text, "on tor0 with 3 others");
	assert_int_equal(found("b:eth0", "cabling")->verdict, TO_CHECK_OK);
	assert_string_equal(found("c:eth0", "cabling")->text,
			    "b:eth1 answers there, which by the file is not on tor0");
	assert_string_equal(found("c:eth0", "cabling")->fix,
			    "check the cables of c:eth0 and b:eth1, or correct the file");
	to_cluster_free(c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_ring_is_found),
		TEST(who_says_to_be_there_is_named),
		TEST(addresses_come_from_the_prefix),
		TEST(a_fibre_of_one_direction_is_named),
		TEST(a_network_is_no_cable),
		TEST(a_network_that_isolates_is_no_cable),
		TEST(two_interfaces_make_one_port),
		TEST(what_is_wrong_is_named),
		TEST(what_makes_no_cluster_is_refused),
		TEST(servers_are_asked_for_by_an_address_of_their_own),
		TEST(an_inventory_survives_the_round_trip),
		TEST(swapped_cables_are_named),
		TEST(who_is_not_on_a_packet_switch_is_named),
		TEST(functions_are_ports_that_share_cables),
		TEST(a_function_without_rdma_relays),
		TEST(a_function_that_is_down_is_named),
		TEST(functions_keep_to_their_domain),
		TEST(swapped_cables_of_functions_are_named),
		TEST(connectors_tell_a_network_from_a_cable),
		TEST(a_server_that_does_not_answer_arp_is_named),
		TEST(servers_that_all_ignore_arp_are_cabled),
		TEST(settings_are_compared_with_the_file),
		TEST(what_is_left_out_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
