// SPDX-License-Identifier: GPL-2.0
/* Stages: tables in the making, and commits. */

#include <linux/atomic.h>
#include <linux/etherdevice.h>
#include <linux/inet.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/ipv6.h>

#include "continuity.h"
#include "netlink.h"
#include "netlink_policy.h"
#include "stage_peers.h"
#include "table.h"

/*
 * Rules that one request looks at to build a table. Generic netlink holds a lock
 * meanwhile: whoever registers a family waits for it, and then so does every request
 * of any family.
 */
#define TOPOOPT_STAGE_RULES	65536

/**
 * struct topoopt_stage - table in the making; under topoopt_dev.lock
 * @routes: what was added, until it is prepared
 * @groups: the groups in @routes by id
 * @peers: neighbours
 * @expected: what is made of @peers for @table
 * @nexthop: of the group being added
 * @build: what is done of @table, while it takes more than one request
 * @table: made by preparing, NULL before
 * @portid: socket that it belongs to until then
 */
struct topoopt_stage {
	struct topoopt_routes routes;
	struct xarray groups;
	struct topoopt_stage_peers peers;
	struct topoopt_peers *expected;
	struct topoopt_nexthop nexthop[TOPOOPT_GROUP_MAX];
	struct topoopt_build *build;
	struct topoopt_table *table;
	u32 portid;
};

/* Stages not prepared yet. */
static atomic_t topoopt_stages_owned;

bool topoopt_stage_owned(void)
{
	return atomic_read(&topoopt_stages_owned);
}

const struct topoopt_table *
topoopt_stage_table(const struct topoopt_stage *stage)
{
	return stage->table;
}

const struct topoopt_routes *
topoopt_stage_routes(const struct topoopt_stage *stage)
{
	return &stage->routes;
}

u32 topoopt_stage_count_routes(const struct topoopt_stage *stage)
{
	if (stage->table)
		return topoopt_table_routes(stage->table);
	return stage->routes.rules4.count + stage->routes.rules6.count;
}

u32 topoopt_stage_count_groups(const struct topoopt_stage *stage)
{
	if (stage->table)
		return topoopt_table_groups(stage->table);
	return stage->routes.groups.count;
}

static struct topoopt_stage *topoopt_stage_alloc(u32 portid)
{
	struct topoopt_stage *stage;

	stage = kvzalloc(sizeof(*stage), GFP_KERNEL_ACCOUNT);
	if (!stage)
		return NULL;
	topoopt_routes_init(&stage->routes);
	xa_init_flags(&stage->groups, XA_FLAGS_ACCOUNT);
	stage->peers.peers.size = sizeof(struct topoopt_peer);
	stage->portid = portid;
	atomic_inc(&topoopt_stages_owned);
	return stage;
}

void topoopt_stage_free(struct topoopt_stage *stage)
{
	if (!stage)
		return;
	if (stage->table)
		topoopt_table_free(stage->table);
	else
		atomic_dec(&topoopt_stages_owned);
	topoopt_build_cancel(stage->build);
	xa_destroy(&stage->groups);
	topoopt_routes_free(&stage->routes);
	topoopt_array_truncate(&stage->peers.peers, 0);
	topoopt_peers_put(stage->expected);
	kvfree(stage);
}

void topoopt_stage_disown(struct topoopt_dev *tdev, u32 portid)
{
	struct topoopt_stage *stage = tdev->stage;

	if (!stage || stage->table || stage->portid != portid)
		return;
	topoopt_stage_free(stage);
	tdev->stage = NULL;
}

/* The stage, if the sender of the request may change it. */
static struct topoopt_stage *topoopt_stage_get(struct topoopt_dev *tdev,
					       struct genl_info *info)
{
	struct topoopt_stage *stage = tdev->stage;

	if (!stage) {
		NL_SET_ERR_MSG(info->extack, "No stage is open");
		return ERR_PTR(-ENOENT);
	}
	if (!stage->table && stage->portid != info->snd_portid) {
		NL_SET_ERR_MSG(info->extack, "The stage belongs to another socket");
		return ERR_PTR(-EBUSY);
	}
	return stage;
}

/* stage-new */

