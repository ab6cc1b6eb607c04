// SPDX-License-Identifier: GPL-2.0
/* Routes and groups, one or all, of the active table or of the stage. */

#include "continuity.h"
#include "netlink.h"
#include "netlink_policy.h"
#include "table.h"

static int topoopt_dump_put_route(struct sk_buff *skb,
				  const struct topoopt_rule *rule)
{
	struct nlattr *nest = nla_nest_start(skb, TOPOOPT_A_DEVICE_ROUTE);
	int len = rule->v6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);

	if (!nest || nla_put(skb, TOPOOPT_A_ROUTE_DST, len, &rule->dst) ||
	    nla_put_u8(skb, TOPOOPT_A_ROUTE_DST_LEN, rule->dst_len) ||
	    nla_put_u8(skb, TOPOOPT_A_ROUTE_TYPE, rule->route.type))
		goto err;
	if (rule->src_len &&
	    (nla_put(skb, TOPOOPT_A_ROUTE_SRC, len, &rule->src) ||
	     nla_put_u8(skb, TOPOOPT_A_ROUTE_SRC_LEN, rule->src_len)))
		goto err;
	if (rule->route.group &&
	    nla_put_u32(skb, TOPOOPT_A_ROUTE_GROUP, rule->route.group->id))
		goto err;
	if (rule->route.server != TOPOOPT_SERVER_NONE &&
	    nla_put_u32(skb, TOPOOPT_A_ROUTE_SERVER, rule->route.server))
		goto err;
	nla_nest_end(skb, nest);
	return 0;

err:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

static const struct topoopt_table *
topoopt_dump_active(const struct topoopt_dev *tdev)
{
	return rcu_dereference_protected(tdev->table,
					 lockdep_is_held(&tdev->lock));
}

/* One */

/* What a lookup takes of a route. */
#define TOPOOPT_DUMP_LOOKUP						\
	(BIT(TOPOOPT_A_ROUTE_DST) | BIT(TOPOOPT_A_ROUTE_DST_LEN) |	\
	 BIT(TOPOOPT_A_ROUTE_SRC) | BIT(TOPOOPT_A_ROUTE_SRC_LEN))

/* An address to look up; exactly one of its two lengths. */
static int topoopt_dump_address(const struct nlattr *attr,
				const struct nlattr *len_attr,
				struct in6_addr *addr, bool v6,
				struct netlink_ext_ack *extack)
{
	int len = v6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);

	if (nla_len(attr) != len) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "Address of neither 4 nor 16 bytes, or of two families");
		return -EINVAL;
	}
	if (len_attr && nla_get_u8(len_attr) != 8 * len) {
		NL_SET_ERR_MSG_ATTR(extack, len_attr,
				    "Addresses are looked up, not prefixes");
		return -EINVAL;
	}
	memcpy(addr, nla_data(attr), len);
	return 0;
}

static int topoopt_dump_find(const struct topoopt_table *table,
			     const struct nlattr *route,
			     struct topoopt_rule *rule,
			     struct netlink_ext_ack *extack)
{
	struct nlattr *attr[TOPOOPT_A_ROUTE_MAX + 1];
	int err;

	err = topoopt_netlink_takes(route, TOPOOPT_DUMP_LOOKUP, extack);
	if (err)
		return err;
	nla_parse_nested(attr, TOPOOPT_A_ROUTE_MAX, route, NULL, NULL);
	if (!attr[TOPOOPT_A_ROUTE_DST]) {
		NL_SET_ERR_MSG_ATTR(extack, route, "The dst to look up is missing");
		return -EINVAL;
	}
	memset(rule, 0, sizeof(*rule));
	rule->v6 = nla_len(attr[TOPOOPT_A_ROUTE_DST]) == sizeof(struct in6_addr);
	err = topoopt_dump_address(attr[TOPOOPT_A_ROUTE_DST],
				   attr[TOPOOPT_A_ROUTE_DST_LEN], &rule->dst,
				   rule->v6, extack);
	if (!err && attr[TOPOOPT_A_ROUTE_SRC])
		err = topoopt_dump_address(attr[TOPOOPT_A_ROUTE_SRC],
					   attr[TOPOOPT_A_ROUTE_SRC_LEN],
					   &rule->src, rule->v6, extack);
	if (err)
		return err;
	if (!table || !topoopt_table_match(table, rule)) {
		NL_SET_ERR_MSG_ATTR(extack, route, "No route");
		return -ENETUNREACH;
	}
	return 0;
}

/* The table that the request is about; NULL before the first commit. */
static const struct topoopt_table *
topoopt_dump_table(const struct topoopt_dev *tdev, bool staged,
		   struct netlink_ext_ack *extack)
{
	if (!staged)
		return topoopt_dump_active(tdev);
	if (!tdev->stage) {
		NL_SET_ERR_MSG(extack, "No stage is open");
		return ERR_PTR(-ENOENT);
	}
	if (!topoopt_stage_table(tdev->stage)) {
		NL_SET_ERR_MSG(extack, "The stage is not prepared");
		return ERR_PTR(-EBUSY);
	}
	return topoopt_stage_table(tdev->stage);
}

