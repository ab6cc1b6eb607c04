// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/nic_driver.h"

#include <stddef.h>
#include <string.h>

/*
 * With lines of Linux 7.2, below drivers/net/ethernet/. Read, and not of this kind: bnxt
 * (broadcom/bnxt/bnxt_xdp.c:347), gve (google/gve/gve_main.c), igb and igc (intel/igc/
 * igc_main.c:2485) and drivers/net/vmxnet3, virtio_net and veth share queues; ice
 * (intel/ice/ice_main.c:2875) and ixgbe (intel/ixgbe/ixgbe.h:861) have one for each processor,
 * or share.
 */
static const char *const nic_driver_numbered[] = {
	"mlx5_core",	/* mellanox/mlx5/core/en/xdp.c:873, ENXIO from the number of channels on */
	"i40e",		/* intel/i40e/i40e_txrx.c:4018, ENXIO from the number of queue pairs on */
	"rvu_nicpf",	/* marvell/octeontx2/nic/otx2_pf.c otx2_xdp_xmit(), a wrong queue or none */
	"topoopt_nic",	/* selftests/module/nic/transmit.c nic_transmit_xdp_allowed(), as mlx5 */
};

bool to_nic_driver_numbered(const char *driver)
{
	for (size_t i = 0; i < sizeof(nic_driver_numbered) / sizeof(*nic_driver_numbered); i++)
		if (!strcmp(driver, nic_driver_numbered[i]))
			return true;
	return false;
}
