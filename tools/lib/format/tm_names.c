// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/tm_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"

static int names_compare(const void *a, const void *b, void *data)
{
	const char (*servers)[TO_NAME_MAX] = data;
	const uint32_t *x = a, *y = b;
	int order = strcmp(servers[*x], servers[*y]);

	return order ? order : (*x > *y) - (*x < *y);
}

uint32_t *to_tm_names_sort(const char (*servers)[TO_NAME_MAX], unsigned int n)
{
	uint32_t *by_name = calloc(n + 1, sizeof(*by_name));

	for (unsigned int i = 0; by_name && i < n; i++)
		by_name[i] = i;
	if (by_name)
		qsort_r(by_name, n, sizeof(*by_name), names_compare, (void *)servers);
	return by_name;
}

int to_tm_names_init(struct to_tm_names *names, const struct to_cluster *cluster)
{
	const unsigned int n = cluster->n_servers;

	*names = (struct to_tm_names){ .n = n, .servers = calloc(n + 1, sizeof(*names->servers)) };
	if (!names->servers)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++)
		strcpy(names->servers[i], cluster->servers[i].name);
	names->by_name = to_tm_names_sort((const void *)names->servers, n);
	to_tm_names_fingerprint((const void *)names->servers, n, names->fingerprint);
	return names->by_name ? 0 : -ENOMEM;
}

void to_tm_names_free(struct to_tm_names *names)
{
	free(names->servers);
	free(names->by_name);
}

void to_tm_names_fingerprint(const char (*servers)[TO_NAME_MAX], unsigned int n,
			     char fingerprint[17])
{
	uint64_t hash = TO_HASH_BEGIN;

	for (unsigned int i = 0; i < n; i++)
		hash = to_hash(hash, servers[i], strlen(servers[i]) + 1);
	snprintf(fingerprint, 17, "%016" PRIx64, hash);
}

int to_tm_fingerprint(const char *plan_path, char fingerprint[17], struct to_error *err)
{
	char *text;
	size_t len;
	int ret;

	ret = to_file_read(plan_path, TO_FILE_MAX, &text, &len, err);
	if (ret)
		return ret;
	snprintf(fingerprint, 17, "%016" PRIx64, to_hash(TO_HASH_BEGIN, text, len));
	free(text);
	return 0;
}
