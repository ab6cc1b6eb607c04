// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/loop_state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "format/plan_lock.h"

#define LOOP_TAIL (1 << 20)	/* bytes of the log that are looked through */

static bool loop_has(const char *plan, const char *suffix)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s%s", plan, suffix) < (int)sizeof(path) &&
	       !access(path, F_OK);
}

static bool loop_is_decision(const json_t *line)
{
	static const char *const events[] = { "decision", "changed", "restored", "refused" };
	const char *event = json_string_value(json_object_get(line, "event"));

	for (unsigned int i = 0; event && i < sizeof(events) / sizeof(*events); i++)
		if (!strcmp(event, events[i]))
			return true;
	return false;
}

/* The last whole line of the log's end that is a decision. */
static void loop_search(struct to_loop_state *state, char *text)
{
	for (char *end = strrchr(text, '\n'); end && !state->decision; ) {
		char *start;
		json_t *line;

		*end = '\0';
		start = strrchr(text, '\n');
		line = to_json_load(start ? start + 1 : text, strlen(start ? start + 1 : text),
				    TO_JSON_MEMORY_MAX, "log", NULL);
		if (loop_is_decision(line))
			state->decision = json_incref(line);
		json_decref(line);
		end = start;
	}
}

static int loop_read_log(struct to_loop_state *state, const char *path, struct to_error *err)
{
	char *text = malloc(LOOP_TAIL + 1);
	FILE *file = text ? fopen(path, "re") : NULL;
	int ret = 0;

	if (!text)
		return to_error_set(err, -ENOMEM, "out of memory");
	if (!file || fseeko(file, 0, SEEK_END)) {
		ret = to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	} else {
		off_t size = ftello(file), from = size > LOOP_TAIL ? size - LOOP_TAIL : 0;

		fseeko(file, from, SEEK_SET);
		text[fread(text, 1, LOOP_TAIL, file)] = '\0';
		loop_search(state, text);
	}
	if (file)
		fclose(file);
	free(text);
	return ret;
}

int to_loop_state_read(struct to_loop_state *state, const char *plan, const char *log,
		       struct to_error *err)
{
	*state = (struct to_loop_state){
		.running = to_plan_lock_check(plan, NULL) == -EBUSY,
		.repair = loop_has(plan, ".repair"), .change = loop_has(plan, ".next"),
	};
	return log ? loop_read_log(state, log, err) : 0;
}

void to_loop_state_free(struct to_loop_state *state)
{
	json_decref(state->decision);
}

void to_loop_state_text(const struct to_loop_state *state, char *text, size_t size)
{
	const json_t *d = state->decision;
	const char *action = json_string_value(json_object_get(d, "action"));
	const char *reason = json_string_value(json_object_get(d, "reason"));
	const char *event = json_string_value(json_object_get(d, "event"));
	const time_t seconds = json_number_value(json_object_get(d, "time"));
	char clock[32] = "", line[TO_LINE_MAX];
	struct tm tm;

	if (!reason)
		reason = json_string_value(json_object_get(d, "error"));
	if (!reason)
		reason = json_string_value(json_object_get(d, "why"));
	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%F %T", &tm);
	snprintf(line, sizeof(line), "%s %s%s%s%s%s", clock, event ? event : "", action ? " " : "",
		 action ? action : "", reason ? ": " : "", reason ? reason : "");
	/* a log is a file like any other: nothing of it is printed raw */
	to_text_clean(text, size, line);
}
