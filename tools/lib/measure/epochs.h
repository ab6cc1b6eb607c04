/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_EPOCHS_H
#define TOPOOPT_EPOCHS_H

/*
 * The counters of BPF programs that include bpf/traffic_count.bpf.h, read one
 * epoch at a time.
 *
 *	to_epochs_prepare()	before the object is loaded
 *	to_epochs_open()	then; programs count from here on
 *	to_epochs_turn()	ends the epoch; its counters
 */

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct bpf_object;
struct traffic_cell;
struct traffic_key;
struct traffic_state;
struct traffic_value;

/**
 * struct to_epochs - counters of one object's programs
 * @state: shared with the programs, as are @cells
 * @pairs_map: holds @pairs, the hash maps of the epochs
 * @lost_packets, @lost_bytes: of earlier epochs
 * @keys, @values: of a batch; a value per possible CPU
 */
struct to_epochs {
	volatile struct traffic_state *state;
	struct traffic_cell *cells;
	size_t cells_size;
	int pairs_map, pairs[2], lost_map;
	unsigned int n_cpus;
	uint64_t lost_packets, lost_bytes;
	struct traffic_key *keys;
	struct traffic_value *values;
};

/**
 * to_epochs_prepare() - size the maps of an object that is open, not loaded
 * @entries: keys that one epoch can hold
 *
 * Return: 0 or a negative errno.
 */
int to_epochs_prepare(struct bpf_object *obj, uint32_t entries);

/**
 * to_epochs_open() - let the programs of a loaded object count
 * @entries: as for to_epochs_prepare()
 *
 * Return: 0, or a negative errno with @err; to_epochs_close() in either case.
 */
int to_epochs_open(struct to_epochs *epochs, const struct bpf_object *obj,
		   uint32_t entries, struct to_error *err);
void to_epochs_close(struct to_epochs *epochs);

typedef int to_epochs_fn(const struct traffic_key *key,
			 const struct traffic_value *value, void *arg);

/**
 * to_epochs_turn() - end the epoch and read it
 * @fn: called for every key, for some more than once with parts of the value
 * @lost: gets the packets that found no room
 *
 * The next epoch starts in the same instant. Waits until no program counts into
 * the old one any more (RCU).
 *
 * Return: 0, what @fn returned, or a negative errno with @err.
 */
int to_epochs_turn(struct to_epochs *epochs, to_epochs_fn *fn, void *arg,
		   struct traffic_value *lost, struct to_error *err);

#endif
