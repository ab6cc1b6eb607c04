// SPDX-License-Identifier: GPL-2.0
/*
 * What the relay benchmark (bench/relay.sh) needs besides paths to measure: a
 * generator, a sink, and the floor that no relay gets below.
 *
 * The parameter "command" takes one command at a time, for a device of whatever
 * network namespace has one of that name:
 *
 *	sink DEV		count what arrives, check its order, free it
 *	floor DEV OUT DST	give what arrives constant MAC addresses and send it
 *				on through OUT to the MAC address DST
 *	detach DEV		undo either of these
 *	send DEV DST FAMILY BYTES VLAN ROUTES PACKETS
 *				send through DEV to the MAC address DST: frames of
 *				so many bytes without FCS to the first ROUTES
 *				addresses, tagged unless VLAN is 0; FAMILY is 4 or
 *				6, PACKETS a multiple of a burst. Waits for each burst
 *				to arrive at a sink.
 *	queue ...		as send, without waiting: DEV is a dummy device
 *
 * The parameter "result" says of the last send: bytes of a frame, packets sent
 * and received, how many of these out of their flow's order, and nanoseconds
 * (instructions, where QEMU counts them) that a burst took: the mean of WINDOW bursts,
 * as allocators work in batches, and the median of these, as timer interrupts hit some.
 *
 * The parameter "burst" is the number of packets in a burst.
 *
 * The generator lets softirqs run after every burst. Between veths, everything up to
 * the sink happens then. Other drivers wait for interrupts: the generator waits in
 * rounds of constant cost, which it takes off. A burst's time begins where that of the
 * burst before ends, so that what a driver does later is in one of them.
 */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/net_namespace.h>

#define FLOWS		1024
#define WINDOW		4
#define ROUNDS		20000000	/* until a packet is lost */
#define HEADROOM	(256 + NET_IP_ALIGN)	/* XDP_PACKET_HEADROOM */
#define ROCE_PORT	4791

/* Base transport header, then what the sink looks at. */
struct payload {
	__be32 opcode;
	__be32 qp;
	__be32 psn;
	u16 flow;
	u32 sequence;
} __packed;

struct frame {
	struct net_device *dev;
	u8 dst[ETH_ALEN];
	bool v6;
	u16 vlan;
	u32 bytes, routes;
};

struct floor {
	struct net_device *out;
	u8 dst[ETH_ALEN];
};

static unsigned int burst = 16;
module_param(burst, uint, 0444);
MODULE_PARM_DESC(burst, "Packets sent before softirqs run");

static DEFINE_MUTEX(lock);
static struct {
	u32 bytes, sent, received, reordered;
	u32 ns;
} result;
static u32 last[FLOWS];		/* sequence number of a flow */

/* With a reference, or NULL. */
static struct net_device *find(const char *name)
{
	struct net_device *dev = NULL;
	struct net *net;

	rcu_read_lock();
	for_each_net_rcu(net) {
		dev = dev_get_by_name_rcu(net, name);
		if (dev)
			break;
	}
	dev_hold(dev);
	rcu_read_unlock();
	return dev;
}

/* --- receivers: rx_handlers, marked by their function --- */

/* What the stack says by itself, neighbour discovery for one, passes. */
static rx_handler_result_t sink(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	const struct payload *payload;
	const struct udphdr *udp;
	u32 offset;

	if (skb->protocol == htons(ETH_P_IP))
		offset = sizeof(struct iphdr);
	else if (skb->protocol == htons(ETH_P_IPV6))
		offset = sizeof(struct ipv6hdr);
	else
		return RX_HANDLER_PASS;
	if (!pskb_may_pull(skb, offset + sizeof(*udp) + sizeof(*payload)))
		return RX_HANDLER_PASS;
	udp = (void *)skb->data + offset;
	if (udp->dest != htons(ROCE_PORT))
		return RX_HANDLER_PASS;

	payload = (void *)(udp + 1);
	result.received++;
	if (payload->sequence <= last[payload->flow % FLOWS])
		result.reordered++;
	last[payload->flow % FLOWS] = payload->sequence;
	consume_skb(skb);
	return RX_HANDLER_CONSUMED;
}

static rx_handler_result_t floor_relay(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	const struct floor *floor = rcu_dereference(skb->dev->rx_handler_data);
	struct ethhdr *eth = skb_push(skb, ETH_HLEN);

	skb_reset_mac_header(skb);
	ether_addr_copy(eth->h_dest, floor->dst);
	ether_addr_copy(eth->h_source, floor->out->dev_addr);
	skb->dev = floor->out;
	dev_queue_xmit(skb);
	return RX_HANDLER_CONSUMED;
}

static int attach(struct net_device *dev, rx_handler_func_t *handler,
		  struct floor *data)
{
	int err;

	rtnl_lock();
	err = netdev_rx_handler_register(dev, handler, data);
	rtnl_unlock();
	return err;
}

