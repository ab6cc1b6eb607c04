/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FABRIC_OPTIONS_H
#define TOPOOPT_FABRIC_OPTIONS_H

#include "command.h"
#include "fabric.h"

/** Options of commands that speak to all servers; @member: a struct to_fabric_options */
#define TO_FABRIC_OPTIONS(type, member) \
	{ "command", 'c', TO_OPTION_STRING, offsetof(type, member.command), \
	  .argument = "COMMAND", \
	  .help = "starts the agent of server {}; default: " TO_FABRIC_COMMAND }, \
	{ "timeout", 0, TO_OPTION_DURATION, offsetof(type, member.timeout_ns), \
	  .argument = "TIME", .min = 1, \
	  .help = "for all servers to do one step; default: 10s" }

#define TO_FABRIC_DEFAULTS { .command = TO_FABRIC_COMMAND, .timeout_ns = 10000000000 }

#endif
