// SPDX-License-Identifier: GPL-2.0-or-later
#include "counter_options.h"

int to_counter_options_parse(struct to_call *call, const struct to_counter_options *options,
			     struct to_counter_names *names)
{
	struct to_error why;

	if (!options->names)
		return options->fcs ? to_usage(call, "--fcs goes with --nic-counters") : 0;
	if (to_counter_names_parse(options->names, names, &why))
		return to_usage(call, "--nic-counters: %s", why.text);
	names->fcs = options->fcs;
	return 0;
}
