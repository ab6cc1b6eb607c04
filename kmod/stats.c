// SPDX-License-Identifier: GPL-2.0
/* Counters of ports and of the device. */

#include "topoopt.h"

void topoopt_stats_read(const struct topoopt_stats __percpu *stats,
			u64 sum[TOPOOPT_COUNTERS])
{
	u64 value[TOPOOPT_COUNTERS];
	unsigned int start, i;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct topoopt_stats *s = per_cpu_ptr(stats, cpu);

		do {
			start = u64_stats_fetch_begin(&s->syncp);
			for (i = 0; i < TOPOOPT_COUNTERS; i++)
				value[i] = u64_stats_read(&s->counter[i]);
		} while (u64_stats_fetch_retry(&s->syncp, start));

		for (i = 0; i < TOPOOPT_COUNTERS; i++)
			sum[i] += value[i];
		sum[TOPOOPT_RELAY_RX_PACKETS] += value[TOPOOPT_RELAY_XDP_PACKETS] +
						 value[TOPOOPT_RELAY_XDP_GENERIC_PACKETS];
	}
}

void topoopt_stats_port(const struct topoopt_port *port,
			u64 sum[TOPOOPT_COUNTERS])
{
	memset(sum, 0, TOPOOPT_COUNTERS * sizeof(*sum));
	topoopt_stats_read(port->stats, sum);
}

void topoopt_stats_device(struct topoopt_dev *tdev, u64 sum[TOPOOPT_COUNTERS])
{
	const struct topoopt_port *port;

	spin_lock_bh(&tdev->port_lock);
	memcpy(sum, tdev->past, sizeof(tdev->past));
	list_for_each_entry(port, &tdev->port_list, list)
		topoopt_stats_read(port->stats, sum);
	spin_unlock_bh(&tdev->port_lock);
	topoopt_stats_read(tdev->stats, sum);
}

void topoopt_stats_retire(struct topoopt_port *port)
{
	struct topoopt_dev *tdev = port->tdev;

	spin_lock_bh(&tdev->port_lock);
	list_del(&port->list);
	topoopt_stats_read(port->stats, tdev->past);
	spin_unlock_bh(&tdev->port_lock);
}
