/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_JOB_TREE_H
#define TOPOOPT_JOB_TREE_H

/* AllReduce over one tree, as one of its servers has it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct job_hop - connections to a neighbour in the tree
 * @server: which
 * @n: how many, one for each link between the two; each has the same part of every chunk
 * @fd: these
 */
struct job_hop {
	uint32_t server;
	unsigned int n;
	int *fd;
};

/**
 * struct job_tree - neighbours in the tree
 * @up: the parent; n is 0 at the root
 * @down: the children
 */
struct job_tree {
	struct job_hop up;
	unsigned int n_down;
	struct job_hop *down;
};

/** job_read(), job_write() - all of it. Return: false when the connection is gone. */
bool job_read(int fd, void *buf, size_t len);
bool job_write(int fd, const void *buf, size_t len);

/**
 * job_tree_reduce() - sum @data over all servers of the tree
 * @n: elements, the same number on every server
 *
 * In chunks: each is reduced towards the root and broadcast from there, while the
 * next ones are on their way up.
 *
 * Return: false when a connection is gone.
 */
bool job_tree_reduce(const struct job_tree *tree, uint32_t *data, uint64_t n);

#endif
