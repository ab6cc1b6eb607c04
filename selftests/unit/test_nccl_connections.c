// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * By what toctl job env tells NCCL, connections to neighbours stay on the cables between them.
 *
 * NCCL's choice of devices is modelled after src/transport/net_ib/connect.cc (2.30.7). The
 * listener offers the GIDs of its device's functions, two at most. The connector keeps its own
 * device if all functions of that device are in a subnet of these GIDs, else takes the first
 * device of which this is true, else keeps its own. The acceptor then chooses in the same way,
 * by the GIDs of the connector's device.
 *
 * Devices are the functions, and after them the merged ones: with NCCL_IB_MERGE_NICS=1, the
 * functions of one PCI device, as which a PCIe link stands here. Channels begin with these.
 */

#include "env_lab.h"

#include <glob.h>

#include "format/cluster_json.h"

#define SERVERS 16
#define FUNCTIONS 8	/* per server */
#define OFFERED 2	/* ncclIbHandle.listenGids */

/* @ports: of its functions */
struct device {
	unsigned int n, ports[FUNCTIONS];
};

/*
 * @functions: per server, the ports in NCCL_IB_HCA, @n_functions of them
 * @devices: per server, those of single functions and then the merged ones
 * @first: device of the first channel
 */
static struct {
	struct to_plan *plan;
	unsigned int prefix, n_functions, functions[SERVERS][FUNCTIONS];
	bool merge;
	unsigned int first, n_devices;
	struct device devices[SERVERS][2 * FUNCTIONS];
} nccl;

static const struct to_port *nccl_port(unsigned int server, unsigned int p)
{
	return &nccl.plan->cluster->servers[server].ports[p];
}

/* Ports behind "=mlx5_0:1,mlx5_2:1", as env_lab.h calls the device of port 2 mlx5_2. */
static void nccl_read_functions(unsigned int server, const char *list)
{
	unsigned int n = 0;
	int used;

	assert_int_equal(*list++, '=');
	while (n < FUNCTIONS && sscanf(list, "mlx5_%u:1%n", &nccl.functions[server][n], &used) == 1) {
		n++;
		list += used;
		if (*list == ',')
			list++;
	}
	assert_int_equal(*list, '\0');
	assert_true(!server || n == nccl.n_functions);
	nccl.n_functions = n;
}

static void nccl_plan(struct to_cluster *cluster)
{
	const struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct to_demand *demand = job_new(cluster->n_servers);
	struct to_error err = { "" };

	assert_in_range(cluster->n_servers, 2, SERVERS);
	job_group(demand, 0, 1, cluster->n_servers, MIB);
	nccl.plan = to_planner_make(cluster, demand, &options, &err);
	assert_string_equal(err.text, "");
}

static struct to_cluster *nccl_cluster(const char *path)
{
	struct to_error err = { "" };
	struct to_cluster *cluster = to_cluster_load(path, &err);

	assert_string_equal(err.text, "");
	return cluster;
}

/* Read what toctl job env says on each server; how many warnings have @warned in them? */
static unsigned int nccl_read(const char *warned)
{
	unsigned int found = 0;

	for (unsigned int s = 0; s < nccl.plan->cluster->n_servers; s++) {
		json_t *variables, *warnings, *warning;
		struct to_error err = { "" };
		const char *prefix;
		struct lab lab;
		size_t i;

		lab_start(&lab, nccl.plan, 0, s);
		assert_int_equal(to_env_make(&lab.view, TO_ENV_NCCL, &variables, &warnings, &err), 0);
		json_array_foreach(warnings, i, warning) {
			if (strstr(json_string_value(warning), warned))
				found++;
			else if (!strstr(json_string_value(warning), "NCCL connects them for its trees"))
				fail_msg("%s", json_string_value(warning));
		}
		assert_string_equal(json_string_value(json_object_get(variables, "NCCL_IB_SUBNET_AWARE_ROUTING")), "1");
		nccl.merge = !strcmp(json_string_value(json_object_get(variables, "NCCL_IB_MERGE_NICS")), "1");
		prefix = json_string_value(json_object_get(variables, "NCCL_IB_SUBNET_PREFIX_LEN"));
		nccl.prefix = prefix ? atoi(prefix) : 24;
		nccl_read_functions(s, json_string_value(json_object_get(variables, "NCCL_IB_HCA")));
		json_decref(variables);
		json_decref(warnings);
	}
	return found;
}

