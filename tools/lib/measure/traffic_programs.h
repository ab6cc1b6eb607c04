/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TRAFFIC_PROGRAMS_H
#define TOPOOPT_TRAFFIC_PROGRAMS_H

/*
 * The BPF programs that count a server's traffic (bpf/): load, attach, and
 * read them one epoch at a time.
 */

#include <stdint.h>

#include "base/error.h"
#include "data/plan.h"
#include "data/tm.h"

/**
 * enum to_traffic_source - place where programs count packets
 * @TO_TRAFFIC_AUTO: the first of the others that works here
 * @TO_TRAFFIC_MODULE: the module's accounting point
 * @TO_TRAFFIC_TC: tc ingress and egress of every port, by tcx where the kernel
 *	has it, else by a clsact qdisc
 */
enum to_traffic_source {
	TO_TRAFFIC_AUTO, TO_TRAFFIC_MODULE, TO_TRAFFIC_TC
};

/** struct to_traffic_port - a port; ifindex is 0 when it is not there */
struct to_traffic_port {
	uint32_t ifindex, tx_ifindex;
};

/**
 * struct to_traffic_config - what to count
 * @device: ifindex of the topoopt device, in this network namespace
 * @entries: pairs (by port and class) that one epoch can hold
 * @ports: of the server, as in the plan
 */
struct to_traffic_config {
	enum to_traffic_source source;
	uint32_t device;
	uint32_t entries;
	const struct to_plan *plan;
	unsigned int server;
	const struct to_traffic_port *ports;
};

struct to_traffic_programs;

/**
 * to_traffic_programs_open() - load the programs and count from now on
 *
 * Return: NULL with @err: no permission, no device, a kernel without BPF.
 */
struct to_traffic_programs *to_traffic_programs_open(const struct to_traffic_config *config,
						     struct to_error *err);
void to_traffic_programs_close(struct to_traffic_programs *traffic);

/**
 * to_traffic_programs_follow() - go on counting under another plan
 * @plan: of the same servers and interfaces
 *
 * Return: 0, or -EOPNOTSUPP with @err: at tc, where programs know addresses and links.
 */
int to_traffic_programs_follow(struct to_traffic_programs *traffic, const struct to_plan *plan,
			       struct to_error *err);

/** to_traffic_programs_source() - what TO_TRAFFIC_AUTO came to: "module", "tcx" ... */
const char *to_traffic_programs_source(const struct to_traffic_programs *traffic);

/**
 * to_traffic_programs_read() - end the epoch and read it
 * @sample: gets flows and lost
 * @checks: of the plan's ports, 0; get the continuity checks, which are no flow
 *
 * The next epoch starts in the same instant: every packet is in exactly one.
 * Waits until no program counts into the old one any more (RCU).
 *
 * Return: 0, or a negative errno with @err.
 */
int to_traffic_programs_read(struct to_traffic_programs *traffic, struct to_tm_sample *sample,
			     struct to_tm_counters *checks, struct to_error *err);

#endif
