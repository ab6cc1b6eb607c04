// SPDX-License-Identifier: GPL-2.0-or-later
/* Dumps that the kernel marks NLM_F_DUMP_INTR are read again from their beginning. */

#include <errno.h>
#include <linux/netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/netlink.h"

#define ENTRY (NLMSG_MIN_TYPE + 1)

/* What the kernel marks in its next answers, one character each; the last repeats. */
static const char *marks;
static unsigned int requests;
static uint32_t seq;

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *buf, size_t size);
ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *buf, size_t size)
{
	(void)nl;
	seq = ((const struct nlmsghdr *)buf)->nlmsg_seq;
	requests++;
	return size;
}

static size_t put(char *buf, uint16_t type, bool marked)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	int *value = mnl_nlmsg_put_extra_header(nlh, sizeof(int));

	*value = 0;
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_MULTI | (marked ? NLM_F_DUMP_INTR : 0);
	nlh->nlmsg_seq = seq;
	return nlh->nlmsg_len;
}

/* Two entries and the end: "1" marks the first, "2" the second, "d" the end, "-" none. */
ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size);
ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
{
	size_t len = put(buf, ENTRY, *marks == '1');

	(void)nl;
	assert_true(size >= 256);
	len += put((char *)buf + len, ENTRY, *marks == '2');
	len += put((char *)buf + len, NLMSG_DONE, *marks == 'd');
	if (marks[1])
		marks++;
	return len;
}

static int count(const struct nlmsghdr *nlh, void *arg)
{
	assert_int_equal(nlh->nlmsg_type, ENTRY);
	++*(unsigned int *)arg;
	return 0;
}

static void forget(void *arg)
{
	*(unsigned int *)arg = 0;
}

static int dump(const char *answers, unsigned int *entries)
{
	char buf[256];
	struct to_netlink nl;
	struct to_error err = { "" };
	int ret;

	marks = answers;
	requests = *entries = 0;
	assert_int_equal(to_netlink_open(&nl, NETLINK_GENERIC, &err), 0);
	ret = to_netlink_dump(&nl, mnl_nlmsg_put_header(buf), count, forget, entries, &err);
	to_netlink_close(&nl);
	return ret;
}

static void test_again(void **state)
{
	static const struct {
		const char *answers;
		unsigned int requests;
	} cases[] = { { "-", 1 }, { "1-", 2 }, { "2-", 2 }, { "d-", 2 }, { "d12-", 4 } };
	unsigned int entries;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(dump(cases[i].answers, &entries), 0);
		assert_int_equal(requests, cases[i].requests);
		assert_int_equal(entries, 2);
	}
}

static void test_never(void **state)
{
	unsigned int entries;

	(void)state;
	assert_int_equal(dump("d", &entries), -EAGAIN);
	assert_int_equal(requests, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
