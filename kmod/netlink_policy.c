// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/topoopt.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_policy.h"

#include <linux/topoopt.h>

/* Common nested types */
const struct nla_policy topoopt_check_nl_policy[TOPOOPT_A_CHECK_SERVER + 1] = {
	[TOPOOPT_A_CHECK_INTERVAL] = NLA_POLICY_MAX(NLA_U32, 4),
	[TOPOOPT_A_CHECK_FABRIC] = { .type = NLA_U64, },
	[TOPOOPT_A_CHECK_KEY] = NLA_POLICY_EXACT_LEN(16),
	[TOPOOPT_A_CHECK_GRACE] = { .type = NLA_U32, },
	[TOPOOPT_A_CHECK_SERVER] = { .type = NLA_NUL_STRING, .len = 63, },
};

const struct nla_policy topoopt_counters_nl_policy[TOPOOPT_A_COUNTERS_CHECK_REFUSED + 1] = {
	[TOPOOPT_A_COUNTERS_RELAY_RX_PACKETS] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_RELAY_RX_BYTES] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_RELAY_TX_PACKETS] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_RELAY_TX_BYTES] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_RELAY_XDP_PACKETS] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_RELAY_XDP_GENERIC_PACKETS] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_LOCAL_PACKETS] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_LOCAL_BYTES] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_MISS_PACKETS] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_BACKUP_PACKETS] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_DROP_HEADER] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_DROP_TTL] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_DROP_MTU] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_DROP_NO_PORT] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_DROP_GSO] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_DROP_NOMEM] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_DROP_TX] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_ALTERNATE_PACKETS] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_DROP_SILENT] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_DROP_DOWN] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_CHECK_SENT] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_CHECK_RECEIVED] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_CHECK_MISSING] = { .type = NLA_U64, },
	[TOPOOPT_A_COUNTERS_CHECK_REFUSED] = { .type = NLA_U64, },
};

const struct nla_policy topoopt_group_nl_policy[TOPOOPT_A_GROUP_BACKUP_IN_USE + 1] = {
	[TOPOOPT_A_GROUP_ID] = { .type = NLA_U32, },
	[TOPOOPT_A_GROUP_NEXTHOP] = NLA_POLICY_NESTED(topoopt_nexthop_nl_policy),
	[TOPOOPT_A_GROUP_BACKUP_IN_USE] = { .type = NLA_FLAG, },
};

const struct nla_policy topoopt_nexthop_nl_policy[TOPOOPT_A_NEXTHOP_INGRESS + 1] = {
	[TOPOOPT_A_NEXTHOP_PORT] = { .type = NLA_U32, },
	[TOPOOPT_A_NEXTHOP_MAC] = NLA_POLICY_EXACT_LEN(6),
	[TOPOOPT_A_NEXTHOP_WEIGHT] = NLA_POLICY_MIN(NLA_U16, 1),
	[TOPOOPT_A_NEXTHOP_BACKUP] = { .type = NLA_FLAG, },
	[TOPOOPT_A_NEXTHOP_LIVE] = { .type = NLA_FLAG, },
	[TOPOOPT_A_NEXTHOP_INGRESS] = { .type = NLA_U32, },
};

const struct nla_policy topoopt_peer_nl_policy[TOPOOPT_A_PEER_STRANGER_PORT + 1] = {
	[TOPOOPT_A_PEER_PORT] = { .type = NLA_U32, },
	[TOPOOPT_A_PEER_MAC] = NLA_POLICY_EXACT_LEN(6),
	[TOPOOPT_A_PEER_INDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_PEER_SERVER] = { .type = NLA_NUL_STRING, .len = 63, },
	[TOPOOPT_A_PEER_SERVER_PORT] = { .type = NLA_NUL_STRING, .len = 15, },
	[TOPOOPT_A_PEER_TRANSIT] = { .type = NLA_FLAG, },
	[TOPOOPT_A_PEER_LOCAL] = { .type = NLA_FLAG, },
	[TOPOOPT_A_PEER_REASON] = NLA_POLICY_MAX(NLA_U32, 8),
	[TOPOOPT_A_PEER_SILENCE] = { .type = NLA_U32, },
	[TOPOOPT_A_PEER_RECEIVED] = { .type = NLA_U64, },
	[TOPOOPT_A_PEER_MISSING] = { .type = NLA_U64, },
	[TOPOOPT_A_PEER_GENERATION] = { .type = NLA_U64, },
	[TOPOOPT_A_PEER_LARGEST] = { .type = NLA_U32, },
	[TOPOOPT_A_PEER_STRANGER] = { .type = NLA_NUL_STRING, },
	[TOPOOPT_A_PEER_STRANGER_PORT] = { .type = NLA_NUL_STRING, },
};

