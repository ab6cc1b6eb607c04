/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_NESTING_H
#define TOPOOPT_NESTING_H

/*
 * Sends within sends. One is normal; more need devices that hand packets back
 * within their transmit function, and end in a stack overflow when such devices
 * form a loop.
 */

#include <linux/list.h>
#include <linux/percpu.h>

/*
 * Senders and receivers on one CPU preempt each other although bottom halves are off:
 * what is per CPU is not one's own for longer than one access.
 */
#ifndef TOPOOPT_BH_PREEMPTIBLE
#define TOPOOPT_BH_PREEMPTIBLE	IS_ENABLED(CONFIG_PREEMPT_RT)
#endif

#define TOPOOPT_NESTING_MAX	4

/**
 * struct topoopt_nesting - a send under way, on the stack of its task
 * @node: in the list of its CPU
 * @task: that sends
 *
 * Where tasks that send preempt each other, a count per CPU would be that of all of
 * them: each counts its own. Elsewhere, the count is enough.
 */
struct topoopt_nesting {
#if TOPOOPT_BH_PREEMPTIBLE
	struct hlist_node node;
	const struct task_struct *task;
#endif
};

/*
 * Before and after a send, bottom halves off in between.
 *
 * Return: false when there are too many already; then there is nothing to leave.
 */
#if TOPOOPT_BH_PREEMPTIBLE

bool topoopt_nesting_enter(struct topoopt_nesting *nesting);
void topoopt_nesting_leave(struct topoopt_nesting *nesting);

#else

DECLARE_PER_CPU(unsigned int, topoopt_nesting_count);

static __always_inline bool topoopt_nesting_enter(struct topoopt_nesting *nesting)
{
	if (unlikely(__this_cpu_read(topoopt_nesting_count) >= TOPOOPT_NESTING_MAX))
		return false;
	__this_cpu_inc(topoopt_nesting_count);
	return true;
}

static __always_inline void topoopt_nesting_leave(struct topoopt_nesting *nesting)
{
	__this_cpu_dec(topoopt_nesting_count);
}

#endif

#endif
