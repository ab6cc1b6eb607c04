// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/router.h"

#include <stdlib.h>

void to_router_free(struct to_router *router)
{
	if (!router)
		return;
	to_network_free(router->network);
	if (router->optical)
		router->optical_free(router->optical);
	free(router->alike);
	router->ops->free(router);
}