/* Add device @single of @server to the merged one of its PCI device. */
static void nccl_merge(unsigned int server, unsigned int single)
{
	struct device *devices = nccl.devices[server];
	const unsigned int p = devices[single].ports[0];
	unsigned int d = nccl.n_functions;

	while (d < nccl.n_devices &&
	       nccl_port(server, devices[d].ports[0])->pcie != nccl_port(server, p)->pcie)
		d++;
	if (d == nccl.n_devices)
		devices[nccl.n_devices++] = (struct device){};
	devices[d].ports[devices[d].n++] = p;
}

/* Make the devices of all servers, the functions in @order. */
static void nccl_start(const unsigned int *order)
{
	const unsigned int n = nccl.n_functions;

	for (unsigned int s = 0; s < nccl.plan->cluster->n_servers; s++) {
		nccl.n_devices = n;
		for (unsigned int d = 0; d < n; d++)
			nccl.devices[s][d] = (struct device){ 1, { nccl.functions[s][order[d]] } };
		for (unsigned int d = 0; nccl.merge && d < n; d++)
			nccl_merge(s, d);
	}
	nccl.first = nccl.merge ? n : 0;
}

/* Whether all functions of a device of @server share a subnet with one of @n ports of @peer. */
static bool nccl_matches(unsigned int server, const struct device *device, unsigned int peer,
			 const unsigned int *ports, unsigned int n)
{
	for (unsigned int i = 0; i < device->n; i++) {
		const uint32_t own = ntohl(nccl_port(server, device->ports[i])->address.v4.s_addr);
		bool shared = false;

		for (unsigned int k = 0; k < n; k++)
			shared |= !((own ^ ntohl(nccl_port(peer, ports[k])->address.v4.s_addr)) >>
				    (32 - nccl.prefix));
		if (!shared)
			return false;
	}
	return true;
}

/* The device of @server, by default @device, for @peer, which offers GIDs of @n ports. */
static const struct device *nccl_choose(unsigned int server, const struct device *device,
					unsigned int peer, const unsigned int *ports, unsigned int n)
{
	if (nccl_matches(server, device, peer, ports, n))
		return device;
	for (unsigned int d = 0; d < nccl.n_devices; d++)
		if (nccl_matches(server, &nccl.devices[server][d], peer, ports, n))
			return &nccl.devices[server][d];
	return device;
}

static bool nccl_cabled(struct to_port_ref a, struct to_port_ref b)
{
	struct to_port_ref peer;

	return !to_plan_peer(nccl.plan, a, &peer) && peer.server == b.server && peer.port == b.port;
}

/*
 * Connect @from to @to by their devices number @device, and mark the ports that queue pairs
 * use. Return how many queue pairs are on no cable.
 */
static unsigned int nccl_connect(unsigned int from, unsigned int to, unsigned int device,
				 uint64_t *used)
{
	const struct device *here = &nccl.devices[from][device], *there = &nccl.devices[to][device];
	unsigned int n = there->n < OFFERED ? there->n : OFFERED, astray = 0;

	here = nccl_choose(from, here, to, there->ports, n);
	there = nccl_choose(to, there, from, here->ports, here->n);
	n = here->n > there->n ? here->n : there->n;
	for (unsigned int i = 0; i < n; i++) {
		const struct to_port_ref a = { from, here->ports[i % here->n] };
		const struct to_port_ref b = { to, there->ports[i % there->n] };

		astray += !nccl_cabled(a, b);
		used[from] |= 1ull << a.port;
		used[to] |= 1ull << b.port;
	}
	return astray;
}

