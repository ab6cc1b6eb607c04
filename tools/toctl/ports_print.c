// SPDX-License-Identifier: GPL-2.0-or-later
#include "ports_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "kernel/hardware.h"
#include "kernel/xdp.h"

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

static void ports_print_port(FILE *out, const struct to_kernel_port *p)
{
	fprintf(out, "%-15s %-5s %-15s %-11s %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %9" PRIu64,
		p->name, p->live ? "live" : "dead", p->tx_name,
		to_xdp_path_names[to_xdp_path(p->ifindex)],
		p->counters[TO_COUNTER(RELAY_RX_PACKETS)], p->counters[TO_COUNTER(RELAY_TX_PACKETS)],
		p->counters[TO_COUNTER(LOCAL_PACKETS)], to_device_view_drops(p->counters));
}

int to_ports_print(FILE *out, const struct to_device_view *view, struct to_error *err)
{
	struct to_hardware *hardware = calloc(view->n_ports + 1, sizeof(*hardware));
	bool known = false;

	if (!hardware)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < view->n_ports; i++) {
		to_hardware_read(&hardware[i], view->ports[i].name);
		known |= to_hardware_is_known(&hardware[i]);
	}
	fprintf(out, "%-15s %-5s %-15s %-11s %15s %15s %15s %9s%s\n", "PORT", "STATE", "TRANSMITS",
		"PATH", "RELAYED IN", "SENT", "LOCAL", "DROPPED",
		known ? "  FUNCTION     CABLE PCIE" : "");
	for (unsigned int i = 0; i < view->n_ports; i++) {
		ports_print_port(out, &view->ports[i]);
		if (known)
			ports_print_hardware(out, &hardware[i]);
		fputc('\n', out);
	}
	free(hardware);
	return 0;
}
