// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/rtnl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_SIZE 65536
#define CHANGE_SIZE 256		/* upper bound of one message */

struct to_entry *to_entries_add(struct to_entries *entries)
{
	if (entries->n == entries->room) {
		unsigned int room = entries->room ? 2 * entries->room : 64;
		struct to_entry *items = realloc(entries->items,
						 room * sizeof(*items));

		if (!items)
			return NULL;
		entries->items = items;
		entries->room = room;
	}
	return memset(&entries->items[entries->n++], 0, sizeof(*entries->items));
}

void to_entries_free(struct to_entries *entries)
{
	free(entries->items);
	memset(entries, 0, sizeof(*entries));
}

static int rtnl_entry_compare(const void *a, const void *b)
{
	return memcmp(a, b, TO_ENTRY_KEY);
}

void to_entries_sort(struct to_entries *entries)
{
	if (entries->n)
		qsort(entries->items, entries->n, sizeof(*entries->items),
		      rtnl_entry_compare);
}

static size_t rtnl_address_size(const struct to_entry *e)
{
	return e->family == AF_INET ? 4 : 16;
}

uint32_t to_entry_interface(const struct to_entry *e)
{
	return e->kind == TO_ENTRY_RULE ? e->table - TO_RTNL_TABLE(0) : e->ifindex;
}

void to_entry_text(const struct to_entry *e, const char *name, char *text,
		   size_t size)
{
	char dst[INET6_ADDRSTRLEN], via[INET6_ADDRSTRLEN + 5] = "", src[INET6_ADDRSTRLEN + 5] = "";
	char table[24] = "";

	inet_ntop(e->family, e->dst, dst, sizeof(dst));
	switch (e->kind) {
	case TO_ENTRY_ADDRESS:
		snprintf(text, size, "address %s/%u dev %s", dst, e->dst_len, name);
		break;
	case TO_ENTRY_NEIGHBOUR:
		snprintf(text, size, "neighbour %s lladdr %02x:%02x:%02x:%02x:%02x:%02x dev %s",
			 dst, e->mac[0], e->mac[1], e->mac[2], e->mac[3],
			 e->mac[4], e->mac[5], name);
		break;
	case TO_ENTRY_ROUTE:
		if (e->has_via) {
			strcpy(via, " via ");
			inet_ntop(e->family, e->via, via + 5, sizeof(via) - 5);
		}
		if (e->has_source) {
			strcpy(src, " src ");
			inet_ntop(e->family, e->source, src + 5, sizeof(src) - 5);
		}
		if (e->table != RT_TABLE_MAIN)
			snprintf(table, sizeof(table), " table %u", e->table);
		snprintf(text, size, "route %s/%u%s dev %s%s%s", dst, e->dst_len,
			 via, name, src, table);
		break;
	case TO_ENTRY_RULE:
		snprintf(text, size, "rule from %s lookup %u", dst, e->table);
		break;
	}
}

/* Links */

struct nic_list {
	struct to_nic *items;
	unsigned int n;
};

