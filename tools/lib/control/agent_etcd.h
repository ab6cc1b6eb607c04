/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_AGENT_ETCD_H
#define TOPOOPT_AGENT_ETCD_H

/*
 * An agent of a cluster: takes requests (agent.h) from etcd and puts replies there, under
 * the keys of etcd_key.h.
 *
 * An inventory with "up": true changes something, so only a controller may ask for it.
 *
 * A decision is one that a controller made: "controller" is the revision in which it
 * became that, and so it was when the decision was written, as far as etcd remembers.
 * An agent follows the last one that is for it, whether of all or of some. Who may write
 * these keys is up to etcd's users (etcd_users.h).
 *
 * Decisions have two more members: "active", generation of the last plan that
 * was confirmed, or 0, and "plan", under which GENERATION its parts are. Other
 * parts are there only from a stage until it is confirmed, aborted or reverted.
 */

#include <jansson.h>
#include <signal.h>

#include "control/etcd.h"

/**
 * struct to_agent_etcd - what an agent of a cluster needs
 * @options: the user is that of @server, unless it is given
 * @server: its name in the plan
 * @ttl: seconds without a sign of it until it counts as dead
 * @call: carries out a request, to_agent_call() with @agent or another
 * @stop: set by a signal handler; ends to_agent_follow()
 * @note: told of trouble and its end, may be NULL
 * @wake: file that can be read when the server's state is another one, which is said then; an
 *	eventfd that does not block, 0: none
 */
struct to_agent_etcd {
	struct to_etcd_options options;
	const char *server;
	unsigned int ttl;
	json_t *(*call)(void *agent, const json_t *request);
	void *agent;
	const volatile sig_atomic_t *stop;
	void (*note)(const char *text);
	int wake;
};

/**
 * to_agent_follow() - do what controllers decide, until told to stop
 *
 * Return: 0, or a negative errno with @err when etcd cannot be reached or has no such
 * user at the start; when it goes away later, it waits for it to come back. -EBUSY when
 * another agent has the name of this server, at the start or later.
 */
int to_agent_follow(const struct to_agent_etcd *config, struct to_error *err);

#endif
