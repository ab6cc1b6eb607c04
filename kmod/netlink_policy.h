/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/topoopt.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_TOPOOPT_GEN_H
#define _LINUX_TOPOOPT_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <linux/topoopt.h>

/* Common nested types */
extern const struct nla_policy topoopt_check_nl_policy[TOPOOPT_A_CHECK_SERVER + 1];
extern const struct nla_policy topoopt_counters_nl_policy[TOPOOPT_A_COUNTERS_CHECK_REFUSED + 1];
extern const struct nla_policy topoopt_group_nl_policy[TOPOOPT_A_GROUP_BACKUP_IN_USE + 1];
extern const struct nla_policy topoopt_nexthop_nl_policy[TOPOOPT_A_NEXTHOP_INGRESS + 1];
extern const struct nla_policy topoopt_peer_nl_policy[TOPOOPT_A_PEER_STRANGER_PORT + 1];
extern const struct nla_policy topoopt_port_nl_policy[TOPOOPT_A_PORT_XDP_CLASSES + 1];
extern const struct nla_policy topoopt_route_nl_policy[TOPOOPT_A_ROUTE_SERVER + 1];

int topoopt_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info);
int topoopt_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int topoopt_nl_port_get_doit(struct sk_buff *skb, struct genl_info *info);
int topoopt_nl_port_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int topoopt_nl_port_set_doit(struct sk_buff *skb, struct genl_info *info);
int topoopt_nl_stage_new_doit(struct sk_buff *skb, struct genl_info *info);
int topoopt_nl_stage_add_doit(struct sk_buff *skb, struct genl_info *info);
int topoopt_nl_stage_prepare_doit(struct sk_buff *skb, struct genl_info *info);
int topoopt_nl_commit_doit(struct sk_buff *skb, struct genl_info *info);
int topoopt_nl_abort_doit(struct sk_buff *skb, struct genl_info *info);
int topoopt_nl_route_get_doit(struct sk_buff *skb, struct genl_info *info);
int topoopt_nl_route_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int topoopt_nl_group_get_doit(struct sk_buff *skb, struct genl_info *info);
int topoopt_nl_group_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int topoopt_nl_peer_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int topoopt_nl_account_doit(struct sk_buff *skb, struct genl_info *info);
int topoopt_nl_module_get_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	TOPOOPT_NLGRP_EVENTS,
};

extern struct genl_family topoopt_nl_family;

#endif /* _LINUX_TOPOOPT_GEN_H */
