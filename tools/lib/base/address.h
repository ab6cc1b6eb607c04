/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ADDRESS_H
#define TOPOOPT_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>

/** struct to_address - IPv4 and IPv6 address of a server or port */
struct to_address {
	bool has_v4, has_v6;
	struct in_addr v4;
	struct in6_addr v6;
};

#endif
