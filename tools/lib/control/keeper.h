/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_KEEPER_H
#define TOPOOPT_KEEPER_H

/*
 * Keeps what apply made on this server, in a thread of its own: what somebody removes beside
 * the table of the plan is there again within a second (upkeep.h, removals.h).
 *
 * The keeper restores only while the active table is that of a plan that it knows: the one that
 * the agent was given, else one that an observer has shown, of which nothing is restored, else the
 * one that toctl apply made active last (applied.h), of which an agent at a pipe restores nothing.
 * It compares them once per generation. After
 * toctl clear or toctl apply of another plan the table is another one, so nothing of the former
 * plan comes back. The keeper changes the device under its lock (device_lock.h), and nothing
 * while its agent changes the device.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/plan.h"

struct to_keeper;

/** struct to_keeper_config - what a keeper needs */
struct to_keeper_config {
	const char *device;		/* name of the topoopt device */
	const char *node;		/* this server in plans of toctl apply; NULL: the host name */
	bool applied;			/* restore what toctl apply made, too, not only what the agent was given */
	void (*note)(const char *text);	/* told of what was restored, and what is not as planned */
	/* called when the state of the server, as of agent_state.h, is another one; or NULL */
	void (*changed)(struct to_keeper *keeper, void *arg);
	void *arg;			/* for @changed */
};

/**
 * to_keeper_start() - start a keeper, which knows no plan yet
 * @config: copied; its strings must outlive the keeper. Both functions are called from the
 *	keeper's thread
 *
 * Return: NULL with @err.
 */
struct to_keeper *to_keeper_start(const struct to_keeper_config *config, struct to_error *err);

/** to_keeper_stop() - end the thread; NULL is allowed */
void to_keeper_stop(struct to_keeper *keeper);

/**
 * to_keeper_take() - Keep what apply made of another plan from now on
 * @plan: held; NULL: the agent knows none
 * @server: index in the plan
 * @paused: the agent is changing the device, so keep nothing meanwhile; set and reset with the
 *	device locked
 */
void to_keeper_take(struct to_keeper *keeper, const struct to_plan *plan, unsigned int server,
		    bool paused);

/**
 * to_keeper_show() - compare the server with another plan from now on, without restoring anything
 * @plan: taken over; of no matter while the active table is that of to_keeper_take()'s plan
 * @server: index in the plan
 */
void to_keeper_show(struct to_keeper *keeper, struct to_plan *plan, unsigned int server);

/** to_keeper_wait() - wait, for 2 s at most, until the keeper has looked, and by the plan last shown */
void to_keeper_wait(struct to_keeper *keeper);

/** to_keeper_restored() - return how many times the keeper has changed this server */
uint64_t to_keeper_restored(struct to_keeper *keeper);

/**
 * to_keeper_report() - Add "deviations" to a reply: what is not as apply made it
 *
 * Each is an object with "kind" (a word), "text", "fault" (traffic of the plan suffers), and
 * where they are known "port", "mac" (that the port has), "job" and "fix":
 *
 *	port-down	somebody set a port down, or what it transmits through
 *	port-mac	a port has another MAC than the plan says
 *	port-missing	there is no interface of a port's name
 *	port-taken	a port belongs to somebody else
 *	lost		something is not there, and this agent does not restore it
 *	left-alone	somebody removed something three times within a minute
 *	refused		the kernel refused to make something again
 *	conflict	a route or rule of others wins over the plan's
 *	no-table	there was a plan, and there is no table
 *
 * Nothing is added where everything is as apply made it.
 */
void to_keeper_report(struct to_keeper *keeper, json_t *reply);

#endif
