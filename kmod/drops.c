// SPDX-License-Identifier: GPL-2.0
/*
 * Frames that XDP redirected and the driver dropped. The program cannot know: the
 * kernel hands frames to the driver in bulk, after the program returned. It reports
 * drops by a tracepoint only.
 */

#include <linux/tracepoint.h>

#include "topoopt.h"

static struct tracepoint *topoopt_drops_tracepoint;

/* The port of the same topoopt device that transmits through @tx. */
static struct topoopt_port *topoopt_drops_port(const struct net_device *from,
					       const struct net_device *tx)
{
	const struct topoopt_port *in;
	unsigned int slot;

	if (!topoopt_port_receives(from))
		return NULL;
	in = rcu_dereference(from->rx_handler_data);
	for (slot = 0; slot < TOPOOPT_MAX_PORTS; slot++) {
		struct topoopt_port *port = rcu_dereference(in->tdev->ports[slot]);

		if (port && rcu_access_pointer(port->tx) == tx)
			return port;
	}
	return NULL;
}

/* Arguments of the tracepoint xdp_devmap_xmit. Bottom halves are off. */
static void topoopt_drops_probe(void *data, const struct net_device *from,
				const struct net_device *to, int sent, int drops,
				int err)
{
	struct topoopt_port *port;

	if (likely(drops <= 0))
		return;
	rcu_read_lock();
	port = topoopt_drops_port(from, to);
	if (port) {
		topoopt_stats_add(port->stats, TOPOOPT_DROP_TX, drops);
		WRITE_ONCE(port->lossy, true);
		WRITE_ONCE(port->xdp_tx, false);
	}
	rcu_read_unlock();
}

static void topoopt_drops_find(struct tracepoint *tracepoint, void *found)
{
	if (!strcmp(tracepoint->name, "xdp_devmap_xmit"))
		*(struct tracepoint **)found = tracepoint;
}

/* Without the tracepoint, only the driver's own counters show such drops. */
void topoopt_drops_init(void)
{
	struct tracepoint *found = NULL;

	for_each_kernel_tracepoint(topoopt_drops_find, &found);
	if (found && !tracepoint_probe_register(found, topoopt_drops_probe, NULL))
		topoopt_drops_tracepoint = found;
}

void topoopt_drops_exit(void)
{
	if (!topoopt_drops_tracepoint)
		return;
	tracepoint_probe_unregister(topoopt_drops_tracepoint, topoopt_drops_probe, NULL);
	tracepoint_synchronize_unregister();
}