static int rtnl_add_nic(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifinfomsg *ifi = to_netlink_header(nlh, sizeof(*ifi));
	struct nic_list *list = arg;
	const struct nlattr *nla, *a;
	struct to_nic *nics, *nic;
	bool elsewhere = false;

	if (!ifi)
		return -EBADMSG;
	nics = realloc(list->items, (list->n + 1) * sizeof(*nics));
	if (!nics)
		return -ENOMEM;
	list->items = nics;
	nic = memset(&nics[list->n++], 0, sizeof(*nic));
	nic->ifindex = ifi->ifi_index;
	nic->flags = ifi->ifi_flags;
	mnl_attr_for_each(nla, nlh, sizeof(*ifi)) {
		switch (mnl_attr_get_type(nla)) {
		case IFLA_IFNAME:
			strncpy(nic->name, to_attr_text(nla), IFNAMSIZ - 1);
			break;
		case IFLA_IFALIAS:
			strncpy(nic->alias, to_attr_text(nla),
				sizeof(nic->alias) - 1);
			break;
		case IFLA_ADDRESS:
			if (mnl_attr_get_payload_len(nla) == sizeof(nic->mac))
				memcpy(nic->mac, mnl_attr_get_payload(nla),
				       sizeof(nic->mac));
			break;
		case IFLA_MTU:
			nic->mtu = to_attr_u32(nla);
			break;
		case IFLA_LINK:
			nic->lower = to_attr_u32(nla);
			break;
		case IFLA_LINK_NETNSID:
			elsewhere = true;
			break;
		case IFLA_MASTER:
			nic->master = to_attr_u32(nla);
			break;
		case IFLA_CARRIER:
			nic->carrier = to_attr_u8(nla);
			break;
		case IFLA_LINKINFO:
			mnl_attr_for_each_nested(a, nla)
				if (mnl_attr_get_type(a) == IFLA_INFO_KIND)
					strncpy(nic->kind, to_attr_text(a),
						IFNAMSIZ - 1);
			break;
		}
	}
	/* For a veth that is its other end, for others something else again. */
	if (elsewhere || strcmp(nic->kind, "macvlan"))
		nic->lower = 0;
	return 0;
}

static void rtnl_clear_nics(void *arg)
{
	((struct nic_list *)arg)->n = 0;
}

static struct nlmsghdr *rtnl_message(void *buf, uint16_t type, uint16_t flags,
				     const void *header, size_t size)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = flags;
	memcpy(mnl_nlmsg_put_extra_header(nlh, size), header, size);
	return nlh;
}

int to_rtnl_nics(struct to_netlink *nl, struct to_nic **nics, unsigned int *n,
		 struct to_error *err)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };
	struct nic_list list = {};
	char buf[256];
	int ret;

	ret = to_netlink_dump(nl, rtnl_message(buf, RTM_GETLINK, 0, &ifi, sizeof(ifi)),
			      rtnl_add_nic, rtnl_clear_nics, &list, err);
	if (ret) {
		free(list.items);
		return ret;
	}
	*nics = list.items;
	*n = list.n;
	return 0;
}

const struct to_nic *to_rtnl_nic_find(const struct to_nic *nics, unsigned int n,
				      const char *name)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(nics[i].name, name))
			return &nics[i];
	return NULL;
}

const struct to_nic *to_rtnl_nic_by_index(const struct to_nic *nics,
					  unsigned int n, uint32_t ifindex)
{
	for (unsigned int i = 0; i < n; i++)
		if (nics[i].ifindex == ifindex)
			return &nics[i];
	return NULL;
}

int to_rtnl_create(struct to_netlink *nl, const char *name, const char *alias,
		   struct to_error *err)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };
	struct nlattr *nest;
	struct nlmsghdr *nlh;
	char buf[512];
	int ret;

	nlh = rtnl_message(buf, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi,
			   sizeof(ifi));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	nest = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "topoopt");
	mnl_attr_nest_end(nlh, nest);
	ret = to_netlink_call(nl, nlh, NULL, NULL, err);
	if (ret)
		return ret;
	/* The kernel ignores an alias while it makes a link. */
	nlh = rtnl_message(buf, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	mnl_attr_put_strz(nlh, IFLA_IFALIAS, alias);
	return to_netlink_call(nl, nlh, NULL, NULL, err);
}

int to_rtnl_delete(struct to_netlink *nl, uint32_t ifindex, struct to_error *err)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC, .ifi_index = ifindex };
	char buf[256];

	return to_netlink_call(nl, rtnl_message(buf, RTM_DELLINK, 0, &ifi, sizeof(ifi)),
			       NULL, NULL, err);
}

int to_rtnl_set_master(struct to_netlink *nl, uint32_t ifindex, uint32_t master,
		       struct to_error *err)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC, .ifi_index = ifindex };
	struct nlmsghdr *nlh;
	char buf[256];

	nlh = rtnl_message(buf, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	mnl_attr_put_u32(nlh, IFLA_MASTER, master);
	return to_netlink_call(nl, nlh, NULL, NULL, err);
}

