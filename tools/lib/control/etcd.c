// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/etcd.h"

#include <errno.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/etcd_http.h"

#define ETCD_ENDPOINTS_MAX 16
#define ETCD_READ "/v3/kv/range"
#define ETCD_KEEP "/v3/lease/keepalive"
#define ETCD_CONNECT_MS 2000l
#define ETCD_CALL_MS 10000l
#define ETCD_KEEP_MS 3000l	/* a lease has no time to lose */
#define ETCD_READ_MS 30000l	/* a thousand agents may read at once */

/**
 * struct to_etcd - see etcd.h
 * @text: the endpoints, each ended by a NUL
 * @endpoints: where each begins
 * @current: the one that answered last
 * @call_ms, @read_ms: what one may take for a change, and to be read
 */
struct to_etcd {
	struct to_etcd_options options;
	char *text, *prefix;
	const char *endpoints[ETCD_ENDPOINTS_MAX];
	unsigned int n_endpoints, current;
	long call_ms, read_ms;
	CURL *curl;
	struct curl_slist *headers;
};

static char *etcd_base64(const void *data, size_t len)
{
	size_t size = 4 * ((len + 2) / 3) + 1;
	char *text = malloc(size);

	if (text && b64_ntop(data, len, text, size) < 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Bytes of base64 @text, with a NUL behind them. */
static char *etcd_bytes(const char *text, size_t *len)
{
	size_t size = strlen(text) / 4 * 3 + 1;
	char *data = malloc(size);
	int n = data ? b64_pton(text, (unsigned char *)data, size) : -1;

	if (n < 0) {
		free(data);
		return NULL;
	}
	data[n] = '\0';
	*len = n;
	return data;
}

/* The first key behind all that begin with @key; etcd's own convention. */
static void etcd_end_of(char *key)
{
	key[strlen(key) - 1]++;
}

json_t *to_etcd_key(const struct to_etcd *etcd, const char *key, bool end)
{
	char full[512], *text;
	json_t *value;

	if (snprintf(full, sizeof(full), "%s/%s", etcd->prefix, key) >= (int)sizeof(full))
		return NULL;
	if (end)
		etcd_end_of(full);
	text = etcd_base64(full, strlen(full));
	value = text ? json_string(text) : NULL;
	free(text);
	return value;
}

const char *to_etcd_endpoint(const struct to_etcd *etcd)
{
	return etcd->endpoints[etcd->current];
}

void to_etcd_next_endpoint(struct to_etcd *etcd)
{
	etcd->current = (etcd->current + 1) % etcd->n_endpoints;
}

void to_etcd_set_options(const struct to_etcd *etcd, CURL *curl, const char *path,
			 const char *body)
{
	char url[512];

	snprintf(url, sizeof(url), "%s%s", to_etcd_endpoint(etcd), path);
	to_curl.easy_setopt(curl, CURLOPT_URL, url);
	to_curl.easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, body);
	to_curl.easy_setopt(curl, CURLOPT_HTTPHEADER, etcd->headers);
	to_curl.easy_setopt(curl, CURLOPT_NOSIGNAL, 1l);
	to_curl.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	to_curl.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, ETCD_CONNECT_MS);
	if (etcd->options.cacert)
		to_curl.easy_setopt(curl, CURLOPT_CAINFO, etcd->options.cacert);
	if (etcd->options.cert)
		to_curl.easy_setopt(curl, CURLOPT_SSLCERT, etcd->options.cert);
	if (etcd->options.key)
		to_curl.easy_setopt(curl, CURLOPT_SSLKEY, etcd->options.key);
}

static size_t etcd_collect(char *data, size_t size, size_t n, void *out)
{
	return fwrite(data, size, n, out);
}

