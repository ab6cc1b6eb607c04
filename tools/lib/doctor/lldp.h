/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LLDP_H
#define TOPOOPT_LLDP_H

/* Neighbours that say who they are (LLDP, IEEE 802.1AB): switches, mostly. */

#include <stddef.h>

#include "doctor/inventory.h"

/**
 * to_lldp_read() - what lldpd of this server has heard at its interfaces
 * @inventory: its interfaces get it
 *
 * Where lldpd is not installed or does not run, nothing is known.
 */
void to_lldp_read(struct to_inventory *inventory);

/** to_lldp_parse() - the same from what `lldpctl -f json0` printed; what is not understood is left out */
void to_lldp_parse(struct to_inventory *inventory, const char *text, size_t len);

#endif
