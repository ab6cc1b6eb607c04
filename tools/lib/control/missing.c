// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/missing.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

int to_missing_init(struct to_missing *missing, unsigned int n_servers)
{
	*missing = (struct to_missing){
		.n_servers = n_servers,
		.limits = calloc(n_servers, sizeof(*missing->limits)),
		.told = calloc(n_servers, sizeof(*missing->told)),
	};
	return missing->limits && missing->told ? 0 : -ENOMEM;
}

void to_missing_free(struct to_missing *missing)
{
	free(missing->limits);
	free(missing->told);
}

/* Recordings that do not fit each other have other times in every interval. */
static uint64_t missing_hash(const char *reason)
{
	uint64_t hash = to_hash(TO_HASH_BEGIN, "", 1);	/* also without a reason */

	for (; *reason; reason++)
		if (!isdigit((unsigned char)*reason))
			hash = to_hash(hash, reason, 1);
	return hash;
}

static void missing_add(struct to_missing *m, const struct to_fabric_server *server)
{
	const struct to_error before = m->why;
	const size_t len = strlen(m->names);

	m->n++;
	snprintf(m->names + len, sizeof(m->names) - len, " %s", server->name);
	if (server->error[0])
		to_error_set(&m->why, 0, "%s%s%s: %s", before.text, before.text[0] ? "; " : "",
			     server->name, server->error);
}

bool to_missing_look(struct to_missing *m, const struct to_tm *tm,
		     const struct to_fabric_server *servers, bool back)
{
	bool tell = false;

	m->n = 0;
	m->names[0] = m->why.text[0] = '\0';
	for (unsigned int s = 0; s < m->n_servers; s++) {
		const bool missing = tm->missing && tm->missing[s];
		const uint64_t hash = missing ? missing_hash(servers[s].error) : TO_HASH_BEGIN;

		if (missing)
			missing_add(m, &servers[s]);
		if (hash == m->told[s] || (!missing && !back))
			continue;
		m->told[s] = hash;
		tell |= to_note_limit_take(&m->limits[s]);
	}
	return tell;
}

bool to_missing_may_tell(struct to_missing *m, const struct to_fabric_server *servers)
{
	bool any = false, tell = false;

	for (unsigned int s = 0; s < m->n_servers; s++) {
		if (!servers[s].error[0])
			continue;
		any = true;
		tell |= to_note_limit_take(&m->limits[s]);
	}
	return tell || !any;
}

unsigned int to_missing_rest(struct to_missing *m, unsigned int server, bool end)
{
	const unsigned int left_out = to_note_limit_rest(&m->limits[server], end);

	if (left_out)
		m->told[server] = 0;
	return left_out;
}
