# SPDX-License-Identifier: GPL-2.0
# Looks into the kernel's headers for what macros cannot tell. Included by
# Kbuild; defines TOPOOPT_HAVE_*.

topoopt-probe = $(shell grep -qsE '$(3)' $(srctree)/include/$(2) && \
	echo -DTOPOOPT_HAVE_$(1))

ccflags-y += $(call topoopt-probe,DROP_REASON_RECURSION_LIMIT,net/dropreason-core.h,SKB_DROP_REASON_RECURSION_LIMIT)
ccflags-y += $(call topoopt-probe,GENL_SPLIT_OPS,net/genetlink.h,^struct genl_split_ops {)
ccflags-y += $(call topoopt-probe,HRTIMER_SETUP,linux/hrtimer.h,void hrtimer_setup)
ccflags-y += $(call topoopt-probe,NETNS_IMMUTABLE,linux/netdevice.h,netns_immutable:1)
ccflags-y += $(call topoopt-probe,PROG_PRIVATE_STACK,linux/bpf.h,bool jits_use_priv_stack;)
ccflags-y += $(call topoopt-probe,PROG_SLEEPABLE,linux/bpf.h,sleepable:1)
ccflags-y += $(call topoopt-probe,XDP_FEATURES,uapi/linux/netdev.h,NETDEV_XDP_ACT_NDO_XMIT_SG)
