/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NAMES_H
#define TOPOOPT_NAMES_H

/*
 * Names, checked where they enter: files, agents' replies, etcd, what users type. A name
 * that passed may be printed, be a part of a path, an argument of a command and a part of a
 * command that people paste.
 *
 * Interfaces have fewer names here than in the kernel (dev_valid_name() takes all bytes but
 * blanks, '/' and ':'), and so have RDMA devices.
 */

#include <stdbool.h>

#include "base/json.h"
#include "base/text.h"

#define TO_NAMES_EXPECTED "a name of 1 to 63 letters, digits, \".\", \"_\" and \"-\""
#define TO_NAMES_INTERFACE_EXPECTED \
	"an interface name of 1 to 15 letters, digits, \".\", \"_\" and \"-\""
#define TO_NAMES_LABEL_EXPECTED \
	"a string of 1 to 63 bytes of UTF-8 without control characters"
#define TO_NAMES_ADDRESS_EXPECTED "an address of letters, digits and \"._~:/[]@%-\""

/**
 * to_names_is_name() - check the name of a server, a switch, a shard or an RDMA device
 *
 * ASCII letters, digits, ".", "_" and "-", the first none of "." and "-"; less than
 * TO_NAME_MAX bytes, which are IB_DEVICE_NAME_MAX and the length of a host name in Linux.
 */
bool to_names_is_name(const char *text);

/** to_names_is_interface() - check the name of an interface: a name, less than IFNAMSIZ bytes */
bool to_names_is_interface(const char *text);

/** to_names_is_label() - check a text of 1 to 63 bytes, clean by to_text_is_clean(): of a job */
bool to_names_is_label(const char *text);

/**
 * to_names_is_address() - check where a switch is: a host, a URL or a network namespace
 *
 * ASCII letters, digits and "._~:/[]@%-", the first no "-".
 */
bool to_names_is_address(const char *text);

/* Readers for struct to_json_field, which refuse all else; the comment is the type at @to. */
int to_names_read(const struct to_json *at, void *to);		 /* char[TO_NAME_MAX], a name */
int to_names_read_interface(const struct to_json *at, void *to); /* char[IFNAMSIZ] */
int to_names_read_label(const struct to_json *at, void *to);	 /* char[TO_NAME_MAX] */

#endif
