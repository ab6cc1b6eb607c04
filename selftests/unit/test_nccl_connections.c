// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * By what toctl job env tells NCCL, connections to neighbours stay on the cables between them.
 *
 * NCCL's choice of devices is modelled after src/transport/net_ib/connect.cc (2.30.7): the
 * listener offers the GID of its device; the connector keeps its own device if that is in the
 * same subnet, else takes the first that is, else keeps it; then the acceptor does so with
 * the connector's GID. NICs are not merged, so each device has one function.
 */

#include "env_lab.h"

#include "format/cluster_json.h"

/* @devices: per server, its ports in the order of NCCL_IB_HCA */
static struct {
	struct to_plan *plan;
	unsigned int n[16], devices[16][TO_PORTS_MAX], prefix;
} nccl;

/* Ports behind "=mlx5_0:1,mlx5_2:1", as env_lab.h calls the device of port 2 mlx5_2. */
static void nccl_read_devices(unsigned int server, const char *list)
{
	int used;

	nccl.n[server] = 0;
	assert_int_equal(*list++, '=');
	while (sscanf(list, "mlx5_%u:1%n", &nccl.devices[server][nccl.n[server]], &used) == 1) {
		nccl.n[server]++;
		list += used;
		if (*list == ',')
			list++;
	}
	assert_int_equal(*list, '\0');
}

/* Read what toctl job env says on each server; @trees: it may warn of NCCL's trees. */
static void nccl_start(const char *path, bool trees)
{
	const struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct to_error err = { "" };
	struct to_cluster *cluster = to_cluster_load(path, &err);
	struct to_demand *demand;
	unsigned int n;

	assert_string_equal(err.text, "");
	n = cluster->n_servers;
	demand = job_new(n);
	job_group(demand, 0, 1, n, MIB);
	nccl.plan = to_planner_make(cluster, demand, &options, &err);
	assert_string_equal(err.text, "");
	for (unsigned int s = 0; s < n; s++) {
		json_t *variables, *warnings, *warning;
		const char *prefix;
		struct lab lab;
		size_t i;

		lab_start(&lab, nccl.plan, 0, s);
		assert_int_equal(to_env_make(&lab.view, TO_ENV_NCCL, &variables, &warnings, &err), 0);
		json_array_foreach(warnings, i, warning) {
			if (!trees || !strstr(json_string_value(warning), "NCCL connects them for its trees"))
				fail_msg("%s: %s", path, json_string_value(warning));
		}
		assert_string_equal(json_string_value(json_object_get(variables, "NCCL_IB_SUBNET_AWARE_ROUTING")), "1");
		assert_string_equal(json_string_value(json_object_get(variables, "NCCL_IB_MERGE_NICS")), "0");
		prefix = json_string_value(json_object_get(variables, "NCCL_IB_SUBNET_PREFIX_LEN"));
		nccl.prefix = prefix ? atoi(prefix) : 24;
		nccl_read_devices(s, json_string_value(json_object_get(variables, "NCCL_IB_HCA")));
		json_decref(variables);
		json_decref(warnings);
	}
}

static bool nccl_same_subnet(unsigned int s, unsigned int p, unsigned int t, unsigned int q)
{
	const struct to_server *servers = nccl.plan->cluster->servers;

	return !(ntohl(servers[s].ports[p].address.v4.s_addr ^
		       servers[t].ports[q].address.v4.s_addr) >> (32 - nccl.prefix));
}

/* The device of @server, by default number @device, for a peer that offers port @q of @peer. */
static unsigned int nccl_choose(unsigned int server, unsigned int device, unsigned int peer,
				unsigned int q)
{
	if (nccl_same_subnet(server, nccl.devices[server][device], peer, q))
		return device;
	for (unsigned int d = 0; d < nccl.n[server]; d++)
		if (nccl_same_subnet(server, nccl.devices[server][d], peer, q))
			return d;
	return device;
}

static bool nccl_cabled(struct to_port_ref a, struct to_port_ref b)
{
	struct to_port_ref peer;

	return !to_plan_peer(nccl.plan, a, &peer) && peer.server == b.server && peer.port == b.port;
}

/* @from connects to @to by device number @device of both; marks the ports that they use. */
static void nccl_connect(unsigned int from, unsigned int to, unsigned int device, uint64_t *used)
{
	const unsigned int offered = nccl.devices[to][device];
	const unsigned int p = nccl.devices[from][nccl_choose(from, device, to, offered)];
	const unsigned int q = nccl.devices[to][nccl_choose(to, device, from, p)];

	assert_true(nccl_cabled((struct to_port_ref){ from, p }, (struct to_port_ref){ to, q }));
	used[from] |= 1ull << p;
	used[to] |= 1ull << q;
}

/* Channels of both directions around the ring, by all devices. */
static void neighbours_keep_their_cables(const char *path, bool trees)
{
	uint64_t used[16] = {};
	unsigned int n;

	nccl_start(path, trees);
	n = nccl.plan->cluster->n_servers;
	for (unsigned int s = 0; s < n; s++)
		for (unsigned int d = 0; d < nccl.n[s]; d++)
			nccl_connect(s, (s + 1) % n, d, used);
	/* every function carries a part */
	for (unsigned int s = 0; s < n; s++)
		assert_int_equal(used[s], (1ull << nccl.plan->cluster->servers[s].n_ports) - 1);
	for (unsigned int s = 0; s < n; s++)
		for (unsigned int d = 0; d < nccl.n[s]; d++)
			nccl_connect((s + 1) % n, s, d, used);
	to_plan_free(nccl.plan);
}

static void rings_of_cables(void **state)
{
	(void)state;
	neighbours_keep_their_cables("examples/ring-4/cluster.json", true);
	neighbours_keep_their_cables("examples/spark-4/one-domain.json", true);
}

static void rings_of_functions(void **state)
{
	(void)state;
	neighbours_keep_their_cables("examples/spark-3/cluster.json", false);
	neighbours_keep_their_cables("examples/spark-4/cluster.json", true);
	neighbours_keep_their_cables("examples/spark-8/cluster.json", true);
}

/* Addresses that an index numbers, which this test is to notice. */
static void addresses_by_index_do_not(void **state)
{
	unsigned int astray = 0;

	(void)state;
	nccl_start("examples/ring-4/cluster.json", true);
	for (unsigned int s = 0; s < 4; s++)
		for (unsigned int q = 0; q < 2; q++)
			nccl.plan->cluster->servers[s].ports[q].address.v4.s_addr =
				htonl(0x0ac90001 + (q << 16) + s);
	for (unsigned int s = 0; s < 4; s++)
		for (unsigned int d = 0; d < 2; d++) {
			const unsigned int t = (s + 1) % 4, p = nccl_choose(s, d, t, d);

			astray += !nccl_cabled((struct to_port_ref){ s, p },
					       (struct to_port_ref){ t, nccl_choose(t, d, s, p) });
		}
	assert_int_equal(astray, 8);
	to_plan_free(nccl.plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_of_cables),
		cmocka_unit_test(rings_of_functions),
		cmocka_unit_test(addresses_by_index_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
