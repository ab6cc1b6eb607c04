// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on what a controller sends to an agent, a request a line. There is
 * no kernel: what the agent would do there fails.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>

#include "control/agent.h"

void *__wrap_mnl_socket_open2(int bus, int flags)
{
	(void)bus;
	(void)flags;
	errno = EPERM;
	return NULL;
}

/* Nobody else holds it. */
int __wrap_to_lock_take(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static json_t *call(void *agent, const json_t *request)
{
	return to_agent_call(agent, request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const volatile sig_atomic_t stop;
	struct to_agent *agent;
	struct to_error err;
	FILE *in, *out;

	if (!len)
		return 0;
	agent = to_agent_new("fuzz0", NULL, &err);
	in = fmemopen((void *)data, len, "r");
	out = fopen("/dev/null", "w");
	if (!agent || !in || !out)
		abort();
	to_agent_serve(agent, call, in, out, &stop, &err);
	fclose(in);
	fclose(out);
	to_agent_free(agent);
	return 0;
}
