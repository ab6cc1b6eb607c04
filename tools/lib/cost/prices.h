/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PRICES_H
#define TOPOOPT_PRICES_H

/* What the components of a network cost and draw: prices.json. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/** struct to_price - of one component */
struct to_price {
	double usd, watts;
};

/**
 * struct to_speed_prices - components that know the speed of the link
 * @bandwidth: of the link, bits/s
 */
struct to_speed_prices {
	uint64_t bandwidth;
	struct to_price transceiver, nic, switch_port;
};

/**
 * struct to_prices - all components
 * @speeds: each bandwidth once
 * @switch_1x2: optical, between the panels of the topology in force and the next one
 * @sip_ml_port: a wavelength of SiP-ML, whole
 * @sip_ml: there is such a price
 * @fibre_usd_per_m: of one fibre
 * @panel_ports, @ocs_ports: ports of the largest patch panel and optical switch
 */
struct to_prices {
	char name[TO_NAME_MAX];
	struct to_speed_prices *speeds;
	unsigned int n_speeds;
	struct to_price panel_port, ocs_port, switch_1x2, sip_ml_port;
	bool sip_ml;
	double fibre_usd_per_m;
	unsigned int panel_ports, ocs_ports;
};

/**
 * to_prices_default() - dollars and ports of the TopoOpt paper (Tables 1 and 3)
 *
 * The paper has no watts: those are ours, round figures after data sheets of 2020 to 2023
 * (short-reach transceivers, ConnectX-4 to -6, switches of 32 or 48 ports, 3D MEMS; panels
 * and latching 1x2 switches draw nothing while they rest).
 */
struct to_prices *to_prices_default(void);

struct to_prices *to_prices_load(const char *path, struct to_error *err);

/** to_prices_parse() - prices.json from memory; @name is for errors */
struct to_prices *to_prices_parse(const char *data, size_t len, const char *name,
				  struct to_error *err);
void to_prices_free(struct to_prices *prices);

/** to_prices_speed() - components for links of @bandwidth bits/s; NULL when unpriced */
const struct to_speed_prices *to_prices_speed(const struct to_prices *prices, uint64_t bandwidth);

#endif
