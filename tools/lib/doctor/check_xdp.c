// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of how ports relay: by XDP or through the kernel's queues. */

#include <inttypes.h>
#include <stdlib.h>

#include "doctor/check.h"
#include "kernel/xdp_state.h"

static void xdp_path(struct to_checks *checks, const char *port, const struct to_xdp_state *state)
{
	const uint64_t all = to_xdp_relayed_sum(&state->relayed);

	if (state->program == TO_XDP_NATIVE)
		to_check_add(checks, TO_CHECK_OK, "path", port, NULL,
			     "native XDP relayed %" PRIu64 " of %" PRIu64 " packets",
			     state->relayed.native, all);
	else if (state->program == TO_XDP_GENERIC)
		to_check_add(checks, TO_CHECK_OK, "path", port, NULL,
			     "generic XDP relayed %" PRIu64 " of %" PRIu64 " packets",
			     state->relayed.generic, all);
	else
		to_check_add(checks, TO_CHECK_OK, "path", port, NULL,
			     "relays through the kernel's queues");
}

void to_check_xdp(struct to_checks *checks, const struct to_kernel_port *ports, unsigned int n)
{
	struct to_xdp_state *states = to_xdp_states(ports, n);

	for (unsigned int p = 0; states && p < n; p++) {
		xdp_path(checks, ports[p].name, &states[p]);
		for (unsigned int i = 0; i < states[p].n; i++) {
			const struct to_xdp_note *note = &states[p].notes[i];

			to_check_add(checks, note->fault ? TO_CHECK_WARN : TO_CHECK_OK, "xdp",
				     ports[p].name, note->fix[0] ? note->fix : NULL, "%s",
				     note->text);
		}
	}
	free(states);
}