int to_rtnl_set_up(struct to_netlink *nl, uint32_t ifindex, bool up,
		   struct to_error *err)
{
	struct ifinfomsg ifi = {
		.ifi_family = AF_UNSPEC, .ifi_index = ifindex,
		.ifi_flags = up ? IFF_UP : 0, .ifi_change = IFF_UP,
	};
	char buf[256];

	return to_netlink_call(nl, rtnl_message(buf, RTM_NEWLINK, 0, &ifi, sizeof(ifi)),
			       NULL, NULL, err);
}

/* Entries: reading */

struct entry_lists {
	struct to_entries *own, *foreign;
	unsigned int own_base, foreign_base;
};

static void rtnl_clear_entries(void *arg)
{
	struct entry_lists *lists = arg;

	lists->own->n = lists->own_base;
	if (lists->foreign)
		lists->foreign->n = lists->foreign_base;
}

static int rtnl_entry_keep(struct entry_lists *lists, const struct to_entry *e,
			   uint8_t protocol)
{
	struct to_entries *list = protocol == TO_RTNL_PROTOCOL ? lists->own :
				  e->kind == TO_ENTRY_ADDRESS ? lists->foreign : NULL;
	struct to_entry *item;

	if (!list || (e->family != AF_INET && e->family != AF_INET6))
		return 0;
	item = to_entries_add(list);
	if (!item)
		return -ENOMEM;
	*item = *e;
	return 0;
}

static void rtnl_entry_address(uint8_t *to, const struct nlattr *nla)
{
	if (mnl_attr_get_payload_len(nla) <= 16)
		memcpy(to, mnl_attr_get_payload(nla), mnl_attr_get_payload_len(nla));
}

static int rtnl_add_address(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifaddrmsg *ifa = to_netlink_header(nlh, sizeof(*ifa));
	struct to_entry e = { .kind = TO_ENTRY_ADDRESS };
	const struct nlattr *nla;
	uint8_t protocol = 0;
	bool local = false;

	if (!ifa)
		return -EBADMSG;
	e.family = ifa->ifa_family;
	e.key_ifindex = e.ifindex = ifa->ifa_index;
	e.dst_len = ifa->ifa_prefixlen;
	mnl_attr_for_each(nla, nlh, sizeof(*ifa)) {
		switch (mnl_attr_get_type(nla)) {
		case IFA_LOCAL:
			rtnl_entry_address(e.dst, nla);
			local = true;
			break;
		case IFA_ADDRESS:
			if (!local)
				rtnl_entry_address(e.dst, nla);
			break;
		case IFA_PROTO:
			protocol = to_attr_u8(nla);
			break;
		}
	}
	return rtnl_entry_keep(arg, &e, protocol);
}

static int rtnl_add_neighbour(const struct nlmsghdr *nlh, void *arg)
{
	const struct ndmsg *ndm = to_netlink_header(nlh, sizeof(*ndm));
	struct to_entry e = { .kind = TO_ENTRY_NEIGHBOUR };
	const struct nlattr *nla;
	uint8_t protocol = 0;

	if (!ndm)
		return -EBADMSG;
	e.family = ndm->ndm_family;
	e.key_ifindex = e.ifindex = ndm->ndm_ifindex;
	e.dst_len = 8 * rtnl_address_size(&e);
	mnl_attr_for_each(nla, nlh, sizeof(*ndm)) {
		switch (mnl_attr_get_type(nla)) {
		case NDA_DST:
			rtnl_entry_address(e.dst, nla);
			break;
		case NDA_LLADDR:
			if (mnl_attr_get_payload_len(nla) == sizeof(e.mac))
				memcpy(e.mac, mnl_attr_get_payload(nla), sizeof(e.mac));
			break;
		case NDA_PROTOCOL:
			protocol = to_attr_u8(nla);
			break;
		}
	}
	/* Another tool has replaced it: its MAC is no longer ours. */
	if (!(ndm->ndm_state & NUD_PERMANENT))
		memset(e.mac, 0, sizeof(e.mac));
	return rtnl_entry_keep(arg, &e, protocol);
}

