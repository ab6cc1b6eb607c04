/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SWITCH_H
#define TOPOOPT_SWITCH_H

/*
 * Optical switches: what joins which of their ports, read and changed through
 * the driver that a switch's "control" in cluster.json names.
 *
 *	switch.c		one switch: a change is done when its read-back says so
 *	switch_set.c		all switches of a plan: minimal change, all or nothing
 *	switch_allow.c		what plans may have done on this machine
 *	switch_driver.c		what drivers share
 *	switch_command.c	driver: a program that gets JSON
 *	switch_netns.c		driver: the namespace that is the lab's optical switch
 *	switch_polatis_scpi.c, switch_polatis_restconf.c, switch_sonic.c
 *				drivers: what such switches understand
 */

#include "data/cluster.h"
#include "data/plan.h"
#include "switch/circuits.h"

struct to_switch;

/**
 * to_switch_open() - connect to optical switch @index of @cluster, which it borrows
 *
 * Return: NULL with the reason in @err: no control, not reached, fewer ports
 * than the cluster says.
 */
struct to_switch *to_switch_open(const struct to_cluster *cluster, unsigned int index,
				 struct to_error *err);
void to_switch_close(struct to_switch *sw);

/**
 * to_switch_read() - the present circuits, of all ports, whoever owns them
 * @circuits: freed with to_circuits_free()
 */
int to_switch_read(struct to_switch *sw, struct to_circuits *circuits, struct to_error *err);

/**
 * to_switch_change() - end the circuits @off, then make the circuits @on
 *
 * Returns when the switch says that it is done and reads back @on, and nothing
 * else where they and @off enter and leave it; on a duplex fabric both are
 * whole cross-connects. Others may change the rest of the switch meanwhile.
 *
 * Return: 0, else a negative errno; the error names the switch, the first port
 * that is not as asked and what the switch said. What it then has is open, and
 * after -ETIMEDOUT it may yet make the change.
 */
int to_switch_change(struct to_switch *sw, const struct to_circuits *off,
		     const struct to_circuits *on, struct to_error *err);

/**
 * to_switch_differences() - what ends and what is made so that a switch has @wanted
 * @now: what to_switch_read() gave
 * @unwanted: with @wanted they say where the switch is looked at: at the
 *	inputs that they enter and the outputs that they leave; both sorted
 * @off, @on: appended to
 *
 * Return: 0 or -ENOMEM
 */
int to_switch_differences(const struct to_circuits *now, const struct to_circuits *wanted,
			  const struct to_circuits *unwanted, struct to_circuits *off,
			  struct to_circuits *on);

/**
 * struct to_switch_change - what a plan changes on one of its switches
 * @has: its circuits when they were last read by to_switch_set_compare()
 * @off: circuits that end: of ports that the plan's servers have, not wanted
 * @on: circuits that are made
 * @late_off, @late_on: a change that is late, see to_switch_set_late()
 * @late_until: CLOCK_MONOTONIC ns; then it counts as lost; 0 when none is late
 */
struct to_switch_change {
	struct to_switch *sw;
	struct to_circuits has, off, on, late_off, late_on;
	uint64_t late_until;
};

/** struct to_switch_set - the optical switches of a cluster, connected */
struct to_switch_set {
	const struct to_cluster *cluster;
	unsigned int n;
	struct to_switch_change *changes;	/* as to_cluster.switches */
};

/**
 * to_switch_set_open() - connect to all optical switches of @cluster, which it borrows
 * @allow: see to_switch_allow_check()
 *
 * Return: 0, else a negative errno: a switch is not to be set like that here (-EACCES),
 * cannot be reached, or is set by hand (-ENOTSUP), or the cluster has none (-ENOENT).
 */
int to_switch_set_open(struct to_switch_set *s, const struct to_cluster *cluster,
		       const char *allow, struct to_error *err);
void to_switch_set_close(struct to_switch_set *s);

/**
 * to_switch_set_compare() - read all switches, fill in what @plan changes on them
 * @plan: on the same switches; may be another plan's cluster with equal switches
 *
 * Of ports with two fibres the active one counts, and a cross-connect of the
 * plan is where they lead. What joins ports that no server of the plan has is
 * left alone.
 *
 * Return: 0, else a negative errno: cross-connects that collide or that the
 * switch has no ports for, a read that failed.
 */
int to_switch_set_compare(struct to_switch_set *s, const struct to_plan *plan,
			  struct to_error *err);

/** to_switch_set_comparison - type of to_switch_set_compare() and of those below */
typedef int to_switch_set_comparison(struct to_switch_set *s, const struct to_plan *plan,
				     struct to_error *err);

/**
 * to_switch_set_compare_ahead() - to_switch_set_compare() for the next job
 *
 * Its cross-connects are made between the look-ahead ports: the fibres that
 * the 1x2 switches of the servers' ports have not chosen now. What the active
 * ports have stays.
 *
 * Return: as to_switch_set_compare(), -ENOTSUP when a port of the plan has one
 * fibre only.
 */
int to_switch_set_compare_ahead(struct to_switch_set *s, const struct to_plan *plan,
				struct to_error *err);

/**
 * to_switch_set_compare_gathered() - to_switch_set_compare(), after which all 1x2 switches
 *	of the plan's servers are at one end
 *
 * Where they are not, as after a flip that was cut short or when servers come from several
 * plans, all go to the end where more of the plan's cross-connects are in place.
 *
 * Return: as to_switch_set_compare().
 */
int to_switch_set_compare_gathered(struct to_switch_set *s, const struct to_plan *plan,
				   struct to_error *err);

/**
 * to_switch_set_compare_flip() - the change that puts all 1x2 switches of the
 *	plan's servers to their other ends
 *
 * Return: as to_switch_set_compare(), -EAGAIN when the look-ahead ports do not
 * have the plan's cross-connects.
 */
int to_switch_set_compare_flip(struct to_switch_set *s, const struct to_plan *plan,
			       struct to_error *err);

/** to_switch_set_differ() - how many circuits the plan compared with last ends and makes */
unsigned int to_switch_set_differ(const struct to_switch_set *s);

/**
 * to_switch_set_apply() - make the change that to_switch_set_compare() found
 *
 * Changes all switches at once, so that links are down no longer than the slowest
 * takes. When one fails, all go back to what they had. One
 * whose change is late is given its timeout once more, to undo what comes then.
 *
 * Return: 0, else a negative errno; @err says in one line what failed, and
 * that the switches have what they had or which of them does not.
 */
int to_switch_set_apply(struct to_switch_set *s, struct to_error *err);

/**
 * to_switch_set_restore() - bring all back to what to_switch_set_compare() had read
 *
 * All that to_switch_set_apply() had to change, that is: what others have changed
 * beside it meanwhile stays. For callers whose later steps failed after to_switch_set_apply().
 */
int to_switch_set_restore(struct to_switch_set *s, struct to_error *err);

/**
 * to_switch_set_late() - may a switch yet make a change that it did not answer in time?
 *
 * Such a change is late: that the switch still has its old cross-connects does
 * not say that it keeps them, whatever to_switch_set_compare() found. It is over
 *
 * - when the switch has made a later change: it makes one after the other;
 * - when a read shows that it was made;
 * - three timeouts of the switch after it should have been answered: it was lost.
 *
 * Return: 0, or -EINPROGRESS with the switches that may in @err.
 */
int to_switch_set_late(const struct to_switch_set *s, struct to_error *err);

#endif
