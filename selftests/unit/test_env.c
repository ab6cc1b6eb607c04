// SPDX-License-Identifier: GPL-2.0-or-later
/* The environment of clients on a server whose ports and RDMA devices are known. */

#include <arpa/inet.h>
#include <errno.h>

#include "env_lab.h"
#include "topology/switched.h"

static int lab_make(struct lab *lab, enum to_env_client client)
{
	size_t length = 0, i;
	json_t *variables, *warnings, *value;
	const char *key;
	int ret = to_env_make(&lab->view, client, &variables, &warnings, &lab->err);

	lab->text[0] = '\0';
	if (ret)
		return ret;
	json_object_foreach(variables, key, value)
		length += snprintf(lab->text + length, sizeof(lab->text) - length, "%s=%s\n", key,
				   json_string_value(value));
	json_array_foreach(warnings, i, value)
		length += snprintf(lab->text + length, sizeof(lab->text) - length, "! %s\n",
				   json_string_value(value));
	json_decref(variables);
	json_decref(warnings);
	return 0;
}

#define MIXED \
	"! subnets do not tell the cables apart: NCCL may relay what a cable could carry; "
#define MOVING "links move behind an optical switch, and ports keep their addresses\n"
#define NO_CABLE " has no cable: NCCL connects them for its trees when it starts; relayed\n"
#define NCCL_RING_OF_FOUR(merge) \
	"NCCL_SOCKET_IFNAME==topo0\n" \
	"NCCL_IB_HCA==mlx5_0:1,mlx5_1:1\n" \
	"NCCL_IB_GID_INDEX=3\n" \
	"NCCL_IB_MERGE_NICS=" merge "\n" \
	"NCCL_IB_SUBNET_AWARE_ROUTING=1\n" \
	"NCCL_ALGO=Ring\n" \
	"! s0 - s2" NO_CABLE

/* Where /24s are too wide, NCCL is told how wide; where no width does, how to renumber. */
static void nccl_subnets(void **state)
{
	struct to_error err = { "" };
	struct to_address *address;
	struct lab lab;

	(void)state;
	lab_start(&lab, ring_of_four(true, &err), 0, 0);
	lab.plan->cluster->n_switches = 0;
	for (unsigned int s = 0; s < 4; s++)
		for (unsigned int q = 0; q < 2; q++) {
			address = &lab.plan->cluster->servers[s].ports[q].address;
			/* 10.201.k.1 and .2 become two of /30 number k of one /24 */
			address->v4.s_addr = htonl(0x0ac90000 | (ntohl(address->v4.s_addr) & 3) |
						   (ntohl(address->v4.s_addr) >> 6 & 0x0c));
		}
	assert_int_equal(lab_make(&lab, TO_ENV_NCCL), 0);
	assert_non_null(strstr(lab.text, "NCCL_IB_SUBNET_PREFIX_LEN=30\n"));
	assert_null(strstr(lab.text, "subnets"));
	lab.plan->cluster->servers[2].ports[0].address.has_v4 = false;
	assert_int_equal(lab_make(&lab, TO_ENV_NCCL), 0);
	assert_null(strstr(lab.text, "NCCL_IB_SUBNET_PREFIX_LEN"));
	assert_non_null(strstr(lab.text, MIXED "toctl init --renumber cluster.json -o renumbered.json, then plan by that\n"));
	to_plan_free(lab.plan);
}

static void nccl_ring(void **state)
{
	struct lab lab;

	(void)state;
	for (unsigned int crossed = 0; crossed < 2; crossed++) {
		struct to_error err = { "" };

		lab_start(&lab, ring_of_four(crossed, &err), 0, 0);
		assert_int_equal(lab_make(&lab, TO_ENV_NCCL), 0);
		assert_string_equal(lab.text, crossed ? NCCL_RING_OF_FOUR("0") :
							NCCL_RING_OF_FOUR("1"));
		to_plan_free(lab.plan);
	}
}

static struct to_plan *prototype(void)
{
	struct to_demand *demand = job_new(12);
	struct to_error err = { "" };