/*
 * What decides which next hops of a table are live. Of neighbours that a stage expects,
 * nothing is known yet. Under topoopt_dev.lock.
 */
static struct topoopt_liveness
topoopt_dump_liveness(const struct topoopt_dev *tdev, const struct topoopt_table *table)
{
	bool active = table && table == topoopt_dump_active(tdev);

	return (struct topoopt_liveness) {
		.live = topoopt_port_live_slots(tdev),
		.light = READ_ONCE(tdev->light),
		.peers = active ? topoopt_table_peers(table) : NULL,
		.server = TOPOOPT_SERVER_NONE,
	};
}

static int topoopt_dump_get_route(struct topoopt_dev *tdev,
				  struct genl_info *info)
{
	struct topoopt_liveness liveness;
	const struct topoopt_table *table;
	struct topoopt_rule rule;
	struct sk_buff *skb;
	void *header;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, TOPOOPT_A_DEVICE_ROUTE)) {
		NL_SET_ERR_MSG(info->extack, "The route to look up is missing");
		return -EINVAL;
	}
	table = topoopt_dump_table(tdev, info->attrs[TOPOOPT_A_DEVICE_STAGED],
				   info->extack);
	if (IS_ERR(table))
		return PTR_ERR(table);
	err = topoopt_dump_find(table, info->attrs[TOPOOPT_A_DEVICE_ROUTE],
				&rule, info->extack);
	if (err)
		return err;

	liveness = topoopt_dump_liveness(tdev, table);
	skb = topoopt_netlink_answer(tdev, info, &header);
	if (!skb)
		return -ENOMEM;
	if (topoopt_netlink_put_generation(skb, tdev->generation) ||
	    topoopt_dump_put_route(skb, &rule) ||
	    (rule.route.group &&
	     topoopt_netlink_put_group(skb, tdev, rule.route.group, &liveness))) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	return topoopt_netlink_reply(skb, header, info);
}

int topoopt_nl_route_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return topoopt_netlink_call(info, topoopt_dump_get_route);
}

static const struct topoopt_group *
topoopt_dump_find_group(const struct topoopt_table *table, u32 id)
{
	u32 i;

	for (i = 0; i < topoopt_table_groups(table); i++)
		if (topoopt_table_group(table, i)->id == id)
			return topoopt_table_group(table, i);
	return NULL;
}

static int topoopt_dump_get_group(struct topoopt_dev *tdev,
				  struct genl_info *info)
{
	struct nlattr *attr[TOPOOPT_A_GROUP_MAX + 1];
	const struct topoopt_group *group = NULL;
	struct topoopt_liveness liveness;
	const struct topoopt_table *table;
	struct sk_buff *skb;
	void *header;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, TOPOOPT_A_DEVICE_GROUP)) {
		NL_SET_ERR_MSG(info->extack, "The group to get is missing");
		return -EINVAL;
	}
	err = topoopt_netlink_takes(info->attrs[TOPOOPT_A_DEVICE_GROUP],
				    BIT(TOPOOPT_A_GROUP_ID), info->extack);
	if (err)
		return err;
	nla_parse_nested(attr, TOPOOPT_A_GROUP_MAX,
			 info->attrs[TOPOOPT_A_DEVICE_GROUP], NULL, NULL);
	if (!attr[TOPOOPT_A_GROUP_ID]) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[TOPOOPT_A_DEVICE_GROUP],
				    "The id of the group is missing");
		return -EINVAL;
	}
	table = topoopt_dump_table(tdev, info->attrs[TOPOOPT_A_DEVICE_STAGED],
				   info->extack);
	if (IS_ERR(table))
		return PTR_ERR(table);
	if (table)
		group = topoopt_dump_find_group(table,
						nla_get_u32(attr[TOPOOPT_A_GROUP_ID]));
	if (!group) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr[TOPOOPT_A_GROUP_ID],
				    "No such group");
		return -ENOENT;
	}

	liveness = topoopt_dump_liveness(tdev, table);
	skb = topoopt_netlink_answer(tdev, info, &header);
	if (!skb)
		return -ENOMEM;
	if (topoopt_netlink_put_generation(skb, tdev->generation) ||
	    topoopt_netlink_put_group(skb, tdev, group, &liveness)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	return topoopt_netlink_reply(skb, header, info);
}

int topoopt_nl_group_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return topoopt_netlink_call(info, topoopt_dump_get_group);
}

/* All */

/* What a dump reads: a table, or the routes of a stage before it is one. */
struct topoopt_dump {
	const struct topoopt_dev *tdev;
	const struct topoopt_table *table;
	const struct topoopt_routes *routes;
	struct topoopt_liveness liveness;
};

/*
 * Put what is at @pos and move @pos past it. Return: 1, 0 when there is
 * nothing left, -EMSGSIZE without moving.
 */
typedef int topoopt_dump_next_t(struct sk_buff *skb,
				const struct topoopt_dump *dump, u64 *pos);