static int topoopt_stage_new(struct topoopt_dev *tdev, struct genl_info *info)
{
	struct topoopt_stage *stage;
	struct sk_buff *skb;
	void *header;
	int err;

	if (tdev->stage && tdev->stage->table) {
		NL_SET_ERR_MSG(info->extack,
			       "A prepared stage waits to be committed or aborted");
		return -EBUSY;
	}
	if (tdev->stage) {
		NL_SET_ERR_MSG(info->extack, "Another stage is open");
		return -EBUSY;
	}
	stage = topoopt_stage_alloc(info->snd_portid);
	if (!stage)
		return -ENOMEM;
	skb = topoopt_netlink_answer(tdev, info, &header);
	if (!skb) {
		topoopt_stage_free(stage);
		return -ENOMEM;
	}
	topoopt_netlink_put_generation(skb, tdev->generation);
	err = topoopt_netlink_reply(skb, header, info);
	if (err) {
		topoopt_stage_free(stage);
		return err;
	}
	tdev->stage = stage;
	tdev->stage_seq = topoopt_seq_next(tdev->stage_seq);
	return 0;
}

int topoopt_nl_stage_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	return topoopt_netlink_call(info, topoopt_stage_new);
}

/* stage-add: groups */

#define TOPOOPT_STAGE_NEXTHOP						\
	(BIT(TOPOOPT_A_NEXTHOP_PORT) | BIT(TOPOOPT_A_NEXTHOP_MAC) |	\
	 BIT(TOPOOPT_A_NEXTHOP_WEIGHT) | BIT(TOPOOPT_A_NEXTHOP_BACKUP) |	\
	 BIT(TOPOOPT_A_NEXTHOP_INGRESS))

static int topoopt_stage_nexthop(struct topoopt_dev *tdev,
				 const struct nlattr *attr,
				 struct topoopt_nexthop *nexthop,
				 struct netlink_ext_ack *extack)
{
	const struct nlattr *pos, *ifindex = NULL, *mac = NULL, *ingress = NULL;
	const struct nlattr *share = NULL;
	int err, rem;

	err = topoopt_netlink_takes(attr, TOPOOPT_STAGE_NEXTHOP, extack);
	if (err)
		return err;
	memset(nexthop, 0, sizeof(*nexthop));
	nexthop->weight = 1;
	nla_for_each_nested(pos, attr, rem) {
		switch (nla_type(pos)) {
		case TOPOOPT_A_NEXTHOP_PORT:
			ifindex = pos;
			break;
		case TOPOOPT_A_NEXTHOP_MAC:
			mac = pos;
			break;
		case TOPOOPT_A_NEXTHOP_WEIGHT:
			nexthop->weight = nla_get_u16(pos);
			share = pos;
			break;
		case TOPOOPT_A_NEXTHOP_BACKUP:
			nexthop->backup = true;
			share = pos;
			break;
		case TOPOOPT_A_NEXTHOP_INGRESS:
			ingress = pos;
			break;
		}
	}
	if (!ifindex) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "Next hop without port");
		return -EINVAL;
	}
	if (!mac) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "Next hop without MAC address");
		return -EINVAL;
	}
	if (!is_valid_ether_addr(nla_data(mac))) {
		NL_SET_ERR_MSG_ATTR(extack, mac,
				    "MAC address of a next hop is not unicast");
		return -EINVAL;
	}
	memcpy(nexthop->mac, nla_data(mac), ETH_ALEN);
	if (ingress && share) {
		NL_SET_ERR_MSG_ATTR(extack, share,
				    "An alternate has no weight and is no backup");
		return -EINVAL;
	}

	err = topoopt_stage_port(tdev, ifindex, &nexthop->ifindex, &nexthop->slot,
				 extack);
	if (!err && ingress)
		err = topoopt_stage_port(tdev, ingress, &nexthop->ingress,
					 &nexthop->ingress_slot, extack);
	return err;
}

/* Whether a group may have the next hop @nexthop[@count], @attr, after the others. */
static int topoopt_stage_check_nexthop(const struct topoopt_nexthop *nexthop,
				       unsigned int count,
				       const struct nlattr *attr,
				       struct netlink_ext_ack *extack)
{
	const struct topoopt_nexthop *new = &nexthop[count];
	unsigned int i, alike = 0;

