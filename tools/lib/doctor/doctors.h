/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DOCTORS_H
#define TOPOOPT_DOCTORS_H

/* All servers' doctors at once, and all cables under load, asked of the agents. */

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "control/agent.h"
#include "control/fabric.h"
#include "data/plan.h"
#include "doctor/cable_load.h"
#include "doctor/check.h"

/** struct to_doctors_server - what one server's doctor found */
struct to_doctors_server {
	const char *name;	/* as in the plan */
	char error[256];	/* why it found nothing, "" if it did */
	struct to_checks checks;
};

/** struct to_doctors_cable - one direction of a cable under load */
struct to_doctors_cable {
	struct to_port_ref from, to;
	double alone;		/* bits/s received while nothing was sent the other way */
	double both;		/* bits/s received while the other end sent as much */
	uint64_t rate;		/* bits/s that were offered */
	enum to_verdict verdict;
	char text[200];		/* what is wrong, "" for nothing */
};

#define TO_DOCTORS_BOTH 0.8	/* share of its rate alone that a direction passes both ways, at least */

/** struct to_doctors - the fabric */
struct to_doctors {
	const struct to_plan *plan;	/* borrowed */
	struct to_doctors_server *servers;	/* in the order of the plan */
	unsigned int n_cables;
	struct to_doctors_cable *cables;	/* two for each cable: there, and back */
};

/**
 * to_doctors_look() - have all servers check themselves
 * @doctors: set; call to_doctors_free() either way
 * @plan: held by the caller as long as @doctors lives
 *
 * Return: 0, also when servers do not answer; a negative errno with @err: nobody can be asked.
 */
int to_doctors_look(struct to_doctors *doctors, const struct to_plan *plan,
		    struct to_fabric *fabric, struct to_error *err);

/**
 * to_doctors_load() - load all cables one way, the other way, and both ways at once
 * @doctors: as of to_doctors_look()
 * @rate: bits/s each way; 0: what the plan gives the slower port
 *
 * A server loads one cable at a time, so that cables do not wait for each other; those of
 * different servers are loaded at once. Links that packet switches make are no cables.
 *
 * Return: 0, or a negative errno with @err.
 */
int to_doctors_load(struct to_doctors *doctors, struct to_fabric *fabric, uint64_t rate,
		    struct to_error *err);

void to_doctors_free(struct to_doctors *doctors);

/** to_doctors_failed() - tell whether a check or a cable failed, or a server did not answer */
bool to_doctors_failed(const struct to_doctors *doctors);

/** to_doctors_json() - return the findings as of doctor.schema.json; NULL when out of memory */
json_t *to_doctors_json(const struct to_doctors *doctors);

/**
 * to_doctors_answer() - check this server, for an agent's reply to the request "doctor"
 * @agent: has the plan, unless @request has one
 *
 * Return: the reply; NULL when out of memory.
 */
json_t *to_doctors_answer(struct to_agent *agent, const json_t *request);

#endif
