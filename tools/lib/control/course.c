// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/course.h"

#include <stddef.h>

#include "base/clock.h"

const char *const to_course_state_names[] = {
	[TO_COURSE_STOP] = "stop",
	[TO_COURSE_REPAIR] = "repair",
	[TO_COURSE_RETURN] = "return",
	[TO_COURSE_RESTORE] = "restore",
	[TO_COURSE_BRING] = "bring",
	[TO_COURSE_MEASURE] = "measure",
	[TO_COURSE_ASK] = "ask",
	NULL
};

static bool course_holds(const struct to_course_view *view, enum to_course_state state)
{
	switch (state) {
	case TO_COURSE_STOP:
		return view->stop;
	case TO_COURSE_REPAIR:
		return view->outdated && view->down && !view->between;
	case TO_COURSE_RETURN:
		return view->outdated && !view->down && !view->between;
	case TO_COURSE_RESTORE:
		return view->between;
	case TO_COURSE_BRING:
		return view->astray && !view->between;
	case TO_COURSE_MEASURE:
		return view->due && !view->between;
	default:
		return true;
	}
}

enum to_course_state to_course_next(const struct to_course *course,
				    const struct to_course_view *view, uint64_t now_ns)
{
	enum to_course_state state = TO_COURSE_STOP;

	while (!course_holds(view, state) || now_ns < course->after_ns[state])
		state++;
	return state;
}

void to_course_failed(struct to_course *course, enum to_course_state state, uint64_t now_ns)
{
	const unsigned int pause = course->pause[state] ? 2 * course->pause[state] : COURSE_PAUSE_S;

	course->pause[state] = pause < COURSE_PAUSE_MAX_S ? pause : COURSE_PAUSE_MAX_S;
	course->after_ns[state] = now_ns + course->pause[state] * TO_NS_PER_S;
}

void to_course_done(struct to_course *course, enum to_course_state state)
{
	course->after_ns[state] = 0;
	course->pause[state] = 0;
}
