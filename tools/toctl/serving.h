/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_SERVING_H
#define TOCTL_SERVING_H

#include "cli/command.h"

typedef void (*to_serving_fn)(const char *url);

/** to_serving() - return a function that prints where a page is served; NULL with -q */
to_serving_fn to_serving(const struct to_call *call);

#endif
