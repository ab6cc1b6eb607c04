// SPDX-License-Identifier: GPL-2.0
/*
 * Frames that XDP redirected and that were refused or dropped. The program cannot know:
 * the kernel checks the egress device, and hands it frames in bulk, after the program
 * returned. It reports both by tracepoints only.
 */

#include <linux/bpf.h>
#include <linux/tracepoint.h>

#include "topoopt.h"

/* The port of the same topoopt device that transmits through interface @tx. */
static struct topoopt_port *topoopt_drops_port(const struct net_device *from, u32 tx)
{
	const struct topoopt_port *in;
	unsigned int slot;

	if (!topoopt_port_receives(from))
		return NULL;
	in = rcu_dereference(from->rx_handler_data);
	for (slot = 0; slot < TOPOOPT_MAX_PORTS; slot++) {
		struct topoopt_port *port = rcu_dereference(in->tdev->ports[slot]);

		if (port && rcu_dereference(port->tx)->ifindex == tx)
			return port;
	}
	return NULL;
}

/* Bottom halves are off. */
static void topoopt_drops_count(const struct net_device *from, u32 tx, int drops, int error)
{
	struct topoopt_port *port;

	rcu_read_lock();
	port = topoopt_drops_port(from, tx);
	if (port) {
		topoopt_stats_add(port->stats, TOPOOPT_DROP_TX, drops);
		WRITE_ONCE(port->xdp_error, error);
		WRITE_ONCE(port->xdp_ifindex, 0);
	}
	rcu_read_unlock();
}

/* Arguments of the tracepoint xdp_devmap_xmit. A full ring is no error to drivers. */
static void topoopt_drops_xmit(void *data, const struct net_device *from,
			       const struct net_device *to, int sent, int drops, int err)
{
	if (unlikely(drops > 0))
		topoopt_drops_count(from, to->ifindex, drops, -err ?: ENOBUFS);
}

/* Arguments of xdp_redirect_err. Without a map, @index is what was redirected to. */
static void topoopt_drops_refused(void *data, const struct net_device *from,
				  const struct bpf_prog *program, const void *target,
				  int err, enum bpf_map_type type, u32 map, u32 index)
{
	if (type == BPF_MAP_TYPE_UNSPEC)
		topoopt_drops_count(from, index, 1, -err);
}

static struct topoopt_drops_probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;	/* NULL where the kernel has none */
} topoopt_drops_probes[] = {
	{ "xdp_devmap_xmit", topoopt_drops_xmit },
	{ "xdp_redirect_err", topoopt_drops_refused },
};

static void topoopt_drops_find(struct tracepoint *tracepoint, void *data)
{
	struct topoopt_drops_probe *probe = data;

	if (!strcmp(tracepoint->name, probe->name))
		probe->tracepoint = tracepoint;
}

/* Without the tracepoints, only the driver's own counters show such drops. */
void topoopt_drops_init(void)
{
	struct topoopt_drops_probe *probe;
	int i;

	for (i = 0; i < ARRAY_SIZE(topoopt_drops_probes); i++) {
		probe = &topoopt_drops_probes[i];
		for_each_kernel_tracepoint(topoopt_drops_find, probe);
		if (probe->tracepoint &&
		    tracepoint_probe_register(probe->tracepoint, probe->function, NULL))
			probe->tracepoint = NULL;
	}
}

void topoopt_drops_exit(void)
{
	const struct topoopt_drops_probe *probe;
	int i;

	for (i = 0; i < ARRAY_SIZE(topoopt_drops_probes); i++) {
		probe = &topoopt_drops_probes[i];
		if (probe->tracepoint)
			tracepoint_probe_unregister(probe->tracepoint, probe->function, NULL);
	}
	tracepoint_synchronize_unregister();
}
