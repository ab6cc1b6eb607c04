// SPDX-License-Identifier: GPL-2.0-or-later
/* Neighbours as JSON, both ways and from strangers, and what a person reads of them. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/peers.h"

static const struct to_peer usual = {
	.ifindex = 3, .port = "eth0", .index = 2, .mac = { 2, 0, 0, 0, 1, 0xb0 }, .server = "s2",
	.server_port = "eth1", .reason = TOPOOPT_CHECK_REASON_HEARD, .transit = true, .local = true,
	.heard = true, .silence_ms = 42, .received = 1000, .missing = 3, .generation = 7,
	.largest = 1514,
};

static void test_json(void **state)
{
	struct to_peer peers[2] = { usual, usual }, *read, *second;
	json_t *array;
	unsigned int n;

	(void)state;
	peers[1].reason = TOPOOPT_CHECK_REASON_STRANGER;
	peers[1].transit = peers[1].local = peers[1].heard = false;
	peers[1].generation = peers[1].largest = peers[1].silence_ms = 0;
	strcpy(peers[1].stranger, "s3");
	strcpy(peers[1].stranger_port, "eth9");
	array = to_peers_json(peers, 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(array, 1), "reason")),
			    "stranger");
	assert_null(json_object_get(json_array_get(array, 1), "silence_ms"));
	assert_int_equal(to_peers_read(array, &read, &n), 0);
	assert_int_equal(n, 2);
	second = &read[1];
	/* an interface's number is of its own host */
	peers[0].ifindex = peers[1].ifindex = 0;
	assert_memory_equal(&read[0], &peers[0], sizeof(*read));
	assert_memory_equal(second, &peers[1], sizeof(*read));
	assert_ptr_equal(to_peers_find(read, n, "eth0", "s2"), read);
	assert_null(to_peers_find(read, n, "eth0", "s3"));
	assert_null(to_peers_find(read, n, "eth1", NULL));
	free(read);
	json_decref(array);
}

/* What is no neighbour is left out; no array at all is an agent that says nothing of them. */
static void test_strangers(void **state)
{
	static const struct { const char *key, *value; } wrong[] = {
		{ "port", "1" }, { "port", "\"sixteen-letters-\"" }, { "server", "null" },
		{ "server", "\"a\\u001b[1m\"" }, { "server_port", "[]" }, { "mac", "\"02:00\"" },
		{ "mac", "\"02:00:00:00:00:zz\"" }, { "stranger", "7" },
		{ "reason", "\"a-word-that-is-too-long\"" },
	};
	struct to_peer *read;
	unsigned int n;

	(void)state;
	assert_int_equal(to_peers_read(NULL, &read, &n), -ENOENT);
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		json_t *array = to_peers_json(&usual, 1);

		json_object_set_new(json_array_get(array, 0), wrong[i].key,
				    json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
		assert_int_equal(to_peers_read(array, &read, &n), 0);
		assert_int_equal(n, 0);
		free(read);
		json_decref(array);
	}
}

static void expect_words(const struct to_peer *peer, const char *words)
{
	char text[TO_PEER_WORDS];

	assert_string_equal(to_peer_reason_words(peer, "s1", text), words);
}

static void test_words(void **state)
{
	struct to_peer p = usual;

	(void)state;
	expect_words(&p, "s1:eth0 and s2:eth1 hear each other");
	p.reason = TOPOOPT_CHECK_REASON_SILENT;
	p.silence_ms = 1200;
	expect_words(&p, "s1:eth0 has light, but does not hear s2:eth1 for 1.2 s");
	p.received = 0;
	p.heard = false;
	expect_words(&p, "s1:eth0 never heard s2:eth1: is a module without checks there?");
	p.reason = TOPOOPT_CHECK_REASON_UNHEARD;
	expect_words(&p, "s1:eth0 hears s2:eth1, which does not hear s1:eth0: one way is dead");
	p.reason = TOPOOPT_CHECK_REASON_STRANGER;
	strcpy(p.stranger, "s3");
	strcpy(p.stranger_port, "eth1");
	expect_words(&p, "s1:eth0 hears s3:eth1; the plan says s2:eth1");
	p.reason = 99;
	expect_words(&p, "the module says what this toctl does not know of s2:eth1 at s1:eth0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("peers", tests, NULL, NULL);
}
