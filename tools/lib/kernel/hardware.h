/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_HARDWARE_H
#define TOPOOPT_HARDWARE_H

/* What a network interface is made of, as sysfs shows it: PCI function, PCIe links, card. */

#include <jansson.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#define TO_HARDWARE_LINKS 8	/* PCIe links between a function and memory */

/**
 * struct to_hardware_link - a PCIe link
 * @name: domain, bus and device of what is at its lower end, "0002.01.00"
 * @rate: bits/s each way, after line coding
 */
struct to_hardware_link {
	char name[IFNAMSIZ];
	uint64_t rate;
};

/**
 * struct to_hardware - an interface; what is not known is "" or 0
 * @pci: address of its PCI function, "0002:01:00.0"
 * @card: which the kernel says can forward between its ports (phys_switch_id)
 * @connector: port of the card (phys_port_name)
 * @n_links: of @links
 * @links: PCIe links, the outermost first
 */
struct to_hardware {
	char pci[16], card[2 * 32 + 1], connector[IFNAMSIZ];
	unsigned int n_links;
	struct to_hardware_link links[TO_HARDWARE_LINKS];
};

/** to_hardware_read() - read what sysfs has of interface @name */
void to_hardware_read(struct to_hardware *hardware, const char *name);

/** to_hardware_is_known() - tell whether sysfs has a PCI function or a connector */
static inline bool to_hardware_is_known(const struct to_hardware *hardware)
{
	return hardware->pci[0] || hardware->connector[0];
}

/** to_hardware_json() - add "pci", "card", "connector" and "pcie" to the JSON object @to */
void to_hardware_json(const struct to_hardware *hardware, json_t *to);

/** to_hardware_share_connector() - tell whether two are known to be functions on one connector */
bool to_hardware_share_connector(const struct to_hardware *a, const struct to_hardware *b);

/**
 * to_hardware_takes_roce() - tell whether RDMA device @rdma is one of hardware
 *
 * Hardware takes the RoCEv2 frames of its MAC address before the kernel sees them; rdma_rxe
 * and siw leave those for other servers to the kernel.
 */
bool to_hardware_takes_roce(const char *rdma);

/** to_hardware_link_rate() - bits/s of a PCIe link from "32.0 GT/s PCIe" and "4"; 0 if unknown */
uint64_t to_hardware_link_rate(const char *speed, const char *width);

#endif
