// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/genl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MESSAGE_SIZE 65536
#define ROUTE_SIZE 72		/* upper bound of one route attribute */
#define PEER_SIZE 128		/* upper bound of one peer attribute in a request */

const char *const to_genl_counter_names[TO_COUNTERS] = {
	"relay-rx-packets", "relay-rx-bytes", "relay-tx-packets", "relay-tx-bytes",
	"relay-xdp-packets", "relay-xdp-generic-packets", "local-packets", "local-bytes",
	"miss-packets", "backup-packets", "drop-header", "drop-ttl", "drop-mtu",
	"drop-no-port", "drop-gso", "drop-nomem", "drop-tx", "alternate-packets",
	"drop-silent", "drop-down", "check-sent", "check-received", "check-missing",
	"check-refused",
};
_Static_assert(TOPOOPT_A_COUNTERS_MAX - TOPOOPT_A_COUNTERS_PAD == TO_COUNTERS,
	       "a name for every counter");

static const struct to_attribute nexthop_attributes[] = {
	[TOPOOPT_A_NEXTHOP_PORT] = { "port" },
	[TOPOOPT_A_NEXTHOP_MAC] = { "mac" },
	[TOPOOPT_A_NEXTHOP_WEIGHT] = { "weight" },
	[TOPOOPT_A_NEXTHOP_BACKUP] = { "backup" },
	[TOPOOPT_A_NEXTHOP_INGRESS] = { "ingress" },
};

#define NESTED(array) array, sizeof(array) / sizeof(*(array))

static const struct to_attribute group_attributes[] = {
	[TOPOOPT_A_GROUP_ID] = { "id" },
	[TOPOOPT_A_GROUP_NEXTHOP] = { "nexthop", NESTED(nexthop_attributes) },
};

static const struct to_attribute route_attributes[] = {
	[TOPOOPT_A_ROUTE_DST] = { "dst" },
	[TOPOOPT_A_ROUTE_DST_LEN] = { "dst-len" },
	[TOPOOPT_A_ROUTE_SRC] = { "src" },
	[TOPOOPT_A_ROUTE_SRC_LEN] = { "src-len" },
	[TOPOOPT_A_ROUTE_TYPE] = { "type" },
	[TOPOOPT_A_ROUTE_GROUP] = { "group" },
	[TOPOOPT_A_ROUTE_SERVER] = { "server" },
};

static const struct to_attribute port_attributes[] = {
	[TOPOOPT_A_PORT_IFINDEX] = { "ifindex" },
	[TOPOOPT_A_PORT_TX_IFINDEX] = { "tx-ifindex" },
	[TOPOOPT_A_PORT_XDP_CLASSES] = { "xdp-classes" },
};

static const struct to_attribute check_attributes[] = {
	[TOPOOPT_A_CHECK_INTERVAL] = { "interval" },
	[TOPOOPT_A_CHECK_FABRIC] = { "fabric" },
	[TOPOOPT_A_CHECK_KEY] = { "key" },
	[TOPOOPT_A_CHECK_GRACE] = { "grace" },
	[TOPOOPT_A_CHECK_SERVER] = { "server" },
};

static const struct to_attribute peer_attributes[] = {
	[TOPOOPT_A_PEER_PORT] = { "port" },
	[TOPOOPT_A_PEER_MAC] = { "mac" },
	[TOPOOPT_A_PEER_INDEX] = { "index" },
	[TOPOOPT_A_PEER_SERVER] = { "server" },
	[TOPOOPT_A_PEER_SERVER_PORT] = { "server-port" },
};

static const struct to_attribute device_attributes[] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { "ifindex" },
	[TOPOOPT_A_DEVICE_GENERATION] = { "generation" },
	[TOPOOPT_A_DEVICE_BASE_GENERATION] = { "base-generation" },
	[TOPOOPT_A_DEVICE_STAGED] = { "staged" },
	[TOPOOPT_A_DEVICE_GROUP] = { "group", NESTED(group_attributes) },
	[TOPOOPT_A_DEVICE_ROUTE] = { "route", NESTED(route_attributes) },
	[TOPOOPT_A_DEVICE_PORT] = { "port", NESTED(port_attributes) },
	[TOPOOPT_A_DEVICE_PROGRAM] = { "program" },
	[TOPOOPT_A_DEVICE_CHECK] = { "check", NESTED(check_attributes) },
	[TOPOOPT_A_DEVICE_PEER] = { "peer", NESTED(peer_attributes) },
};

void to_kernel_table_free(struct to_kernel_table *table)
{
	for (unsigned int i = 0; i < table->n_groups; i++)
		free(table->groups[i].nexthops);
	free(table->peers);
	free(table->groups);
	free(table->routes);
	memset(table, 0, sizeof(*table));
}

