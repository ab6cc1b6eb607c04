// SPDX-License-Identifier: GPL-2.0-or-later
#include "node.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NODE_HOST_MAX 64	/* __NEW_UTS_LEN of the kernel */

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
	char host[NODE_HOST_MAX + 1] = "", servers[320];
	int server;

	if (!node && gethostname(host, sizeof(host) - 1))
		return to_error_set(err, -errno, "host name: %s", strerror(errno));
	server = node ? to_cluster_find_server(plan->cluster, node) :
			to_cluster_find_host(plan->cluster, host);
	if (server >= 0)
		return server;
	if (server == -EEXIST)
		return to_error_set(err, -EEXIST,
				    "%s: several servers of this plan are called as this host, %s, up to the first dot; name one with --node",
				    path, host);
	node_list(plan->cluster, servers, sizeof(servers));
	return to_error_set(err, -ENOENT,
			    "%s: no server %s%s in this plan (it has %s); name one with --node",
			    path, node ? node : host, node ? "" : ", this host's name,", servers);
}
