// SPDX-License-Identifier: GPL-2.0-or-later
#include "lazy_ncurses.h"

#include "base/lazy.h"

struct to_ncurses to_ncurses;

int to_lazy_ncurses(struct to_error *err)
{
#define X(name) { #name, (void **)&to_ncurses.name },
	static const struct to_lazy_symbol symbols[] = { TO_NCURSES_FUNCTIONS(X) };
#undef X

	return to_lazy_load("libncursesw.so.6", symbols, sizeof(symbols) / sizeof(symbols[0]), err);
}
