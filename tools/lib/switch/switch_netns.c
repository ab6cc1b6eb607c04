// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lab's optical switch: a network namespace in which every port is an
 * interface with the alias SWITCH.PORT, and light that enters one leaves
 * another because a tc filter (matchall, mirred) redirects it. Ports that change
 * are dark, their interfaces down, for the switch's reconfiguration time.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/netlink.h"
#include "switch/switch_driver.h"

#define NETNS_DEFAULT "ocs"
#define NETNS_MESSAGE 256	/* upper bound of one request */
#define NETNS_GETS 128		/* whose answers surely fit the receive buffer */

/**
 * struct netns - an open namespace
 * @ifindex: by port number, 0 where there is none
 */
struct netns {
	struct to_netlink nl;
	bool open;
	uint32_t *ifindex;
};

/* Requests that are sent together. */
struct batch {
	char *buf;
	size_t len;
};

const char *to_switch_netns_name(const struct to_switch_control *control)
{
	return control->address[0] ? control->address : NETNS_DEFAULT;
}

/* The socket belongs to the namespace it was opened in, the thread comes back. */
static int netns_connect(struct netns *ns, const char *name, struct to_error *err)
{
	char path[300];
	int home, there, ret;

	if (strchr(name, '/'))
		return to_error_set(err, -EINVAL, "%s: not the name of a network namespace", name);
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	there = open(path, O_RDONLY | O_CLOEXEC);
	if (there < 0)
		return to_error_set(err, -errno, "network namespace %s: %s",
				    name, strerror(errno));
	home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home < 0 || setns(there, CLONE_NEWNET)) {
		ret = to_error_set(err, -errno, "network namespace %s: %s", path, strerror(errno));
	} else {
		ret = to_netlink_open(&ns->nl, NETLINK_ROUTE, err);
		ns->open = !ret;
		if (setns(home, CLONE_NEWNET) && !ret)
			ret = to_error_set(err, -errno, "own network namespace: %s",
					   strerror(errno));
	}
	if (home >= 0)
		close(home);
	close(there);
	return ret;
}

struct find {
	const struct to_switch *sw;
	struct netns *ns;
};

static int netns_take_link(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifinfomsg *link = to_netlink_header(nlh, sizeof(*link));
	const struct find *find = arg;
	const char *name = find->sw->optical->name;
	size_t len = strlen(name);
	const struct nlattr *nla;

	if (!link)
		return -EBADMSG;
	mnl_attr_for_each(nla, nlh, sizeof(*link)) {
		const char *alias = mnl_attr_get_payload(nla);
		unsigned long port;
		char *end;

		if (mnl_attr_get_type(nla) != IFLA_IFALIAS ||
		    mnl_attr_validate(nla, MNL_TYPE_NUL_STRING) < 0 ||
		    strncmp(alias, name, len) || alias[len] != '.')
			continue;
		port = strtoul(alias + len + 1, &end, 10);
		if (!*end && port && port <= find->sw->optical->n_ports)
			find->ns->ifindex[port] = link->ifi_index;
	}
	return 0;
}

static int netns_open(struct to_switch *sw, struct to_error *err)
{
	struct ifinfomsg link = { .ifi_family = AF_UNSPEC };
	char buf[NETNS_MESSAGE];
	struct nlmsghdr *nlh;
	struct find find;
	int ret;

	sw->state = find.ns = calloc(1, sizeof(*find.ns));
	find.sw = sw;
	if (!sw->state)
		return to_error_set(err, -ENOMEM, "out of memory");
	find.ns->ifindex = calloc((size_t)sw->optical->n_ports + 1, sizeof(*find.ns->ifindex));
	if (!find.ns->ifindex)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = netns_connect(find.ns, to_switch_netns_name(&sw->optical->control), err);
	if (ret)
		return ret;
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_GETLINK;
	memcpy(mnl_nlmsg_put_extra_header(nlh, sizeof(link)), &link, sizeof(link));
	ret = to_netlink_dump(&find.ns->nl, nlh, netns_take_link, NULL, &find, err);
	if (ret)
		return ret;
	for (unsigned int port = 1; port <= sw->optical->n_ports; port++)
		if (find.ns->ifindex[port])
			return 0;
	return to_error_set(err, -ENODEV, "no interface in its namespace has the alias %s.PORT",
			    sw->optical->name);
}