static struct nlmsghdr *genl_message(const struct to_genl *genl, void *buf,
				     uint8_t command)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *g;

	nlh->nlmsg_type = genl->family;
	g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	g->cmd = command;
	g->version = TOPOOPT_FAMILY_VERSION;	/* of no matter to nlctrl */
	return nlh;
}

static struct nlmsghdr *genl_request(const struct to_genl *genl, void *buf,
				     uint8_t command, uint32_t ifindex)
{
	struct nlmsghdr *nlh = genl_message(genl, buf, command);

	if (ifindex)
		mnl_attr_put_u32(nlh, TOPOOPT_A_DEVICE_IFINDEX, ifindex);
	return nlh;
}

#define genl_for_each_attr(nla, nlh) \
	mnl_attr_for_each(nla, nlh, sizeof(struct genlmsghdr))

static void genl_parse_text(char *text, size_t size, const struct nlattr *nla)
{
	snprintf(text, size, "%s", to_attr_text(nla));
}

static int genl_parse_family(const struct nlmsghdr *nlh, void *arg)
{
	struct to_genl *genl = arg;
	const struct nlattr *nla, *nest, *a;

	genl_for_each_attr(nla, nlh) {
		if (mnl_attr_get_type(nla) == CTRL_ATTR_FAMILY_ID)
			genl->family = to_attr_u16(nla);
		if (mnl_attr_get_type(nla) != CTRL_ATTR_MCAST_GROUPS)
			continue;
		mnl_attr_for_each_nested(nest, nla)
			mnl_attr_for_each_nested(a, nest)
				if (mnl_attr_get_type(a) == CTRL_ATTR_MCAST_GRP_ID)
					genl->events = to_attr_u32(a);
	}
	return 0;
}

static int genl_set_module(const struct nlmsghdr *nlh, void *arg)
{
	struct to_module *module = arg;
	const struct nlattr *nla;

	genl_for_each_attr(nla, nlh) {
		if (mnl_attr_get_type(nla) == TOPOOPT_A_DEVICE_VERSION)
			genl_parse_text(module->version, sizeof(module->version), nla);
		if (mnl_attr_get_type(nla) == TOPOOPT_A_DEVICE_FEATURES)
			module->features = to_attr_u32(nla);
	}
	return 0;
}

/* Ask the module what it can; one that is older than this request can nothing of it. */
static int genl_read_module(struct to_genl *genl, struct to_error *err)
{
	char buf[256];
	int ret;

	genl->module = (struct to_module){};
	ret = to_netlink_call(&genl->nl, genl_message(genl, buf, TOPOOPT_CMD_MODULE_GET),
			      genl_set_module, &genl->module, err);
	return ret == -EOPNOTSUPP ? 0 : ret;
}

int to_genl_open(struct to_genl *genl, struct to_error *err)
{
	char buf[256];
	struct nlmsghdr *nlh;
	int ret;

	genl->events = 0;
	ret = to_netlink_open(&genl->nl, NETLINK_GENERIC, err);
	if (ret)
		return ret;
	genl->family = GENL_ID_CTRL;
	nlh = genl_message(genl, buf, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, TOPOOPT_FAMILY_NAME);
	ret = to_netlink_call(&genl->nl, nlh, genl_parse_family, genl, err);
	if (ret == -ENOENT)
		to_error_set(err, ret, "the kernel has no family %s: load the module with: modprobe topoopt_fwd",
			     TOPOOPT_FAMILY_NAME);
	if (!ret) {
		genl->nl.header = sizeof(struct genlmsghdr);
		genl->nl.attributes = device_attributes;
		genl->nl.n_attributes = sizeof(device_attributes) / sizeof(*device_attributes);
		ret = genl_read_module(genl, err);
	}
	if (ret)
		to_genl_close(genl);
	return ret;
}

void to_genl_close(struct to_genl *genl)
{
	to_netlink_close(&genl->nl);
}

/* An array that grows while a dump fills it. */
struct list {
	void *items;
	unsigned int n, room;
	size_t size;
};

static void *genl_list_add(struct list *list)
{
	if (list->n == list->room) {
		unsigned int room = list->room ? 2 * list->room : 16;
		void *items = realloc(list->items, room * list->size);

		if (!items)
			return NULL;
		list->items = items;
		list->room = room;
	}
	return memset((char *)list->items + list->size * list->n++, 0, list->size);
}

static void genl_list_clear(void *arg)
{
	((struct list *)arg)->n = 0;
}

static void genl_parse_name(char *name, const struct nlattr *nla)
{
	strncpy(name, to_attr_text(nla), IFNAMSIZ - 1);
}

static void genl_parse_counters(uint64_t *counters, const struct nlattr *nest)
{
	const struct nlattr *nla;

	mnl_attr_for_each_nested(nla, nest) {
		unsigned int i = mnl_attr_get_type(nla) -
				 TOPOOPT_A_COUNTERS_RELAY_RX_PACKETS;

		if (i < TO_COUNTERS && mnl_attr_get_payload_len(nla) == 8)
			counters[i] = to_attr_u64(nla);
	}
}

