// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define DUMP_RETRIES 100

static int netlink_errno(struct to_error *err, const char *what)
{
	int code = errno;

	return to_error_set(err, -code, "netlink: %s: %s", what, strerror(code));
}

static int netlink_connect(struct to_netlink *nl, struct to_error *err)
{
	static const int options[] = {
		NETLINK_EXT_ACK,	/* errors with text */
		NETLINK_CAP_ACK,	/* errors do not echo the request */
		NETLINK_GET_STRICT_CHK,	/* dumps honour filters */
	};
	int one = 1, size = 1 << 20;

	nl->socket = mnl_socket_open2(nl->bus, SOCK_CLOEXEC);
	if (!nl->socket || mnl_socket_bind(nl->socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return netlink_errno(err, "open");
	nl->portid = mnl_socket_get_portid(nl->socket);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		mnl_socket_setsockopt(nl->socket, options[i], &one, sizeof(one));
	/* Only privileged users may; the others get the default size. */
	setsockopt(mnl_socket_get_fd(nl->socket), SOL_SOCKET, SO_RCVBUFFORCE,
		   &size, sizeof(size));
	setsockopt(mnl_socket_get_fd(nl->socket), SOL_SOCKET, SO_SNDBUFFORCE,
		   &size, sizeof(size));
	return 0;
}

int to_netlink_open(struct to_netlink *nl, int bus, struct to_error *err)
{
	int ret;

	*nl = (struct to_netlink){ .bus = bus, .reply = malloc(TO_NETLINK_REPLY) };
	ret = nl->reply ? netlink_connect(nl, err) : to_error_set(err, -ENOMEM, "out of memory");
	if (ret)
		to_netlink_close(nl);
	return ret;
}

/* What was lost on its way, or came too late, must not disturb the next request. */
static int netlink_ready(struct to_netlink *nl, struct to_error *err)
{
	int ret;

	if (!nl->broken)
		return 0;
	if (nl->socket)
		mnl_socket_close(nl->socket);
	ret = netlink_connect(nl, err);
	nl->broken = ret;
	return ret;
}

static int netlink_break(struct to_netlink *nl, struct to_error *err, const char *what)
{
	nl->broken = true;
	return netlink_errno(err, what);
}

void to_netlink_close(struct to_netlink *nl)
{
	if (nl->socket)
		mnl_socket_close(nl->socket);
	free(nl->reply);
	memset(nl, 0, sizeof(*nl));
}

/*
 * Name of the attribute at @offset of the request, as a.b.c; nests of the same
 * type are told apart by nothing but their content, so no index is shown.
 */
static void netlink_path(const struct to_netlink *nl,
			 const struct nlmsghdr *request, size_t offset,
			 char *path, size_t size)
{
	const struct to_attribute *names = nl->attributes;
	unsigned int n_names = nl->n_attributes;
	size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(nl->header);
	size_t end = request->nlmsg_len, len = 0;

	path[0] = '\0';
	while (names && at + NLA_HDRLEN <= end) {
		const struct nlattr *nla = (const void *)((const char *)request + at);
		unsigned int type = nla->nla_type & NLA_TYPE_MASK;

		if (nla->nla_len < NLA_HDRLEN)
			return;
		if (offset >= at + NLA_ALIGN(nla->nla_len)) {
			at += NLA_ALIGN(nla->nla_len);
			continue;
		}
		if (type >= n_names || !names[type].name)
			return;
		len += snprintf(path + len, size - len, "%s%s", len ? "." : "",
				names[type].name);
		if (len >= size || offset < at + NLA_HDRLEN)
			return;
		end = at + nla->nla_len;
		at += NLA_HDRLEN;
		n_names = names[type].n_nested;
		names = names[type].nested;
	}
}

/* @size bytes of the attribute's value, or zeroes. */
static void netlink_attr_get(const struct nlattr *nla, void *value, size_t size)
{
	if (mnl_attr_get_payload_len(nla) >= size)
		memcpy(value, mnl_attr_get_payload(nla), size);
	else
		memset(value, 0, size);
}

#define ATTR_NUMBER(type, name)			\
	type name(const struct nlattr *nla)	\
	{					\
		type value;			\
						\
		netlink_attr_get(nla, &value, sizeof(value)); \
		return value;			\
	}

ATTR_NUMBER(uint8_t, to_attr_u8)
ATTR_NUMBER(uint16_t, to_attr_u16)
ATTR_NUMBER(uint32_t, to_attr_u32)
ATTR_NUMBER(uint64_t, to_attr_u64)

const char *to_attr_text(const struct nlattr *nla)
{
	return mnl_attr_validate(nla, MNL_TYPE_NUL_STRING) < 0 ? "" : mnl_attr_get_payload(nla);
}

const void *to_netlink_header(const struct nlmsghdr *nlh, size_t size)
{
	return mnl_nlmsg_get_payload_len(nlh) >= size ? mnl_nlmsg_get_payload(nlh) : NULL;
}

struct extack {
	const char *text;
	uint32_t offset, missing;
	bool has_offset, has_missing;
};

static void netlink_extack(const struct nlmsghdr *nlh, struct extack *ack)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*e);
	const struct nlattr *nla;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += mnl_nlmsg_get_payload_len(&e->msg);
	if (skip > mnl_nlmsg_get_payload_len(nlh))
		return;
	mnl_attr_for_each(nla, nlh, skip) {
		switch (mnl_attr_get_type(nla)) {
		case NLMSGERR_ATTR_MSG:
			ack->text = to_attr_text(nla);
			break;
		case NLMSGERR_ATTR_OFFS:
			ack->offset = to_attr_u32(nla);
			ack->has_offset = true;
			break;
		case NLMSGERR_ATTR_MISS_TYPE:
			ack->missing = to_attr_u32(nla);
			ack->has_missing = true;
			break;
		}
	}
}

