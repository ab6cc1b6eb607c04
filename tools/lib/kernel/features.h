/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TO_KERNEL_FEATURES_H
#define TO_KERNEL_FEATURES_H

#include <stdbool.h>

struct ethtool_gfeatures;
struct ethtool_gstrings;

/** struct to_features - a NIC's offloads, as ethtool -k lists them */
struct to_features {
	unsigned int n;
	struct ethtool_gstrings *names;
	struct ethtool_gfeatures *blocks;
};

/**
 * to_features_read() - read the offloads of an interface
 * @features: to be freed with to_features_free(), whatever this returns
 *
 * Return: false when the kernel does not tell.
 */
bool to_features_read(struct to_features *features, const char *ifname);

/** to_features_on() - whether an offload is on, by the kernel's name for it */
bool to_features_on(const struct to_features *features, const char *name);

void to_features_free(struct to_features *features);

#endif
