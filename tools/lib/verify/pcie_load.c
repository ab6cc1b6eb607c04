// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/pcie_load.h"

#include <stdio.h>

struct to_pcie_load to_pcie_load_find(const struct to_port_loads *loads,
				      const struct to_cluster *cluster)
{
	const uint32_t way = to_port_loads_pcie(loads);
	struct to_pcie_load load = { 0 };

	if (way == UINT32_MAX)
		return load;
	load.way = loads->pcie[way - loads->n_ports];
	load.rate = to_pcie_way_rate(cluster, &load.way);
	load.seconds = to_port_loads_way_seconds(loads, way);
	load.binds = load.seconds > 0 &&
		     load.seconds >= to_port_loads_seconds(loads) * TO_PORT_LOADS_EQUAL;
	return load;
}

const char *to_pcie_load_text(const struct to_cluster *c, const struct to_pcie_way *way,
			      char text[TO_PCIE_LOAD_TEXT_MAX])
{
	const struct to_server *server = &c->servers[way->server];

	snprintf(text, TO_PCIE_LOAD_TEXT_MAX, "%s:%s, %s host", server->name,
		 server->pcie[way->link].name, way->to_host ? "to" : "from");
	return text;
}

json_t *to_pcie_load_way_json(const struct to_cluster *c, const struct to_pcie_way *way)
{
	const struct to_server *server = &c->servers[way->server];

	return json_pack("{s:s s:s s:s s:f}", "server", server->name,
			 "link", server->pcie[way->link].name,
			 "direction", way->to_host ? "to_host" : "from_host",
			 "rate_bps", to_pcie_way_rate(c, way));
}

json_t *to_pcie_load_json(const struct to_cluster *c, const struct to_pcie_load *load)
{
	json_t *object = to_pcie_load_way_json(c, &load->way);

	json_object_set_new(object, "busy_s", json_real(load->seconds));
	json_object_set_new(object, "binds", json_boolean(load->binds));
	return object;
}
