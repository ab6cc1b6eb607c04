// SPDX-License-Identifier: GPL-2.0
/*
 * What a test may switch of a function: debugfs files topoopt_nic/PCI-ADDRESS/NAME. They
 * outlive the function, as a driver may be unbound and bound again.
 */

#include <linux/debugfs.h>

#include "nic.h"

struct dentry *nic_traits_root;

static int nic_traits_get_stats_ms(void *data, u64 *value)
{
	const struct nic_traits *traits = data;

	*value = traits->stats_ms;
	return 0;
}

static int nic_traits_set_stats_ms(void *data, u64 value)
{
	struct nic_traits *traits = data;

	if (value > 3600 * MSEC_PER_SEC)
		return -ERANGE;
	WRITE_ONCE(traits->stats_ms, value);
	nic_cable_renew(traits->port, traits->link);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(nic_traits_stats_ms, nic_traits_get_stats_ms, nic_traits_set_stats_ms,
			 "%llu\n");

void nic_traits_add(struct nic_port *port, unsigned int link, const char *name)
{
	struct nic_traits *traits = &port->traits[link];

	traits->port = port;
	traits->link = link;
	traits->linear = NIC_LINEAR_MAX;
	traits->dir = debugfs_create_dir(name, nic_traits_root);
	debugfs_create_u32("linear", 0600, traits->dir, &traits->linear);
	traits->redirect = true;
	traits->send_frags = true;
	debugfs_create_bool("send_frags", 0600, traits->dir, &traits->send_frags);
	debugfs_create_bool("redirect", 0600, traits->dir, &traits->redirect);
	debugfs_create_bool("rdma", 0600, traits->dir, &traits->rdma);
	debugfs_create_file_unsafe("stats_ms", 0600, traits->dir, traits, &nic_traits_stats_ms);
	debugfs_create_bool("reset_stats", 0600, traits->dir, &traits->reset_stats);
}

void nic_traits_remove(struct nic_traits *traits)
{
	debugfs_remove(traits->dir);
}
