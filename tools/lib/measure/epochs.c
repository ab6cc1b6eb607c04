// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/epochs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../bpf/traffic.h"

#define BATCH 1024

/* Cells per CPU and epoch, unless fewer keys are to be held: 64 KiB. */
#define CELLS 2048

/* Not many more than @entries, and no less than a shift of 63 bits tells apart. */
static uint32_t epochs_cells_for(uint32_t entries)
{
	uint32_t cells = CELLS;

	while (cells > entries && cells > 2)
		cells /= 2;
	return cells;
}

int to_epochs_prepare(struct bpf_object *obj, uint32_t entries)
{
	const int n_cpus = libbpf_num_possible_cpus();
	static const char *const names[] = { "traffic_pairs0", "traffic_pairs1" };
	int ret;

	if (n_cpus < 0)
		return n_cpus;
	ret = bpf_map__set_max_entries(bpf_object__find_map_by_name(obj, "traffic_cells"),
				       2 * n_cpus * epochs_cells_for(entries));
	for (int i = 0; !ret && i < 2; i++)
		ret = bpf_map__set_max_entries(bpf_object__find_map_by_name(obj, names[i]),
					       entries);
	return ret;
}

static void *epochs_map_memory(const struct bpf_object *obj, const char *name, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			    bpf_object__find_map_fd_by_name(obj, name), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int to_epochs_open(struct to_epochs *e, const struct bpf_object *obj,
		   uint32_t entries, struct to_error *err)
{
	const uint32_t cells = epochs_cells_for(entries);

	*e = (struct to_epochs){
		.n_cpus = libbpf_num_possible_cpus(),
		.pairs_map = bpf_object__find_map_fd_by_name(obj, "traffic_pairs"),
		.pairs[0] = bpf_object__find_map_fd_by_name(obj, "traffic_pairs0"),
		.pairs[1] = bpf_object__find_map_fd_by_name(obj, "traffic_pairs1"),
		.lost_map = bpf_object__find_map_fd_by_name(obj, "traffic_lost"),
	};
	e->cells_size = 2ul * e->n_cpus * cells * sizeof(*e->cells);
	e->state = epochs_map_memory(obj, ".data.traffic", sizeof(*e->state));
	e->cells = e->state ? epochs_map_memory(obj, "traffic_cells", e->cells_size) : NULL;
	if (!e->cells)
		return to_error_set(err, -errno, "mapping the counters: %s",
				    strerror(errno));
	e->keys = calloc(BATCH, sizeof(*e->keys));
	e->values = calloc(BATCH, e->n_cpus * sizeof(*e->values));
	if (!e->keys || !e->values)
		return to_error_set(err, -ENOMEM, "out of memory");
	e->state->shift = 64 - __builtin_ctz(cells);
	e->state->stride = 2 * cells;
	return 0;
}

void to_epochs_close(struct to_epochs *e)
{
	if (e->state) {
		e->state->stride = 0;
		munmap((void *)e->state, sizeof(*e->state));
	}
	if (e->cells)
		munmap(e->cells, e->cells_size);
	free(e->keys);
	free(e->values);
	*e = (struct to_epochs){};
}

static struct traffic_value epochs_sum(const struct to_epochs *e,
				       const struct traffic_value *values)
{
	struct traffic_value sum = {};

	for (unsigned int cpu = 0; cpu < e->n_cpus; cpu++) {
		sum.packets += values[cpu].packets;
		sum.bytes += values[cpu].bytes;
	}
	return sum;
}

/* Empty the cells of an epoch that no program uses. */
static int epochs_drain_cells(struct to_epochs *e, uint32_t epoch, to_epochs_fn *fn, void *arg)
{
	const uint32_t cells = e->state->stride / 2;

	for (unsigned int cpu = 0; cpu < e->n_cpus; cpu++) {
		struct traffic_cell *row = e->cells + (size_t)(2 * cpu + epoch) * cells;

		for (uint32_t i = 0; i < cells; i++) {
			int ret;

			if (!row[i].key.ports)
				continue;
			ret = fn(&row[i].key, &row[i].value, arg);
			if (ret)
				return ret;
			memset(&row[i], 0, sizeof(row[i]));
		}
	}
	return 0;
}

/* Walking the map takes as long as it has room, so not for nothing. */
static int epochs_drain_pairs(struct to_epochs *e, int map, to_epochs_fn *fn, void *arg)
{
	uint32_t position, count;
	bool first = true;
	int ret;

	if (!e->state->crowded)
		return 0;
	do {
		count = BATCH;
		ret = bpf_map_lookup_and_delete_batch(map, first ? NULL : &position,
						      &position, e->keys, e->values,
						      &count, NULL);
		if (ret && ret != -ENOENT)	/* which ends it */
			return ret;
		first = false;
		for (uint32_t i = 0; i < count; i++) {
			struct traffic_value value =
				epochs_sum(e, e->values + (size_t)i * e->n_cpus);
			int code = fn(&e->keys[i], &value, arg);

			if (code)
				return code;
		}
	} while (!ret);
	return 0;
}

int to_epochs_turn(struct to_epochs *e, to_epochs_fn *fn, void *arg,
		   struct traffic_value *lost, struct to_error *err)
{
	const uint32_t zero = 0, old = e->state->start > 0;
	struct traffic_value value;
	int ret;

	e->state->start = old ? 0 : e->state->stride / 2;
	/*
	 * Programs that read the epoch before may still count into the old one.
	 * The kernel returns from a change of a map of maps only when no program
	 * runs any more that might use what was there, so put there what is
	 * there (maybe_wait_bpf_programs() in kernel/bpf/syscall.c).
	 */
	if (bpf_map_update_elem(e->pairs_map, &old, &e->pairs[old], BPF_ANY))
		return to_error_set(err, -errno, "starting an epoch: %s", strerror(errno));
	ret = epochs_drain_cells(e, old, fn, arg);
	ret = ret ? ret : epochs_drain_pairs(e, e->pairs[old], fn, arg);
	ret = ret ? ret : bpf_map_lookup_elem(e->lost_map, &zero, e->values);
	if (ret)
		return to_error_set(err, ret, "reading the counters: %s", strerror(-ret));
	value = epochs_sum(e, e->values);
	lost->packets = value.packets - e->lost_packets;
	lost->bytes = value.bytes - e->lost_bytes;
	e->lost_packets = value.packets;
	e->lost_bytes = value.bytes;
	return 0;
}
