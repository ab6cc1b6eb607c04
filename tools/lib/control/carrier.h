/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CARRIER_H
#define TOPOOPT_CARRIER_H

/*
 * Which ports are down for good, from looks at both ends of all links (held.h). A port has
 * carrier, here, when its link is up.
 *
 * A port that loses its carrier is in trouble until it has had carrier for after_ns
 * without a break. It goes down when it is dark after as much trouble, so one that flaps
 * does too. It comes back when it has had carrier without a break for its hold-down. That
 * doubles each time the port goes down within eight of it after coming back, up to 64
 * times the least.
 */

#include <stdbool.h>
#include <stdint.h>

#include "control/held.h"
#include "data/down.h"
#include "data/plan.h"

/**
 * struct to_carrier_config - when a port counts as down, and as up again
 * @after_ns: without carrier; 0: never
 * @hold_ns: the least hold-down
 */
struct to_carrier_config {
	uint64_t after_ns, hold_ns;
};

/** TO_CARRIER_DEFAULTS - longer than a link takes to train again, shorter than people do */
#define TO_CARRIER_DEFAULTS { .after_ns = 1000000000, .hold_ns = 10000000000 }

/**
 * struct to_carrier_port - one port
 * @lit: at the last look
 * @down: what it counts as
 * @troubled: not down, but without carrier of late
 * @returned: it was down before
 * @since_ns: of @lit
 * @trouble_ns: of @troubled
 * @return_ns: when it came back last
 * @hold_ns: hold-down of now
 * @reason: of not being lit, as seen last
 * @stranger: port @hears is heard in place of the plan's, since @hears_ns; at @heard_ns last
 */
struct to_carrier_port {
	bool lit, down, troubled, returned;
	uint64_t since_ns, trouble_ns, return_ns, hold_ns;
	enum to_held reason;
	bool stranger;
	struct to_port_ref hears;
	uint64_t hears_ns, heard_ns;
};

/**
 * struct to_carrier - all ports of a cluster, TO_PORTS_MAX for each server
 * @brings: servers that answer and have no table are about to get theirs, and so nothing new is
 *	known of the ports at the other ends of their links
 */
struct to_carrier {
	struct to_carrier_config config;
	bool brings;
	unsigned int n_servers;
	struct to_carrier_port *ports;
};

/** to_carrier_init() - all ports have carrier; 0 or -ENOMEM */
int to_carrier_init(struct to_carrier *carrier, const struct to_carrier_config *config,
		    unsigned int n_servers, uint64_t now_ns);
void to_carrier_free(struct to_carrier *carrier);

/** to_carrier_begin_down() - Count port @at as down since before */
void to_carrier_begin_down(struct to_carrier *carrier, struct to_port_ref at, uint64_t now_ns);

/** to_carrier_begin_swapped() - Count port @at as down, as it hears port @hears instead */
void to_carrier_begin_swapped(struct to_carrier *carrier, struct to_port_ref at,
			      struct to_port_ref hears, uint64_t now_ns);

/**
 * to_carrier_forgive() - Count ports of optical switches as up that were dark in a change of links
 * @since_ns: CLOCK_MONOTONIC, when the change began
 *
 * Not their cables were at fault. One that is still dark goes down by itself.
 */
void to_carrier_forgive(struct to_carrier *carrier, const struct to_cluster *cluster,
			uint64_t since_ns, uint64_t now_ns);

/**
 * to_carrier_forget() - Count ports as up that neither @plan nor @also has a link on
 * @also: another plan, or NULL
 *
 * Nobody looks at them any more. What they were says nothing when a plan uses them again.
 *
 * Return: 0, or -ENOMEM: nothing is forgotten.
 */
int to_carrier_forget(struct to_carrier *carrier, const struct to_plan *plan,
		      const struct to_plan *also, uint64_t now_ns);

/**
 * to_carrier_settle() - take ports down, and back, after a look at all
 * @since_ns: gets since when the first of them is dark or lit; set only with true
 *
 * When one goes, others that are nearly as late go with it: the two ends of a cable
 * that is cut, all cables of a server that dies.
 *
 * Return: whether any did.
 */
bool to_carrier_settle(struct to_carrier *carrier, uint64_t now_ns, uint64_t *since_ns);

/**
 * to_carrier_look() - Note which ports that @plan has links on are lit
 * @but: plan whose ports are left out, or NULL
 * @servers: what their agents said last; who did not answer, or has no table, says
 *	nothing about its ports
 */
void to_carrier_look(struct to_carrier *carrier, const struct to_fabric_server *servers,
		     const struct to_plan *plan, const struct to_plan *but, uint64_t now_ns);

/** to_carrier_left() - Return nanoseconds until a port that is dark goes down, UINT64_MAX: none is */
uint64_t to_carrier_left(const struct to_carrier *carrier, uint64_t now_ns);

/** to_carrier_port() - Return what is known of port @at */
const struct to_carrier_port *to_carrier_port(const struct to_carrier *carrier,
					      struct to_port_ref at);

/**
 * to_carrier_find_recabled() - Find links that cables make in place of those of @plan
 * @links: gets them, for free(); NULL for none
 *
 * Both ends are down and hear each other, and neither is on an optical switch or a packet switch.
 * An end need not hear a port of the server that it expects another port of: hearing it at the
 * other end for half of to_carrier_config.after_ns will do.
 *
 * Return: how many, or -ENOMEM.
 */
int to_carrier_find_recabled(const struct to_carrier *carrier, const struct to_plan *plan,
			     uint64_t now_ns, struct to_link **links);

/**
 * to_carrier_find_down() - what of @plan is down
 * @gone: per server, whether it was gone before
 * @down: gets the ports; and servers that are gone: those without an agent that
 *	answers, when the other ends of all their cables are down and not lit again, until
 *	one is not down; behind packet switches alone nothing shows that
 *
 * Return: 0, @down is to be freed then; or -ENOMEM.
 */
int to_carrier_find_down(const struct to_carrier *carrier,
			 const struct to_fabric_server *servers, const struct to_plan *plan,
			 const bool *gone, struct to_down *down);

#endif
