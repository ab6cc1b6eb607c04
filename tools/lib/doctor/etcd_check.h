/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETCD_CHECK_H
#define TOPOOPT_ETCD_CHECK_H

/* What commonly breaks the etcd of a fabric, or leaves it open, and how to fix it. */

#include <stdbool.h>

#include "control/etcd.h"
#include "doctor/check.h"

/**
 * to_etcd_check() - Check the members of etcd, who may reach them, and alarms
 * @options: endpoints and certificates; users are not logged in
 *
 * Asks each endpoint with and without the client certificate, and without a user. Who
 * compacts etcd, and which history others need, cannot be asked.
 *
 * Return: whether all endpoints answered.
 */
bool to_etcd_check(struct to_checks *checks, const struct to_etcd_options *options);

/**
 * to_etcd_check_user() - Check that a user can log in, and tell what etcd lets the user do
 * @options: user, or role, and password
 */
void to_etcd_check_user(struct to_checks *checks, const struct to_etcd_options *options);

#endif