static void genl_parse_check(struct to_kernel_check *check, const struct nlattr *nest)
{
	const struct nlattr *nla;

	check->hidden = true;
	mnl_attr_for_each_nested(nla, nest) {
		switch (mnl_attr_get_type(nla)) {
		case TOPOOPT_A_CHECK_INTERVAL:
			check->interval = to_attr_u32(nla);
			break;
		case TOPOOPT_A_CHECK_FABRIC:
			check->fabric = to_attr_u64(nla);
			break;
		case TOPOOPT_A_CHECK_KEY:
			if (mnl_attr_get_payload_len(nla) != sizeof(check->key))
				break;
			memcpy(check->key, mnl_attr_get_payload(nla), sizeof(check->key));
			check->hidden = false;
			break;
		case TOPOOPT_A_CHECK_GRACE:
			check->grace_ms = to_attr_u32(nla);
			break;
		case TOPOOPT_A_CHECK_SERVER:
			genl_parse_text(check->server, sizeof(check->server), nla);
			break;
		}
	}
}

static int genl_set_device(const struct nlmsghdr *nlh, void *arg)
{
	struct to_device *d = arg;
	const struct nlattr *nla;

	genl_for_each_attr(nla, nlh) {
		switch (mnl_attr_get_type(nla)) {
		case TOPOOPT_A_DEVICE_IFINDEX:
			d->ifindex = to_attr_u32(nla);
			break;
		case TOPOOPT_A_DEVICE_IFNAME:
			genl_parse_name(d->name, nla);
			break;
		case TOPOOPT_A_DEVICE_GENERATION:
			d->generation = to_attr_u64(nla);
			break;
		case TOPOOPT_A_DEVICE_ROUTES:
			d->routes = to_attr_u32(nla);
			break;
		case TOPOOPT_A_DEVICE_GROUPS:
			d->groups = to_attr_u32(nla);
			break;
		case TOPOOPT_A_DEVICE_MEMORY:
			d->memory = to_attr_u64(nla);
			break;
		case TOPOOPT_A_DEVICE_STAGED_ROUTES:
			d->staged_routes = to_attr_u32(nla);
			d->staged = true;
			break;
		case TOPOOPT_A_DEVICE_STAGED_GROUPS:
			d->staged_groups = to_attr_u32(nla);
			break;
		case TOPOOPT_A_DEVICE_STAGED_PREPARED:
			d->prepared = true;
			break;
		case TOPOOPT_A_DEVICE_COUNTERS:
			genl_parse_counters(d->counters, nla);
			break;
		case TOPOOPT_A_DEVICE_CHECK:
			genl_parse_check(&d->check, nla);
			break;
		}
	}
	return 0;
}

int to_genl_device(struct to_genl *genl, uint32_t ifindex,
		   struct to_device *device, struct to_error *err)
{
	char buf[256];

	memset(device, 0, sizeof(*device));
	return to_netlink_call(&genl->nl,
			       genl_request(genl, buf, TOPOOPT_CMD_DEV_GET, ifindex),
			       genl_set_device, device, err);
}

static void genl_set_port(struct to_kernel_port *p, const struct nlattr *nla)
{
	switch (mnl_attr_get_type(nla)) {
	case TOPOOPT_A_PORT_IFINDEX:
		p->ifindex = to_attr_u32(nla);
		break;
	case TOPOOPT_A_PORT_IFNAME:
		genl_parse_name(p->name, nla);
		break;
	case TOPOOPT_A_PORT_TX_IFINDEX:
		p->tx_ifindex = to_attr_u32(nla);
		break;
	case TOPOOPT_A_PORT_TX_IFNAME:
		genl_parse_name(p->tx_name, nla);
		break;
	case TOPOOPT_A_PORT_LIVE:
		p->live = true;
		break;
	case TOPOOPT_A_PORT_COUNTERS:
		genl_parse_counters(p->counters, nla);
		break;
	case TOPOOPT_A_PORT_XDP_RECEIVE:
		p->xdp_receive = true;
		break;
	case TOPOOPT_A_PORT_XDP_TRANSMIT:
		p->xdp_transmit = true;
		break;
	case TOPOOPT_A_PORT_XDP_ERROR:
		p->xdp_error = to_attr_u32(nla);
		break;
	case TOPOOPT_A_PORT_XDP_CLASSES:
		p->xdp_classes = to_attr_u32(nla);
		break;
	}
}

static int genl_add_port(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *nest, *nla;
	struct to_kernel_port *p;

	genl_for_each_attr(nest, nlh) {
		if (mnl_attr_get_type(nest) != TOPOOPT_A_DEVICE_PORT)
			continue;
		p = genl_list_add(arg);
		if (!p)
			return -ENOMEM;
		mnl_attr_for_each_nested(nla, nest)
			genl_set_port(p, nla);
		if (!p->tx_ifindex) {
			p->tx_ifindex = p->ifindex;
			memcpy(p->tx_name, p->name, sizeof(p->name));
		}
	}
	return 0;
}

