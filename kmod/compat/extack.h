/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_COMPAT_EXTACK_H
#define TOPOOPT_COMPAT_EXTACK_H

#include <linux/netlink.h>

/*
 * Error text with a part that is only known at run time, which kernels before
 * 6.2 cannot carry; there it is left out.
 */
#ifdef NL_SET_ERR_MSG_FMT
#define TOPOOPT_SET_ERR_MSG_FMT(extack, text, fmt, ...)			\
	NL_SET_ERR_MSG_FMT((extack), text fmt, ##__VA_ARGS__)
#else
#define TOPOOPT_SET_ERR_MSG_FMT(extack, text, fmt, ...)			\
do {									\
	NL_SET_ERR_MSG((extack), text);					\
	no_printk(fmt, ##__VA_ARGS__);					\
} while (0)
#endif

#endif
