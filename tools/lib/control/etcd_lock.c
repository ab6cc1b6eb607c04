// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/etcd_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define LOCK_KEEP_MS (TO_ETCD_LOCK_TTL * 1000 / 4)
#define LOCK_RETRY_NS 100000000

static uint64_t lock_now_ms(void)
{
	return to_clock_monotonic_ns() / 1000000;
}

static int lock_once(struct to_etcd_lock *lock, struct to_error *err)
{
	struct to_etcd_txn txn;
	char who[320], host[256] = "";
	int64_t lease, created;
	int ret;

	lock->lease = 0;
	ret = to_etcd_lease(lock->etcd, TO_ETCD_LOCK_TTL, &lease, err);
	if (ret)
		return ret;
	gethostname(host, sizeof(host) - 1);
	snprintf(who, sizeof(who), "process %d on %s", (int)getpid(), host);
	if (to_etcd_txn_begin(&txn, lock->etcd))
		return to_error_set(err, -ENOMEM, "out of memory");
	to_etcd_txn_created(&txn, lock->key, 0);
	to_etcd_txn_put(&txn, lock->key, who, strlen(who), lease);
	ret = to_etcd_txn_commit(&txn, &created, err);
	if (ret) {
		/* When this fails too, what it may have locked ends with its time. */
		to_etcd_revoke(lock->etcd, lease, NULL);
		return ret;
	}
	lock->lease = lease;
	lock->created = created;
	lock->kept_ms = lock_now_ms();
	return 0;
}

/*
 * A switch takes minutes to change, and a fabric that waits to be mended is
 * left alone for longer than the lease: others stay out meanwhile. Whether the
 * lease did end is for to_etcd_lock_keep() to see.
 */
static void *lock_prolong(void *arg)
{
	struct to_etcd_lock *lock = arg;
	struct pollfd closing = { .fd = lock->closing[0] };

	while (!poll(&closing, 1, LOCK_KEEP_MS)) {
		int64_t lease = lock->lease;

		if (lease)
			to_etcd_keep(lock->keeper_etcd, lease, NULL);
	}
	return NULL;
}

static int lock_start_keeper(struct to_etcd_lock *lock, const struct to_etcd_options *options,
			     struct to_error *err)
{
	sigset_t all, before;
	int ret;

	lock->keeper_etcd = to_etcd_open(options, err);
	if (!lock->keeper_etcd)
		return -EIO;
	to_etcd_hurry(lock->keeper_etcd, LOCK_KEEP_MS);
	if (pipe2(lock->closing, O_CLOEXEC))
		return to_error_set(err, -errno, "pipe: %s", strerror(errno));
	/* signals are for who is told to stop */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&lock->keeper, NULL, lock_prolong, lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	lock->kept = !ret;
	if (!ret)
		return 0;
	close(lock->closing[0]);
	close(lock->closing[1]);
	return to_error_set(err, -ret, "thread: %s", strerror(ret));
}

/* The lease of who died ends by itself: wait for that. */
int to_etcd_lock_take(struct to_etcd_lock *lock, struct to_etcd *etcd,
		      const struct to_etcd_options *options, const char *key, const char *what,
		      struct to_error *err)
{
	const uint64_t deadline = lock_now_ms() + (TO_ETCD_LOCK_TTL + 3) * 1000;
	struct to_etcd_kv *kv;
	size_t n;
	int ret;

	*lock = (struct to_etcd_lock){ .etcd = etcd, .key = key };
	while ((ret = lock_once(lock, err)) == -ESTALE && lock_now_ms() < deadline)
		to_clock_sleep(LOCK_RETRY_NS);
	if (!ret)
		return lock_start_keeper(lock, options, err);
	if (ret != -ESTALE)
		return ret;
	if (to_etcd_get(etcd, key, false, &kv, &n, NULL, err))
		return -EIO;
	to_error_set(err, -EBUSY, "%s: %s", what, n ? kv->value : "just gone");
	to_etcd_kv_free(kv, n);
	return -EBUSY;
}

int to_etcd_lock_keep(struct to_etcd_lock *lock, struct to_error *err)
{
	int ret;

	if (lock_now_ms() < lock->kept_ms + TO_ETCD_LOCK_TTL * 1000 / 3)
		return 0;
	ret = lock->lease ? to_etcd_keep(lock->etcd, lock->lease, err) : -ENOENT;
	if (!ret)
		lock->kept_ms = lock_now_ms();
	if (ret == -ENOENT)
		ret = lock_once(lock, err) ?: 1;
	return ret;
}

void to_etcd_lock_release(struct to_etcd_lock *lock)
{
	if (lock->kept) {
		close(lock->closing[1]);
		pthread_join(lock->keeper, NULL);
		close(lock->closing[0]);
	}
	to_etcd_close(lock->keeper_etcd);
	if (lock->lease)
		to_etcd_revoke(lock->etcd, lock->lease, NULL);
	*lock = (struct to_etcd_lock){};
}
