// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loaders of cluster.json, dims.json, job.json, model.json, network.json, plan.json, prices.json, tm.json
 * and trace.json: what they read, what they refuse and how they say it (formats/cases.json), and
 * that a plan written is the plan read, to the byte.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/file.h"
#include "base/json.h"
#include "collectives/dimensions.h"
#include "cost/prices.h"
#include "data/plan.h"
#include "data/tm.h"
#include "format/cluster_json.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "format/switch_json.h"
#include "format/tm_json.h"
#include "shard/shard_trace.h"
#include "simulate/network_json.h"
#include "workload/dnn_model.h"

#define FORMATS "selftests/unit/formats/"

static char *read_text(const char *path, size_t *len)
{
	struct to_error err = {};
	char *data;

	if (to_file_read(path, TO_FILE_MAX, &data, len, &err))
		fail_msg("%s", err.text);
	return data;
}

/* Parse as the format that the file name says; true when accepted. */
static bool accepts(const char *of, const char *data, size_t len,
		    struct to_error *err)
{
	struct to_cluster *cluster;
	struct to_demand *demand;
	struct to_dimensions dims;
	struct to_dnn_model *model;
	struct to_plan *plan;
	struct to_network *network;
	struct to_prices *prices;
	struct to_shard_trace trace;
	struct to_tm *tm;

	err->text[0] = '\0';
	if (!strncmp(of, "cluster", 7)) {
		cluster = to_cluster_parse(data, len, "doc", err);
		to_cluster_free(cluster);
		return cluster;
	}
	if (!strcmp(of, "model.json")) {
		model = to_dnn_model_parse(data, len, "doc", err);
		to_dnn_model_free(model);
		return model;
	}
	if (!strncmp(of, "plan", 4)) {
		plan = to_plan_parse(data, len, "doc", err);
		to_plan_free(plan);
		return plan;
	}
	if (!strcmp(of, "dims.json"))
		return !to_dimensions_parse(data, len, "doc", &dims, err);
	if (!strcmp(of, "network.json")) {
		network = to_network_parse(data, len, "doc", 1e-6, err);
		to_network_free(network);
		return network;
	}
	if (!strcmp(of, "prices.json")) {
		prices = to_prices_parse(data, len, "doc", err);
		to_prices_free(prices);
		return prices;
	}
	if (!strcmp(of, "trace.json")) {
		if (to_shard_trace_parse(&trace, data, len, "doc", err))
			return false;
		to_shard_trace_free(&trace);
		return true;
	}
	if (!strncmp(of, "tm", 2)) {
		tm = to_tm_parse(data, len, "doc", NULL, err);
		to_tm_free(tm);
		return tm;
	}
	demand = to_demand_parse(data, len, "doc", TO_SERVERS_USUAL, err);
	to_demand_free(demand);
	return demand;
}

static char *replace(const char *text, const char *find, const char *put)
{
	const char *at = strstr(text, find);
	char *out;

	if (!at)
		fail_msg("no %s in the document", find);
	if (asprintf(&out, "%.*s%s%s", (int)(at - text), text, put,
		     at + strlen(find)) < 0)
		fail();
	return out;
}

static void refuses_broken_documents(void **state)
{
	json_t *cases = json_load_file(FORMATS "cases.json", 0, NULL), *c;
	unsigned int wrong = 0;
	size_t i;

	(void)state;
	assert_non_null(cases);
	json_array_foreach(cases, i, c) {
		const char *of = json_string_value(json_object_get(c, "of"));
		const char *put = json_string_value(json_object_get(c, "put"));
		char *path, *text, *broken, *expected;
		struct to_error err;
		size_t len;

		if (asprintf(&path, FORMATS "%s", of) < 0 ||
		    asprintf(&expected, "doc:%s",
			     json_string_value(json_object_get(c, "error"))) < 0)
			fail();
		text = read_text(path, &len);
		broken = replace(text, json_string_value(json_object_get(c, "find")),
				 put);
		if (accepts(of, broken, strlen(broken), &err) ||
		    strcmp(err.text, expected)) {
			print_message("# %s with %s:\n#   expected %s\n#   got      %s\n",
				      of, put, expected, err.text);
			wrong++;
		}
		free(expected);
		free(path);
		free(text);
		free(broken);
	}
	assert_int_equal(wrong, 0);
	json_decref(cases);
}

/* As to_cluster_print_file() has the cluster of a text. */
static char *printed_cluster(const char *text)
{
	struct to_error err = {};
	struct to_cluster *c = to_cluster_parse(text, strlen(text), "doc", &err);
	char *out = NULL;
	size_t len;
	FILE *file = open_memstream(&out, &len);

	if (!c)
		fail_msg("%s", err.text);
	to_cluster_print_file(file, c);
	fclose(file);
	to_cluster_free(c);
	return out;
}

/* Text of @path with all of the @n pairs of what is there and what is put. */
static char *with_units(const char *path, const char *const (*pairs)[2], unsigned int n)
{
	size_t len;
	char *text = read_text(path, &len);

	for (unsigned int i = 0; i < n; i++) {
		char *next = replace(text, pairs[i][0], pairs[i][1]);

		free(text);
		text = next;
	}
	return text;
}

