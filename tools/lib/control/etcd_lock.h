/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETCD_LOCK_H
#define TOPOOPT_ETCD_LOCK_H

/* A key of etcd that one process has at a time, until it lets go or is gone. */

#include <pthread.h>
#include <stdatomic.h>

#include "control/etcd.h"

#define TO_ETCD_LOCK_TTL 8	/* seconds, of who died with it */

/**
 * struct to_etcd_lock - zeroed while it was not taken
 * @lease: of the key, 0: it is not ours
 * @created: revision of the key; transactions that compare it are of who has the lock
 * @kept_ms: when we last saw that the lease goes on
 * @keeper: prolongs it all the time, by a connection of its own
 * @closing: pipe whose end ends the keeper
 */
struct to_etcd_lock {
	struct to_etcd *etcd, *keeper_etcd;
	const char *key;
	_Atomic int64_t lease;
	int64_t created;
	uint64_t kept_ms;
	bool kept;
	pthread_t keeper;
	int closing[2];
};

/**
 * to_etcd_lock_take() - wait until who died with it cannot have it any more, then take it
 * @etcd: used until to_etcd_lock_release()
 * @options: of @etcd
 * @key: its value says who has it; must live as long as the lock
 * @what: who that is, "another controller is at work", for @err
 *
 * Return: 0; -EBUSY with who it is in @err; another negative errno with @err. Also after
 * that there is something to release.
 */
int to_etcd_lock_take(struct to_etcd_lock *lock, struct to_etcd *etcd,
		      const struct to_etcd_options *options, const char *key, const char *what,
		      struct to_error *err);

/**
 * to_etcd_lock_keep() - see that it is still ours
 *
 * Asks etcd a few times in TO_ETCD_LOCK_TTL, however often it is called. Return: 0; 1 when
 * it had ended and was taken anew, so that others may have had it meanwhile; -ESTALE when
 * one has it now; another negative errno with @err.
 */
int to_etcd_lock_keep(struct to_etcd_lock *lock, struct to_error *err);

void to_etcd_lock_release(struct to_etcd_lock *lock);

#endif
