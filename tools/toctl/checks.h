/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHECKS_H
#define TOPOOPT_CHECKS_H

#include <jansson.h>
#include <stdio.h>

#include "cli/command.h"
#include "doctor/check.h"

/** to_checks_json() - Return the findings as an array */
json_t *to_checks_json(const struct to_checks *checks);

/** to_checks_print() - findings with what fixes them, as JSON if @call wants that */
void to_checks_print(FILE *out, const struct to_call *call, const struct to_checks *checks);

/** to_checks_failed() - is one of them a failure? */
bool to_checks_failed(const struct to_checks *checks);

#endif
