// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/agent_owner.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/names.h"

/* Where a process id means the same: since this boot, in this pid namespace. */
static void owner_place(char place[128])
{
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot[40] = "", space[64] = "";
	ssize_t n = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);

	if (in) {
		if (!fgets(boot, sizeof(boot), in))
			boot[0] = '\0';
		fclose(in);
	}
	space[n < 0 ? 0 : n] = '\0';
	boot[strcspn(boot, "\n")] = '\0';
	snprintf(place, 128, "%s %s", boot, space);
}

char *to_agent_owner_self(void)
{
	char place[128], host[256] = "", *text;
	json_t *self;

	owner_place(place);
	gethostname(host, sizeof(host) - 1);
	self = json_pack("{s:i, s:s, s:s}", "pid", (int)getpid(), "host", host, "place", place);
	text = self ? json_dumps(self, JSON_COMPACT) : NULL;
	json_decref(self);
	return text;
}

enum to_agent_owner_state to_agent_owner_state(const char *text)
{
	json_t *owner = json_loads(text, 0, NULL);
	const char *there = json_string_value(json_object_get(owner, "place"));
	const int pid = json_integer_value(json_object_get(owner, "pid"));
	enum to_agent_owner_state state = TO_AGENT_OWNER_ELSEWHERE;
	char here[128];

	owner_place(here);
	if (pid > 0 && there && !strcmp(here, there)) {
		if (pid == getpid())
			state = TO_AGENT_OWNER_SELF;
		else
			state = kill(pid, 0) && errno == ESRCH ? TO_AGENT_OWNER_GONE :
								 TO_AGENT_OWNER_ALIVE;
	}
	json_decref(owner);
	return state;
}

const char *to_agent_owner_name(char name[320], const char *text)
{
	json_t *owner = json_loads(text, 0, NULL);
	const char *host = json_string_value(json_object_get(owner, "host"));

	snprintf(name, 320, "process %d on %.256s",
		 (int)json_integer_value(json_object_get(owner, "pid")),
		 host && to_names_is_name(host) ? host : "?");
	json_decref(owner);
	return name;
}