static int rtnl_add_route(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *rtm = to_netlink_header(nlh, sizeof(*rtm));
	struct to_entry e = { .kind = TO_ENTRY_ROUTE };
	const struct nlattr *nla;

	if (!rtm)
		return -EBADMSG;
	e.family = rtm->rtm_family;
	e.table = rtm->rtm_table;
	e.dst_len = rtm->rtm_dst_len;
	mnl_attr_for_each(nla, nlh, sizeof(*rtm)) {
		switch (mnl_attr_get_type(nla)) {
		case RTA_TABLE:
			e.table = to_attr_u32(nla);
			break;
		case RTA_DST:
			rtnl_entry_address(e.dst, nla);
			break;
		case RTA_OIF:
			e.ifindex = to_attr_u32(nla);
			break;
		case RTA_GATEWAY:
			rtnl_entry_address(e.via, nla);
			e.has_via = true;
			break;
		case RTA_PREFSRC:
			rtnl_entry_address(e.source, nla);
			e.has_source = true;
			break;
		}
	}
	return rtnl_entry_keep(arg, &e, rtm->rtm_protocol);
}

static int rtnl_add_rule(const struct nlmsghdr *nlh, void *arg)
{
	const struct fib_rule_hdr *frh = to_netlink_header(nlh, sizeof(*frh));
	struct to_entry e = { .kind = TO_ENTRY_RULE };
	const struct nlattr *nla;
	uint8_t protocol = 0;

	if (!frh)
		return -EBADMSG;
	e.family = frh->family;
	e.table = frh->table;
	e.dst_len = frh->src_len;
	mnl_attr_for_each(nla, nlh, sizeof(*frh)) {
		switch (mnl_attr_get_type(nla)) {
		case FRA_TABLE:
			e.table = to_attr_u32(nla);
			break;
		case FRA_SRC:
			rtnl_entry_address(e.dst, nla);
			break;
		case FRA_PROTOCOL:
			protocol = to_attr_u8(nla);
			break;
		}
	}
	return rtnl_entry_keep(arg, &e, protocol);
}

int to_rtnl_entries(struct to_netlink *nl, struct to_entries *own,
		    struct to_entries *foreign, struct to_error *err)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct entry_lists lists = { own, foreign, 0, 0 };
	char buf[256];
	int ret = 0;

	for (int i = 0; !ret && i < 8; i++) {
		int family = families[i % 2];
		struct ifaddrmsg ifa = { .ifa_family = family };
		struct ndmsg ndm = { .ndm_family = family };
		struct rtmsg rtm = { .rtm_family = family,
				     .rtm_protocol = TO_RTNL_PROTOCOL };
		struct fib_rule_hdr frh = { .family = family };
		const struct {
			uint16_t type;
			const void *header;
			size_t size;
			to_netlink_reply reply;
		} dumps[] = {
			{ RTM_GETADDR, &ifa, sizeof(ifa), rtnl_add_address },
			{ RTM_GETNEIGH, &ndm, sizeof(ndm), rtnl_add_neighbour },
			{ RTM_GETROUTE, &rtm, sizeof(rtm), rtnl_add_route },
			{ RTM_GETRULE, &frh, sizeof(frh), rtnl_add_rule },
		}, *d = &dumps[i / 2];

		lists.own_base = own->n;
		lists.foreign_base = foreign ? foreign->n : 0;
		ret = to_netlink_dump(nl, rtnl_message(buf, d->type, 0, d->header,
						       d->size),
				      d->reply, rtnl_clear_entries, &lists, err);
		/* Strict filters make a dump of a table that is not there fail. */
		if (ret == -ENOENT || ret == -EAFNOSUPPORT)
			ret = 0;
	}
	return ret;
}

/* Entries: writing */

