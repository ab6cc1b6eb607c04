// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the queues that relayed packets wait in; what they should be: queues.md. */

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/check.h"
#include "kernel/qdisc.h"
#include "kernel/sysfs.h"

#define QUEUE_PACKETS 4096	/* that should have room, */
#define QUEUE_PACKET 4178u	/* bytes of RoCEv2 with 4 KiB of payload */
#define QUEUE_BYTES (QUEUE_PACKETS * (unsigned long long)QUEUE_PACKET)
#define QUEUE_MARK 1000u	/* bytes, for each Gbit/s, from which on some should be marked, */
#define QUEUE_MARK_ALL 4000u	/* and all, */
#define QUEUE_MARK_US 32	/* which is as many microseconds */
#define QUEUE_SLOWEST 10	/* Gbit/s: less would be marks from less than a packet on */
#define QUEUE_RED 34		/* Gbit/s, the most that tc knows RED for: 2^32 bytes/s */
#define QUEUE_USUAL 100		/* Gbit/s, where no plan says */

/* What is wrong with @q, "" if nothing is. */
static void queue_judge(const struct to_qdisc *q, uint32_t gbits, char *text, size_t size)
{
	text[0] = '\0';
	if (!strcmp(q->kind, "noqueue"))
		return;
	if ((q->packets && q->packets < QUEUE_PACKETS) ||
	    (!q->packets && q->bytes && q->bytes < QUEUE_BYTES))
		snprintf(text, size, "%.15s holds %llu %s: RoCEv2 that is relayed gets lost", q->kind,
			 (unsigned long long)(q->packets ? q->packets : q->bytes),
			 q->packets ? "packets" : "bytes");
	else if (!q->marks)
		snprintf(text, size, "%.15s marks nothing: RoCEv2 does not slow down before it drops",
			 q->kind);
	else if (q->mark_us > QUEUE_MARK_US)
		snprintf(text, size, "%.15s marks after %u us: RoCEv2 slows down too late", q->kind,
			 q->mark_us);
	else if (q->mark_bytes > QUEUE_MARK_ALL * gbits)
		snprintf(text, size, "%.15s marks from %u bytes on: RoCEv2 slows down too late", q->kind,
			 q->mark_bytes);
}

/* As the guide has it, in place of @q. */
static void queue_fix(const struct to_qdisc *q, const char *name, uint32_t gbits, char *fix,
		      size_t size)
{
	const uint32_t min = QUEUE_MARK * gbits, max = QUEUE_MARK_ALL * gbits;
	char where[32] = "root";

	if (q->parent != TC_H_ROOT)
		snprintf(where, sizeof(where), "parent %x:%x", TC_H_MAJ(q->parent) >> 16,
			 TC_H_MIN(q->parent));
	snprintf(fix, size,
		 "tc qdisc replace dev %s %s red limit %llu min %u max %u avpkt %u burst %u bandwidth %ugbit ecn",
		 name, where, QUEUE_BYTES, min, max, QUEUE_PACKET, (2 * min + max) / (3 * QUEUE_PACKET) + 1,
		 gbits < QUEUE_RED ? gbits : QUEUE_RED);
}

static void queue_check(struct to_checks *checks, struct to_netlink *rt, const struct to_nic *nic,
			uint32_t gbits)
{
	static struct to_qdisc found[TO_QDISCS_MAX];
	struct to_error err = { "" };
	char line[32], text[160] = "", fix[300];
	unsigned int queue = 0;
	int n;

	to_sysfs_line(line, sizeof(line), "/sys/class/net/%s/tx_queue_len", nic->name);
	n = to_qdiscs_read(rt, nic->ifindex, atoi(line), found, &err);
	if (n < 0) {
		to_check_add(checks, TO_CHECK_WARN, "queue", nic->name, NULL, "%.180s", err.text);
		return;
	}
	for (int i = 0; i < n && !text[0]; i++) {
		queue_judge(&found[i], gbits, text, sizeof(text));
		queue = i;
	}
	if (!text[0]) {
		if (n && strcmp(found[0].kind, "noqueue"))
			to_check_add(checks, TO_CHECK_OK, "queue", nic->name, NULL,
				     "%s marks before it drops", found[0].kind);
		return;
	}
	queue_fix(&found[queue], nic->name, gbits, fix, sizeof(fix));
	to_check_add(checks, TO_CHECK_WARN, "queue", nic->name, fix, "%s", text);
}

void to_check_queues(struct to_checks *checks, const struct to_check_view *view)
{
	struct to_error err = { "" };
	struct to_netlink rt;

	if (to_netlink_open(&rt, NETLINK_ROUTE, &err))
		return;
	for (unsigned int p = 0; p < view->n_ports; p++) {
		const struct to_nic *nic = to_rtnl_nic_find(view->nics, view->n_nics, view->ports[p]);
		const struct to_server *server = view->plan ?
			&view->plan->cluster->servers[view->server] : NULL;
		uint64_t gbits = server ? server->ports[p].bandwidth / 1000000000 : QUEUE_USUAL;

		gbits = gbits < QUEUE_SLOWEST ? QUEUE_SLOWEST : gbits;
		if (nic)
			queue_check(checks, &rt, nic, gbits);
	}
	to_netlink_close(&rt);
}
