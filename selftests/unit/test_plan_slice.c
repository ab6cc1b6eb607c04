// SPDX-License-Identifier: GPL-2.0-or-later
/* A server's part of a plan is the same whether its servers were read before or not. */

#include "job.h"

#include "base/file.h"
#include "base/limits.h"
#include "format/cluster_json.h"
#include "format/plan_json.h"
#include "format/plan_slice.h"

#define SERVERS 6

struct slice {
	char *cluster, *table;
};

/* Everybody sends to who is so far @apart. */
static struct to_plan *make_plan(unsigned int apart)
{
	struct to_demand *demand = job_new(SERVERS);
	struct to_error err = { 0 };
	struct to_plan *plan;

	job_group(demand, 0, 1, SERVERS, 1000000);
	for (unsigned int i = 0; i < SERVERS; i++)
		demand->mp[i * SERVERS + (i + apart) % SERVERS] = 1000000000;
	plan = job_plan(demand, 3, TO_LINKS_DUPLEX, &err);
	assert_string_equal(err.text, "");
	return plan;
}

static struct slice print(const struct to_plan *plan, unsigned int server)
{
	struct slice slice;
	size_t len;
	FILE *out = open_memstream(&slice.cluster, &len);

	to_cluster_print_unchecked(out, plan->cluster);
	fclose(out);
	out = open_memstream(&slice.table, &len);
	assert_int_equal(to_plan_print_table(out, plan, server), 0);
	fclose(out);
	return slice;
}

static void slice_free(struct slice *slice)
{
	free(slice->cluster);
	free(slice->table);
}

/* @read is what @slice says, and of @found; takes it. */
static void check_same(const struct slice *slice, unsigned int server, struct to_plan *read,
		       unsigned int found)
{
	struct slice again;

	assert_non_null(read);
	assert_int_equal(found, server);
	again = print(read, server);
	assert_string_equal(again.cluster, slice->cluster);
	assert_string_equal(again.table, slice->table);
	slice_free(&again);
	to_plan_free(read);
}

/* Read @slice beside @servers; it must be what @server of @plan has. */
static void check_read(const struct slice *slice, struct to_plan_servers *servers,
		       unsigned int server)
{
	struct to_error err = { 0 };
	struct to_plan *read;
	unsigned int found;

	read = to_plan_slice_parse("job", slice->cluster, slice->table, servers, &found, &err);
	assert_string_equal(err.text, "");
	check_same(slice, server, read, found);
}

/* The same as values, for @servers, whose fingerprint both sides can tell. */
static void check_take(const struct slice *slice, const struct to_plan_servers *servers,
		       unsigned int server)
{
	json_t *table = json_loads(slice->table, 0, NULL), *links;
	struct to_error err = { 0 };
	struct to_plan *read;
	unsigned int found;
	const char *at;
	char *text;

	assert_true(to_plan_slice_servers(slice->cluster, &at) == servers->fingerprint);
	text = strndup(at, strrchr(at, ']') + 1 - at);
	links = json_loads(text, 0, NULL);
	assert_non_null(links);
	read = to_plan_slice_take("job", links, table, servers, &found, &err);
	assert_string_equal(err.text, "");
	check_same(slice, server, read, found);
	json_decref(links);
	json_decref(table);
	free(text);
}

static void test_values(void **state)
{
	struct to_plan *plans[] = { make_plan(2), make_plan(3) }, *read;
	struct slice slices[] = { print(plans[0], 1), print(plans[1], 4) };
	struct to_plan_servers servers = { 0 };
	json_t *links = json_pack("[{s:s, s:s}]", "a", "s0:eth0", "b", "x1:eth0");
	json_t *table = json_loads(slices[1].table, 0, NULL);
	struct to_error err = { 0 };
	unsigned int server;

	(void)state;
	assert_null(to_plan_slice_take("job", links, table, &servers, &server, &err));
	assert_non_null(strstr(err.text, "the servers are missing"));
	check_read(&slices[0], &servers, 1);
	check_take(&slices[0], &servers, 1);
	check_take(&slices[1], &servers, 4);
	read = to_plan_slice_take("job", links, table, &servers, &server, &err);
	assert_null(read);
	assert_non_null(strstr(err.text, "links:1: [0].b: "));
	json_decref(links);
	json_decref(table);
	to_plan_servers_free(&servers);
	for (unsigned int i = 0; i < 2; i++) {
		slice_free(&slices[i]);
		to_plan_free(plans[i]);
	}
}

