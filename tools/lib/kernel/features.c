// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/features.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int features_ioctl(int fd, const char *ifname, void *data)
{
	struct ifreq request = { .ifr_data = data };

	snprintf(request.ifr_name, IFNAMSIZ, "%s", ifname);
	return ioctl(fd, SIOCETHTOOL, &request);
}

static bool features_fill(struct to_features *f, int fd, const char *ifname)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t n;
	} sset = { .info = { .cmd = ETHTOOL_GSSET_INFO,
			     .sset_mask = 1ULL << ETH_SS_FEATURES } };
	unsigned int blocks;

	if (features_ioctl(fd, ifname, &sset) || !sset.info.sset_mask)
		return false;
	blocks = (sset.n + 31) / 32;
	f->names = calloc(1, sizeof(*f->names) + (size_t)sset.n * ETH_GSTRING_LEN);
	f->blocks = calloc(1, sizeof(*f->blocks) + blocks * sizeof(f->blocks->features[0]));
	if (!f->names || !f->blocks)
		return false;
	f->names->cmd = ETHTOOL_GSTRINGS;
	f->names->string_set = ETH_SS_FEATURES;
	f->names->len = sset.n;
	f->blocks->cmd = ETHTOOL_GFEATURES;
	f->blocks->size = blocks;
	if (features_ioctl(fd, ifname, f->names) || features_ioctl(fd, ifname, f->blocks))
		return false;
	f->n = sset.n;
	return true;
}

bool to_features_read(struct to_features *features, const char *ifname)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool told;

	*features = (struct to_features){};
	told = fd >= 0 && features_fill(features, fd, ifname);
	if (fd >= 0)
		close(fd);
	return told;
}

bool to_features_on(const struct to_features *features, const char *name)
{
	for (unsigned int i = 0; i < features->n; i++)
		if (!strncmp((const char *)features->names->data + (size_t)i * ETH_GSTRING_LEN,
			     name, ETH_GSTRING_LEN))
			return features->blocks->features[i / 32].active & 1u << i % 32;
	return false;
}

void to_features_free(struct to_features *features)
{
	free(features->names);
	free(features->blocks);
}
