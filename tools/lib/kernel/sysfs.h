/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SYSFS_H
#define TOPOOPT_SYSFS_H

/** to_sysfs_line() - first line of a file, "" when there is none; the format makes its path */
void to_sysfs_line(char *line, int size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** to_sysfs_mbits() - Return the rate of a NIC in Mbit/s, 0: not known, or of a virtual interface */
unsigned long long to_sysfs_mbits(const char *interface);

#endif
