/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SWITCH_ALLOW_H
#define TOPOOPT_SWITCH_ALLOW_H

/*
 * What plans may have done on this machine. A plan says how its optical switches are
 * set: by commands, with passwords, over a network. So it would be a program, run by
 * whoever sets its switches. Its administrator allows, a line each,
 *
 *	command COMMAND			to run it, as the plan has it
 *	password-file FILE URL		to send this password there
 *	password-env NAME URL
 *	http URL			to go there without encryption
 *	netns NAME			to change that network namespace
 *
 * or "*" in the place of all that follows the first word, for anything of the kind.
 * Empty lines and those that begin with "#" say nothing.
 */

#include "base/error.h"
#include "data/cluster.h"

#define TO_SWITCH_ALLOW "/etc/topoopt/allow"

/**
 * to_switch_allow_check() - may @optical be set as its "control" says?
 * @path: file that says what is allowed; NULL: TO_SWITCH_ALLOW, where no file allows nothing
 *
 * Return: 0; -EACCES with the line that is missing in @err; another negative errno:
 * @path cannot be read, has a line that means nothing, or others may write to it.
 */
int to_switch_allow_check(const char *path, const struct to_optical_switch *optical,
			  struct to_error *err);

#endif