const struct nla_policy topoopt_port_nl_policy[TOPOOPT_A_PORT_XDP_CLASSES + 1] = {
	[TOPOOPT_A_PORT_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_PORT_IFNAME] = { .type = NLA_NUL_STRING, .len = 15, },
	[TOPOOPT_A_PORT_TX_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_PORT_TX_IFNAME] = { .type = NLA_NUL_STRING, .len = 15, },
	[TOPOOPT_A_PORT_LIVE] = { .type = NLA_FLAG, },
	[TOPOOPT_A_PORT_COUNTERS] = NLA_POLICY_NESTED(topoopt_counters_nl_policy),
	[TOPOOPT_A_PORT_LEFT] = { .type = NLA_FLAG, },
	[TOPOOPT_A_PORT_XDP_RECEIVE] = { .type = NLA_FLAG, },
	[TOPOOPT_A_PORT_XDP_TRANSMIT] = { .type = NLA_FLAG, },
	[TOPOOPT_A_PORT_XDP_ERROR] = { .type = NLA_U32, },
	[TOPOOPT_A_PORT_XDP_CLASSES] = NLA_POLICY_MASK(NLA_U32, 0x7),
};

const struct nla_policy topoopt_route_nl_policy[TOPOOPT_A_ROUTE_SERVER + 1] = {
	[TOPOOPT_A_ROUTE_DST] = { .type = NLA_BINARY, },
	[TOPOOPT_A_ROUTE_DST_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
	[TOPOOPT_A_ROUTE_SRC] = { .type = NLA_BINARY, },
	[TOPOOPT_A_ROUTE_SRC_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
	[TOPOOPT_A_ROUTE_TYPE] = NLA_POLICY_MAX(NLA_U8, 2),
	[TOPOOPT_A_ROUTE_GROUP] = { .type = NLA_U32, },
	[TOPOOPT_A_ROUTE_SERVER] = { .type = NLA_U32, },
};

/* TOPOOPT_CMD_DEV_GET - do */
static const struct nla_policy topoopt_dev_get_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
};

/* TOPOOPT_CMD_PORT_GET - do */
static const struct nla_policy topoopt_port_get_do_nl_policy[TOPOOPT_A_DEVICE_PORT + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_PORT] = NLA_POLICY_NESTED(topoopt_port_nl_policy),
};

/* TOPOOPT_CMD_PORT_GET - dump */
static const struct nla_policy topoopt_port_get_dump_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
};

/* TOPOOPT_CMD_PORT_SET - do */
static const struct nla_policy topoopt_port_set_nl_policy[TOPOOPT_A_DEVICE_PORT + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_PORT] = NLA_POLICY_NESTED(topoopt_port_nl_policy),
};

/* TOPOOPT_CMD_STAGE_NEW - do */
static const struct nla_policy topoopt_stage_new_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
};

/* TOPOOPT_CMD_STAGE_ADD - do */
static const struct nla_policy topoopt_stage_add_nl_policy[TOPOOPT_A_DEVICE_PEER + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_GROUP] = NLA_POLICY_NESTED(topoopt_group_nl_policy),
	[TOPOOPT_A_DEVICE_ROUTE] = NLA_POLICY_NESTED(topoopt_route_nl_policy),
	[TOPOOPT_A_DEVICE_CHECK] = NLA_POLICY_NESTED(topoopt_check_nl_policy),
	[TOPOOPT_A_DEVICE_PEER] = NLA_POLICY_NESTED(topoopt_peer_nl_policy),
};

/* TOPOOPT_CMD_STAGE_PREPARE - do */
static const struct nla_policy topoopt_stage_prepare_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
};

/* TOPOOPT_CMD_COMMIT - do */
static const struct nla_policy topoopt_commit_nl_policy[TOPOOPT_A_DEVICE_BASE_GENERATION + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_BASE_GENERATION] = { .type = NLA_U64, },
	[TOPOOPT_A_DEVICE_GENERATION] = { .type = NLA_U64, },
};

/* TOPOOPT_CMD_ABORT - do */
static const struct nla_policy topoopt_abort_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
};

/* TOPOOPT_CMD_ROUTE_GET - do */
static const struct nla_policy topoopt_route_get_do_nl_policy[TOPOOPT_A_DEVICE_ROUTE + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_ROUTE] = NLA_POLICY_NESTED(topoopt_route_nl_policy),
	[TOPOOPT_A_DEVICE_STAGED] = { .type = NLA_FLAG, },
};

