// SPDX-License-Identifier: GPL-2.0-or-later
#include "http/lazy_microhttpd.h"

#include "base/lazy.h"

struct to_mhd to_mhd;

int to_lazy_microhttpd(struct to_error *err)
{
#define X(name) { "MHD_" #name, (void **)&to_mhd.name },
	static const struct to_lazy_symbol symbols[] = { TO_MHD_FUNCTIONS(X) };
#undef X

	return to_lazy_load("libmicrohttpd.so.12", symbols, sizeof(symbols) / sizeof(symbols[0]),
			    err);
}
