/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NETLINK_H
#define TOPOOPT_NETLINK_H

/*
 * Netlink requests over libmnl: one socket, calls that wait for their answer,
 * posts that do not, dumps that start over when the kernel says that they
 * were interrupted. Errors carry the kernel's own text.
 */

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/**
 * struct to_attribute - name of a netlink attribute, for error messages
 * @name: as in the netlink spec; NULL in the gaps of an array
 * @nested: array of what it nests
 * @n_nested: its length
 */
struct to_attribute {
	const char *name;
	const struct to_attribute *nested;
	unsigned int n_nested;
};

/**
 * struct to_netlink - a netlink socket
 * @attributes: names of the attributes in requests, may be NULL
 * @header: bytes of the family's header between nlmsghdr and attributes
 * @broken: sending or receiving failed: the next request opens another socket
 */
struct to_netlink {
	struct mnl_socket *socket;
	int bus;
	bool broken;
	unsigned int portid;
	uint32_t seq;
	size_t header;
	const struct to_attribute *attributes;
	unsigned int n_attributes;
	char *reply;
};

#define TO_NETLINK_REPLY 65536	/* bytes of the receive buffer */

/**
 * to_attr_u8() - value of an attribute; 0 when it is too short for one
 */
uint8_t to_attr_u8(const struct nlattr *nla);
uint16_t to_attr_u16(const struct nlattr *nla);
uint32_t to_attr_u32(const struct nlattr *nla);
uint64_t to_attr_u64(const struct nlattr *nla);

/** to_attr_text() - a string; "" when it has no end */
const char *to_attr_text(const struct nlattr *nla);

/** to_netlink_header() - the family's header of a reply; NULL when it is shorter than @size */
const void *to_netlink_header(const struct nlmsghdr *nlh, size_t size);

/** A reply; a negative return ends the call with that error. */
typedef int (*to_netlink_reply)(const struct nlmsghdr *nlh, void *arg);

/**
 * to_netlink_open() - open a socket on @bus (NETLINK_ROUTE, NETLINK_GENERIC)
 *
 * Return: 0, else a negative errno.
 */
int to_netlink_open(struct to_netlink *nl, int bus, struct to_error *err);
void to_netlink_close(struct to_netlink *nl);

/**
 * to_netlink_call() - send one request and wait until it is answered
 * @reply: gets every message of the answer but the acknowledgement; may be NULL
 *
 * Return: 0, else a negative errno with the kernel's words in @err.
 */
int to_netlink_call(struct to_netlink *nl, struct nlmsghdr *nlh,
		    to_netlink_reply reply, void *arg, struct to_error *err);

/**
 * to_netlink_dump() - as to_netlink_call() for a request with NLM_F_DUMP
 * @restart: called before the dump is asked for again because the kernel
 *	interrupted it; forgets what @reply collected
 */
int to_netlink_dump(struct to_netlink *nl, struct nlmsghdr *nlh,
		    to_netlink_reply reply, void (*restart)(void *arg),
		    void *arg, struct to_error *err);

/**
 * A message of a post failed with @code: number @index of the post, from 0.
 *
 * Return: @code, or 0 to go on as if it had not.
 */
typedef int (*to_netlink_failure)(unsigned int index, int code, void *arg);

/**
 * to_netlink_post() - send messages and ask for no acknowledgement
 * @buf: @n messages, back to back, padded to NLMSG_ALIGN; numbered here
 * @failure: called for every message that failed, may be NULL
 *
 * The kernel works synchronously: when this returns, all of them are done.
 *
 * Return: 0, else the errno of the first failure with its words in @err.
 */
int to_netlink_post(struct to_netlink *nl, void *buf, size_t len,
		    to_netlink_failure failure, void *arg, struct to_error *err);

/**
 * to_netlink_get() - to_netlink_post() of requests that get one message each
 * @reply: gets each of them
 */
int to_netlink_get(struct to_netlink *nl, void *buf, size_t len, to_netlink_reply reply,
		   to_netlink_failure failure, void *arg, struct to_error *err);

#endif