static void test_other_links(void **state)
{
	struct to_plan *plans[] = { make_plan(2), make_plan(3) };
	struct slice slices[] = { print(plans[0], 1), print(plans[1], 4) };
	struct to_plan_servers servers = { 0 };
	const struct to_cluster *kept;

	(void)state;
	assert_string_not_equal(slices[0].cluster, slices[1].cluster);
	check_read(&slices[0], &servers, 1);
	kept = servers.cluster;
	assert_non_null(kept);
	check_read(&slices[1], &servers, 4);
	check_read(&slices[0], &servers, 1);
	assert_ptr_equal(servers.cluster, kept);
	to_plan_servers_free(&servers);
	for (unsigned int i = 0; i < 2; i++) {
		slice_free(&slices[i]);
		to_plan_free(plans[i]);
	}
}

static void test_other_servers(void **state)
{
	struct to_plan *plan = make_plan(2);
	struct slice first = print(plan, 1), second;
	struct to_plan_servers servers = { 0 };
	struct to_port *port;

	(void)state;
	check_read(&first, &servers, 1);
	port = &plan->cluster->servers[2].ports[0];
	port->mac[2] ^= 4;
	memcpy(port->relay_mac, port->mac, sizeof(port->mac));
	second = print(plan, 1);
	assert_int_equal(strlen(second.cluster), strlen(first.cluster));
	check_read(&second, &servers, 1);
	check_read(&first, &servers, 1);
	to_plan_servers_free(&servers);
	slice_free(&first);
	slice_free(&second);
	to_plan_free(plan);
}

/* Checks are apart from the servers, with those that a controller found to send none. */
static void test_checks(void **state)
{
	const bool none[SERVERS] = { false }, unable[SERVERS] = { [1] = true, [4] = true };
	struct to_plan *plan = make_plan(2), *read;
	struct to_plan_servers servers = { 0 };
	struct to_error err = { 0 };
	unsigned int server;
	struct slice slice;
	json_t *rest;

	(void)state;
	assert_null(to_plan_slice_rest(plan, none));
	plan->cluster->continuity.interval = TO_CONTINUITY_1S;
	plan->cluster->continuity.has_key = true;
	memset(plan->cluster->continuity.key, 0x5a, TO_CONTINUITY_KEY);
	plan->cluster->servers[4].unable = true;
	slice = print(plan, 1);
	assert_null(strstr(slice.cluster, "checks"));
	read = to_plan_slice_parse("job", slice.cluster, slice.table, &servers, &server, &err);
	assert_non_null(read);
	rest = to_plan_slice_rest(plan, unable);
	assert_int_equal(to_plan_slice_add_rest(read, rest, &err), 0);
	assert_memory_equal(&read->cluster->continuity, &plan->cluster->continuity,
			    sizeof(read->cluster->continuity));
	for (unsigned int i = 0; i < SERVERS; i++)
		assert_int_equal(read->cluster->servers[i].unable, unable[i]);
	json_object_set_new(json_object_get(rest, "checks"), "unable", json_pack("[s]", "x1"));
	assert_int_not_equal(to_plan_slice_add_rest(read, rest, &err), 0);
	assert_non_null(strstr(err.text, "unable[0]: "));
	json_decref(rest);
	to_plan_free(read);
	to_plan_servers_free(&servers);
	slice_free(&slice);
	to_plan_free(plan);
}

/* What is wrong is told as if nothing had been read before. */
static void test_wrong_links(void **state)
{
	struct to_plan *plan = make_plan(2), *read;
	struct slice slice = print(plan, 1);
	struct to_plan_servers servers = { 0 };
	struct to_error err = { 0 };
	unsigned int server;

	(void)state;
	check_read(&slice, &servers, 1);
	memcpy(strstr(strstr(slice.cluster, "\"links\""), "\"s"), "\"x", 2);
	read = to_plan_slice_parse("job", slice.cluster, slice.table, &servers, &server, &err);
	assert_null(read);
	assert_non_null(strstr(err.text, "cluster"));
	assert_non_null(strstr(err.text, "links[0].a: "));
	to_plan_servers_free(&servers);
	slice_free(&slice);
	to_plan_free(plan);
}

/* Links of packet switches are not in a slice: they follow from its ports. */
static void test_packet_switches(void **state)
{
	struct to_plan_servers servers = { 0 };
	struct to_error err = { 0 };
	struct to_plan *plan = to_plan_load_shared("selftests/unit/formats/plan-tor.json", &err), *read;
	struct slice slice;
	unsigned int server;

	(void)state;
	assert_non_null(plan);
	for (unsigned int again = 0; again < 2; again++) {
		slice = print(plan, 1);
		check_read(&slice, &servers, 1);
		read = to_plan_slice_parse("job", slice.cluster, slice.table, &servers, &server, &err);
		assert_int_equal(read->cluster->n_links, plan->cluster->n_links);
		assert_int_equal(read->tables[1].groups[1].nexthops[0].peer, 2);
		to_plan_free(read);
		slice_free(&slice);
	}
	to_plan_servers_free(&servers);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_links),
		cmocka_unit_test(test_other_servers),
		cmocka_unit_test(test_checks),
		cmocka_unit_test(test_wrong_links),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_packet_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