static struct nlmsghdr *netns_filter(void *buf, uint16_t type, uint32_t ifindex)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct tcmsg *tcm;

	nlh->nlmsg_type = type;
	tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));
	tcm->tcm_ifindex = ifindex;
	tcm->tcm_parent = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS);
	tcm->tcm_handle = 1;
	tcm->tcm_info = TC_H_MAKE(1 << 16, htons(ETH_P_ALL));
	return nlh;
}

static const struct nlattr *netns_nested(const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *nla;

	if (nest)
		mnl_attr_for_each_nested(nla, nest)
			if (mnl_attr_get_type(nla) == type)
				return nla;
	return NULL;
}

struct look {
	const struct to_switch *sw;
	struct to_circuits *pairs;
};

static unsigned int netns_port(const struct to_switch *sw, uint32_t ifindex)
{
	const struct netns *ns = sw->state;

	for (unsigned int port = 1; port <= sw->optical->n_ports; port++)
		if (ns->ifindex[port] == ifindex)
			return port;
	return 0;
}

/* Which interface the filter of one redirects to. */
static int netns_take_filter(const struct nlmsghdr *nlh, void *arg)
{
	const struct tcmsg *tcm = to_netlink_header(nlh, sizeof(*tcm));
	const struct nlattr *nla, *at = NULL;
	const struct tc_mirred *mirred;
	const struct look *look = arg;
	unsigned int in, out;

	if (!tcm)
		return -EBADMSG;
	mnl_attr_for_each(nla, nlh, sizeof(*tcm))
		if (mnl_attr_get_type(nla) == TCA_OPTIONS)
			at = nla;
	at = netns_nested(netns_nested(at, TCA_MATCHALL_ACT), 1);
	at = netns_nested(netns_nested(at, TCA_ACT_OPTIONS), TCA_MIRRED_PARMS);
	if (!at || mnl_attr_get_payload_len(at) < sizeof(*mirred))
		return 0;
	mirred = mnl_attr_get_payload(at);
	in = netns_port(look->sw, tcm->tcm_ifindex);
	out = netns_port(look->sw, mirred->ifindex);
	return in && out ? to_circuits_add(look->pairs, in, out) : 0;
}

/* No filter: the port is on no cross-connect. */
static int netns_no_filter(unsigned int index, int code, void *arg)
{
	(void)index;
	(void)arg;
	return code == -ENOENT || code == -EINVAL ? 0 : code;
}

static int netns_read(struct to_switch *sw, struct to_circuits *pairs, struct to_error *err)
{
	struct look look = { .sw = sw, .pairs = pairs };
	char buf[NETNS_GETS * NETNS_MESSAGE];
	unsigned int n_ports = sw->optical->n_ports;
	struct netns *ns = sw->state;
	size_t len = 0;
	int ret = 0;

	for (unsigned int in = 1; in <= n_ports && !ret; in++) {
		if (ns->ifindex[in])
			len += netns_filter(buf + len, RTM_GETTFILTER, ns->ifindex[in])->nlmsg_len;
		if (len && (in == n_ports || len + NETNS_MESSAGE > sizeof(buf))) {
			ret = to_netlink_get(&ns->nl, buf, len, netns_take_filter,
					     netns_no_filter, &look, err);
			len = 0;
		}
	}
	return ret;
}

static void netns_batch_link(struct batch *batch, uint32_t ifindex, bool up)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(batch->buf + batch->len);
	struct ifinfomsg *link;

	nlh->nlmsg_type = RTM_NEWLINK;
	link = mnl_nlmsg_put_extra_header(nlh, sizeof(*link));
	link->ifi_index = ifindex;
	link->ifi_change = IFF_UP;
	link->ifi_flags = up ? IFF_UP : 0;
	batch->len += nlh->nlmsg_len;
}

