/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CLIENT_CHECK_H
#define TOPOOPT_CLIENT_CHECK_H

/* Whether a client of a job finds on a server what its environment takes for granted. */

#include "doctor/check.h"
#include "job/env.h"

/**
 * to_client_check() - ports, settings and version of a client
 * @root: "", or the directory below which to look for files and libraries
 *
 * Adds what to_env_make() refuses or warns of; settings of this process's environment
 * and, for NCCL, of /etc/nccl.conf that contradict it; for NCCL the version of the
 * newest library, and for those that send by RDMA the limit on locked memory.
 */
void to_client_check(struct to_checks *checks, const struct to_env_view *view,
		     enum to_env_client client, const char *root);

/**
 * to_client_check_server() - to_client_check() of a server of a plan
 * @server: index in @plan; ranks are those of the first AllReduce group that it is in
 * @device: name of the topoopt device
 */
void to_client_check_server(struct to_checks *checks, const struct to_plan *plan,
			    unsigned int server, const char *device, enum to_env_client client);

#endif