/* TOPOOPT_CMD_ROUTE_GET - dump */
static const struct nla_policy topoopt_route_get_dump_nl_policy[TOPOOPT_A_DEVICE_STAGED + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_STAGED] = { .type = NLA_FLAG, },
};

/* TOPOOPT_CMD_GROUP_GET - do */
static const struct nla_policy topoopt_group_get_do_nl_policy[TOPOOPT_A_DEVICE_GROUP + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_GROUP] = NLA_POLICY_NESTED(topoopt_group_nl_policy),
	[TOPOOPT_A_DEVICE_STAGED] = { .type = NLA_FLAG, },
};

/* TOPOOPT_CMD_GROUP_GET - dump */
static const struct nla_policy topoopt_group_get_dump_nl_policy[TOPOOPT_A_DEVICE_STAGED + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_STAGED] = { .type = NLA_FLAG, },
};

/* TOPOOPT_CMD_PEER_GET - dump */
static const struct nla_policy topoopt_peer_get_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
};

/* TOPOOPT_CMD_ACCOUNT - do */
static const struct nla_policy topoopt_account_nl_policy[TOPOOPT_A_DEVICE_PROGRAM + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_PROGRAM] = { .type = NLA_U32, },
};

/* Ops table for topoopt */
static const struct genl_split_ops topoopt_nl_ops[] = {
	{
		.cmd		= TOPOOPT_CMD_DEV_GET,
		.doit		= topoopt_nl_dev_get_doit,
		.policy		= topoopt_dev_get_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_IFINDEX,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= TOPOOPT_CMD_DEV_GET,
		.dumpit	= topoopt_nl_dev_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= TOPOOPT_CMD_PORT_GET,
		.doit		= topoopt_nl_port_get_doit,
		.policy		= topoopt_port_get_do_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_PORT,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= TOPOOPT_CMD_PORT_GET,
		.dumpit		= topoopt_nl_port_get_dumpit,
		.policy		= topoopt_port_get_dump_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_IFINDEX,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= TOPOOPT_CMD_PORT_SET,
		.doit		= topoopt_nl_port_set_doit,
		.policy		= topoopt_port_set_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_PORT,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= TOPOOPT_CMD_STAGE_NEW,
		.doit		= topoopt_nl_stage_new_doit,
		.policy		= topoopt_stage_new_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= TOPOOPT_CMD_STAGE_ADD,
		.doit		= topoopt_nl_stage_add_doit,
		.policy		= topoopt_stage_add_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_PEER,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= TOPOOPT_CMD_STAGE_PREPARE,
		.doit		= topoopt_nl_stage_prepare_doit,
		.policy		= topoopt_stage_prepare_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= TOPOOPT_CMD_COMMIT,
		.doit		= topoopt_nl_commit_doit,
		.policy		= topoopt_commit_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_BASE_GENERATION,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= TOPOOPT_CMD_ABORT,
		.doit		= topoopt_nl_abort_doit,
		.policy		= topoopt_abort_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= TOPOOPT_CMD_ROUTE_GET,
		.doit		= topoopt_nl_route_get_doit,
		.policy		= topoopt_route_get_do_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_ROUTE,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= TOPOOPT_CMD_ROUTE_GET,
		.dumpit		= topoopt_nl_route_get_dumpit,
		.policy		= topoopt_route_get_dump_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_STAGED,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= TOPOOPT_CMD_GROUP_GET,
		.doit		= topoopt_nl_group_get_doit,
		.policy		= topoopt_group_get_do_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_GROUP,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= TOPOOPT_CMD_GROUP_GET,
		.dumpit		= topoopt_nl_group_get_dumpit,
		.policy		= topoopt_group_get_dump_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_STAGED,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= TOPOOPT_CMD_PEER_GET,
		.dumpit		= topoopt_nl_peer_get_dumpit,
		.policy		= topoopt_peer_get_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_IFINDEX,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= TOPOOPT_CMD_ACCOUNT,
		.doit		= topoopt_nl_account_doit,
		.policy		= topoopt_account_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_PROGRAM,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= TOPOOPT_CMD_MODULE_GET,
		.doit	= topoopt_nl_module_get_doit,
		.flags	= GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group topoopt_nl_mcgrps[] = {
	[TOPOOPT_NLGRP_EVENTS] = { "events", },
};

struct genl_family topoopt_nl_family __ro_after_init = {
	.name		= TOPOOPT_FAMILY_NAME,
	.version	= TOPOOPT_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= topoopt_nl_ops,
	.n_split_ops	= ARRAY_SIZE(topoopt_nl_ops),
	.mcgrps		= topoopt_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(topoopt_nl_mcgrps),
};
