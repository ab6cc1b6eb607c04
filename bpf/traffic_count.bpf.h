/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_TRAFFIC_COUNT_H
#define TOPOOPT_TRAFFIC_COUNT_H

/*
 * Counters in two epochs: programs count into one while the reader empties the
 * other (tools/lib/measure/epochs.h). Every packet is in exactly one.
 *
 * Each CPU has an array of cells for either epoch. A key has one place there,
 * by a hash; the first key that comes in an epoch has the cell, so that nearly
 * all packets are counted with one comparison. Keys that find theirs taken go
 * to a hash map.
 */

#include "traffic.h"
#include <bpf/bpf_helpers.h>

/* Shared with the reader, as are the cells. */
volatile struct traffic_state traffic_state SEC(".data.traffic");

/* [CPU][epoch][cell]; sized by the reader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct traffic_cell);
} traffic_cells SEC(".maps");

/* Sized by the reader. */
struct traffic_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1);
	__type(key, struct traffic_key);
	__type(value, struct traffic_value);
} traffic_pairs0 SEC(".maps"), traffic_pairs1 SEC(".maps");

/* By epoch. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct traffic_map);
} traffic_pairs SEC(".maps") = {
	.values = { &traffic_pairs0, &traffic_pairs1 },
};

/* Packets that found both full, since the programs were loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct traffic_value);
} traffic_lost SEC(".maps");

static __noinline int traffic_count_pair(__u64 ports, __u64 pair, __u64 packets,
					 __u64 bytes)
{
	const __u32 epoch = traffic_state.start > 0;
	const struct traffic_key key = { .ports = ports, .pair = pair };
	const struct traffic_value none = {};
	struct traffic_value *value;
	const __u32 zero = 0;
	void *map;

	map = bpf_map_lookup_elem(&traffic_pairs, &epoch);
	if (!map)
		return 0;
	/* Read by all CPUs for every packet, so written once. */
	if (!traffic_state.crowded)
		traffic_state.crowded = 1;
	value = bpf_map_lookup_elem(map, &key);
	if (!value) {
		/* Another CPU may have added it meanwhile: just look again. */
		bpf_map_update_elem(map, &key, &none, BPF_NOEXIST);
		value = bpf_map_lookup_elem(map, &key);
		if (!value)
			value = bpf_map_lookup_elem(&traffic_lost, &zero);
		if (!value)
			return 0;
	}
	value->packets += packets;
	value->bytes += bytes;
	return 0;
}

/* Whether anybody reads; check before traffic_count() where that is not certain. */
static __always_inline bool traffic_counting(void)
{
	return traffic_state.stride;
}

/*
 * Count a packet, or a GSO packet as its segments: @packet has its key and
 * what it adds.
 *
 * With bottom halves off, so that no other program counts on this CPU
 * meanwhile. @packet is read where it is needed: values kept in registers over
 * a call are saved and restored for every packet.
 */
static __always_inline void
traffic_count(const volatile struct traffic_cell *packet)
{
	__u32 index = bpf_get_smp_processor_id();
	struct traffic_cell *cell;
	__u64 hash;

	/* Multiples of the golden ratio: servers in a row get cells of their own. */
	hash = (packet->key.pair + packet->key.ports) * 0x9e3779b97f4a7c15;
	index = index * traffic_state.stride + traffic_state.start +
		(hash >> traffic_state.shift);
	cell = bpf_map_lookup_elem(&traffic_cells, &index);
	if (!cell)
		return;
	if (cell->key.ports != packet->key.ports ||
	    cell->key.pair != packet->key.pair) {
		if (cell->key.ports) {
			traffic_count_pair(packet->key.ports, packet->key.pair,
					   packet->value.packets,
					   packet->value.bytes);
			return;
		}
		cell->key.ports = packet->key.ports;
		cell->key.pair = packet->key.pair;
	}
	cell->value.packets += packet->value.packets;
	cell->value.bytes += packet->value.bytes;
}

#endif
