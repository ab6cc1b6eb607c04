// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/environment.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

struct environment_secret {
	struct environment_secret *next;
	char name[];
};

static pthread_mutex_t environment_lock = PTHREAD_MUTEX_INITIALIZER;
static struct environment_secret *environment_secrets;

/* Whether @variable, NAME=VALUE, has this name. */
static bool environment_is(const char *variable, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(variable, name, len) && variable[len] == '=';
}

/* Whether the name of a variable has this end. */
static bool environment_ends(const char *variable, const char *end)
{
	size_t name = strcspn(variable, "="), len = strlen(end);

	return name >= len && !strncmp(variable + name - len, end, len);
}

static bool environment_is_secret(const char *variable)
{
	const struct environment_secret *s = environment_secrets;

	if (!strncmp(variable, "TOPOOPT_", 8) &&
	    (environment_ends(variable, "_PASSWORD") || environment_ends(variable, "_TOKEN")))
		return true;
	while (s && !environment_is(variable, s->name))
		s = s->next;
	return s;
}

static struct environment_secret *environment_find(const char *name)
{
	struct environment_secret *s = environment_secrets;

	while (s && strcmp(s->name, name))
		s = s->next;
	return s;
}

int to_environment_hide(const char *name)
{
	const size_t size = strlen(name) + 1;
	struct environment_secret *s;

	pthread_mutex_lock(&environment_lock);
	s = environment_find(name);
	if (!s) {
		s = malloc(sizeof(*s) + size);
		if (s) {
			memcpy(s->name, name, size);
			s->next = environment_secrets;
			environment_secrets = s;
		}
	}
	pthread_mutex_unlock(&environment_lock);
	return s ? 0 : -ENOMEM;
}

char **to_environment_of_child(const char *kept)
{
	char **own;
	size_t n = 0, size = 0;

	while (environ && environ[size])
		size++;
	own = calloc(size + 1, sizeof(*own));
	if (!own)
		return NULL;
	pthread_mutex_lock(&environment_lock);
	for (size_t i = 0; i < size; i++)
		if (!environment_is_secret(environ[i]) || (kept && environment_is(environ[i], kept)))
			own[n++] = environ[i];
	pthread_mutex_unlock(&environment_lock);
	return own;
}
