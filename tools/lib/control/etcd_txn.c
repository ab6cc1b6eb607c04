// SPDX-License-Identifier: GPL-2.0-or-later
/* Transactions of etcd. */

#include <errno.h>

#include "control/etcd_http.h"

int to_etcd_txn_begin(struct to_etcd_txn *txn, struct to_etcd *etcd)
{
	*txn = (struct to_etcd_txn){ etcd, json_array(), json_array() };
	return txn->compare && txn->success ? 0 : -ENOMEM;
}

void to_etcd_txn_created(struct to_etcd_txn *txn, const char *key, int64_t revision)
{
	json_array_append_new(txn->compare, json_pack("{s:s, s:o*, s:I}", "target", "CREATE",
		"key", to_etcd_key(txn->etcd, key, false), "create_revision",
		(json_int_t)revision));
}

void to_etcd_txn_changed(struct to_etcd_txn *txn, const char *key, int64_t revision)
{
	json_array_append_new(txn->compare, json_pack("{s:s, s:o*, s:I}", "target", "MOD",
		"key", to_etcd_key(txn->etcd, key, false), "mod_revision", (json_int_t)revision));
}

void to_etcd_txn_value(struct to_etcd_txn *txn, const char *key, const void *value, size_t len)
{
	char *text = to_etcd_base64(value, len);

	json_array_append_new(txn->compare, json_pack("{s:s, s:o*, s:s*}", "target", "VALUE",
		"key", to_etcd_key(txn->etcd, key, false), "value", text));
	free(text);
}

void to_etcd_txn_touch(struct to_etcd_txn *txn, const char *key)
{
	json_array_append_new(txn->success, json_pack("{s:{s:o*, s:b, s:b}}", "request_put",
		"key", to_etcd_key(txn->etcd, key, false), "ignore_value", 1, "ignore_lease", 1));
}

void to_etcd_txn_put(struct to_etcd_txn *txn, const char *key, const void *value, size_t len,
		     int64_t lease)
{
	char *text = to_etcd_base64(value, len);

	json_array_append_new(txn->success, json_pack("{s:{s:o*, s:s*, s:I}}", "request_put",
		"key", to_etcd_key(txn->etcd, key, false), "value", text, "lease",
		(json_int_t)lease));
	free(text);
}

void to_etcd_txn_delete(struct to_etcd_txn *txn, const char *key, const char *end)
{
	json_array_append_new(txn->success, json_pack("{s:{s:o*, s:o*}}",
		"request_delete_range", "key", to_etcd_key(txn->etcd, key, false),
		"range_end", end ? to_etcd_key(txn->etcd, end, false) : NULL));
}

int to_etcd_txn_commit(struct to_etcd_txn *txn, int64_t *revision, struct to_error *err)
{
	json_t *request = json_pack("{s:o, s:o}", "compare", txn->compare, "success",
				    txn->success);
	json_t *reply;
	bool done;
	int ret;

	ret = to_etcd_call(txn->etcd, "/v3/kv/txn", request, &reply, err);
	json_decref(request);
	if (ret)
		return ret;
	done = json_is_true(json_object_get(reply, "succeeded"));
	to_etcd_note(txn->etcd, reply);
	if (revision)
		*revision = to_etcd_number(json_object_get(reply, "header"), "revision");
	json_decref(reply);
	return done ? 0 : to_error_set(err, -ESTALE, "somebody else was first");
}