static int detach(struct net_device *dev)
{
	rx_handler_func_t *handler;
	struct floor *floor = NULL;
	int err = -ENOENT;

	rtnl_lock();
	handler = rtnl_dereference(dev->rx_handler);
	if (handler == sink || handler == floor_relay) {
		floor = rtnl_dereference(dev->rx_handler_data);
		netdev_rx_handler_unregister(dev);
		err = 0;
	}
	rtnl_unlock();
	if (floor) {
		dev_put(floor->out);
		kfree(floor);
	}
	if (!err)
		module_put(THIS_MODULE);
	return err;
}

static int attach_floor(struct net_device *dev, const char *out, const u8 *dst)
{
	struct floor *floor = kzalloc(sizeof(*floor), GFP_KERNEL);
	int err = -ENODEV;

	if (!floor)
		return -ENOMEM;
	ether_addr_copy(floor->dst, dst);
	floor->out = find(out);
	if (floor->out)
		err = attach(dev, floor_relay, floor);
	if (err) {
		dev_put(floor->out);
		kfree(floor);
	}
	return err;
}

/* --- the generator --- */

static u32 frame_headers(const struct frame *frame)
{
	return ETH_HLEN + (frame->vlan ? VLAN_HLEN : 0) +
	       (frame->v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr)) +
	       sizeof(struct udphdr);
}

/* The header's constant part; lengths included. */
static void frame_template(const struct frame *frame, u8 *head)
{
	struct ethhdr *eth = (void *)head;
	__be16 *type = &eth->h_proto;
	u32 length = frame->bytes - ETH_HLEN;
	struct udphdr *udp;

	memset(head, 0, frame_headers(frame));
	ether_addr_copy(eth->h_dest, frame->dst);
	ether_addr_copy(eth->h_source, frame->dev->dev_addr);
	if (frame->vlan) {
		*type = htons(ETH_P_8021Q);
		type[1] = htons(frame->vlan);
		type += 2;
		length -= VLAN_HLEN;
	}
	*type = frame->v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	if (frame->v6) {
		struct ipv6hdr *ip = (void *)(type + 1);

		length -= sizeof(*ip);
		ip->version = 6;
		ip->payload_len = htons(length);
		ip->nexthdr = IPPROTO_UDP;
		ip->hop_limit = 64;
		ip->saddr.s6_addr32[0] = htonl(0xfd001000);
		ip->saddr.s6_addr32[3] = htonl(1);
		ip->daddr.s6_addr32[0] = htonl(0xfd002000);
		udp = (void *)(ip + 1);
	} else {
		struct iphdr *ip = (void *)(type + 1);

		ip->version = 4;
		ip->ihl = 5;
		ip->tot_len = htons(length);
		ip->ttl = 64;
		ip->protocol = IPPROTO_UDP;
		ip->saddr = htonl(0x0a000001);
		length -= sizeof(*ip);
		udp = (void *)(ip + 1);
	}
	udp->source = htons(0xc000);
	udp->dest = htons(ROCE_PORT);
	udp->len = htons(length);
}

/*
 * From a page fragment, with the room that XDP asks for: what a driver would
 * hand out, and what veth need not copy for an XDP program.
 */
static struct sk_buff *frame_alloc(const struct frame *frame, const u8 *head,
				   u32 sequence)
{
	u32 flows = min_t(u32, frame->routes, FLOWS), headers = frame_headers(frame);
	u32 flow = sequence % flows, route = flow * (frame->routes / flows);
	u32 size = SKB_DATA_ALIGN(HEADROOM + frame->bytes) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct payload *payload;
	struct sk_buff *skb;
	void *data, *udp;

	data = netdev_alloc_frag(size);
	if (!data)
		return NULL;
	skb = build_skb(data, size);
	if (!skb) {
		skb_free_frag(data);
		return NULL;
	}
	skb_reserve(skb, HEADROOM);
	memcpy(skb_put(skb, frame->bytes), head, headers);
	udp = skb->data + headers - sizeof(struct udphdr);
	if (frame->v6) {
		struct ipv6hdr *ip = udp - sizeof(*ip);

		ip->daddr.s6_addr32[3] = htonl(1 + route);
	} else {
		struct iphdr *ip = udp - sizeof(*ip);

		ip->daddr = htonl(0x0a800001 + route);
		ip_send_check(ip);
	}
	payload = udp + sizeof(struct udphdr);
	payload->qp = htonl(0x11 + flow);
	payload->flow = flow;
	payload->sequence = sequence + 1;
	skb->dev = frame->dev;
	skb_reset_mac_header(skb);
	skb->protocol = eth_hdr(skb)->h_proto;
	skb_set_network_header(skb, headers - sizeof(struct udphdr) -
			       (frame->v6 ? sizeof(struct ipv6hdr) :
					    sizeof(struct iphdr)));
	return skb;
}

static void frame_burst(const struct frame *frame, const u8 *head, u32 first)
{
	struct sk_buff *skb;
	u32 i;

	local_bh_disable();
	for (i = first; i < first + burst; i++) {
		skb = frame_alloc(frame, head, i);
		if (skb && dev_queue_xmit(skb) == NET_XMIT_SUCCESS)
			result.sent++;
	}
	local_bh_enable();
}

