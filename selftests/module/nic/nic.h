/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_NIC_H
#define TOPOOPT_NIC_H

/*
 * topoopt_nic: network cards in software, whose functions behave as those of real
 * drivers do where veth does not. Cables join ports of cards; network namespaces that
 * the functions are moved into become servers.
 *
 *	card spark1
 *	+---------------------------------------+
 *	| link 0, PCI domain 16   link 1, domain 18
 *	| 0010:01:00.0 .1         0012:01:00.0 .1
 *	|      |       |               |       |
 *	|      +-------|---- port 0 ---+       |	a port has a function on each link
 *	|              +---- port 1 -----------+	of the card to the host
 *	+---------------------------------------+
 *
 * Where a frame passes:
 *
 *	sent by the stack	transmit.c nic_transmit_skb()
 *	redirected by XDP	transmit.c nic_transmit_xdp()
 *	over PCIe to the card	pcie.c nic_pcie_send()
 *	switched, on the wire	wire.c nic_wire_send()
 *	taken or not		receive.c nic_receive_frame(), which asks filter.c and roce.c
 *	over PCIe to the host	pcie.c nic_pcie_receive()
 *	received		receive.c nic_receive_queue(), nic_receive_poll() runs XDP
 *
 * Cards and cables are made by commands (main.c). What a function does beyond that is
 * switched by its traits (traits.c), what PCIe carries by rates (pcie.c). This is what differs
 * from veth, and who really does it, with lines of Linux 7.2, below drivers/net/ethernet/
 * unless said:
 *
 *	several functions a port: unicast by address; broadcast and multicast reach all
 *	functions of the far port and those of the own one; a frame to the own port's other
 *	function stays in the card
 *		DGX Spark (ConnectX-7 with two PCIe links), as measured by owners
 *	functions share the rate of their PCIe link, and all functions of a card what the host
 *	takes and gives (rates to_host, from_host)
 *		DGX Spark: 109 Gbit/s each way for two functions, 192 sent and 214.4 received
 *		by four, as measured by owners
 *	frames that the host does not take fast enough are dropped and counted
 *		mellanox/mlx5/core/en_stats.c pport_2863_stats_desc
 *	frames for no address of a function are not received, nor multicast that nobody joined
 *		mellanox/mlx5/core/en_fs.c:831 mlx5e_fs_set_rx_mode_work()
 *	VLANs that were not added are not received (rx-vlan-filter), unless in promiscuous mode
 *		mellanox/mlx5/core/en_fs.c:437
 *	RoCEv2 for an address that is no GID of the device never reaches the stack (trait rdma)
 *		firmware of mlx5: RDMA receive steering comes before the table of tc and the stack,
 *		mellanox/mlx5/core/fs_core.c rdma_rx_root_fs; GIDs: drivers/infiniband/core/
 *		roce_gid_mgmt.c:147, addresses of the device and of all devices above
 *	headers alone in the linear part of a received packet, or so many bytes for XDP (trait
 *	linear)
 *		0: mellanox/mlx5/core/en_rx.c:1962, multi-packet RQ, frames above a page
 *		64, 128: header split, meta/fbnic/fbnic_netdev.c:526; as many as vmxnet3's
 *		data ring copies, drivers/net/vmxnet3/vmxnet3_int.h:499
 *		a page: intel/ice/ice_txrx.c, mellanox/mlx5/core/en_rx.c legacy RQ
 *	no frame is redirected from here, a program that wants it loses the frame (trait
 *	redirect)
 *		netronome/nfp/nfd3/dp.c nfp_nfd3_rx()
 *	XDP redirects into a device while that has a program of its own, else ENETDOWN or ENXIO
 *		mellanox/mlx5/core/en/xdp.c:867, intel/i40e/i40e_txrx.c:4018,
 *		intel/ice/ice_txrx.c:744; the feature flag: en_main.c mlx5e_set_xdp_feature(),
 *		ice_main.c:2946
 *	its queue is that of the processor, and there is none beyond the number of channels
 *		mellanox/mlx5/core/en/xdp.c:873, i40e_txrx.c:4018, ice_txrx.c:754
 *	none is sent that has frags (trait send_frags)
 *		intel/igb/igb_main.c igb_probe(), features without NDO_XMIT_SG
 *	none is sent with less than 18 bytes in its linear part
 *		mellanox/mlx5/core/en/xdp.c mlx5e_xmit_xdp_frame(), MLX5E_XDP_MIN_INLINE
 *	it is of traffic class 0, whatever mqprio says of the packet's priority
 *		mellanox/mlx5/core/en_main.c:2122
 *	PFC is a setting of the port, which functions show and set by dcbnl; frames are sent
 *	in their traffic class (tx_prio*_packets), and no pause frame is made
 *		mellanox/mlx5/core/en_dcbnl.c:392 mlx5e_dcbnl_ieee_setpfc()
 *	counters *_phy and *_prio are the port's, each function shows the sums
 *		mellanox/mlx5/core/en_stats.c:833, 1948
 *	statistics are as old as a second (trait stats_ms)
 *		broadcom/bnxt/bnxt.c:8658, 10633, bnxt.h:2622
 *	and begin anew when the device is opened or its queues change (trait reset_stats)
 *		mellanox/mlx4/en_netdev.c:2096
 *	light, so carrier, when the cable has a function that is up at either end
 *		mellanox/mlx5/core/en_main.c:3538
 *	frames on the wire: no aggregates, checksums filled in, 60 bytes at least; a receiver
 *	drops what is beyond its MTU
 *		mellanox/mlx5/core/en_rx.c:1938
 *	tags are taken out of received frames before XDP sees them (rx-vlan-offload)
 *		mellanox/mlx5/core/en_main.c:5888
 *	port names and switch ids: mellanox/mlx5/core/en/devlink.c:47
 */