int to_genl_ports(struct to_genl *genl, uint32_t ifindex,
		  struct to_kernel_port **ports, unsigned int *n,
		  struct to_error *err)
{
	struct list list = { .size = sizeof(**ports) };
	char buf[256];
	int ret;

	ret = to_netlink_dump(&genl->nl,
			      genl_request(genl, buf, TOPOOPT_CMD_PORT_GET, ifindex),
			      genl_add_port, genl_list_clear, &list, err);
	if (ret) {
		free(list.items);
		return ret;
	}
	*ports = list.items;
	*n = list.n;
	return 0;
}

static int genl_port_set(struct to_genl *genl, uint32_t ifindex, uint32_t port,
			 uint16_t attribute, uint32_t value, struct to_error *err)
{
	char buf[256];
	struct nlmsghdr *nlh = genl_request(genl, buf, TOPOOPT_CMD_PORT_SET, ifindex);
	struct nlattr *nest = mnl_attr_nest_start(nlh, TOPOOPT_A_DEVICE_PORT);

	mnl_attr_put_u32(nlh, TOPOOPT_A_PORT_IFINDEX, port);
	mnl_attr_put_u32(nlh, attribute, value);
	mnl_attr_nest_end(nlh, nest);
	return to_netlink_call(&genl->nl, nlh, NULL, NULL, err);
}

int to_genl_port_set(struct to_genl *genl, uint32_t ifindex, uint32_t port,
		     uint32_t tx_ifindex, struct to_error *err)
{
	return genl_port_set(genl, ifindex, port, TOPOOPT_A_PORT_TX_IFINDEX, tx_ifindex, err);
}

int to_genl_port_set_xdp(struct to_genl *genl, uint32_t ifindex, uint32_t port,
			 uint32_t classes, struct to_error *err)
{
	return genl_port_set(genl, ifindex, port, TOPOOPT_A_PORT_XDP_CLASSES, classes, err);
}

int to_genl_account(struct to_genl *genl, uint32_t ifindex, int program,
		    struct to_error *err)
{
	char buf[256];
	struct nlmsghdr *nlh = genl_request(genl, buf, TOPOOPT_CMD_ACCOUNT, ifindex);

	mnl_attr_put_u32(nlh, TOPOOPT_A_DEVICE_PROGRAM, program);
	return to_netlink_call(&genl->nl, nlh, NULL, NULL, err);
}

static void genl_put_check(struct nlmsghdr *nlh, const struct to_kernel_check *check)
{
	static const uint8_t none[TO_KERNEL_KEY];
	struct nlattr *nest = mnl_attr_nest_start(nlh, TOPOOPT_A_DEVICE_CHECK);

	mnl_attr_put_u32(nlh, TOPOOPT_A_CHECK_INTERVAL, check->interval);
	mnl_attr_put_u64(nlh, TOPOOPT_A_CHECK_FABRIC, check->fabric);
	if (memcmp(check->key, none, sizeof(none)))
		mnl_attr_put(nlh, TOPOOPT_A_CHECK_KEY, sizeof(check->key), check->key);
	mnl_attr_put_u32(nlh, TOPOOPT_A_CHECK_GRACE, check->grace_ms);
	mnl_attr_put_strz(nlh, TOPOOPT_A_CHECK_SERVER, check->server);
	mnl_attr_nest_end(nlh, nest);
}

static void genl_put_peer(struct nlmsghdr *nlh, const struct to_peer *peer)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, TOPOOPT_A_DEVICE_PEER);

	mnl_attr_put_u32(nlh, TOPOOPT_A_PEER_PORT, peer->ifindex);
	mnl_attr_put(nlh, TOPOOPT_A_PEER_MAC, sizeof(peer->mac), peer->mac);
	mnl_attr_put_u32(nlh, TOPOOPT_A_PEER_INDEX, peer->index);
	mnl_attr_put_strz(nlh, TOPOOPT_A_PEER_SERVER, peer->server);
	mnl_attr_put_strz(nlh, TOPOOPT_A_PEER_SERVER_PORT, peer->server_port);
	mnl_attr_nest_end(nlh, nest);
}