/* One POST to the current endpoint; the status is 0 when it did not answer. */
static long etcd_post(struct to_etcd *etcd, const char *path, const char *body,
		      char **answer, struct to_error *err)
{
	char reason[CURL_ERROR_SIZE] = "";
	long status = 0;
	size_t len = 0;
	FILE *out = open_memstream(answer, &len);
	CURLcode code;

	if (!out)
		return 0;
	to_curl.easy_reset(etcd->curl);
	to_etcd_set_options(etcd, etcd->curl, path, body);
	to_curl.easy_setopt(etcd->curl, CURLOPT_TIMEOUT_MS,
			    !strcmp(path, ETCD_READ) ? etcd->read_ms :
			    !strcmp(path, ETCD_KEEP) ? ETCD_KEEP_MS : etcd->call_ms);
	to_curl.easy_setopt(etcd->curl, CURLOPT_ERRORBUFFER, reason);
	to_curl.easy_setopt(etcd->curl, CURLOPT_WRITEFUNCTION, etcd_collect);
	to_curl.easy_setopt(etcd->curl, CURLOPT_WRITEDATA, out);
	code = to_curl.easy_perform(etcd->curl);
	fclose(out);
	if (code)
		to_error_set(err, -EHOSTUNREACH, "etcd %s: %s", to_etcd_endpoint(etcd),
			     reason[0] ? reason : to_curl.easy_strerror(code));
	else
		to_curl.easy_getinfo(etcd->curl, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* gRPC code 14, "unavailable": no leader, or this member is going down. */
static bool etcd_is_unavailable(long status)
{
	return status == 0 || status == 502 || status == 503 || status == 504;
}

static int etcd_call(struct to_etcd *etcd, const char *path, const json_t *request,
		 json_t **reply, struct to_error *err)
{
	char *body = json_dumps(request, JSON_COMPACT), *answer = NULL;
	const char *message;
	long status = 0;

	*reply = NULL;
	if (!body)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < etcd->n_endpoints; i++) {
		free(answer);
		answer = NULL;
		status = etcd_post(etcd, path, body, &answer, err);
		if (!etcd_is_unavailable(status))
			break;
		if (status)
			to_error_set(err, -EHOSTUNREACH, "etcd %s: unavailable",
				     to_etcd_endpoint(etcd));
		to_etcd_next_endpoint(etcd);
	}
	free(body);
	if (answer && !etcd_is_unavailable(status))
		*reply = json_loads(answer, 0, NULL);
	free(answer);
	if (etcd_is_unavailable(status))
		return -EHOSTUNREACH;
	if (status == 200 && json_is_object(*reply))
		return 0;
	message = json_string_value(json_object_get(*reply, "message"));
	if (message)
		to_error_set(err, -EIO, "etcd %s: %s", to_etcd_endpoint(etcd), message);
	else
		to_error_set(err, -EIO, "etcd %s: HTTP status %ld; is this etcd 3.4 or later?",
			     to_etcd_endpoint(etcd), status);
	/* gRPC code 5 */
	status = json_integer_value(json_object_get(*reply, "code")) == 5 ? -ENOENT : -EIO;
	json_decref(*reply);
	*reply = NULL;
	return status;
}

int64_t to_etcd_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	/* The gateway writes 64-bit numbers as strings. */
	return json_is_string(value) ? strtoll(json_string_value(value), NULL, 10) :
				       json_integer_value(value);
}

int to_etcd_read_kv(const struct to_etcd *etcd, const json_t *in, struct to_etcd_kv *kv)
{
	const char *key = json_string_value(json_object_get(in, "key"));
	const char *value = json_string_value(json_object_get(in, "value"));
	size_t skip = strlen(etcd->prefix) + 1, len;

	memset(kv, 0, sizeof(*kv));
	kv->key = key ? etcd_bytes(key, &len) : NULL;
	kv->value = etcd_bytes(value ? value : "", &kv->len);
	if (!kv->key || !kv->value || len < skip) {
		to_etcd_kv_clear(kv);
		return -EPROTO;
	}
	memmove(kv->key, kv->key + skip, len - skip + 1);
	kv->revision = to_etcd_number(in, "mod_revision");
	return 0;
}

void to_etcd_kv_clear(struct to_etcd_kv *kv)
{
	free(kv->key);
	free(kv->value);
	memset(kv, 0, sizeof(*kv));
}

void to_etcd_kv_free(struct to_etcd_kv *kv, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to_etcd_kv_clear(&kv[i]);
	free(kv);
}

int to_etcd_get(struct to_etcd *etcd, const char *key, bool prefix, struct to_etcd_kv **kv,
		size_t *n, int64_t *revision, struct to_error *err)
{
	json_t *request = json_pack("{s:o*, s:o*}", "key", to_etcd_key(etcd, key, false),
				    "range_end", prefix ? to_etcd_key(etcd, key, true) : NULL);
	const json_t *list;
	json_t *reply;
	int ret;

	*kv = NULL;
	*n = 0;
	ret = etcd_call(etcd, ETCD_READ, request, &reply, err);
	json_decref(request);
	if (ret)
		return ret;
	list = json_object_get(reply, "kvs");
	*kv = calloc(json_array_size(list) + 1, sizeof(**kv));
	if (!*kv)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	for (; !ret && *n < json_array_size(list); ++*n)
		if (to_etcd_read_kv(etcd, json_array_get(list, *n), &(*kv)[*n])) {
			ret = to_error_set(err, -EPROTO, "etcd %s: a key is not understood",
					   to_etcd_endpoint(etcd));
			break;
		}
	if (revision)
		*revision = to_etcd_number(json_object_get(reply, "header"), "revision");
	json_decref(reply);
	if (ret) {
		to_etcd_kv_free(*kv, *n);
		*kv = NULL;
		*n = 0;
	}
	return ret;
}

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

void to_etcd_txn_put(struct to_etcd_txn *txn, const char *key, const void *value, size_t len,
		     int64_t lease)
{
	char *text = etcd_base64(value, len);

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

	ret = etcd_call(txn->etcd, "/v3/kv/txn", request, &reply, err);
	json_decref(request);
	if (ret)
		return ret;
	done = json_is_true(json_object_get(reply, "succeeded"));
	if (revision)
		*revision = to_etcd_number(json_object_get(reply, "header"), "revision");
	json_decref(reply);
	return done ? 0 : to_error_set(err, -ESTALE, "somebody else was first");
}