#include <linux/bpf.h>
#include <linux/hrtimer.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/ptr_ring.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/xdp.h>

#define NIC_DRIVER	"topoopt_nic"
#define NIC_LINKS	2	/* PCIe links of a card */
#define NIC_PORTS	4	/* ports of a card */
#define NIC_FUNCTIONS	(NIC_LINKS * 2)	/* that one frame may reach */
#define NIC_CHANNELS	8	/* receive queues of a function */
#define NIC_CLASSES	8	/* traffic classes */
#define NIC_RING	1024	/* packets in a receive queue, unless ethtool -G said otherwise */
#define NIC_DOMAIN_MAX	999	/* so that it has room in a name */
#define NIC_MTU_MAX	9978	/* as mlx5 has it */

/* Bytes in the linear part of a received frame, at most. */
#define NIC_LINEAR_MAX \
	(PAGE_SIZE - XDP_PACKET_HEADROOM - SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))

/* Counters of a function, in the order of counters.c's names. */
enum nic_counter {
	NIC_RX_PACKETS,
	NIC_RX_BYTES,
	NIC_TX_PACKETS,
	NIC_TX_BYTES,
	NIC_RX_OUT_OF_BUFFER,	/* the receive queue was full */
	NIC_RX_STEER_MISSED,	/* of a VLAN that was not added */
	NIC_RX_OVERSIZE,	/* longer than the MTU */
	NIC_RX_RDMA,		/* RoCEv2 that the transport engine took */
	NIC_RX_XDP_DROP,
	NIC_RX_XDP_REDIRECT,
	NIC_RX_XDP_TX,
	NIC_TX_XDP_XMIT,	/* redirected to here */
	NIC_TX_XDP_FULL,	/* not sent, as PCIe is busy */
	NIC_TX_XDP_REFUSED,	/* calls without a program or a queue */
	NIC_COUNTERS
};

