/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_GENL_H
#define TOPOOPT_GENL_H

/* Client of the generic netlink family "topoopt": uapi/linux/topoopt.h. */

#include <linux/topoopt.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/module.h"
#include "kernel/netlink.h"

#define TO_COUNTERS 24
#define TO_KERNEL_NAME 64	/* bytes of a server's name, with the NUL */
#define TO_KERNEL_KEY 16	/* bytes of a key of continuity checks */

/** Index into counters of TOPOOPT_A_COUNTERS_@name */
#define TO_COUNTER(name) \
	(TOPOOPT_A_COUNTERS_##name - TOPOOPT_A_COUNTERS_RELAY_RX_PACKETS)

/** Names of the counters, in the order of to_device.counters. */
extern const char *const to_genl_counter_names[TO_COUNTERS];

/** struct to_kernel_check - how a table's neighbours are checked; zeroed: they are not */
struct to_kernel_check {
	uint32_t interval;		/* enum topoopt_check_interval */
	uint64_t fabric;		/* number of the fabric */
	uint32_t grace_ms;		/* time after a commit in which neighbours are trusted */
	uint8_t key[TO_KERNEL_KEY];	/* zeroed without one */
	bool hidden;			/* the kernel keeps the key from the caller */
	char server[TO_KERNEL_NAME];	/* name of this server */
};

/**
 * struct to_peer - neighbour that a table expects at a port, with its checks
 *
 * A table that is to be staged has only what comes before @reason.
 */
struct to_peer {
	uint32_t ifindex;		/* of the port */
	char port[IFNAMSIZ];		/* name of the port; "" unless to_peers_get() filled it in */
	uint32_t index;			/* of the neighbour's server in the plan */
	uint8_t mac[6];			/* where transit goes */
	char server[TO_KERNEL_NAME];	/* name of the neighbour's server */
	char server_port[IFNAMSIZ];	/* name of the neighbour's port */
	uint32_t reason;		/* enum topoopt_check_reason */
	bool transit, local;		/* takes packets to relay, takes packets for itself */
	bool heard;			/* a check arrived, the last one @silence_ms ago */
	uint32_t silence_ms;
	uint64_t received, missing;	/* checks that arrived, checks that did not */
	uint64_t generation;		/* of its table, 0 without one */
	uint32_t largest;		/* bytes of the largest frame that it received, 0: not known */
	char stranger[TO_KERNEL_NAME];	/* server that is heard in its place, "" */
	char stranger_port[IFNAMSIZ];	/* name of that server's port */
};

/**
 * struct to_device - a topoopt device
 * @memory: bytes of kernel memory that the active table holds
 * @staged: there is a stage, of @staged_routes and @staged_groups
 * @prepared: it outlives the socket that made it
 * @check: how the active table's neighbours are checked
 */
struct to_device {
	uint32_t ifindex;
	char name[IFNAMSIZ];
	uint64_t generation, memory;
	uint32_t routes, groups, staged_routes, staged_groups;
	bool staged, prepared;
	struct to_kernel_check check;
	uint64_t counters[TO_COUNTERS];
};

/**
 * struct to_kernel_port - a port of a topoopt device
 * @tx_ifindex: what it transmits through, @ifindex unless set otherwise
 * @live: up and with carrier
 * @xdp_receive: XDP may relay in the driver what arrives
 * @xdp_transmit: XDP may send RoCEv2 through it now
 * @xdp_error: errno of the last frame that XDP could not send, since it is live; 0 for none
 * @xdp_classes: 1 << enum topoopt_traffic_class, of what XDP may send through it
 */
struct to_kernel_port {
	uint32_t ifindex, tx_ifindex;
	char name[IFNAMSIZ], tx_name[IFNAMSIZ];
	bool live, xdp_receive, xdp_transmit;
	uint32_t xdp_error, xdp_classes;
	uint64_t counters[TO_COUNTERS];
};

/** struct to_kernel_nexthop - a next hop; @port and @ingress (0: none) are ifindexes */
struct to_kernel_nexthop {
	uint32_t port, ingress;
	uint16_t weight;
	uint8_t mac[6];
	bool backup, live;
};

/** struct to_kernel_group - next hop group @id */
struct to_kernel_group {
	uint32_t id;
	bool backup_in_use;
	unsigned int n;
	struct to_kernel_nexthop *nexthops;
};

#define TO_KERNEL_GROUP_NONE UINT32_MAX

/**
 * struct to_kernel_route - a route
 * @family: AF_INET (4 bytes of @dst and @src count) or AF_INET6
 * @src_len: 0 when no source qualifies it
 * @type: enum topoopt_route_type
 * @group: id of a group, or TO_KERNEL_GROUP_NONE
 */
struct to_kernel_route {
	uint8_t dst[16], src[16];
	uint8_t family, dst_len, src_len, type;
	uint32_t group, server;
};

/** struct to_kernel_table - a whole table: checks, neighbours, groups and routes */
struct to_kernel_table {
	uint64_t generation;
	struct to_kernel_check check;
	unsigned int n_peers, n_groups, n_routes;
	struct to_peer *peers;
	struct to_kernel_group *groups;
	struct to_kernel_route *routes;
};

void to_kernel_table_free(struct to_kernel_table *table);

/** struct to_genl - a socket that speaks to the family */
struct to_genl {
	struct to_netlink nl;
	uint16_t family;
	uint32_t events;		/* multicast group */
	struct to_module module;	/* what the module says of itself */
};

/**
 * to_genl_open() - connect to the module, which the kernel loads by itself, and ask what it can
 *
 * Return: 0; -ENOENT when there is no such module; another negative errno.
 */
int to_genl_open(struct to_genl *genl, struct to_error *err);
void to_genl_close(struct to_genl *genl);

int to_genl_device(struct to_genl *genl, uint32_t ifindex,
		   struct to_device *device, struct to_error *err);

/** to_genl_ports() - ports of a device; caller frees */
int to_genl_ports(struct to_genl *genl, uint32_t ifindex,
		  struct to_kernel_port **ports, unsigned int *n,
		  struct to_error *err);

/** to_genl_port_set() - transmit of @port through @tx_ifindex, 0: the port */
int to_genl_port_set(struct to_genl *genl, uint32_t ifindex, uint32_t port,
		     uint32_t tx_ifindex, struct to_error *err);

/** to_genl_port_set_xdp() - set the traffic classes that XDP may send through @port */
int to_genl_port_set_xdp(struct to_genl *genl, uint32_t ifindex, uint32_t port,
			 uint32_t classes, struct to_error *err);

/** to_genl_account() - run BPF program @program for every packet while @genl is open */
int to_genl_account(struct to_genl *genl, uint32_t ifindex, int program,
		    struct to_error *err);

/** to_genl_stage() - open a stage and fill it with @table */
int to_genl_stage(struct to_genl *genl, uint32_t ifindex,
		  const struct to_kernel_table *table, struct to_error *err);

int to_genl_prepare(struct to_genl *genl, uint32_t ifindex,
		    struct to_error *err);
int to_genl_abort(struct to_genl *genl, uint32_t ifindex, struct to_error *err);

/**
 * to_genl_commit() - make the stage active if @base still is
 * @generation: what the new table gets, 0 or NULL for the next; gets what it got
 *
 * Return: 0; -ESTALE when another table became active; another errno.
 */
int to_genl_commit(struct to_genl *genl, uint32_t ifindex, uint64_t base,
		   uint64_t *generation, struct to_error *err);

/**
 * to_genl_peers() - read the neighbours of the active table, without names of ports
 * @peers: gets them, for free()
 *
 * Return: 0, with none from a module without checks; a negative errno.
 */
int to_genl_peers(struct to_genl *genl, uint32_t ifindex, struct to_peer **peers,
		  unsigned int *n, struct to_error *err);

/** to_genl_peer() - read the neighbour of a peer-ntf message; false when there is none */
bool to_genl_peer(const struct nlmsghdr *nlh, struct to_peer *peer);

/** to_genl_table() - read the active table, or the stage, of which no neighbours are known */
int to_genl_table(struct to_genl *genl, uint32_t ifindex, bool staged,
		  struct to_kernel_table *table, struct to_error *err);

/**
 * to_genl_route() - the route that packets to @route->dst take now
 * @route: dst, and src when src_len is not 0; replaced by the route found
 * @group: its group when it is unicast (n is 0 else); caller frees nexthops
 *
 * Return: 0; -ENOENT when there is no route; another errno.
 */
int to_genl_route(struct to_genl *genl, uint32_t ifindex,
		  struct to_kernel_route *route, struct to_kernel_group *group,
		  uint64_t *generation, struct to_error *err);

#endif
