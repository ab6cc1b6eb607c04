// SPDX-License-Identifier: GPL-2.0-or-later
/* The flow hash and the buckets of a group, against what the kernel module computes. */

#include "job.h"
#include "routing/flow_hash.h"

/* Of topoopt_flow_hash() in kmod/flow.h, seed 0x12345678. */
static void hashes_as_the_module_does(void **state)
{
	const struct to_flow_tuple tuple = {
		.source = 0x0ac80001, .destination = 0x0ac80002, .queue_pair = 0x101,
		.source_port = 49153, .destination_port = 4791, .protocol = IPPROTO_UDP };
	struct to_flow_tuple other = tuple;

	(void)state;
	assert_int_equal(to_flow_hash(&tuple, 0x12345678), 0xd3225ac9);
	assert_int_not_equal(to_flow_hash(&tuple, 0x12345679), 0xd3225ac9);
	other.queue_pair++;
	assert_int_not_equal(to_flow_hash(&other, 0x12345678), 0xd3225ac9);
}

/*
 * Of topoopt_nexthop_deal() in kmod/nexthop.c: interfaces 1, 2 and 3 of weights 1, 2 and 3 to
 * 02:54:4f:00:00:02, :03 and :04.
 */
static const char dealt[] =
	"1102012000112210112021001012221222221221010111110011022102120220"
	"1212110001000020010110200111102110210201012111122022122120000212"
	"2221100212211121121211112222222121111221212211122121212111212222"
	"2212221222211121122222222222222222222222222222222222222222222222";

static void deals_buckets_as_the_module_does(void **state)
{
	struct to_nexthop hops[] = { { .port = 0, .weight = 1 }, { .port = 1, .weight = 2 },
				     { .port = 2, .weight = 3 }, { .port = 1, .weight = 9, .backup = true },
				     { .port = 0, .weight = 9, .ingress = 3 } };
	struct to_group group = { 5, hops };
	struct to_error err;
	struct to_cluster *cluster = to_cluster_synthetic(4, 3, 0, TO_LINKS_DUPLEX, &err);
	struct to_plan plan = { .cluster = cluster, .slots = 4 };
	struct to_link links[3];
	uint8_t buckets[TO_FLOW_BUCKETS];
	unsigned int taken[3] = { 0 };

	(void)state;
	assert_non_null(cluster);
	for (uint32_t i = 0; i < 3; i++) {
		const uint8_t mac[] = { 0x02, 0x54, 0x4f, 0, 0, i + 2 };

		links[i] = (struct to_link){ { 0, i }, { i + 1, 0 }, TO_LINK_FIXED, -1, -1 };
		memcpy(cluster->servers[i + 1].ports[0].relay_mac, mac, sizeof(mac));
	}
	cluster->links = links;
	cluster->n_links = 3;
	assert_int_equal(to_plan_index(&plan), 0);
	to_flow_buckets(&plan, 0, &group, buckets);
	for (unsigned int b = 0; b < TO_FLOW_BUCKETS; b++) {
		assert_int_equal(buckets[b], dealt[b] - '0');
		taken[buckets[b]]++;
	}
	/* 256 / 6, rounded down, and one more for the largest remainder */
	assert_int_equal(taken[0], 43);
	assert_int_equal(taken[1], 85);
	assert_int_equal(taken[2], 128);

	/* a port without a link takes nothing */
	cluster->n_links = 2;
	free(plan.peers);
	plan.peers = NULL;
	assert_int_equal(to_plan_index(&plan), 0);
	to_flow_buckets(&plan, 0, &group, buckets);
	for (unsigned int b = 0; b < TO_FLOW_BUCKETS; b++)
		assert_in_range(buckets[b], 0, 1);
	free(plan.peers);
	cluster->links = NULL;
	cluster->n_links = 0;
	to_cluster_free(cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_as_the_module_does),
		cmocka_unit_test(deals_buckets_as_the_module_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
