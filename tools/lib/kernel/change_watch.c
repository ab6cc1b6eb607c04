// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/change_watch.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#define WATCH_BUFFER 16384	/* bytes of one datagram, which has one event */
#define WATCH_QUEUE (1 << 20)	/* bytes of events that wait to be read */

static int watch_join(struct mnl_socket *socket, int group)
{
	return mnl_socket_setsockopt(socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
}

int to_change_watch_open(struct to_change_watch *watch, struct to_error *err)
{
	static const int groups[] = {
		RTNLGRP_LINK, RTNLGRP_NEIGH, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
		RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE,
	};
	const int size = WATCH_QUEUE;
	int ret = 0;

	watch->route = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!watch->route || mnl_socket_bind(watch->route, 0, MNL_SOCKET_AUTOPID) < 0)
		ret = -errno;
	for (unsigned int i = 0; !ret && i < sizeof(groups) / sizeof(*groups); i++)
		if (watch_join(watch->route, groups[i]))
			ret = -errno;
	if (ret) {
		to_change_watch_close(watch);
		return to_error_set(err, ret, "netlink: watch: %s", strerror(-ret));
	}
	/* Only privileged users may; the others lose events sooner, and are told. */
	setsockopt(mnl_socket_get_fd(watch->route), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return 0;
}

static void watch_close_device(struct to_change_watch *watch)
{
	if (watch->device)
		to_genl_close(&watch->genl);
	watch->device = 0;
}

void to_change_watch_close(struct to_change_watch *watch)
{
	if (watch->route)
		mnl_socket_close(watch->route);
	watch->route = NULL;
	watch_close_device(watch);
}

int to_change_watch_device(struct to_change_watch *watch, uint32_t device, struct to_error *err)
{
	int ret;

	if (device == watch->device)
		return 0;
	watch_close_device(watch);
	if (!device)
		return 0;
	ret = to_genl_open(&watch->genl, err);
	if (ret)
		return ret;
	if (watch_join(watch->genl.nl.socket, watch->genl.events)) {
		ret = to_error_set(err, -errno, "netlink: watch: %s", strerror(errno));
		to_genl_close(&watch->genl);
		return ret;
	}
	watch->device = device;
	return 0;
}

unsigned int to_change_watch_polls(const struct to_change_watch *watch, struct pollfd polls[2])
{
	polls[0] = (struct pollfd){ .fd = mnl_socket_get_fd(watch->route), .events = POLLIN };
	if (!watch->device)
		return 1;
	polls[1] = (struct pollfd){
		.fd = mnl_socket_get_fd(watch->genl.nl.socket), .events = POLLIN,
	};
	return 2;
}

/* Return: whether @nlh is an event that anybody asked for. */
static bool watch_parse(const struct nlmsghdr *nlh, struct to_watch_event *change)
{
	const struct ifinfomsg *ifi;
	const struct ifaddrmsg *ifa;
	const struct ndmsg *ndm;

	*change = (struct to_watch_event){};
	switch (nlh->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		ifi = to_netlink_header(nlh, sizeof(*ifi));
		/* A bridge tells of its ports under its own family. */
		if (!ifi || ifi->ifi_family != AF_UNSPEC)
			return false;
		change->kind = TO_WATCH_LINK;
		change->ifindex = ifi->ifi_index;
		change->down = nlh->nlmsg_type == RTM_DELLINK || !(ifi->ifi_flags & IFF_UP);
		return true;
	case RTM_NEWADDR:
	case RTM_DELADDR:
		ifa = to_netlink_header(nlh, sizeof(*ifa));
		change->kind = TO_WATCH_ADDRESS;
		change->ifindex = ifa ? ifa->ifa_index : 0;
		return ifa;
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		ndm = to_netlink_header(nlh, sizeof(*ndm));
		change->kind = TO_WATCH_NEIGHBOUR;
		change->ifindex = ndm ? ndm->ndm_ifindex : 0;
		return ndm;
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		change->kind = TO_WATCH_ROUTE;
		return true;
	case RTM_NEWRULE:
	case RTM_DELRULE:
		change->kind = TO_WATCH_RULE;
		return true;
	}
	return false;
}

static bool watch_parse_device(const struct nlmsghdr *nlh, int len, struct to_watch_event *change)
{
	const struct genlmsghdr *g = mnl_nlmsg_ok(nlh, len) ? to_netlink_header(nlh, sizeof(*g)) : NULL;

	*change = (struct to_watch_event){
		.kind = g && g->cmd == TOPOOPT_CMD_COMMIT_NTF ? TO_WATCH_TABLE : TO_WATCH_PORT };
	return g && g->cmd != TOPOOPT_CMD_GROUP_NTF;
}

/* Return: bytes of a datagram, 0 when there is none; or an event that says that some were lost. */
static int watch_receive(struct mnl_socket *socket, void *buf,
			 void (*change)(const struct to_watch_event *change, void *arg), void *arg)
{
	static const struct to_watch_event lost = { .kind = TO_WATCH_LOST };

	for (;;) {
		const ssize_t got = recv(mnl_socket_get_fd(socket), buf, WATCH_BUFFER, MSG_DONTWAIT);

		if (got >= 0)
			return got;
		if (errno == ENOBUFS)
			change(&lost, arg);
		else if (errno != EINTR)
			return 0;
	}
}

void to_change_watch_read(struct to_change_watch *watch,
			  void (*change)(const struct to_watch_event *change, void *arg),
			  void *arg)
{
	struct to_watch_event one;
	char buf[WATCH_BUFFER] __attribute__((aligned(NLMSG_ALIGNTO)));
	int len;

	while (watch->device &&
	       (len = watch_receive(watch->genl.nl.socket, buf, change, arg)) > 0)
		if (watch_parse_device((void *)buf, len, &one))
			change(&one, arg);
	while ((len = watch_receive(watch->route, buf, change, arg)) > 0)
		for (const struct nlmsghdr *nlh = (void *)buf; mnl_nlmsg_ok(nlh, len);
		     nlh = mnl_nlmsg_next(nlh, &len))
			if (watch_parse(nlh, &one))
				change(&one, arg);
}
