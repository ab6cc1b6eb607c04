// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/inventories.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/lldp.h"
#include "format/names.h"

/* The host in @target. */
static const char *inventories_host(const char *target)
{
	const char *at = strchr(target, '@');

	return at ? at + 1 : target;
}

bool to_inventories_is_target(const char *word)
{
	const char *host = inventories_host(word);
	char user[TO_NAME_MAX];

	if (host == word)
		return to_names_is_name(word);
	if (host - word > TO_NAME_MAX)
		return false;
	snprintf(user, sizeof(user), "%.*s", (int)(host - word - 1), word);
	return to_names_is_name(user) && to_names_is_name(host) && strlen(word) < TO_NAME_MAX;
}

int to_inventories_init(struct to_inventories *all, unsigned int n, const char *const *targets,
			struct to_error *err)
{
	*all = (struct to_inventories){ .n = n, .servers = calloc(n, sizeof(*all->servers)) };
	if (!all->servers)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < n; i++) {
		all->servers[i].target = targets[i];
		all->servers[i].name = inventories_host(targets[i]);
		for (unsigned int k = 0; k < i; k++)
			if (!strcmp(all->servers[k].name, all->servers[i].name))
				return to_error_set(err, -EEXIST, "server %s is there twice",
						    all->servers[i].name);
	}
	return 0;
}

/* Whether a server that calls itself @host has no name of its own. */
static bool inventories_is_nameless(const char *host)
{
	const size_t length = strcspn(host, ".");

	return !length || (length == strlen("localhost") && !strncmp(host, "localhost", length));
}

/* Call servers that were given by address as they call themselves. */
static void inventories_name(struct to_inventories *all)
{
	struct in_addr address;

	for (unsigned int i = 0; i < all->n; i++) {
		const char *const host = all->servers[i].inventory.host;
		bool others = false;

		for (unsigned int k = 0; k < all->n; k++)
			others |= k != i && (!strcmp(all->servers[k].inventory.host, host) ||
					     !strcmp(all->servers[k].name, host));
		if (!others && !inventories_is_nameless(host) &&
		    inet_pton(AF_INET, all->servers[i].name, &address) == 1)
			all->servers[i].name = host;
	}
}

void to_inventories_free(struct to_inventories *all)
{
	for (unsigned int i = 0; all->servers && i < all->n; i++)
		to_inventory_free(&all->servers[i].inventory);
	free(all->servers);
	to_fabric_close(all->fabric);
}

/* A cluster of servers that have nothing but names, to reach their agents; in @etcd by host. */
static struct to_cluster *inventories_cluster(const struct to_inventories *all, bool etcd)
{
	struct to_cluster *cluster = calloc(1, sizeof(*cluster));

	if (!cluster)
		return NULL;
	cluster->servers = calloc(all->n, sizeof(*cluster->servers));
	cluster->n_servers = cluster->servers ? all->n : 0;
	for (unsigned int i = 0; i < cluster->n_servers; i++)
		snprintf(cluster->servers[i].name, TO_NAME_MAX, "%s",
			 etcd ? all->servers[i].name : all->servers[i].target);
	if (cluster->servers && !to_cluster_sort(cluster))
		return cluster;
	to_cluster_free(cluster);
	return NULL;
}

/* Reach the agents; only to set ports up they need to be controlled. */
static int inventories_open(struct to_inventories *all, const struct to_inventories_question *q,
			    struct to_error *err)
{
	struct to_fabric_options options = *q->fabric;
	struct to_plan plan = {};

	if (all->fabric)
		return 0;
	plan.cluster = inventories_cluster(all, options.etcd.endpoints);
	if (!plan.cluster)
		return to_error_set(err, -ENOMEM, "out of memory");
	options.observe = !q->up;
	all->fabric = to_fabric_open(&plan, &options, err);
	to_cluster_free(plan.cluster);
	return all->fabric ? 0 : -EIO;
}

static int inventories_read(struct to_discovery_server *server,
			    const struct to_fabric_server *agent, const json_t *reply,
			    struct to_error *err)
{
	char *text;
	int ret;

	if (agent->error[0])
		return to_error_set(err, -EHOSTUNREACH, "%s: %s", server->name, agent->error);
	text = json_dumps(json_object_get(reply, "inventory"), JSON_COMPACT);
	if (!text)
		return to_error_set(err, -EPROTO, "%s: its agent says nothing of interfaces",
				    server->name);
	server->name = inventories_host(server->target);
	to_inventory_free(&server->inventory);
	ret = to_inventory_parse(&server->inventory, text, strlen(text), server->name, err);
	free(text);
	return ret;
}

/* @ask: IPv4 addresses to ask for, with commas between them; NULL: ask for none. */
static int inventories_ask(struct to_inventories *all, const struct to_inventories_question *q,
			   const char *ask, struct to_error *err)
{
	json_t **replies = calloc(all->n, sizeof(*replies));
	int ret = replies ? inventories_open(all, q, err) :
			    to_error_set(err, -ENOMEM, "out of memory");

	ret = ret ? ret : to_fabric_inventory(all->fabric, q->ports, ask, q->up, replies, err);
	for (unsigned int i = 0; !ret && i < all->n; i++)
		ret = inventories_read(&all->servers[i], &to_fabric_servers(all->fabric)[i],
				       replies[i], err);
	for (unsigned int i = 0; replies && i < all->n; i++)
		json_decref(replies[i]);
	free(replies);
	if (!ret)
		inventories_name(all);
	return ret;
}

