/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_LINKS_H
#define TOPOOPT_TM_LINKS_H

/* The links of a fabric, as the recordings of its servers tell of them. */

#include "base/error.h"
#include "data/tm.h"

/**
 * to_tm_links_find() - find the links of @tm from the ports of all recordings
 * @records: per server of @tm; NULL: none
 *
 * Both ends tell of a link; those of a server without recording are known by its peers.
 *
 * Return: 0, -ENOMEM, or -EINVAL with @err: they disagree about a port.
 */
int to_tm_links_find(struct to_tm *tm, const struct to_tm *const *records,
		     struct to_error *err);

/** to_tm_links_out() - index in @tm's links of what @port of @record sends into, or TO_TM_NONE */
uint32_t to_tm_links_out(const struct to_tm *tm, const struct to_tm *record, unsigned int port);

/** to_tm_links_in() - the same of what it receives from */
uint32_t to_tm_links_in(const struct to_tm *tm, const struct to_tm *record, unsigned int port);

/** to_tm_links_refuse_missing() - 0 when all servers have one of @records; -ENOENT with @err */
int to_tm_links_refuse_missing(const struct to_tm *tm, const struct to_tm *const *records,
			       struct to_error *err);

#endif
