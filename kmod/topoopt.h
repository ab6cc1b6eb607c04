/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_H
#define TOPOOPT_H

/*
 * topoopt_fwd: relays packets between the NICs of a server that is wired
 * directly to its peers.
 *
 * Where a packet comes in and where it leaves:
 *
 *	fast.c		rx_handler of a port: relays most packets in one pass,
 *			leaves the rest to relay.c
 *	xdp.c		the same for XDP programs, before there is an skb
 *	relay.c		the complete receive path: lookup, then local / node / relay
 *	xmit.c		ndo_start_xmit of the topoopt device: packets that this
 *			server sends to node and port addresses of others
 *	output.c	relay.c and xmit.c end here: next hop, MAC header, egress queue
 *	nesting.c	sends within sends
 *	account.c	BPF programs that count what was relayed, sent or received
 *	icmp.c		ICMP errors for packets that cannot be relayed or sent
 *	flow.c		addresses, protocol and ports of a packet, flow hash
 *	fastpath.h	checks, lookup and next hop, shared by fast.c and xdp.c
 *	ccm.c		frames of continuity checks
 *	continuity.c	continuity checks: neighbours that are heard, or not; peers.h has them
 *	drops.c		frames that XDP redirected and the driver dropped
 *	kfunc.c		lookups for BPF programs
 *
 * The rest:
 *
 *	device.c	the topoopt device: rtnl_link_ops, netdev and ethtool ops
 *	port.c		ports: enslave, release, carrier, transmit device
 *	liveness.c	which ports packets go through
 *	netns.c		the topoopt devices of a namespace
 *	stats.c		counters
 *	table.c		routes, read-only once built; build.c builds them
 *	nexthop.c	next hop groups
 *	netlink.h	generic netlink, with a map of its own
 *	main.c		module init and exit
 *
 * Files of control use the family in netlink_policy, which names their functions.
 * A file calls only files that come before it here:
 *
 *	tables		array nexthop routes build table
 *	egress		stats flow icmp account nesting output
 *	checks		netns netlink notify liveness ccm continuity
 *	packets		relay fast xmit xdp kfunc drops
 *	control		port stage_peers stage dump request netlink_policy
 *	top		device main
 */

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/u64_stats_sync.h>
#include <linux/topoopt.h>
#include <net/rtnetlink.h>

struct topoopt_stage;
struct topoopt_table;

/*
 * Counters of a port, and of the device. In the order of the attributes of
 * the netlink set "counters", from relay-rx-packets on. A packet that XDP relays is
 * counted as such only; topoopt_stats_read() adds it to TOPOOPT_RELAY_RX_PACKETS.
 */
enum topoopt_counter {
	TOPOOPT_RELAY_RX_PACKETS,
	TOPOOPT_RELAY_RX_BYTES,
	TOPOOPT_RELAY_TX_PACKETS,
	TOPOOPT_RELAY_TX_BYTES,
	TOPOOPT_RELAY_XDP_PACKETS,
	TOPOOPT_RELAY_XDP_GENERIC_PACKETS,
	TOPOOPT_LOCAL_PACKETS,
	TOPOOPT_LOCAL_BYTES,
	TOPOOPT_MISS_PACKETS,
	TOPOOPT_BACKUP_PACKETS,
	TOPOOPT_DROP_HEADER,
	TOPOOPT_DROP_TTL,
	TOPOOPT_DROP_MTU,
	TOPOOPT_DROP_NO_PORT,
	TOPOOPT_DROP_GSO,
	TOPOOPT_DROP_NOMEM,
	TOPOOPT_DROP_TX,
	TOPOOPT_ALTERNATE_PACKETS,
	TOPOOPT_DROP_SILENT,
	TOPOOPT_DROP_DOWN,
	TOPOOPT_CHECK_SENT,
	TOPOOPT_CHECK_RECEIVED,
	TOPOOPT_CHECK_MISSING,
	TOPOOPT_CHECK_REFUSED,
	TOPOOPT_COUNTERS
};

static inline bool topoopt_counter_drops(enum topoopt_counter counter)
{
	return (counter >= TOPOOPT_DROP_HEADER && counter <= TOPOOPT_DROP_TX) ||
	       counter == TOPOOPT_DROP_SILENT || counter == TOPOOPT_DROP_DOWN;
}

/* Aligned, so that all counters of a relayed packet are in one cache line. */
struct topoopt_stats {
	u64_stats_t counter[TOPOOPT_COUNTERS];
	struct u64_stats_sync syncp;
} ____cacheline_aligned;

