// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/health.h"

#include <stddef.h>

const char *const to_health_words[] = {
	[TO_HEALTH_HEALTHY] = "healthy", [TO_HEALTH_DEGRADED] = "degraded",
	[TO_HEALTH_BROKEN] = "broken", NULL
};
