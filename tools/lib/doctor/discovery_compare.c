// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether cables are as a cluster.json has them. */

#include "doctor/discovery.h"

#include <stdio.h>
#include <string.h>

#include "doctor/wires.h"

/* Port of @cluster with @mac. */
static bool discovery_find_port(const struct to_cluster *cluster, const uint8_t *mac,
				struct to_port_ref *ref)
{
	for (uint32_t s = 0; s < cluster->n_servers; s++)
		for (uint32_t p = 0; p < cluster->servers[s].n_ports; p++)
			if (!memcmp(cluster->servers[s].ports[p].mac, mac, 6) ||
			    !memcmp(cluster->servers[s].ports[p].relay_mac, mac, 6)) {
				*ref = (struct to_port_ref){ s, p };
				return true;
			}
	return false;
}

static void discovery_port_name(const struct to_cluster *c, struct to_port_ref ref,
				char text[TO_WIRE_NAME])
{
	snprintf(text, TO_WIRE_NAME, "%s:%s", c->servers[ref.server].name,
		 c->servers[ref.server].ports[ref.port].name);
}

/* Where a link of @cluster leads from @at by its file. */
static bool discovery_expected(const struct to_cluster *cluster, struct to_port_ref at,
			       struct to_port_ref *peer)
{
	for (unsigned int i = 0; i < cluster->n_links; i++) {
		const struct to_link *link = &cluster->links[i];

		*peer = link->b;
		if (link->a.server == at.server && link->a.port == at.port)
			return true;
		*peer = link->a;
		if (link->b.server == at.server && link->b.port == at.port)
			return true;
	}
	return false;
}

/* The port of @cluster that answered @nic as the @i-th. Return: whether one of others did. */
static bool discovery_answered(const struct to_inventory_nic *nic, unsigned int i,
			       const struct to_cluster *cluster, uint32_t server,
			       struct to_port_ref *heard)
{
	return nic->answers[i].address.s_addr &&
	       discovery_find_port(cluster, nic->answers[i].mac, heard) && heard->server != server;
}

static bool discovery_hears(const struct to_inventory_nic *nic, const struct to_port *port)
{
	for (unsigned int i = 0; i < nic->n_answers; i++)
		if (nic->answers[i].address.s_addr && (!memcmp(nic->answers[i].mac, port->mac, 6) ||
						       !memcmp(nic->answers[i].mac, port->relay_mac, 6)))
			return true;
	return false;
}

/* Who is on the packet switch of @at hears all others there, and nobody else. */
static void discovery_compare_shared(const struct to_inventory_nic *nic,
				     const struct to_cluster *cluster, struct to_port_ref at,
				     const char *name, struct to_checks *checks)
{
	const unsigned int on = cluster->servers[at.server].ports[at.port].packet_switch;
	const char *const segment = cluster->packet_switches[on - 1].name;
	char other[TO_WIRE_NAME], fix[200];
	unsigned int others = 0, silent = 0;
	struct to_port_ref heard;

	for (unsigned int i = 0; i < nic->n_answers; i++) {
		if (!discovery_answered(nic, i, cluster, at.server, &heard) ||
		    cluster->servers[heard.server].ports[heard.port].packet_switch == on)
			continue;
		discovery_port_name(cluster, heard, other);
		snprintf(fix, sizeof(fix), "check the cables of %.70s and %.70s, or correct the file",
			 name, other);
		to_check_add(checks, TO_CHECK_FAIL, "cabling", name, fix,
			     "%s answers there, which by the file is not on %s", other, segment);
		return;
	}
	for (uint32_t s = 0; s < cluster->n_servers; s++) {
		const int p = s == at.server ? -1 : to_cluster_find_on(&cluster->servers[s], on);

		if (p < 0)
			continue;
		others++;
		if (discovery_hears(nic, &cluster->servers[s].ports[p]))
			continue;
		if (!silent++)
			discovery_port_name(cluster, (struct to_port_ref){ s, p }, other);
	}
	if (!silent) {
		to_check_add(checks, TO_CHECK_OK, "cabling", name, NULL, "on %s with %u others",
			     segment, others);
		return;
	}
	snprintf(fix, sizeof(fix), "check the cables to %.80s, and that all are up", segment);
	to_check_add(checks, TO_CHECK_FAIL, "cabling", name, fix,
		     "of %u others on %s %u do not answer, %s first", others, segment, silent, other);
}