	for (i = 0; i < count; i++) {
		if (!nexthop[i].ingress != !new->ingress)
			continue;
		alike++;
		if (new->ingress && nexthop[i].ingress_slot == new->ingress_slot) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "Two alternates for one ingress port");
			return -EINVAL;
		}
		if (!new->ingress && nexthop[i].ifindex == new->ifindex &&
		    ether_addr_equal_unaligned(nexthop[i].mac, new->mac)) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "Same next hop twice in a group");
			return -EINVAL;
		}
	}
	if (!new->ingress && alike == TOPOOPT_MAX_NEXTHOPS) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "Too many next hops in a group");
		return -EINVAL;
	}
	return 0;
}

static int topoopt_stage_add_group(struct topoopt_dev *tdev,
				   struct topoopt_stage *stage,
				   const struct nlattr *attr,
				   struct netlink_ext_ack *extack)
{
	struct topoopt_nexthop *nexthop = stage->nexthop;
	struct topoopt_group *group, **place;
	const struct nlattr *pos, *id = NULL;
	unsigned int count = 0;
	int err, rem;

	err = topoopt_netlink_takes(attr, BIT(TOPOOPT_A_GROUP_ID) |
				    BIT(TOPOOPT_A_GROUP_NEXTHOP), extack);
	if (err)
		return err;
	nla_for_each_nested(pos, attr, rem) {
		if (nla_type(pos) == TOPOOPT_A_GROUP_ID)
			id = pos;
		if (nla_type(pos) != TOPOOPT_A_GROUP_NEXTHOP)
			continue;
		if (count == TOPOOPT_GROUP_MAX) {
			NL_SET_ERR_MSG_ATTR(extack, pos,
					    "Too many next hops in a group");
			return -EINVAL;
		}
		err = topoopt_stage_nexthop(tdev, pos, &nexthop[count], extack);
		if (!err)
			err = topoopt_stage_check_nexthop(nexthop, count, pos, extack);
		if (err)
			return err;
		count++;
	}
	if (!id) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "Group without id");
		return -EINVAL;
	}
	if (!count) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "Group without next hop");
		return -EINVAL;
	}
	if (xa_load(&stage->groups, nla_get_u32(id))) {
		NL_SET_ERR_MSG_ATTR(extack, id, "The stage has this group already");
		return -EEXIST;
	}
	if (stage->routes.groups.count == TOPOOPT_MAX_GROUPS) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "Too many groups");
		return -ENOSPC;
	}

	group = topoopt_group_build(nla_get_u32(id), nexthop, count, extack);
	if (IS_ERR(group)) {
		NL_SET_BAD_ATTR(extack, attr);
		return PTR_ERR(group);
	}
	err = xa_err(xa_store(&stage->groups, group->id, group,
			      GFP_KERNEL_ACCOUNT));
	if (err)
		goto err_free;
	place = topoopt_array_push(&stage->routes.groups);
	if (!place) {
		err = -ENOMEM;
		goto err_erase;
	}
	*place = group;
	return 0;

err_erase:
	xa_erase(&stage->groups, group->id);
err_free:
	topoopt_group_free(group);
	return err;
}

/* stage-add: routes */

/*
 * An address with its prefix length @len_attr, which may be NULL. @v6 is the
 * family.
 */
static int topoopt_stage_prefix(const struct nlattr *attr,
				const struct nlattr *len_attr, bool v6,
				struct in6_addr *addr, u8 *len,
				struct netlink_ext_ack *extack)
{
	u8 full = v6 ? 128 : 32;
	struct in6_addr prefix;

	*len = len_attr ? nla_get_u8(len_attr) : full;
	if (*len > full) {
		NL_SET_ERR_MSG_ATTR(extack, len_attr,
				    "Prefix longer than the address");
		return -EINVAL;
	}
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, nla_data(attr), full / 8);
	if (*len == full)
		return 0;
	ipv6_addr_prefix(&prefix, addr, *len);
	if (!ipv6_addr_equal(&prefix, addr)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "Address has bits set beyond its prefix");
		return -EINVAL;
	}
	return 0;
}

static bool topoopt_stage_unicast(const struct in6_addr *addr, bool v6)
{
	if (v6)
		return !ipv6_addr_is_multicast(addr) &&
		       !ipv6_addr_loopback(addr);
	return !ipv4_is_multicast(addr->s6_addr32[0]) &&
	       !ipv4_is_lbcast(addr->s6_addr32[0]) &&
	       !ipv4_is_loopback(addr->s6_addr32[0]);
}