/* Channels around the ring by all devices; return how many queue pairs are on no cable. */
static unsigned int nccl_ring(bool backwards)
{
	const unsigned int n = nccl.plan->cluster->n_servers;
	unsigned int astray = 0;
	uint64_t used[SERVERS] = {};

	for (unsigned int s = 0; s < n; s++)
		for (unsigned int d = nccl.first; d < nccl.n_devices; d++)
			astray += backwards ? nccl_connect((s + 1) % n, s, d, used) :
					      nccl_connect(s, (s + 1) % n, d, used);
	/* every function carries a part */
	for (unsigned int s = 0; s < n && !astray; s++)
		assert_int_equal(used[s], (1ull << nccl.plan->cluster->servers[s].n_ports) - 1);
	return astray;
}

/* All orders of functions: NCCL's is that of PCI addresses, or the driver's. */
static void all_orders_keep_cables(unsigned int *order, unsigned int n)
{
	if (n == nccl.n_functions) {
		nccl_start(order);
		assert_int_equal(nccl_ring(false), 0);
		assert_int_equal(nccl_ring(true), 0);
	}
	for (unsigned int next = 0; next < nccl.n_functions; next++) {
		bool there = false;

		for (unsigned int i = 0; i < n; i++)
			there |= order[i] == next;
		order[n] = next;
		if (!there)
			all_orders_keep_cables(order, n + 1);
	}
}

static const char *const rings[] = {
	"examples/ring-4/cluster.json",
	"examples/spark-2/cluster.json",
	"examples/spark-3/cluster.json",
	"examples/spark-4-relay/cluster.json",
	"examples/spark-4/cluster.json",
	"examples/spark-4/one-domain.json",
	"examples/spark-4/straight.json",
	"examples/spark-8/cluster.json",
};

#define RINGS (sizeof(rings) / sizeof(*rings))

static void neighbours_keep_their_cables(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RINGS; i++) {
		unsigned int order[FUNCTIONS + 1];

		print_message("%s\n", rings[i]);
		nccl_plan(nccl_cluster(rings[i]));
		assert_int_equal(nccl_read("GID"), 0);
		assert_int_equal(nccl.merge, !!strstr(rings[i], "straight"));
		assert_int_equal(nccl.n_functions, nccl.plan->cluster->servers[0].n_ports);
		all_orders_keep_cables(order, 0);
		to_plan_free(nccl.plan);
	}
}

static void every_example_is_there(void **state)
{
	glob_t found;

	(void)state;
	assert_int_equal(glob("examples/ring-*/cluster.json", 0, NULL, &found), 0);
	assert_int_equal(glob("examples/spark-*/*.json", GLOB_APPEND, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, RINGS);
	for (unsigned int i = 0; i < RINGS; i++)
		assert_string_equal(found.gl_pathv[i], rings[i]);
	globfree(&found);
}

/* Addresses that an index numbers, which this test is to notice. */
static void addresses_by_index_do_not(void **state)
{
	(void)state;
	nccl_plan(nccl_cluster("examples/ring-4/cluster.json"));
	nccl_read("GID");
	for (unsigned int s = 0; s < 4; s++)
		for (unsigned int q = 0; q < 2; q++)
			nccl.plan->cluster->servers[s].ports[q].address.v4.s_addr =
				htonl(0x0ac90001 + (q << 16) + s);
	nccl_start((const unsigned int[]){ 0, 1 });
	assert_int_equal(nccl_ring(false), 8);
	to_plan_free(nccl.plan);
}

/* With a PCI device of four functions, two of the four GIDs are offered, and job env says so. */
static void four_of_a_device_do_not(void **state)
{
	struct to_cluster *cluster = nccl_cluster("examples/spark-4/straight.json");

	(void)state;
	for (unsigned int s = 0; s < 4; s++)
		for (unsigned int q = 0; q < 4; q++)
			cluster->servers[s].ports[q].pcie = 0;
	nccl_plan(cluster);
	assert_int_equal(nccl_read("two GIDs of a merged device: connections by the others of its 4 ports"), 4);
	nccl_start((const unsigned int[]){ 0, 1, 2, 3 });
	assert_true(nccl_ring(false) > 0);
	to_plan_free(nccl.plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_keep_their_cables),
		cmocka_unit_test(every_example_is_there),
		cmocka_unit_test(addresses_by_index_do_not),
		cmocka_unit_test(four_of_a_device_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