/* Wait for @packets to arrive, ROUNDS at most. Return: rounds waited. */
static noinline u32 await(u32 packets, u32 rounds)
{
	u32 i;

	for (i = 0; i < rounds && READ_ONCE(result.received) < packets; i++)
		cond_resched();
	return i;
}

/* Nanoseconds that 1024 rounds take, the fewest of some tries: interrupts prolong others. */
static u64 await_cost(void)
{
	u64 start, least = U64_MAX;
	int i;

	for (i = 0; i < 8; i++) {
		start = ktime_get_ns();
		await(U32_MAX, 1024);
		least = min(least, ktime_get_ns() - start);
	}
	return least;
}

static int compare(const void *a, const void *b)
{
	u32 left = *(const u32 *)a, right = *(const u32 *)b;

	return left < right ? -1 : left > right;
}

static int frame_send(struct frame *frame, u32 packets, bool wait)
{
	u8 head[ETH_HLEN + VLAN_HLEN + sizeof(struct ipv6hdr) +
		sizeof(struct udphdr)];
	u32 i, j, windows = packets / burst / WINDOW, *ns, rounds, sent = 0;
	u64 start, end, cost;

	frame->bytes = max_t(u32, frame->bytes,
			     frame_headers(frame) + sizeof(struct payload));
	if (!frame->routes || !windows ||
	    frame->bytes > frame->dev->mtu + frame->dev->hard_header_len)
		return -EINVAL;
	ns = kvmalloc_array(windows, sizeof(*ns), GFP_KERNEL);
	if (!ns)
		return -ENOMEM;
	frame_template(frame, head);
	memset(&result, 0, sizeof(result));
	memset(last, 0, sizeof(last));
	result.bytes = frame->bytes;

	cost = await_cost();
	start = ktime_get_ns();
	for (i = 0; i < windows; i++) {
		rounds = 0;
		for (j = 0; j < WINDOW; j++) {
			frame_burst(frame, head, sent);
			sent += burst;
			if (wait)
				rounds += await(sent, ROUNDS);
			if (rounds >= ROUNDS)
				goto lost;
		}
		end = ktime_get_ns();
		ns[i] = end - start - rounds * cost / 1024;
		start = end;
	}
	sort(ns, windows, sizeof(*ns), compare, NULL);
	result.ns = ns[windows / 2] / WINDOW;
lost:
	kvfree(ns);
	return 0;
}

/* --- commands --- */

static int run(struct net_device *dev, const char *verb, const char *rest)
{
	struct frame frame = { .dev = dev };
	char out[IFNAMSIZ];
	u32 family, packets;
	int err;

	if (!strcmp(verb, "detach"))
		return detach(dev);
	if (!strcmp(verb, "send") || !strcmp(verb, "queue")) {
		if (sscanf(rest, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx %u %u %hu %u %u",
			   &frame.dst[0], &frame.dst[1], &frame.dst[2],
			   &frame.dst[3], &frame.dst[4], &frame.dst[5], &family,
			   &frame.bytes, &frame.vlan, &frame.routes,
			   &packets) != 11)
			return -EINVAL;
		frame.v6 = family == 6;
		return frame_send(&frame, packets, !strcmp(verb, "send"));
	}

	/* An attached handler keeps the module. */
	__module_get(THIS_MODULE);
	err = -EINVAL;
	if (!strcmp(verb, "sink"))
		err = attach(dev, sink, NULL);
	else if (!strcmp(verb, "floor") &&
		 sscanf(rest, "%15s %hhx:%hhx:%hhx:%hhx:%hhx:%hhx", out,
			&frame.dst[0], &frame.dst[1], &frame.dst[2],
			&frame.dst[3], &frame.dst[4], &frame.dst[5]) == 7)
		err = attach_floor(dev, out, frame.dst);
	if (err)
		module_put(THIS_MODULE);
	return err;
}

static int command_set(const char *value, const struct kernel_param *kp)
{
	char verb[8], name[IFNAMSIZ];
	struct net_device *dev;
	int end = 0, err;

	if (sscanf(value, "%7s %15s %n", verb, name, &end) != 2)
		return -EINVAL;
	dev = find(name);
	if (!dev)
		return -ENODEV;
	mutex_lock(&lock);
	err = run(dev, verb, value + end);
	mutex_unlock(&lock);
	dev_put(dev);
	return err;
}

static const struct kernel_param_ops command_ops = { .set = command_set };
module_param_cb(command, &command_ops, NULL, 0200);
MODULE_PARM_DESC(command, "What to do, see the source");

static int result_get(char *buffer, const struct kernel_param *kp)
{
	int length;

	mutex_lock(&lock);
	length = sysfs_emit(buffer, "%u %u %u %u %u\n", result.bytes,
			    result.sent, result.received, result.reordered,
			    result.ns);
	mutex_unlock(&lock);
	return length;
}

static const struct kernel_param_ops result_ops = { .get = result_get };
module_param_cb(result, &result_ops, NULL, 0444);
MODULE_PARM_DESC(result, "Of the last send: bytes sent received reordered ns-per-burst");

MODULE_DESCRIPTION("Generator, sink and floor of the relay benchmark");
MODULE_LICENSE("GPL");