static void genl_put_group(struct nlmsghdr *nlh, const struct to_kernel_group *group)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, TOPOOPT_A_DEVICE_GROUP);

	mnl_attr_put_u32(nlh, TOPOOPT_A_GROUP_ID, group->id);
	for (unsigned int i = 0; i < group->n; i++) {
		const struct to_kernel_nexthop *nh = &group->nexthops[i];
		struct nlattr *a = mnl_attr_nest_start(nlh, TOPOOPT_A_GROUP_NEXTHOP);

		mnl_attr_put_u32(nlh, TOPOOPT_A_NEXTHOP_PORT, nh->port);
		mnl_attr_put(nlh, TOPOOPT_A_NEXTHOP_MAC, sizeof(nh->mac), nh->mac);
		if (nh->ingress)
			mnl_attr_put_u32(nlh, TOPOOPT_A_NEXTHOP_INGRESS, nh->ingress);
		else
			mnl_attr_put_u16(nlh, TOPOOPT_A_NEXTHOP_WEIGHT, nh->weight);
		if (nh->backup)
			mnl_attr_put(nlh, TOPOOPT_A_NEXTHOP_BACKUP, 0, NULL);
		mnl_attr_nest_end(nlh, a);
	}
	mnl_attr_nest_end(nlh, nest);
}

/* As mnl_attr_put(), inlined: a table has a million routes of four of these. */
static inline char *genl_put(char *at, uint16_t type, const void *data, size_t len)
{
	struct nlattr *nla = (struct nlattr *)at;

	nla->nla_type = type;
	nla->nla_len = NLA_HDRLEN + len;
	memcpy(at + NLA_HDRLEN, data, len);
	memset(at + NLA_HDRLEN + len, 0, NLA_ALIGN(len) - len);
	return at + NLA_HDRLEN + NLA_ALIGN(len);
}

static inline char *genl_put_route_family(char *at, const struct to_kernel_route *r,
					  size_t size)
{
	at = genl_put(at, TOPOOPT_A_ROUTE_DST, r->dst, size);
	if (r->dst_len != 8 * size)
		at = genl_put(at, TOPOOPT_A_ROUTE_DST_LEN, &r->dst_len, 1);
	if (r->src_len)
		at = genl_put(at, TOPOOPT_A_ROUTE_SRC, r->src, size);
	if (r->src_len && r->src_len != 8 * size)
		at = genl_put(at, TOPOOPT_A_ROUTE_SRC_LEN, &r->src_len, 1);
	return at;
}

static void genl_put_route(struct nlmsghdr *nlh, const struct to_kernel_route *r)
{
	struct nlattr *nest = mnl_nlmsg_get_payload_tail(nlh);
	char *at = (char *)nest + NLA_HDRLEN;

	if (r->family == AF_INET)
		at = genl_put_route_family(at, r, 4);
	else
		at = genl_put_route_family(at, r, 16);
	if (r->group != TO_KERNEL_GROUP_NONE)
		at = genl_put(at, TOPOOPT_A_ROUTE_GROUP, &r->group, 4);
	if (r->type != TOPOOPT_ROUTE_TYPE_UNICAST)
		at = genl_put(at, TOPOOPT_A_ROUTE_TYPE, &r->type, 1);
	if (r->server != TOPOOPT_SERVER_NONE)
		at = genl_put(at, TOPOOPT_A_ROUTE_SERVER, &r->server, 4);
	nest->nla_type = TOPOOPT_A_DEVICE_ROUTE | NLA_F_NESTED;
	nest->nla_len = at - (char *)nest;
	nlh->nlmsg_len += nest->nla_len;
}

static int genl_stage_fill(struct to_genl *genl, uint32_t ifindex,
			   const struct to_kernel_table *table, char *buf,
			   struct to_error *err)
{
	bool check = table->check.interval != TOPOOPT_CHECK_INTERVAL_OFF;
	unsigned int p = 0, g = 0, r = 0;
	int ret;

	while (check || p < table->n_peers || g < table->n_groups || r < table->n_routes) {
		struct nlmsghdr *nlh = genl_request(genl, buf,
						    TOPOOPT_CMD_STAGE_ADD, ifindex);

		if (check)
			genl_put_check(nlh, &table->check);
		check = false;
		for (; p < table->n_peers; p++) {
			if (nlh->nlmsg_len + PEER_SIZE > MESSAGE_SIZE)
				break;
			genl_put_peer(nlh, &table->peers[p]);
		}
		for (; p == table->n_peers && g < table->n_groups; g++) {
			/* Upper bound: id, and port, MAC, weight or ingress, backup of each. */
			if (nlh->nlmsg_len + 16 + 40 * table->groups[g].n > MESSAGE_SIZE)
				break;
			genl_put_group(nlh, &table->groups[g]);
		}
		for (; g == table->n_groups && r < table->n_routes; r++) {
			if (nlh->nlmsg_len + ROUTE_SIZE > MESSAGE_SIZE)
				break;
			genl_put_route(nlh, &table->routes[r]);
		}
		ret = to_netlink_post(&genl->nl, nlh, nlh->nlmsg_len, NULL, NULL, err);
		if (ret)
			return ret;
	}
	return 0;
}

int to_genl_stage(struct to_genl *genl, uint32_t ifindex,
		  const struct to_kernel_table *table, struct to_error *err)
{
	char *buf = malloc(MESSAGE_SIZE);
	int ret;

	if (!buf)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = to_netlink_call(&genl->nl,
			      genl_request(genl, buf, TOPOOPT_CMD_STAGE_NEW, ifindex),
			      NULL, NULL, err);
	if (!ret) {
		ret = genl_stage_fill(genl, ifindex, table, buf, err);
		if (ret)
			to_genl_abort(genl, ifindex, NULL);
	}
	free(buf);
	return ret;
}

