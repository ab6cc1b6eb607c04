/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PARALLEL_H
#define TOPOOPT_PARALLEL_H

/**
 * to_parallel() - call @run for 0 to @n - 1, on all cores that the process may use
 * @run: called from several threads at once, each index once; what it does
 *	must not depend on which others have run
 *
 * Returns when all are done. With one core, or when no thread can be started,
 * the caller does all of it.
 */
void to_parallel(unsigned int n, void (*run)(void *data, unsigned int index), void *data);

#endif
