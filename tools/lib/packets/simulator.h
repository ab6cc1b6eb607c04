/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_SIMULATOR_H
#define TOPOOPT_PACKET_SIMULATOR_H

/*
 * How long one training iteration takes on a network, packet by packet: links send one
 * packet after the other, switches store and forward them and pause those before them
 * (PFC, IEEE 802.1Qbb), servers relay through their kernel's queues, which drop.
 */

#include <stdio.h>

#include "base/error.h"
#include "packets/options.h"
#include "packets/paths.h"
#include "packets/result.h"

struct to_packet_simulator;

/**
 * to_packet_simulator_new() - Prepare a simulator for runs on @paths, which outlive it
 *
 * Return: NULL with @err set when out of memory, or -EINVAL: a buffer without room for
 * head-room, sprayed paths that lose packets.
 */
struct to_packet_simulator *to_packet_simulator_new(struct to_packet_paths *paths,
						    const struct to_delays *delays,
						    const struct to_packet_options *options,
						    struct to_error *err);
void to_packet_simulator_free(struct to_packet_simulator *simulator);

/** to_packet_simulator_watch() - Call @watch from time to time, see to_simulator_watch() */
void to_packet_simulator_watch(struct to_packet_simulator *simulator,
			       int (*watch)(void *data, double done), void *data);

/** to_packet_simulator_slow() - Slow down servers, see to_simulator_slow() */
void to_packet_simulator_slow(struct to_packet_simulator *simulator, const double *factors);

/**
 * to_packet_simulator_capture() - Write the packets that links from @from to @to send
 * @file: a capture file begins here, NULL for none. ferror() tells what went wrong
 * @addresses: IPv4, of the servers, in host order; outlive the runs
 *
 * Return: the number of these links.
 */
uint32_t to_packet_simulator_capture(struct to_packet_simulator *simulator, uint32_t from,
				     uint32_t to, FILE *file, const uint32_t *addresses);

/**
 * to_packet_simulate() - Run each task of @tasks once
 *
 * Return: the result, valid until the next call; NULL with @err set to an error of
 * to_simulate(), or to -EDEADLK when PFC has stopped a cycle of links, which @err names.
 */
const struct to_packets *to_packet_simulate(struct to_packet_simulator *simulator,
					    const struct to_taskgraph *tasks,
					    struct to_error *err);

#endif