static void reads_units(void **state)
{
	static const char *const cluster[][2] = {
		{ "\"bandwidth\": 25000000000", "\"bandwidth\": \"25G\"" },
		{ "\"bandwidth\": 25000000000", "\"bandwidth\": \"25000Mbit\"" },
		{ "\"reconfiguration_ns\": 10000000", "\"reconfiguration_ns\": \"10ms\"" },
	};
	static const char *const job[][2] = {
		{ "\"bytes\": 4096", "\"bytes\": \"4KiB\"" },
		{ "\"bytes\": 512", "\"bytes\": \"512B\"" },
		{ "\"bytes\": 7", "\"bytes\": \"7\"" },
		{ "\"bytes\": 5", "\"bytes\": \"5kB\"" },
	};
	size_t len;
	char *text = read_text(FORMATS "cluster.json", &len);
	char *units = with_units(FORMATS "cluster.json", cluster, 3);
	char *plain = printed_cluster(text), *same = printed_cluster(units);
	struct to_error err = {};
	struct to_demand *demand;

	(void)state;
	assert_string_equal(plain, same);
	free(plain);
	free(same);
	free(units);
	free(text);
	units = with_units(FORMATS "job.json", job, 4);
	demand = to_demand_parse(units, strlen(units), "doc", TO_SERVERS_USUAL, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(demand->groups[0].bytes, 4096);
	assert_int_equal(demand->groups[1].bytes, 512);
	assert_int_equal(demand->mp[1], 7);
	assert_int_equal(demand->mp[2 * 4 + 1], 5000);
	to_demand_free(demand);
	free(units);
}

/* What is not the default is kept, in copies too, and a key is for the owner of the file. */
static void checks_survive_the_round_trip(void **state)
{
	static const char checks[] =
		"\"checks\":{\"interval\":\"10ms\",\"fabric\":\"blue\",\"key\":\"00112233445566778899aabbccddeeff\",\"grace\":0,\"unable\":[\"a\",\"c\"]}";
	char path[] = "/tmp/test_formats.XXXXXX", *put, *text, *with, *printed, *again;
	struct to_error err = {};
	struct to_cluster *cluster, *copy;
	struct to_plan *plan;
	struct stat st;
	size_t len;

	(void)state;
	text = read_text(FORMATS "cluster.json", &len);
	printed = printed_cluster(text);
	assert_null(strstr(printed, "\"checks\""));
	free(printed);
	with = replace(text, "\"links\": [", "\"checks\": { \"interval\": \"100ms\" }, \"links\": [");
	printed = printed_cluster(with);
	assert_null(strstr(printed, "\"checks\""));
	free(printed);
	free(with);

	assert_true(asprintf(&put, "%s, \"links\": [", checks) > 0);
	with = replace(text, "\"links\": [", put);
	printed = printed_cluster(with);
	assert_non_null(strstr(printed, checks));
	again = printed_cluster(printed);
	assert_string_equal(printed, again);
	cluster = to_cluster_parse(printed, strlen(printed), "doc", &err);
	assert_non_null(cluster);
	copy = to_cluster_copy(cluster);
	to_cluster_free(cluster);
	assert_int_equal(copy->continuity.interval, TO_CONTINUITY_10MS);
	assert_int_equal(to_continuity_grace_ms(&copy->continuity), 0);
	assert_int_equal(copy->continuity.key[15], 0xff);
	assert_true(copy->servers[0].unable && !copy->servers[1].unable);
	to_cluster_free(copy);
	free(again);
	free(printed);
	free(with);
	free(text);

	text = read_text(FORMATS "plan.json", &len);
	with = replace(text, "\"links\": [",
		       "\"checks\": { \"key\": \"00112233445566778899AABBCCDDEEFF\" }, \"links\": [");
	plan = to_plan_parse(with, strlen(with), "doc", &err);
	if (!plan)
		fail_msg("%s", err.text);
	close(mkstemp(path));
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(to_plan_save(plan, path, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	printed = read_text(path, &len);
	assert_non_null(strstr(printed,
			       "\"checks\":{\"key\":\"00112233445566778899aabbccddeeff\"}"));
	to_plan_free(plan);
	free(printed);
	free(with);
	free(text);
	free(put);
	remove(path);
}

/* Every prefix is refused; any one byte changed may be, but nothing breaks. */
static void survives_truncation_and_noise(void **state)
{
	static const char *const names[] = {
		"cluster.json", "cluster-cards.json", "cluster-tor.json", "dims.json", "job.json",
		"matrix.json", "model.json", "network.json", "plan.json", "plan-tor.json", "prices.json",
		"tm.json", "tm-server.json", "trace.json" };

	(void)state;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct to_error err;
		char path[64], *text, *copy;
		size_t len;

		snprintf(path, sizeof(path), FORMATS "%s", names[i]);
		text = read_text(path, &len);
		assert_true(accepts(names[i], text, len, &err));
		while (text[len - 1] == '\n')
			len--;
		for (size_t n = 0; n < len; n++) {
			/* Its own allocation, so that reading beyond shows. */
			copy = malloc(n ? n : 1);
			memcpy(copy, text, n);
			assert_false(accepts(names[i], copy, n, &err));
			assert_non_null(strstr(err.text, "doc:"));
			free(copy);
		}
		for (size_t n = 0; n < len; n++) {
			char old = text[n];

			for (const char *s = "9\"[{,}]-:.\n"; *s; s++) {
				text[n] = *s;
				if (!accepts(names[i], text, len, &err))
					assert_true(err.text[0]);
			}
			text[n] = old;
		}
		free(text);
	}
}

static void reads_cluster(void **state)
{
	static const uint8_t relay[] = { 2, 0, 0, 0, 1, 2 };
	struct to_error err = {};
	struct to_cluster *c = to_cluster_load(FORMATS "cluster.json", &err);

	(void)state;
	assert_string_equal(err.text, "");
	assert_int_equal(c->link_mode, TO_LINKS_DUPLEX);
	assert_int_equal(c->n_servers, 3);
	assert_int_equal(c->servers[1].n_ports, 2);
	assert_int_equal(c->switches[0].n_ports, 8);
	assert_int_equal(c->switches[0].reconfiguration_ns, 10000000);
	assert_memory_equal(c->servers[0].ports[1].relay_mac, relay, 6);
	/* no relay_mac: one interface */
	assert_memory_equal(c->servers[0].ports[0].relay_mac,
			    c->servers[0].ports[0].mac, 6);
	assert_string_equal(c->servers[0].ports[1].transmit, "eth1f1");
	assert_int_equal(c->servers[0].ports[1].optical_switch, 0);
	assert_int_equal(c->servers[0].ports[1].optical_port, 2);
	assert_int_equal(c->servers[2].ports[0].optical_switch, -1);
	assert_true(c->servers[0].address.has_v4 && c->servers[0].address.has_v6);
	assert_false(c->servers[2].address.has_v4);
	assert_int_equal(ntohl(c->servers[1].address.v4.s_addr), 0x0a000002);
	assert_int_equal(c->n_links, 2);
	assert_int_equal(c->links[1].a.server, 1);
	assert_int_equal(c->links[1].a.port, 0);
	assert_int_equal(c->links[1].b.server, 2);
	assert_int_equal(to_cluster_find_server(c, "c"), 2);
	assert_int_equal(to_cluster_find_server(c, "d"), -1);
	to_cluster_free(c);
}

static void reads_packet_switches(void **state)
{
	struct to_error err = {};
	size_t len, again_len;
	char *text = read_text(FORMATS "cluster-tor.json", &len), *again;
	struct to_cluster *c = to_cluster_parse(text, len, "tor", &err), *copy;
	FILE *out;

	(void)state;
	assert_string_equal(err.text, "");
	free(text);
	assert_int_equal(c->n_packet_switches, 2);
	assert_string_equal(to_port_packet_switch(c, &c->servers[1].ports[1])->name, "tor0");
	assert_null(to_port_packet_switch(c, &c->servers[1].ports[0]));
	/* written, copied and read again it is the same */
	copy = to_cluster_copy(c);
	to_cluster_free(c);
	for (unsigned int i = 0; i < 2; i++) {
		out = open_memstream(&again, &again_len);
		to_cluster_print_file(out, copy);
		fclose(out);
		to_cluster_free(copy);
		copy = to_cluster_parse(again, again_len, "again", &err);
		assert_non_null(copy);
		assert_int_equal(copy->n_packet_switches, 2);
		assert_string_equal(copy->packet_switches[1].name, "tor1");
		assert_int_equal(copy->packet_switches[1].n_ports, 48);
		assert_int_equal(copy->servers[0].ports[0].packet_switch, 1);
		assert_int_equal(copy->servers[0].ports[1].packet_switch, 0);
		assert_int_equal(copy->n_links, 1);
		free(again);
	}
	to_cluster_free(copy);
}

static void check_cards(const struct to_cluster *c)
{
	const struct to_server *a = &c->servers[0], *b = &c->servers[1];
	const struct to_pcie_link *chip = &a->pcie[0], *x4a = &a->pcie[1], *x4b = &a->pcie[2];

	assert_int_equal(a->n_pcie, 3);
	assert_int_equal(b->n_pcie, 0);
	assert_string_equal(x4a->name, "x4a");
	assert_int_equal(chip->within, 0);
	assert_int_equal(x4b->within, 1);
	/* what was measured overrides the rate, which is kept */
	assert_int_equal(chip->rate, 0);
	assert_int_equal(to_pcie_link_to_host(chip), 214400000000);
	assert_int_equal(to_pcie_link_from_host(chip), 192000000000);
	assert_int_equal(x4a->rate, 126030769231);
	assert_int_equal(to_pcie_link_to_host(x4a), 109000000000);
	assert_int_equal(to_pcie_link_from_host(x4a), 126030769231);
	assert_int_equal(to_pcie_link_to_host(x4b), 126000000000);
	assert_string_equal(a->ports[0].cable, "p0");
	assert_string_equal(a->ports[0].card, "cx7");
	assert_int_equal(a->ports[0].pcie, 2);
	assert_int_equal(a->ports[1].pcie, 3);
	assert_int_equal(a->ports[0].transit, TO_TRANSIT_NONE);
	assert_int_equal(a->ports[1].transit, TO_TRANSIT_NIC);
	assert_int_equal(a->ports[2].transit, TO_TRANSIT_KERNEL);
	assert_string_equal(a->ports[2].cable, "");
	assert_string_equal(a->ports[2].card, "");
	assert_int_equal(a->ports[2].pcie, 0);
	assert_true(to_port_shares_cable(a, 0, 1) && to_port_shares_cable(b, 1, 0));
	assert_false(to_port_shares_cable(a, 1, 2) || to_port_shares_cable(a, 2, 3));
	assert_true(to_port_is_function(a, 1));
	assert_false(to_port_is_function(a, 2));
	assert_int_equal(to_server_cables(a), 3);
	assert_int_equal(to_server_cables(&c->servers[2]), 1);
	assert_int_equal(to_cluster_cables(c), 2);
	assert_true(to_cluster_shares_cables(c));
}

static void reads_cards(void **state)
{
	struct to_error err = {};
	size_t len;
	char *text = read_text(FORMATS "cluster-cards.json", &len), *again;
	struct to_cluster *c = to_cluster_parse(text, len, "cards", &err), *copy;
	FILE *out;

	(void)state;
	assert_string_equal(err.text, "");
	free(text);
	check_cards(c);
	/* written, copied and read again it is the same */
	copy = to_cluster_copy(c);
	to_cluster_free(c);
	check_cards(copy);
	for (unsigned int i = 0; i < 2; i++) {
		out = open_memstream(&again, &len);
		to_cluster_print_file(out, copy);
		fclose(out);
		to_cluster_free(copy);
		copy = to_cluster_parse(again, len, "again", &err);
		assert_string_equal(err.text, "");
		check_cards(copy);
		free(again);
	}
	to_cluster_free(copy);
}

/* Next hops are masks of 64 bits. */
static void server_has_64_neighbours(void **state)
{
	struct to_error err = {};

	(void)state;
	for (unsigned int n = 65; n <= 66; n++) {
		struct to_cluster *c = to_cluster_synthetic(n, 1, 0, TO_LINKS_DUPLEX, NULL);
		struct to_cluster *read;
		char *text;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		c->n_packet_switches = 1;
		c->packet_switches = calloc(1, sizeof(*c->packet_switches));
		c->packet_switches[0] = (struct to_packet_switch){ "tor", 66 };
		for (uint32_t x = 0; x < n; x++) {
			c->servers[x].ports[0].optical_switch = -1;
			c->servers[x].ports[0].packet_switch = 1;
		}
		to_cluster_print_file(out, c);
		fclose(out);
		read = to_cluster_parse(text, len, "doc", &err);
		if (n == 65)
			assert_non_null(read);
		else
			assert_non_null(strstr(err.text, "servers[0].ports: they reach 65 ports at one hop, a server may reach 64"));
		to_cluster_free(read);
		to_cluster_free(c);
		free(text);
	}
}

static void simplex_port_sends_and_receives(void **state)
{
	struct to_error err;
	size_t len;
	char *text = read_text(FORMATS "cluster.json", &len);
	char *simplex = replace(text, "duplex", "simplex");
	/* b:eth0 sends to c, and now also receives from a */
	char *both = replace(simplex, "\"b:eth1\"", "\"b:eth0\"");
	char *twice = replace(simplex, "\"a\": \"b:eth0\"", "\"a\": \"a:eth0\"");

	(void)state;
	assert_true(accepts("cluster.json", both, strlen(both), &err));
	assert_false(accepts("cluster.json", twice, strlen(twice), &err));
	free(text);
	free(simplex);
	free(both);
	free(twice);
}

static void reads_job(void **state)
{
	static const uint64_t mp[] = { 0, 7, 7, 7,
				       7, 0, 0, 0,
				       7 + 5, 5, 0, 0,
				       7 + 5, 5, 0, 0 };
	struct to_error err = {};
	struct to_demand *d = to_demand_load(FORMATS "job.json", TO_SERVERS_USUAL, &err), *copy;

	(void)state;
	assert_string_equal(err.text, "");
	assert_string_equal(d->name, "a job");
	assert_int_equal(d->n, 4);
	assert_string_equal(d->names[3], "d");
	assert_int_equal(d->n_groups, 2);
	assert_int_equal(d->groups[0].n_members, 4);
	assert_int_equal(d->groups[1].members[0], 0);
	assert_int_equal(d->groups[1].members[1], 2);
	assert_int_equal(d->groups[1].bytes, 512);
	assert_memory_equal(d->mp, mp, sizeof(mp));
	copy = to_demand_copy(d);
	to_demand_free(d);
	assert_memory_equal(copy->mp, mp, sizeof(mp));
	assert_string_equal(copy->names[3], "d");
	assert_int_equal(copy->groups[1].members[1], 2);
	to_demand_free(copy);
}

/* Layers that reduce alike are calls of one group; of other sizes, or in another order, not. */
static void joins_equal_groups(void **state)
{
	static const char text[] =
		"{\"name\":\"layers\",\"servers\":3,\"allreduce\":["
		"{\"group\":\"all\",\"bytes\":10},{\"group\":[1,0],\"bytes\":10},"
		"{\"group\":\"0-2\",\"bytes\":30,\"calls\":3},{\"group\":\"all\",\"bytes\":11},"
		"{\"group\":[0,1],\"bytes\":10},{\"group\":\"all\",\"bytes\":10},"
		/* would be more calls than there may be */
		"{\"group\":[2,1],\"bytes\":1,\"calls\":1000000},"
		"{\"group\":[2,1],\"bytes\":1,\"calls\":1000000}]}";
	static const struct { unsigned int n, first, bytes, calls; } expected[] = {
		{ 3, 0, 50, 5 }, { 2, 1, 10, 0 }, { 3, 0, 11, 0 }, { 2, 0, 10, 0 },
		{ 2, 2, 1, 1000000 }, { 2, 2, 1, 1000000 } };
	struct to_error err = {};
	struct to_demand *d;

	(void)state;
	d = to_demand_parse(text, strlen(text), "doc", TO_SERVERS_USUAL, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(d->n_groups, sizeof(expected) / sizeof(*expected));
	for (unsigned int g = 0; g < d->n_groups; g++) {
		assert_int_equal(d->groups[g].n_members, expected[g].n);
		assert_int_equal(d->groups[g].members[0], expected[g].first);
		assert_int_equal(d->groups[g].bytes, expected[g].bytes);
		assert_int_equal(d->groups[g].calls, expected[g].calls);
	}
	to_demand_free(d);
}

static void reads_matrix(void **state)
{
	static const uint64_t mp[] = { 0, 1, 2, 3, 0, 5, 6, 7, 0 };
	struct to_demand *d = to_demand_load(FORMATS "matrix.json", TO_SERVERS_USUAL, NULL);

	(void)state;
	assert_memory_equal(d->mp, mp, sizeof(mp));
	to_demand_free(d);
}

/* The figures of the paper's section 2.2. */
static void reads_dlrm(void **state)
{
	struct to_error err = {};
	struct to_demand *d = to_demand_load("examples/jobs/dlrm-16.json", TO_SERVERS_USUAL, &err);

	(void)state;
	assert_string_equal(err.text, "");
	assert_int_equal(d->n_groups, 1);
	assert_int_equal(d->groups[0].n_members, 16);
	assert_int_equal(d->groups[0].bytes, 4ULL << 30);
	for (unsigned int i = 0; i < 16; i++) {
		for (unsigned int j = 0; j < 16; j++) {
			unsigned int tables = 1 << 0 | 1 << 3 | 1 << 8 | 1 << 13;
			unsigned int owners = (tables >> i & 1) + (tables >> j & 1);

			assert_int_equal(d->mp[i * 16 + j],
					 i == j ? 0 : owners * (32 << 20));
		}
	}
	to_demand_free(d);
}

static void reads_examples(void **state)
{
	struct to_error err = {};
	struct to_cluster *c = to_cluster_load("examples/ring-4/cluster.json", &err);
	struct to_plan *p = to_plan_load_shared("examples/chain-3/plan.json", &err);
	static const char *const jobs[] = {
		"examples/jobs/candle-16.json", "examples/jobs/hybrid-128.json",
		"examples/jobs/hybrid-432.json", "examples/jobs/hybrid-1024.json",
		"examples/prototype-12/job.json", "examples/ring-4/job.json" };

	(void)state;
	assert_string_equal(err.text, "");
	to_cluster_free(c);
	to_plan_free(p);
	for (unsigned int i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
		struct to_demand *d = to_demand_load(jobs[i], TO_SERVERS_USUAL, &err);

		assert_string_equal(err.text, "");
		to_demand_free(d);
	}
}

static void reads_plan(void **state)
{
	struct to_port_ref peer;
	struct to_error err = {};
	struct to_plan *p = to_plan_load_shared(FORMATS "plan.json", &err);
	const struct to_table *t = &p->tables[0];

	(void)state;
	assert_string_equal(err.text, "");
	assert_string_equal(p->demand->name, "ring");
	assert_int_equal(p->seed, 7);
	assert_int_equal(p->slots, 3);
	assert_int_equal(p->rings[0].n, 4);
	assert_true(p->rings[0].reverse);
	assert_int_equal(p->cluster->links[0].ring, 0);
	assert_int_equal(p->cluster->links[2].ring, -1);
	assert_int_equal(p->cluster->links[2].use, TO_LINK_MP);
	assert_int_equal(p->cluster->links[0].tree, -1);
	assert_int_equal(p->trees[0].group, 1);
	assert_int_equal(p->trees[0].parents[0], 2);
	assert_int_equal(p->trees[0].parents[1], TO_SERVER_NONE);
	assert_int_equal(p->cross_connects[0].b, 4);
	assert_int_equal(t->n_groups, 2);
	assert_int_equal(t->groups[0].nexthops[0].weight, 2);
	assert_int_equal(t->groups[0].nexthops[1].weight, 1);
	assert_true(t->groups[1].nexthops[1].backup);
	assert_int_equal(t->route[1 * 3 + 0], 0);	/* s1's node */
	assert_int_equal(t->route[3 * 3 + 0], 1);	/* s3's node */
	assert_int_equal(t->route[1 * 3 + 1], 1);	/* s1's eth0 */
	assert_int_equal(t->route[3 * 3 + 2], 1);	/* s3's eth1 */
	assert_int_equal(t->route[3 * 3 + 1], TO_GROUP_NONE);
	assert_int_equal(t->route[0], TO_GROUP_NONE);
	/* by destination, slot, source */
	assert_int_equal(t->n_pairs, 4);
	assert_int_equal(t->pairs[1].src, 3);
	assert_int_equal(t->pairs[1].slot, 0);
	assert_int_equal(t->pairs[2].src, 0);
	assert_int_equal(t->pairs[2].slot, 1);
	/* both ends of a duplex link */
	assert_int_equal(to_plan_peer(p, (struct to_port_ref){ 0, 0 }, &peer), 0);
	assert_int_equal(peer.server, 1);
	assert_int_equal(peer.port, 1);
	assert_int_equal(to_plan_peer(p, (struct to_port_ref){ 1, 1 }, &peer), 0);
	assert_int_equal(peer.server, 0);
	assert_int_equal(peer.port, 0);
	to_plan_free(p);
}

static char *print_plan(const struct to_plan *plan, size_t *len)
{
	struct to_error err;
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (to_plan_print(plan, out, &err))
		fail_msg("%s", err.text);
	fclose(out);
	return text;
}

/* A next hop is a port and a peer there; written and read again it is the same. */
static void reads_plan_with_packet_switch(void **state)
{
	struct to_error err = {};
	size_t len, again_len;
	char *text = read_text(FORMATS "plan-tor.json", &len), *again;
	struct to_plan *p = to_plan_parse(text, len, "tor", &err);
	const struct to_group *group;
	struct to_port_ref peer;

	(void)state;
	free(text);
	assert_string_equal(err.text, "");
	group = p->tables[0].groups;
	assert_int_equal(group->nexthops[0].peer, 1);
	assert_int_equal(group->nexthops[1].peer, 0);
	assert_int_equal(p->tables[0].groups[1].nexthops[0].port, 0);
	assert_int_equal(p->tables[0].groups[1].nexthops[0].peer, 2);
	/* one of several peers would be a guess */
	assert_int_equal(to_plan_peer(p, (struct to_port_ref){ 0, 0 }, &peer), -ENOLINK);
	assert_int_equal(to_plan_peer(p, (struct to_port_ref){ 0, 1 }, &peer), 0);
	text = print_plan(p, &len);
	to_plan_free(p);
	p = to_plan_parse(text, len, "again", &err);
	assert_non_null(p);
	again = print_plan(p, &again_len);
	assert_string_equal(text, again);
	assert_non_null(strstr(text, "{\"port\":\"eth0\",\"peer\":\"c\"}"));
	to_plan_free(p);
	free(text);
	free(again);
	/* until commands know what that means */
	p = to_plan_load_shared(FORMATS "plan-tor.json", &err);
	assert_int_equal(to_cluster_refuse_shared(p->cluster, FORMATS "plan-tor.json",
						  TO_CLUSTER_CABLES_ONLY, &err), -EOPNOTSUPP);
	to_plan_free(p);
	assert_non_null(strstr(err.text, "plan-tor.json: it has packet switches (\"tor0\"): this command"));
}

static unsigned int dice(unsigned int sides)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % sides;
}

/* A plan in which everything that the format has occurs; routes are random. */
static struct to_plan *random_plan(enum to_link_mode mode, bool dense)
{
	enum { N = 70, DEGREE = 3 };
	struct to_plan *p = calloc(1, sizeof(*p));
	struct to_cluster *c = to_cluster_synthetic(N, DEGREE, 100000000000, mode,
						    NULL);
	struct to_demand *d = calloc(1, sizeof(*d));

	p->cluster = c;
	c->servers[1].pcie = calloc(2, sizeof(*c->servers[1].pcie));
	c->servers[1].n_pcie = 2;
	c->servers[1].pcie[0] = (struct to_pcie_link){ "chip", 0, 0, 214400000000, 192000000000 };
	c->servers[1].pcie[1] = (struct to_pcie_link){ "x4", 1, 126030769231, 0, 0 };
	c->servers[1].ports[1].pcie = 2;
	c->servers[1].ports[1].transit = TO_TRANSIT_NIC;
	strcpy(c->servers[1].ports[1].card, "cx7");
	p->demand = d;
	p->seed = INT64_MAX;
	p->latency = (struct to_latency){ 8e-6, 1.0 / 3 };
	p->candidates = calloc(2, sizeof(*p->candidates));
	p->n_candidates = 2;
	p->candidates[0] = (struct to_candidate){ "totient", 2, 0.1, 1.0 / 3, true };
	p->candidates[1] = (struct to_candidate){ "hamiltonian", 3, 1e-9, 0, false };
	p->predictions = json_pack("{s:f, s:{s:i}}", "z", 0.1, "a", "b", 1);
	strcpy(d->name, "a \"random\" job\\\xc3\xa9");
	d->n = N;
	d->mp = calloc(N * N, sizeof(*d->mp));
	for (unsigned int i = 0; i < N * N; i++)
		if (i % (N + 1) && (dense || dice(50) == 0))
			d->mp[i] = dense ? dice(INT32_MAX) : dice(3);
	d->groups = calloc(2, sizeof(*d->groups));
	d->n_groups = 2;
	d->groups[0] = (struct to_allreduce){ N, calloc(N, 4), 1LL << 55, 0 };
	d->groups[1] = (struct to_allreduce){ N / 2, calloc(N / 2, 4), 1, 7 };
	p->rings = calloc(1, sizeof(*p->rings));
	p->n_rings = 1;
	p->rings[0] = (struct to_ring){ 0, 3, N, calloc(N, 4), mode == TO_LINKS_DUPLEX };
	for (unsigned int i = 0; i < N; i++) {
		d->groups[0].members[i] = N - 1 - i;
		p->rings[0].order[i] = 3 * i % N;
	}
	p->trees = calloc(1, sizeof(*p->trees));
	p->n_trees = 1;
	p->trees[0] = (struct to_allreduce_tree){ 1, N / 2, 1, calloc(N / 2, 4) };
	for (unsigned int i = 0; i < N / 2; i++) {
		d->groups[1].members[i] = 2 * i;
		p->trees[0].parents[i] = i ? 2 * ((i - 1) / 2) : TO_SERVER_NONE;
	}
	c->links = calloc(N, sizeof(*c->links));
	c->n_links = N;
	for (unsigned int i = 0; i < N; i++)
		c->links[i] = (struct to_link){ { i, 0 }, { (i + 3) % N, 1 },
			i % 4, i % 4 == TO_LINK_ALLREDUCE && i % 8 == 1 ? 0 : -1,
			i % 4 == TO_LINK_ALLREDUCE && i % 8 != 1 ? 0 : -1 };
	p->cross_connects = calloc(1, sizeof(*p->cross_connects));
	p->cross_connects[p->n_cross_connects++] =
		(struct to_cross_connect){ c->n_switches - 1, 2, 1 };
	to_plan_alloc_tables(p);
	for (unsigned int s = 0; s < N; s++) {
		struct to_table *t = &p->tables[s];

		for (unsigned int g = 0; g < 20; g++) {
			struct to_nexthop hops[] = {
				{ .port = g % 3, .weight = 1 + g },
				{ .port = (g + 1) % 3, .weight = 1, .backup = g & 1 },
				{ .port = g % 3, .weight = 1, .ingress = 1 + (g + 2) % 3 },
			};
			unsigned int n = 2 + g % 2;

			assert_int_equal(to_plan_add_group(t, hops, n), g);
			assert_int_equal(to_plan_add_group(t, hops, n), g);
		}
		for (unsigned int r = 0; r < N * p->slots; r++)
			if (r / p->slots != s && dice(10))
				t->route[r] = dice(19);	/* one stays unused */
		t->pairs = calloc(3 * N, sizeof(*t->pairs));
		for (unsigned int dst = 0; dst < N; dst++)
			for (unsigned int k = 0; k < 3 && dst != s; k++)
				t->pairs[t->n_pairs++] = (struct to_source_route){
					(dst + 1 + k) % N, dst, dice(p->slots), dice(20) };
		to_plan_sort_pairs(t);
	}
	return p;
}

static void same_plan(const struct to_plan *a, const struct to_plan *b)
{
	size_t routes = (size_t)a->cluster->n_servers * a->slots;

	assert_int_equal(a->slots, b->slots);
	for (unsigned int s = 0; s < a->cluster->n_servers; s++) {
		const struct to_server *x = &a->cluster->servers[s], *y = &b->cluster->servers[s];

		assert_int_equal(x->n_pcie, y->n_pcie);
		assert_memory_equal(x->pcie, y->pcie, x->n_pcie * sizeof(*x->pcie));
		for (unsigned int q = 0; q < x->n_ports; q++) {
			assert_string_equal(x->ports[q].card, y->ports[q].card);
			assert_int_equal(x->ports[q].pcie, y->ports[q].pcie);
			assert_int_equal(x->ports[q].transit, y->ports[q].transit);
		}
	}
	assert_memory_equal(a->demand->mp, b->demand->mp,
			    a->demand->n * a->demand->n * sizeof(uint64_t));
	for (unsigned int s = 0; s < a->cluster->n_servers; s++) {
		const struct to_table *t = &a->tables[s], *u = &b->tables[s];

		assert_memory_equal(t->route, u->route, routes * sizeof(uint16_t));
		assert_int_equal(t->n_groups, u->n_groups);
		assert_int_equal(t->n_pairs, u->n_pairs);
		assert_memory_equal(t->pairs, u->pairs, t->n_pairs * sizeof(*t->pairs));
		for (unsigned int g = 0; g < t->n_groups; g++)
			for (unsigned int i = 0; i < t->groups[g].n; i++) {
				assert_int_equal(t->groups[g].nexthops[i].weight,
						 u->groups[g].nexthops[i].weight);
				assert_int_equal(t->groups[g].nexthops[i].ingress,
						 u->groups[g].nexthops[i].ingress);
			}
	}
}

static void plan_survives_the_round_trip(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct to_plan *plan = random_plan(i & 1, i & 2), *again;
		struct to_error err = {};
		size_t len, len_again;
		char *text, *text_again;

		text = print_plan(plan, &len);
		again = to_plan_parse(text, len, "printed", &err);
		assert_string_equal(err.text, "");
		same_plan(plan, again);
		text_again = print_plan(again, &len_again);
		assert_int_equal(len, len_again);
		assert_memory_equal(text, text_again, len);
		to_plan_free(plan);
		to_plan_free(again);
		free(text);
		free(text_again);
	}
}

/* What a job that was saved says is what it said. */
static void job_survives_the_round_trip(void **state)
{
	static const char *const names[] = {
		FORMATS "job.json", FORMATS "matrix.json", "examples/jobs/dlrm-16.json" };
	char path[] = "/tmp/test_formats.XXXXXX", *before, *after;
	struct to_demand *d, *again;
	struct to_error err = {};
	size_t len;

	(void)state;
	assert_int_not_equal(mkstemp(path), -1);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		d = to_demand_load(names[i], TO_SERVERS_USUAL, &err);
		assert_int_equal(to_demand_save(d, path, &err), 0);
		again = to_demand_load(path, TO_SERVERS_USUAL, &err);
		assert_string_equal(err.text, "");
		assert_string_equal(again->name, d->name);
		assert_int_equal(again->n, d->n);
		assert_int_equal(again->n_groups, d->n_groups);
		assert_memory_equal(again->mp, d->mp, (size_t)d->n * d->n * sizeof(*d->mp));
		assert_int_equal(!again->names, !d->names);
		if (d->names)
			assert_memory_equal(again->names, d->names, d->n * sizeof(*d->names));
		before = read_text(path, &len);
		assert_int_equal(to_demand_save(again, path, &err), 0);
		after = read_text(path, &len);
		assert_string_equal(before, after);
		free(before);
		free(after);
		to_demand_free(d);
		to_demand_free(again);
	}
	unlink(path);
}

