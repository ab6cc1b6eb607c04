/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LOCK_H
#define TOPOOPT_LOCK_H

#include "error.h"

/**
 * to_lock_take() - keep others from changing a topoopt device of this namespace
 * @device: its name; it need not be there
 * @wait_s: for so many seconds, when somebody else is changing it
 *
 * To be had before the device is looked at. Return: a file descriptor whose
 * close() gives it back, as the end of the process does; -EBUSY when it was not
 * to be had; another negative errno.
 */
int to_lock_take(const char *device, unsigned int wait_s, struct to_error *err);

#endif
