// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/router_named.h"

#include <string.h>

#include "simulate/network_json.h"
#include "simulate/optical.h"

bool to_fabric_is_file(const char *word)
{
	const size_t len = strlen(word);

	return len > 5 && !strcmp(word + len - 5, ".json");
}

bool to_fabric_changes(const char *word)
{
	struct to_optical_setting optical;
	struct to_error err = { "" };

	return to_optical_named(word, &optical, &err);
}

enum to_spread to_fabric_spread(const char *word)
{
	return to_network_named_balanced(word) && !to_fabric_is_file(word) ? TO_SPREAD_SPRAY :
									     TO_SPREAD_HASH;
}

enum to_algorithm to_fabric_algorithm(const char *word)
{
	return to_fabric_changes(word) || !strncmp(word, "expander", 8) ?
		       TO_ALGORITHM_RING_BOTH_WAYS :
		       TO_ALGORITHM_RING;
}

struct to_router *to_router_named(const char *word, const struct to_network_setting *setting,
				  const struct to_shortest_options *options, struct to_error *err)
{
	struct to_optical_setting optical;
	struct to_network *network;
	int ret;

	if (to_fabric_is_file(word)) {
		network = to_network_load(word, setting->latency, err);
		return network ? to_router_shortest(network, options, err) : NULL;
	}
	ret = to_optical_named(word, &optical, err);
	if (ret)
		return ret > 0 ? to_router_optical(setting, &optical, options, err) : NULL;
	network = to_network_named(word, setting, err);
	return network ? to_router_shortest(network, options, err) : NULL;
}