/* The errno in an answer of the kernel, 0 for success. */
static int netlink_code(int code)
{
	return code < -4095 ? -EBADMSG : code < 0 ? code : 0;
}

/* The kernel's refusal of @request as one line. */
static int netlink_refusal(const struct to_netlink *nl,
			   const struct nlmsghdr *request,
			   const struct nlmsghdr *nlh, struct to_error *err)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	int code = netlink_code(e->error);
	struct extack ack = {};
	char path[128] = "";

	if (!code)
		return 0;
	netlink_extack(nlh, &ack);
	if (request && ack.has_offset)
		netlink_path(nl, request, ack.offset, path, sizeof(path));
	else if (ack.has_missing && ack.missing < nl->n_attributes &&
		 nl->attributes[ack.missing].name)
		snprintf(path, sizeof(path), "%s", nl->attributes[ack.missing].name);
	return to_error_set(err, code, "kernel: %s%s%s%s",
			    ack.text ? ack.text : strerror(-code),
			    path[0] ? " (attribute " : "", path,
			    path[0] ? ")" : "");
}

/* mnl_nlmsg_ok() takes a length of 2^31 and more for a negative one that fits. */
static bool netlink_whole(const struct nlmsghdr *nlh, int len)
{
	return mnl_nlmsg_ok(nlh, len) && nlh->nlmsg_len <= (unsigned int)len;
}

/* Return: 1 when the answer is complete, 0 when more comes, negative errno. */
static int netlink_message(const struct to_netlink *nl,
			   const struct nlmsghdr *request,
			   const struct nlmsghdr *nlh, to_netlink_reply reply,
			   void *arg, bool *interrupted, struct to_error *err)
{
	const struct nlmsgerr *e;
	int ret;

	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		*interrupted = true;
	switch (nlh->nlmsg_type) {
	case NLMSG_NOOP:
		return 0;
	case NLMSG_DONE:
		ret = mnl_nlmsg_get_payload_len(nlh) >= sizeof(int) ?
			netlink_code(*(const int *)mnl_nlmsg_get_payload(nlh)) : 0;
		return ret < 0 ? to_error_set(err, ret, "kernel: %s",
					      strerror(-ret)) : 1;
	case NLMSG_OVERRUN:
		return to_error_set(err, -EOVERFLOW, "netlink: data lost");
	case NLMSG_ERROR:
		e = to_netlink_header(nlh, sizeof(*e));
		if (!e)
			return to_error_set(err, -EBADMSG, "netlink: an error without its number");
		ret = netlink_refusal(nl, request, nlh, err);
		return ret ? ret : 1;
	}
	if (!reply)
		return 0;
	ret = reply(nlh, arg);
	if (ret < 0 && err && !err->text[0])
		to_error_set(err, ret, "netlink: reply: %s", strerror(-ret));
	return ret;
}

/* Reads the whole answer even after an error, so that the next call starts clean. */
static int netlink_answer(struct to_netlink *nl, const struct nlmsghdr *request,
			  to_netlink_reply reply, void *arg, bool *interrupted,
			  struct to_error *err)
{
	int ret = 0, failed = 0;

