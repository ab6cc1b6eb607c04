/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LOCK_H
#define TOPOOPT_LOCK_H

#include "base/error.h"

/**
 * to_lock_take() - keep others of a kind from changing a topoopt device
 * @kind: "toctl" for one apply, "controller" from its stage to the confirmation
 * @device: its name in this network namespace; it need not be there
 * @wait_s: for so many seconds, when somebody else is changing it
 *
 * To be had before the device is looked at. Return: a file descriptor whose
 * close() gives it back, as the end of the process does; -EBUSY when it was not
 * to be had; another negative errno.
 */
int to_lock_take(const char *kind, const char *device, unsigned int wait_s, struct to_error *err);

#endif
