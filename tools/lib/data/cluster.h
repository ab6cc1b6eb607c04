/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CLUSTER_H
#define TOPOOPT_CLUSTER_H

/*
 * The servers of a fabric, their ports, and the fibres, optical switches or packet
 * switches between them: cluster.json.
 */

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/address.h"
#include "base/error.h"
#include "base/text.h"
#include "data/continuity.h"

#define TO_PORTS_MAX 64		/* TOPOOPT_MAX_PORTS of the kernel */
#define TO_SERVERS_MAX 65536
#define TO_NEIGHBOURS_MAX 64	/* of a server by all its ports: bits of a mask of next hops */
#define TO_SERVER_NONE UINT32_MAX

/**
 * enum to_link_mode - what one fibre does
 * @TO_LINKS_DUPLEX: a link joins two ports and carries both directions
 * @TO_LINKS_SIMPLEX: a port's transmitter and receiver are switched separately;
 *	a link goes from the transmitter of one port to the receiver of another
 *	(the directed model of the TopoOpt paper)
 */
enum to_link_mode { TO_LINKS_DUPLEX, TO_LINKS_SIMPLEX };

/**
 * struct to_look_ahead - second fibre of a port, behind a 1x2 optical switch
 *	(TopoOpt, Figure 10)
 * @optical_switch: where it leads
 * @optical_port: port of that switch
 * @selector: optical switch of which the 1x2 switch is a part
 * @common: port of the selector that leads to the server; 0 when the port has
 *	only one fibre
 * @ends: ports of the selector that lead to to_port.optical_port and to
 *	@optical_port; one of them is joined to @common
 */
struct to_look_ahead {
	int optical_switch, selector;
	unsigned int optical_port, common, ends[2];
};

/** enum to_transit - who takes RoCEv2 for other servers that comes in by a port */
enum to_transit {
	TO_TRANSIT_KERNEL,	/* the topoopt device */
	TO_TRANSIT_NIC,		/* the card, which forwards it to another of its ports */
	TO_TRANSIT_NONE,	/* nobody: the RDMA engine drops it */
};

/**
 * struct to_pcie_link - what ports of a server share towards its memory
 * @name: unique on the server
 * @within: 1 + index of the link that this one is a branch of, which comes before it; 0
 *	when it is none
 * @rate: bits/s each way as sysfs has it, after line coding; 0 if unknown
 * @to_host: measured, bits/s; 0 if not
 * @from_host: measured, bits/s; 0 if not
 */
struct to_pcie_link {
	char name[IFNAMSIZ];
	unsigned int within;
	uint64_t rate, to_host, from_host;
};

/** to_pcie_link_to_host() - bits/s that @link carries from its ports to memory */
static inline uint64_t to_pcie_link_to_host(const struct to_pcie_link *link)
{
	return link->to_host ? link->to_host : link->rate;
}

/** to_pcie_link_from_host() - bits/s that @link carries from memory to its ports */
static inline uint64_t to_pcie_link_from_host(const struct to_pcie_link *link)
{
	return link->from_host ? link->from_host : link->rate;
}

/**
 * struct to_port - one NIC interface that faces the fabric: a port, or one of the PCI
 *	functions that share it
 * @name: interface name on its server
 * @transmit: interface to transmit through when it is not @name, else ""
 * @mac: address of the RDMA interface, to which last hops are sent
 * @relay_mac: address of the relay interface, to which transit is sent;
 *	equal to @mac when the NIC has only one
 * @address: address of the port, owned by RDMA
 * @bandwidth: bits/s
 * @optical_switch: index into to_cluster.switches, -1 when not on one
 * @optical_port: port number on that switch, as the switch counts
 * @look_ahead: the second fibre
 * @packet_switch: 1 + index into to_cluster.packet_switches, 0 when not on one
 * @cable: name of the connector on the server that the function shares, "" when not
 * @card: name of the card that can forward between its ports, "" if none is known to
 * @pcie: 1 + index of the innermost of to_server.pcie that it is on, 0 when unknown
 * @transit: who takes RoCEv2 for other servers
 */
struct to_port {
	char name[IFNAMSIZ];
	char transmit[IFNAMSIZ];
	uint8_t mac[6], relay_mac[6];
	struct to_address address;
	uint64_t bandwidth;
	int optical_switch;
	unsigned int optical_port;
	struct to_look_ahead look_ahead;
	unsigned int packet_switch;
	char cable[IFNAMSIZ], card[IFNAMSIZ];
	unsigned int pcie;
	enum to_transit transit;
};

