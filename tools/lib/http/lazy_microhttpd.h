/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LAZY_MICROHTTPD_H
#define TOPOOPT_LAZY_MICROHTTPD_H

#include <microhttpd.h>

#include "base/error.h"

#define TO_MHD_FUNCTIONS(X)							\
	X(add_response_header) X(basic_auth_get_username_password)		\
	X(create_response_from_buffer) X(create_response_from_callback)		\
	X(destroy_response) X(free) X(get_connection_info)			\
	X(lookup_connection_value) X(queue_basic_auth_fail_response)		\
	X(queue_response) X(resume_connection) X(start_daemon) X(stop_daemon)	\
	X(suspend_connection)

/** struct to_mhd - libmicrohttpd's functions, for those who have called to_lazy_microhttpd() */
struct to_mhd {
#define X(name) __typeof__(MHD_##name) *name;
	TO_MHD_FUNCTIONS(X)
#undef X
};

extern struct to_mhd to_mhd;

/** to_lazy_microhttpd() - load libmicrohttpd; returns what to_lazy_load() does */
int to_lazy_microhttpd(struct to_error *err);

#endif
