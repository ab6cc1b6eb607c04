/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CABLE_LOAD_H
#define TOPOOPT_CABLE_LOAD_H

/*
 * One end of a cable under load: TCP from port address to port address, which leaves by the
 * port and arrives at its neighbour, whatever routes other addresses have.
 *
 * After the connections are made, each end's own clock tells the phases, a phase each: the
 * first end sends, the second end sends, both send. Each end reports what it received.
 */

#include <jansson.h>
#include <stdint.h>

/** enum to_cable_phase - who sends */
enum to_cable_phase {
	TO_CABLE_FIRST,		/* the first end */
	TO_CABLE_SECOND,	/* the second end */
	TO_CABLE_BOTH,		/* both ends */
	TO_CABLE_PHASES
};

#define TO_CABLE_PHASE_NS 1000000000ull		/* length of a phase */
#define TO_CABLE_CONNECT_NS 3000000000ull	/* longest wait for the other end */

/**
 * to_cable_load_answer() - return an agent's reply to the request "load"
 * @request: "cables", an array of {"first": address, "second": address, "rate": bits/s}, all of
 *	which are loaded at once; those that neither address of is this host's are left out
 *
 * The reply has "load": an array of {"address": own, "peer": address, "received": [bits/s in
 * the phases], "error": text, not there without one}. Return: NULL when out of memory.
 */
json_t *to_cable_load_answer(const json_t *request);

#endif
