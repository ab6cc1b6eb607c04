// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/down.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int to_down_init(struct to_down *down, const struct to_cluster *cluster)
{
	const unsigned int n = cluster->n_servers, links = cluster->n_links;

	*down = (struct to_down){
		.n_servers = n, .n_links = links,
		.servers = calloc(n + 1, sizeof(*down->servers)),
		.ports = calloc(n + 1, sizeof(*down->ports)),
		.links = calloc(links + 1, sizeof(*down->links)),
	};
	if (down->servers && down->ports && down->links)
		return 0;
	to_down_free(down);
	return -ENOMEM;
}

void to_down_free(struct to_down *down)
{
	free(down->list);
	free(down->servers);
	free(down->ports);
	free(down->links);
	*down = (struct to_down){ 0 };
}

static void down_darken(struct to_down *down, const struct to_cluster *cluster)
{
	down->n_dark = 0;
	for (unsigned int l = 0; l < cluster->n_links; l++) {
		const struct to_link *link = &cluster->links[l];

		down->links[l] = to_down_has(down, link->a) || to_down_has(down, link->b);
		down->n_dark += down->links[l];
	}
}

int to_down_add(struct to_down *down, const struct to_cluster *cluster, struct to_port_ref at)
{
	const bool server = at.port == TO_DOWN_SERVER;
	struct to_port_ref *list;

	if (down->servers[at.server] || (!server && to_down_has(down, at)))
		return 0;
	list = realloc(down->list, (down->n + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	down->list = list;
	down->list[down->n++] = at;
	down->servers[at.server] = server;
	down->ports[at.server] |= server ? ~0ull : 1ull << at.port;
	down_darken(down, cluster);
	return 0;
}

/* All ports of a packet switch, which its dying takes the light of. */
static int down_add_switch(struct to_down *down, const struct to_cluster *cluster, unsigned int on)
{
	int ret = 0;

	for (uint32_t s = 0; !ret && s < cluster->n_servers; s++) {
		const int port = to_cluster_find_on(&cluster->servers[s], on);

		if (port >= 0)
			ret = to_down_add(down, cluster, (struct to_port_ref){ s, port });
	}
	return ret;
}

/* 1 + index of the packet switch called @name, 0 for none. */
static unsigned int down_find_switch(const struct to_cluster *cluster, const char *name)
{
	for (unsigned int i = 0; i < cluster->n_packet_switches; i++)
		if (!strcmp(cluster->packet_switches[i].name, name))
			return i + 1;
	return 0;
}

int to_down_parse(struct to_down *down, const struct to_cluster *cluster, const char *word,
		  struct to_error *err)
{
	const size_t length = strcspn(word, ":");
	char name[TO_NAME_MAX] = "";
	int server = -1, port = -1, ret;
	unsigned int on;

	if (length < sizeof(name)) {
		memcpy(name, word, length);
		server = to_cluster_find_server(cluster, name);
	}
	on = word[length] ? 0 : down_find_switch(cluster, name);
	if (server < 0 && !on)
		return to_error_set(err, -ENOENT, "no server%s is called \"%.*s\"",
				    cluster->n_packet_switches ? " or packet switch" : "",
				    (int)(length < 100 ? length : 100), word);
	if (word[length]) {
		port = to_cluster_find_port(&cluster->servers[server], word + length + 1);
		if (port < 0)
			return to_error_set(err, -ENOENT, "server \"%s\" has no port \"%.100s\"",
					    name, word + length + 1);
	}
	if (server < 0)
		ret = down_add_switch(down, cluster, on);
	else if (port < 0)
		ret = to_down_add(down, cluster, (struct to_port_ref){ server, TO_DOWN_SERVER });
	else
		ret = to_down_add(down, cluster, (struct to_port_ref){ server, port });
	return ret ? to_error_set(err, ret, "out of memory") : 0;
}

/* Take down all functions on the cable of port @at, as a cut does. Return: 0 or -ENOMEM. */
static int down_cut(struct to_down *down, const struct to_cluster *cluster, struct to_port_ref at)
{
	const struct to_server *server = &cluster->servers[at.server];
	int ret = 0;

	for (unsigned int q = 0; !ret && at.port != TO_DOWN_SERVER && q < server->n_ports; q++)
		if (to_port_shares_cable(server, at.port, q))
			ret = to_down_add(down, cluster, (struct to_port_ref){ at.server, q });
	return ret;
}

int to_down_parse_all(struct to_down *down, const struct to_cluster *cluster,
		      const char *const *words, unsigned int n, const char *path,
		      struct to_error *err)
{
	struct to_error why = { "" };
	int ret = to_down_init(down, cluster);

	if (ret)
		to_error_set(&why, ret, "out of memory");
	for (unsigned int i = 0; !ret && i < n; i++) {
		const unsigned int named = down->n;

		ret = to_down_parse(down, cluster, words[i], &why);
		if (!ret && down->n > named && down_cut(down, cluster, down->list[named]))
			ret = to_error_set(&why, -ENOMEM, "out of memory");
	}
	if (!ret)
		return 0;
	to_down_free(down);
	return to_error_set(err, ret, "%s: %.400s", path, why.text);
}

bool to_down_cuts(const struct to_down *down, const struct to_cluster *cluster,
		  struct to_port_ref at)
{
	const struct to_server *server = &cluster->servers[at.server];

	for (unsigned int q = 0; q < server->n_ports; q++)
		if ((q == at.port || to_port_shares_cable(server, at.port, q)) &&
		    !to_down_has(down, (struct to_port_ref){ at.server, q }))
			return false;
	return true;
}

static bool down_is(struct to_port_ref a, struct to_port_ref b)
{
	return a.server == b.server && a.port == b.port;
}

bool to_down_darkens(const struct to_down *down, const struct to_cluster *cluster,
		     struct to_port_ref at)
{
	/* a packet switch keeps the light of its other ports */
	if (cluster->servers[at.server].ports[at.port].packet_switch)
		return to_down_has(down, at);
	for (unsigned int i = 0; i < cluster->n_links; i++)
		if (down->links[i] && (down_is(cluster->links[i].a, at) ||
				       down_is(cluster->links[i].b, at)))
			return true;
	return false;
}

const char *to_down_name(const struct to_cluster *cluster, struct to_port_ref at,
			 char text[TO_DOWN_NAME_MAX])
{
	const struct to_server *server = &cluster->servers[at.server];

	if (at.port == TO_DOWN_SERVER)
		snprintf(text, TO_DOWN_NAME_MAX, "%s", server->name);
	else
		snprintf(text, TO_DOWN_NAME_MAX, "%s:%s", server->name,
			 server->ports[at.port].name);
	return text;
}
