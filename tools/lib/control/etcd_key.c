// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/etcd_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *to_etcd_key_plan(char key[256], const char *shard, uint64_t generation,
			     const char *what, const char *server)
{
	snprintf(key, 256, TO_ETCD_PLANS "%s%s%s%020" PRIu64 "/%s%s", shard ? "shards/" : "",
		 shard ? shard : "", shard ? "/" : "", generation, what, server);
	return key;
}

const char *to_etcd_key_decision(char key[256], const char *shard)
{
	snprintf(key, 256, TO_ETCD_DECISION "%s%s", shard ? "/" : "", shard ? shard : "");
	return key;
}

bool to_etcd_key_is_decision(const char *key)
{
	const size_t len = strlen(TO_ETCD_DECISION);

	return !strncmp(key, TO_ETCD_DECISION, len) && (!key[len] || key[len] == '/');
}

const char *to_etcd_key_role(char role[256], const char *key, bool write)
{
	static const char *const owned[] = { TO_ETCD_AGENTS, TO_ETCD_SAMPLES };

	for (unsigned int i = 0; write && i < sizeof(owned) / sizeof(*owned); i++) {
		const char *server = key + strlen(owned[i]);

		if (strncmp(key, owned[i], strlen(owned[i])))
			continue;
		snprintf(role, 256, TO_ETCD_AGENTS "%.*s", (int)strcspn(server, "/"), server);
		return role;
	}
	snprintf(role, 256, "%s", write && strcmp(key, TO_ETCD_LOOK) ? TO_ETCD_CONTROLLER :
								       TO_ETCD_OBSERVER);
	return role;
}

const char *to_etcd_key_sample(char key[256], const char *server, const char *what)
{
	snprintf(key, 256, TO_ETCD_SAMPLES "%s/%s", server, what);
	return key;
}
