/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETCD_LOCK_H
#define TOPOOPT_ETCD_LOCK_H

/* A key of etcd that one process owns (etcd_owner.h) for as long as it works, however long it is busy. */

#include <pthread.h>
#include <stdatomic.h>

#include "control/etcd.h"
#include "control/etcd_owner.h"

#define TO_ETCD_LOCK_TTL 8	/* seconds without an answer after which a process has lost it */
#define TO_ETCD_LOCK_WAIT 11	/* seconds that a short piece of work of another may take */

/** struct to_etcd_lock - a lock; zeroed while it was not taken */
struct to_etcd_lock {
	struct to_etcd *etcd;
	int64_t created;	/* revision of the key; transactions of its owner compare it */
	pthread_mutex_t mutex;	/* of owner */
	struct to_etcd_owner owner;
	_Atomic uint64_t kept_ms;	/* monotonic time at which the key was seen to be ours */
	pthread_t keeper;	/* thread that prolongs the lease and answers newcomers */
	struct to_etcd *keeper_etcd;	/* its own connection */
	bool kept;		/* the thread runs */
	int closing[2];		/* pipe whose closed end stops the thread */
};

/**
 * to_etcd_lock_take() - Take the lock, from a process that died as well
 * @etcd: used until to_etcd_lock_release()
 * @options: of @etcd
 * @key: names its owner; must live as long as the lock
 * @wait_s: seconds to wait for an owner that lives, 0: until its first answer
 * @what: text for @err in front of the owner's name, such as "another controller is at work"
 *
 * Return: 0; -EBUSY with the owner in @err; another negative errno with @err. The lock is to be
 * released after an error, too.
 */
int to_etcd_lock_take(struct to_etcd_lock *lock, struct to_etcd *etcd,
		      const struct to_etcd_options *options, const char *key,
		      unsigned int wait_s, const char *what, struct to_error *err);

/**
 * to_etcd_lock_keep() - See that the lock is still ours
 *
 * Asks etcd only when the thread that keeps the lock got no answer for TO_ETCD_LOCK_TTL / 3.
 *
 * Return: 0; 1 when the lock had ended and was taken anew, and others may have had it
 * meanwhile; -ESTALE when another process has it now; another negative errno with @err.
 */
int to_etcd_lock_keep(struct to_etcd_lock *lock, struct to_error *err);

/** to_etcd_lock_release() - Let the lock go */
void to_etcd_lock_release(struct to_etcd_lock *lock);

#endif