	while (ret != 1) {
		ssize_t got = mnl_socket_recvfrom(nl->socket, nl->reply,
						  TO_NETLINK_REPLY);
		int len = got;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return netlink_break(nl, err, "receive");
		for (const struct nlmsghdr *nlh = (void *)nl->reply;
		     netlink_whole(nlh, len) && ret != 1;
		     nlh = mnl_nlmsg_next(nlh, &len)) {
			if (nlh->nlmsg_seq != request->nlmsg_seq)
				continue;
			ret = netlink_message(nl, request, nlh,
					      failed ? NULL : reply, arg,
					      interrupted, failed ? NULL : err);
			if (ret < 0) {
				failed = failed ? failed : ret;
				if (nlh->nlmsg_type == NLMSG_ERROR ||
				    nlh->nlmsg_type == NLMSG_DONE)
					ret = 1;
			}
		}
	}
	return failed;
}

static int netlink_ask(struct to_netlink *nl, struct nlmsghdr *nlh,
		       to_netlink_reply reply, void *arg, bool *interrupted,
		       struct to_error *err)
{
	int ret = netlink_ready(nl, err);

	if (ret)
		return ret;
	nlh->nlmsg_seq = ++nl->seq;
	if (mnl_socket_sendto(nl->socket, nlh, nlh->nlmsg_len) < 0)
		return netlink_break(nl, err, "send");
	return netlink_answer(nl, nlh, reply, arg, interrupted, err);
}

int to_netlink_call(struct to_netlink *nl, struct nlmsghdr *nlh,
		    to_netlink_reply reply, void *arg, struct to_error *err)
{
	bool interrupted = false;

	nlh->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	return netlink_ask(nl, nlh, reply, arg, &interrupted, err);
}

int to_netlink_dump(struct to_netlink *nl, struct nlmsghdr *nlh,
		    to_netlink_reply reply, void (*restart)(void *arg),
		    void *arg, struct to_error *err)
{
	nlh->nlmsg_flags |= NLM_F_REQUEST | NLM_F_DUMP;
	for (int i = 0; i < DUMP_RETRIES; i++) {
		bool interrupted = false;
		int ret = netlink_ask(nl, nlh, reply, arg, &interrupted, err);

		if (ret || !interrupted)
			return ret;
		if (restart)
			restart(arg);
	}
	return to_error_set(err, -EAGAIN,
			    "netlink: the dump was interrupted %d times, the kernel's state keeps changing",
			    DUMP_RETRIES);
}

int to_netlink_get(struct to_netlink *nl, void *buf, size_t len, to_netlink_reply reply,
		   to_netlink_failure failure, void *arg, struct to_error *err)
{
	uint32_t first = nl->seq + 1;
	int left = len, ret = netlink_ready(nl, err);

	if (ret)
		return ret;
	for (struct nlmsghdr *nlh = buf; mnl_nlmsg_ok(nlh, left);
	     nlh = mnl_nlmsg_next(nlh, &left)) {
		nlh->nlmsg_flags |= NLM_F_REQUEST;
		nlh->nlmsg_seq = ++nl->seq;
	}
	if (mnl_socket_sendto(nl->socket, buf, len) < 0)
		return netlink_break(nl, err, "send");
	for (;;) {
		ssize_t got = recv(mnl_socket_get_fd(nl->socket), nl->reply,
				   TO_NETLINK_REPLY, MSG_DONTWAIT);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return ret;
		if (got < 0)
			return netlink_break(nl, err, "receive");
		left = got;
		for (const struct nlmsghdr *nlh = (void *)nl->reply;
		     netlink_whole(nlh, left); nlh = mnl_nlmsg_next(nlh, &left)) {
			const struct nlmsghdr *request = buf;
			struct to_error e = {};
			int rest = len, code;

			if (nlh->nlmsg_type != NLMSG_ERROR) {
				code = reply ? reply(nlh, arg) : 0;
				if (code < 0 && !ret)
					ret = to_error_set(err, code, "netlink: reply: %s",
							   strerror(-code));
				continue;
			}
			while (mnl_nlmsg_ok(request, rest) &&
			       request->nlmsg_seq != nlh->nlmsg_seq)
				request = mnl_nlmsg_next(request, &rest);
			if (!mnl_nlmsg_ok(request, rest) ||
			    !to_netlink_header(nlh, sizeof(struct nlmsgerr)))
				continue;
			code = netlink_refusal(nl, request, nlh, &e);
			if (!code)
				continue;
			if (failure)
				code = failure(nlh->nlmsg_seq - first, code, arg);
			if (code && !ret)
				ret = to_error_set(err, code, "%s", e.text);
		}
	}
}

int to_netlink_post(struct to_netlink *nl, void *buf, size_t len,
		    to_netlink_failure failure, void *arg, struct to_error *err)
{
	return to_netlink_get(nl, buf, len, NULL, failure, arg, err);
}
