// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/etcd.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "base/password.h"
#include "control/etcd_http.h"
#include "control/etcd_key.h"

#define ETCD_ENDPOINTS_MAX 16
#define ETCD_READ "/v3/kv/range"
#define ETCD_KEEP "/v3/lease/keepalive"
#define ETCD_LOGIN "/v3/auth/authenticate"
#define ETCD_CONNECT_MS 2000l
#define ETCD_PROBE_S 5l		/* silence after which a connection is probed */
#define ETCD_DEAD_MS 10000	/* without an answer to that, it is dead */
#define ETCD_CALL_MS 10000l
#define ETCD_KEEP_MS 3000l	/* a lease has no time to lose */
#define ETCD_LOGIN_MS 15000l	/* all do it at once when etcd was started again */
#define ETCD_READ_MS 30000l	/* a thousand agents may read at once */

/**
 * struct to_etcd - see etcd.h
 * @text: the endpoints, each ended by a NUL
 * @endpoints: where each begins
 * @current: the one that answered last
 * @call_ms, @read_ms: what one may take for a change, and to be read
 * @failed: the last call had no answer: the next one is to make a new connection
 * @user: who is logged in, "": nobody
 * @headers: with the token that this gave
 * @cluster, @revision: cluster_id and revision of the store, as last told
 * @epoch: how often these were not those of the store before
 */
struct to_etcd {
	struct to_etcd_options options;
	char *text, *prefix;
	const char *endpoints[ETCD_ENDPOINTS_MAX];
	unsigned int n_endpoints, current;
	long call_ms, read_ms;
	CURL *curl;
	bool failed;
	char user[320], *token;
	struct curl_slist *headers;
	char cluster[24];
	int64_t revision;
	unsigned int epoch;
};

char *to_etcd_base64(const void *data, size_t len)
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
	text = to_etcd_base64(full, strlen(full));
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

const char *to_etcd_user(char user[320], const char *prefix, const char *role)
{
	prefix = prefix ? prefix : TO_ETCD_PREFIX;
	snprintf(user, 320, "%s/%s", prefix + strspn(prefix, "/"), role);
	return user;
}

struct curl_slist *to_etcd_headers(const struct to_etcd *etcd)
{
	struct curl_slist *list = to_curl.slist_append(NULL, "Content-Type: application/json");
	struct curl_slist *more = NULL;
	char *text;

	if (!list || !etcd->token)
		return list;
	if (asprintf(&text, "Authorization: %s", etcd->token) >= 0) {
		more = to_curl.slist_append(list, text);
		free(text);
	}
	if (!more)
		to_curl.slist_free_all(list);
	return more;
}

/* A peer that is gone without a word is gone; keepalive also renews what firewalls know. */
static int etcd_set_socket(void *data, curl_socket_t fd, curlsocktype purpose)
{
	const unsigned int ms = ETCD_DEAD_MS;

	(void)data;
	(void)purpose;
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	return CURL_SOCKOPT_OK;
}

void to_etcd_set_options(const struct to_etcd *etcd, CURL *curl, const char *path,
			 const char *body, struct curl_slist *headers)
{
	char url[512];

	snprintf(url, sizeof(url), "%s%s", to_etcd_endpoint(etcd), path);
	to_curl.easy_setopt(curl, CURLOPT_URL, url);
	if (body)
		to_curl.easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, body);
	to_curl.easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	to_curl.easy_setopt(curl, CURLOPT_NOSIGNAL, 1l);
	to_curl.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, ETCD_CONNECT_MS);
	to_curl.easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1l);
	to_curl.easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, ETCD_PROBE_S);
	to_curl.easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, ETCD_PROBE_S);
	to_curl.easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, etcd_set_socket);
	if (etcd->options.cacert)
		to_curl.easy_setopt(curl, CURLOPT_CAINFO, etcd->options.cacert);
	if (etcd->options.cert)
		to_curl.easy_setopt(curl, CURLOPT_SSLCERT, etcd->options.cert);
	if (etcd->options.key)
		to_curl.easy_setopt(curl, CURLOPT_SSLKEY, etcd->options.key);
}