/**
 * struct topoopt_port - one NIC interface that faces the fabric
 * @dev: the NIC interface; packets arrive here
 * @tx: what the port transmits through, @dev unless port-set said otherwise;
 *	never NULL; written under RTNL
 * @tdev: the topoopt device
 * @stats: counters
 * @bit: of @slot, to be held against topoopt_group.alternate_slots
 * @ifindex: of @dev
 * @relay_ifindex: @ifindex while packets may be relayed through the port: it is live,
 *	and the topoopt device is up; else 0; written under RTNL
 * @xdp_ifindex: @ifindex while XDP may send RoCEv2 through the port: it is live,
 *	@xdp_classes has the class, and the driver of @tx sends what XDP redirects and
 *	has dropped nothing so far; else 0. A drop while this is written takes effect
 *	with the next one.
 * @slot: index into topoopt_dev.ports
 * @xdp: a program in the driver of @dev may take frames: @xdp_generic, and the
 *	driver redirects; written under RTNL
 * @xdp_generic: a program behind the driver may: the topoopt device is up, and @dev
 *	strips no VLAN tags; written under RTNL
 * @xdp_classes: bit per traffic class that XDP may send through the port; written
 *	under RTNL
 * @xdp_error: positive error number of the last frame that XDP redirected to @tx and
 *	that was refused or dropped, since the port became live or got @tx; 0: none was
 * @vlan: @dev is a VLAN device: it took the tag of a packet, and its ingress map
 *	turned the tag's priority into the packet's; constant
 * @list: in topoopt_dev.port_list
 *
 * What a packet needs is in the first cache line.
 *
 * Freed a grace period after it left its slot; whatever a reader got from
 * topoopt_dev.ports stays valid until it leaves the RCU section.
 */
struct topoopt_port {
	struct net_device *dev;
	struct net_device __rcu *tx;
	struct topoopt_dev *tdev;
	struct topoopt_stats __percpu *stats;
	u64 bit;
	u32 ifindex;
	u32 relay_ifindex;
	u32 xdp_ifindex;
	u16 slot;
	bool xdp;
	bool xdp_generic;
	bool vlan;
	u8 xdp_classes;
	u16 xdp_error;
	netdevice_tracker dev_tracker;
	netdevice_tracker tx_tracker;
	struct list_head list;
} ____cacheline_aligned;

/**
 * struct topoopt_dev - private part of a topoopt device
 * @ports: slots; written under RTNL; first, as it is indexed
 * @table: active table, NULL before the first commit; written under @lock
 * @live: bit per slot of @light and not of @silent; written under @live_lock, read with
 *	READ_ONCE(), or topoopt_port_live_slots()
 * @light: bit per slot, set while the port is up and has carrier; written under RTNL and
 *	@live_lock
 * @silent: bit per slot, set while a neighbour takes no transit, by continuity checks;
 *	written under @live_lock
 * @live_lock: spinlock of what decides whether packets go through a port; see
 *	continuity.c
 * @told: @live as listeners know it; under @live_lock
 * @told_ticks: ticks until they may be told more of what continuity checks say of the
 *	neighbours of a port; under @live_lock
 * @check_timer: ticks at least twice per interval of continuity checks
 * @check_ticks: how often it has
 * @dev: the topoopt device
 * @programs: run for every packet, see account.h; written under @lock
 * @stats: drops of packets that this server originated
 * @slot_ifindex: last user of a slot, so that a port that comes back gets the
 *	slot that tables know it by; written under RTNL, before the slot gets live
 * @hash_seed: of the flow hash, constant
 * @mtu_by_user: the MTU no longer follows the ports; under RTNL
 * @list: devices of the namespace; under RTNL
 * @port_list: ports whose counters are not in @past; under @port_lock
 * @past: counters of ports that left; under @port_lock
 * @port_lock: spinlock, see @port_list
 * @lock: serializes stages and commits
 * @stage: table being built, owned by stage.c; under @lock
 * @generation: of the active table, 0 while there has been none; under @lock
 * @table_seq: dump sequence of the active table, see topoopt_seq_next(); under @lock
 * @stage_seq: dump sequence of the stage; under @lock
 * @port_seq: dump sequence of the ports; written under RTNL
 * @gone: unregistering: nothing may be staged or committed any more; what
 *	there is gets removed under @lock afterwards
 */
struct topoopt_dev {
	struct topoopt_port __rcu *ports[TOPOOPT_MAX_PORTS];
	struct topoopt_table __rcu *table;
	u64 live;
	u64 light;
	u64 silent;
	struct net_device *dev;
	struct hlist_head programs;
	struct topoopt_stats __percpu *stats;
	u32 hash_seed;

