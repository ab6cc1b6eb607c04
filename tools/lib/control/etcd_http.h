/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETCD_HTTP_H
#define TOPOOPT_ETCD_HTTP_H

/* What etcd.c and etcd_watch.c share of the JSON gateway. */

#include "base/lazy_curl.h"

#include "control/etcd.h"

/**
 * to_etcd_set_options() - prepare a POST of @body to @path of the current endpoint
 * @curl: new, or after to_curl_reset()
 * @headers: of to_etcd_headers(), for as long as the call takes
 */
void to_etcd_set_options(const struct to_etcd *etcd, CURL *curl, const char *path,
			 const char *body, struct curl_slist *headers);

/** to_etcd_headers() - with the token of who is logged in; for slist_free_all() */
struct curl_slist *to_etcd_headers(const struct to_etcd *etcd);

/** to_etcd_login() - again: etcd does not take the token any more */
int to_etcd_login(struct to_etcd *etcd, struct to_error *err);

/** to_etcd_is_logged_out() - by what etcd says; false when no user was logged in */
bool to_etcd_is_logged_out(const struct to_etcd *etcd, const char *message);

/** to_etcd_call() - POST @request to @path; Return: 0 with @reply, or a negative errno */
int to_etcd_call(struct to_etcd *etcd, const char *path, const json_t *request,
		 json_t **reply, struct to_error *err);

/**
 * to_etcd_fetch() - GET @path of the current endpoint
 * @text: for free(), NULL on failure
 *
 * Return: 0, or a negative errno with @err.
 */
int to_etcd_fetch(struct to_etcd *etcd, const char *path, char **text, struct to_error *err);

/** to_etcd_logged_in() - Return the user who is logged in, "" for nobody */
const char *to_etcd_logged_in(const struct to_etcd *etcd);

/** to_etcd_is_local() - Tell whether an http URL leads to this host */
bool to_etcd_is_local(const char *url);

/** to_etcd_endpoint() - the current one */
const char *to_etcd_endpoint(const struct to_etcd *etcd);

/** to_etcd_next_endpoint() - the current one does not answer */
void to_etcd_next_endpoint(struct to_etcd *etcd);

/** to_etcd_base64() - Encode @len bytes, for free(); NULL when out of memory */
char *to_etcd_base64(const void *data, size_t len);

/** to_etcd_key() - as the gateway takes it; @end: end of all that begin with it */
json_t *to_etcd_key(const struct to_etcd *etcd, const char *key, bool end);

/** to_etcd_number() - 64-bit number, 0 when it is not there */
int64_t to_etcd_number(const json_t *object, const char *key);

/** to_etcd_note() - Note which store gave @reply to a read or a transaction, and its revision */
void to_etcd_note(struct to_etcd *etcd, const json_t *reply);

/** to_etcd_read_kv() - 0, or -EPROTO with nothing to clear */
int to_etcd_read_kv(const struct to_etcd *etcd, const json_t *in, struct to_etcd_kv *kv);

#endif