/* Counters of a port. */
enum nic_phy_counter {
	NIC_RX_PACKETS_PHY,
	NIC_RX_BYTES_PHY,
	NIC_TX_PACKETS_PHY,
	NIC_TX_BYTES_PHY,
	NIC_RX_DISCARDS_PHY,	/* the card had no room */
	NIC_TX_PRIO_PHY,	/* packets of each traffic class */
	NIC_PHY_COUNTERS = NIC_TX_PRIO_PHY + NIC_CLASSES
};

/* What a function and its port counted. */
struct nic_sums {
	u64 function[NIC_COUNTERS];
	u64 port[NIC_PHY_COUNTERS];
};

struct nic_percpu {
	u64 function[NIC_COUNTERS];
};

struct nic_port;

struct nic_phy_percpu {
	u64 port[NIC_PHY_COUNTERS];
};

/**
 * struct nic_traits - what a test may switch of a function, in debugfs
 * @port:	port of the function
 * @link:	and the card's link
 * @dir:	debugfs directory
 * @linear:	bytes of a frame in the linear part that XDP sees
 * @redirect:	the driver redirects what a program tells it to
 * @send_frags:	sends frames of several buffers that XDP redirects
 * @rdma:	takes RoCEv2 that is for other addresses
 * @stats_ms:	milliseconds between renewals of the statistics; 0: always fresh
 * @reset_stats: counters begin anew with new channels
 */
struct nic_traits {
	struct nic_port *port;
	unsigned int link;
	struct dentry *dir;
	u32 linear;
	bool redirect;
	bool send_frags;
	bool rdma;
	u32 stats_ms;
	bool reset_stats;
};

/**
 * struct nic_port - a cage
 * @card:	the card
 * @index:	number, from 0
 * @speed:	Mbit/s, for ethtool
 * @up:		light in both directions
 * @pfc:	priorities that have PFC, 1 << priority
 * @peer:	other end of the cable; written under nic_cable_lock
 * @function:	functions, by the card's link; written under nic_cable_lock
 * @traits:	of these
 * @stats:	counters
 */
struct nic_port {
	struct nic_card *card;
	unsigned int index;
	u32 speed;
	bool up;
	u8 pfc;
	struct nic_port __rcu *peer;
	struct nic_function __rcu *function[NIC_LINKS];
	struct nic_traits traits[NIC_LINKS];
	struct nic_phy_percpu __percpu *stats;
};

/**
 * struct nic_lane - one way of a PCIe link, or of all of a card's together
 * @lock:	of all below
 * @rate:	bits/s; 0: no limit
 * @done:	time at which what has passed would have, had it passed at the rate, in ns
 * @queue:	frames that wait
 * @bytes:	in @queue
 * @draining:	frames that are no longer in @queue have not left yet
 * @timer:	when the first frame of @queue may leave
 * @leave:	where frames go from here
 */
struct nic_lane {
	spinlock_t lock;
	u64 rate;
	s64 done;
	struct sk_buff_head queue;
	unsigned int bytes;
	bool draining;
	struct hrtimer timer;
	void (*leave)(struct sk_buff *skb);
};

/* Both ways, and their debugfs directory. */
struct nic_pcie {
	struct nic_lane from_host;
	struct nic_lane to_host;
	struct dentry *dir;
};

/* Config space of a PCI function. */
struct nic_config {
	u8 value[PCI_CFG_SPACE_SIZE];
	u8 writable[PCI_CFG_SPACE_SIZE];	/* mask */
};

/**
 * struct nic_link - PCIe link between a card and the host, with a PCI domain of its own
 * @sysdata:	of the domain's buses
 * @card:	the card
 * @index:	number, from 0
 * @bridge:	host bridge, NULL without one
 * @root_port:	DOMAIN:00:00.0
 * @function:	DOMAIN:01:00.PORT
 * @pcie:	rates
 */
struct nic_link {
	struct pci_sysdata sysdata;
	struct nic_card *card;
	unsigned int index;
	struct pci_host_bridge *bridge;
	struct nic_config root_port;
	struct nic_config function[NIC_PORTS];
	struct nic_pcie pcie;
};