/* Whether @ref is @peer or shares its cable. */
static bool discovery_is_end(const struct to_cluster *c, struct to_port_ref ref,
			     struct to_port_ref peer)
{
	return ref.server == peer.server &&
	       (ref.port == peer.port ||
		to_port_shares_cable(&c->servers[ref.server], ref.port, peer.port));
}

/*
 * The port that answered @nic, of several one at the end of the cable that leads to @peer, if
 * there is such: a question reaches all functions there. Return: whether one did.
 */
static bool discovery_found(const struct to_inventory_nic *nic, const struct to_cluster *cluster,
			    uint32_t server, const struct to_port_ref *peer, struct to_port_ref *found)
{
	bool any = false;

	for (unsigned int i = 0; i < nic->n_answers; i++) {
		struct to_port_ref heard;

		if (!discovery_answered(nic, i, cluster, server, &heard))
			continue;
		if (!any || (peer && discovery_is_end(cluster, heard, *peer)))
			*found = heard;
		any = true;
		if (peer && heard.server == peer->server && heard.port == peer->port)
			return true;
	}
	return any;
}

/* The planned function at the other end is silent, one that shares its cable is not. */
static void discovery_compare_sibling(struct to_checks *checks, const char *name,
				      const char *found, const char *wanted)
{
	char fix[200];

	snprintf(fix, sizeof(fix), "the cable is right: set %.80s up, and see that its mac is that of the file",
		 wanted);
	to_check_add(checks, TO_CHECK_FAIL, "cabling", name, fix,
		     "%s does not answer, and %s on its cable does", wanted, found);
}

static const struct to_inventory_nic *discovery_nic_of(const struct to_inventory *inventory,
							const struct to_port *port)
{
	for (unsigned int i = 0; i < inventory->n_nics; i++)
		if (!memcmp(inventory->nics[i].mac, port->mac, 6))
			return &inventory->nics[i];
	return NULL;
}

/*
 * @nic got no answer. If it heard the planned @peer ask, or answered it, the cable is good, and
 * the peer's @server does not answer ARP: say so, and return true.
 */
static bool discovery_compare_silent(const struct to_discovery_server *server,
				     const struct to_inventory_nic *nic, const struct to_port *peer,
				     struct to_checks *checks, const char *name, const char *wanted)
{
	const struct to_inventory_nic *there = discovery_nic_of(&server->inventory, peer);
	char mend[160], fix[240];
	bool heard = false;

	for (unsigned int i = 0; i < nic->n_answers; i++)
		heard |= !memcmp(nic->answers[i].mac, peer->mac, 6) ||
			 !memcmp(nic->answers[i].mac, peer->relay_mac, 6);
	for (unsigned int i = 0; there && i < there->n_answers; i++)
		heard |= there->answers[i].address.s_addr &&
			 !memcmp(there->answers[i].mac, nic->mac, 6);
	if (!there || !heard)
		return false;
	to_wires_arp_fix(there, mend, sizeof(mend));
	snprintf(fix, sizeof(fix), "on %.63s: %s", server->name, mend);
	to_check_add(checks, TO_CHECK_WARN, "arp", name, fix, there->arp_ignore ?
		     "leads to %s, which does not answer ARP, as arp_ignore is %u there; the cable is good" :
		     "leads to %s, which does not answer ARP; the cable is good", wanted,
		     there->arp_ignore);
	return true;
}

/* @nic has no light, or its cable does not lead from @found to @wanted as the file says. */
static void discovery_compare_wrong(const struct to_inventory_nic *nic, struct to_checks *checks,
				    const char *name, const char *found, const char *wanted,
				    bool expected, bool answered)
{
	char fix[200];

	if (expected && !nic->up)
		snprintf(fix, sizeof(fix), "ip link set %s up, or toctl discover --up", nic->name);
	else if (expected && !answered)
		snprintf(fix, sizeof(fix), "check the cable to %.80s, and that both are up", wanted);
	else if (expected)
		snprintf(fix, sizeof(fix), "move the cable from %.80s to %.80s", found, wanted);
	else
		snprintf(fix, sizeof(fix), "remove the cable, or add the link to the file");
	if (expected && !nic->carrier)
		to_check_add(checks, TO_CHECK_FAIL, "cabling", name, fix, "%s; the file says to %s",
			     nic->up ? "no light" : "down", wanted);
	else
		to_check_add(checks, TO_CHECK_FAIL, "cabling", name, fix,
			     "leads to %s, the file says %s", found, wanted);
}

