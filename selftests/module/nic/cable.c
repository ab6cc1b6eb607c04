// SPDX-License-Identifier: GPL-2.0
/* Cables between ports, and the carrier that functions have of them. */

#include "nic.h"

/* Of cables, of the functions of ports, and of which of these are up. */
DEFINE_SPINLOCK(nic_cable_lock);

static struct nic_port *nic_cable_peer(const struct nic_port *port)
{
	return rcu_dereference_protected(port->peer, lockdep_is_held(&nic_cable_lock));
}

static struct nic_function *nic_cable_function(const struct nic_port *port, unsigned int link)
{
	return rcu_dereference_protected(port->function[link], lockdep_is_held(&nic_cable_lock));
}

/* A port sends light while one of its functions is up. */
static bool nic_cable_shines(const struct nic_port *port)
{
	unsigned int l;

	for (l = 0; l < NIC_LINKS; l++) {
		const struct nic_function *f = nic_cable_function(port, l);

		if (f && f->up)
			return true;
	}
	return false;
}

static void nic_cable_carrier(struct nic_port *port, bool up)
{
	unsigned int l;

	WRITE_ONCE(port->up, up);
	for (l = 0; l < NIC_LINKS; l++) {
		struct nic_function *f = nic_cable_function(port, l);

		if (f && f->up && up)
			netif_carrier_on(f->dev);
		else if (f)
			netif_carrier_off(f->dev);
	}
}

/* Bring carrier up to date at both ends of a port's cable. */
static void nic_cable_update(struct nic_port *port)
{
	struct nic_port *peer = nic_cable_peer(port);
	bool up = peer && nic_cable_shines(port) && nic_cable_shines(peer);

	nic_cable_carrier(port, up);
	if (peer)
		nic_cable_carrier(peer, up);
}

/* Join two ports without a cable. A port may be joined to itself: a loopback plug. */
int nic_cable_connect(struct nic_port *a, struct nic_port *b)
{
	int err = -EBUSY;

	spin_lock_bh(&nic_cable_lock);
	if (!nic_cable_peer(a) && !nic_cable_peer(b)) {
		rcu_assign_pointer(a->peer, b);
		rcu_assign_pointer(b->peer, a);
		nic_cable_update(a);
		err = 0;
	}
	spin_unlock_bh(&nic_cable_lock);
	return err;
}

/* Take a port's cable out, if there is one. */
void nic_cable_cut(struct nic_port *port)
{
	struct nic_port *peer;

	spin_lock_bh(&nic_cable_lock);
	peer = nic_cable_peer(port);
	if (peer) {
		RCU_INIT_POINTER(port->peer, NULL);
		RCU_INIT_POINTER(peer->peer, NULL);
		nic_cable_update(port);
		nic_cable_update(peer);
	}
	spin_unlock_bh(&nic_cable_lock);
}

/* Let a function send and receive, once its network device is registered. */
void nic_cable_attach(struct nic_function *f)
{
	spin_lock_bh(&nic_cable_lock);
	rcu_assign_pointer(f->port->function[f->link], f);
	nic_cable_update(f->port);
	nic_counters_start(f);
	spin_unlock_bh(&nic_cable_lock);
}

/* Undo nic_cable_attach(). Senders may see the function for a grace period. */
void nic_cable_detach(struct nic_function *f)
{
	spin_lock_bh(&nic_cable_lock);
	RCU_INIT_POINTER(f->port->function[f->link], NULL);
	nic_cable_update(f->port);
	spin_unlock_bh(&nic_cable_lock);
}

/* A function has been opened, or is being closed. */
void nic_cable_set_up(struct nic_function *f, bool up)
{
	spin_lock_bh(&nic_cable_lock);
	f->up = up;
	nic_cable_update(f->port);
	spin_unlock_bh(&nic_cable_lock);
}

/* The period of a function's statistics has changed. */
void nic_cable_renew(struct nic_port *port, unsigned int link)
{
	struct nic_function *f;

	spin_lock_bh(&nic_cable_lock);
	f = nic_cable_function(port, link);
	if (f)
		nic_counters_start(f);
	spin_unlock_bh(&nic_cable_lock);
}
