// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/lazy_curl.h"

#include "base/lazy.h"

struct to_curl to_curl;

static struct {
	__typeof__(curl_easy_init) *init;
	__typeof__(curl_easy_reset) *reset;
} curl_make;

int to_lazy_curl(struct to_error *err)
{
#define X(name) { "curl_" #name, (void **)&to_curl.name },
	static const struct to_lazy_symbol symbols[] = {
		{ "curl_easy_init", (void **)&curl_make.init },
		{ "curl_easy_reset", (void **)&curl_make.reset },
		TO_CURL_FUNCTIONS(X)
	};
#undef X

	return to_lazy_load("libcurl.so.4", symbols, sizeof(symbols) / sizeof(symbols[0]), err);
}

/*
 * Defaults of libcurl that would give a request, and the password in it, to somebody else:
 * proxies come from http_proxy, HTTPS_PROXY and ALL_PROXY. The others are off unless asked
 * for; they are named because a password depends on them.
 */
static void curl_restrict(CURL *curl)
{
	to_curl.easy_setopt(curl, CURLOPT_PROXY, "");
	to_curl.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	to_curl.easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "");
	to_curl.easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0l);
	to_curl.easy_setopt(curl, CURLOPT_UNRESTRICTED_AUTH, 0l);
	to_curl.easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
}

CURL *to_curl_handle(void)
{
	CURL *curl = curl_make.init();

	if (curl)
		curl_restrict(curl);
	return curl;
}

void to_curl_reset(CURL *curl)
{
	curl_make.reset(curl);
	curl_restrict(curl);
}
