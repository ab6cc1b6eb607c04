// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/hardware.h"

#include <inttypes.h>

#include "report/page.h"

#define HARDWARE_OPEN 16	/* servers whose tables are shown at once */

static const char *const hardware_transits[] = {
	[TO_TRANSIT_KERNEL] = "the kernel",
	[TO_TRANSIT_NIC] = "the card",
	[TO_TRANSIT_NONE] = "nobody",
};

static bool hardware_is_said(const struct to_port *port)
{
	return port->cable[0] || port->card[0] || port->pcie || port->transit != TO_TRANSIT_KERNEL;
}

static void hardware_cell(FILE *out, const char *text)
{
	fprintf(out, "<td>");
	if (text[0])
		to_markup_print(out, text);
	else
		fprintf(out, "&ndash;");
	fprintf(out, "</td>");
}

static void hardware_ports(FILE *out, const struct to_server *server)
{
	for (unsigned int q = 0; q < server->n_ports; q++) {
		const struct to_port *port = &server->ports[q];

		if (!hardware_is_said(port))
			continue;
		fprintf(out, "<tr><th scope=\"row\">");
		to_markup_print(out, server->name);
		fprintf(out, ":");
		to_markup_print(out, port->name);
		fprintf(out, "</th>");
		hardware_cell(out, port->cable);
		hardware_cell(out, port->card);
		hardware_cell(out, port->pcie ? server->pcie[port->pcie - 1].name : "");
		hardware_cell(out, hardware_transits[port->transit]);
		fprintf(out, "</tr>\n");
	}
}

static void hardware_rate(FILE *out, uint64_t rate, bool measured)
{
	if (rate)
		fprintf(out, "<td>%.4g Gbit/s%s</td>", rate / 1e9, measured ? ", measured" : "");
	else
		fprintf(out, "<td>&ndash;</td>");
}

static void hardware_links(FILE *out, const struct to_server *server)
{
	for (unsigned int i = 0; i < server->n_pcie; i++) {
		const struct to_pcie_link *link = &server->pcie[i];

		fprintf(out, "<tr><th scope=\"row\">");
		to_markup_print(out, server->name);
		fprintf(out, ":");
		to_markup_print(out, link->name);
		fprintf(out, "</th>");
		hardware_cell(out, link->within ? server->pcie[link->within - 1].name : "");
		hardware_rate(out, link->rate, false);
		hardware_rate(out, to_pcie_link_to_host(link), link->to_host);
		hardware_rate(out, to_pcie_link_from_host(link), link->from_host);
		fprintf(out, "</tr>\n");
	}
}

static void hardware_begin(FILE *out, const char *id, const char *const *heads)
{
	fprintf(out, "<div class=\"scroll\"><table id=\"%s\"><thead><tr>", id);
	for (; *heads; heads++)
		fprintf(out, "<th scope=\"col\">%s</th>", *heads);
	fprintf(out, "</tr></thead>\n<tbody>\n");
}

void to_report_hardware(FILE *out, const struct to_cluster *c)
{
	static const char *const ports[] = {
		"Port", "Cable", "Card", "PCIe link", "Takes RoCEv2 for others", NULL
	};
	static const char *const links[] = {
		"PCIe link", "Within", "By sysfs", "To memory", "From memory", NULL
	};
	unsigned int n_ports = 0, n_links = 0;

	for (uint32_t s = 0; s < c->n_servers; s++) {
		n_links += c->servers[s].n_pcie;
		for (unsigned int q = 0; q < c->servers[s].n_ports; q++)
			n_ports += hardware_is_said(&c->servers[s].ports[q]);
	}
	if (!n_ports && !n_links)
		return;
	fprintf(out, "<section><h2>Cards and PCIe links</h2>\n<details%s><summary>%u ports, %u PCIe links</summary>\n"
		"<p>Ports with one name of a cable share its connector, its light and its cut.</p>\n",
		c->n_servers <= HARDWARE_OPEN ? " open" : "", n_ports, n_links);
	hardware_begin(out, "cards", ports);
	for (uint32_t s = 0; s < c->n_servers; s++)
		hardware_ports(out, &c->servers[s]);
	fprintf(out, "</tbody></table></div>\n");
	if (n_links) {
		hardware_begin(out, "pcie", links);
		for (uint32_t s = 0; s < c->n_servers; s++)
			hardware_links(out, &c->servers[s]);
		fprintf(out, "</tbody></table></div>\n");
	}
	fprintf(out, "</details></section>\n");
}
