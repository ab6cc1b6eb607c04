// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on the events of a watch: the input is what etcd's JSON gateway
 * answers, after a byte that says in which pieces.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/lazy_curl.h"
#include "control/etcd.h"

typedef size_t write_function(char *data, size_t size, size_t n, void *arg);

/* etcd's side: what is left of its answer, and who takes it. */
static struct {
	const uint8_t *at;
	size_t len, piece;
	write_function *write;
	void *arg;
	CURLMsg end;
	bool told;
} gateway;

static void *stub(void)
{
	return NULL;
}

static void *make(void)
{
	return &gateway;
}

static CURLcode set(CURL *curl, CURLoption option, ...)
{
	va_list ap;

	(void)curl;
	va_start(ap, option);
	if (option == CURLOPT_WRITEFUNCTION)
		gateway.write = va_arg(ap, write_function *);
	else if (option == CURLOPT_WRITEDATA)
		gateway.arg = va_arg(ap, void *);
	va_end(ap);
	return CURLE_OK;
}

static CURLcode get(CURL *curl, CURLINFO info, ...)
{
	va_list ap;

	(void)curl;
	va_start(ap, info);
	if (info == CURLINFO_RESPONSE_CODE)
		*va_arg(ap, long *) = 200;
	va_end(ap);
	return CURLE_OK;
}

static CURLcode perform(CURL *curl)
{
	char answer[] = "{\"header\":{\"revision\":\"1\"}}";

	(void)curl;
	gateway.write(answer, 1, strlen(answer), gateway.arg);
	return CURLE_OK;
}

static CURLMcode go_on(CURLM *multi, int *running)
{
	size_t n = gateway.len < gateway.piece ? gateway.len : gateway.piece;
	char *piece = malloc(n + 1);

	(void)multi;
	memcpy(piece, gateway.at, n);
	gateway.at += n;
	gateway.len -= n;
	if (n)
		gateway.write(piece, 1, n, gateway.arg);
	free(piece);
	*running = gateway.len > 0;
	return CURLM_OK;
}

static CURLMsg *ended(CURLM *multi, int *queued)
{
	(void)multi;
	*queued = 0;
	gateway.end.msg = CURLMSG_DONE;
	if (gateway.len || gateway.told)
		return NULL;
	gateway.told = true;
	return &gateway.end;
}

CURL *__wrap_to_curl_handle(void)
{
	return make();
}

void __wrap_to_curl_reset(CURL *curl)
{
	(void)curl;
}

int __wrap_to_lazy_curl(struct to_error *err)
{
	(void)err;
#define X(name) to_curl.name = (void *)stub;
	TO_CURL_FUNCTIONS(X)
#undef X
	to_curl.multi_init = (void *)make;
	to_curl.slist_append = (void *)make;
	to_curl.easy_setopt = set;
	to_curl.easy_getinfo = get;
	to_curl.easy_perform = perform;
	to_curl.multi_perform = go_on;
	to_curl.multi_info_read = ended;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct to_etcd_options options = { .endpoints = "http://127.0.0.1:1" };
	struct to_etcd_watch *watch;
	struct to_etcd_kv kv;
	struct to_etcd *etcd;
	struct to_error err;

	if (!len)
		return 0;
	memset(&gateway, 0, sizeof(gateway));
	etcd = to_etcd_open(&options, &err);
	if (!etcd)
		abort();
	gateway.at = data + 1;
	gateway.len = len - 1;
	gateway.piece = data[0] + 1;
	watch = to_etcd_watch(etcd, "", 1, 60000, &err);
	if (!watch)
		abort();
	for (unsigned int i = 0; i < 10000 && (gateway.len || !gateway.told); i++)
		if (to_etcd_watch_next(watch, 0, &kv, &err) == 1)
			to_etcd_kv_clear(&kv);
	to_etcd_watch_close(watch);
	to_etcd_close(etcd);
	return 0;
}
