// SPDX-License-Identifier: GPL-2.0
/* Whether packets go through a port: its light, and what its neighbours say. */

#include "output.h"
#include "topoopt.h"

/* Takes a VLAN tag out of the frame, 802.1Q or 802.1ad. */
#define TOPOOPT_LIVENESS_STRIPS	(NETIF_F_HW_VLAN_CTAG_RX | NETIF_F_HW_VLAN_STAG_RX)

/* Whether a driver redirects frames for a program in it. */
static bool topoopt_liveness_redirects(const struct net_device *dev)
{
#ifdef TOPOOPT_HAVE_XDP_FEATURES
	return dev->xdp_features & NETDEV_XDP_ACT_REDIRECT;
#else
	return dev->netdev_ops->ndo_bpf;	/* before 6.3, no driver says so */
#endif
}

/*
 * Whether packets may be relayed through the port, and whether XDP may take frames from
 * the port and send frames through it. XDP does not see a VLAN tag that the NIC strips:
 * a frame it redirects would lose the tag and its priority. Some drivers, as nfp, run
 * programs but drop what they redirect. Ends every change of a port, so it moves the
 * dump sequence. Under topoopt_dev.live_lock, and RCU or RTNL.
 */
static void topoopt_liveness_update(struct topoopt_port *port)
{
	bool up = netif_running(port->tdev->dev), live = topoopt_port_live(port);
	bool receives = up && !(port->dev->features & TOPOOPT_LIVENESS_STRIPS);
	bool transmits;

	WRITE_ONCE(port->relay_ifindex, live && up ? port->ifindex : 0);
	WRITE_ONCE(port->xdp_generic, receives);
	WRITE_ONCE(port->xdp, receives && topoopt_liveness_redirects(port->dev));
	if (!topoopt_port_lit(port))
		WRITE_ONCE(port->xdp_error, 0);
	transmits = live && !READ_ONCE(port->xdp_error) &&
		    port->xdp_classes & BIT(TOPOOPT_TRAFFIC_CLASS_ROCE) &&
		    topoopt_output_xdp(rcu_dereference_rtnl(port->tx), false);
	WRITE_ONCE(port->xdp_ifindex, transmits ? port->ifindex : 0);
	smp_wmb();	/* pairs with topoopt_request_port_seq() */
	WRITE_ONCE(port->tdev->port_seq, topoopt_seq_next(port->tdev->port_seq));
	smp_wmb();	/* what changes next comes after it */
}

void topoopt_liveness_refresh(struct topoopt_port *port)
{
	spin_lock_bh(&port->tdev->live_lock);
	topoopt_liveness_update(port);
	spin_unlock_bh(&port->tdev->live_lock);
}

/* Under topoopt_dev.live_lock. */
static void topoopt_liveness_set(struct topoopt_dev *tdev, u64 live)
{
	/* Pairs with topoopt_port_live_slots(). */
	smp_store_release(&tdev->live, live);
}

bool topoopt_liveness_light(struct topoopt_port *port, bool light)
{
	struct topoopt_dev *tdev = port->tdev;
	u64 news;

	spin_lock_bh(&tdev->live_lock);
	WRITE_ONCE(tdev->light, light ? tdev->light | port->bit : tdev->light & ~port->bit);
	topoopt_liveness_set(tdev, tdev->light & ~tdev->silent);
	topoopt_liveness_update(port);
	news = (tdev->live ^ tdev->told) & port->bit;
	tdev->told ^= news;
	spin_unlock_bh(&tdev->live_lock);
	return news;
}

void topoopt_liveness_silence(struct topoopt_dev *tdev, u64 silent)
{
	u64 before = tdev->live, now = tdev->light & ~silent;
	struct topoopt_port *port;
	unsigned int slot;

	lockdep_assert_held(&tdev->live_lock);
	tdev->silent = silent;
	topoopt_liveness_set(tdev, now);
	for (slot = 0; slot < TOPOOPT_MAX_PORTS; slot++) {
		port = rcu_dereference(tdev->ports[slot]);
		if (port && (before ^ now) & port->bit)
			topoopt_liveness_update(port);
	}
}

bool topoopt_liveness_tell(struct topoopt_dev *tdev, u64 slots)
{
	u64 news = (tdev->live ^ tdev->told) & slots;
	struct topoopt_port *port;
	unsigned int slot;

	lockdep_assert_held(&tdev->live_lock);
	tdev->told ^= news;
	for (slot = 0; slot < TOPOOPT_MAX_PORTS; slot++) {
		port = rcu_dereference(tdev->ports[slot]);
		if (port && news & port->bit)
			topoopt_notify_port(tdev, port, GFP_ATOMIC);
	}
	return news;
}
