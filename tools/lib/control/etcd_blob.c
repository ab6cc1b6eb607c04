// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/etcd_blob.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/limits.h"

#define BLOB_CHUNK 1000000u
#define BLOB_OPS 100u		/* etcd allows 128 in a transaction */

/* The length of the text, 8 bytes, then the text compressed. */
static char *blob_compress(const char *text, size_t len, size_t *size)
{
	uLongf room = compressBound(len);
	char *blob = malloc(8 + room);
	uint64_t head = htobe64(len);

	if (!blob)
		return NULL;
	memcpy(blob, &head, 8);
	if (compress2((Bytef *)blob + 8, &room, (const Bytef *)text, len, Z_BEST_SPEED) != Z_OK) {
		free(blob);
		return NULL;
	}
	*size = 8 + room;
	return blob;
}

/*
 * What @blob, @size bytes of @key, was made of. Its head may say anything, and zlib
 * makes a thousand bytes of one.
 */
static int blob_expand(const char *blob, size_t size, const char *key, char **text,
		       struct to_error *err)
{
	uint64_t head = 0;
	uLongf len;

	if (size < 8)
		return to_error_set(err, -EPROTO, "etcd: %s is damaged", key);
	memcpy(&head, blob, 8);
	head = be64toh(head);
	if (head > TO_BLOB_MAX || (head > TO_BLOB_SMALL && head / TO_BLOB_RATIO_MAX > size))
		return to_error_set(err, -E2BIG,
				    "etcd: %s has %zu bytes and is to expand to %llu, more than %u or %u times that",
				    key, size, (unsigned long long)head, TO_BLOB_MAX,
				    TO_BLOB_RATIO_MAX);
	len = head;
	*text = malloc(len + 1);
	if (!*text)
		return to_error_set(err, -ENOMEM, "out of memory");
	if (uncompress((Bytef *)*text, &len, (const Bytef *)blob + 8, size - 8) != Z_OK ||
	    len != head) {
		free(*text);
		*text = NULL;
		return to_error_set(err, -EPROTO, "etcd: %s is damaged", key);
	}
	(*text)[len] = '\0';
	return 0;
}

int to_etcd_upload_end(struct to_etcd_upload *u, struct to_error *err)
{
	if (!u->ops)
		return 0;
	u->ops = 0;
	u->bytes = 0;
	return to_etcd_txn_commit(&u->txn, NULL, err);
}

static int blob_upload_chunk(struct to_etcd_upload *u, const char *key, const char *data,
			     size_t len, struct to_error *err)
{
	int ret = 0;

	if (u->ops == BLOB_OPS || (u->ops && u->bytes + len > BLOB_CHUNK))
		ret = to_etcd_upload_end(u, err);
	if (ret)
		return ret;
	if (!u->ops) {
		if (to_etcd_txn_begin(&u->txn, u->etcd))
			return to_error_set(err, -ENOMEM, "out of memory");
		to_etcd_txn_created(&u->txn, u->lock, u->created);
	}
	to_etcd_txn_put(&u->txn, key, data, len, u->lease);
	u->ops++;
	u->bytes += len;
	return 0;
}

int to_etcd_upload_add(struct to_etcd_upload *u, const char *key, const char *text,
		       size_t len, struct to_error *err)
{
	char chunk[256], *blob;
	size_t size = 0;
	int ret = 0;

	if (len > TO_BLOB_MAX)
		return to_error_set(err, -E2BIG, "%s has %zu bytes, and no agent takes more than %u",
				    key, len, TO_BLOB_MAX);
	blob = blob_compress(text, len, &size);
	if (!blob)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (size_t at = 0; !ret && at < size; at += BLOB_CHUNK) {
		snprintf(chunk, sizeof(chunk), "%s/%zu", key, at / BLOB_CHUNK);
		ret = blob_upload_chunk(u, chunk, blob + at,
					size - at < BLOB_CHUNK ? size - at : BLOB_CHUNK, err);
	}
	free(blob);
	return ret;
}

int to_etcd_download(struct to_etcd *etcd, const char *key, char **text, struct to_error *err)
{
	return to_etcd_download_at(etcd, key, 0, text, err);
}

int to_etcd_download_at(struct to_etcd *etcd, const char *key, int64_t at, char **text,
			struct to_error *err)
{
	char chunk[256], *blob = NULL;
	size_t size = 0;
	int ret;

	*text = NULL;
	for (unsigned int i = 0;; i++) {
		struct to_etcd_kv *kv;
		char *more;
		size_t n;

		snprintf(chunk, sizeof(chunk), "%s/%u", key, i);
		ret = to_etcd_get_at(etcd, chunk, at, &kv, &n, err);
		if (ret || !n) {
			to_etcd_kv_free(kv, n);
			break;
		}
		if (size + kv->len > TO_BLOB_MAX) {
			to_etcd_kv_free(kv, n);
			ret = to_error_set(err, -E2BIG, "etcd: %s has more than %u bytes", key,
					   TO_BLOB_MAX);
			break;
		}
		more = realloc(blob, size + kv->len + 1);
		if (more) {
			memcpy(more + size, kv->value, kv->len);
			blob = more;
			size += kv->len;
		}
		n = kv->len == BLOB_CHUNK;
		to_etcd_kv_free(kv, 1);
		if (!more)
			ret = to_error_set(err, -ENOMEM, "out of memory");
		if (!more || !n)
			break;
	}
	if (!ret && !blob)
		ret = to_error_set(err, -ENOENT, "etcd has no %s", key);
	if (!ret)
		ret = blob_expand(blob, size, key, text, err);
	free(blob);
	return ret;
}