/* The cable is right: is the speed of port @at, too? */
static void discovery_compare_speed(const struct to_inventory_nic *nic,
				    const struct to_cluster *cluster, struct to_port_ref at,
				    const char *name, struct to_checks *checks)
{
	const uint64_t planned = to_server_cable_bandwidth(&cluster->servers[at.server], at.port);

	if (nic->bandwidth && nic->bandwidth < planned)
		to_check_add(checks, TO_CHECK_WARN, "speed", name,
			     "check cable and transceiver, or correct bandwidth in the file",
			     "%llu Mbit/s, the file says %llu for its cable",
			     (unsigned long long)nic->bandwidth / 1000000,
			     (unsigned long long)planned / 1000000);
}

static void discovery_compare_cable(const struct to_discovery_server *servers,
				    const struct to_inventory_nic *nic,
				    const struct to_cluster *cluster, struct to_port_ref at,
				    const char *name, struct to_checks *checks)
{
	char found[TO_WIRE_NAME] = "nobody", wanted[TO_WIRE_NAME] = "nobody";
	const struct to_inventory_nic *there;
	struct to_port_ref peer, heard;
	const bool expected = discovery_expected(cluster, at, &peer);
	const bool answered = discovery_found(nic, cluster, at.server, expected ? &peer : NULL, &heard);

	if (answered)
		discovery_port_name(cluster, heard, found);
	else if (nic->lldp[0])
		snprintf(found, sizeof(found), "%s (LLDP)", nic->lldp);
	if (expected)
		discovery_port_name(cluster, peer, wanted);
	if (!strcmp(found, wanted)) {
		to_check_add(checks, TO_CHECK_OK, "cabling", name, NULL,
			     expected ? "leads to %s" : "leads to %s, as in the file", found);
		if (!expected)
			return;
		discovery_compare_speed(nic, cluster, at, name, checks);
		there = discovery_nic_of(&servers[peer.server].inventory,
					 &cluster->servers[peer.server].ports[peer.port]);
		/* once for both ends */
		if (there && at.server < peer.server)
			to_wires_check_mtu(checks, servers[at.server].name, nic,
					   servers[peer.server].name, there);
	} else if (expected && answered && discovery_is_end(cluster, heard, peer)) {
		discovery_compare_sibling(checks, name, found, wanted);
	} else if (!expected || answered ||
		 !discovery_compare_silent(&servers[peer.server], nic,
					   &cluster->servers[peer.server].ports[peer.port], checks,
					   name, wanted)) {
		discovery_compare_wrong(nic, checks, name, found, wanted, expected, answered);
	}
}

static void discovery_compare_port(const struct to_discovery_server *servers,
				   const struct to_cluster *cluster, struct to_port_ref at,
				   struct to_checks *checks)
{
	const struct to_port *port = &cluster->servers[at.server].ports[at.port];
	const struct to_inventory_nic *nic = discovery_nic_of(&servers[at.server].inventory, port);
	char name[TO_WIRE_NAME];

	discovery_port_name(cluster, at, name);
	if (nic && strcmp(nic->name, to_port_rdma(port)))
		to_check_add(checks, TO_CHECK_FAIL, "port", name, "correct the file, or rename the interface",
			     "its MAC address is that of %s", nic->name);
	if (!nic)
		to_check_add(checks, TO_CHECK_FAIL, "port", name, "correct its mac in the file",
			     "no interface of the server has its MAC address");
	else if (port->packet_switch)
		discovery_compare_shared(nic, cluster, at, name, checks);
	else
		discovery_compare_cable(servers, nic, cluster, at, name, checks);
}

void to_discovery_compare(const struct to_discovery_server *servers,
			  const struct to_cluster *cluster, struct to_checks *checks)
{
	for (uint32_t s = 0; s < cluster->n_servers; s++)
		for (uint32_t p = 0; p < cluster->servers[s].n_ports; p++)
			discovery_compare_port(servers, cluster, (struct to_port_ref){ s, p }, checks);
}
