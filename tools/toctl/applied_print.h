/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_APPLIED_PRINT_H
#define TOCTL_APPLIED_PRINT_H

/* What toctl apply has done or would do, as text or JSON. */

#include "cli/command.h"
#include "control/apply_all.h"
#include "control/apply_server.h"

/** to_applied_print_server() - print what was done on this server, and warn of ports without XDP */
void to_applied_print_server(const struct to_call *call, const struct to_apply_job *job,
			     const struct to_applied_server *result);

/** to_applied_print_all() - print what was done on all servers */
void to_applied_print_all(const struct to_call *call, const struct to_applied_all *result);

/** to_applied_print_changes() - print what to_apply_server() would change; 0 or a negative errno */
int to_applied_print_changes(struct to_call *call, const struct to_apply_job *job);

/** to_applied_warn() - warn of what on this server limits the plan: kernel settings, relays */
void to_applied_warn(const struct to_call *call, const struct to_apply_job *job);

/**
 * to_applied_warn_rdma() - warn that not all pairs have relays for RDMA
 * @src: server whose pairs count, TO_SERVER_NONE for all servers
 */
void to_applied_warn_rdma(const struct to_call *call, const struct to_plan *plan, uint32_t src);

#endif
