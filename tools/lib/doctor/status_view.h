/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STATUS_VIEW_H
#define TOPOOPT_STATUS_VIEW_H

/* A fabric as its agents tell it: servers, links, and what is wrong with them. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "data/health.h"
#include "data/plan.h"
#include "doctor/check.h"
#include "kernel/peers.h"
#include "measure/link_losses.h"

/** enum to_status_table - a server's table beside the plan's; unknown of an agent that does not say */
enum to_status_table { TO_STATUS_TABLE_UNKNOWN, TO_STATUS_TABLE_PLANNED, TO_STATUS_TABLE_OTHER };

/**
 * struct to_status_server - one server
 * @name: as in the plan
 * @reached: its agent answered
 * @error: why it did not, or what failed
 * @generation: of its table, 0 without one
 * @table: whether that is what the plan says for this server
 * @staged: a stage waits to be committed
 * @ports, @lit: ports that have a link by the operator's plan, and of them those with carrier
 * @backups: groups of next hops of which a backup is in use
 * @astray: it runs another generation than most, and no change is under way
 * @down: its topoopt device is down
 * @old: its agent is older than this toctl
 * @unable: it sends no continuity checks: its module or its agent is too old
 * @checked: it says what its neighbours are heard to say: @peers, @n_peers of them
 * @seconds: since it was looked at before; 0: it was not, and the next members say nothing
 * @misses: packets of others that arrived and had no route
 * @drops: dropped but for those
 * @congested: dropped by a full queue or a driver
 * @expired: dropped as their TTL was 1, as traceroute has it
 */
struct to_status_server {
	const char *name;
	bool reached;
	char error[256];
	uint64_t generation;
	enum to_status_table table;
	bool staged, astray, down, old, unable, checked;
	struct to_peer *peers;
	unsigned int n_peers;
	unsigned int ports, lit, backups;
	double seconds;
	uint64_t misses, drops, congested, expired;
};

/**
 * struct to_status_arc - one direction of a link: of a cable, or from a port to the packet
 *	switch that it is on, or back
 * @from, @to: ports; for a packet switch @server is TO_SERVER_NONE and @port its index
 * @lit: all ends that were reached have carrier
 * @counted: it is known what it carried
 * @bytes, @rate: carried since the look before, and in bits/s
 * @utilisation: @rate by the bandwidth of the slower end
 * @planned: its share of the bytes that all links carry by the plan, 0 to 1
 * @loss: whether it loses packets
 * @lost: window that @loss was judged by
 * @seen: longest window; its damaged packets and changes of carrier
 */
struct to_status_arc {
	struct to_port_ref from, to;
	bool lit, counted;
	uint64_t bytes;
	double rate, utilisation, planned;
	enum to_link_verdict loss;
	struct to_link_figures lost, seen;
};

#define TO_STATUS_END (TO_NAME_MAX + IFNAMSIZ)

/**
 * struct to_status - the fabric
 * @plan: in force; held
 * @wanted: the operator's, which health is judged by; @plan but while a repair is in force;
 *	held
 * @time: seconds since the epoch
 * @seconds: the longest of any server's since the look before; 0: there was none
 * @servers, @arcs: arrays
 * @reached, @ports, @lit, @backups, @misses, @drops, @congested, @expired: sums
 * @compared, @planned: servers whose table is known, and of these, those that have the plan's
 * @generation: that all servers run; 0: they do not run one
 * @expected, @heard: neighbours of ends of links, and those that are heard; of servers that say so
 * @pairs, @apart: ordered pairs of servers that @wanted joins, and those of them that @plan's
 *	tables leave apart now; the first of these is @apart_from, @apart_to
 * @health: valid while @reached is not 0
 * @bytes: that all links carried, each link a packet crosses counts
 * @off_plan: of these, the share that would have to be on other links for all links to
 *	have the shares that the plan gives them (total variation distance), 0 to 1;
 *	negative: not known
 * @checks: what is not well, nothing for a healthy fabric
 */
struct to_status {
	struct to_plan *plan, *wanted;
	double time, seconds;
	struct to_status_server *servers;
	struct to_status_arc *arcs;
	unsigned int n_arcs, reached, ports, lit, backups, compared, planned;
	unsigned int expected, heard;
	uint64_t pairs, apart;
	uint32_t apart_from, apart_to;
	uint64_t misses, drops, congested, expired, generation, bytes;
	double off_plan;
	enum to_health health;
	struct to_checks checks;
};

/** to_status_is_switch() - tell whether an end of an arc is a packet switch */
static inline bool to_status_is_switch(struct to_port_ref end)
{
	return end.server == TO_SERVER_NONE;
}

/** to_status_reply() - return what @server said in a look, NULL for nothing */
const json_t *to_status_reply(const json_t *look, const char *server);

/** to_status_port() - return the port called @name of a reply, NULL for none */
const json_t *to_status_port(const json_t *reply, const char *name);

/** to_status_lit() - tell whether a port has light; true of a server that was not reached */
bool to_status_lit(const struct to_status *status, const json_t *now, struct to_port_ref at);

/** to_status_end() - name of an end of an arc: "s0:eth0", or the packet switch's */
const char *to_status_end(const struct to_status *status, struct to_port_ref end,
			  char text[TO_STATUS_END]);

#endif