static struct nlmsghdr *rtnl_put_address(void *buf, const struct to_entry *e, bool add,
					 uint16_t flags)
{
	struct ifaddrmsg ifa = {
		.ifa_family = e->family, .ifa_prefixlen = e->dst_len,
		.ifa_index = e->key_ifindex,
		/* A fabric has no duplicates to detect, and no time to wait. */
		.ifa_flags = e->family == AF_INET6 && add ? IFA_F_NODAD : 0,
	};
	struct nlmsghdr *nlh;

	nlh = rtnl_message(buf, add ? RTM_NEWADDR : RTM_DELADDR, flags, &ifa,
			   sizeof(ifa));
	mnl_attr_put(nlh, IFA_LOCAL, rtnl_address_size(e), e->dst);
	if (add) {
		mnl_attr_put(nlh, IFA_ADDRESS, rtnl_address_size(e), e->dst);
		mnl_attr_put_u8(nlh, IFA_PROTO, TO_RTNL_PROTOCOL);
	}
	return nlh;
}

static struct nlmsghdr *rtnl_put_neighbour(void *buf, const struct to_entry *e,
					   bool add, uint16_t flags)
{
	struct ndmsg ndm = {
		.ndm_family = e->family, .ndm_ifindex = e->key_ifindex,
		.ndm_state = add ? NUD_PERMANENT : 0,
	};
	struct nlmsghdr *nlh;

	nlh = rtnl_message(buf, add ? RTM_NEWNEIGH : RTM_DELNEIGH, flags, &ndm,
			   sizeof(ndm));
	mnl_attr_put(nlh, NDA_DST, rtnl_address_size(e), e->dst);
	if (add) {
		mnl_attr_put(nlh, NDA_LLADDR, sizeof(e->mac), e->mac);
		mnl_attr_put_u8(nlh, NDA_PROTOCOL, TO_RTNL_PROTOCOL);
	}
	return nlh;
}

static struct nlmsghdr *rtnl_put_route(void *buf, const struct to_entry *e, bool add,
				       uint16_t flags)
{
	struct rtmsg rtm = {
		.rtm_family = e->family, .rtm_dst_len = e->dst_len,
		.rtm_table = RT_TABLE_UNSPEC, .rtm_protocol = TO_RTNL_PROTOCOL,
		.rtm_scope = e->family == AF_INET && !e->has_via ?
			     RT_SCOPE_LINK : RT_SCOPE_UNIVERSE,
		.rtm_type = RTN_UNICAST,
		/* The next hop need not be in an address' prefix. */
		.rtm_flags = e->has_via ? RTNH_F_ONLINK : 0,
	};
	struct nlmsghdr *nlh;

	nlh = rtnl_message(buf, add ? RTM_NEWROUTE : RTM_DELROUTE, flags, &rtm,
			   sizeof(rtm));
	mnl_attr_put_u32(nlh, RTA_TABLE, e->table);
	mnl_attr_put(nlh, RTA_DST, rtnl_address_size(e), e->dst);
	mnl_attr_put_u32(nlh, RTA_OIF, e->ifindex);
	if (e->has_via)
		mnl_attr_put(nlh, RTA_GATEWAY, rtnl_address_size(e), e->via);
	if (e->has_source)
		mnl_attr_put(nlh, RTA_PREFSRC, rtnl_address_size(e), e->source);
	return nlh;
}

static struct nlmsghdr *rtnl_put_rule(void *buf, const struct to_entry *e, bool add,
				      uint16_t flags)
{
	struct fib_rule_hdr frh = {
		.family = e->family, .src_len = e->dst_len,
		.table = RT_TABLE_UNSPEC, .action = FR_ACT_TO_TBL,
	};
	struct nlmsghdr *nlh;

	nlh = rtnl_message(buf, add ? RTM_NEWRULE : RTM_DELRULE, flags, &frh,
			   sizeof(frh));
	mnl_attr_put(nlh, FRA_SRC, rtnl_address_size(e), e->dst);
	mnl_attr_put_u32(nlh, FRA_TABLE, e->table);
	mnl_attr_put_u32(nlh, FRA_PRIORITY, TO_RTNL_RULE_PRIORITY);
	mnl_attr_put_u8(nlh, FRA_PROTOCOL, TO_RTNL_PROTOCOL);
	return nlh;
}

