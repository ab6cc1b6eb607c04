/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COURSE_H
#define TOPOOPT_COURSE_H

/*
 * What the closed loop does next. The first row whose condition holds decides:
 *
 *	state	when					does			after a failure
 *	stop	a signal asked for the end		ends the loop		-
 *	restore	servers may be between two plans	the plan in force on	repair, if something
 *						all that answer		is down; again, later
 *	repair	what is down is not what the plan	plan without it, in	restore
 *		in force does without, and something	PLAN.repair
 *		is down
 *	return	nothing is down, and the plan in	PLAN, without		restore
 *		force is a repaired one			PLAN.repair
 *	bring	a server answers and has not the	its table of the plan	again, later
 *		table that was decided on		in force
 *	measure	the interval is about to end		samples of all		ask
 *	ask	else					how all servers are	-
 *
 *	        +--------------------- ask <--------------------+
 *	        |      ^        |       |        |       |      |
 *	        v      |        v       v        v       v      |
 *	     measure --+     repair   return   bring   restore --+
 *	                        |       |                ^
 *	                        +-------+-- failed ------+
 *
 * A signal is looked at before each step, and within those of a change, see transition.h:
 * what has not touched an optical switch is undone, all else finished. So whatever state it
 * comes in, servers have the tables of PLAN, or of PLAN.repair where that is, and PLAN.next is
 * gone; only when that fails PLAN.next stays, for the next controller to find.
 *
 * What fails is tried again after COURSE_PAUSE_S, then after twice as long each time, up
 * to COURSE_PAUSE_MAX_S. A repair, a return and a restore are tried at once when something else
 * is down than when they failed.
 */

#include <stdbool.h>
#include <stdint.h>

#define COURSE_PAUSE_S 1
#define COURSE_PAUSE_MAX_S 30

enum to_course_state {
	TO_COURSE_STOP,
	TO_COURSE_RESTORE,
	TO_COURSE_REPAIR,
	TO_COURSE_RETURN,
	TO_COURSE_BRING,
	TO_COURSE_MEASURE,
	TO_COURSE_ASK,
	TO_COURSE_STATES
};

/** NULL-terminated, in the order of enum to_course_state: "stop", ... */
extern const char *const to_course_state_names[];

/** struct to_course_view - what decides which state is next */
struct to_course_view {
	bool stop;	/* a signal asked for the end */
	bool between;	/* servers may be between two plans */
	bool down;	/* something is down, or slower than planned */
	bool outdated;	/* that is not what the plan in force is for */
	bool astray;	/* a server answers and has not the table that was decided on */
	bool due;	/* the interval is about to end */
};

/** struct to_course - when what failed may be tried again; zeroed at first */
struct to_course {
	uint64_t after_ns[TO_COURSE_STATES];	/* CLOCK_MONOTONIC */
	unsigned int pause[TO_COURSE_STATES];	/* seconds after the last failure, 0: none */
};

/** to_course_next() - Return what to do next */
enum to_course_state to_course_next(const struct to_course *course,
				    const struct to_course_view *view, uint64_t now_ns);

/** to_course_failed() - Put off the next attempt of @state; they get ever rarer */
void to_course_failed(struct to_course *course, enum to_course_state state, uint64_t now_ns);

/** to_course_done() - Forget the failures of @state */
void to_course_done(struct to_course *course, enum to_course_state state);

#endif
