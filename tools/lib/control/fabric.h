/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FABRIC_H
#define TOPOOPT_FABRIC_H

/*
 * The controller's side of a fabric: one decision for all servers of a plan.
 *
 * An agent on every server (agent.h) does there what it is told. It is started
 * by a command per server and spoken to through a pipe (ssh), or runs as a
 * daemon and is reached through etcd. Over both, a plan becomes active in two
 * phases: it is staged on all servers, then committed on all, or aborted on
 * all. All commit under one generation, greater than any that was active, and
 * each refuses when what was active when it staged no longer is. What is
 * committed can be reverted until it is confirmed. When the controller goes
 * away before that, agents at a pipe go back to what they had; etcd holds the
 * decision, which the agents carry out and the next controller confirms.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "control/fabric_server.h"
#include "data/plan.h"
#include "data/tm.h"

struct to_fabric;

/**
 * to_fabric_open() - reach the agents of all servers of @plan
 * @plan: gives the servers, which are copied; plans that are staged later have the
 *	same ones, in this order
 * @options: its strings must outlive the fabric
 *
 * Changes nothing. An agent that cannot be reached is no failure yet,
 * to_fabric_servers() tells; so a fabric can be asked how it is.
 *
 * Return: NULL with @err: a template without {}, etcd cannot be reached,
 * another controller is at work (etcd).
 */
struct to_fabric *to_fabric_open(const struct to_plan *plan,
				 const struct to_fabric_options *options,
				 struct to_error *err);

/** to_fabric_close() - what is staged is aborted, what is not confirmed reverted */
void to_fabric_close(struct to_fabric *fabric);

/** to_fabric_servers() - one for each server of the plan, in its order */
const struct to_fabric_server *to_fabric_servers(const struct to_fabric *fabric);

/**
 * to_fabric_leave_out() - do without servers from now on
 * @out: per server; copied. NULL: all take part again
 *
 * Nothing is asked of them but how they are, and they do not count as missing or failed.
 * Servers that the plan of to_fabric_open() calls down are left out from the beginning. An
 * agent that comes back through etcd follows what was decided meanwhile.
 */
void to_fabric_leave_out(struct to_fabric *fabric, const bool *out);

/**
 * to_fabric_is_astray() - Tell whether a server does not have the table that was decided on
 *
 * By its last answer. It was restarted, cleared, or left out of a decision.
 */
bool to_fabric_is_astray(const struct to_fabric *fabric, unsigned int server);

/**
 * to_fabric_is_forgotten() - Tell whether etcd lost what was decided last
 *
 * It was wiped, or restored from an earlier snapshot. Until to_fabric_confirm().
 */
bool to_fabric_is_forgotten(const struct to_fabric *fabric);

/**
 * to_fabric_bring() - Give servers that are astray the table that was decided on
 * @who: per server
 *
 * Others keep their generation. Return: 0; -ESTALE with @err: one has a later generation, so
 * that all need a new one, see to_fabric_stage(); another negative errno with @err.
 */
int to_fabric_bring(struct to_fabric *fabric, const bool *who, struct to_error *err);

/**
 * to_fabric_status() - ask all servers again, also those that are left out
 *
 * Starts agents that died anew, and waits for none that owes the reply to an earlier request.
 * Return: 0; -EHOSTUNREACH with @err when some
 * do not answer, by name.
 */
int to_fabric_status(struct to_fabric *fabric, struct to_error *err);

/**
 * to_fabric_look() - what all servers count, see agent_look.h
 * @replies: per server, gets the reply, to be released with json_decref(); NULL where there
 *	is none, and to_fabric_servers() says why. Strings in replies are those of
 *	to_json_clean()
 *
 * Return: 0, also when servers do not answer; a negative errno with @err when nobody can be
 * asked.
 */
int to_fabric_look(struct to_fabric *fabric, json_t **replies, struct to_error *err);

/**
 * to_fabric_show() - have to_fabric_look() compare all servers with @plan, which is held
 *
 * Replies then have "deviations", see keeper.h. Agents of etcd know the plan that is active.
 */
void to_fabric_show(struct to_fabric *fabric, const struct to_plan *plan);

/**
 * to_fabric_inventory() - have all servers list their interfaces
 * @ports: patterns of interfaces that could be ports, see to_inventory_read(); or NULL
 * @ask: IPv4 addresses to ask for through each port, with commas between them; or NULL
 * @up: set ports up that are down; through etcd not while the fabric is only observed
 * @replies: as of to_fabric_look(); "inventory" has the list, see inventory.schema.json
 */
int to_fabric_inventory(struct to_fabric *fabric, const char *ports, const char *ask, bool up,
			json_t **replies, struct to_error *err);