static size_t etcd_collect(char *data, size_t size, size_t n, void *out)
{
	return ftell(out) + size * n > TO_ETCD_ANSWER_MAX ? 0 : fwrite(data, size, n, out);
}

/* One POST to the current endpoint, a GET without @body; the status is 0 when it did not answer. */
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
	to_curl_reset(etcd->curl);
	to_etcd_set_options(etcd, etcd->curl, path, body, etcd->headers);
	to_curl.easy_setopt(etcd->curl, CURLOPT_TIMEOUT_MS,
			    !strcmp(path, ETCD_READ) ? etcd->read_ms :
			    !strcmp(path, ETCD_KEEP) ? ETCD_KEEP_MS :
			    !strcmp(path, ETCD_LOGIN) ? ETCD_LOGIN_MS : etcd->call_ms);
	to_curl.easy_setopt(etcd->curl, CURLOPT_ERRORBUFFER, reason);
	to_curl.easy_setopt(etcd->curl, CURLOPT_WRITEFUNCTION, etcd_collect);
	to_curl.easy_setopt(etcd->curl, CURLOPT_WRITEDATA, out);
	to_curl.easy_setopt(etcd->curl, CURLOPT_FRESH_CONNECT, (long)etcd->failed);
	if (!body)
		to_curl.easy_setopt(etcd->curl, CURLOPT_HTTPGET, 1l);
	code = to_curl.easy_perform(etcd->curl);
	etcd->failed = code != CURLE_OK;
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

/*
 * The first key of a request, without the prefix; to be freed. NULL: it has none of ours.
 * @write: set to whether the request writes the key
 */
static char *etcd_first_key(const struct to_etcd *etcd, const json_t *request, bool *write)
{
	const json_t *op = json_array_get(json_object_get(request, "success"), 0), *of = op;
	const size_t skip = strlen(etcd->prefix) + 1;
	const char *text;
	char *key;
	size_t len;

	*write = op;
	if (op)
		of = json_object_get(op, "request_put") ?: json_object_get(op, "request_delete_range");
	text = json_string_value(json_object_get(op ? of : request, "key"));
	key = text ? etcd_bytes(text, &len) : NULL;
	if (key && len >= skip) {
		memmove(key, key + skip, len - skip + 1);
		return key;
	}
	free(key);
	return NULL;
}

/* etcd does not say which key it is that the user may not read or write. */
static int etcd_denied(const struct to_etcd *etcd, const json_t *request, struct to_error *err)
{
	char role[256], user[320], *key;
	bool write;

	key = etcd_first_key(etcd, request, &write);
	if (!key)
		return to_error_set(err, -EACCES, "etcd: user %s may not do this", etcd->user);
	to_etcd_user(user, etcd->prefix, to_etcd_key_role(role, key, write));
	if (strcmp(user, etcd->user))
		to_error_set(err, 0, "etcd: user %s may not %s %s: use %s", etcd->user,
			     write ? "write" : "read", key, user);
	else
		to_error_set(err, 0, "etcd: user %s may not %s %s: toctl fabric init-etcd grants it",
			     user, write ? "write" : "read", key);
	free(key);
	return -EACCES;
}

/* What etcd says of a call that it does not carry out; by gRPC's codes. */
static int etcd_refused(const struct to_etcd *etcd, long status, const json_t *request,
			const json_t *reply, struct to_error *err)
{
	const char *message = json_string_value(json_object_get(reply, "message"));

	if (!message)
		return to_error_set(err, -EIO,
				    "etcd %s: HTTP status %ld; is this etcd 3.4 or later?",
				    to_etcd_endpoint(etcd), status);
	if (strstr(message, "user name is empty"))
		return to_error_set(err, -EACCES, "etcd %s asks for a user and its password",
				    to_etcd_endpoint(etcd));
	if (strstr(message, "database space exceeded"))
		return to_error_set(err, -ENOSPC, "etcd is full (NOSPACE): toctl fabric check");
	if (strstr(message, "corrupt cluster"))
		return to_error_set(err, -EIO, "etcd is damaged (CORRUPT): toctl fabric check");
	if (strstr(message, "permission denied") && etcd->user[0])
		return etcd_denied(etcd, request, err);
	to_error_set(err, -EIO, "etcd %s: %s", to_etcd_endpoint(etcd), message);
	switch (json_integer_value(json_object_get(reply, "code"))) {
	case 5:
		return -ENOENT;
	case 7:
		return -EACCES;
	case 11:
		return -ESTALE;
	default:
		return to_etcd_is_logged_out(etcd, message) ? -EKEYEXPIRED : -EIO;
	}
}

