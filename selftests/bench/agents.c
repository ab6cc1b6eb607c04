// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Agents of a cluster without kernels: all of the protocol over etcd is real,
 * what they stage and commit is two numbers each. They run until a signal.
 *
 *	agents URLS DIR FIRST COUNT	servers sFIRST .. of a plan
 *
 * DIR/NAME holds what NAME's kernel would: the generation and a hash of the
 * active table. What a controller should not ask is refused. Only looked for when COUNT
 * is 1: a command in DIR/harm-NAME-OP runs once before NAME carries out OP (with $agent:
 * this process), one in DIR/harm-NAME-OP-done before it says so; DIR/padding-NAME has how
 * many random bytes NAME adds to each reply. The password of etcd's user is in the
 * environment.
 */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "control/agent_etcd.h"

struct table {
	unsigned long long generation;
	unsigned long hash;
};

struct agent {
	char name[32], file[256];
	struct table active, before;
	unsigned long staged_hash;
	unsigned long long staged, committed, confirmed;
	struct to_agent_etcd config;
};

static volatile sig_atomic_t stop;
static bool harmful;
static const char *directory;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static void keep(const struct agent *a)
{
	char new[300];
	FILE *out;

	snprintf(new, sizeof(new), "%s.new", a->file);
	out = fopen(new, "w");
	if (!out)
		return;
	fprintf(out, "%llu %lx\n", a->active.generation, a->active.hash);
	fclose(out);
	rename(new, a->file);
}

static void harm(const struct agent *a, const char *op, const char *done)
{
	char path[320], command[4096], text[32];
	size_t n;
	FILE *in;

	snprintf(path, sizeof(path), "%s/harm-%s-%s%s", directory, a->name, op, done);
	in = harmful ? fopen(path, "r") : NULL;
	if (!in)
		return;
	n = fread(command, 1, sizeof(command) - 1, in);
	command[n] = '\0';
	fclose(in);
	remove(path);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	setenv("agent", text, 1);
	if (system(command))
		fprintf(stderr, "agents: %s failed\n", path);
}

static void pad(const struct agent *a, json_t *reply)
{
	uint64_t state = 1;
	char path[320], *text;
	size_t n = 0;
	FILE *in;

	snprintf(path, sizeof(path), "%s/padding-%s", directory, a->name);
	in = harmful ? fopen(path, "r") : NULL;
	if (!in)
		return;
	if (fscanf(in, "%zu", &n) != 1)
		n = 0;
	fclose(in);
	text = malloc(n);
	for (size_t i = 0; text && i < n; i++)
		text[i] = 'A' + to_random_below(&state, 58);
	json_object_set_new(reply, "padding", json_stringn(text, text ? n : 0));
	free(text);
}

static unsigned long hash_of(const char *text)
{
	unsigned long hash = 5381;

	while (text && *text)
		hash = 33 * hash + (unsigned char)*text++;
	return hash;
}

static const char *carry_out(struct agent *a, const char *op, unsigned long long generation,
			     const json_t *request)
{
	json_int_t active = json_integer_value(json_object_get(request, "active"));

	if (a->committed == (unsigned long long)active)
		a->committed = 0;
	if (a->committed && (!strcmp(op, "stage") || !strcmp(op, "abort")))
		return "a generation waits to be confirmed or reverted";
	if (!strcmp(op, "stage")) {
		a->staged = generation;
		a->staged_hash = hash_of(json_string_value(json_object_get(request, "table")));
	} else if (!strcmp(op, "commit") && a->staged && a->staged == generation &&
		   a->active.generation == generation && a->staged_hash == a->active.hash) {
		a->staged = 0;
		a->confirmed = generation;
	} else if (!strcmp(op, "commit")) {
		if (!a->staged || a->staged != generation || generation <= a->active.generation)
			return "nothing is staged as this generation";
		a->before = a->active;
		a->active = (struct table){ generation, a->staged_hash };
		a->committed = generation;
		a->staged = 0;
		keep(a);
	} else if (!strcmp(op, "confirm")) {
		if (a->committed != generation && a->confirmed != generation)
			return "this generation was not committed here";
		a->committed = 0;
	} else if (!strcmp(op, "abort")) {
		a->staged = 0;
	} else if (!strcmp(op, "clear")) {
		a->active = (struct table){};
		a->staged = a->committed = 0;
		keep(a);
	} else if (!strcmp(op, "revert")) {
		json_int_t from = json_integer_value(json_object_get(request, "from"));

		if (!a->committed && a->active.generation == (unsigned long long)from)
			return "what was active before is not known any more";
		if (a->committed)
			a->active = a->before;
		a->staged = a->committed = 0;
		if (a->active.generation)
			a->active.generation = generation;
		keep(a);
	}
	return NULL;
}

static json_t *call(void *arg, const json_t *request)
{
	const char *op = json_string_value(json_object_get(request, "op")), *error;
	struct agent *a = arg;
	json_t *reply;

	harm(a, op, "");
	error = carry_out(a, op, json_integer_value(json_object_get(request, "generation")),
			  request);
	harm(a, op, "-done");
	/* nothing of ports, which count as live then */
	reply = json_pack("{s:b, s:i, s:I, s:b}", "ok", !error, "protocol", 2, "generation",
			  (json_int_t)a->active.generation, "staged", a->staged != 0);
	if (error)
		json_object_set_new(reply, "error", json_string(error));
	pad(a, reply);
	if (!strcmp(op, "stage"))
		json_object_set_new(reply, "differs",
				    json_boolean(a->staged_hash != a->active.hash));
	return reply;
}

static void note(const char *text)
{
	if (getenv("AGENTS_VERBOSE"))
		fprintf(stderr, "agents: %s\n", text);
}

static void *follow(void *arg)
{
	struct agent *a = arg;
	struct to_error err;

	while (!stop && to_agent_follow(&a->config, &err))
		sleep(1);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	unsigned int first, count;
	struct agent *agents;
	pthread_t *threads;
	pthread_attr_t attr;
	FILE *in;

	if (argc != 5) {
		fprintf(stderr, "usage: agents URLS DIR FIRST COUNT\n");
		return 2;
	}
	directory = argv[2];
	first = atoi(argv[3]);
	count = atoi(argv[4]);
	harmful = count == 1;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	agents = calloc(count, sizeof(*agents));
	threads = calloc(count, sizeof(*threads));
	if (!agents || !threads)
		return 1;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	for (unsigned int i = 0; i < count; i++) {
		struct agent *a = &agents[i];

		snprintf(a->name, sizeof(a->name), "s%u", first + i);
		snprintf(a->file, sizeof(a->file), "%s/%s", directory, a->name);
		in = fopen(a->file, "r");
		if (in && fscanf(in, "%llu %lx", &a->active.generation, &a->active.hash) != 2)
			return 1;
		if (in)
			fclose(in);
		a->config = (struct to_agent_etcd){
			.options = { .endpoints = argv[1] }, .server = a->name,
			.ttl = count > 1 ? 30 : 5, .call = call, .agent = a, .stop = &stop,
			.note = note,
		};
		if (pthread_create(&threads[i], &attr, follow, a))
			return 1;
		usleep(5000);
	}
	for (unsigned int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
