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
extern const struct nla_policy topoopt_counters_nl_policy[TOPOOPT_A_COUNTERS_ALTERNATE_PACKETS + 1];
extern const struct nla_policy topoopt_group_nl_policy[TOPOOPT_A_GROUP_BACKUP_IN_USE + 1];
extern const struct nla_policy topoopt_nexthop_nl_policy[TOPOOPT_A_NEXTHOP_INGRESS + 1];
extern const struct nla_policy topoopt_port_nl_policy[TOPOOPT_A_PORT_XDP_CLASSES + 1];
extern const struct nla_policy topoopt_route_nl_policy[TOPOOPT_A_ROUTE_SERVER + 1];

extern const struct nla_policy topoopt_dev_get_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1];

extern const struct nla_policy topoopt_port_get_nl_policy[TOPOOPT_A_DEVICE_PORT + 1];

extern const struct nla_policy topoopt_port_set_nl_policy[TOPOOPT_A_DEVICE_PORT + 1];

extern const struct nla_policy topoopt_stage_new_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1];

extern const struct nla_policy topoopt_stage_add_nl_policy[TOPOOPT_A_DEVICE_ROUTE + 1];

extern const struct nla_policy topoopt_stage_prepare_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1];

extern const struct nla_policy topoopt_commit_nl_policy[TOPOOPT_A_DEVICE_BASE_GENERATION + 1];

extern const struct nla_policy topoopt_abort_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1];

extern const struct nla_policy topoopt_route_get_nl_policy[TOPOOPT_A_DEVICE_ROUTE + 1];

extern const struct nla_policy topoopt_group_get_nl_policy[TOPOOPT_A_DEVICE_GROUP + 1];

extern const struct nla_policy topoopt_account_nl_policy[TOPOOPT_A_DEVICE_PROGRAM + 1];

/* Ops table for topoopt */
extern const struct genl_ops topoopt_nl_ops[11];

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
int topoopt_nl_account_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	TOPOOPT_NLGRP_EVENTS,
};

#endif /* _LINUX_TOPOOPT_GEN_H */
