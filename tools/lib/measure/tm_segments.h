/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_SEGMENTS_H
#define TOPOOPT_TM_SEGMENTS_H

/*
 * Ports that share a packet switch. A NIC counts what its port sends to all others there,
 * and what it receives from all. So of what RDMA hardware sends to hardware on the same
 * switch, which no kernel sees, it is known how much left each port and how much entered
 * each, not who sent to whom. It is divided so that both sums are right, and else evenly
 * (iterative proportional fitting: Deming and Stephan, "On a least squares adjustment of
 * a sampled frequency table when the expected marginal totals are known", 1940): exact
 * while one port sends or one receives, an estimate when more do at a time.
 *
 * All else is exact, as on a cable: what a server's kernel sends is seen there, what its
 * hardware sends to a relay on the switch is seen by that.
 */

#include "measure/tm_account.h"

/**
 * struct to_tm_arrival - what entered a port in a column, in bytes and packets
 * @counted: by its NIC, without what its kernel saw but for RoCEv2 that is for the server
 * @local: that
 * @handed: RoCEv2 for the server, sent on the switch by the kernels of others
 */
struct to_tm_arrival {
	struct to_tm_amount counted, local, handed;
};

/**
 * struct to_tm_segment_port - one of a server, of those that were recorded
 * @account: of what it sends
 * @local, @handed: of columns that settled, see struct to_tm_arrival
 * @owed: bytes that entered it and that were given to no sender yet; negative: too many were
 */
struct to_tm_segment_port {
	uint32_t server, segment;
	char name[IFNAMSIZ];
	struct to_tm_account account;
	struct to_tm_amount local, handed;
	double owed;
};

/**
 * struct to_tm_segments - all of them
 * @n: packet switches
 * @ports: @n_ports, by switch and server
 * @cells, @arrivals: n_ports x room, by column
 */
struct to_tm_segments {
	unsigned int n, n_ports, room;
	char (*names)[TO_NAME_MAX];
	struct to_tm_segment_port *ports;
	struct to_tm_cell *cells;
	struct to_tm_arrival *arrivals;
};

/** to_tm_segments_find() - those of @records, one per server or NULL; 0 or -ENOMEM */
int to_tm_segments_find(struct to_tm_segments *segments, const struct to_tm *const *records,
			unsigned int n_servers);
void to_tm_segments_free(struct to_tm_segments *segments);

/** to_tm_segments_index() - find a port of @record; TO_TM_NONE if it is on no known switch */
uint32_t to_tm_segments_index(const struct to_tm_segments *segments, const struct to_tm *record,
			      unsigned int port);

/** to_tm_segments_make_room() - for @columns; 0 or -ENOMEM */
int to_tm_segments_make_room(struct to_tm_segments *segments, unsigned int columns);

/** to_tm_segments_count() - add the counters of port @index */
void to_tm_segments_count(struct to_tm_segments *segments, uint32_t index, unsigned int column,
			  const struct to_tm_counters *counters);

/** to_tm_segments_send() - add a flow whose egress is port @index. Return: 0 or -ENOMEM. */
int to_tm_segments_send(struct to_tm_segments *segments, uint32_t index, unsigned int column,
			const struct to_tm_flow *flow);

/** to_tm_segments_receive() - add a flow whose ingress is port @index. Return: 0 or -ENOMEM. */
int to_tm_segments_receive(struct to_tm_segments *segments, uint32_t index, unsigned int column,
			   const struct to_tm_flow *flow);

/**
 * to_tm_segments_settle() - the accounts, and what entered ports in the columns that settle
 * @n_servers: rows->portions get RoCEv2 whose source or destination is not known with
 *	n_servers + the switch in its place
 *
 * Return: 0 or -ENOMEM.
 */
int to_tm_segments_settle(struct to_tm_segments *segments, struct to_tm_rows *rows,
			  uint32_t n_servers);

/**
 * to_tm_segments_divide() - divide by pairs what to_tm_segments_settle() left open
 * @portions: sorted by sample; of those before @complete
 *
 * Return: 0 or -ENOMEM.
 */
int to_tm_segments_divide(struct to_tm_segments *segments, struct to_tm_portions *portions,
			  unsigned int complete, uint32_t n_servers);

/** to_tm_segments_advance() - remove the first @settled columns and keep the @left others */
void to_tm_segments_advance(struct to_tm_segments *segments, unsigned int settled,
			    unsigned int left);

#endif