/**
 * struct nic_card - a card
 * @list:	in the list of all cards
 * @name:	for commands
 * @id:		switch id and serial number, from which MAC addresses are made
 * @ports:	number of ports
 * @links:	number of PCIe links
 * @generation:	of PCIe, 1 to 5
 * @width:	lanes of a PCIe link
 * @port:	ports
 * @link:	PCIe links
 * @pcie:	rates of all links together
 */
struct nic_card {
	struct list_head list;
	char name[32];
	u32 id;
	unsigned int ports;
	unsigned int links;
	unsigned int generation;
	unsigned int width;
	struct nic_port port[NIC_PORTS];
	struct nic_link link[NIC_LINKS];
	struct nic_pcie pcie;
};

/* A receive queue. */
struct nic_channel {
	struct nic_function *function;
	struct napi_struct napi;
	struct ptr_ring ring;		/* frames that arrived, of struct sk_buff */
	struct page_pool *pool;
	struct xdp_rxq_info rxq;
	bool redirected;		/* xdp_do_flush() is due */
};

/* All of a function, replaced as a whole. */
struct nic_channels {
	unsigned int n;
	struct nic_channel channel[];
};

/* Destination addresses that a function receives, replaced as a whole. */
struct nic_filter {
	struct rcu_head rcu;
	bool promisc;
	bool allmulti;
	unsigned int n;
	u8 address[][ETH_ALEN];
};

/**
 * struct nic_function - a PCI function, private part of its network device
 * @dev:	network device
 * @port:	port that it sends through
 * @link:	index of its PCIe link
 * @traits:	behaviour
 * @up:		opened; written under nic_cable_lock
 * @channels:	receive queues, NULL while closed; written under RTNL
 * @filter:	addresses received; written under the device's address lock
 * @program:	XDP; written under RTNL
 * @vlans:	VLANs received
 * @n_channels:	channels that the next opening makes
 * @ring:	packets in a receive queue
 * @classes:	traffic classes, of mqprio
 * @sending:	bytes that wait for PCIe
 * @stats:	counters
 * @stats_lock:	of @base and @shown
 * @base:	what counters were when they began anew
 * @shown:	statistics of the last renewal
 * @renewal:	renews them
 * @devlink:	devlink instance, or NULL
 */
struct nic_function {
	struct net_device *dev;
	struct nic_port *port;
	unsigned int link;
	struct nic_traits *traits;
	bool up;
	struct nic_channels __rcu *channels;
	struct nic_filter __rcu *filter;
	struct bpf_prog __rcu *program;
	unsigned long vlans[BITS_TO_LONGS(VLAN_N_VID)];
	unsigned int n_channels;
	unsigned int ring;
	unsigned int classes;
	atomic_t sending;
	struct nic_percpu __percpu *stats;
	spinlock_t stats_lock;
	struct nic_sums base;
	struct nic_sums shown;
	struct delayed_work renewal;
	struct devlink *devlink;
};

static inline void nic_count(struct nic_function *f, enum nic_counter which, u64 n)
{
	this_cpu_add(f->stats->function[which], n);
}

static inline void nic_count_phy(struct nic_port *port, unsigned int which, u64 n)
{
	this_cpu_add(port->stats->port[which], n);
}

static inline struct nic_pcie *nic_pcie_link(const struct nic_function *f)
{
	return &f->port->card->link[f->link].pcie;
}

/* card.c */
int nic_card_add(char *arguments);
int nic_card_remove(const char *name);
void nic_card_remove_all(void);
struct nic_port *nic_card_port(const char *name);

/* cable.c */
extern spinlock_t nic_cable_lock;
int nic_cable_connect(struct nic_port *a, struct nic_port *b);
void nic_cable_cut(struct nic_port *port);
void nic_cable_attach(struct nic_function *f);
void nic_cable_detach(struct nic_function *f);
void nic_cable_set_up(struct nic_function *f, bool up);
void nic_cable_renew(struct nic_port *port, unsigned int link);

