/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_HELP_H
#define TOPOOPT_HELP_H

/* Help on the terminal, from the command table. */

#include "cli/command.h"

/** to_help_overview() - print the commands of a program by groups, a row each */
void to_help_overview(FILE *out, const struct to_program *program);

/** to_help_family() - print the commands of a family, such as "tm", a row each */
void to_help_family(FILE *out, const struct to_program *program, const char *family);

/** to_help_in_family() - tell whether a command is of a family */
bool to_help_in_family(const struct to_command *command, const char *family);

/** to_help_command() - print usage and options of a command */
void to_help_command(FILE *out, const struct to_program *program,
		     const struct to_command *command);

/** to_help_page() - write the name of a command's manual page, "toctl-tm-show", to @page */
const char *to_help_page(char *page, size_t size, const struct to_program *program,
			 const struct to_command *command);

#endif