static int topoopt_stage_add_route(struct topoopt_stage *stage,
				   const struct nlattr *route,
				   struct netlink_ext_ack *extack)
{
	const struct nlattr *attr[TOPOOPT_A_ROUTE_MAX + 1] = {}, *pos;
	struct topoopt_rule rule;
	int err, rem;

	nla_for_each_nested(pos, route, rem)
		attr[nla_type(pos)] = pos;

	if (!attr[TOPOOPT_A_ROUTE_DST]) {
		NL_SET_ERR_MSG_ATTR(extack, route, "Route without dst");
		return -EINVAL;
	}
	rule.v6 = nla_len(attr[TOPOOPT_A_ROUTE_DST]) == sizeof(struct in6_addr);
	if (!rule.v6 &&
	    nla_len(attr[TOPOOPT_A_ROUTE_DST]) != sizeof(struct in_addr)) {
		NL_SET_ERR_MSG_ATTR(extack, attr[TOPOOPT_A_ROUTE_DST],
				    "Address of neither 4 nor 16 bytes");
		return -EINVAL;
	}
	err = topoopt_stage_prefix(attr[TOPOOPT_A_ROUTE_DST],
				   attr[TOPOOPT_A_ROUTE_DST_LEN], rule.v6,
				   &rule.dst, &rule.dst_len, extack);
	if (err)
		return err;
	if (!topoopt_stage_unicast(&rule.dst, rule.v6)) {
		NL_SET_ERR_MSG_ATTR(extack, attr[TOPOOPT_A_ROUTE_DST],
				    "Destination is not unicast");
		return -EINVAL;
	}

	rule.src_len = 0;
	if (attr[TOPOOPT_A_ROUTE_SRC]) {
		if (nla_len(attr[TOPOOPT_A_ROUTE_SRC]) !=
		    nla_len(attr[TOPOOPT_A_ROUTE_DST])) {
			NL_SET_ERR_MSG_ATTR(extack, attr[TOPOOPT_A_ROUTE_SRC],
					    "Source of another family than dst");
			return -EINVAL;
		}
		err = topoopt_stage_prefix(attr[TOPOOPT_A_ROUTE_SRC],
					   attr[TOPOOPT_A_ROUTE_SRC_LEN],
					   rule.v6, &rule.src, &rule.src_len,
					   extack);
		if (err)
			return err;
	}
	if (attr[TOPOOPT_A_ROUTE_SRC_LEN] && !rule.src_len) {
		NL_SET_ERR_MSG_ATTR(extack, attr[TOPOOPT_A_ROUTE_SRC_LEN],
				    "Source prefix without src or of length 0");
		return -EINVAL;
	}

	rule.route.type = attr[TOPOOPT_A_ROUTE_TYPE] ?
			  nla_get_u8(attr[TOPOOPT_A_ROUTE_TYPE]) :
			  TOPOOPT_ROUTE_TYPE_UNICAST;
	rule.route.server = attr[TOPOOPT_A_ROUTE_SERVER] ?
			    nla_get_u32(attr[TOPOOPT_A_ROUTE_SERVER]) :
			    TOPOOPT_SERVER_NONE;
	rule.route.group = NULL;
	if (rule.route.type == TOPOOPT_ROUTE_TYPE_UNICAST &&
	    !attr[TOPOOPT_A_ROUTE_GROUP]) {
		NL_SET_ERR_MSG_ATTR(extack, route,
				    "Unicast route without group");
		return -EINVAL;
	}
	if (rule.route.type == TOPOOPT_ROUTE_TYPE_NODE &&
	    attr[TOPOOPT_A_ROUTE_GROUP]) {
		NL_SET_ERR_MSG_ATTR(extack, attr[TOPOOPT_A_ROUTE_GROUP],
				    "Only unicast and local routes have a group");
		return -EINVAL;
	}
	if (attr[TOPOOPT_A_ROUTE_GROUP]) {
		rule.route.group = xa_load(&stage->groups,
					   nla_get_u32(attr[TOPOOPT_A_ROUTE_GROUP]));
		if (!rule.route.group) {
			NL_SET_ERR_MSG_ATTR(extack, attr[TOPOOPT_A_ROUTE_GROUP],
					    "The stage has no such group");
			return -ENOENT;
		}
	}

