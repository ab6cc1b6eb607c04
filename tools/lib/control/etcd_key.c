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

const char *to_etcd_key_sample(char key[256], const char *server, const char *what)
{
	snprintf(key, 256, TO_ETCD_SAMPLES "%s/%s", server, what);
	return key;
}