/**
 * to_fabric_query() - ask all servers something that changes nothing
 * @request: see agent.h; taken over
 * @plan: every server's part of it goes with the request at pipes; through etcd agents know
 *	the plan that is active. NULL: none
 * @replies: as of to_fabric_look()
 */
int to_fabric_query(struct to_fabric *fabric, json_t *request, const struct to_plan *plan,
		    json_t **replies, struct to_error *err);

/** to_fabric_controller() - who controls the fabric, "" for nobody; etcd alone knows */
const char *to_fabric_controller(const struct to_fabric *fabric);

/**
 * to_fabric_generation() - the generation that is active on all servers
 *
 * By the last answers. Return: 0; -ESTALE with @err when they differ, by name.
 */
int to_fabric_generation(const struct to_fabric *fabric, uint64_t *generation,
			 struct to_error *err);

/**
 * to_fabric_stage() - stage every server's part of @plan
 * @plan: held (to_plan_hold()) for as long as @fabric needs it
 * @differs: gets whether any server has anything to change, may be NULL
 *
 * Makes links as to_apply_links() does. Replaces stages that others left.
 * On failure no server keeps a stage, and @err names who failed; a server that
 * could not be told to drop its stage is named too.
 */
int to_fabric_stage(struct to_fabric *fabric, const struct to_plan *plan,
		    bool *differs, struct to_error *err);

/**
 * to_fabric_stage_ahead() - stage @plan as to_fabric_stage() does, for a commit that is only likely
 *
 * Makes no links, keeps nobody else from staging, and replaces no stage but one of this
 * fabric. Servers whose stage is gone when it is committed stage it again.
 */
int to_fabric_stage_ahead(struct to_fabric *fabric, const struct to_plan *plan,
			  struct to_error *err);

/**
 * to_fabric_stage_further() - stage a further step of a change, as to_fabric_stage() does
 *
 * The step before was confirmed just now: agents take addresses, neighbours, routes and
 * rules to be as they left them.
 */
int to_fabric_stage_further(struct to_fabric *fabric, const struct to_plan *plan,
			    struct to_error *err);

/** to_fabric_is_staged() - whether @plan is staged on all servers, by their last answers */
bool to_fabric_is_staged(const struct to_fabric *fabric, const struct to_plan *plan);

/**
 * to_fabric_commit() - commit on all what to_fabric_stage() staged on all
 *
 * Return: 0 when all servers run the plan under one generation; else a
 * negative errno, and @err says who failed. Then those that had committed were
 * brought back, and all servers run the old plan under one new generation; who
 * does not is named in @err. When etcd cannot be asked, it is not known what the
 * servers run until to_fabric_revert().
 */
int to_fabric_commit(struct to_fabric *fabric, struct to_error *err);

/** to_fabric_abort() - drop the stage on all servers; -EBUSY: it was committed */
int to_fabric_abort(struct to_fabric *fabric, struct to_error *err);

/** to_fabric_confirm() - what to_fabric_commit() did stays */
int to_fabric_confirm(struct to_fabric *fabric, struct to_error *err);

/**
 * to_fabric_revert() - back to what was before to_fabric_commit()
 *
 * Under one new generation, on all servers. Until to_fabric_confirm(). When etcd
 * cannot be asked, nothing can be staged until this was called again.
 */
int to_fabric_revert(struct to_fabric *fabric, struct to_error *err);

/**
 * to_fabric_assume() - take @plan, which is held, for what is active
 *
 * Where nothing is to be staged: agents whose table it is count under it.
 */
void to_fabric_assume(struct to_fabric *fabric, const struct to_plan *plan);

/**
 * to_fabric_sample() - the traffic matrix of the fabric, an interval further
 * @interval_ns: intervals end at its multiples by CLOCK_REALTIME, on all servers
 *	in the same moment as far as their clocks agree
 * @tm: the samples that settled now (tm_live.h), of intervals before, perhaps none;
 *	start_ns and end_ns say which. Of the fabric's servers in their order; those
 *	that do not answer now, or whose recording does not count, are to_tm.missing,
 *	unless none is there; to_fabric_servers() says why. A sample that lacks any says
 *	so itself (absent)
 *
 * Waits for the next multiple. The first call starts the counting and, like
 * the first after a commit, may find nothing counted yet. Agents at a pipe that were
 * started since get to know the plan that is active. Under another generation
 * samples begin anew: intervals before it that had not settled are dropped.
 */
int to_fabric_sample(struct to_fabric *fabric, uint64_t interval_ns,
		     struct to_tm **tm, struct to_error *err);

/** to_fabric_clear() - remove on all servers what agents made */
int to_fabric_clear(struct to_fabric *fabric, struct to_error *err);

#endif