static void save_replaces_only_on_success(void **state)
{
	char dir[] = "/tmp/test_formats.XXXXXX", path[64], link[64], *before, *after;
	struct to_plan *plan = random_plan(TO_LINKS_DUPLEX, false), *loaded;
	struct to_error err = {};
	size_t len;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/plan.json", dir);
	snprintf(link, sizeof(link), "%s/link.json", dir);
	assert_int_equal(to_plan_save(plan, path, &err), 0);
	before = read_text(path, &len);

	/* JSON has no such number */
	plan->seed = UINT64_MAX;
	assert_int_not_equal(to_plan_save(plan, path, &err), 0);
	assert_non_null(strstr(err.text, "seed"));
	after = read_text(path, &len);
	assert_string_equal(before, after);

	/* a link to the plan stays a link */
	plan->seed = 5;
	assert_int_equal(symlink("plan.json", link), 0);
	assert_int_equal(to_plan_save(plan, link, &err), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	loaded = to_plan_load_shared(path, &err);
	assert_int_equal(loaded->seed, 5);
	to_plan_free(loaded);

	/* nothing is left lying about */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(dir), 0);
	assert_int_not_equal(to_plan_save(plan, path, &err), 0);
	assert_non_null(strstr(err.text, "No such file"));
	to_plan_free(plan);
	free(before);
	free(after);
}