	job_group(demand, 0, 1, 12, 100 * MIB);
	return job_plan(demand, 4, TO_LINKS_DUPLEX, &err);
}

static void nccl_prototype(void **state)
{
	struct lab lab;

	(void)state;
	lab_start(&lab, prototype(), 1, 3);
	assert_int_equal(lab_make(&lab, TO_ENV_NCCL), 0);
	/* of four devices those on the cables to s8 and s10, its neighbours on ring 1 */
	assert_string_equal(lab.text,
		"NCCL_SOCKET_IFNAME==topo0\n"
		"NCCL_IB_HCA==mlx5_2:1,mlx5_3:1\n"
		"NCCL_IB_GID_INDEX=3\n"
		"NCCL_IB_MERGE_NICS=0\n"
		"NCCL_IB_SUBNET_AWARE_ROUTING=1\n"
		"NCCL_ALGO=Ring\n" MIXED MOVING
		"! NCCL has one order of ranks for a communicator: 1 of the group's 2 rings stay "
		"idle unless each has one of its own, with ranks in its order\n"
		"! s3 - s5" NO_CABLE "! s3 - s11" NO_CABLE "! s3 - s7" NO_CABLE);
	to_plan_free(lab.plan);
}

static void ucx_ring(void **state)
{
	struct to_error err = { "" };
	struct lab lab;

	(void)state;
	lab_start(&lab, ring_of_four(true, &err), 0, 0);
	assert_int_equal(lab_make(&lab, TO_ENV_UCX), 0);
	assert_string_equal(lab.text,
		"UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1\n"
		"UCX_IB_GID_INDEX=3\n"
		"UCX_TLS=rc,sm,self\n"
		"UCX_MAX_RNDV_RAILS=1\n"
		"UCX_IB_ROCE_REACHABILITY_MODE=route\n"
		"UCX_UD_VERBS_ETH_DGID_CHECK=n\n"
		"! UCX takes devices by their speed, not by the peer at their cables: "
		"connections may leave by another port; relayed\n"
		"! UCX before 1.19 does not know UCX_IB_ROCE_REACHABILITY_MODE, and does not need it\n");
	to_plan_free(lab.plan);
}

static void dark_port(void **state)
{
	struct lab lab;

	(void)state;
	lab_start(&lab, prototype(), 0, 3);
	lab.ports[0].carrier = false;
	lab.ports[0].rdma.device[0] = '\0';
	assert_int_equal(lab_make(&lab, TO_ENV_NCCL), 0);
	assert_non_null(strstr(lab.text, "NCCL_IB_HCA==mlx5_1:1\n"));
	assert_int_equal(lab_make(&lab, TO_ENV_UCX), 0);
	assert_non_null(strstr(lab.text, "UCX_NET_DEVICES=mlx5_1:1,mlx5_2:1,mlx5_3:1\n"));
	for (unsigned int p = 0; p < 4; p++)
		lab.ports[p].carrier = false;
	assert_int_equal(lab_make(&lab, TO_ENV_NCCL), -ENODEV);
	assert_string_equal(lab.err.text, "s3: no port has carrier and a link");
	assert_int_equal(lab_make(&lab, TO_ENV_OPENMPI), 0);
	to_plan_free(lab.plan);
}

