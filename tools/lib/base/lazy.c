// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/lazy.h"

#include <dlfcn.h>
#include <errno.h>

int to_lazy_load(const char *soname, const struct to_lazy_symbol *symbols, size_t n_symbols,
		 struct to_error *err)
{
	/* never closed: a second call finds it loaded */
	void *library = dlopen(soname, RTLD_NOW);

	if (!library)
		return to_error_set(err, -ENOENT, "%s", dlerror());
	for (size_t i = 0; i < n_symbols; i++) {
		void *found = dlsym(library, symbols[i].name);

		if (!found)
			return to_error_set(err, -ENOENT, "%s", dlerror());
		__atomic_store_n(symbols[i].pointer, found, __ATOMIC_RELAXED);
	}
	return 0;
}
