/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_XDP_FEATURES_H
#define TOPOOPT_XDP_FEATURES_H

/* What the kernel says that a driver can do with XDP, from Linux 6.3 on. */

#include <stdint.h>

/** enum to_xdp_sends - whether a driver now sends what XDP redirects */
enum to_xdp_sends { TO_XDP_SENDS_UNKNOWN, TO_XDP_SENDS_NOT, TO_XDP_SENDS };

/** to_xdp_features_sends() - ask the kernel whether an interface sends what XDP redirects */
enum to_xdp_sends to_xdp_features_sends(uint32_t ifindex);

#endif
