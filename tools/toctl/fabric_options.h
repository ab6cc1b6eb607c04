/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FABRIC_OPTIONS_H
#define TOPOOPT_FABRIC_OPTIONS_H

#include "cli/command.h"
#include "control/fabric.h"

/** How to speak to etcd, for commands that have --etcd; @member: a struct to_etcd_options */
#define TO_ETCD_OPTIONS(type, member) \
	{ "etcd-prefix", 0, TO_OPTION_STRING, offsetof(type, member.prefix), \
	  .argument = "PREFIX", .with = "etcd", .help = "prefix of all keys; default: /topoopt" }, \
	{ "cacert", 0, TO_OPTION_STRING, offsetof(type, member.cacert), \
	  .argument = "FILE", .with = "etcd", \
	  .help = "CA certificate to verify etcd with (https)" }, \
	{ "cert", 0, TO_OPTION_STRING, offsetof(type, member.cert), \
	  .argument = "FILE", .with = "etcd", .help = "client certificate for etcd" }, \
	{ "key", 0, TO_OPTION_STRING, offsetof(type, member.key), \
	  .argument = "FILE", .with = "etcd", .help = "key of that certificate" }, \
	{ "etcd-user", 0, TO_OPTION_STRING, offsetof(type, member.user), \
	  .argument = "NAME", .with = "etcd", \
	  .help = "user of etcd; default: the one that toctl fabric init-etcd makes" }, \
	{ "etcd-password-file", 0, TO_OPTION_STRING, offsetof(type, member.password_file), \
	  .argument = "FILE", .with = "etcd", \
	  .help = "its password, which no other user may read; default: $" TO_ETCD_PASSWORD }

/**
 * Options of commands that speak to all servers; @member: a struct
 * to_fabric_options; @flag: of commands that do so only with this option, or NULL;
 * @etcd_flag: the same of --etcd
 */
#define TO_FABRIC_OPTIONS_BESIDE(type, member, flag, etcd_flag) \
	{ "command", 'c', TO_OPTION_STRING, offsetof(type, member.command), \
	  .argument = "COMMAND", .with = flag, \
	  .help = "command that starts the agent of server {}; default: " TO_FABRIC_COMMAND }, \
	{ "etcd", 0, TO_OPTION_STRING, offsetof(type, member.etcd.endpoints), \
	  .argument = "URL[,URL...]", .with = etcd_flag, \
	  .help = "reach the agents through etcd instead" }, \
	TO_ETCD_OPTIONS(type, member.etcd), \
	{ "timeout", 0, TO_OPTION_DURATION, offsetof(type, member.timeout_ns), \
	  .argument = "TIME", .min = 1, .with = flag, \
	  .help = "time for all servers to complete one step; default: 10s" }

/** The same, with --etcd for nothing else */
#define TO_FABRIC_OPTIONS(type, member, flag) TO_FABRIC_OPTIONS_BESIDE(type, member, flag, flag)

#define TO_FABRIC_DEFAULTS { .command = TO_FABRIC_COMMAND, .timeout_ns = 10000000000 }

#endif