/* A call with one number, whose reply says nothing. */
static int etcd_tell(struct to_etcd *etcd, const char *path, const char *key, int64_t number,
		     struct to_error *err)
{
	json_t *request = json_pack("{s:I}", key, (json_int_t)number), *reply;
	int ret = etcd_call(etcd, path, request, &reply, err);

	json_decref(request);
	json_decref(reply);
	return ret;
}

int to_etcd_compact(struct to_etcd *etcd, int64_t revision, struct to_error *err)
{
	return etcd_tell(etcd, "/v3/kv/compaction", "revision", revision, err);
}

int to_etcd_lease(struct to_etcd *etcd, unsigned int ttl, int64_t *lease, struct to_error *err)
{
	json_t *request = json_pack("{s:i}", "TTL", ttl), *reply;
	int ret = etcd_call(etcd, "/v3/lease/grant", request, &reply, err);

	json_decref(request);
	if (ret)
		return ret;
	*lease = to_etcd_number(reply, "ID");
	json_decref(reply);
	return *lease ? 0 : to_error_set(err, -EIO, "etcd %s: no lease",
					 to_etcd_endpoint(etcd));
}

int to_etcd_keep(struct to_etcd *etcd, int64_t lease, struct to_error *err)
{
	json_t *request = json_pack("{s:I}", "ID", (json_int_t)lease), *reply;
	int ret = etcd_call(etcd, ETCD_KEEP, request, &reply, err);
	bool alive;

	json_decref(request);
	if (ret)
		return ret;
	alive = to_etcd_number(json_object_get(reply, "result"), "TTL") > 0;
	json_decref(reply);
	return alive ? 0 : to_error_set(err, -ENOENT, "the lease has ended");
}

int to_etcd_revoke(struct to_etcd *etcd, int64_t lease, struct to_error *err)
{
	return etcd_tell(etcd, "/v3/lease/revoke", "ID", lease, err);
}

static int etcd_split(struct to_etcd *etcd, struct to_error *err)
{
	char *save, *url;

	for (url = strtok_r(etcd->text, ", ", &save); url; url = strtok_r(NULL, ", ", &save)) {
		size_t len = strlen(url);

		if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8))
			return to_error_set(err, -EINVAL,
					    "\"%s\" is no URL of etcd, as http://host:2379", url);
		if (etcd->n_endpoints == ETCD_ENDPOINTS_MAX)
			return to_error_set(err, -E2BIG, "more than %d endpoints of etcd",
					    ETCD_ENDPOINTS_MAX);
		if (url[len - 1] == '/')
			url[len - 1] = '\0';
		etcd->endpoints[etcd->n_endpoints++] = url;
	}
	return etcd->n_endpoints ? 0 : to_error_set(err, -EINVAL, "no endpoint of etcd");
}

static int etcd_status(struct to_etcd *etcd, struct to_error *err)
{
	json_t *request = json_object(), *reply;
	int ret = etcd_call(etcd, "/v3/maintenance/status", request, &reply, err);

	json_decref(request);
	json_decref(reply);
	return ret;
}

struct to_etcd *to_etcd_open(const struct to_etcd_options *options, struct to_error *err)
{
	struct to_etcd *etcd;

	if (to_lazy_curl(err))
		return NULL;
	etcd = calloc(1, sizeof(*etcd));
	if (!etcd)
		goto no_memory;
	etcd->options = *options;
	etcd->call_ms = ETCD_CALL_MS;
	etcd->read_ms = ETCD_READ_MS;
	etcd->text = strdup(options->endpoints);
	etcd->prefix = strdup(options->prefix ? options->prefix : TO_ETCD_PREFIX);
	etcd->curl = to_curl.easy_init();
	etcd->headers = to_curl.slist_append(NULL, "Content-Type: application/json");
	if (!etcd->text || !etcd->prefix || !etcd->curl || !etcd->headers)
		goto no_memory;
	if (!etcd_split(etcd, err) && !etcd_status(etcd, err))
		return etcd;
	goto fail;

no_memory:
	to_error_set(err, -ENOMEM, "out of memory");
fail:
	to_etcd_close(etcd);
	return NULL;
}

void to_etcd_hurry(struct to_etcd *etcd, unsigned int ms)
{
	if (ms < etcd->call_ms)
		etcd->call_ms = ms;
	if (ms < etcd->read_ms)
		etcd->read_ms = ms;
}

void to_etcd_close(struct to_etcd *etcd)
{
	if (!etcd)
		return;
	if (etcd->curl)
		to_curl.easy_cleanup(etcd->curl);
	to_curl.slist_free_all(etcd->headers);
	free(etcd->text);
	free(etcd->prefix);
	free(etcd);
}
