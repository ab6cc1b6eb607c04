/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_WAVELENGTH_CHART_H
#define TOPOOPT_WAVELENGTH_CHART_H

#include <stdio.h>

#include "data/cluster.h"

/**
 * to_wavelength_chart() - section of a page: lightpaths by wavelength over segments
 *
 * Nothing where the links of @cluster are no lightpaths of an optical ring, see
 * to_wavelengths_find().
 *
 * Return: 0 or -ENOMEM.
 */
int to_wavelength_chart(FILE *out, const struct to_cluster *cluster);

#endif
