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
#define LOCK_GIVE_UP_MS 60000	/* while the owner changes again and again */

static uint64_t lock_now_ms(void)
{
	return to_clock_monotonic_ns() / 1000000;
}

static int lock_keep_once(struct to_etcd_lock *lock, struct to_etcd *etcd, struct to_error *err)
{
	int ret = lock->owner.created ? to_etcd_owner_keep(&lock->owner, etcd, err) : -ENOENT;

	if (!ret)
		lock->kept_ms = lock_now_ms();
	return ret;
}

/*
 * A switch takes minutes to change, and a controller that waits to mend its fabric is
 * idle for longer than the TTL: others stay out meanwhile. to_etcd_lock_keep() takes anew
 * what was lost.
 */
static void *lock_prolong(void *arg)
{
	struct to_etcd_lock *lock = arg;
	struct pollfd closing = { .fd = lock->closing[0] };

	while (!poll(&closing, 1, LOCK_KEEP_MS)) {
		pthread_mutex_lock(&lock->mutex);
		lock_keep_once(lock, lock->keeper_etcd, NULL);
		pthread_mutex_unlock(&lock->mutex);
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
	/* Signals are for the thread that is told to stop. */
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

int to_etcd_lock_take(struct to_etcd_lock *lock, struct to_etcd *etcd,
		      const struct to_etcd_options *options, const char *key,
		      unsigned int wait_s, const char *what, struct to_error *err)
{
	const uint64_t since = lock_now_ms();
	int ret;

	*lock = (struct to_etcd_lock){
		.etcd = etcd, .mutex = PTHREAD_MUTEX_INITIALIZER,
		.owner = { .key = key, .ttl = TO_ETCD_LOCK_TTL },
	};
	while ((ret = to_etcd_owner_claim(&lock->owner, etcd, err)) == -EAGAIN || ret == -EBUSY) {
		const uint64_t waited = lock_now_ms() - since;

		if (waited >= (ret == -EBUSY ? wait_s * 1000ull : LOCK_GIVE_UP_MS))
			return to_error_set(err, -EBUSY, "%s: %s", what, lock->owner.other);
		to_clock_sleep(LOCK_RETRY_NS);
	}
	if (ret)
		return ret;
	lock->created = lock->owner.created;
	lock->kept_ms = lock_now_ms();
	return lock_start_keeper(lock, options, err);
}

int to_etcd_lock_keep(struct to_etcd_lock *lock, struct to_error *err)
{
	int ret;

	if (lock_now_ms() < lock->kept_ms + TO_ETCD_LOCK_TTL * 1000 / 3)
		return 0;
	pthread_mutex_lock(&lock->mutex);
	ret = lock_keep_once(lock, lock->etcd, err);
	if (ret == -ENOENT) {
		ret = to_etcd_owner_claim(&lock->owner, lock->etcd, err);
		if (!ret) {
			lock->created = lock->owner.created;
			lock->kept_ms = lock_now_ms();
			ret = 1;
		} else if (ret == -EAGAIN || ret == -EBUSY) {
			ret = -ESTALE;
		}
	}
	pthread_mutex_unlock(&lock->mutex);
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
	if (lock->etcd)
		to_etcd_owner_release(&lock->owner, lock->etcd);
	*lock = (struct to_etcd_lock){};
}
