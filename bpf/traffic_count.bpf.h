/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_TRAFFIC_COUNT_H
#define TOPOOPT_TRAFFIC_COUNT_H

/*
 * Counters in two epochs. Programs count into the map in slot 0 of
 * traffic_epoch; the reader puts the other map there, and the kernel returns
 * from that update only when no program uses the first any more
 * (maybe_wait_bpf_programs() in kernel/bpf/syscall.c). What the reader then
 * finds in the first is one consistent interval: every packet is in exactly
 * one.
 */

#include "traffic.h"
#include <bpf/bpf_helpers.h>

/* Sized by the reader, which makes the real ones: one per epoch. */
struct traffic_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(struct traffic_key));
	__uint(value_size, sizeof(struct traffic_value));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct traffic_map);
} traffic_epoch SEC(".maps");

/* Packets that found the map full, since the programs were loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct traffic_value);
} traffic_lost SEC(".maps");

static __always_inline __u32 traffic_servers(__u32 src, __u32 dst)
{
	if (src > TRAFFIC_SERVER_NONE)
		src = TRAFFIC_SERVER_NONE;
	if (dst > TRAFFIC_SERVER_NONE)
		dst = TRAFFIC_SERVER_NONE;
	return src << 16 | dst;
}

static __always_inline void traffic_count(const struct traffic_key *key,
					  __u64 packets, __u64 bytes)
{
	const struct traffic_value none = {};
	struct traffic_value *value;
	const __u32 zero = 0;
	void *map;

	map = bpf_map_lookup_elem(&traffic_epoch, &zero);
	if (!map)
		return;
	value = bpf_map_lookup_elem(map, key);
	if (!value) {
		/* Another CPU may have added it meanwhile: just look again. */
		bpf_map_update_elem(map, key, &none, BPF_NOEXIST);
		value = bpf_map_lookup_elem(map, key);
		if (!value)
			value = bpf_map_lookup_elem(&traffic_lost, &zero);
		if (!value)
			return;
	}
	/*
	 * No other program counts on this CPU meanwhile: bottom halves are
	 * off, and under PREEMPT_RT the kernel refuses to nest the program
	 * and says how often (recursion_misses).
	 */
	value->packets += packets;
	value->bytes += bytes;
}

#endif
