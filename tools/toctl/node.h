/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NODE_H
#define TOPOOPT_NODE_H

#include "base/error.h"
#include "data/plan.h"

/**
 * to_node_find() - which server of a plan a command is about
 * @path: of the plan, for the error
 * @node: its name, NULL for this host's; either as in to_cluster_find_host()
 *
 * Return: index of the server, or -ENOENT or -EEXIST with @err.
 */
int to_node_find(const struct to_plan *plan, const char *path, const char *node,
		 struct to_error *err);

#endif
