/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHECK_H
#define TOPOOPT_CHECK_H

/* What commonly breaks a fabric without switches, and how to fix it. */

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "data/plan.h"
#include "kernel/genl.h"
#include "kernel/module.h"
#include "kernel/peers.h"
#include "kernel/rtnl.h"

enum to_verdict { TO_CHECK_OK, TO_CHECK_WARN, TO_CHECK_FAIL };

/**
 * struct to_check - one thing looked at
 * @name: what was looked at: "carrier", "mtu"
 * @subject: of what: an interface, or a part of the kernel
 * @text: what was found
 * @fix: command or action that fixes it, "" when there is nothing to fix
 */
struct to_check {
	enum to_verdict verdict;
	char name[24], subject[64], text[200], fix[400];
};

/** struct to_checks - findings in the order they were made */
struct to_checks {
	struct to_check *items;
	unsigned int n, room;
};

/**
 * to_check_add() - note a finding; the format makes its text
 * @fix: copied; NULL for none
 */
void to_check_add(struct to_checks *checks, enum to_verdict verdict,
		  const char *name, const char *subject, const char *fix,
		  const char *fmt, ...) __attribute__((format(printf, 6, 7)));
void to_checks_free(struct to_checks *checks);

extern const char *const to_verdict_names[];	/* "ok", "warn", "FAIL" */

/** to_checks_json() - return the findings as an array */
json_t *to_checks_json(const struct to_checks *checks);

/** to_checks_take() - add the findings of @array, as to_checks_json() makes it, on whatever host */
void to_checks_take(struct to_checks *checks, const json_t *array);

/** to_checks_failed() - tell whether one of the findings is a failure */
bool to_checks_failed(const struct to_checks *checks);

/**
 * struct to_check_view - the server that is looked at
 * @device: the topoopt device, NULL when there is none
 * @ports: names of its ports, the plan's if there is a plan
 * @rdma: names of the interfaces with the ports' RDMA MAC and address: the ports
 *	themselves, or a second interface (PCI function) on the same port
 * @plan: NULL without one
 * @server: in the plan
 */
struct to_check_view {
	const struct to_nic *nics;
	unsigned int n_nics;
	const struct to_nic *device;
	const char *ports[TO_PORTS_MAX], *rdma[TO_PORTS_MAX];
	unsigned int n_ports;
	const struct to_plan *plan;
	unsigned int server;
};

/** to_check_view_plan() - look at @server of @plan; sets its ports */
void to_check_view_plan(struct to_check_view *view, const struct to_plan *plan,
			unsigned int server);

/** to_check_two() - whether port @p has a second interface, for RDMA */
bool to_check_two(const struct to_check_view *view, unsigned int p);

/** to_check_dark() - whether the plan has no link for port @p */
bool to_check_dark(const struct to_check_view *view, unsigned int p);

/**
 * to_check_module() - check that the module is loaded, or there to be loaded, and up to date
 * @module: what the module says of itself; NULL: it is not loaded
 */
void to_check_module(struct to_checks *checks, const struct to_module *module);

/**
 * to_check_sysctl() - rp_filter, ip_forward and IPv6
 * @device: name of the topoopt device
 */
void to_check_sysctl(struct to_checks *checks, const char *device,
		     const struct to_check_view *view);

/**
 * to_check_netfilter() - nftables chains that drop by default
 *
 * Relayed packets pass only chains on a port's own ingress; the module takes
 * them before input and forward. Does not see rules of the old iptables.
 */
void to_check_netfilter(struct to_checks *checks,
			const struct to_check_view *view);

/**
 * to_check_ports() - the device and its ports as interfaces: present, up,
 * carrier, MAC, MTU, speed, offloads
 */
void to_check_ports(struct to_checks *checks, const struct to_check_view *view);

/**
 * to_check_xdp() - check how ports relay, by packets, and what keeps XDP from some
 * @ports: all ports of the topoopt device
 * @n: number of ports
 */
void to_check_xdp(struct to_checks *checks, const struct to_kernel_port *ports, unsigned int n);

/**
 * to_check_queues() - whether the ports' queues are long enough for RoCEv2, and mark it
 *
 * Interfaces without a queue, as virtual ones are, pass without a word.
 */
void to_check_queues(struct to_checks *checks, const struct to_check_view *view);

/**
 * to_check_rdma() - the ports' RDMA devices: the RoCE GIDs of planned addresses, and
 * which devices a job has to do without
 *
 * A queue pair sends and receives by the port of its device, whatever the tables say:
 * without carrier it reaches nobody.
 */
void to_check_rdma(struct to_checks *checks, const struct to_check_view *view);

/** struct to_check_peers - what is known of the neighbours of a server */
struct to_check_peers {
	const char *self;		/* name of the server */
	struct to_peer *peers;
	unsigned int n;
};

/** to_check_peers() - check that each neighbour is heard, and hears this server */
void to_check_peers(struct to_checks *checks, const struct to_check_peers *view);

/**
 * to_check_routes() - name routes and rules of others that win over the plan's
 * @device: name of the topoopt device
 * @view: with a plan
 *
 * Asks the kernel for its route to each address of the plan.
 */
void to_check_routes(struct to_checks *checks, const char *device,
		     const struct to_check_view *view);

/**
 * to_check_cabling() - who is at the other end of each port, and with what MTU
 *
 * Asks by ARP for the planned port's address, as a probe without sender
 * address (RFC 5227), which a Linux peer answers whatever its routes say, with
 * the MAC of the port that heard it. If nobody answers, asks for every node of the
 * plan. Then an ICMP echo as large as the MTU to each of the port's MACs, the one
 * for last hops and the one for transit. On a packet switch so of all others there. Needs a plan, duplex links, IPv4
 * addresses and CAP_NET_RAW.
 */
void to_check_cabling(struct to_checks *checks, const struct to_check_view *view);

#endif