static int etcd_ask(struct to_etcd *etcd, const char *path, const json_t *request,
		    json_t **reply, struct to_error *err)
{
	char *body = json_dumps(request, JSON_COMPACT), *answer = NULL;
	long status = 0;
	int ret;

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
	ret = etcd_refused(etcd, status, request, *reply, err);
	json_decref(*reply);
	*reply = NULL;
	return ret;
}

bool to_etcd_is_logged_out(const struct to_etcd *etcd, const char *message)
{
	return etcd->user[0] && message && (strstr(message, "invalid auth token") ||
					    strstr(message, "revision of auth store is old"));
}

/* @token: NULL: none */
static int etcd_take_token(struct to_etcd *etcd, const char *token)
{
	struct curl_slist *headers;

	free(etcd->token);
	etcd->token = token ? strdup(token) : NULL;
	headers = to_etcd_headers(etcd);
	if (!headers || (token && !etcd->token)) {
		to_curl.slist_free_all(headers);
		return -ENOMEM;
	}
	to_curl.slist_free_all(etcd->headers);
	etcd->headers = headers;
	return 0;
}

int to_etcd_login(struct to_etcd *etcd, struct to_error *err)
{
	char password[TO_PASSWORD_MAX];
	json_t *request, *reply;
	struct to_error why;
	const char *token;
	int ret;

	ret = to_password_read(password, etcd->options.password_file, TO_ETCD_PASSWORD, err);
	/* etcd looks at the old token first, and would refuse for it */
	ret = ret ? ret : etcd_take_token(etcd, NULL);
	if (ret)
		return ret;
	request = json_pack("{s:s, s:s}", "name", etcd->user, "password", password);
	ret = etcd_ask(etcd, ETCD_LOGIN, request, &reply, &why);
	json_decref(request);
	explicit_bzero(password, sizeof(password));
	if (ret == -EHOSTUNREACH)
		return to_error_set(err, ret, "%s", why.text);
	if (ret)
		return to_error_set(err, -EACCES, "%s (user %s)%s", why.text, etcd->user,
				    etcd->options.user ? "" : ": etcd.user names another");
	token = json_string_value(json_object_get(reply, "token"));
	ret = token ? etcd_take_token(etcd, token) : -EPROTO;
	json_decref(reply);
	return ret ? to_error_set(err, ret, "etcd %s: no token", to_etcd_endpoint(etcd)) : 0;
}

int to_etcd_call(struct to_etcd *etcd, const char *path, const json_t *request,
		 json_t **reply, struct to_error *err)
{
	int ret = etcd_ask(etcd, path, request, reply, err);

	/* Its time is over, or the member that knew it was started again. */
	if (ret == -EKEYEXPIRED)
		ret = to_etcd_login(etcd, err) ?: etcd_ask(etcd, path, request, reply, err);
	return ret;
}

int to_etcd_fetch(struct to_etcd *etcd, const char *path, char **text, struct to_error *err)
{
	long status;

	*text = NULL;
	status = etcd_post(etcd, path, NULL, text, err);
	if (status == 200)
		return 0;
	free(*text);
	*text = NULL;
	return status ? to_error_set(err, -EIO, "etcd %s%s: HTTP status %ld", to_etcd_endpoint(etcd),
				     path, status) : -EHOSTUNREACH;
}

