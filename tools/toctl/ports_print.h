/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PORTS_PRINT_H
#define TOPOOPT_PORTS_PRINT_H

/* Ports of a topoopt device, as a table. */

#include <stdio.h>

#include "kernel/device_view.h"

/**
 * to_ports_print() - print state, paths and packets of the ports of a device
 *
 * Where sysfs knows what ports are made of, also their functions, connectors and PCIe rates.
 *
 * Return: 0; -ENOMEM with @err.
 */
int to_ports_print(FILE *out, const struct to_device_view *view, struct to_error *err);

#endif