/**
 * struct to_server - one host
 * @name: as its host name says
 * @address: node address, carried by the topoopt device
 * @pcie: outer links before their branches
 * @unable: its module has no continuity checks; links to it follow light
 */
struct to_server {
	char name[TO_NAME_MAX];
	struct to_address address;
	unsigned int n_ports, n_pcie;
	struct to_port *ports;
	struct to_pcie_link *pcie;
	bool unable;
};

/** enum to_switch_kind - driver of an optical switch; see switch.h */
enum to_switch_kind {
	TO_SWITCH_BY_HAND, TO_SWITCH_COMMAND, TO_SWITCH_NETNS, TO_SWITCH_POLATIS_SCPI,
	TO_SWITCH_POLATIS_RESTCONF, TO_SWITCH_SONIC, TO_SWITCH_KINDS
};

/**
 * struct to_switch_control - how an optical switch is set
 * @driver: TO_SWITCH_BY_HAND when there is no "control"
 * @address: in the driver's notation; "" for the default
 * @command: command that sets it or that reaches it, for to_argv_split(); "": none
 * @user: to log in as, "" for nobody
 * @password_file: its password is the first line of this file, or
 * @password_env: the value of this environment variable
 * @egress_offset: the output of port p has the number p + this; 0 on switches
 *	whose ports have one number
 * @timeout_ns: for each answer of the switch
 */
struct to_switch_control {
	enum to_switch_kind driver;
	char address[256], command[512];
	char user[64], password_file[256], password_env[64];
	unsigned int egress_offset;
	uint64_t timeout_ns;
};

/** struct to_optical_switch - patch panel or OCS */
struct to_optical_switch {
	char name[TO_NAME_MAX];
	unsigned int n_ports;
	uint64_t reconfiguration_ns;
	struct to_switch_control control;
};

/**
 * struct to_packet_switch - electrical switch: a segment that several ports share
 * @n_ports: how many may be on it
 *
 * Each of its ports reaches all others at one hop, and has its bandwidth once, to share
 * among them. The switch itself does not block. A server has one port on it at most.
 */
struct to_packet_switch {
	char name[TO_NAME_MAX];
	unsigned int n_ports;
};

/** struct to_port_ref - port @port of server @server, both indices */
struct to_port_ref {
	uint32_t server;
	uint32_t port;
};

/**
 * enum to_link_use - what the optimiser made a link for
 */
enum to_link_use { TO_LINK_FIXED, TO_LINK_ALLREDUCE, TO_LINK_MP, TO_LINK_REPAIR };

/**
 * struct to_link - one link; simplex links go from @a to @b
 * @ring: index of the ring that owns a TO_LINK_ALLREDUCE link, -1 else
 * @tree: the same of the tree
 */
struct to_link {
	struct to_port_ref a, b;
	enum to_link_use use;
	int ring, tree;
};

/**
 * struct to_cluster - the whole fabric
 * @links: the cabling, if it is fixed, or its current state; may be empty. Those of packet
 *	switches, which follow from their ports, are not among them
 * @by_name: indices of the servers sorted by name
 * @continuity: how servers check their links
 */
struct to_cluster {
	enum to_link_mode link_mode;
	unsigned int n_servers, n_switches, n_packet_switches, n_links;
	struct to_server *servers;
	struct to_optical_switch *switches;
	struct to_packet_switch *packet_switches;
	struct to_link *links;
	uint32_t *by_name;
	struct to_continuity continuity;
};

#define TO_SYNTHETIC_BANDWIDTH 100000000000	/* bits/s */

/**
 * to_cluster_default_address() - address of the default scheme, see to_cluster_synthetic()
 * @q: 0 of the node, 1 + q of port q
 * @n: number of the server, from 1
 */
void to_cluster_default_address(struct to_address *address, unsigned int q, unsigned int n);

/**
 * to_cluster_synthetic() - a cluster with the default address scheme
 * @n_servers: 2..65534
 * @degree: ports per server, 1..TO_PORTS_MAX - 10
 * @bandwidth: of every port, bits/s; 0 for TO_SYNTHETIC_BANDWIDTH
 * @mode: link mode
 *
 * Server i (0-based) is "s<i>", ports "eth0".."eth<d-1>". With n = i + 1 as 16
 * bits: node 10.200.n.n and fd00:746f::n, port q 10.(201+q).n.n (degree > 54
 * is refused) and fd00:746f:0:(q+1)::n, MAC 02:54:4f:q:n:n. Port q of all
 * servers is on the optical switch "ocs<q>" as in the paper's Figure 7 when
 * @mode is simplex; on duplex links all ports are on one switch "ocs0".
 */
