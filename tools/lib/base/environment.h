/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ENVIRONMENT_H
#define TOPOOPT_ENVIRONMENT_H

/*
 * The environment of children: that of this process without secrets. All other variables
 * stay, because a job needs what its user has set, and ssh needs PATH, HOME and SSH_AUTH_SOCK.
 *
 * Secrets are TOPOOPT_*_PASSWORD, TOPOOPT_*_TOKEN, and the variables that
 * to_environment_hide() was told of.
 */

/**
 * to_environment_hide() - treat a variable as a secret from now on
 * @name: copied
 *
 * May be called from any thread. Return: 0 or -ENOMEM.
 */
int to_environment_hide(const char *name);

/**
 * to_environment_of_child() - make the environment of a child
 * @kept: name of a secret that this child gets; NULL for none
 *
 * Return: an array for execve(), whose strings are those of the environment; the caller frees
 * the array. NULL when out of memory.
 */
char **to_environment_of_child(const char *kept);

#endif