/* A table too large for one request is made by as many as it takes. */
static int genl_call_often(struct to_genl *genl, struct nlmsghdr *nlh,
			   to_netlink_reply reply, void *arg, struct to_error *err)
{
	int ret;

	do {
		ret = to_netlink_call(&genl->nl, nlh, reply, arg, err);
	} while (ret == -EINPROGRESS);
	if (!ret && err)
		err->text[0] = '\0';
	return ret;
}

int to_genl_prepare(struct to_genl *genl, uint32_t ifindex, struct to_error *err)
{
	char buf[256];

	return genl_call_often(genl, genl_request(genl, buf, TOPOOPT_CMD_STAGE_PREPARE,
						  ifindex), NULL, NULL, err);
}

int to_genl_abort(struct to_genl *genl, uint32_t ifindex, struct to_error *err)
{
	char buf[256];

	return to_netlink_call(&genl->nl,
			       genl_request(genl, buf, TOPOOPT_CMD_ABORT, ifindex),
			       NULL, NULL, err);
}

int to_genl_commit(struct to_genl *genl, uint32_t ifindex, uint64_t base,
		   uint64_t *generation, struct to_error *err)
{
	struct to_device device = {};
	struct nlmsghdr *nlh;
	char buf[256];
	int ret;

	nlh = genl_request(genl, buf, TOPOOPT_CMD_COMMIT, ifindex);
	mnl_attr_put_u64(nlh, TOPOOPT_A_DEVICE_BASE_GENERATION, base);
	if (generation && *generation)
		mnl_attr_put_u64(nlh, TOPOOPT_A_DEVICE_GENERATION, *generation);
	ret = genl_call_often(genl, nlh, genl_set_device, &device, err);
	if (!ret && generation)
		*generation = device.generation;
	return ret;
}

static int genl_parse_group(const struct nlattr *nest, struct to_kernel_group *group)
{
	const struct nlattr *a, *b;
	unsigned int n = 0;

	mnl_attr_for_each_nested(a, nest)
		n += mnl_attr_get_type(a) == TOPOOPT_A_GROUP_NEXTHOP;
	group->nexthops = calloc(n + 1, sizeof(*group->nexthops));
	if (!group->nexthops)
		return -ENOMEM;
	mnl_attr_for_each_nested(a, nest) {
		struct to_kernel_nexthop *nh = &group->nexthops[group->n];

		switch (mnl_attr_get_type(a)) {
		case TOPOOPT_A_GROUP_ID:
			group->id = to_attr_u32(a);
			continue;
		case TOPOOPT_A_GROUP_BACKUP_IN_USE:
			group->backup_in_use = true;
			continue;
		case TOPOOPT_A_GROUP_NEXTHOP:
			break;
		default:
			continue;
		}
		nh->weight = 1;
		mnl_attr_for_each_nested(b, a) {
			switch (mnl_attr_get_type(b)) {
			case TOPOOPT_A_NEXTHOP_PORT:
				nh->port = to_attr_u32(b);
				break;
			case TOPOOPT_A_NEXTHOP_MAC:
				if (mnl_attr_get_payload_len(b) == sizeof(nh->mac))
					memcpy(nh->mac, mnl_attr_get_payload(b),
					       sizeof(nh->mac));
				break;
			case TOPOOPT_A_NEXTHOP_WEIGHT:
				nh->weight = to_attr_u16(b);
				break;
			case TOPOOPT_A_NEXTHOP_BACKUP:
				nh->backup = true;
				break;
			case TOPOOPT_A_NEXTHOP_INGRESS:
				nh->ingress = to_attr_u32(b);
				break;
			case TOPOOPT_A_NEXTHOP_LIVE:
				nh->live = true;
				break;
			}
		}
		group->n++;
	}
	return 0;
}

