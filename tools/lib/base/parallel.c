// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define PARALLEL_THREADS_MAX 64

struct parallel {
	atomic_uint next;
	unsigned int n;
	void (*run)(void *data, unsigned int index);
	void *data;
};

static void *parallel_work(void *arg)
{
	struct parallel *p = arg;
	unsigned int i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->n)
		p->run(p->data, i);
	return NULL;
}

static unsigned int parallel_cores(void)
{
	cpu_set_t cores;

	return sched_getaffinity(0, sizeof(cores), &cores) ? 1 : CPU_COUNT(&cores);
}

void to_parallel(unsigned int n, void (*run)(void *data, unsigned int index), void *data)
{
	struct parallel p = { .n = n, .run = run, .data = data };
	unsigned int most = parallel_cores(), started = 0;
	pthread_t threads[PARALLEL_THREADS_MAX];

	if (most > n)
		most = n;
	if (most > PARALLEL_THREADS_MAX)
		most = PARALLEL_THREADS_MAX;
	while (started + 1 < most && !pthread_create(&threads[started], NULL, parallel_work, &p))
		started++;
	parallel_work(&p);
	while (started)
		pthread_join(threads[--started], NULL);
}
