// SPDX-License-Identifier: GPL-2.0-or-later
/* Digests of tables, and what toctl status makes of those that agents say. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "doctor/plan_digests.h"
#include "doctor/status.h"
#include "format/plan_json.h"
#include "kernel/diff.h"
#include "kernel/table_digest.h"

/* ---- tables ---- */

static const struct to_table_port here[] = { { 10, "eth0" }, { 11, "eth1" } };
static const struct to_table_port there[] = { { 7, "eth1" }, { 3, "eth0" } };

/* A table of two groups and three routes, and room to change each of its members. */
struct sample {
	struct to_kernel_nexthop nexthops[3];
	struct to_kernel_group groups[2];
	struct to_kernel_route routes[3];
	struct to_kernel_table table;
};

static struct sample *sample_new(uint32_t eth0, uint32_t eth1)
{
	struct sample *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->nexthops[0] = (struct to_kernel_nexthop){ .port = eth0, .weight = 2, .mac = { 2, 1 } };
	s->nexthops[1] = (struct to_kernel_nexthop){ .port = eth1, .weight = 1, .mac = { 2, 2 },
						     .backup = true };
	s->nexthops[2] = (struct to_kernel_nexthop){ .port = eth1, .weight = 1, .mac = { 2, 2 },
						     .ingress = eth0 };
	s->groups[0] = (struct to_kernel_group){ .id = 0, .n = 2, .nexthops = s->nexthops };
	s->groups[1] = (struct to_kernel_group){ .id = 1, .n = 1, .nexthops = s->nexthops + 2 };
	s->routes[0] = (struct to_kernel_route){ .dst = { 10, 0, 0, 1 }, .family = AF_INET,
		.dst_len = 32, .type = TOPOOPT_ROUTE_TYPE_NODE, .group = TO_KERNEL_GROUP_NONE };
	s->routes[1] = (struct to_kernel_route){ .dst = { 10, 0, 0, 2 }, .family = AF_INET,
		.dst_len = 32, .type = TOPOOPT_ROUTE_TYPE_UNICAST, .group = 0, .server = 1 };
	s->routes[2] = (struct to_kernel_route){ .dst = { 10, 0, 0, 2 }, .src = { 10, 0, 0, 1 },
		.family = AF_INET, .dst_len = 32, .src_len = 32,
		.type = TOPOOPT_ROUTE_TYPE_UNICAST, .group = 1, .server = 1 };
	s->table = (struct to_kernel_table){ .generation = 5, .n_groups = 2, .n_routes = 3,
					     .groups = s->groups, .routes = s->routes };
	return s;
}

static uint64_t digest(const struct sample *s, const struct to_table_port *ports)
{
	uint64_t value = 0;

	assert_int_equal(to_table_digest(&s->table, ports, 2, &value), 0);
	return value;
}

static void test_same(void **state)
{
	struct sample *a = sample_new(10, 11), *b = sample_new(3, 7);
	const struct to_kernel_route route = b->routes[0];

	(void)state;
	assert_int_equal(digest(a, here), digest(b, there));
	/* neither the order of routes, nor the numbers of groups, nor the generation */
	b->routes[0] = b->routes[2];
	b->routes[2] = route;
	b->groups[0].id = 90;
	b->groups[1].id = 0;
	b->routes[0].group = 0;
	b->routes[1].group = 90;
	b->table.generation = 6;
	b->nexthops[0].live = b->groups[0].backup_in_use = true;
	assert_int_equal(digest(a, here), digest(b, there));
	free(a);
	free(b);
}

