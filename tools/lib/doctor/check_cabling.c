// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks what is at the other end of each port. */

#include "doctor/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/probe.h"

#define ANSWER_MS 300	/* a direct neighbour answers within a few ms */
#define TRIES 3
#define SMALL 64	/* bytes of a small echo */

/*
 * A port of server @self that is being checked, and the one planned at its other end. @nic has the
 * port's MAC and address, where answers come. @on: the packet switch between the two, or
 * NULL. What is well there is told once for all ports on it, of which @answered answer,
 * @stuck of these not to large packets.
 */
struct cable {
	struct to_checks *checks;
	const struct to_plan *plan;
	const struct to_cluster *cluster;
	const struct to_nic *nic;
	const struct to_port *port, *peer;
	const struct to_server *peer_server;
	uint32_t self;
	char peer_name[TO_NAME_MAX + IFNAMSIZ + 1];
	struct to_probe probe;
	const struct to_packet_switch *on;
	unsigned int answered, stuck;
};

/* Whether @mac is one of @c's planned peer. */
static bool cabling_is_peer(const struct cable *c, const uint8_t *mac)
{
	return !memcmp(mac, c->peer->mac, 6) || !memcmp(mac, c->peer->relay_mac, 6);
}

/* @mac gets who answers: the planned peer, if it does in one of the tries. */
static int cabling_ask(struct cable *c, const struct in_addr *targets, unsigned int n,
		       uint8_t mac[6])
{
	uint8_t wanted[2][6];
	int ret = -ETIMEDOUT;

	memcpy(wanted[0], c->peer->mac, 6);
	memcpy(wanted[1], c->peer->relay_mac, 6);
	for (int i = 0; i < TRIES && (ret == -ETIMEDOUT || (!ret && !cabling_is_peer(c, mac))); i++)
		ret = to_probe_arp(&c->probe, targets, n, wanted, 2, ANSWER_MS, mac);
	return ret;
}

/* Port of the plan with @mac, as "s1:eth0"; "" when none has it. */
static void cabling_port_of_mac(const struct to_cluster *cluster, const uint8_t *mac,
				char *text, size_t size)
{
	text[0] = '\0';
	for (unsigned int s = 0; s < cluster->n_servers; s++) {
		const struct to_server *server = &cluster->servers[s];

		for (unsigned int p = 0; p < server->n_ports; p++)
			if (!memcmp(server->ports[p].mac, mac, 6) ||
			    !memcmp(server->ports[p].relay_mac, mac, 6))
				snprintf(text, size, "%s:%s", server->name,
					 server->ports[p].name);
	}
}

/* The function that shares the planned peer's cable and has @mac, NULL for none. */
static const struct to_port *cabling_sibling(const struct cable *c, const uint8_t *mac)
{
	for (unsigned int q = 0; q < c->peer_server->n_ports; q++) {
		const struct to_port *port = &c->peer_server->ports[q];

		if (to_port_shares_cable(c->peer_server, q, c->peer - c->peer_server->ports) &&
		    (!memcmp(port->mac, mac, 6) || !memcmp(port->relay_mac, mac, 6)))
			return port;
	}
	return NULL;
}

/* The cable is right, and the planned function at its other end says nothing. */
static void cabling_report_sibling(struct cable *c, const struct to_port *sibling)
{
	char fix[200];

	snprintf(fix, sizeof(fix), "the cable is right: on %.63s, ip link set %s up, or run toctl apply",
		 c->peer_server->name, to_port_rdma(c->peer));
	to_check_add(c->checks, TO_CHECK_FAIL, "cabling", c->port->name, fix,
		     "%s does not answer, and %s on its cable does", c->peer_name, sibling->name);
}

