/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_AGENT_H
#define TOPOOPT_AGENT_H

/*
 * The agent: does on its server what a controller (fabric.h) tells it.
 *
 * Requests and replies are JSON objects, on a pipe one a line. A request has
 * "op" and what that needs:
 *
 *	hello	nothing
 *	stage	"generation" that a commit would make, "job", "cluster" and
 *		"table" (texts, see plan_slice.h); instead of the last two "links" and
 *		"table" as values, for "servers" that it has; "rest", see
 *		to_plan_slice_rest(); makes links, stages the table. With
 *		"ahead": true it is only likely that a commit comes: links are not made,
 *		where any is to be that is refused, and nobody is kept out. With
 *		"further": true what was committed before is another step of the same
 *		change: addresses, neighbours, routes and rules are not read again
 *	commit	"generation" of the stage: it is the fencing token, nothing
 *		staged under another one is committed, nor a stage on top of a
 *		table that is not active any more, nor one that was staged ahead and that
 *		somebody has replaced since
 *	confirm	"generation": it stays; until then it can be reverted
 *	revert	"from": generation that is not to be; "generation" for what was
 *		active before it
 *	abort	drop the stage, also one that another agent left. With "ahead": true only
 *		what this agent has staged. When that is active already, it is the plan to
 *		count under from now on
 *	assume	"job", "cluster" or "links", "table" and "rest", as for stage: the plan to
 *		count under from now on, if its table is the active one
 *	sample	"interval_ns", "until_ns" (CLOCK_REALTIME): when to end it; once
 *		a plan was confirmed or assumed, or one staged that is active already. "names", if
 *		there is, is the fingerprint of servers' names: if they are those of
 *		the plan, the recording has it in place of them
 *	clear	remove what apply made
 *	look	counters, see agent_look.h. With a plan, as for assume, "deviations" from it are
 *		told while its table is the active one, now and later, and not restored
 *	doctor	a plan, as for assume; without "table" the active one: "checks" of this server
 *		by it. toctl agent answers it from a lower room
 *	load	"cables", see to_cable_load_answer(): "load". toctl agent answers it, too
 *	inventory  "ports", "ask" and "up", see to_fabric_inventory(): the server's interfaces.
 *		to_agent_call() does not know it: toctl agent answers from a lower room
 *
 * It may also have "active": generation that was confirmed last. If that is what
 * this agent committed, it is confirmed here too. A commit that is not confirmed
 * when a later generation is staged or aborted was given up: the agent goes back
 * first, and refuses the stage when its generation is not beyond the one that
 * this takes.
 *
 * An agent can die right after its commit. The next one is asked to stage and commit
 * the same table as the generation that is active: it does the rest of the change,
 * which stays, as what was before is not known any more.
 *
 * A reply has "ok" and, when that is false, "error"; how the server is:
 * "generation" (0: no table), "staged" (bool), "live" (ports with carrier),
 * "plan" (bool, it knows one to count under), "servers" (fingerprint of those of the last
 * "cluster", see to_plan_slice_servers());
 * after stage "differs" (bool), after commit a "warning" if there is one,
 * after sample "tm" (text), which is not there when the counting only started.
 * What the request has as "id" comes back.
 *
 * Agents that can more than the first ones say "protocol", 2, "features" of the module, with a
 * device "peers" (agent_state.h), and where not all is as apply made it "deviations" (keeper.h). When
 * the light of a port, a peer, the table or a deviation changes, agents of etcd write their last
 * reply again with that.
 *
 * From stage to confirm, abort or revert an agent keeps others of its network
 * namespace from staging, and while it changes the device, whoever else would. When its
 * controller goes away meanwhile, it goes back to what was active before. What is staged
 * ahead goes with its controller too, but others may replace it.
 */

#include <jansson.h>
#include <signal.h>
#include <stdio.h>

#include "base/error.h"
#include "control/keeper.h"
#include "measure/counters.h"

struct to_agent;

/**
 * to_agent_new() - an agent that has done nothing yet
 * @device: name of the topoopt device
 * @counter_names: see to_counters_open(); not copied
 */
struct to_agent *to_agent_new(const char *device, const struct to_counter_names *counter_names,
			      struct to_error *err);

/** to_agent_free() - what is staged or not confirmed is taken back */
void to_agent_free(struct to_agent *agent);

/**
 * to_agent_keep() - have @keeper keep what is confirmed, and replies say what it finds
 * @keeper: must outlive the agent's last call
 */
void to_agent_keep(struct to_agent *agent, struct to_keeper *keeper);

/**
 * to_agent_plan() - find the plan that a request has, or else the one that is active here
 * @server: gets the server that the agent is for
 *
 * Return: the plan, for to_plan_free(); NULL with @err: it cannot be read, or with "" in @err
 * there is none.
 */
struct to_plan *to_agent_plan(struct to_agent *agent, const json_t *request,
			      unsigned int *server, struct to_error *err);

/** to_agent_device_name() - Return the name of the agent's topoopt device */
const char *to_agent_device_name(const struct to_agent *agent);

/** to_agent_call() - carry out @request; Return: the reply, NULL: out of memory */
json_t *to_agent_call(struct to_agent *agent, const json_t *request);

/**
 * to_agent_serve() - carry out requests, one a line, until the end of @in
 * @call: carries out a request and returns the reply; to_agent_call() or a function around it
 * @agent: for @call
 * @stop: set by signal handlers that do not restart system calls (no SA_RESTART):
 *	ends it after the request under way
 *
 * Return: 0, or a negative errno with @err set: a line is not a JSON object, or
 * @out cannot be written.
 */
int to_agent_serve(void *agent, json_t *(*call)(void *agent, const json_t *request),
		   FILE *in, FILE *out, const volatile sig_atomic_t *stop, struct to_error *err);

#endif