static void synthetic_cluster_has_the_scheme(void **state)
{
	static const uint8_t mac[] = { 2, 0x54, 0x4f, 3, 1, 0 };
	struct to_error err;
	struct to_cluster *c = to_cluster_synthetic(300, 4, 25000000000,
						    TO_LINKS_SIMPLEX, &err);
	struct to_port *port = &c->servers[255].ports[3];
	char text[INET6_ADDRSTRLEN];

	(void)state;
	assert_string_equal(c->servers[255].name, "s255");
	assert_int_equal(ntohl(c->servers[255].address.v4.s_addr), 0x0ac80100);
	inet_ntop(AF_INET6, &c->servers[255].address.v6, text, sizeof(text));
	assert_string_equal(text, "fd00:746f::100");
	assert_string_equal(port->name, "eth3");
	assert_memory_equal(port->mac, mac, 6);
	assert_int_equal(ntohl(port->address.v4.s_addr), 0x0acc0100);
	inet_ntop(AF_INET6, &port->address.v6, text, sizeof(text));
	assert_string_equal(text, "fd00:746f:0:4::100");
	assert_int_equal(c->n_switches, 4);
	assert_int_equal(port->optical_switch, 3);
	assert_int_equal(port->optical_port, 256);
	assert_int_equal(to_cluster_find_server(c, "s299"), 299);
	to_cluster_free(c);

	assert_null(to_cluster_synthetic(1, 4, 1, TO_LINKS_DUPLEX, &err));
	assert_null(to_cluster_synthetic(65535, 4, 1, TO_LINKS_DUPLEX, &err));
	assert_null(to_cluster_synthetic(16, 0, 1, TO_LINKS_DUPLEX, &err));
	assert_null(to_cluster_synthetic(16, 55, 1, TO_LINKS_DUPLEX, &err));
	assert_non_null(strstr(err.text, "degree 55"));
}