static void cabling_report_wrong(struct cable *c, const uint8_t *mac)
{
	char found[TO_NAME_MAX + IFNAMSIZ + 1], fix[200];

	cabling_port_of_mac(c->cluster, mac, found, sizeof(found));
	if (!found[0])
		snprintf(found, sizeof(found), "%02x:%02x:%02x:%02x:%02x:%02x",
			 mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	if (c->on) {
		to_check_add(c->checks, TO_CHECK_FAIL, "cabling", c->port->name,
			     "correct the plan's MAC addresses, or the addresses of these ports",
			     "on \"%.63s\" %.70s answers for %.70s", c->on->name, found,
			     c->peer_name);
		return;
	}
	snprintf(fix, sizeof(fix), "move the fibre (or cross-connect) from %.70s to %.70s",
		 found, c->peer_name);
	to_check_add(c->checks, TO_CHECK_FAIL, "cabling", c->port->name, fix,
		     "leads to %s, the plan says %s", found, c->peer_name);
}

/* Somebody else than the planned peer answers. */
static void cabling_report_answer(struct cable *c, const uint8_t *mac)
{
	const struct to_port *sibling = cabling_sibling(c, mac);

	if (sibling)
		cabling_report_sibling(c, sibling);
	else
		cabling_report_wrong(c, mac);
}

/* On a packet switch others answering says nothing of the one that does not. */
static void cabling_report_silent(struct cable *c)
{
	char fix[200];

	snprintf(fix, sizeof(fix),
		 "run toctl apply on %.*s, then check that both ports are on \"%.63s\", in one VLAN",
		 (int)strcspn(c->peer_name, ":"), c->peer_name, c->on->name);
	to_check_add(c->checks, TO_CHECK_FAIL, "cabling", c->port->name, fix,
		     "%s on \"%.63s\" does not answer", c->peer_name, c->on->name);
}

/* The planned peer is silent: is it another server, or nobody? */
static void cabling_find_other(struct cable *c)
{
	const struct to_cluster *cluster = c->cluster;
	struct in_addr *nodes = calloc(cluster->n_servers + 1, sizeof(*nodes));
	unsigned int n = 0;
	uint8_t mac[6];
	char fix[200];

	/* one's own siblings hear the question, too */
	for (unsigned int s = 0; nodes && s < cluster->n_servers; s++)
		if (s != c->self && cluster->servers[s].address.has_v4)
			nodes[n++] = cluster->servers[s].address.v4;
	if (n && !cabling_ask(c, nodes, n, mac)) {
		cabling_report_answer(c, mac);
	} else {
		snprintf(fix, sizeof(fix), "run toctl apply on %.*s, then check the fibre",
			 (int)strcspn(c->peer_name, ":"), c->peer_name);
		to_check_add(c->checks, TO_CHECK_FAIL, "cabling", c->port->name, fix,
			     "carrier, but no server of the plan answers; planned: %s",
			     c->peer_name);
	}
	free(nodes);
}

/* Which size gets through to the peer's interface @name, which has @mac. */
static void cabling_check_size(struct cable *c, const char *name, const uint8_t *mac)
{
	struct in_addr own = c->port->address.v4, peer = c->peer->address.v4;
	const int server = strcspn(c->peer_name, ":");
	int small = -ETIMEDOUT, large = -ETIMEDOUT;
	char fix[200];

	c->stuck++;
	for (int i = 0; i < TRIES && small == -ETIMEDOUT; i++)
		small = to_probe_echo(&c->probe, own, peer, mac, SMALL, ANSWER_MS);
	if (small) {
		to_check_add(c->checks, TO_CHECK_WARN, "mtu", c->port->name,
			     "allow ICMP echo at the other end, and apply the plan there",
			     "%.*s:%s does not answer a ping, so its MTU is not known",
			     server, c->peer_name, name);
		return;
	}
	for (int i = 0; i < TRIES && large == -ETIMEDOUT; i++)
		large = to_probe_echo(&c->probe, own, peer, mac, c->nic->mtu,
				      ANSWER_MS);
	c->stuck -= !large;
	if (!large && c->on)
		return;
	if (!large) {
		to_check_add(c->checks, TO_CHECK_OK, "mtu", c->port->name, NULL,
			     "%u bytes reach %.*s:%s and return", c->nic->mtu,
			     server, c->peer_name, name);
		return;
	}
	snprintf(fix, sizeof(fix), "on %.*s: ip link set %s mtu %u",
		 server, c->peer_name, name, c->nic->mtu);
	to_check_add(c->checks, TO_CHECK_FAIL, "mtu", c->port->name, fix,
		     "%u bytes do not get through to %.*s:%s, small packets do",
		     c->nic->mtu, server, c->peer_name, name);
}

static void cabling_check_cable(struct cable *c)
{
	struct to_error err = {};
	uint8_t mac[6];
	int ret;

	ret = to_probe_open(&c->probe, c->nic->ifindex, c->nic->mac, &err);
	if (ret) {
		to_check_add(c->checks, TO_CHECK_WARN, "cabling", c->port->name,
			     ret == -EPERM ? "run toctl doctor as root" : NULL,
			     "not checked: %s", err.text);
		return;
	}
	ret = cabling_ask(c, &c->peer->address.v4, 1, mac);
	if (ret == -ETIMEDOUT && c->on) {
		cabling_report_silent(c);
	} else if (ret == -ETIMEDOUT) {
		cabling_find_other(c);
	} else if (ret) {
		to_check_add(c->checks, TO_CHECK_FAIL, "cabling", c->port->name, NULL,
			     "cannot send: %s", strerror(-ret));
	} else if (!cabling_is_peer(c, mac)) {
		cabling_report_answer(c, mac);
	} else {
		c->answered++;
		if (!c->on)
			to_check_add(c->checks, TO_CHECK_OK, "cabling", c->port->name, NULL,
				     "leads to %s as planned", c->peer_name);
		cabling_check_size(c, to_port_rdma(c->peer), c->peer->mac);
		if (memcmp(c->peer->mac, c->peer->relay_mac, 6))
			cabling_check_size(c, c->peer->name, c->peer->relay_mac);
	}
	to_probe_close(&c->probe);
}

/* Towards the port @peer. */
static void cabling_check_peer(struct cable *c, struct to_port_ref peer)
{
	const struct to_server *server = &c->cluster->servers[peer.server];

	c->peer_server = server;
	c->peer = &server->ports[peer.port];
	snprintf(c->peer_name, sizeof(c->peer_name), "%s:%s", server->name, c->peer->name);
	if (c->port->address.has_v4 && c->peer->address.has_v4)
		cabling_check_cable(c);
	else
		to_check_add(c->checks, TO_CHECK_OK, "cabling", c->port->name, NULL,
			     "not checked: the ports have no IPv4 addresses");
}

/* Towards all others that share the packet switch of @server's port. */
static void cabling_check_switch(struct cable *c, uint32_t server)
{
	unsigned int others = 0;

	c->on = to_port_packet_switch(c->cluster, c->port);
	for (uint32_t s = 0; s < c->cluster->n_servers; s++) {
		const int port = to_cluster_find_on(&c->cluster->servers[s], c->port->packet_switch);

		if (s == server || port < 0 ||
		    to_plan_does_without(c->plan, (struct to_port_ref){ s, port }))
			continue;
		others++;
		cabling_check_peer(c, (struct to_port_ref){ s, port });
	}
	if (!c->answered)
		return;
	to_check_add(c->checks, TO_CHECK_OK, "cabling", c->port->name, NULL,
		     "%u of %u other ports on \"%s\" answer", c->answered, others, c->on->name);
	if (!c->stuck)
		to_check_add(c->checks, TO_CHECK_OK, "mtu", c->port->name, NULL,
			     "%u bytes reach these and return", c->nic->mtu);
}

void to_check_cabling(struct to_checks *checks, const struct to_check_view *view)
{
	const struct to_server *self;

	if (!view->plan)
		return;
	if (view->plan->cluster->link_mode == TO_LINKS_SIMPLEX) {
		to_check_add(checks, TO_CHECK_OK, "cabling", "ports", NULL,
			     "not checked: on simplex links nobody can answer");
		return;
	}
	self = &view->plan->cluster->servers[view->server];
	for (unsigned int p = 0; p < self->n_ports; p++) {
		struct cable c = {
			.checks = checks, .plan = view->plan, .cluster = view->plan->cluster,
			.port = &self->ports[p], .self = view->server,
			.nic = to_rtnl_nic_find(view->nics, view->n_nics,
						to_port_rdma(&self->ports[p])),
		};
		struct to_port_ref peer;

		if (!c.nic || !c.nic->carrier)
			continue;
		if (c.port->packet_switch)
			cabling_check_switch(&c, view->server);
		else if (!to_plan_peer(view->plan, (struct to_port_ref){ view->server, p }, &peer))
			cabling_check_peer(&c, peer);
	}
}
