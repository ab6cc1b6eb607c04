// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/agent_state.h"

#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/agent_look.h"
#include "kernel/peers.h"

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

static int state_add_ports(struct to_genl *genl, uint32_t device, json_t *live, json_t *light,
			   struct to_error *err)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct to_kernel_port *ports = NULL;
	unsigned int n = 0;
	int ret = to_genl_ports(genl, device, &ports, &n, err);

	for (unsigned int i = 0; i < n; i++) {
		if (ports[i].live)
			json_array_append_new(live, json_string(ports[i].name));
		if (ports[i].live || to_agent_look_lit(fd, &ports[i]))
			json_array_append_new(light, json_string(ports[i].name));
	}
	free(ports);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* What the neighbours are heard to say; a module without checks says nothing of them. */
static int state_add_peers(struct to_genl *genl, uint32_t device, json_t *reply,
			   struct to_error *err)
{
	struct to_peer *peers = NULL;
	unsigned int n = 0;
	int ret;

	if (!to_module_has(&genl->module, TOPOOPT_FEATURE_CHECKS))
		return 0;
	ret = to_peers_get(genl, device, &peers, &n, err);
	if (!ret)
		json_object_set_new(reply, "peers", to_peers_json(peers, n));
	free(peers);
	return ret;
}

/* What the module can, also without a device, when the kernel can load it. */
static void state_add_features(const struct to_apply_kept *kept, bool device, json_t *reply)
{
	struct to_genl genl;

	if (device) {
		json_object_set_new(reply, "features", to_module_features(&kept->genl.module));
	} else if (!to_genl_open(&genl, NULL)) {
		json_object_set_new(reply, "features", to_module_features(&genl.module));
		to_genl_close(&genl);
	}
}

bool to_agent_is_old(const json_t *reply)
{
	return json_object_get(reply, "generation") &&
	       json_integer_value(json_object_get(reply, "protocol")) < TO_AGENT_PROTOCOL;
}

bool to_agent_is_unable(const json_t *reply)
{
	const json_t *features = json_object_get(reply, "features");

	return to_agent_is_old(reply) ||
	       (features && !to_module_lists(features, TOPOOPT_FEATURE_CHECKS));
}

int to_agent_state(struct to_apply_kept *kept, const char *device, struct to_keeper *keeper,
		   json_t *reply, struct to_error *err)
{
	json_t *live = json_array(), *light = json_array();
	struct to_device state;
	int ret = to_agent_device(kept, device, &state, err);

	ret = ret ? ret : state_add_ports(&kept->genl, state.ifindex, live, light, err);
	ret = ret ? ret : state_add_peers(&kept->genl, state.ifindex, reply, err);
	state_add_features(kept, state.ifindex, reply);
	json_object_set_new(reply, "protocol", json_integer(TO_AGENT_PROTOCOL));
	json_object_set_new(reply, "generation", json_integer(state.generation));
	json_object_set_new(reply, "staged", json_boolean(state.prepared));
	json_object_set_new(reply, "live", live);
	json_object_set_new(reply, "light", light);
	if (keeper)
		to_keeper_report(keeper, reply);
	return ret < 0 ? ret : 0;
}
