/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PCIE_LOAD_H
#define TOPOOPT_PCIE_LOAD_H

/* The busiest PCIe link of a plan, and whether it or a cable binds. */

#include <jansson.h>

#include "data/port_loads.h"

/** struct to_pcie_load - busiest direction of a PCIe link */
struct to_pcie_load {
	struct to_pcie_way way;
	double rate;		/* bits/s; 0 where no port is on a PCIe link */
	double seconds;		/* per iteration that its bytes keep it busy */
	bool binds;		/* no cable and no port is busier */
};

/** to_pcie_load_find() - find the busiest PCIe link of @loads, which are set */
struct to_pcie_load to_pcie_load_find(const struct to_port_loads *loads,
				      const struct to_cluster *cluster);

#define TO_PCIE_LOAD_TEXT_MAX (TO_NAME_MAX + IFNAMSIZ + 16)

/** to_pcie_load_text() - name @way: "spark1:chip, from host". Return: @text. */
const char *to_pcie_load_text(const struct to_cluster *cluster, const struct to_pcie_way *way,
			      char text[TO_PCIE_LOAD_TEXT_MAX]);

/** to_pcie_load_way_json() - JSON object of @way, NULL when out of memory */
json_t *to_pcie_load_way_json(const struct to_cluster *cluster, const struct to_pcie_way *way);

/** to_pcie_load_json() - JSON object of @load, NULL when out of memory */
json_t *to_pcie_load_json(const struct to_cluster *cluster, const struct to_pcie_load *load);

#endif
