/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_STATUS_PRINT_H
#define TOCTL_STATUS_PRINT_H

/* How a fabric is, as text. */

#include "cli/command.h"
#include "doctor/observer.h"

/** to_status_print() - print a look of @observer: what there is, what is wrong, and a verdict */
void to_status_print(const struct to_call *call, const struct to_observer *observer,
		     const struct to_status *status);

#endif
