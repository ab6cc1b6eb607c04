/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NAPI_PROCESSORS_H
#define TOPOOPT_NAPI_PROCESSORS_H

/* Which processors receive an interface's packets, and so run its XDP program. */

/**
 * to_napi_processors_highest() - return the highest number of a processor that may receive
 * @ifname: interface
 *
 * A processor may receive if an interrupt of the interface's queues leads there. Any that is
 * online may where interrupts are not known, or threads poll (/sys/class/net/IFNAME/threaded).
 */
unsigned int to_napi_processors_highest(const char *ifname);

/** to_napi_processors_last() - return the last number of a list such as "0-3,8"; 0 if empty */
unsigned int to_napi_processors_last(const char *list);

#endif
