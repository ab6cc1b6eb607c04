// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "simulate/optical.h"

void to_router_free(struct to_router *router)
{
	if (!router)
		return;
	to_network_free(router->network);
	to_optical_free(router->optical);
	free(router->alike);
	router->ops->free(router);
}
