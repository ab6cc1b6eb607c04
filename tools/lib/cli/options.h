/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_OPTIONS_H
#define TOPOOPT_OPTIONS_H

/* Options of a command line, parsed by the command table. */

#include "cli/command.h"

/**
 * to_options_parse() - parse options and operands of @call->command
 * @argc: number of words after the command's name
 * @argv: these words; argv[-1] is the last word of the name
 * @args: arguments of the command, which start as its defaults
 * @help: set if --help was given; nothing else is checked then
 *
 * Return: 0, or a negative errno with @call->err set.
 */
int to_options_parse(struct to_call *call, int argc, char **argv, void *args, bool *help);

/** to_options_free() - free what the options of a call hold */
void to_options_free(struct to_call *call, void *args);

#endif
