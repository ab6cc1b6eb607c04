/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_CHECKS_H
#define TOCTL_CHECKS_H

#include <stdio.h>

#include "cli/command.h"
#include "doctor/check.h"

/** to_checks_print() - findings with what fixes them, as JSON if @call wants that */
void to_checks_print(FILE *out, const struct to_call *call, const struct to_checks *checks);

#endif
