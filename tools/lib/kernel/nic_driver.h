/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NIC_DRIVER_H
#define TOPOOPT_NIC_DRIVER_H

/* What drivers do with frames that XDP redirects, where the kernel has no way to ask. */

#include <stdbool.h>

/**
 * to_nic_driver_numbered() - tell whether a driver picks its XDP queue by processor number alone
 * @driver: name, as ethtool -i prints it
 *
 * Such a driver has an XDP queue for each channel. It does not send frames from a processor
 * whose number is not below the number of channels: they are lost. Other drivers share their
 * queues among processors, or have a queue for each processor.
 */
bool to_nic_driver_numbered(const char *driver);

#endif
