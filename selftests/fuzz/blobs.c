// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer on texts in etcd: the input is the value of the first key, or of two. */

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "control/etcd_blob.h"

static struct {
	const uint8_t *data;
	size_t len;
} value;

static char *copy(const void *data, size_t len)
{
	char *text = malloc(len + 1);

	memcpy(text, data, len);
	text[len] = '\0';
	return text;
}

int __wrap_to_etcd_get_at(struct to_etcd *etcd, const char *key, int64_t revision,
			  struct to_etcd_kv **kv, size_t *n, struct to_error *err)
{
	(void)etcd;
	(void)revision;
	(void)err;
	*n = !strcmp(key, "key/0");
	*kv = calloc(1, sizeof(**kv));
	if (*n)
		**kv = (struct to_etcd_kv){ copy(key, strlen(key)), copy(value.data, value.len),
					    value.len, 1, false };
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct to_error err = { 0 };
	char *text;

	value.data = data;
	value.len = len;
	if (to_etcd_download(NULL, "key", &text, &err)) {
		if (text || !err.text[0])
			abort();
		return 0;
	}
	if (strlen(text) > TO_BLOB_MAX)
		abort();
	free(text);
	return 0;
}
