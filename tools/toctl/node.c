// SPDX-License-Identifier: GPL-2.0-or-later
#include "node.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The plan's servers as "s0, s1, ... s15" for an error line. */
static void node_list(const struct to_cluster *cluster, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < cluster->n_servers; i++) {
		if (i >= 8 && i + 1 < cluster->n_servers) {
			len += snprintf(text + len, size - len, ", ...");
			i = cluster->n_servers - 1;
		}
		len += snprintf(text + len, size - len, "%s%s", i ? ", " : "",
				cluster->servers[i].name);
		if (len >= size)
			return;
	}
}

int to_node_find(const struct to_plan *plan, const char *path, const char *node,
		 struct to_error *err)
{
	char host[TO_NAME_MAX] = "", servers[320];
	int server;

	if (!node) {
		if (gethostname(host, sizeof(host) - 1))
			return to_error_set(err, -errno, "host name: %s",
					    strerror(errno));
		node = host;
	}
	server = to_cluster_find_server(plan->cluster, node);
	if (server >= 0)
		return server;
	node_list(plan->cluster, servers, sizeof(servers));
	return to_error_set(err, -ENOENT,
			    "%s: no server %s%s in this plan (it has %s); name one with --node",
			    path, node, host[0] ? ", this host's name," : "", servers);
}