static int topoopt_dump_next_route(struct sk_buff *skb,
				   const struct topoopt_dump *dump, u64 *pos)
{
	struct topoopt_rule rule;
	u64 next = *pos;

	if (!(dump->table ? topoopt_table_next(dump->table, &next, &rule) :
			    topoopt_routes_at(dump->routes, next++, &rule)))
		return 0;
	if (topoopt_dump_put_route(skb, &rule))
		return -EMSGSIZE;
	*pos = next;
	return 1;
}

static int topoopt_dump_next_group(struct sk_buff *skb,
				   const struct topoopt_dump *dump, u64 *pos)
{
	const struct topoopt_group *group;

	if (dump->table) {
		if (*pos == topoopt_table_groups(dump->table))
			return 0;
		group = topoopt_table_group(dump->table, *pos);
	} else {
		if (*pos == dump->routes->groups.count)
			return 0;
		group = *(struct topoopt_group **)
			topoopt_array_at(&dump->routes->groups, *pos);
	}
	if (topoopt_netlink_put_group(skb, dump->tdev, group, &dump->liveness))
		return -EMSGSIZE;
	(*pos)++;
	return 1;
}

static int topoopt_dump_next_peer(struct sk_buff *skb,
				  const struct topoopt_dump *dump, u64 *pos)
{
	const struct topoopt_peers *peers = topoopt_table_peers(dump->table);
	struct topoopt_dev *tdev = (struct topoopt_dev *)dump->tdev;
	int err;

	if (!peers || READ_ONCE(peers->answers) || *pos == peers->count)
		return 0;
	spin_lock_bh(&tdev->live_lock);
	err = topoopt_netlink_put_peer(skb, &peers->peer[*pos]);
	spin_unlock_bh(&tdev->live_lock);
	if (err)
		return err;
	(*pos)++;
	return 1;
}

/* One message with as much as fits; none when there is nothing left. */
static int topoopt_dump_message(struct sk_buff *skb,
				struct netlink_callback *cb,
				const struct topoopt_dump *dump, u8 cmd,
				topoopt_dump_next_t *put)
{
	const struct topoopt_dev *tdev = dump->tdev;
	u64 pos = cb->args[0];
	void *header;
	int more;

	header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
			     cb->nlh->nlmsg_seq, &topoopt_nl_family,
			     NLM_F_MULTI, cmd);
	if (!header)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, header);
	if (nla_put_u32(skb, TOPOOPT_A_DEVICE_IFINDEX, tdev->dev->ifindex) ||
	    topoopt_netlink_put_generation(skb, tdev->generation)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}

	do {
		more = put(skb, dump, &pos);
	} while (more > 0);
	if (pos == cb->args[0]) {
		genlmsg_cancel(skb, header);
		return more;
	}
	genlmsg_end(skb, header);
	cb->args[0] = pos;
	return skb->len;
}

/* In cb->args: the position, and the sequence that it belongs to. */
static int topoopt_dump_all(struct sk_buff *skb, struct netlink_callback *cb,
			    u8 cmd, topoopt_dump_next_t *put)
{
	struct nlattr *attr[TOPOOPT_A_DEVICE_MAX + 1];
	struct topoopt_dump dump = {};
	netdevice_tracker tracker;
	struct topoopt_dev *tdev;
	int ret = 0;

	tdev = topoopt_netlink_dump_dev(cb, attr, &tracker);
	if (IS_ERR(tdev))
		return PTR_ERR(tdev);

	mutex_lock(&tdev->lock);
	if (!attr[TOPOOPT_A_DEVICE_STAGED]) {
		cb->seq = tdev->table_seq;
		dump.table = topoopt_dump_active(tdev);
		if (!dump.table)
			goto out;
	} else if (tdev->stage) {
		cb->seq = tdev->stage_seq;
		dump.table = topoopt_stage_table(tdev->stage);
		dump.routes = topoopt_stage_routes(tdev->stage);
	} else {
		NL_SET_ERR_MSG(cb->extack, "No stage is open");
		ret = -ENOENT;
		goto out;
	}

	/* Positions are those of one table; the end tells of the change. */
	if (cb->args[1] && cb->args[1] != cb->seq)
		goto out;
	cb->args[1] = cb->seq;
	dump.tdev = tdev;
	dump.liveness = topoopt_dump_liveness(tdev, dump.table);
	ret = topoopt_dump_message(skb, cb, &dump, cmd, put);
out:
	mutex_unlock(&tdev->lock);
	netdev_put(tdev->dev, &tracker);
	return ret;
}

int topoopt_nl_route_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	return topoopt_dump_all(skb, cb, TOPOOPT_CMD_ROUTE_GET,
				topoopt_dump_next_route);
}

int topoopt_nl_group_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	return topoopt_dump_all(skb, cb, TOPOOPT_CMD_GROUP_GET,
				topoopt_dump_next_group);
}

int topoopt_nl_peer_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return topoopt_dump_all(skb, cb, TOPOOPT_CMD_PEER_GET, topoopt_dump_next_peer);
}
