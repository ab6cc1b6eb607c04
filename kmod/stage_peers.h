/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_STAGE_PEERS_H
#define TOPOOPT_STAGE_PEERS_H

#include <linux/siphash.h>
#include <net/genetlink.h>

#include "array.h"
#include "ccm.h"

struct topoopt_dev;
struct topoopt_peers;

#define TOPOOPT_STAGE_PEERS_MAX	65535
#define TOPOOPT_STAGE_GRACE_MS	5000

/**
 * struct topoopt_stage_peers - neighbours that a stage has, and how to check them
 * @check: as in struct topoopt_peers
 * @peers: struct topoopt_peer, in the order in which they were added
 */
struct topoopt_stage_peers {
	struct {
		u8 interval;
		u64 fabric;
		siphash_key_t key;
		u32 grace_ms;
		char server[TOPOOPT_CCM_SERVER];
	} check;
	struct topoopt_array peers;
};

/* Take an attribute of a stage. A request that fails changes nothing. */
int topoopt_stage_check(struct topoopt_stage_peers *stage, const struct nlattr *check,
			struct netlink_ext_ack *extack);
int topoopt_stage_peer(const struct topoopt_dev *tdev, struct topoopt_stage_peers *stage,
		       const struct nlattr *peer, struct netlink_ext_ack *extack);

/* The port that an attribute names. */
int topoopt_stage_port(const struct topoopt_dev *tdev, const struct nlattr *attr,
		       u32 *ifindex, u16 *slot, struct netlink_ext_ack *extack);

/* The neighbours, to go with a table; NULL while checks are off; -EEXIST, -ENOMEM. */
struct topoopt_peers *topoopt_stage_peers_build(const struct topoopt_stage_peers *stage,
						struct netlink_ext_ack *extack);

#endif
