/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LAZY_CURL_H
#define TOPOOPT_LAZY_CURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/error.h"

/* the checks of types that curl.h has are macros of the functions' names */
#undef curl_easy_getinfo
#undef curl_easy_setopt

#define TO_CURL_FUNCTIONS(X)							\
	X(easy_cleanup) X(easy_getinfo) X(easy_perform) X(easy_setopt)		\
	X(easy_strerror) X(global_init)						\
	X(multi_add_handle) X(multi_cleanup) X(multi_info_read) X(multi_init)	\
	X(multi_perform) X(multi_poll) X(multi_remove_handle)			\
	X(slist_append) X(slist_free_all)

/**
 * struct to_curl - libcurl's functions, for those who have called to_lazy_curl()
 *
 * Handles are made by to_curl_handle() and to_curl_reset() alone, so none has libcurl's defaults.
 */
struct to_curl {
#define X(name) __typeof__(curl_##name) *name;
	TO_CURL_FUNCTIONS(X)
#undef X
};

extern struct to_curl to_curl;

/** to_lazy_curl() - load libcurl; returns what to_lazy_load() does */
int to_lazy_curl(struct to_error *err);

/**
 * to_curl_handle() - make a handle that speaks HTTP to the host of its URL, and to no other
 *
 * No proxy of the environment gets a request with the password in it, no redirect is followed,
 * no other scheme is used and no password of ~/.netrc is sent.
 *
 * Return: a handle for easy_cleanup(), NULL when out of memory.
 */
CURL *to_curl_handle(void);

/** to_curl_reset() - bring a handle back to the state that to_curl_handle() has left it in */
void to_curl_reset(CURL *curl);

#endif
