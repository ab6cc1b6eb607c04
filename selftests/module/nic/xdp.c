// SPDX-License-Identifier: GPL-2.0
/* XDP programs: attached, and run. */

#include <linux/bpf.h>
#include <linux/bpf_trace.h>
#include <linux/filter.h>
#include <linux/if_vlan.h>

#include "compat.h"
#include "nic.h"

/* Whether a program, which may be NULL, can have frames of an MTU. */
bool nic_xdp_mtu_fits(const struct bpf_prog *program, unsigned int mtu)
{
	return !program || program->aux->xdp_has_frags ||
	       mtu + ETH_HLEN + 2 * VLAN_HLEN <= NIC_LINEAR_MAX;
}

int nic_xdp_bpf(struct net_device *dev, struct netdev_bpf *bpf)
{
	struct nic_function *f = netdev_priv(dev);
	struct bpf_prog *old;

	if (bpf->command != XDP_SETUP_PROG)
		return -EINVAL;
	if (!nic_xdp_mtu_fits(bpf->prog, dev->mtu)) {
		NL_SET_ERR_MSG_MOD(bpf->extack, "MTU too large for a program without frags");
		return -EINVAL;
	}
	if (!bpf->prog)
		nic_compat_xdp_features(dev, f->traits->redirect, false, false);
	old = rcu_replace_pointer(f->program, bpf->prog, lockdep_rtnl_is_held());
	if (bpf->prog)
		nic_compat_xdp_features(dev, f->traits->redirect, true,
					f->traits->send_frags);
	if (old)
		bpf_prog_put(old);
	return 0;
}

/* Send a frame back. Consumes it. */
static void nic_xdp_send(struct nic_function *f, struct xdp_buff *xdp)
{
	struct xdp_frame *frame = xdp_convert_buff_to_frame(xdp);

	if (!frame) {
		xdp_return_buff(xdp);
		return;
	}
	if (nic_transmit_frame(f, frame))
		nic_count(f, NIC_RX_XDP_TX, 1);
	xdp_return_frame_rx_napi(frame);
}

/**
 * nic_xdp_run() - run a program on a frame
 * @c: channel that has received it
 * @program: program
 * @xdp: frame
 *
 * Return: true when the stack gets the frame, else it is gone.
 */
bool nic_xdp_run(struct nic_channel *c, struct bpf_prog *program, struct xdp_buff *xdp)
{
	struct nic_function *f = c->function;
	u32 act = bpf_prog_run_xdp(program, xdp);

	switch (act) {
	case XDP_PASS:
		return true;
	case XDP_TX:
		nic_xdp_send(f, xdp);
		return false;
	case XDP_REDIRECT:
		if (READ_ONCE(f->traits->redirect)) {
			if (!xdp_do_redirect(f->dev, xdp, program)) {
				nic_count(f, NIC_RX_XDP_REDIRECT, 1);
				c->redirected = true;
				return false;
			}
			trace_xdp_exception(f->dev, program, act);
			break;
		}
		fallthrough;
	default:
		bpf_warn_invalid_xdp_action(f->dev, program, act);
		fallthrough;
	case XDP_ABORTED:
		trace_xdp_exception(f->dev, program, act);
		break;
	case XDP_DROP:
		break;
	}
	nic_count(f, NIC_RX_XDP_DROP, 1);
	xdp_return_buff(xdp);
	return false;
}
