/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LINK_LOSS_H
#define TOPOOPT_LINK_LOSS_H

/*
 * Packets that a link loses while it has light, per direction.
 *
 * Packets that one end has sent, less those that the other has received, are lost. What is
 * known of that is less than the figures say:
 *
 *	- The two ends are read at different times, so packets under way look lost, or look
 *	  received too often. A look takes a known time, and the packets that pass in it are
 *	  the error of the difference. Longer windows make the error small.
 *	- NICs keep some frames to themselves that the other end has sent: LLDP, multicast
 *	  groups that nobody has joined. Up to one frame a second is not taken for lost.
 *	- A packet that arrives without a free buffer is dropped by the NIC before it counts as
 *	  received. It was not lost on the link, and is counted apart.
 *	- Counters begin anew with a driver, a reset or a server. So does the window. A counter
 *	  of 32 bits that wraps is taken for one that began anew.
 *	- A cut loses packets. A window does not go over a change of carrier.
 *	- Where drivers count aggregates at one end and packets at the other, more is received
 *	  than was sent, and nothing is known.
 *
 * Continuity checks have sequence numbers, so that gaps are lost checks, without an error.
 * They find a link that loses much and carries little.
 *
 * A window is the shortest one, up to now, that has enough packets or checks. A direction is
 * lossy when a window loses more than the threshold, and clean again when one loses no more
 * than half of it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "kernel/link_counters.h"

/** struct to_link_loss_config - what makes a direction lossy */
struct to_link_loss_config {
	double rate;		/* share of packets lost that is tolerated, 0 to 1 */
	uint64_t packets;	/* packets sent that make a window of packets */
	unsigned int checks;	/* checks that make a window of checks */
	unsigned int missed;	/* of these, checks lost that make a direction lossy */
};

/** TO_LINK_LOSS_DEFAULTS - 0.1 % of at least 10,000 packets, or 3 of 20 checks */
#define TO_LINK_LOSS_DEFAULTS { .rate = 0.001, .packets = 10000, .checks = 20, .missed = 3 }

#define TO_LINK_DAMAGED 10	/* packets that arrive damaged in a window are told, */
#define TO_LINK_DAMAGED_SHARE 1e-5	/* if they are this share of those that were sent */
#define TO_LINK_FLAPS 8		/* changes of carrier in a window: two cuts, counted at both ends */

#define TO_LINK_LOSS_POINTS 32			/* looks that are kept */
#define TO_LINK_LOSS_STEP_NS 1000000000ull	/* least time between two of them */
#define TO_LINK_LOSS_WINDOW_NS 600000000000ull	/* longest window */

/** struct to_link_point - one look at both ends of a direction */
struct to_link_point {
	uint64_t time_ns;	/* end of the look, CLOCK_MONOTONIC of the observer */
	uint64_t span_ns;	/* both ends were read within this time before @time_ns */
	bool phy;		/* @sent and @received are of the connectors */
	uint64_t sent;		/* packets, by the sender */
	uint64_t received;	/* packets, by the receiver */
	uint64_t missed;	/* packets that the receiver had no buffer for */
	uint64_t errors;	/* packets that arrived damaged */
	uint64_t carrier_changes;	/* sum of both ends */
	uint64_t checks;	/* checks that the receiver heard */
	uint64_t checks_lost;	/* checks that never came */
};

/** enum to_link_verdict - what is known of a direction */
enum to_link_verdict {
	TO_LINK_UNPROVEN,	/* too little was sent in the longest window */
	TO_LINK_CLEAN,		/* it loses less than the threshold */
	TO_LINK_LOSSY,		/* it loses more */
};

extern const char *const to_link_verdict_names[];

/** struct to_link_figures - a window, as it was judged */
struct to_link_figures {
	double seconds;		/* length of the window; 0: there is none */
	uint64_t sent;		/* packets */
	uint64_t lost;		/* packets; 0 where more was received than sent */
	uint64_t error;		/* packets that @lost may be off by */
	uint64_t missed;	/* packets that the receiver had no buffer for */
	uint64_t errors;	/* packets that arrived damaged */
	uint64_t carrier_changes;
	uint64_t checks;	/* checks sent: heard and lost */
	uint64_t checks_lost;
	bool comparable;	/* no more was received than sent */
	bool by_checks;		/* judged by checks, not by packets */
};

/** struct to_link_loss - one direction of a link; zeroed before its first look */
struct to_link_loss {
	unsigned int n;
	struct to_link_point points[TO_LINK_LOSS_POINTS];	/* oldest first */
	bool by_packets;	/* lossy, by packets */
	bool by_checks;		/* lossy, by checks */
	bool proven;		/* one of the two windows was large enough */
	struct to_link_figures figures;	/* window that was judged last, or the longest */
};

/**
 * to_link_point() - make a point of what both ends of a direction have counted
 * @from: end that sends
 * @to: end that receives
 * @checks: checks that @to has heard of @from
 * @checks_lost: checks of @from that @to has missed
 * @time_ns: end of the look, CLOCK_MONOTONIC of the observer
 * @span_ns: time that the look took
 */
struct to_link_point to_link_point(const struct to_link_end *from, const struct to_link_end *to,
				   uint64_t checks, uint64_t checks_lost, uint64_t time_ns,
				   uint64_t span_ns);

/**
 * to_link_loss_add() - judge a direction by a further look
 *
 * A point whose counters are below those of the last one begins anew. An end that did not answer has no point: the window goes on over the gap.
 */
void to_link_loss_add(struct to_link_loss *loss, const struct to_link_loss_config *config,
		      const struct to_link_point *point);

/** to_link_loss_verdict() - tell what is known of a direction */
enum to_link_verdict to_link_loss_verdict(const struct to_link_loss *loss);

/** to_link_loss_longest() - fill in the longest window that there is; all 0 without two looks */
void to_link_loss_longest(const struct to_link_loss *loss, struct to_link_figures *figures);

/** to_link_loss_reset() - forget all looks, and what was known */
void to_link_loss_reset(struct to_link_loss *loss);

/** to_link_damages() - tell whether more packets arrive damaged than cables damage by nature */
bool to_link_damages(const struct to_link_figures *figures);

/** to_link_flaps() - tell whether the carrier came and went at least twice */
bool to_link_flaps(const struct to_link_figures *figures);

/**
 * to_link_figures_text() - write what was lost: "loses 5 % of 20000 packets (off by 0.2 %)"
 *
 * Return: @text.
 */
#define TO_LINK_LOSS_TEXT 96
const char *to_link_figures_text(const struct to_link_figures *figures,
				 char text[TO_LINK_LOSS_TEXT]);

#endif
