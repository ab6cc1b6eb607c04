/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DEVICE_LOCK_H
#define TOPOOPT_DEVICE_LOCK_H

#include "base/error.h"

#define TO_DEVICE_LOCK_WAIT_S 5	/* longer than any toctl changes a device */

/**
 * to_device_lock_take() - keep others of a kind from changing a topoopt device
 * @kind: "toctl" for one change, "controller" from its stage to the confirmation
 * @device: its name in this network namespace; it need not be there
 * @wait_s: for so many seconds, when somebody else is changing it
 *
 * Take it before looking at the device. It is a file in /run/topoopt, where only root
 * may write; who has a namespace of devices without being root has it in
 * $XDG_RUNTIME_DIR/topoopt.
 *
 * Return: a file descriptor whose close() releases the lock, as the end of the
 * process does; -EBUSY when somebody else kept it; another negative errno.
 */
int to_device_lock_take(const char *kind, const char *device, unsigned int wait_s,
			struct to_error *err);

#endif