int to_inventories_look(struct to_inventories *all, const struct to_inventories_question *question,
			struct to_error *err)
{
	return inventories_ask(all, question, NULL, err);
}

int to_inventories_probe(struct to_inventories *all, const struct to_inventories_question *question,
			 struct to_error *err)
{
	struct in_addr *targets = calloc(all->n, sizeof(*targets));
	char *ask = calloc(all->n, INET_ADDRSTRLEN + 1), *end = ask;
	int ret = targets && ask ? inventories_ask(all, question, NULL, err) :
				   to_error_set(err, -ENOMEM, "out of memory");

	if (!ret)
		ret = to_discovery_targets(all->servers, all->n, targets, err);
	for (unsigned int i = 0; !ret && i < all->n; i++) {
		if (i)
			*end++ = ',';
		inet_ntop(AF_INET, &targets[i], end, INET_ADDRSTRLEN);
		end += strlen(end);
	}
	if (!ret)
		ret = inventories_ask(all, question, ask, err);
	free(targets);
	free(ask);
	return ret;
}

static int inventories_imagine(struct to_inventory *inventory, unsigned int server,
			       const struct to_discovery_ports *ports, uint64_t bandwidth,
			       struct to_error *err)
{
	inventory->nics = calloc(2 * ports->n, sizeof(*inventory->nics));
	if (!inventory->nics)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < 2 * ports->n; i++) {
		const struct to_discovery_port *port = &ports->list[i / 2];
		struct to_inventory_nic *nic = &inventory->nics[inventory->n_nics];

		if (i % 2 && !port->rdma[0])
			continue;
		snprintf(nic->name, sizeof(nic->name), "%s", i % 2 ? port->rdma : port->name);
		memcpy(nic->mac, (uint8_t[]){ 2, 0x54, 0x4f, inventory->n_nics++,
					      (server + 1) >> 8, server + 1 }, 6);
		nic->bandwidth = bandwidth ?: TO_SYNTHETIC_BANDWIDTH;
	}
	return 0;
}

int to_inventories_imagine(struct to_inventories *all, const struct to_discovery_ports *ports,
			   uint64_t bandwidth, struct to_error *err)
{
	int ret = 0;

	for (unsigned int s = 0; !ret && s < all->n; s++)
		ret = inventories_imagine(&all->servers[s].inventory, s, ports, bandwidth, err);
	return ret;
}

/* @list: IPv4 addresses with commas between them. */
static int inventories_probe(struct to_inventory *inventory, const char *list,
			     struct to_error *err)
{
	char *copy = strdup(list), *save = NULL;
	struct in_addr *targets = calloc(strlen(list) / 2 + 1, sizeof(*targets));
	unsigned int n = 0;
	int ret = copy && targets ? 0 : to_error_set(err, -ENOMEM, "out of memory");

	for (char *word = ret ? NULL : strtok_r(copy, ",", &save); word && !ret;
	     word = strtok_r(NULL, ",", &save))
		if (inet_pton(AF_INET, word, &targets[n++]) != 1)
			ret = to_error_set(err, -EINVAL, "ask: \"%s\" is no IPv4 address", word);
	if (!ret)
		ret = to_inventory_ask(inventory, targets, n, err);
	free(targets);
	free(copy);
	return ret;
}

static int inventories_take(struct to_inventory *inventory, const char *ports, const char *ask,
			    bool up, struct to_error *err)
{
	int ret = to_inventory_read(inventory, ports, err);

	if (ret)
		return ret;
	to_lldp_read(inventory);
	if (up)
		ret = to_inventory_up(inventory, err);
	if (!ret && ask)
		ret = inventories_probe(inventory, ask, err);
	if (ret)
		to_inventory_free(inventory);
	return ret;
}

int to_inventories_take(struct to_inventory *inventory, const char *ports, bool up,
			struct to_error *err)
{
	return inventories_take(inventory, ports, NULL, up, err);
}

static json_t *inventories_json(const struct to_inventory *inventory)
{
	json_t *object = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	to_inventory_print(out, inventory);
	if (!fclose(out))
		object = json_loadb(text, len, 0, NULL);
	free(text);
	return object;
}

json_t *to_inventories_answer(const json_t *request)
{
	const char *ports = json_string_value(json_object_get(request, "ports"));
	const char *ask = json_string_value(json_object_get(request, "ask"));
	const bool up = json_is_true(json_object_get(request, "up"));
	struct to_inventory inventory;
	struct to_error err;
	json_t *reply;

	if (inventories_take(&inventory, ports, ask, up, &err)) {
		reply = json_pack("{s:b, s:s}", "ok", 0, "error", err.text);
	} else {
		reply = json_pack("{s:b, s:o}", "ok", 1, "inventory", inventories_json(&inventory));
		to_inventory_free(&inventory);
	}
	/* a request through etcd has its id elsewhere */
	if (json_object_get(request, "id"))
		json_object_set(reply, "id", json_object_get(request, "id"));
	return reply;
}
