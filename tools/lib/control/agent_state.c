// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/agent_state.h"

#include <net/if.h>
#include <stdlib.h>
#include <string.h>

int to_agent_device(struct to_apply_kept *kept, const char *device, struct to_device *state,
		    struct to_error *err)
{
	uint32_t ifindex = if_nametoindex(device);
	int ret;

	memset(state, 0, sizeof(*state));
	if (!ifindex)
		return 1;
	ret = to_apply_kept_device(kept, ifindex, err);
	return ret ? ret : to_genl_device(&kept->genl, ifindex, state, err);
}

int to_agent_state(struct to_apply_kept *kept, const char *device, struct to_keeper *keeper,
		   json_t *reply, struct to_error *err)
{
	struct to_kernel_port *ports = NULL;
	json_t *live = json_array();
	unsigned int n_ports = 0;
	struct to_device state;
	int ret;

	ret = to_agent_device(kept, device, &state, err);
	if (!ret)
		ret = to_genl_ports(&kept->genl, state.ifindex, &ports, &n_ports, err);
	for (unsigned int i = 0; i < n_ports; i++)
		if (ports[i].live)
			json_array_append_new(live, json_string(ports[i].name));
	free(ports);
	json_object_set_new(reply, "protocol", json_integer(TO_AGENT_PROTOCOL));
	json_object_set_new(reply, "generation", json_integer(state.generation));
	json_object_set_new(reply, "staged", json_boolean(state.prepared));
	json_object_set_new(reply, "live", live);
	if (keeper)
		to_keeper_report(keeper, reply);
	return ret < 0 ? ret : 0;
}
