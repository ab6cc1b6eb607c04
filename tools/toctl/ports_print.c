// SPDX-License-Identifier: GPL-2.0-or-later
#include "ports_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/hardware.h"
#include "kernel/xdp_state.h"

/* Print the function, its connector, and the rate of the slowest PCIe link behind it. */
static void ports_print_hardware(FILE *out, const struct to_hardware *hardware)
{
	uint64_t rate = 0;

	for (unsigned int i = 0; i < hardware->n_links; i++)
		if (!rate || hardware->links[i].rate < rate)
			rate = hardware->links[i].rate;
	fprintf(out, "  %-12s %-5s ", hardware->pci[0] ? hardware->pci : "-",
		hardware->connector[0] ? hardware->connector : "-");
	if (rate)
		fprintf(out, "%.4g Gbit/s", rate / 1e9);
	else
		fputc('-', out);
}

/* The share of a path, beside those before it. */
static void ports_add_path(char *text, size_t size, enum to_xdp_path path, uint64_t packets,
			   uint64_t all)
{
	const size_t at = strlen(text);

	if (packets == all)
		snprintf(text + at, size - at, "%s", to_xdp_path_names[path]);
	else if (packets)
		snprintf(text + at, size - at, "%s%s %.3g%%", at ? " " : "",
			 to_xdp_path_names[path], 100.0 * packets / all);
}

/* The paths of packets that arrived at a port; before the first one, what its program is for. */
static void ports_paths(const struct to_xdp_state *state, char *text, size_t size)
{
	const uint64_t all = to_xdp_relayed_sum(&state->relayed);

	text[0] = '\0';
	if (!all) {
		snprintf(text, size, "(%s)", to_xdp_path_names[state->program]);
		return;
	}
	ports_add_path(text, size, TO_XDP_NATIVE, state->relayed.native, all);
	ports_add_path(text, size, TO_XDP_GENERIC, state->relayed.generic, all);
	ports_add_path(text, size, TO_XDP_SKB, state->relayed.skb, all);
}

static void ports_print_port(FILE *out, const struct to_kernel_port *p,
			     const struct to_xdp_state *state)
{
	char paths[64];

	ports_paths(state, paths, sizeof(paths));
	fprintf(out, "%-15s %-5s %-15s %-17s %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %9" PRIu64,
		p->name, p->live ? "live" : "dead", p->tx_name, paths,
		p->counters[TO_COUNTER(RELAY_RX_PACKETS)], p->counters[TO_COUNTER(RELAY_TX_PACKETS)],
		p->counters[TO_COUNTER(LOCAL_PACKETS)], to_device_view_drops(p->counters));
}

static void ports_print_notes(FILE *out, const struct to_kernel_port *p,
			      const struct to_xdp_state *state)
{
	for (unsigned int i = 0; i < state->n; i++)
		fprintf(out, "%s: %s%s%s\n", p->name, state->notes[i].text,
			state->notes[i].fix[0] ? ": " : "", state->notes[i].fix);
}

int to_ports_print(FILE *out, const struct to_device_view *view, struct to_error *err)
{
	struct to_xdp_state *states = to_xdp_states(view->ports, view->n_ports);
	struct to_hardware *hardware = calloc(view->n_ports + 1, sizeof(*hardware));
	bool known = false;

	if (!hardware || !states) {
		free(hardware);
		free(states);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	for (unsigned int i = 0; i < view->n_ports; i++) {
		to_hardware_read(&hardware[i], view->ports[i].name);
		known |= to_hardware_is_known(&hardware[i]);
	}
	fprintf(out, "%-15s %-5s %-15s %-17s %15s %15s %15s %9s%s\n", "PORT", "STATE", "TRANSMITS",
		"PATH", "RELAYED IN", "SENT", "LOCAL", "DROPPED",
		known ? "  FUNCTION     CABLE PCIE" : "");
	for (unsigned int i = 0; i < view->n_ports; i++) {
		ports_print_port(out, &view->ports[i], &states[i]);
		if (known)
			ports_print_hardware(out, &hardware[i]);
		fputc('\n', out);
	}
	for (unsigned int i = 0; i < view->n_ports; i++)
		ports_print_notes(out, &view->ports[i], &states[i]);
	free(hardware);
	free(states);
	return 0;
}