	bool mtu_by_user;
	struct list_head list;
	u32 slot_ifindex[TOPOOPT_MAX_PORTS];
	spinlock_t live_lock;
	u64 told;
	u32 told_ticks[TOPOOPT_MAX_PORTS];
	struct hrtimer check_timer;
	u32 check_ticks;
	struct list_head port_list;
	u64 past[TOPOOPT_COUNTERS];
	spinlock_t port_lock;

	struct mutex lock;
	struct topoopt_stage *stage;
	u64 generation;
	u32 table_seq;
	u32 stage_seq;
	u32 port_seq;
	bool gone;
};

/*
 * Next value of a dump sequence. A dump that finds another one than it began with is
 * marked NLM_F_DUMP_INTR; netlink takes 0 for no sequence at all.
 */
static inline u32 topoopt_seq_next(u32 seq)
{
	return seq + 1 ?: 1;
}

/* Version of the module, that of tools/debian/changelog. */
#define TOPOOPT_VERSION	"0.1.0"

/* device.c */

extern struct rtnl_link_ops topoopt_device_link_ops;

#define TOPOOPT_KIND	"topoopt"

/* By its kind, so that ports need not know how the device works. */
static inline bool topoopt_device_is(const struct net_device *dev)
{
	return dev->rtnl_link_ops && !strcmp(dev->rtnl_link_ops->kind, TOPOOPT_KIND);
}

/* netns.c */

extern struct pernet_operations topoopt_netns_ops;

/* Topoopt devices of a namespace, linked by topoopt_dev.list; under RTNL. */
struct list_head *topoopt_netns_devices(struct net *net);

/**
 * topoopt_netns_get() - topoopt device by ifindex
 * @net: namespace the device must be in
 * @ifindex: of the topoopt device
 * @tracker: of the reference taken
 * @extack: told why not
 *
 * The reference keeps the memory; the device may still be unregistered
 * meanwhile, which topoopt_dev.gone tells under topoopt_dev.lock. Hold the
 * reference briefly: unregistering waits for it.
 *
 * Return: the device, to be released with netdev_put(), or an error pointer:
 * -ENODEV, or -EOPNOTSUPP when @ifindex is another kind of device.
 */
struct topoopt_dev *topoopt_netns_get(struct net *net, u32 ifindex,
				      netdevice_tracker *tracker,
				      struct netlink_ext_ack *extack);

/* port.c */

extern struct notifier_block topoopt_port_notifier;

int topoopt_port_add(struct net_device *dev, struct net_device *port_dev,
		     struct netlink_ext_ack *extack);
int topoopt_port_del(struct net_device *dev, struct net_device *port_dev);
void topoopt_port_del_all(struct topoopt_dev *tdev);

/**
 * topoopt_port_find() - port by ifindex
 * @tdev: topoopt device
 * @ifindex: of the NIC interface
 *
 * Return: the port, valid while the caller holds RCU or RTNL, or NULL.
 */
struct topoopt_port *topoopt_port_find(const struct topoopt_dev *tdev,
				       u32 ifindex);

/**
 * topoopt_port_set_tx() - choose what a port transmits through
 * @port: port
 * @tx_ifindex: of an Ethernet device of the same namespace, or 0 for the port
 *	itself
 * @extack: told why not
 *
 * Under RTNL. A transmit device that disappears gives way to the port itself.
 *
 * Return: 0, -ENODEV, -EINVAL for a device that cannot be one.
 */
int topoopt_port_set_tx(struct topoopt_port *port, u32 tx_ifindex,
			struct netlink_ext_ack *extack);

/* What XDP may send through a port, bit per traffic class. Under RTNL. */
void topoopt_port_set_xdp_classes(struct topoopt_port *port, u32 classes);

#define TOPOOPT_PORT_XDP_CLASSES	GENMASK(TOPOOPT_TRAFFIC_CLASS_OTHER, 0)

/* For those who look at slot_ifindex: it is not older. */
static inline u64 topoopt_port_live_slots(const struct topoopt_dev *tdev)
{
	return smp_load_acquire(&tdev->live);	/* pairs with topoopt_liveness_set() */
}

/* VLAN ids that the NICs must let pass, on all ports; under RTNL. */
int topoopt_port_add_vid(const struct topoopt_dev *tdev, __be16 proto, u16 vid);
void topoopt_port_del_vid(const struct topoopt_dev *tdev, __be16 proto, u16 vid);

static inline bool topoopt_port_live(const struct topoopt_port *port)
{
	return READ_ONCE(port->tdev->live) & BIT_ULL(port->slot);
}