	if (topoopt_stage_count_routes(stage) == TOPOOPT_MAX_ROUTES) {
		NL_SET_ERR_MSG_ATTR(extack, route, "Too many routes");
		return -ENOSPC;
	}
	return topoopt_routes_add(&stage->routes, &rule);
}

/* Drop what was added since there were so many. */
static void topoopt_stage_rollback(struct topoopt_stage *stage, u32 rules4,
				   u32 rules6, u32 groups)
{
	struct topoopt_group *group;
	u32 i;

	for (i = groups; i < stage->routes.groups.count; i++) {
		group = *(struct topoopt_group **)
			topoopt_array_at(&stage->routes.groups, i);
		xa_erase(&stage->groups, group->id);
		topoopt_group_free(group);
	}
	topoopt_routes_truncate(&stage->routes, rules4, rules6, groups);
}

static int topoopt_stage_add(struct topoopt_dev *tdev, struct genl_info *info)
{
	const struct nlattr *attr, *head;
	struct topoopt_stage *stage;
	u32 rules4, rules6, groups, peers;
	int err = 0, len, rem;

	stage = topoopt_stage_get(tdev, info);
	if (IS_ERR(stage))
		return PTR_ERR(stage);
	if (stage->table) {
		NL_SET_ERR_MSG(info->extack,
			       "Nothing can be added to a prepared stage");
		return -EBUSY;
	}
	if (stage->build) {
		NL_SET_ERR_MSG(info->extack,
			       "Nothing can be added to a stage that is being prepared");
		return -EBUSY;
	}

	rules4 = stage->routes.rules4.count;
	rules6 = stage->routes.rules6.count;
	groups = stage->routes.groups.count;
	peers = stage->peers.peers.count;
	head = nlmsg_attrdata(info->nlhdr, GENL_HDRLEN);
	len = nlmsg_attrlen(info->nlhdr, GENL_HDRLEN);
	nla_for_each_attr(attr, head, len, rem) {
		if (nla_type(attr) != TOPOOPT_A_DEVICE_PEER)
			continue;
		err = topoopt_stage_peer(tdev, &stage->peers, attr, info->extack);
		if (err)
			goto err_rollback;
	}
	nla_for_each_attr(attr, head, len, rem) {
		if (nla_type(attr) != TOPOOPT_A_DEVICE_GROUP)
			continue;
		err = topoopt_stage_add_group(tdev, stage, attr, info->extack);
		if (err)
			goto err_rollback;
	}
	nla_for_each_attr(attr, head, len, rem) {
		if (nla_type(attr) != TOPOOPT_A_DEVICE_ROUTE)
			continue;
		err = topoopt_stage_add_route(stage, attr, info->extack);
		if (err)
			goto err_rollback;
	}
	/* Last: a request that fails leaves the former ones. */
	if (info->attrs[TOPOOPT_A_DEVICE_CHECK])
		err = topoopt_stage_check(&stage->peers, info->attrs[TOPOOPT_A_DEVICE_CHECK],
					  info->extack);
	if (err)
		goto err_rollback;
	tdev->stage_seq = topoopt_seq_next(tdev->stage_seq);
	return 0;

err_rollback:
	topoopt_array_truncate(&stage->peers.peers, peers);
	topoopt_stage_rollback(stage, rules4, rules6, groups);
	return err;
}

int topoopt_nl_stage_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return topoopt_netlink_call(info, topoopt_stage_add);
}

/* stage-prepare, commit, abort */

/* Return: 0, -EINPROGRESS when the request has to be made again, or another error. */
static int topoopt_stage_build(struct topoopt_dev *tdev,
			       struct topoopt_stage *stage,
			       struct netlink_ext_ack *extack)
{
	struct topoopt_peers *peers;
	struct topoopt_table *table;

