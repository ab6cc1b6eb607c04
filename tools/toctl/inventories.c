// SPDX-License-Identifier: GPL-2.0-or-later
#include "inventories.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "control/fabric.h"
#include "doctor/lldp.h"

/* What one thread does. */
struct inventories_job {
	const struct to_inventories_question *question;
	struct to_discovery_server *server;
	struct to_error error;
	int ret;
	pthread_t thread;
	bool started;
};

int to_inventories_init(struct to_inventories *all, unsigned int n)
{
	all->n = n;
	all->servers = calloc(n, sizeof(*all->servers));
	return all->servers ? 0 : -ENOMEM;
}

void to_inventories_free(struct to_inventories *all)
{
	for (unsigned int i = 0; all->servers && i < all->n; i++)
		to_inventory_free(&all->servers[i].inventory);
	free(all->servers);
}

bool to_inventories_is_plain(const char *text)
{
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			   "._-,*?[]@:")] == '\0';
}

static void *inventories_job(void *data)
{
	struct inventories_job *job = data;
	const struct to_inventories_question *q = job->question;
	struct to_discovery_server *server = job->server;
	char *start = to_child_command(q->command, server->name), *command = NULL, *text;

	job->ret = -ENOMEM;
	if (start && asprintf(&command, "%s --json%s%s%s%s%s%s", start, q->up ? " --up" : "",
			      q->ports ? " --ports '" : "", q->ports ? q->ports : "",
			      q->ports ? "'" : "", q->ask ? " --ask " : "", q->ask ? q->ask : "") >= 0)
		job->ret = to_child_run(command, "", q->timeout_ns, &text, &job->error);
	if (!job->ret) {
		to_inventory_free(&server->inventory);
		job->ret = to_inventory_parse(&server->inventory, text, strlen(text), server->name,
					      &job->error);
		free(text);
	}
	free(start);
	free(command);
	return NULL;
}

/* What agents are asked as servers of: @all's names, and no more. */
static struct to_cluster *inventories_cluster(const struct to_inventories *all)
{
	struct to_cluster *cluster = calloc(1, sizeof(*cluster));

	if (!cluster)
		return NULL;
	cluster->servers = calloc(all->n, sizeof(*cluster->servers));
	cluster->n_servers = cluster->servers ? all->n : 0;
	for (unsigned int i = 0; i < cluster->n_servers; i++)
		snprintf(cluster->servers[i].name, TO_NAME_MAX, "%s", all->servers[i].name);
	if (cluster->servers && !to_cluster_sort(cluster))
		return cluster;
	to_cluster_free(cluster);
	return NULL;
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
	to_inventory_free(&server->inventory);
	ret = to_inventory_parse(&server->inventory, text, strlen(text), server->name, err);
	free(text);
	return ret;
}

/* Agents are only looked at, unless they are to change something. */
static int inventories_ask_agents(const struct to_inventories *all,
				  const struct to_inventories_question *q, struct to_error *err)
{
	const struct to_fabric_options options = {
		.etcd = *q->etcd, .timeout_ns = q->timeout_ns, .observe = !q->up,
	};
	const struct to_plan plan = { .cluster = inventories_cluster(all) };
	json_t **replies = calloc(all->n, sizeof(*replies));
	struct to_fabric *fabric = NULL;
	int ret;

	if (plan.cluster && replies)
		fabric = to_fabric_open(&plan, &options, err);
	else
		to_error_set(err, -ENOMEM, "out of memory");
	ret = fabric ? to_fabric_inventory(fabric, q->ports, q->ask, q->up, replies, err) : -EIO;
	for (unsigned int i = 0; !ret && i < all->n; i++)
		ret = inventories_read(&all->servers[i], &to_fabric_servers(fabric)[i], replies[i],
				       err);
	for (unsigned int i = 0; replies && i < all->n; i++)
		json_decref(replies[i]);
	free(replies);
	to_fabric_close(fabric);
	to_cluster_free(plan.cluster);
	return ret;
}

int to_inventories_ask(const struct to_inventories *all,
		       const struct to_inventories_question *question, struct to_error *err)
{
	struct inventories_job *jobs;
	int ret = 0;

	if (question->etcd->endpoints)
		return inventories_ask_agents(all, question, err);
	jobs = calloc(all->n, sizeof(*jobs));
	if (!jobs)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < all->n; i++) {
		jobs[i].question = question;
		jobs[i].server = &all->servers[i];
		jobs[i].started = !pthread_create(&jobs[i].thread, NULL, inventories_job, &jobs[i]);
		if (!jobs[i].started)
			inventories_job(&jobs[i]);
	}
	for (unsigned int i = 0; i < all->n; i++) {
		if (jobs[i].started)
			pthread_join(jobs[i].thread, NULL);
		if (jobs[i].ret && !ret)
			ret = to_error_set(err, jobs[i].ret, "%s: %.200s", all->servers[i].name,
					   jobs[i].error.text[0] ? jobs[i].error.text :
								   "out of memory");
	}
	free(jobs);
	return ret;
}

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
			ret = to_error_set(err, -EINVAL, "--ask: \"%s\" is no IPv4 address", word);
	if (!ret)
		ret = to_inventory_ask(inventory, targets, n, err);
	free(targets);
	free(copy);
	return ret;
}

int to_inventories_take(struct to_inventory *inventory, const char *ports, const char *ask,
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
	struct to_inventory inventory;
	struct to_error err;
	json_t *reply;

	if (to_inventories_take(&inventory, ports, ask, json_is_true(json_object_get(request, "up")),
				&err))
		return json_pack("{s:b, s:s}", "ok", 0, "error", err.text);
	reply = json_pack("{s:b, s:o}", "ok", 1, "inventory", inventories_json(&inventory));
	to_inventory_free(&inventory);
	return reply;
}
