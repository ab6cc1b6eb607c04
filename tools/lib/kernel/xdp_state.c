// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/xdp_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/napi_processors.h"
#include "kernel/xdp_features.h"

static void state_note(struct to_xdp_state *state, bool fault, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void state_note(struct to_xdp_state *state, bool fault, const char *fix, const char *fmt, ...)
{
	struct to_xdp_note *note = &state->notes[state->n++];
	va_list ap;

	note->fault = fault;
	snprintf(note->fix, sizeof(note->fix), "%s", fix);
	va_start(ap, fmt);
	vsnprintf(note->text, sizeof(note->text), fmt, ap);
	va_end(ap);
}

static struct to_xdp_relayed state_relayed(const uint64_t *counters)
{
	struct to_xdp_relayed relayed = {
		.native = counters[TO_COUNTER(RELAY_XDP_PACKETS)],
		.generic = counters[TO_COUNTER(RELAY_XDP_GENERIC_PACKETS)],
	};

	relayed.skb = counters[TO_COUNTER(RELAY_RX_PACKETS)] - relayed.native - relayed.generic;
	return relayed;
}

/* What keeps XDP from frames that arrive at a port. */
static void state_receive(struct to_xdp_state *state, const struct to_kernel_port *port)
{
	const char *strips = to_xdp_stripping(port->name);
	char fix[64];

	if (state->program == TO_XDP_FOREIGN) {
		state_note(state, true, "make sure that it passes on frames that are not its own",
			   "another XDP program sees all frames first");
	} else if (state->program != TO_XDP_SKB && strips) {
		snprintf(fix, sizeof(fix), "ethtool -K %s %s", port->name, strips);
		state_note(state, true, fix, "the NIC strips VLAN tags: nothing is relayed at XDP");
	} else if (state->program == TO_XDP_NATIVE && port->live && !port->xdp_receive) {
		state_note(state, true, "toctl apply PLAN --xdp off",
			   "the driver does not redirect: nothing is relayed at XDP");
	}
}

/* What keeps XDP from frames that leave by a port, or should. */
static void state_transmit(struct to_xdp_state *state, const struct to_kernel_port *port,
			   unsigned int processor)
{
	const bool allowed = port->xdp_classes & TOPOOPT_XDP_ROCE;
	struct to_xdp_egress egress;

	to_xdp_egress_judge(&egress, port->tx_name, processor, TOPOOPT_XDP_ROCE, allowed);
	if (egress.why[0])
		state_note(state, egress.fix[0], egress.fix, "%s", egress.why);
	else if (!allowed)
		state_note(state, true, "toctl apply PLAN --xdp auto tries again, or says why not",
			   "XDP sends no RoCEv2 through %s", port->tx_name);
	else if (port->live && !port->xdp_error && !port->xdp_transmit)
		state_note(state, true, "toctl apply PLAN --xdp auto tries again, or says why not",
			   "%s does not send what XDP redirects", port->tx_name);
}

/*
 * The module gives a driver frames of several buffers only if the kernel says that it sends
 * them. Those that do not fit into a page arrive so at most drivers.
 */
static void state_frags(struct to_xdp_state *state, const struct to_kernel_port *port)
{
	if (port->xdp_transmit && to_xdp_features(port->tx_ifindex).send_frags != TO_XDP_CAN)
		state_note(state, false, "",
			   "%s sends no frames of several buffers by XDP: those take the kernel's queues",
			   port->tx_name);
}

/* A frame that XDP lost. Only apply --xdp on allows classes beside RoCEv2. */
static void state_error(struct to_xdp_state *state, const struct to_kernel_port *port)
{
	struct to_xdp_egress egress;

	if (!port->xdp_error)
		return;
	to_xdp_egress_lost(&egress, port->tx_name, port->xdp_error,
			   port->xdp_classes & TOPOOPT_XDP_OTHER);
	state_note(state, true, egress.fix, "%s", egress.why);
}

struct to_xdp_state *to_xdp_states(const struct to_kernel_port *ports, unsigned int n)
{
	struct to_xdp_state *states = calloc(n + 1, sizeof(*states));
	unsigned int processor = 0;
	bool used = false;

	for (unsigned int p = 0; states && p < n; p++) {
		states[p].program = to_xdp_path(ports[p].ifindex);
		states[p].relayed = state_relayed(ports[p].counters);
		used |= states[p].program == TO_XDP_NATIVE || ports[p].xdp_classes != TO_XDP_CLASSES;
		state_receive(&states[p], &ports[p]);
	}
	if (!states || !used)
		return states;
	for (unsigned int p = 0; p < n; p++) {
		unsigned int highest = to_napi_processors_highest(ports[p].name);

		processor = highest > processor ? highest : processor;
	}
	for (unsigned int p = 0; p < n; p++) {
		state_transmit(&states[p], &ports[p], processor);
		state_frags(&states[p], &ports[p]);
		state_error(&states[p], &ports[p]);
	}
	return states;
}
