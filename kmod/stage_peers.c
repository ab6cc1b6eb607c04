// SPDX-License-Identifier: GPL-2.0
/* Stages: the neighbours that a table expects, and how they are checked. */

#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "continuity.h"
#include "netlink.h"
#include "netlink_policy.h"
#include "stage_peers.h"

int topoopt_stage_port(const struct topoopt_dev *tdev, const struct nlattr *attr,
		       u32 *ifindex, u16 *slot, struct netlink_ext_ack *extack)
{
	const struct topoopt_port *port;

	*ifindex = nla_get_u32(attr);
	rcu_read_lock();
	port = topoopt_port_find(tdev, *ifindex);
	if (port)
		*slot = port->slot;
	rcu_read_unlock();
	if (!port) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "Not a port of the device");
		return -ENODEV;
	}
	return 0;
}

#define TOPOOPT_STAGE_CHECK						\
	(BIT(TOPOOPT_A_CHECK_INTERVAL) | BIT(TOPOOPT_A_CHECK_FABRIC) |	\
	 BIT(TOPOOPT_A_CHECK_KEY) | BIT(TOPOOPT_A_CHECK_GRACE) |	\
	 BIT(TOPOOPT_A_CHECK_SERVER))

int topoopt_stage_check(struct topoopt_stage_peers *stage, const struct nlattr *check,
			struct netlink_ext_ack *extack)
{
	const struct nlattr *attr[TOPOOPT_A_CHECK_MAX + 1] = {}, *pos;
	int err, rem;

	err = topoopt_netlink_takes(check, TOPOOPT_STAGE_CHECK, extack);
	if (err)
		return err;
	nla_for_each_nested(pos, check, rem)
		attr[nla_type(pos)] = pos;
	if (!attr[TOPOOPT_A_CHECK_INTERVAL] || !attr[TOPOOPT_A_CHECK_FABRIC] ||
	    !attr[TOPOOPT_A_CHECK_SERVER]) {
		NL_SET_ERR_MSG_ATTR(extack, check,
				    "Checks without interval, fabric or server");
		return -EINVAL;
	}
	if (!topoopt_ccm_name_valid(nla_data(attr[TOPOOPT_A_CHECK_SERVER]),
				    TOPOOPT_CCM_SERVER)) {
		NL_SET_ERR_MSG_ATTR(extack, attr[TOPOOPT_A_CHECK_SERVER],
				    "Not a name of a server");
		return -EINVAL;
	}
	memset(&stage->check, 0, sizeof(stage->check));
	stage->check.interval = nla_get_u32(attr[TOPOOPT_A_CHECK_INTERVAL]);
	stage->check.fabric = nla_get_u64(attr[TOPOOPT_A_CHECK_FABRIC]);
	stage->check.grace_ms = attr[TOPOOPT_A_CHECK_GRACE] ?
				nla_get_u32(attr[TOPOOPT_A_CHECK_GRACE]) :
				TOPOOPT_STAGE_GRACE_MS;
	if (attr[TOPOOPT_A_CHECK_KEY])
		memcpy(&stage->check.key, nla_data(attr[TOPOOPT_A_CHECK_KEY]),
		       sizeof(stage->check.key));
	nla_strscpy(stage->check.server, attr[TOPOOPT_A_CHECK_SERVER],
		    sizeof(stage->check.server));
	return 0;
}

#define TOPOOPT_STAGE_PEER						\
	(BIT(TOPOOPT_A_PEER_PORT) | BIT(TOPOOPT_A_PEER_MAC) |		\
	 BIT(TOPOOPT_A_PEER_INDEX) | BIT(TOPOOPT_A_PEER_SERVER) |	\
	 BIT(TOPOOPT_A_PEER_SERVER_PORT))

int topoopt_stage_peer(const struct topoopt_dev *tdev, struct topoopt_stage_peers *stage,
		       const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr[TOPOOPT_A_PEER_MAX + 1] = {}, *pos;
	struct topoopt_peer *peer;
	int err, rem, type;

	err = topoopt_netlink_takes(nest, TOPOOPT_STAGE_PEER, extack);
	if (err)
		return err;
	nla_for_each_nested(pos, nest, rem)
		attr[nla_type(pos)] = pos;
	for (type = TOPOOPT_A_PEER_PORT; type <= TOPOOPT_A_PEER_SERVER_PORT; type++) {
		if (!attr[type]) {
			NL_SET_ERR_MSG_ATTR(extack, nest,
					    "A neighbour has port, mac, index, server and server-port");
			return -EINVAL;
		}
	}
	if (!is_valid_ether_addr(nla_data(attr[TOPOOPT_A_PEER_MAC]))) {
		NL_SET_ERR_MSG_ATTR(extack, attr[TOPOOPT_A_PEER_MAC],
				    "MAC address of a neighbour is not unicast");
		return -EINVAL;
	}
	if (stage->peers.count == TOPOOPT_STAGE_PEERS_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "Too many neighbours");
		return -ENOSPC;
	}
	peer = topoopt_array_push(&stage->peers);
	if (!peer)
		return -ENOMEM;
	memset(peer, 0, sizeof(*peer));
	err = topoopt_stage_port(tdev, attr[TOPOOPT_A_PEER_PORT], &peer->ifindex, &peer->slot,
				 extack);
	if (err) {
		topoopt_array_truncate(&stage->peers, stage->peers.count - 1);
		return err;
	}
	peer->index = nla_get_u32(attr[TOPOOPT_A_PEER_INDEX]);
	ether_addr_copy(peer->mac, nla_data(attr[TOPOOPT_A_PEER_MAC]));
	nla_strscpy(peer->server, attr[TOPOOPT_A_PEER_SERVER], sizeof(peer->server));
	nla_strscpy(peer->port, attr[TOPOOPT_A_PEER_SERVER_PORT], sizeof(peer->port));
	return 0;
}

static int topoopt_stage_order(const void *a, const void *b)
{
	return topoopt_peer_order(a, b);
}

struct topoopt_peers *topoopt_stage_peers_build(const struct topoopt_stage_peers *stage,
						struct netlink_ext_ack *extack)
{
	struct topoopt_peers *peers;
	u32 i, n = stage->peers.count;

	if (stage->check.interval == TOPOOPT_CHECK_INTERVAL_OFF)
		return NULL;
	peers = kvzalloc(struct_size(peers, peer, n), GFP_KERNEL_ACCOUNT);
	if (!peers)
		return ERR_PTR(-ENOMEM);
	refcount_set(&peers->users, 1);
	peers->interval = stage->check.interval;
	peers->fabric = stage->check.fabric;
	peers->key = stage->check.key;
	peers->grace_ms = stage->check.grace_ms;
	peers->grace = topoopt_continuity_ticks(peers->interval, stage->check.grace_ms);
	memcpy(peers->server, stage->check.server, sizeof(peers->server));
	peers->count = n;
	for (i = 0; i < n; i++)
		peers->peer[i] = *(struct topoopt_peer *)topoopt_array_at(&stage->peers, i);
	sort(peers->peer, n, sizeof(*peers->peer), topoopt_stage_order, NULL);
	for (i = 1; i < n; i++) {
		if (topoopt_peer_order(&peers->peer[i - 1], &peers->peer[i]))
			continue;
		NL_SET_ERR_MSG(extack, "Two neighbours have the same port and MAC address");
		topoopt_peers_put(peers);
		return ERR_PTR(-EEXIST);
	}
	for (i = 0; i < n; i++)
		topoopt_continuity_begin(peers, &peers->peer[i]);
	return peers;
}
