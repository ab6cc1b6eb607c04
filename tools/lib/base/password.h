/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PASSWORD_H
#define TOPOOPT_PASSWORD_H

/* Passwords: from files that nobody else reads or from the environment, never from options. */

#include <stddef.h>

#include "base/error.h"

/** TO_PASSWORD_MAX - bytes of a password, with the NUL */
#define TO_PASSWORD_MAX 256

/**
 * to_password_read() - the first line of @path, or the value of @variable
 * @path: NULL: the environment's
 *
 * Return: 0; -EPERM when others may read @path; -ENOKEY when there is none;
 * -E2BIG when it is longer than a password may be; another errno of reading it.
 */
int to_password_read(char password[TO_PASSWORD_MAX], const char *path, const char *variable,
		     struct to_error *err);

/**
 * to_password_check_private() - Check that nobody but root and the user reads a secret file
 *
 * Return: 0; -EPERM with @err when the file is another user's, or others may read it; another
 * negative errno with @err when it cannot be read.
 */
int to_password_check_private(const char *path, struct to_error *err);

/** to_password_make() - 32 random characters, letters and digits */
int to_password_make(char password[TO_PASSWORD_MAX], struct to_error *err);

/** to_password_write() - write a new file in place of @path, which only this user may read */
int to_password_write(const char *path, const char *password, struct to_error *err);

#endif
