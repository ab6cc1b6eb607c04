/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_CONFIGURATION_H
#define TOCTL_CONFIGURATION_H

/* fabric.conf, for struct to_program. */

#include "cli/command.h"

/**
 * to_configuration_read() - fill the fields that are keys of fabric.conf
 * @args: arguments of @call->command; a field stays if nobody gave its key
 *
 * Strings live until to_configuration_release().
 *
 * Return: 0, or a negative errno or TO_EXIT_USAGE with call->err.
 */
int to_configuration_read(struct to_call *call, void *args);

/** to_configuration_release() - free what to_configuration_read() left in @call */
void to_configuration_release(struct to_call *call);

#endif
