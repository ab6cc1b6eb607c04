/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MANUAL_H
#define TOPOOPT_MANUAL_H

/* Manual pages: prose from a file, synopsis and options from the command table. */

#include "cli/command.h"

/**
 * to_manual_fill() - copy a manual page in scdoc's format and fill in its markers
 * @path: file whose first line begins with the name of the page: "toctl-tm-show(8)"
 *
 * A line "@synopsis@", "@options@" or "@commands@" is replaced by usage and options of the
 * page's command, or by the list of all commands.
 *
 * Return: 0, or a negative errno with @err: no such file, no command has that page.
 */
int to_manual_fill(FILE *out, const struct to_program *program, const char *path,
		   struct to_error *err);

#endif
