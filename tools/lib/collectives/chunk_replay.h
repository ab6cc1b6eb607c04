/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHUNK_REPLAY_H
#define TOPOOPT_CHUNK_REPLAY_H

/*
 * A schedule on ranks that do not keep pace: Themis section 4.6. In a dimension, the ranks
 * that differ in its digit work on a chunk together, and each of them on one chunk at a
 * time: who is there first waits for the others. Ranks that choose by what they have ready
 * can wait for each other for ever; those that keep to one order cannot.
 */

#include "collectives/chunk_run.h"

#define TO_CHUNK_REPLAY_MAX (1u << 21)	/* ranks times stages */

/**
 * struct to_chunk_replay - how it goes
 * @jitter_ps: a rank begins, and has each further stage ready, later by up to this; drawn
 *	by @seed
 * @ordered: ranks keep to the order of the run; else each takes what it has ready
 * @ps: when the last rank was done, or nobody could go on
 * @left: stages of ranks that were never sent: more than 0 in a deadlock
 * @waits: what the first of them waits for, in words
 */
struct to_chunk_replay {
	uint64_t jitter_ps, seed;
	bool ordered;
	uint64_t ps, left;
	char waits[200];
};

/**
 * to_chunk_replay() - play @run of @s on all ranks
 *
 * Return: 0, also for a deadlock; -E2BIG beyond TO_CHUNK_REPLAY_MAX; -ENOMEM.
 */
int to_chunk_replay(const struct to_chunk_schedule *s, const struct to_chunk_run *run,
		    struct to_chunk_replay *replay, struct to_error *err);

#endif
