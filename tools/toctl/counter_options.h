/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COUNTER_OPTIONS_H
#define TOPOOPT_COUNTER_OPTIONS_H

/* Option of commands that count: statistics of the NICs themselves. */

#include "cli/command.h"
#include "measure/counters.h"

/** TO_COUNTER_OPTIONS() - @member: a const char *; NULL: what rtnetlink counts */
#define TO_COUNTER_OPTIONS(type, member) \
	{ "nic-counters", 0, TO_OPTION_STRING, offsetof(type, member), \
	  .argument = "NAMES[,fcs]", .advanced = true, \
	  .help = "ethtool -S statistics to count ports by: bytes and packets received, bytes " \
		  "and packets sent; fcs: these bytes include the FCS" }

/**
 * to_counter_options_parse() - read the argument of --nic-counters
 * @names: filled in; left alone if @text is NULL
 *
 * Return: 0, or to_usage().
 */
int to_counter_options_parse(struct to_call *call, const char *text,
			     struct to_counter_names *names);

#endif
