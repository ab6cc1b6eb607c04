/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETCD_HTTP_H
#define TOPOOPT_ETCD_HTTP_H

/* What etcd.c and etcd_watch.c share of the JSON gateway. */

#include "base/lazy_curl.h"

#include "control/etcd.h"

/** to_etcd_set_options() - for a POST of @body to @path of the current endpoint */
void to_etcd_set_options(const struct to_etcd *etcd, CURL *curl, const char *path,
			 const char *body);

/** to_etcd_endpoint() - the current one */
const char *to_etcd_endpoint(const struct to_etcd *etcd);

/** to_etcd_next_endpoint() - the current one does not answer */
void to_etcd_next_endpoint(struct to_etcd *etcd);

/** to_etcd_key() - as the gateway takes it; @end: end of all that begin with it */
json_t *to_etcd_key(const struct to_etcd *etcd, const char *key, bool end);

/** to_etcd_number() - 64-bit number, 0 when it is not there */
int64_t to_etcd_number(const json_t *object, const char *key);

/** to_etcd_read_kv() - 0, or -EPROTO with nothing to clear */
int to_etcd_read_kv(const struct to_etcd *etcd, const json_t *in, struct to_etcd_kv *kv);

#endif
