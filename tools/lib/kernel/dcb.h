/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DCB_H
#define TOPOOPT_DCB_H

/* What `dcb pfc` shows of an interface. */

#include <stdint.h>

/**
 * to_dcb_pfc() - read which priorities have PFC
 * @ifname: interface
 *
 * Return: 1 << priority of each; 0 also if the driver has no PFC or does not tell.
 */
uint8_t to_dcb_pfc(const char *ifname);

#endif
