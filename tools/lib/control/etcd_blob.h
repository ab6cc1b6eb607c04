/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETCD_BLOB_H
#define TOPOOPT_ETCD_BLOB_H

/*
 * Texts of any size in etcd, which takes 1.5 MB in one request: compressed, in
 * keys KEY/0, KEY/1 ... of at most 1 MB.
 */

#include "control/etcd.h"

/**
 * struct to_etcd_upload - many texts, in as few transactions as they need
 * @lock, @created: all of them only while key @lock is the one created then
 * @lease: they go when it ends; 0 for none
 * @ops, @bytes: of the transaction that is being filled
 */
struct to_etcd_upload {
	struct to_etcd *etcd;
	const char *lock;
	int64_t created, lease;
	struct to_etcd_txn txn;
	unsigned int ops;
	size_t bytes;
};

/** to_etcd_upload_add() - under @key; -ESTALE when the lock is lost, -E2BIG: TO_BLOB_MAX */
int to_etcd_upload_add(struct to_etcd_upload *upload, const char *key, const char *text,
		       size_t len, struct to_error *err);

/** to_etcd_upload_end() - what is left */
int to_etcd_upload_end(struct to_etcd_upload *upload, struct to_error *err);

/**
 * to_etcd_download() - text under @key, for free()
 *
 * Return: 0; -ENOENT when there is none; -E2BIG when it would be larger than
 * TO_BLOB_MAX, or expand more than plans do; -EPROTO when it is damaged.
 */
int to_etcd_download(struct to_etcd *etcd, const char *key, char **text,
		     struct to_error *err);

/**
 * to_etcd_download_at() - Read a text as it was at a revision of the store
 * @at: revision; 0: the latest
 * @text: for free()
 *
 * Return: as to_etcd_download(); -ESTALE when etcd has forgotten that revision.
 */
int to_etcd_download_at(struct to_etcd *etcd, const char *key, int64_t at, char **text,
			struct to_error *err);

#endif
