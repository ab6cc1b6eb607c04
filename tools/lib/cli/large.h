/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LARGE_H
#define TOPOOPT_LARGE_H

/* --large, of commands that make a matrix of as many servers as a small file names. */

#include "cli/command.h"
#include "data/large.h"

/** TO_LARGE_OPTION - the option, for a flag of the arguments at @at */
#define TO_LARGE_OPTION(at) \
	{ "large", 0, TO_OPTION_FLAG, .offset = (at), .advanced = true, \
	  .help = "allow more than 1024 servers; matrices take 8 bytes per pair" }

#endif
