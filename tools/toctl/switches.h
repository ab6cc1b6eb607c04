/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_SWITCHES_H
#define TOCTL_SWITCHES_H

/* Steps and output that several commands of toctl switch have. */

#include <jansson.h>

#include "cli/command.h"
#include "switch/switch.h"
#include "switch/switch_allow.h"

/** TO_ALLOW_KEY - what plans may do on this machine; @member: a string of the struct @type */
#define TO_ALLOW_KEY(type, member) \
	TO_KEY("switches.allow", offsetof(type, member))

/**
 * to_switches_start() - load the plan that is operand 0, connect to its switches and compare
 * @allow: see to_switch_allow_check()
 *
 * Return: 0, else a negative errno with call->err set; then nothing is left open.
 */
int to_switches_start(struct to_call *call, const char *allow, to_switch_set_comparison *compare,
		      struct to_plan **plan, struct to_switch_set *switches);

/** to_switches_end() - disconnect and free what to_switches_start() has opened */
void to_switches_end(struct to_plan *plan, struct to_switch_set *switches);

/**
 * to_switches_print() - print a line per cross-connect: "-" ends, "+" is made
 * @all: also print cross-connects that stay, with a blank
 */
void to_switches_print(const struct to_switch_set *switches, const struct to_plan *plan, bool all);

/** to_switches_run() - make the change that @compare finds, unless @dry_run, and print it */
int to_switches_run(struct to_call *call, const char *allow, to_switch_set_comparison *compare,
		    bool dry_run);

/** to_switches_json() - make [{"name", "has", "remove", "add"}] with pairs of ports */
json_t *to_switches_json(const struct to_switch_set *switches);

#endif