static void devices_and_gids(void **state)
{
	struct lab lab;

	(void)state;
	lab_start(&lab, prototype(), 0, 3);
	lab.ports[1].rdma.gid = 5;
	/* 10.201.0.4 and 10.202.0.4: in 10.200.0.0/14, as is the node's 10.200.0.4 */
	assert_int_equal(lab_make(&lab, TO_ENV_NCCL), -ENOTSUP);
	assert_int_equal(lab_make(&lab, TO_ENV_UCX), -ENOTSUP);
	lab.plan->cluster->servers[3].address.v4.s_addr = htonl(0xac100004);
	assert_int_equal(lab_make(&lab, TO_ENV_NCCL), 0);
	assert_null(strstr(lab.text, "NCCL_IB_GID_INDEX"));
	assert_non_null(strstr(lab.text, "NCCL_IB_ADDR_RANGE=10.200.0.0/14\n"));
	assert_null(strstr(lab.text, "NCCL before"));
	lab.view.version = 22000;
	assert_int_equal(lab_make(&lab, TO_ENV_NCCL), 0);
	assert_non_null(strstr(lab.text, "! the ports' GIDs have different indices: NCCL before 2.21"));
	assert_non_null(strstr(lab.text, "! NCCL before 2.30.7 does not know NCCL_IB_SUBNET_AWARE_ROUTING"));
	lab.ports[1].rdma.gid = -1;
	assert_int_equal(lab_make(&lab, TO_ENV_NCCL), -ENODEV);
	assert_string_equal(lab.err.text, "s3: mlx5_1 of eth1 has no RoCEv2 GID of the port's "
					  "address: toctl apply sets the address");
	lab.ports[1].rdma.device[0] = '\0';
	assert_int_equal(lab_make(&lab, TO_ENV_UCX), -ENODEV);
	assert_non_null(strstr(lab.err.text, "s3: eth1 has no RDMA device: "));
	to_plan_free(lab.plan);
}

static void other_clients(void **state)
{
	struct lab lab;

	(void)state;
	lab_start(&lab, prototype(), 1, 8);
	assert_int_equal(lab_make(&lab, TO_ENV_TORCHRUN), 0);
	assert_non_null(strstr(lab.text, "PET_NNODES=12\nPET_NODE_RANK=4\n"
					 "PET_MASTER_ADDR=10.200.0.1\nPET_MASTER_PORT=29500\n"
					 "GLOO_SOCKET_IFNAME=topo0\n"));
	assert_int_equal(lab_make(&lab, TO_ENV_OPENMPI), 0);
	assert_non_null(strstr(lab.text, "OMPI_MCA_btl_tcp_if_include=topo0\n"));
	assert_non_null(strstr(lab.text, "OMPI_MCA_coll_tuned_allreduce_algorithm=4\n"));
	assert_null(strstr(lab.text, "cable"));
	to_plan_free(lab.plan);
}

/* On rails all ports lead to the neighbours; a BCube's do to those of one digit. */
static void packet_switches(void **state)
{
	static const char *const devices[] = { "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1\n", "NCCL_IB_HCA==mlx5_0:1\n" };
	const struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct lab lab;

	(void)state;
	for (unsigned int tor = 0; tor < 2; tor++) {
		struct to_error err = { "" };
		struct to_cluster *c = to_cluster_synthetic(4, 2, 0, TO_LINKS_DUPLEX, &err);
		struct to_demand *demand = job_new(4);

		job_group(demand, 0, 1, 4, MIB);
		assert_int_equal(to_switched_rails(c, &err), 0);
		/* without a rail for it, a port is no way to anybody */
		for (unsigned int s = 0; tor && s < 4; s++)
			c->servers[s].ports[1].packet_switch = 0;
		lab_start(&lab, to_planner_make(c, demand, &options, &err), TO_RANKS_NONE, 0);
		assert_int_equal(lab_make(&lab, TO_ENV_NCCL), 0);
		assert_non_null(strstr(lab.text, devices[tor]));
		assert_null(strstr(lab.text, "no cable"));
		assert_null(strstr(lab.text, "subnet"));
		lab.plan->cluster->servers[lab.ranks.order[1]].ports[0].address.v4.s_addr ^= htonl(0x100);
		lab.plan->cluster->servers[0].ports[0].address.v4.s_addr ^= htonl(0x200);
		assert_int_equal(lab_make(&lab, TO_ENV_NCCL), 0);
		assert_non_null(strstr(lab.text, MIXED));
		to_plan_free(lab.plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packet_switches),
		cmocka_unit_test(nccl_ring),
		cmocka_unit_test(nccl_subnets),
		cmocka_unit_test(nccl_prototype),
		cmocka_unit_test(ucx_ring),
		cmocka_unit_test(dark_port),
		cmocka_unit_test(devices_and_gids),
		cmocka_unit_test(other_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
