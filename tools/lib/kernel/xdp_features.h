/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_XDP_FEATURES_H
#define TOPOOPT_XDP_FEATURES_H

/* What the kernel says that a driver can do with XDP, from Linux 6.3 on. */

#include <stdint.h>

/** enum to_xdp_ability - answer of the kernel to whether a driver can do something now */
enum to_xdp_ability { TO_XDP_UNKNOWN, TO_XDP_CANNOT, TO_XDP_CAN };

/** struct to_xdp_features - what a driver can do now */
struct to_xdp_features {
	enum to_xdp_ability redirect;	/* frames that it receives, to where a program says */
	enum to_xdp_ability send;	/* frames that others redirect to it */
	enum to_xdp_ability send_frags;	/* and of several buffers */
};

/** to_xdp_features() - ask the kernel what the driver of an interface can do now */
struct to_xdp_features to_xdp_features(uint32_t ifindex);

#endif