static size_t rtnl_put_entry(void *buf, const struct to_entry *e,
			     enum to_change_verb verb)
{
	static struct nlmsghdr *(*const put[])(void *buf, const struct to_entry *e,
					       bool add, uint16_t flags) = {
		[TO_ENTRY_ADDRESS] = rtnl_put_address,
		[TO_ENTRY_NEIGHBOUR] = rtnl_put_neighbour,
		[TO_ENTRY_ROUTE] = rtnl_put_route,
		[TO_ENTRY_RULE] = rtnl_put_rule,
	};
	uint16_t flags = verb == TO_CHANGE_DELETE ? 0 : NLM_F_CREATE;

	/* A learned neighbour gives way to a planned one. */
	if (verb == TO_CHANGE_REPLACE ||
	    (verb == TO_CHANGE_ADD && e->kind == TO_ENTRY_NEIGHBOUR))
		flags |= NLM_F_REPLACE;
	else if (verb == TO_CHANGE_ADD)
		flags |= NLM_F_EXCL;
	return NLMSG_ALIGN(put[e->kind](buf, e, verb != TO_CHANGE_DELETE,
					flags)->nlmsg_len);
}

/* A batch in flight: the changes it carries, the first that failed. */
struct batch {
	struct to_change *changes;
	const struct to_change *failed;
};

static int rtnl_failed(unsigned int index, int code, void *arg)
{
	struct batch *batch = arg;
	struct to_change *c = &batch->changes[index];

	c->done = false;
	if (c->verb == TO_CHANGE_DELETE &&
	    (code == -ENOENT || code == -ESRCH || code == -EADDRNOTAVAIL ||
	     code == -ENODEV))
		return 0;
	if (!batch->failed)
		batch->failed = c;
	return code;
}

int to_rtnl_change(struct to_netlink *nl, struct to_change *changes,
		   unsigned int n, struct to_error *err)
{
	static const char *const verbs[] = { "add", "replace", "remove" };
	char *buf = malloc(BATCH_SIZE);
	int ret = 0;

	if (!buf)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0, first = 0; !ret && i < n; first = i) {
		struct batch batch = { .changes = changes + first };
		struct to_error e = {};
		size_t len = 0;

		for (; i < n && len + CHANGE_SIZE <= BATCH_SIZE; i++) {
			len += rtnl_put_entry(buf + len, &changes[i].entry, changes[i].verb);
			changes[i].done = true;
		}
		ret = to_netlink_post(nl, buf, len, rtnl_failed, &batch, &e);
		if (ret && batch.failed) {
			char name[IFNAMSIZ] = "", text[192];

			if_indextoname(batch.failed->entry.ifindex, name);
			to_entry_text(&batch.failed->entry, name, text, sizeof(text));
			to_error_set(err, ret, "%s %s: %s",
				     verbs[batch.failed->verb], text, e.text);
		} else if (ret) {
			to_error_set(err, ret, "%s", e.text);
		}
	}
	free(buf);
	return ret;
}

void to_rtnl_undo(struct to_netlink *nl, struct to_change *changes, unsigned int n)
{
	static const enum to_change_verb inverse[] = {
		[TO_CHANGE_ADD] = TO_CHANGE_DELETE,
		[TO_CHANGE_REPLACE] = TO_CHANGE_REPLACE,
		[TO_CHANGE_DELETE] = TO_CHANGE_ADD,
	};

	while (n--) {
		struct to_change back = {
			.verb = inverse[changes[n].verb],
			.entry = changes[n].verb == TO_CHANGE_ADD ?
				 changes[n].entry : changes[n].old,
		};

		if (changes[n].done)
			to_rtnl_change(nl, &back, 1, NULL);
		changes[n].done = false;
	}
}
