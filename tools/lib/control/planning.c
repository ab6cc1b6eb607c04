// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/planning.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define PLANNING_NICE 5

/**
 * struct to_planning - planning that is under way
 * @copy: the thread's, until it is @done
 * @made: what it returned, with @err
 */
struct to_planning {
	struct to_candidates *candidates, copy;
	pthread_t thread;
	atomic_bool stop, done;
	int made;
	struct to_error err;
};

static void *planning_run(void *data)
{
	struct to_planning *p = data;

	/* of this thread, and of those that it starts */
	setpriority(PRIO_PROCESS, gettid(), PLANNING_NICE);
	if (to_candidates_open(&p->copy))
		p->made = to_error_set(&p->err, -ENOMEM, "out of memory");
	else
		p->made = to_candidates_plan(&p->copy, &p->err);
	atomic_store(&p->done, true);
	return NULL;
}

struct to_planning *to_planning_begin(struct to_candidates *candidates)
{
	struct to_planning *p = calloc(1, sizeof(*p));
	struct to_error ignored = { 0 };
	sigset_t all, before;
	int ret;

	if (!p || to_candidates_lend(candidates, &p->copy)) {
		free(p);
		return NULL;
	}
	p->candidates = candidates;
	p->copy.stop = &p->stop;
	/* signals are for the loop, which may be waiting */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&p->thread, NULL, planning_run, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!ret)
		return p;
	to_candidates_return(candidates, &p->copy, -EAGAIN, &ignored);
	free(p);
	return NULL;
}

bool to_planning_done(const struct to_planning *p)
{
	return atomic_load(&p->done);
}

void to_planning_cancel(struct to_planning *p)
{
	atomic_store(&p->stop, true);
}

int to_planning_end(struct to_planning *p, struct to_error *err)
{
	int n;

	pthread_join(p->thread, NULL);
	if (p->made < 0)
		*err = p->err;
	n = to_candidates_return(p->candidates, &p->copy, p->made, err);
	free(p);
	return n;
}
