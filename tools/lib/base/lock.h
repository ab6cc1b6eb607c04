/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LOCK_H
#define TOPOOPT_LOCK_H

#include <sys/types.h>

#include "base/error.h"

/**
 * to_lock_take() - keep other processes from taking the lock that is the file @path
 * @path: made if it is not there, with mode 0600: who may not open it cannot hold it
 * @wait_s: for so many seconds, when another process holds it
 * @holder: gets that process when it kept it, 0 when nobody knows
 *
 * Return: a file descriptor whose close() releases the lock, as the end of the process
 * does, however it ends; -EBUSY when another process kept it, with no text in @err;
 * another negative errno with one.
 */
int to_lock_take(const char *path, unsigned int wait_s, pid_t *holder, struct to_error *err);

/**
 * to_lock_holder() - who holds the lock that is the file @path
 * @holder: as of to_lock_take()
 *
 * Return: -EBUSY when another process holds it, else 0.
 */
int to_lock_holder(const char *path, pid_t *holder);

#endif
