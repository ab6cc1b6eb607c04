// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/etcd_blob.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BLOB_CHUNK 1000000u
#define BLOB_OPS 100u		/* etcd allows 128 in a transaction */
#define BLOB_MAX (1u << 30)

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

static char *blob_expand(const char *blob, size_t size)
{
	uint64_t head;
	uLongf len;
	char *text;

	if (size < 8)
		return NULL;
	memcpy(&head, blob, 8);
	len = be64toh(head);
	text = len < BLOB_MAX ? malloc(len + 1) : NULL;
	if (!text)
		return NULL;
	if (uncompress((Bytef *)text, &len, (const Bytef *)blob + 8, size - 8) != Z_OK) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
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
	to_etcd_txn_put(&u->txn, key, data, len, 0);
	u->ops++;
	u->bytes += len;
	return 0;
}

int to_etcd_upload_add(struct to_etcd_upload *u, const char *key, const char *text,
		       size_t len, struct to_error *err)
{
	size_t size = 0;
	char *blob = blob_compress(text, len, &size);
	char chunk[256];
	int ret = 0;

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

int to_etcd_download(struct to_etcd *etcd, const char *key, char **text,
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
		ret = to_etcd_get(etcd, chunk, false, &kv, &n, NULL, err);
		if (ret || !n) {
			to_etcd_kv_free(kv, n);
			break;
		}
		more = realloc(blob, size + kv->len);
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
	if (!ret) {
		*text = blob_expand(blob, size);
		if (!*text)
			ret = to_error_set(err, -EPROTO, "etcd: %s is damaged", key);
	}
	free(blob);
	return ret;
}