static void netns_batch_redirect(struct batch *batch, uint32_t in, uint32_t out)
{
	struct nlmsghdr *nlh = netns_filter(batch->buf + batch->len, RTM_NEWTFILTER, in);
	struct nlattr *options, *actions, *action, *parameters;
	struct tc_mirred mirred = {
		.action = TC_ACT_STOLEN, .eaction = TCA_EGRESS_REDIR, .ifindex = out,
	};

	nlh->nlmsg_flags = NLM_F_CREATE;
	mnl_attr_put_strz(nlh, TCA_KIND, "matchall");
	options = mnl_attr_nest_start(nlh, TCA_OPTIONS);
	actions = mnl_attr_nest_start(nlh, TCA_MATCHALL_ACT);
	action = mnl_attr_nest_start(nlh, 1);
	mnl_attr_put_strz(nlh, TCA_ACT_KIND, "mirred");
	parameters = mnl_attr_nest_start(nlh, TCA_ACT_OPTIONS);
	mnl_attr_put(nlh, TCA_MIRRED_PARMS, sizeof(mirred), &mirred);
	mnl_attr_nest_end(nlh, parameters);
	mnl_attr_nest_end(nlh, action);
	mnl_attr_nest_end(nlh, actions);
	mnl_attr_nest_end(nlh, options);
	batch->len += nlh->nlmsg_len;
}

static bool netns_uses(const struct to_circuits *circuits, unsigned int port)
{
	for (unsigned int i = 0; i < circuits->n; i++)
		if (circuits->circuit[i].in == port || circuits->circuit[i].out == port)
			return true;
	return false;
}

static int netns_post(struct netns *ns, struct batch *batch, struct to_error *err)
{
	int ret =
		batch->len ? to_netlink_post(&ns->nl, batch->buf, batch->len, NULL, NULL, err) : 0;

	batch->len = 0;
	return ret;
}

static int netns_move(struct to_switch *sw, struct batch *batch, const struct to_circuits *off,
		      const struct to_circuits *on, struct to_error *err)
{
	struct netns *ns = sw->state;
	struct to_circuits now = {};
	int ret;

	for (unsigned int port = 1; port <= sw->optical->n_ports; port++)
		if (netns_uses(off, port))
			netns_batch_link(batch, ns->ifindex[port], false);
	for (unsigned int i = 0; i < off->n; i++)
		batch->len += netns_filter(batch->buf + batch->len, RTM_DELTFILTER,
					   ns->ifindex[off->circuit[i].in])->nlmsg_len;
	ret = netns_post(ns, batch, err);
	if (ret)
		return ret;
	to_clock_sleep(sw->optical->reconfiguration_ns);
	for (unsigned int i = 0; i < on->n; i++)
		netns_batch_redirect(batch, ns->ifindex[on->circuit[i].in],
				     ns->ifindex[on->circuit[i].out]);
	ret = netns_post(ns, batch, err);
	if (!ret)
		ret = netns_read(sw, &now, err);
	for (unsigned int port = 1; port <= sw->optical->n_ports; port++)
		if ((netns_uses(on, port) || netns_uses(off, port)) && netns_uses(&now, port))
			netns_batch_link(batch, ns->ifindex[port], true);
	to_circuits_free(&now);
	return ret ? ret : netns_post(ns, batch, err);
}

static int netns_change(struct to_switch *sw, const struct to_circuits *off,
			const struct to_circuits *on, struct to_error *err)
{
	const struct netns *ns = sw->state;
	struct batch batch = {};
	int ret;

	for (unsigned int i = 0; i < on->n; i++) {
		const struct to_circuit *c = &on->circuit[i];
		unsigned int missing = !ns->ifindex[c->in] ? c->in : !ns->ifindex[c->out] ?
				       c->out : 0;

		if (missing)
			return to_error_set(err, -ENODEV, "no interface has the alias %s.%u",
					    sw->optical->name, missing);
	}
	batch.buf = calloc(3 * ((size_t)off->n + on->n) + 1, NETNS_MESSAGE);
	if (!batch.buf)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = netns_move(sw, &batch, off, on, err);
	free(batch.buf);
	return ret;
}

static void netns_close(struct to_switch *sw)
{
	struct netns *ns = sw->state;

	if (!ns)
		return;
	if (ns->open)
		to_netlink_close(&ns->nl);
	free(ns->ifindex);
	free(ns);
}

const struct to_switch_driver to_switch_netns = {
	.sides = true,
	.open = netns_open,
	.read = netns_read,
	.change = netns_change,
	.close = netns_close,
};