/* traits.c */
extern struct dentry *nic_traits_root;
void nic_traits_add(struct nic_port *port, unsigned int link, const char *name);
void nic_traits_remove(struct nic_traits *traits);

/* pci.c */
int nic_pci_add(struct nic_link *link, int domain);
void nic_pci_remove(struct nic_link *link);
struct nic_link *nic_pci_link(struct pci_dev *pdev);
extern const struct pci_device_id nic_pci_ids[];

/* pcie.c */
void nic_pcie_add_card(struct nic_card *card);
void nic_pcie_add_link(struct nic_link *link, int domain);
void nic_pcie_remove(struct nic_pcie *pcie);
void nic_pcie_send(struct nic_function *f, struct sk_buff *skb, unsigned int class);
bool nic_pcie_busy(const struct nic_function *f);
void nic_pcie_throttle(struct nic_function *f);
void nic_pcie_receive(struct nic_function *f, struct sk_buff *skb);
void nic_pcie_purge(struct nic_function *f);

/* function.c */
extern struct pci_driver nic_function_driver;

/* channel.c */
int nic_channel_open(struct nic_function *f);
void nic_channel_close(struct nic_function *f);

/* filter.c */
enum nic_match {
	NIC_MATCH_NONE,
	NIC_MATCH_COPY,		/* of a frame that others may receive, too */
	NIC_MATCH_OWN,		/* of unicast: the function's own address */
};

enum nic_match nic_filter_match(const struct nic_function *f, const u8 *address);
bool nic_filter_vlan(const struct nic_function *f, const struct sk_buff *skb);
void nic_filter_set(struct net_device *dev);

/* roce.c */
bool nic_roce_foreign(struct nic_function *f, const struct sk_buff *skb);

/* wire.c */
void nic_wire_send(struct nic_function *from, struct sk_buff *skb, unsigned int class);

/* transmit.c */
netdev_tx_t nic_transmit_skb(struct sk_buff *skb, struct net_device *dev);
int nic_transmit_xdp(struct net_device *dev, int n, struct xdp_frame **frames, u32 flags);
bool nic_transmit_frame(struct nic_function *f, struct xdp_frame *frame);

/* receive.c */
void nic_receive_frame(struct nic_function *f, struct sk_buff *skb);
void nic_receive_queue(struct nic_function *f, struct sk_buff *skb);
int nic_receive_poll(struct napi_struct *napi, int budget);

/* xdp.c */
int nic_xdp_bpf(struct net_device *dev, struct netdev_bpf *bpf);
bool nic_xdp_mtu_fits(const struct bpf_prog *program, unsigned int mtu);
bool nic_xdp_run(struct nic_channel *c, struct bpf_prog *program, struct xdp_buff *xdp);

/* counters.c */
#define NIC_COUNTER_NAMES	(NIC_COUNTERS + NIC_PHY_COUNTERS)
void nic_counters_init(struct nic_function *f);
void nic_counters_start(struct nic_function *f);
void nic_counters_stop(struct nic_function *f);
void nic_counters_reset(struct nic_function *f);
void nic_counters_get(struct nic_function *f, struct nic_sums *sums);
void nic_counters_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats);
void nic_counters_names(u8 *text);

/* ethtool.c */
extern const struct ethtool_ops nic_ethtool_ops;

/* dcb.c */
#ifdef CONFIG_DCB
void nic_dcb_add(struct nic_function *f);
#else
static inline void nic_dcb_add(struct nic_function *f) { }
#endif

/* devlink.c */
#ifdef CONFIG_NET_DEVLINK
int nic_devlink_add(struct nic_function *f);
void nic_devlink_announce(struct nic_function *f);
void nic_devlink_remove(struct nic_function *f);
struct devlink_port *nic_devlink_port(struct net_device *dev);
#else
static inline int nic_devlink_add(struct nic_function *f) { return 0; }
static inline void nic_devlink_announce(struct nic_function *f) { }
static inline void nic_devlink_remove(struct nic_function *f) { }
#endif

#endif
