/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_NETLINK_H
#define TOPOOPT_NETLINK_H

/*
 * The generic netlink family, see Documentation/netlink/specs/topoopt.yaml.
 *
 *	netlink.c	what the others share
 *	notify.c	events
 *	stage.c		stages and commits
 *	dump.c		routes and groups, as they are asked for
 *	request.c	all other requests, and what ends with a socket
 *	netlink_policy.c	the family, made from the specification
 */

#include <net/genetlink.h>

#include "topoopt.h"

struct topoopt_group;
struct topoopt_liveness;
struct topoopt_stage;

/* netlink.c */

typedef int topoopt_netlink_fn_t(struct topoopt_dev *tdev,
				 struct genl_info *info);

/*
 * Call @fn with the device that the request names, under topoopt_dev.lock, if
 * it is not being unregistered.
 */
int topoopt_netlink_call(struct genl_info *info, topoopt_netlink_fn_t *fn);

/**
 * topoopt_netlink_takes() - refuse attributes of a nest that a request does not take
 * @nest: valid by the policy, which knows the attributes of replies, too
 * @types: bitmap of the types that the request takes
 * @extack: told which attribute is at fault
 *
 * Return: 0 or -EINVAL.
 */
int topoopt_netlink_takes(const struct nlattr *nest, u32 types,
			  struct netlink_ext_ack *extack);

/* The device that a request names, to be released with netdev_put(). */
struct topoopt_dev *topoopt_netlink_dev(struct genl_info *info,
					netdevice_tracker *tracker);

/*
 * The device that a dump request names; attributes in @attr, of
 * TOPOOPT_A_DEVICE_MAX + 1.
 */
struct topoopt_dev *topoopt_netlink_dump_dev(struct netlink_callback *cb,
					     struct nlattr **attr,
					     netdevice_tracker *tracker);

/*
 * Start of the answer to @info, with the device; to be ended with
 * topoopt_netlink_reply(). NULL without memory.
 */
struct sk_buff *topoopt_netlink_answer(struct topoopt_dev *tdev,
				       struct genl_info *info, void **header);
int topoopt_netlink_reply(struct sk_buff *skb, void *header,
			  struct genl_info *info);

/*
 * Put attributes; 0 or -EMSGSIZE. Counters are of a device or of a port, which
 * @type is an attribute of.
 */
int topoopt_netlink_put_generation(struct sk_buff *skb, u64 generation);
int topoopt_netlink_put_counters(struct sk_buff *skb, int type,
				 const u64 sum[TOPOOPT_COUNTERS]);
int topoopt_netlink_put_port(struct sk_buff *skb,
			     const struct topoopt_port *port);
/* Under topoopt_dev.live_lock. */
int topoopt_netlink_put_peer(struct sk_buff *skb, const struct topoopt_peer *peer);
int topoopt_netlink_put_group(struct sk_buff *skb,
			      const struct topoopt_dev *tdev,
			      const struct topoopt_group *group,
			      const struct topoopt_liveness *liveness);

/*
 * stage.c, all under topoopt_dev.lock
 *
 * The table of a stage that was prepared, NULL of one that was not; then the
 * routes of it.
 */
const struct topoopt_table *
topoopt_stage_table(const struct topoopt_stage *stage);
const struct topoopt_routes *
topoopt_stage_routes(const struct topoopt_stage *stage);
u32 topoopt_stage_count_routes(const struct topoopt_stage *stage);
u32 topoopt_stage_count_groups(const struct topoopt_stage *stage);

/* NULL is fine. */
void topoopt_stage_free(struct topoopt_stage *stage);

/* The socket @portid is gone: free the stage, if it belongs to that one. */
void topoopt_stage_disown(struct topoopt_dev *tdev, u32 portid);

/* Whether there is any stage that belongs to a socket. */
bool topoopt_stage_owned(void);

/* notify.c */

/* Under topoopt_dev.lock, after the active table was replaced. */
void topoopt_notify_commit(struct topoopt_dev *tdev);

/* request.c */

extern struct notifier_block topoopt_request_notifier;

#endif
