// SPDX-License-Identifier: GPL-2.0
/* Sends within sends. */

#include <linux/preempt.h>
#include <linux/sched.h>

#include "nesting.h"

#if TOPOOPT_BH_PREEMPTIBLE

/* Bottom halves being off, tasks stay on their CPU, whose list has no other lock. */
static DEFINE_PER_CPU(struct hlist_head, topoopt_nesting_sends);

bool topoopt_nesting_enter(struct topoopt_nesting *nesting)
{
	const struct topoopt_nesting *other;
	struct hlist_head *sends;
	unsigned int count = 0;

	preempt_disable();
	sends = this_cpu_ptr(&topoopt_nesting_sends);
	hlist_for_each_entry(other, sends, node)
		count += other->task == current;
	if (count < TOPOOPT_NESTING_MAX) {
		nesting->task = current;
		hlist_add_head(&nesting->node, sends);
	}
	preempt_enable();
	return count < TOPOOPT_NESTING_MAX;
}

void topoopt_nesting_leave(struct topoopt_nesting *nesting)
{
	preempt_disable();
	hlist_del(&nesting->node);
	preempt_enable();
}

#else

DEFINE_PER_CPU(unsigned int, topoopt_nesting_count);

#endif
