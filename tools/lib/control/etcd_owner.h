/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETCD_OWNER_H
#define TOPOOPT_ETCD_OWNER_H

/*
 * A key of etcd that one process owns at a time.
 *
 * A lease proves nothing about its owner. etcd lets everybody who reaches it prolong any
 * lease, attach keys to it by a transaction, and end one that has no key yet, without a
 * user. So leases only tidy up after owners that died. The key itself decides, and
 * etcd's users protect it:
 *
 *  - Its value names the process, and counts the owner's answers.
 *  - A newcomer asks: it writes the value that is there once more, which changes the
 *    revision of the key and nothing else.
 *  - The owner looks at the key a few times in its TTL, and answers with the next count.
 *    An owner that nobody asks writes nothing.
 *  - A newcomer that gets no answer within the owner's TTL and 3 s deletes the key while it
 *    still has the value of the question, and creates it anew. Only time in which etcd
 *    answers the newcomer counts.
 *  - The key of a process that has ended on the newcomer's own machine is free at once.
 *
 * The revision in which the key was created tells one owner from the next: transactions of
 * an owner compare it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "control/etcd.h"

/** struct to_etcd_owner - a process that owns a key, or wants to; zeroed but for the first two */
struct to_etcd_owner {
	const char *key;
	unsigned int ttl;	/* seconds without an answer after which the owner counts as dead */
	int64_t lease;		/* of the key, 0: etcd has none for it */
	int64_t created;	/* revision in which this process created the key, 0: not the owner */
	int64_t revision;	/* of the key, as this process wrote it last */
	uint64_t answers;	/* of this process */
	char other[320];	/* "process 12 on host1", which owned the key when seen last */
	int64_t asked;		/* revision in which that created the key, 0: it was not asked */
	char *question;		/* value of the key when that was asked */
	uint64_t silent_ms;	/* since then, while etcd answered */
	uint64_t looked_ms;	/* monotonic time of the last look at the key */
};

/**
 * to_etcd_owner_claim() - Take the key, or find out whether its owner lives
 * @owner: does not own the key
 *
 * Never waits: after -EAGAIN the caller calls again, a few times a second.
 *
 * Return: 0: @owner owns the key. -EBUSY: another process does, and has answered.
 * -EAGAIN: another process does, and has been asked. Another negative errno: etcd does not
 * answer or refuses; the next call asks anew. @err is set with each errno.
 */
int to_etcd_owner_claim(struct to_etcd_owner *owner, struct to_etcd *etcd, struct to_error *err);

/**
 * to_etcd_owner_keep() - Prolong the lease, and answer newcomers
 *
 * Return: 0; -ENOENT: the key has gone or is another's; another negative errno with @err.
 */
int to_etcd_owner_keep(struct to_etcd_owner *owner, struct to_etcd *etcd, struct to_error *err);

/** to_etcd_owner_release() - Delete the key if @owner owns it, and free what @owner holds */
void to_etcd_owner_release(struct to_etcd_owner *owner, struct to_etcd *etcd);

/** to_etcd_owner_value() - Write what names this process, for free(); NULL: out of memory */
char *to_etcd_owner_value(const struct to_etcd_owner *owner);

/** to_etcd_owner_name() - Write "process 12 on host1" of @value; Return: @name */
const char *to_etcd_owner_name(char name[320], const char *value);

#endif
