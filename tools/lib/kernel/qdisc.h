/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_QDISC_H
#define TOPOOPT_QDISC_H

/* What the queues of an interface hold, and when they mark packets by ECN. */

#include <stdbool.h>
#include <stdint.h>

#include "kernel/netlink.h"

#define TO_QDISCS_MAX 256	/* of one interface that are looked at */

/**
 * struct to_qdisc - a queueing discipline
 * @kind: "red", "fq_codel", ...
 * @packets, @bytes: that it holds, 0 where it has no such limit or is not known
 * @marks: packets that can be marked are, not dropped, from
 * @mark_bytes: bytes in the queue on, or
 * @mark_us: microseconds in the queue on
 * @parent: handle of the class that it is in
 */
struct to_qdisc {
	char kind[16];
	uint64_t packets, bytes;
	bool marks;
	uint32_t mark_bytes, mark_us, parent, handle;
};

/**
 * to_qdiscs_read() - those of an interface that hold packets, not others in their classes
 * @found: room for TO_QDISCS_MAX
 * @length: of a queue that has the interface's (txqueuelen)
 *
 * Return: how many, or a negative errno with @err set.
 */
int to_qdiscs_read(struct to_netlink *rt, uint32_t ifindex, uint32_t length,
		   struct to_qdisc *found, struct to_error *err);

#endif
