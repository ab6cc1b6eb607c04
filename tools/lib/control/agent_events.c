// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/agent_events.h"

#include <stdlib.h>
#include <string.h>

#include "control/agent.h"
#include "control/agent_state.h"

void to_agent_events_allow(struct to_agent_events *events)
{
	__atomic_store_n(&events->left, TO_AGENT_EVENTS_MAX, __ATOMIC_RELAXED);
}

/* Return: whether there is room for another event of @size bytes, which it gets. */
static bool events_take(struct to_agent_events *events, size_t size)
{
	size_t left = __atomic_load_n(&events->left, __ATOMIC_RELAXED);

	do {
		if (left < size)
			return false;
	} while (!__atomic_compare_exchange_n(&events->left, &left, left - size, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

void to_agent_events_tell(struct to_keeper *keeper, void *arg)
{
	struct to_agent_events *events = arg;
	json_t *event = json_pack("{s:s}", "event", "state");

	if (event && !to_agent_state(&events->kept, events->device, keeper, event, NULL) &&
	    events_take(events, json_dumpb(event, NULL, 0, JSON_COMPACT) + 1))
		to_agent_say(events->out, event);
	json_decref(event);
}

void to_agent_events_close(struct to_agent_events *events)
{
	to_apply_kept_close(&events->kept);
}