	if (stage->table)
		return 0;
	/* First: with the table, the routes leave the stage. */
	if (!stage->expected) {
		peers = topoopt_stage_peers_build(&stage->peers, extack);
		if (IS_ERR(peers))
			return PTR_ERR(peers);
		stage->expected = peers;
	}
	table = topoopt_table_build(&stage->build, TOPOOPT_STAGE_RULES,
				    &stage->routes, &tdev->gone, extack);
	if (table == ERR_PTR(-EINPROGRESS)) {
		NL_SET_ERR_MSG(extack, "The table is being built: ask again");
		return -EINPROGRESS;
	}
	peers = stage->expected;
	stage->expected = NULL;
	if (IS_ERR(table)) {
		topoopt_peers_put(peers);
		return PTR_ERR(table);
	}
	topoopt_table_set_peers(table, peers);
	topoopt_array_truncate(&stage->peers.peers, 0);
	stage->table = table;
	atomic_dec(&topoopt_stages_owned);
	tdev->stage_seq = topoopt_seq_next(tdev->stage_seq);
	return 0;
}

static int topoopt_stage_prepare(struct topoopt_dev *tdev,
				 struct genl_info *info)
{
	struct topoopt_stage *stage = topoopt_stage_get(tdev, info);

	if (IS_ERR(stage))
		return PTR_ERR(stage);
	return topoopt_stage_build(tdev, stage, info->extack);
}

int topoopt_nl_stage_prepare_doit(struct sk_buff *skb, struct genl_info *info)
{
	return topoopt_netlink_call(info, topoopt_stage_prepare);
}

static int topoopt_stage_commit(struct topoopt_dev *tdev,
				struct genl_info *info)
{
	u64 base, generation = tdev->generation + 1;
	struct topoopt_stage *stage;
	struct topoopt_table *old;
	struct nlattr *attr;
	struct sk_buff *skb;
	void *header;
	int err;

	stage = topoopt_stage_get(tdev, info);
	if (IS_ERR(stage))
		return PTR_ERR(stage);
	if (GENL_REQ_ATTR_CHECK(info, TOPOOPT_A_DEVICE_BASE_GENERATION)) {
		NL_SET_ERR_MSG(info->extack, "The base-generation is missing");
		return -EINVAL;
	}
	attr = info->attrs[TOPOOPT_A_DEVICE_BASE_GENERATION];
	base = nla_get_u64(attr);
	if (base != tdev->generation) {
		NL_SET_ERR_MSG_FMT(info->extack,
				   "Another table became active: generation %llu",
				   tdev->generation);
		NL_SET_BAD_ATTR(info->extack, attr);
		return -ESTALE;
	}
	attr = info->attrs[TOPOOPT_A_DEVICE_GENERATION];
	if (attr)
		generation = nla_get_u64(attr);
	/* The other half of the numbers is for commits that ask for none. */
	if (attr && generation > S64_MAX) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "The generation is above 2^63 - 1");
		return -ERANGE;
	}
	if (generation <= base) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "The generation must grow");
		return -EINVAL;
	}

	/*
	 * All that can fail, before anything changes for readers. The table comes
	 * last: with it the stage would outlive a socket that was told of an error.
	 */
	skb = topoopt_netlink_answer(tdev, info, &header);
	if (!skb)
		return -ENOMEM;
	topoopt_netlink_put_generation(skb, generation);
	err = topoopt_stage_build(tdev, stage, info->extack);
	if (err) {
		nlmsg_free(skb);
		return err;
	}

	topoopt_table_set_generation(stage->table, generation);
	tdev->generation = generation;
	tdev->table_seq = topoopt_seq_next(tdev->table_seq);
	old = topoopt_continuity_commit(tdev, stage->table);
	topoopt_table_free_rcu(old);
	topoopt_notify_commit(tdev);

	tdev->stage = NULL;
	xa_destroy(&stage->groups);
	kvfree(stage);

	/* It is done, whether or not the socket has room for the answer. */
	topoopt_netlink_reply(skb, header, info);
	return 0;
}

int topoopt_nl_commit_doit(struct sk_buff *skb, struct genl_info *info)
{
	return topoopt_netlink_call(info, topoopt_stage_commit);
}

static int topoopt_stage_abort(struct topoopt_dev *tdev, struct genl_info *info)
{
	struct topoopt_stage *stage = topoopt_stage_get(tdev, info);

	if (IS_ERR(stage))
		return PTR_ERR(stage);
	topoopt_stage_free(stage);
	tdev->stage = NULL;
	return 0;
}

int topoopt_nl_abort_doit(struct sk_buff *skb, struct genl_info *info)
{
	return topoopt_netlink_call(info, topoopt_stage_abort);
}
