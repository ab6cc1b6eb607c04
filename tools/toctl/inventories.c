// SPDX-License-Identifier: GPL-2.0-or-later
#include "inventories.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"

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

int to_inventories_ask(const struct to_inventories *all,
		       const struct to_inventories_question *question, struct to_error *err)
{
	struct inventories_job *jobs = calloc(all->n, sizeof(*jobs));
	int ret = 0;

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
