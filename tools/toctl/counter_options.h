/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COUNTER_OPTIONS_H
#define TOPOOPT_COUNTER_OPTIONS_H

/* Options of commands that count: what the NICs of the ports count themselves. */

#include "cli/command.h"
#include "measure/counters.h"

/** struct to_counter_options - @names: NULL for what rtnetlink tells */
struct to_counter_options {
	const char *names;
	bool fcs;
};

/** @member: a struct to_counter_options */
#define TO_COUNTER_OPTIONS(type, member) \
	{ "nic-counters", 0, TO_OPTION_STRING, offsetof(type, member.names), \
	  .argument = "NAMES", .advanced = true, \
	  .help = "ethtool -S statistics to count ports by" }, \
	{ "fcs", 0, TO_OPTION_FLAG, offsetof(type, member.fcs), .advanced = true, \
	  .help = "the bytes of --nic-counters include the FCS" }

/** For the description of a command that has them. */
#define TO_COUNTER_TEXT \
	"statistics that count all frames on the port, as\n" \
	"--nic-counters RX-BYTES,RX-PACKETS,TX-BYTES,TX-PACKETS. For mlx5:\n" \
	"rx_bytes_phy,rx_packets_phy,tx_bytes_phy,tx_packets_phy --fcs."

/**
 * to_counter_options_parse() - the statistics that were asked for
 * @names: gets them; left alone without --nic-counters
 *
 * Return: 0, or to_usage().
 */
int to_counter_options_parse(struct to_call *call, const struct to_counter_options *options,
			     struct to_counter_names *names);

#endif
