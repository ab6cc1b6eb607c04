// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/topoopt.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_policy.h"

#include <linux/topoopt.h>

/* Common nested types */
const struct nla_policy topoopt_counters_nl_policy[TOPOOPT_A_COUNTERS_ALTERNATE_PACKETS + 1] = {
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
const struct nla_policy topoopt_dev_get_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
};

/* TOPOOPT_CMD_PORT_GET - do */
const struct nla_policy topoopt_port_get_nl_policy[TOPOOPT_A_DEVICE_PORT + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_PORT] = NLA_POLICY_NESTED(topoopt_port_nl_policy),
};

/* TOPOOPT_CMD_PORT_SET - do */
const struct nla_policy topoopt_port_set_nl_policy[TOPOOPT_A_DEVICE_PORT + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_PORT] = NLA_POLICY_NESTED(topoopt_port_nl_policy),
};

/* TOPOOPT_CMD_STAGE_NEW - do */
const struct nla_policy topoopt_stage_new_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
};

/* TOPOOPT_CMD_STAGE_ADD - do */
const struct nla_policy topoopt_stage_add_nl_policy[TOPOOPT_A_DEVICE_ROUTE + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_GROUP] = NLA_POLICY_NESTED(topoopt_group_nl_policy),
	[TOPOOPT_A_DEVICE_ROUTE] = NLA_POLICY_NESTED(topoopt_route_nl_policy),
};

/* TOPOOPT_CMD_STAGE_PREPARE - do */
const struct nla_policy topoopt_stage_prepare_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
};

/* TOPOOPT_CMD_COMMIT - do */
const struct nla_policy topoopt_commit_nl_policy[TOPOOPT_A_DEVICE_BASE_GENERATION + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_BASE_GENERATION] = { .type = NLA_U64, },
	[TOPOOPT_A_DEVICE_GENERATION] = { .type = NLA_U64, },
};

/* TOPOOPT_CMD_ABORT - do */
const struct nla_policy topoopt_abort_nl_policy[TOPOOPT_A_DEVICE_IFINDEX + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
};

/* TOPOOPT_CMD_ROUTE_GET - do */
const struct nla_policy topoopt_route_get_nl_policy[TOPOOPT_A_DEVICE_ROUTE + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_ROUTE] = NLA_POLICY_NESTED(topoopt_route_nl_policy),
	[TOPOOPT_A_DEVICE_STAGED] = { .type = NLA_FLAG, },
};

/* TOPOOPT_CMD_GROUP_GET - do */
const struct nla_policy topoopt_group_get_nl_policy[TOPOOPT_A_DEVICE_GROUP + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_GROUP] = NLA_POLICY_NESTED(topoopt_group_nl_policy),
	[TOPOOPT_A_DEVICE_STAGED] = { .type = NLA_FLAG, },
};

/* TOPOOPT_CMD_ACCOUNT - do */
const struct nla_policy topoopt_account_nl_policy[TOPOOPT_A_DEVICE_PROGRAM + 1] = {
	[TOPOOPT_A_DEVICE_IFINDEX] = { .type = NLA_U32, },
	[TOPOOPT_A_DEVICE_PROGRAM] = { .type = NLA_U32, },
};

/* Ops table for topoopt */
const struct genl_ops topoopt_nl_ops[11] = {
	{
		.cmd		= TOPOOPT_CMD_DEV_GET,
		.doit		= topoopt_nl_dev_get_doit,
		.dumpit		= topoopt_nl_dev_get_dumpit,
		.policy		= topoopt_dev_get_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_IFINDEX,
	},
	{
		.cmd		= TOPOOPT_CMD_PORT_GET,
		.doit		= topoopt_nl_port_get_doit,
		.dumpit		= topoopt_nl_port_get_dumpit,
		.policy		= topoopt_port_get_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_PORT,
	},
	{
		.cmd		= TOPOOPT_CMD_PORT_SET,
		.doit		= topoopt_nl_port_set_doit,
		.policy		= topoopt_port_set_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_PORT,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TOPOOPT_CMD_STAGE_NEW,
		.doit		= topoopt_nl_stage_new_doit,
		.policy		= topoopt_stage_new_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TOPOOPT_CMD_STAGE_ADD,
		.doit		= topoopt_nl_stage_add_doit,
		.policy		= topoopt_stage_add_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_ROUTE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TOPOOPT_CMD_STAGE_PREPARE,
		.doit		= topoopt_nl_stage_prepare_doit,
		.policy		= topoopt_stage_prepare_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TOPOOPT_CMD_COMMIT,
		.doit		= topoopt_nl_commit_doit,
		.policy		= topoopt_commit_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_BASE_GENERATION,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TOPOOPT_CMD_ABORT,
		.doit		= topoopt_nl_abort_doit,
		.policy		= topoopt_abort_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TOPOOPT_CMD_ROUTE_GET,
		.doit		= topoopt_nl_route_get_doit,
		.dumpit		= topoopt_nl_route_get_dumpit,
		.policy		= topoopt_route_get_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_ROUTE,
	},
	{
		.cmd		= TOPOOPT_CMD_GROUP_GET,
		.doit		= topoopt_nl_group_get_doit,
		.dumpit		= topoopt_nl_group_get_dumpit,
		.policy		= topoopt_group_get_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_GROUP,
	},
	{
		.cmd		= TOPOOPT_CMD_ACCOUNT,
		.doit		= topoopt_nl_account_doit,
		.policy		= topoopt_account_nl_policy,
		.maxattr	= TOPOOPT_A_DEVICE_PROGRAM,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
};

