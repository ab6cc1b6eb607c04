// SPDX-License-Identifier: GPL-2.0-or-later
#include "node.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NODE_HOST_MAX 64	/* __NEW_UTS_LEN of the kernel */

#define NODE_LISTED 8

/* The plan's servers as "s0, s1, ... s15" for an error line; @host: those that fit it. */
static void node_list(const struct to_cluster *cluster, const char *host, char *text, size_t size)
{
	const char *last = NULL;
	unsigned int n = 0;
	size_t len = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < cluster->n_servers; i++) {
		if (host && !to_server_fits_host(&cluster->servers[i], host))
			continue;
		last = cluster->servers[i].name;
		if (n++ < NODE_LISTED && len < size)
			len += snprintf(text + len, size - len, "%s%s", n > 1 ? ", " : "", last);
	}
	if (n > NODE_LISTED && len < size)
		snprintf(text + len, size - len, "%s, %s", n > NODE_LISTED + 1 ? ", ..." : "", last);
}

int to_node_find(const struct to_plan *plan, const char *path, const char *node,
		 struct to_error *err)
{
	const char *const own = node ? "" : ", this host's name,";
	char host[NODE_HOST_MAX + 1] = "", servers[320];
	int server;

	if (!node && gethostname(host, sizeof(host) - 1))
		return to_error_set(err, -errno, "host name: %s", strerror(errno));
	node = node ? node : host;
	server = to_cluster_find_host(plan->cluster, node);
	if (server >= 0)
		return server;
	node_list(plan->cluster, server == -EEXIST ? node : NULL, servers, sizeof(servers));
	if (server == -EEXIST)
		return to_error_set(err, -EEXIST,
				    "%s: %s%s may be several servers of this plan (%s); name one with --node",
				    path, node, own, servers);
	return to_error_set(err, -ENOENT,
			    "%s: no server %s%s in this plan (it has %s); name one with --node",
			    path, node, own, servers);
}
