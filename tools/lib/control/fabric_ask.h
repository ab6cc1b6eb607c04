/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FABRIC_ASK_H
#define TOPOOPT_FABRIC_ASK_H

/* One request to the agents of a fabric, and what their replies say of the servers. */

#include "control/fabric_link.h"
#include "control/fabric_records.h"

/**
 * struct to_fabric - see fabric.h
 * @cluster: owned; the servers, as the plan that it was opened with has them
 * @id: of the last request
 * @names: of the servers, which recordings need not list
 * @out: per server, see to_fabric_leave_out()
 * @unable: per server, sent no checks when a plan was staged last; neighbours expect none
 * @note: see to_fabric_options, may be NULL
 * @servers, @who, @lost, @replies, @errors: per server; the last four are of the
 *	request under way
 * @active: plan that was confirmed last through this, or found to be active on all
 *	servers, held, or NULL
 * @shown: plan that looks compare servers with, held, or NULL; the @n_shown-th
 * @next: plan that is staged or not confirmed yet, held, or NULL
 * @observes: it only looks
 * @same: no server had anything to change for @next
 * @ahead: what was staged last was only staged ahead
 * @committed: servers may have committed @generation and wait to be told that it
 *	stays, or to go back
 * @generation: of @next
 * @agreed: generation that all servers were last known to have @active under, 0: none
 * @usual_ns: what agents take for a query, of late
 * @live: intervals that were sampled under the generation that is active
 */
struct to_fabric {
	struct to_cluster *cluster;
	struct to_tm_names names;
	struct to_fabric_link *link;
	uint64_t timeout_ns, id;
	struct to_fabric_server *servers;
	bool *who, *out, *unable, *lost;
	void (*note)(const char *text);
	json_t **replies;
	char (*errors)[256];
	struct to_plan *active, *shown, *next;
	bool observes, same, ahead, committed;
	uint64_t generation, agreed, n_shown, usual_ns;
	struct to_tm_live *live;
};

/** to_fabric_ask_all() - Set to_fabric.who to the servers that take part in decisions */
void to_fabric_ask_all(struct to_fabric *f);

/** to_fabric_ask_fail() - Note why a request failed at @server, "" for not at all */
void to_fabric_ask_fail(struct to_fabric_server *server, const char *error);

/** to_fabric_ask_forget() - Free the replies to the last request */
void to_fabric_ask_forget(struct to_fabric *f);

/**
 * to_fabric_ask() - Send a request to the servers of to_fabric.who
 * @request: taken over
 * @plan: of which every server's part goes with it, with "job" and "rest"; NULL: none
 *
 * Afterwards to_fabric.who is who failed. Return: how many these are, or a negative errno
 * with @err.
 */
int to_fabric_ask(struct to_fabric *f, json_t *request, const struct to_plan *plan,
		  struct to_error *err);

/**
 * to_fabric_ask_hello() - Ask all servers how they are, also those that are left out
 *
 * As to_fabric_ask(); nobody who is left out is among those who failed.
 */
int to_fabric_ask_hello(struct to_fabric *f, struct to_error *err);

/**
 * to_fabric_ask_blame() - Set @err to "stage: 2 of 12 servers: s3: no such ...; s4: ..."
 * @what: request
 * @failed: servers of to_fabric.who
 *
 * Return: -EHOSTUNREACH if one of them did not answer, else -EIO.
 */
int to_fabric_ask_blame(const struct to_fabric *f, const char *what, int failed,
			struct to_error *err);

#endif