/* What the scheme makes must pass the loader: unique addresses above all. */
static void synthetic_cluster_loads(void **state)
{
	(void)state;
	for (unsigned int mode = 0; mode < 2; mode++) {
		struct to_cluster *c = to_cluster_synthetic(600, 54, 1, mode, NULL);
		struct to_error err = {};
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		fprintf(out, "{");
		to_cluster_print(out, c);
		fprintf(out, "}");
		fclose(out);
		to_cluster_free(c);
		c = to_cluster_parse(text, len, "synthetic", &err);
		assert_string_equal(err.text, "");
		assert_int_equal(c->link_mode, mode);
		to_cluster_free(c);
		free(text);
	}
}

/* What a driver's timeout is by default is not written, whatever it is for others. */
static void timeouts_of_switches_survive(void **state)
{
	static const struct {
		const char *control, *printed;
		uint64_t timeout_ns;
	} cases[] = {
		{ "\"sonic\", \"address\": \"ocs1\"", NULL, 300000000000 },
		{ "\"sonic\", \"address\": \"ocs1\", \"timeout_ms\": 300000", NULL, 300000000000 },
		{ "\"sonic\", \"address\": \"ocs1\", \"timeout_ms\": 5000",
		  "\"timeout_ms\":5000", 5000000000 },
		{ "\"command\", \"command\": \"x\"", NULL, 5000000000 },
		{ "\"command\", \"command\": \"x\", \"timeout_ms\": 300000",
		  "\"timeout_ms\":300000", 300000000000 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct to_switch_control control = {};
		struct to_error err = {};
		struct to_json_doc doc;
		struct to_json at;
		char json[100], *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		snprintf(json, sizeof(json), "{\"driver\": %s}", cases[i].control);
		assert_int_equal(to_json_open(&doc, &at, json, strlen(json), "control", NULL,
					      &err), 0);
		assert_int_equal(to_switch_control_read(&at, &control), 0);
		assert_int_equal(control.timeout_ns, cases[i].timeout_ns);
		to_switch_control_print(out, &control);
		fclose(out);
		if (cases[i].printed)
			assert_non_null(strstr(text, cases[i].printed));
		else
			assert_null(strstr(text, "timeout_ms"));
		to_json_close(&doc);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_broken_documents),
		cmocka_unit_test(reads_units),
		cmocka_unit_test(checks_survive_the_round_trip),
		cmocka_unit_test(survives_truncation_and_noise),
		cmocka_unit_test(reads_cluster),
		cmocka_unit_test(reads_packet_switches),
		cmocka_unit_test(reads_cards),
		cmocka_unit_test(reads_plan_with_packet_switch),
		cmocka_unit_test(server_has_64_neighbours),
		cmocka_unit_test(simplex_port_sends_and_receives),
		cmocka_unit_test(reads_job),
		cmocka_unit_test(joins_equal_groups),
		cmocka_unit_test(reads_matrix),
		cmocka_unit_test(reads_dlrm),
		cmocka_unit_test(reads_examples),
		cmocka_unit_test(reads_plan),
		cmocka_unit_test(plan_survives_the_round_trip),
		cmocka_unit_test(job_survives_the_round_trip),
		cmocka_unit_test(save_replaces_only_on_success),
		cmocka_unit_test(synthetic_cluster_has_the_scheme),
		cmocka_unit_test(synthetic_cluster_loads),
		cmocka_unit_test(timeouts_of_switches_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
