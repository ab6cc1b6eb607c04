// SPDX-License-Identifier: GPL-2.0-or-later
#include "serving.h"

static void serving_print(const char *url)
{
	fprintf(stderr, "serving %s\n", url);
}

to_serving_fn to_serving(const struct to_call *call)
{
	return call->quiet ? NULL : serving_print;
}
