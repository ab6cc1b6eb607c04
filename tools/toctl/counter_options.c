// SPDX-License-Identifier: GPL-2.0-or-later
#include "counter_options.h"

int to_counter_options_parse(struct to_call *call, const char *text,
			     struct to_counter_names *names)
{
	struct to_error why;

	if (text && to_counter_names_parse(text, names, &why))
		return to_usage(call, "--nic-counters: %s", why.text);
	return 0;
}
