/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_VERIFY_REPORT_H
#define TOPOOPT_VERIFY_REPORT_H

/* What to_verify() finds, and where its parts put it. */

#include "verify/predict.h"
#include "verify/rdma_pairs.h"

#define TO_UNPROTECTED_MAX 100

/**
 * struct to_failure_cases - what happens when something dies
 *
 * A case is a source, an address and a thing that dies which packets from the one to the
 * other meet while nothing is broken.
 */
struct to_failure_cases {
	uint64_t cases;
	uint64_t covered;	/* all packets still arrive, whatever their flow hashes */
	uint64_t last_hops;	/* not covered: the port with the address is dark, no table helps */
	uint64_t disconnected;	/* not covered: no path is left */
	uint64_t uncovered;	/* all others that are not covered */
};

/** struct to_unprotected - packets that can be lost when something is down */
struct to_unprotected {
	uint32_t src, dst;		/* packets from @src for @slot of @dst */
	uint32_t link;			/* that is down; UINT32_MAX: @packet_switch is */
	uint16_t slot;
	unsigned int packet_switch;	/* 1 + its index, or 0 */
};

/** struct to_verify_report - what was found in a plan */
struct to_verify_report {
	unsigned long violations;	/* lines handed to the caller */
	uint64_t addresses;		/* node and port addresses resolved from every server */
	/*
	 * Pairs of a server and a port address that no path joins without crossing the server
	 * that owns the port, which is no violation. Of a plan without buffer cycles also pairs
	 * that it has no route for.
	 */
	uint64_t unreachable;
	struct to_rdma_pairs rdma;	/* none where the kernel takes all RoCEv2 in transit */
	/* one cable is down: both ends see that, of a simplex link the server that sends */
	struct to_failure_cases links;
	/* one server is down, neither source nor destination: its neighbours on cables see that */
	struct to_failure_cases servers;
	/* one packet switch is down: all servers with a port on it see that */
	struct to_failure_cases switches;
	/* one port on a packet switch is down: its server sees that, what others send is lost */
	struct to_failure_cases ports;
	/* one function is down while others keep the light of its cable: as for a port above */
	struct to_failure_cases functions;
	unsigned int n_unprotected;
	/* the first uncovered cases of @links and @switches */
	struct to_unprotected unprotected[TO_UNPROTECTED_MAX];
	struct to_figures figures;	/* recomputed from links, rings, tables and demand */
};

/** to_verify_line - take one violation, a line without newline */
typedef void to_verify_line(void *data, const char *line);

/** struct to_verify_out - receiver of violations */
struct to_verify_out {
	to_verify_line *line;
	void *data;			/* of @line */
	struct to_verify_report *report;
};

/** to_verify_say() - Count a violation and hand it to the caller */
void to_verify_say(const struct to_verify_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
