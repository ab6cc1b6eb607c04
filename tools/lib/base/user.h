/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_USER_H
#define TOPOOPT_USER_H

/* Users of this host: a service reads their files with their rights, not with its own. */

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/**
 * to_user_become() - give up all rights but those of a user, until the process ends
 * @name: the user's name or number
 * @uid: gets the user's number
 *
 * Only root can become another user. For everybody else the process stays what it is, and
 * to_user_read() makes up for that.
 *
 * Return: 0, or a negative errno with @err set; -ENOENT if there is no such user.
 */
int to_user_become(const char *name, uid_t *uid, struct to_error *err);

/**
 * to_user_read() - read a regular file that a user may read
 * @uid: the user; a process that runs as another one reads only files that belong to @uid
 * @most: bytes that the file may have, of base/limits.h
 * @data: the bytes, with a NUL after the last; for free()
 * @len: how many, without the NUL
 *
 * Return: 0, or a negative errno with @err set; -EACCES if the user may not read @path.
 */
int to_user_read(const char *path, uid_t uid, size_t most, char **data, size_t *len,
		 struct to_error *err);

#endif
