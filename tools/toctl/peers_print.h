/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_PEERS_PRINT_H
#define TOCTL_PEERS_PRINT_H

#include <stdio.h>

#include "kernel/device_view.h"

/** to_peers_print() - print a device's neighbours as a table, or why there are none */
void to_peers_print(FILE *out, const struct to_device_view *view);

#endif
