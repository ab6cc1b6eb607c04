/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_LIVE_OPTIONS_H
#define TOCTL_LIVE_OPTIONS_H

/* Options of commands that serve a fabric's live page. */

#include "cli/command.h"
#include "report/live.h"

/**
 * TO_LIVE_OPTIONS() - options of a live page
 * @member: a struct to_live_options of the struct @type
 * @flag: option that serves the page, or NULL
 */
#define TO_LIVE_OPTIONS(type, member, flag) \
	{ "token-file", 0, TO_OPTION_STRING, offsetof(type, member.token_file), \
	  .argument = "FILE", .with = flag, \
	  .help = "password of the page; needed beyond loopback" }

#endif
