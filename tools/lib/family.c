// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>

#include "family.h"

const struct to_family *const to_families[] = {
	&to_family_totient,
	NULL
};
