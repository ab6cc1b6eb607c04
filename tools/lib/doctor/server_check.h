/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SERVER_CHECK_H
#define TOPOOPT_SERVER_CHECK_H

/* All checks of this server, with or without a plan. */

#include "data/plan.h"
#include "doctor/check.h"

/**
 * to_server_check() - check the module, the device, its ports, and what they are cabled to
 * @checks: gets the findings
 * @plan: to compare the kernel with, or NULL
 * @path: of the plan, for commands that fix a finding
 * @server: index of this server in @plan
 * @device: name of the topoopt device
 *
 * With a plan it also compares the kernel's table and entries, and sends probes from every
 * port.
 *
 * Return: 0, or a negative errno with @err: the kernel does not answer.
 */
int to_server_check(struct to_checks *checks, const struct to_plan *plan, const char *path,
		    unsigned int server, const char *device, struct to_error *err);

#endif