static void genl_parse_route(const struct nlattr *nest, struct to_kernel_route *r)
{
	const struct nlattr *nla;
	bool dst_len = false, src_len = false;
	uint8_t full = 0;

	r->server = TOPOOPT_SERVER_NONE;
	r->group = TO_KERNEL_GROUP_NONE;
	mnl_attr_for_each_nested(nla, nest) {
		const void *payload = mnl_attr_get_payload(nla);
		unsigned int len = mnl_attr_get_payload_len(nla);

		switch (mnl_attr_get_type(nla)) {
		case TOPOOPT_A_ROUTE_DST:
			if (len > sizeof(r->dst))
				break;
			memcpy(r->dst, payload, len);
			r->family = len == 4 ? AF_INET : AF_INET6;
			full = 8 * len;
			break;
		case TOPOOPT_A_ROUTE_DST_LEN:
			r->dst_len = to_attr_u8(nla);
			dst_len = true;
			break;
		case TOPOOPT_A_ROUTE_SRC:
			if (len > sizeof(r->src))
				break;
			memcpy(r->src, payload, len);
			if (!src_len)
				r->src_len = 8 * len;
			break;
		case TOPOOPT_A_ROUTE_SRC_LEN:
			r->src_len = to_attr_u8(nla);
			src_len = true;
			break;
		case TOPOOPT_A_ROUTE_TYPE:
			r->type = to_attr_u8(nla);
			break;
		case TOPOOPT_A_ROUTE_GROUP:
			r->group = to_attr_u32(nla);
			break;
		case TOPOOPT_A_ROUTE_SERVER:
			r->server = to_attr_u32(nla);
			break;
		}
	}
	if (!dst_len)
		r->dst_len = full;
}

static void genl_parse_peer(struct to_peer *p, const struct nlattr *nest)
{
	const struct nlattr *nla;

	mnl_attr_for_each_nested(nla, nest) {
		switch (mnl_attr_get_type(nla)) {
		case TOPOOPT_A_PEER_PORT:
			p->ifindex = to_attr_u32(nla);
			break;
		case TOPOOPT_A_PEER_MAC:
			if (mnl_attr_get_payload_len(nla) == sizeof(p->mac))
				memcpy(p->mac, mnl_attr_get_payload(nla), sizeof(p->mac));
			break;
		case TOPOOPT_A_PEER_INDEX:
			p->index = to_attr_u32(nla);
			break;
		case TOPOOPT_A_PEER_SERVER:
			genl_parse_text(p->server, sizeof(p->server), nla);
			break;
		case TOPOOPT_A_PEER_SERVER_PORT:
			genl_parse_text(p->server_port, sizeof(p->server_port), nla);
			break;
		case TOPOOPT_A_PEER_TRANSIT:
			p->transit = true;
			break;
		case TOPOOPT_A_PEER_LOCAL:
			p->local = true;
			break;
		case TOPOOPT_A_PEER_REASON:
			p->reason = to_attr_u32(nla);
			break;
		case TOPOOPT_A_PEER_SILENCE:
			p->silence_ms = to_attr_u32(nla);
			p->heard = true;
			break;
		case TOPOOPT_A_PEER_RECEIVED:
			p->received = to_attr_u64(nla);
			break;
		case TOPOOPT_A_PEER_MISSING:
			p->missing = to_attr_u64(nla);
			break;
		case TOPOOPT_A_PEER_GENERATION:
			p->generation = to_attr_u64(nla);
			break;
		case TOPOOPT_A_PEER_LARGEST:
			p->largest = to_attr_u32(nla);
			break;
		case TOPOOPT_A_PEER_STRANGER:
			genl_parse_text(p->stranger, sizeof(p->stranger), nla);
			break;
		case TOPOOPT_A_PEER_STRANGER_PORT:
			genl_parse_text(p->stranger_port, sizeof(p->stranger_port), nla);
			break;
		}
	}
}

static int genl_add_peer(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *nla;
	struct to_peer *p;

	genl_for_each_attr(nla, nlh) {
		if (mnl_attr_get_type(nla) != TOPOOPT_A_DEVICE_PEER)
			continue;
		p = genl_list_add(arg);
		if (!p)
			return -ENOMEM;
		genl_parse_peer(p, nla);
	}
	return 0;
}

bool to_genl_peer(const struct nlmsghdr *nlh, struct to_peer *peer)
{
	const struct nlattr *nla;

	memset(peer, 0, sizeof(*peer));
	genl_for_each_attr(nla, nlh) {
		if (mnl_attr_get_type(nla) != TOPOOPT_A_DEVICE_PEER)
			continue;
		genl_parse_peer(peer, nla);
		return true;
	}
	return false;
}

/* None of a module without checks. */
static int genl_read_peers(struct to_genl *genl, uint32_t ifindex, struct list *peers,
			   struct to_error *err)
{
	char buf[256];

	peers->n = 0;
	if (!to_module_has(&genl->module, TOPOOPT_FEATURE_CHECKS))
		return 0;
	return to_netlink_dump(&genl->nl, genl_request(genl, buf, TOPOOPT_CMD_PEER_GET, ifindex),
			       genl_add_peer, genl_list_clear, peers, err);
}

int to_genl_peers(struct to_genl *genl, uint32_t ifindex, struct to_peer **peers,
		  unsigned int *n, struct to_error *err)
{
	struct list list = { .size = sizeof(**peers) };
	int ret = genl_read_peers(genl, ifindex, &list, err);

	if (ret) {
		free(list.items);
		return ret;
	}
	*peers = list.items;
	*n = list.n;
	return 0;
}

/* Groups and routes of a dump, and the generation they belong to. */
struct dump {
	struct list groups, routes;
	uint64_t generation;
};

