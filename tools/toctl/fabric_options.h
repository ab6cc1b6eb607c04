/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_FABRIC_OPTIONS_H
#define TOCTL_FABRIC_OPTIONS_H

/* Keys of fabric.conf for the tables of commands; configuration.c fills their fields. */

#include "cli/command.h"
#include "control/fabric.h"

/** TO_ETCD_KEYS - where etcd is; @member: a struct to_etcd_options of the struct @type */
#define TO_ETCD_KEYS(type, member) \
	TO_KEY("etcd.endpoints", offsetof(type, member.endpoints)), \
	TO_KEY("etcd.prefix", offsetof(type, member.prefix)), \
	TO_KEY("etcd.cacert", offsetof(type, member.cacert)), \
	TO_KEY("etcd.cert", offsetof(type, member.cert)), \
	TO_KEY("etcd.key", offsetof(type, member.key)), \
	TO_KEY("etcd.user", offsetof(type, member.user)), \
	TO_KEY("etcd.password-file", offsetof(type, member.password_file))

/** TO_FABRIC_KEYS - how all servers are reached; @member: a struct to_fabric_options */
#define TO_FABRIC_KEYS(type, member) \
	TO_KEY("agents.command", offsetof(type, member.command)), \
	TO_KEY("agents.timeout", offsetof(type, member.timeout_ns)), \
	TO_ETCD_KEYS(type, member.etcd)

/** TO_FABRIC_DEFAULTS - a struct to_fabric_options where fabric.conf says nothing */
#define TO_FABRIC_DEFAULTS { .command = TO_FABRIC_COMMAND, .timeout_ns = 10000000000 }

#endif