static inline bool topoopt_port_lit(const struct topoopt_port *port)
{
	return READ_ONCE(port->tdev->light) & BIT_ULL(port->slot);
}

/* liveness.c */

/* What else decides whether packets go through a port changed. Under RTNL. */
void topoopt_liveness_refresh(struct topoopt_port *port);

/*
 * A port has light, or none. Under RTNL. Return: whether listeners should hear that it
 * became live, or ceased to be.
 */
bool topoopt_liveness_light(struct topoopt_port *port, bool light);

/*
 * What continuity checks say: slots of ports with a neighbour that takes no transit. Under
 * topoopt_dev.live_lock and RCU.
 */
void topoopt_liveness_silence(struct topoopt_dev *tdev, u64 silent);

/*
 * Tell listeners which of the ports in these slots became live, or ceased to be. Under
 * topoopt_dev.live_lock and RCU. Return: whether there are any.
 */
bool topoopt_liveness_tell(struct topoopt_dev *tdev, u64 slots);

/* fast.c, relay.c, xmit.c */

rx_handler_result_t topoopt_fast_receive(struct sk_buff **pskb);
rx_handler_result_t topoopt_relay_receive(struct sk_buff **pskb);

/*
 * Whether a device is a port; under RCU, rx_handler_data is it when read after this.
 * The core publishes the handler after the data and takes it back a grace period
 * before: without acquire, the data could still be NULL, or that of another handler.
 */
static __always_inline bool topoopt_port_receives(const struct net_device *dev)
{
	/* Pairs with netdev_rx_handler_register(). */
	rx_handler_func_t *handler = unrcu_pointer(smp_load_acquire(&dev->rx_handler));

	return likely(handler == topoopt_fast_receive) || handler == topoopt_relay_receive;
}

netdev_tx_t topoopt_xmit_start(struct sk_buff *skb, struct net_device *dev);

/* stats.c: counters of a port, of a device with its present and past ports. */

void topoopt_stats_read(const struct topoopt_stats __percpu *stats,
			u64 sum[TOPOOPT_COUNTERS]);
void topoopt_stats_port(const struct topoopt_port *port,
			u64 sum[TOPOOPT_COUNTERS]);
void topoopt_stats_device(struct topoopt_dev *tdev, u64 sum[TOPOOPT_COUNTERS]);

/* Moves the counters of a port that is leaving into topoopt_dev.past. */
void topoopt_stats_retire(struct topoopt_port *port);

static inline void topoopt_stats_add(struct topoopt_stats __percpu *stats,
				     enum topoopt_counter counter, u32 n)
{
	struct topoopt_stats *s = this_cpu_ptr(stats);

	u64_stats_update_begin(&s->syncp);
	u64_stats_add(&s->counter[counter], n);
	u64_stats_update_end(&s->syncp);
}

static inline void topoopt_stats_add_two(struct topoopt_stats __percpu *stats,
					 enum topoopt_counter packet_counter, u32 packets,
					 enum topoopt_counter byte_counter, u32 bytes)
{
	struct topoopt_stats *s = this_cpu_ptr(stats);

	u64_stats_update_begin(&s->syncp);
	u64_stats_add(&s->counter[packet_counter], packets);
	u64_stats_add(&s->counter[byte_counter], bytes);
	u64_stats_update_end(&s->syncp);
}

/* A counter of packets and the counter of bytes that follows it. */
static inline void topoopt_stats_add_bytes(struct topoopt_stats __percpu *stats,
					   enum topoopt_counter packet_counter,
					   u32 packets, u32 bytes)
{
	topoopt_stats_add_two(stats, packet_counter, packets, packet_counter + 1, bytes);
}

/* drops.c: counts frames that XDP redirected and the driver dropped, on their port. */

void topoopt_drops_init(void);
void topoopt_drops_exit(void);

/*
 * notify.c
 *
 * A port joined, left, was renamed, or changed its transmit device or its liveness. A
 * leaving port is already out of its slot.
 */
void topoopt_notify_port(const struct topoopt_dev *tdev, const struct topoopt_port *port,
			 gfp_t gfp);

/*
 * Groups that switched to their backups, or back to their primaries, since this was called
 * last. Under topoopt_dev.live_lock and RCU.
 */
void topoopt_notify_groups(const struct topoopt_dev *tdev);

struct topoopt_peer;

/*
 * What continuity checks say of neighbours, where it changed. Under topoopt_dev.live_lock.
 * Return: whether it did.
 */
bool topoopt_notify_peers(const struct topoopt_dev *tdev, struct topoopt_peer *peer, u32 count);

#endif
