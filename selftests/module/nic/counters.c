// SPDX-License-Identifier: GPL-2.0
/* Counters of functions and ports, as the statistics show them. */

#include <linux/ethtool.h>

#include "nic.h"

/* As mlx5 calls them. */
static const char *const nic_counters_text[NIC_COUNTER_NAMES] = {
	[NIC_RX_PACKETS] = "rx_packets",
	[NIC_RX_BYTES] = "rx_bytes",
	[NIC_TX_PACKETS] = "tx_packets",
	[NIC_TX_BYTES] = "tx_bytes",
	[NIC_RX_OUT_OF_BUFFER] = "rx_out_of_buffer",
	[NIC_RX_STEER_MISSED] = "rx_steer_missed_packets",
	[NIC_RX_OVERSIZE] = "rx_oversize_pkts_sw_drop",
	[NIC_RX_RDMA] = "rx_vport_rdma_unicast_packets",
	[NIC_RX_XDP_DROP] = "rx_xdp_drop",
	[NIC_RX_XDP_REDIRECT] = "rx_xdp_redirect",
	[NIC_RX_XDP_TX] = "rx_xdp_tx_xmit",
	[NIC_TX_XDP_XMIT] = "tx_xdp_xmit",
	[NIC_TX_XDP_FULL] = "tx_xdp_full",
	[NIC_TX_XDP_REFUSED] = "tx_xdp_err",
	[NIC_COUNTERS + NIC_RX_PACKETS_PHY] = "rx_packets_phy",
	[NIC_COUNTERS + NIC_RX_BYTES_PHY] = "rx_bytes_phy",
	[NIC_COUNTERS + NIC_TX_PACKETS_PHY] = "tx_packets_phy",
	[NIC_COUNTERS + NIC_TX_BYTES_PHY] = "tx_bytes_phy",
	[NIC_COUNTERS + NIC_RX_DISCARDS_PHY] = "rx_discards_phy",
	[NIC_COUNTERS + NIC_TX_PRIO_PHY + 0] = "tx_prio0_packets",
	[NIC_COUNTERS + NIC_TX_PRIO_PHY + 1] = "tx_prio1_packets",
	[NIC_COUNTERS + NIC_TX_PRIO_PHY + 2] = "tx_prio2_packets",
	[NIC_COUNTERS + NIC_TX_PRIO_PHY + 3] = "tx_prio3_packets",
	[NIC_COUNTERS + NIC_TX_PRIO_PHY + 4] = "tx_prio4_packets",
	[NIC_COUNTERS + NIC_TX_PRIO_PHY + 5] = "tx_prio5_packets",
	[NIC_COUNTERS + NIC_TX_PRIO_PHY + 6] = "tx_prio6_packets",
	[NIC_COUNTERS + NIC_TX_PRIO_PHY + 7] = "tx_prio7_packets",
};

void nic_counters_names(u8 *text)
{
	int i;

	for (i = 0; i < NIC_COUNTER_NAMES; i++)
		strscpy(text + i * ETH_GSTRING_LEN, nic_counters_text[i], ETH_GSTRING_LEN);
}

/* Add up what all processors have counted. */
static void nic_counters_sum(const struct nic_function *f, struct nic_sums *sums)
{
	int cpu, i;

	memset(sums, 0, sizeof(*sums));
	for_each_possible_cpu(cpu) {
		const struct nic_percpu *function = per_cpu_ptr(f->stats, cpu);
		const struct nic_phy_percpu *port = per_cpu_ptr(f->port->stats, cpu);

		for (i = 0; i < NIC_COUNTERS; i++)
			sums->function[i] += READ_ONCE(function->function[i]);
		for (i = 0; i < NIC_PHY_COUNTERS; i++)
			sums->port[i] += READ_ONCE(port->port[i]);
	}
}

/* Sums since the counters began. */
static void nic_counters_since(const struct nic_function *f, struct nic_sums *sums)
{
	int i;

	lockdep_assert_held(&f->stats_lock);
	nic_counters_sum(f, sums);
	for (i = 0; i < NIC_COUNTERS; i++)
		sums->function[i] -= f->base.function[i];
}

static void nic_counters_renew(struct work_struct *work)
{
	struct nic_function *f = container_of(work, struct nic_function, renewal.work);
	u32 ms = READ_ONCE(f->traits->stats_ms);

	spin_lock_bh(&f->stats_lock);
	nic_counters_since(f, &f->shown);
	spin_unlock_bh(&f->stats_lock);
	if (ms)
		schedule_delayed_work(&f->renewal, msecs_to_jiffies(ms));
}

/* Statistics, of the last renewal if that is how the function is. */
void nic_counters_get(struct nic_function *f, struct nic_sums *sums)
{
	spin_lock_bh(&f->stats_lock);
	if (READ_ONCE(f->traits->stats_ms))
		*sums = f->shown;
	else
		nic_counters_since(f, sums);
	spin_unlock_bh(&f->stats_lock);
}

/* Begin anew. The port goes on counting. */
void nic_counters_reset(struct nic_function *f)
{
	spin_lock_bh(&f->stats_lock);
	nic_counters_sum(f, &f->base);
	nic_counters_since(f, &f->shown);
	spin_unlock_bh(&f->stats_lock);
}

void nic_counters_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	struct nic_function *f = netdev_priv(dev);
	struct nic_sums sums;

	nic_counters_get(f, &sums);
	stats->rx_packets = sums.function[NIC_RX_PACKETS];
	stats->rx_bytes = sums.function[NIC_RX_BYTES];
	stats->tx_packets = sums.function[NIC_TX_PACKETS];
	stats->tx_bytes = sums.function[NIC_TX_BYTES];
	stats->rx_missed_errors = sums.function[NIC_RX_OUT_OF_BUFFER];
	stats->rx_length_errors = sums.function[NIC_RX_OVERSIZE];
}

void nic_counters_init(struct nic_function *f)
{
	spin_lock_init(&f->stats_lock);
	INIT_DELAYED_WORK(&f->renewal, nic_counters_renew);
}

/* Renew now, and then once a period, if there is one. */
void nic_counters_start(struct nic_function *f)
{
	mod_delayed_work(system_wq, &f->renewal, 0);
}

/* Renew no more; nobody calls nic_counters_start() again. */
void nic_counters_stop(struct nic_function *f)
{
	cancel_delayed_work_sync(&f->renewal);
}