struct to_cluster *to_cluster_synthetic(unsigned int n_servers,
					unsigned int degree, uint64_t bandwidth,
					enum to_link_mode mode,
					struct to_error *err);

/** to_cluster_copy() - Return: the copy, NULL when out of memory */
struct to_cluster *to_cluster_copy(const struct to_cluster *cluster);
void to_cluster_free(struct to_cluster *cluster);

/**
 * to_cluster_sort() - make to_cluster.by_name
 *
 * For those who fill in servers themselves; 0 or -ENOMEM.
 */
int to_cluster_sort(struct to_cluster *cluster);

/**
 * to_cluster_join_shared() - add the links that packet switches make
 *
 * That is one for any two ports on the same, in the order of switches and servers, after
 * the cables. Return: 0 or -ENOMEM.
 */
int to_cluster_join_shared(struct to_cluster *cluster);

/**
 * to_cluster_reach() - count the servers that servers reach at one hop at most, if no cable is dark
 * @reach: per server
 *
 * Return: 0 or -ENOMEM.
 */
int to_cluster_reach(const struct to_cluster *cluster, unsigned int *reach);

/** to_cluster_find_server() - index of the server called @name, or -1 */
int to_cluster_find_server(const struct to_cluster *cluster, const char *name);

/**
 * to_server_fits_host() - tell whether the names of @server and of a host are equal up to
 * their first dots; addresses have no first part, and match whole
 */
bool to_server_fits_host(const struct to_server *server, const char *host);

/**
 * to_cluster_find_host() - find the server that a host is, by the host's own name
 *
 * The server's name is that of the host to the letter; else it fits the host, and no other
 * server's name does.
 *
 * Return: index of the server; -ENOENT without one; -EEXIST when there are several.
 */
int to_cluster_find_host(const struct to_cluster *cluster, const char *host);

/** to_cluster_find_port() - index of @server's port called @name, or -1 */
int to_cluster_find_port(const struct to_server *server, const char *name);

/**
 * to_cluster_find_on() - index of @server's port on packet switch @packet_switch, or -1
 * @packet_switch: 1 + index, as to_port.packet_switch; 0 finds none
 */
int to_cluster_find_on(const struct to_server *server, unsigned int packet_switch);

/** to_port_shares_cable() - tell whether ports @p and @q of @server are functions on one cable */
bool to_port_shares_cable(const struct to_server *server, unsigned int p, unsigned int q);

/** to_server_cable_bandwidth() - add up the shares that port @p and its siblings have of their cable */
uint64_t to_server_cable_bandwidth(const struct to_server *server, unsigned int p);

/** to_port_is_function() - tell whether port @p of @server shares its cable with others */
bool to_port_is_function(const struct to_server *server, unsigned int p);

/** to_cluster_shares_cables() - tell whether any ports of @cluster share a cable */
bool to_cluster_shares_cables(const struct to_cluster *cluster);

/**
 * to_cluster_keeps_links() - tell whether no plan may choose links: those of packet switches are
 * all there, and functions that share a cable cannot be joined to different places
 */
static inline bool to_cluster_keeps_links(const struct to_cluster *cluster)
{
	return cluster->n_packet_switches || to_cluster_shares_cables(cluster);
}

/** to_cluster_cables() - count the cables of @cluster's links: those of functions that share one once */
unsigned int to_cluster_cables(const struct to_cluster *cluster);

/** to_server_cables() - count the connectors of @server: its ports, shared ones once */
unsigned int to_server_cables(const struct to_server *server);

/**
 * to_port_rdma() - name of the interface that has the port's mac and address
 *
 * With one interface that is the port itself. With two, the port is the relay
 * interface, and it transmits through the RDMA interface.
 */
const char *to_port_rdma(const struct to_port *port);

/** to_port_packet_switch() - the packet switch that @port is on, NULL for none */
static inline const struct to_packet_switch *
to_port_packet_switch(const struct to_cluster *cluster, const struct to_port *port)
{
	return port->packet_switch ? &cluster->packet_switches[port->packet_switch - 1] : NULL;
}

/** to_link_is_shared() - whether a packet switch makes @link, which follows from its ports then */
static inline bool to_link_is_shared(const struct to_cluster *cluster, const struct to_link *link)
{
	return cluster->servers[link->a.server].ports[link->a.port].packet_switch;
}

#endif
