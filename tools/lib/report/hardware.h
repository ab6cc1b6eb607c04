/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_REPORT_HARDWARE_H
#define TOPOOPT_REPORT_HARDWARE_H

/* What ports share on their servers, as tables of a page. */

#include <stdio.h>

#include "data/cluster.h"

/**
 * to_report_hardware() - write the cables, cards and PCIe links of @cluster as a section
 *
 * Rates of PCIe links: that of sysfs, and those in force, which were measured where the file
 * says so. Nothing is written where the file says nothing of these.
 */
void to_report_hardware(FILE *out, const struct to_cluster *cluster);

#endif
