/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_AGENT_OWNER_H
#define TOPOOPT_AGENT_OWNER_H

/*
 * Whose a server's name is in etcd: one agent has it at a time, under its lease. An
 * agent that was killed leaves a lease behind; its successor on the same machine sees
 * that the process is gone and need not wait for that to end.
 */

#include <stdbool.h>

#include "base/error.h"

/** to_agent_owner_self() - this process, as a JSON text, for free(); NULL: out of memory */
char *to_agent_owner_self(void);

/** enum to_agent_owner_state - what is known here of the process that has a name */
enum to_agent_owner_state {
	TO_AGENT_OWNER_SELF,
	TO_AGENT_OWNER_GONE,
	TO_AGENT_OWNER_ALIVE,
	TO_AGENT_OWNER_ELSEWHERE,	/* on another machine or in another container */
};

/** to_agent_owner_state() - of the owner in @text, which to_agent_owner_self() made */
enum to_agent_owner_state to_agent_owner_state(const char *text);

/** to_agent_owner_name() - "process 12 on host1", "?" if that is no name of a host */
const char *to_agent_owner_name(char name[320], const char *text);

#endif
