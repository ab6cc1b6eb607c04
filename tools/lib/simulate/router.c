// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/router.h"

void to_router_free(struct to_router *router)
{
	if (!router)
		return;
	to_network_free(router->network);
	router->ops->free(router);
}
