// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/lazy_curl.h"

#include "base/lazy.h"

struct to_curl to_curl;

int to_lazy_curl(struct to_error *err)
{
#define X(name) { "curl_" #name, (void **)&to_curl.name },
	static const struct to_lazy_symbol symbols[] = { TO_CURL_FUNCTIONS(X) };
#undef X

	return to_lazy_load("libcurl.so.4", symbols, sizeof(symbols) / sizeof(symbols[0]), err);
}

void to_lazy_curl_direct(CURL *curl)
{
	to_curl.easy_setopt(curl, CURLOPT_PROXY, "");
	to_curl.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
}
