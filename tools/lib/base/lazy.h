/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LAZY_H
#define TOPOOPT_LAZY_H

/*
 * Libraries that are loaded when first needed, as systemd does: linked with
 * libcurl, which brings thirty others, toctl would start in six times the time.
 */

#include <stddef.h>

#include "base/error.h"

struct to_lazy_symbol {
	const char *name;
	void **pointer;
};

/**
 * to_lazy_load() - load a shared library and find functions of it
 * @soname: e.g. "libcurl.so.4"
 *
 * May be called again, and from any thread.
 *
 * Return: 0, or -ENOENT when the library or a function of it is missing.
 */
int to_lazy_load(const char *soname, const struct to_lazy_symbol *symbols, size_t n_symbols,
		 struct to_error *err);

#endif
