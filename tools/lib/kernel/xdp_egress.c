// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/xdp_egress.h"

#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>

#include "kernel/dcb.h"
#include "kernel/ethtool.h"
#include "kernel/nic_driver.h"
#include "kernel/verifier_log.h"
#include "kernel/xdp_features.h"
#include "kernel/xdp_program.h"

/* Refuse all classes if a processor that may send has no queue. Return: whether it has one. */
static bool egress_queues(struct to_xdp_egress *egress, const char *ifname, unsigned int processor)
{
	struct to_ethtool_channels channels;
	char driver[TO_ETHTOOL_DRIVER];

	to_ethtool_driver(ifname, driver);
	if (!to_nic_driver_numbered(driver))
		return true;
	channels = to_ethtool_channels(ifname);
	if (!channels.now || processor < channels.now)
		return true;
	egress->classes = 0;
	snprintf(egress->why, sizeof(egress->why),
		 "%s has %u channel%s, and would lose what processor %u sends by XDP", ifname,
		 channels.now, channels.now == 1 ? "" : "s", processor);
	if (processor < channels.most)
		snprintf(egress->fix, sizeof(egress->fix), "ethtool -L %s %s %u", ifname,
			 channels.combined ? "combined" : "tx", processor + 1);
	else
		snprintf(egress->fix, sizeof(egress->fix),
			 "lead the interrupts of all ports to processors below %u (/proc/irq/N/smp_affinity_list)",
			 channels.now);
	return false;
}

/*
 * PFC holds traffic classes back, and drivers send what XDP redirects in class 0: mlx5
 * (drivers/net/ethernet/mellanox/mlx5/core/en_main.c:2121 of Linux 7.2), i40e, ice
 * (intel/ice/ice_lib.c:2291) and bnxt (broadcom/bnxt/bnxt.c:4183). ixgbe refuses XDP beside
 * DCB (intel/ixgbe/ixgbe_main.c:10926). No driver is known that keeps the class.
 */
static void egress_pfc(struct to_xdp_egress *egress, const char *ifname, bool lossy)
{
	if (!(egress->classes & TOPOOPT_XDP_ROCE) || !to_dcb_pfc(ifname))
		return;
	if (lossy) {
		snprintf(egress->why, sizeof(egress->why),
			 "%s has PFC on, which does not hold what XDP sends: RoCEv2 may get lost", ifname);
		snprintf(egress->fix, sizeof(egress->fix), "toctl apply PLAN --xdp auto");
	} else {
		egress->classes &= ~TOPOOPT_XDP_ROCE;
		snprintf(egress->why, sizeof(egress->why),
			 "%s has PFC on, which does not hold what XDP sends: RoCEv2 takes the kernel's queues",
			 ifname);
	}
}

void to_xdp_egress_judge(struct to_xdp_egress *egress, const char *ifname, unsigned int processor,
			 uint32_t classes, bool lossy)
{
	*egress = (struct to_xdp_egress){ .classes = classes };
	if (egress_queues(egress, ifname, processor))
		egress_pfc(egress, ifname, lossy);
}

void to_xdp_egress_lost(struct to_xdp_egress *egress, const char *ifname, int error, bool lossy)
{
	const int n = snprintf(egress->why, sizeof(egress->why), "%s lost a frame that XDP sent (%s)",
			       ifname, strerror(error));

	if (lossy) {
		snprintf(egress->fix, sizeof(egress->fix), "toctl apply PLAN --xdp auto");
		return;
	}
	snprintf(egress->why + n, sizeof(egress->why) - n,
		 ": RoCEv2 takes the kernel's queues until the link was down");
	snprintf(egress->fix, sizeof(egress->fix), "ip link set %s down && ip link set %s up", ifname,
		 ifname);
}

static int egress_attach(uint32_t ifindex, int pass, struct to_error *err)
{
	struct to_xdp_program now = to_xdp_program_look(ifindex);
	int ret = 0;

	if (now.owner == TO_XDP_STRANGER)
		ret = to_error_set(err, -EBUSY, "another XDP program is attached");
	else if (now.owner == TO_XDP_NOBODY)
		ret = to_xdp_program_attach(ifindex, &now, pass, XDP_FLAGS_DRV_MODE);
	if (ret && ret != -EBUSY)
		to_error_set(err, ret, "%s",
			     *to_verifier_log() ? to_verifier_log() : strerror(-ret));
	to_xdp_program_release(&now);
	return ret;
}

int to_xdp_egress_open(uint32_t ifindex, int pass, struct to_error *err)
{
	int ret;

	if (to_xdp_features(ifindex).send == TO_XDP_CAN)
		return 0;
	/* A kernel that does not tell would not miss the program. */
	ret = egress_attach(ifindex, pass, err);
	if (ret || to_xdp_features(ifindex).send != TO_XDP_CANNOT)
		return ret;
	to_xdp_program_detach(ifindex, TO_XDP_PASS, NULL, NULL);
	return to_error_set(err, -EOPNOTSUPP, "the driver does not send what XDP redirects");
}
