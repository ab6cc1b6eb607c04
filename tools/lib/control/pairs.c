// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/pairs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static int pairs_add(struct to_pairs *p, const struct to_tm *tm, struct to_error *err)
{
	const size_t n = p->plan->cluster->n_servers;

	if (!p->traffic.bytes)
		p->traffic = (struct to_traffic){ .n = n,
			.bytes = calloc(n * n, sizeof(*p->traffic.bytes)),
			.tcp = calloc(n * n, sizeof(*p->traffic.tcp)) };
	if (!p->traffic.bytes || !p->traffic.tcp) {
		to_traffic_free(&p->traffic);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	for (unsigned int i = 0; i < tm->n_samples; i++)
		to_traffic_add(&p->traffic, tm, i);
	return 0;
}

static bool pairs_stopped(struct to_pairs *p)
{
	bool stop;

	pthread_mutex_lock(&p->lock);
	stop = p->stop;
	pthread_mutex_unlock(&p->lock);
	return stop;
}

static int pairs_sample(struct to_pairs *p, bool *asked, struct to_error *err)
{
	struct to_tm *tm = NULL;
	int ret = 0;

	if (!*asked)
		ret = to_fabric_status(p->fabric, err);
	*asked = !ret;
	ret = ret ? ret : to_fabric_sample(p->fabric, p->interval_ns, &tm, err);
	pthread_mutex_lock(&p->lock);
	if (!ret)
		ret = pairs_add(p, tm, err);
	/* -EAGAIN: the first interval has not ended. */
	snprintf(p->trouble, sizeof(p->trouble), "%.150s", ret && ret != -EAGAIN ? err->text : "");
	pthread_mutex_unlock(&p->lock);
	to_tm_free(tm);
	return ret == -EAGAIN ? 0 : ret;
}

static void *pairs_thread(void *data)
{
	struct to_pairs *p = data;
	bool asked = false;

	while (!pairs_stopped(p)) {
		struct to_error err;

		if (pairs_sample(p, &asked, &err))
			to_clock_sleep(p->interval_ns);
	}
	return NULL;
}

int to_pairs_start(struct to_pairs *p, const struct to_plan *plan,
		   const struct to_fabric_options *options, uint64_t interval_ns,
		   struct to_error *err)
{
	struct to_fabric_options observe = *options;
	sigset_t all, before;
	int ret;

	if (observe.etcd.endpoints)
		return to_error_set(err, -EOPNOTSUPP,
				    "pairs are counted over ssh, or by toctl run, not through etcd");
	observe.observe = true;
	*p = (struct to_pairs){ .interval_ns = interval_ns };
	p->fabric = to_fabric_open(plan, &observe, err);
	if (!p->fabric)
		return -EIO;
	p->plan = to_plan_hold(plan);
	to_fabric_assume(p->fabric, p->plan);
	pthread_mutex_init(&p->lock, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	ret = pthread_create(&p->thread, NULL, pairs_thread, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!ret)
		return 0;
	pthread_mutex_destroy(&p->lock);
	to_fabric_close(p->fabric);
	to_plan_free(p->plan);
	*p = (struct to_pairs){};
	return to_error_set(err, -ret, "cannot start a thread: %s", strerror(ret));
}

void to_pairs_stop(struct to_pairs *p)
{
	if (!p->fabric)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	to_fabric_close(p->fabric);
	to_traffic_free(&p->traffic);
	pthread_mutex_destroy(&p->lock);
	to_plan_free(p->plan);
	*p = (struct to_pairs){};
}

void to_pairs_take(struct to_pairs *p, struct to_traffic *traffic, char trouble[160])
{
	pthread_mutex_lock(&p->lock);
	*traffic = p->traffic;
	p->traffic = (struct to_traffic){};
	strcpy(trouble, p->trouble);
	pthread_mutex_unlock(&p->lock);
}
