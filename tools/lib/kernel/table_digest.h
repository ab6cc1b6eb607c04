/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TABLE_DIGEST_H
#define TOPOOPT_TABLE_DIGEST_H

/*
 * A table in 64 bits, the same on any host: two tables between which to_diff_tables() finds
 * no difference have the same digest. Checks and neighbours are no part of it: they say nothing
 * of where packets go.
 */

#include "kernel/genl.h"

/** struct to_table_port - what an ifindex in the table is called */
struct to_table_port {
	uint32_t ifindex;
	const char *name;
};

/**
 * to_table_digest() - digest of @table
 * @ports: those of the server, @n of them
 * @digest: gets it
 *
 * Return: 0 or -ENOMEM.
 */
int to_table_digest(const struct to_kernel_table *table, const struct to_table_port *ports,
		    unsigned int n, uint64_t *digest);

#endif
