/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETCD_USERS_H
#define TOPOOPT_ETCD_USERS_H

/*
 * Users and roles of etcd for a cluster; etcd_key.h has the keys. Below the prefix,
 * without its leading slash (topoopt/...):
 *
 *	controller	writes controller, request/, plans/ and shards/, reads all
 *	agents/SERVER	reads controller, request/ and plans/, and writes what agents/SERVER/
 *			and samples/SERVER/ hold
 *	observer	reads all that a controller reads, and writes request/look alone
 *
 * and root, which may do everything.
 */

#include "control/etcd.h"
#include "data/cluster.h"

#define TO_ETCD_ROOT "root"

/** struct to_etcd_users - what to_etcd_users_init() found and made */
struct to_etcd_users {
	unsigned int users, made;	/* root too, when it was not there */
	bool enabled;			/* authentication, by this call */
};

/**
 * to_etcd_users_init() - make the users that are missing, and have etcd ask for them
 * @options: user and password are those of an administrator, if etcd asks for one
 *	already; by default root with the password in @directory
 * @directory: gets a password file for each user: root, controller, observer, agents/SERVER.
 *	A user whose file is missing gets another password
 *
 * Can be repeated after a failure, or when servers were added. Return: 0 or a
 * negative errno with @err.
 */
int to_etcd_users_init(const struct to_etcd_options *options, const struct to_cluster *cluster,
		       const char *directory, struct to_etcd_users *result,
		       struct to_error *err);

#endif