/* Whatever makes to_diff_tables() find a difference. */
static void test_other(void **state)
{
#define CHANGE(what) { struct sample *s = sample_new(10, 11); struct to_diff_count count; \
	struct sample *whole = sample_new(10, 11); what; \
	if (digest(s, here) == digest(whole, here)) \
		fail_msg("%s: the same digest", #what); \
	assert_int_equal(to_diff_tables(&whole->table, &s->table, &count, NULL, NULL, NULL, NULL), 0); \
	assert_true(to_diff_any(&count)); free(s); free(whole); }

	(void)state;
	CHANGE(s->nexthops[0].port = 11);
	CHANGE(s->nexthops[0].weight = 3);
	CHANGE(s->nexthops[0].mac[5] = 1);
	CHANGE(s->nexthops[1].backup = false);
	CHANGE(s->nexthops[2].ingress = 0);
	CHANGE(s->groups[0].n = 1);
	CHANGE(s->routes[0].type = TOPOOPT_ROUTE_TYPE_LOCAL);
	CHANGE(s->routes[1].dst[3] = 3);
	CHANGE(s->routes[1].dst_len = 31);
	CHANGE(s->routes[1].group = 1);
	CHANGE(s->routes[1].server = 2);
	CHANGE(s->routes[2].src[3] = 3);
	CHANGE(s->routes[2].src_len = 31);
	CHANGE(s->table.n_routes = 2);
	CHANGE(s->routes[2].group = 0; s->routes[1].group = 1);
}

/* ---- status ---- */

static struct to_plan *plan;

static int load(void **state)
{
	struct to_error err = {};

	(void)state;
	plan = to_plan_load_shared("examples/chain-3/plan.json", &err);
	if (!plan)
		print_error("%s\n", err.text);
	return plan ? 0 : -1;
}

static int unload(void **state)
{
	(void)state;
	to_plan_free(plan);
	return 0;
}

/* What three agents say; 0: an older one, which says nothing of its table. */
static json_t *look(const uint64_t tables[3], const unsigned int generations[3])
{
	json_t *servers = json_object();

	for (unsigned int i = 0; i < 3; i++) {
		json_t *reply = json_pack("{s:b, s:i, s:s, s:[]}", "reached", 1,
					  "generation", generations[i], "error", "", "ports");

		if (tables[i])
			json_object_set_new(reply, "table", json_sprintf("%016" PRIx64, tables[i]));
		json_object_set_new(servers, plan->cluster->servers[i].name, reply);
	}
	return json_pack("{s:f, s:o}", "time", 1.0, "servers", servers);
}

/* The checks that name a plan or a table, as "s1 table". */
static void expect(const uint64_t *digests, const uint64_t tables[3],
		   const unsigned int generations[3], unsigned int compared, const char *wanted)
{
	struct to_status status;
	struct to_error err = {};
	json_t *now = look(tables, generations);
	char found[200] = "";

	assert_int_equal(to_status_make(&status, plan, plan, digests, NULL, NULL, now, &err), 0);
	for (unsigned int i = 0; i < status.checks.n; i++) {
		const struct to_check *c = &status.checks.items[i];

		if (strcmp(c->name, "carrier"))
			snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s %s",
				 found[0] ? ", " : "", c->subject, c->name);
	}
	assert_string_equal(found, wanted);
	assert_int_equal(status.compared, compared);
	to_status_free(&status);
	json_decref(now);
}

static void test_status(void **state)
{
	uint64_t *d = to_plan_digests(plan);
	const unsigned int one[] = { 5, 5, 5 };

	(void)state;
	assert_non_null(d);
	assert_true(d[0] && d[1] && d[2] && d[0] != d[1] && d[1] != d[2]);
	expect(d, d, one, 3, "");
	expect(d, (uint64_t[]){ d[0], d[1], d[1] }, one, 3, "s2 table");
	expect(d, (uint64_t[]){ d[0], 0, d[1] }, one, 2, "s2 table");
	expect(d, (uint64_t[]){ 1, 2, 3 }, one, 3, "all servers table");
	expect(NULL, (uint64_t[]){ 1, 2, 3 }, one, 0, "");
	/* what is said already is not said again */
	expect(d, (uint64_t[]){ d[0], d[1], 7 }, (unsigned int[]){ 5, 5, 4 }, 3, "s2 generation");
	expect(d, (uint64_t[]){ d[0], d[1], 7 }, (unsigned int[]){ 5, 5, 0 }, 2, "s2 plan");
	free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_other),
		cmocka_unit_test_setup_teardown(test_status, load, unload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
