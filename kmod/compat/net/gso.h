/* SPDX-License-Identifier: GPL-2.0 */
/* Found by kernels before 6.5, where linux/netdevice.h has what theirs declares. */