const char *to_etcd_logged_in(const struct to_etcd *etcd)
{
	return etcd->user;
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
	kv->created = to_etcd_number(in, "create_revision");
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

void to_etcd_note(struct to_etcd *etcd, const json_t *reply)
{
	const json_t *header = json_object_get(reply, "header");
	const char *cluster = json_string_value(json_object_get(header, "cluster_id"));
	const int64_t revision = to_etcd_number(header, "revision");

	if (revision <= 0)
		return;
	if (etcd->revision && (revision < etcd->revision ||
			       (cluster && strncmp(cluster, etcd->cluster, sizeof(etcd->cluster) - 1))))
		etcd->epoch++;
	snprintf(etcd->cluster, sizeof(etcd->cluster), "%s", cluster ? cluster : "");
	etcd->revision = revision;
}

unsigned int to_etcd_epoch(const struct to_etcd *etcd)
{
	return etcd->epoch;
}

/* @request: of the keys that are read, taken over */
static int etcd_read(struct to_etcd *etcd, json_t *request, struct to_etcd_kv **kv, size_t *n,
		     int64_t *revision, struct to_error *err)
{
	const json_t *list;
	json_t *reply;
	int ret;

	*kv = NULL;
	*n = 0;
	ret = to_etcd_call(etcd, ETCD_READ, request, &reply, err);
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
	to_etcd_note(etcd, reply);
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

int to_etcd_get(struct to_etcd *etcd, const char *key, bool prefix, struct to_etcd_kv **kv,
		size_t *n, int64_t *revision, struct to_error *err)
{
	json_t *request = json_pack("{s:o*, s:o*}", "key", to_etcd_key(etcd, key, false),
				    "range_end", prefix ? to_etcd_key(etcd, key, true) : NULL);

	return etcd_read(etcd, request, kv, n, revision, err);
}

int to_etcd_get_at(struct to_etcd *etcd, const char *key, int64_t at, struct to_etcd_kv **kv,
		   size_t *n, struct to_error *err)
{
	json_t *request = json_pack("{s:o*, s:I}", "key", to_etcd_key(etcd, key, false), "revision",
				    (json_int_t)at);

	return etcd_read(etcd, request, kv, n, NULL, err);
}

int to_etcd_list(struct to_etcd *etcd, const char *key, struct to_etcd_kv **kv, size_t *n,
		 struct to_error *err)
{
	json_t *request = json_pack("{s:o*, s:o*, s:b}", "key", to_etcd_key(etcd, key, false),
				    "range_end", to_etcd_key(etcd, key, true), "keys_only", 1);

	return etcd_read(etcd, request, kv, n, NULL, err);
}

int to_etcd_created(struct to_etcd *etcd, const char *key, int64_t at, int64_t *created,
		    struct to_error *err)
{
	json_t *request = json_pack("{s:o*, s:I, s:b}", "key", to_etcd_key(etcd, key, false),
				    "revision", (json_int_t)at, "keys_only", 1);
	json_t *reply;
	int ret = to_etcd_call(etcd, ETCD_READ, request, &reply, err);

	json_decref(request);
	if (ret)
		return ret;
	*created = to_etcd_number(json_array_get(json_object_get(reply, "kvs"), 0),
				  "create_revision");
	json_decref(reply);
	return 0;
}

/* A call with one number, whose reply says nothing. */
static int etcd_tell(struct to_etcd *etcd, const char *path, const char *key, int64_t number,
		     struct to_error *err)
{
	json_t *request = json_pack("{s:I}", key, (json_int_t)number), *reply;
	int ret = to_etcd_call(etcd, path, request, &reply, err);

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
	int ret = to_etcd_call(etcd, "/v3/lease/grant", request, &reply, err);

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
	int ret = to_etcd_call(etcd, ETCD_KEEP, request, &reply, err);
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

static bool etcd_is_https(const char *url)
{
	return !strncmp(url, "https://", 8);
}

/* http://127.x, http://[::1] or http://localhost: nobody listens on the way */
bool to_etcd_is_local(const char *url)
{
	const char *host = url + strlen("http://");
	const size_t len = strcspn(host, ":/");

	return (!strncmp(host, "127.", 4) && strspn(host, "0123456789.") == len) ||
	       !strncmp(host, "[::1]", 5) || (len == 9 && !strncmp(host, "localhost", len));
}

static int etcd_check_url(const struct to_etcd *etcd, const char *url, struct to_error *err)
{
	const char *first = etcd->n_endpoints ? etcd->endpoints[0] : url;

	if (strncmp(url, "http://", 7) && !etcd_is_https(url))
		return to_error_set(err, -EINVAL, "\"%s\" is no URL of etcd, as http://host:2379",
				    url);
	if (etcd_is_https(url) != etcd_is_https(first))
		return to_error_set(err, -EINVAL,
				    "endpoints of etcd are all https or all http, not %s and %s",
				    first, url);
	if (etcd->user[0] && !etcd_is_https(url) && !to_etcd_is_local(url))
		return to_error_set(err, -EINVAL,
				    "%s: everybody on the way could read the password; use https",
				    url);
	return 0;
}

static int etcd_split(struct to_etcd *etcd, struct to_error *err)
{
	char *save, *url;
	int ret;

	for (url = strtok_r(etcd->text, ", ", &save); url; url = strtok_r(NULL, ", ", &save)) {
		size_t len = strlen(url);

		ret = etcd_check_url(etcd, url, err);
		if (ret)
			return ret;
		if (etcd->n_endpoints == ETCD_ENDPOINTS_MAX)
			return to_error_set(err, -E2BIG, "more than %d endpoints of etcd",
					    ETCD_ENDPOINTS_MAX);
		if (url[len - 1] == '/')
			url[len - 1] = '\0';
		etcd->endpoints[etcd->n_endpoints++] = url;
	}
	return etcd->n_endpoints ? 0 : to_error_set(err, -EINVAL, "no endpoint of etcd");
}

/* Nobody, unless there is a password. */
static int etcd_set_user(struct to_etcd *etcd, struct to_error *err)
{
	const struct to_etcd_options *o = &etcd->options;

	if (!o->user && !o->role)
		return 0;
	if (!o->password_file && !getenv(TO_ETCD_PASSWORD))
		return o->user ? to_error_set(err, -ENOKEY, "no password of etcd's user %s: it is in the file etcd.password-file, or in $" TO_ETCD_PASSWORD,
					      o->user) : 0;
	if (o->user)
		snprintf(etcd->user, sizeof(etcd->user), "%s", o->user);
	else
		to_etcd_user(etcd->user, o->prefix, o->role);
	return 0;
}

/* Who reads the key of a client certificate reaches etcd. */
static int etcd_check_key(const struct to_etcd *etcd, struct to_error *err)
{
	struct to_error why;
	int ret = etcd->options.key ? to_password_check_private(etcd->options.key, &why) : 0;

	return ret ? to_error_set(err, ret, "etcd.key: %s", why.text) : 0;
}

static int etcd_status(struct to_etcd *etcd, struct to_error *err)
{
	json_t *request, *reply;
	int ret;

	if (etcd->user[0])
		return to_etcd_login(etcd, err);
	request = json_object();
	ret = to_etcd_call(etcd, "/v3/maintenance/status", request, &reply, err);

	json_decref(request);
	json_decref(reply);
	return ret;
}

struct to_etcd *to_etcd_open(const struct to_etcd_options *options, struct to_error *err)
{
	struct to_etcd *etcd;

	if (!options->endpoints) {
		to_error_set(err, -EINVAL, "etcd.endpoints is not set: see toctl fabric show");
		return NULL;
	}
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
	etcd->curl = to_curl_handle();
	etcd->headers = to_etcd_headers(etcd);
	if (!etcd->text || !etcd->prefix || !etcd->curl || !etcd->headers)
		goto no_memory;
	if (!etcd_check_key(etcd, err) && !etcd_set_user(etcd, err) && !etcd_split(etcd, err) &&
	    !etcd_status(etcd, err))
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
	free(etcd->token);
	free(etcd->text);
	free(etcd->prefix);
	free(etcd);
}