static void genl_dump_clear(void *arg)
{
	struct dump *d = arg;

	for (unsigned int i = 0; i < d->groups.n; i++)
		free(((struct to_kernel_group *)d->groups.items)[i].nexthops);
	d->groups.n = 0;
	d->routes.n = 0;
}

static int genl_add_entries(const struct nlmsghdr *nlh, void *arg)
{
	struct dump *d = arg;
	const struct nlattr *nla;
	void *item;

	genl_for_each_attr(nla, nlh) {
		switch (mnl_attr_get_type(nla)) {
		case TOPOOPT_A_DEVICE_GENERATION:
			d->generation = to_attr_u64(nla);
			break;
		case TOPOOPT_A_DEVICE_GROUP:
			item = genl_list_add(&d->groups);
			if (!item || genl_parse_group(nla, item))
				return -ENOMEM;
			break;
		case TOPOOPT_A_DEVICE_ROUTE:
			item = genl_list_add(&d->routes);
			if (!item)
				return -ENOMEM;
			genl_parse_route(nla, item);
			break;
		}
	}
	return 0;
}

/* Only what @arg's own dump collects is forgotten when it starts over. */
static void genl_routes_clear(void *arg)
{
	((struct dump *)arg)->routes.n = 0;
}

int to_genl_table(struct to_genl *genl, uint32_t ifindex, bool staged,
		  struct to_kernel_table *table, struct to_error *err)
{
	struct dump d = {
		.groups.size = sizeof(struct to_kernel_group),
		.routes.size = sizeof(struct to_kernel_route),
	};
	struct list peers = { .size = sizeof(struct to_peer) };
	struct to_device device = {};
	uint64_t generation;
	struct nlmsghdr *nlh;
	char buf[256];
	int ret;

	do {
		genl_dump_clear(&d);
		nlh = genl_request(genl, buf, TOPOOPT_CMD_GROUP_GET, ifindex);
		if (staged)
			mnl_attr_put(nlh, TOPOOPT_A_DEVICE_STAGED, 0, NULL);
		ret = to_netlink_dump(&genl->nl, nlh, genl_add_entries,
				      genl_dump_clear, &d, err);
		generation = d.generation;
		nlh = genl_request(genl, buf, TOPOOPT_CMD_ROUTE_GET, ifindex);
		if (staged)
			mnl_attr_put(nlh, TOPOOPT_A_DEVICE_STAGED, 0, NULL);
		if (!ret)
			ret = to_netlink_dump(&genl->nl, nlh, genl_add_entries,
					      genl_routes_clear, &d, err);
		if (!ret && !staged)
			ret = genl_read_peers(genl, ifindex, &peers, err);
		if (!ret && !staged)
			ret = to_genl_device(genl, ifindex, &device, err);
	} while (!ret && d.routes.n &&
		 (d.generation != generation || (!staged && d.generation != device.generation)));
	table->generation = d.generation;
	table->groups = d.groups.items;
	table->n_groups = d.groups.n;
	table->routes = d.routes.items;
	table->n_routes = d.routes.n;
	table->check = device.check;
	table->peers = peers.items;
	table->n_peers = peers.n;
	if (ret)
		to_kernel_table_free(table);
	return ret;
}

int to_genl_route(struct to_genl *genl, uint32_t ifindex,
		  struct to_kernel_route *route, struct to_kernel_group *group,
		  uint64_t *generation, struct to_error *err)
{
	struct dump d = {
		.groups.size = sizeof(struct to_kernel_group),
		.routes.size = sizeof(struct to_kernel_route),
	};
	size_t size = route->family == AF_INET ? 4 : 16;
	struct nlmsghdr *nlh;
	struct nlattr *nest;
	char buf[256];
	int ret;

	nlh = genl_request(genl, buf, TOPOOPT_CMD_ROUTE_GET, ifindex);
	nest = mnl_attr_nest_start(nlh, TOPOOPT_A_DEVICE_ROUTE);
	mnl_attr_put(nlh, TOPOOPT_A_ROUTE_DST, size, route->dst);
	if (route->src_len)
		mnl_attr_put(nlh, TOPOOPT_A_ROUTE_SRC, size, route->src);
	mnl_attr_nest_end(nlh, nest);
	ret = to_netlink_call(&genl->nl, nlh, genl_add_entries, &d, err);
	if (!ret && d.routes.n) {
		*route = *(struct to_kernel_route *)d.routes.items;
		memset(group, 0, sizeof(*group));
		if (d.groups.n) {
			*group = *(struct to_kernel_group *)d.groups.items;
			d.groups.n = 0;	/* the caller has its next hops now */
		}
		if (generation)
			*generation = d.generation;
	} else if (!ret) {
		ret = to_error_set(err, -ENOENT, "no route");
	}
	genl_dump_clear(&d);
	free(d.groups.items);
	free(d.routes.items);
	return ret;
}
