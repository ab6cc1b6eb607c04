// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/controller_servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static const char *servers_name(const struct controller *c, unsigned int server)
{
	return c->plan->cluster->servers[server].name;
}

/* Whether another line about @server may be printed. */
static bool servers_may_tell(struct controller *c, unsigned int server)
{
	return to_note_limit_take(&c->missing.limits[server]);
}

/* Say once that @server is left out. */
static void servers_note_away(struct controller *c, unsigned int server, const char *error)
{
	if (c->away[server])
		return;
	c->away[server] = true;
	if (!servers_may_tell(c, server))
		return;
	to_run_log(c->config->log, "away",
		   json_pack("{s:s, s:b, s:s*}", "server", servers_name(c, server), "away", 1,
			     "error", error[0] ? error : NULL),
		   "%s is left out until its agent is back%s%s", servers_name(c, server),
		   error[0] ? ": " : "", error);
}

void to_controller_servers_leave_out(struct controller *c, const bool *down)
{
	const struct to_fabric_server *servers = to_fabric_servers(c->fabric);
	const unsigned int n = c->plan->cluster->n_servers;
	bool *out = calloc(n, sizeof(*out)), any = false;

	for (unsigned int s = 0; out && s < n; s++) {
		out[s] = down[s] || !servers[s].reached;
		any |= !out[s];
	}
	/* Without any the decision fails, and says why. */
	for (unsigned int s = 0; any && s < n; s++)
		if (out[s] && !down[s])
			servers_note_away(c, s, servers[s].error);
	to_fabric_leave_out(c->fabric, any ? out : down);
	free(out);
}

void to_controller_servers_look(struct controller *c)
{
	const struct to_fabric_server *servers = to_fabric_servers(c->fabric);

	c->n_astray = 0;
	for (unsigned int s = 0; s < c->plan->cluster->n_servers; s++) {
		c->astray[s] = !c->config->dry_run && to_fabric_is_astray(c->fabric, s);
		c->n_astray += c->astray[s];
		if (!c->away[s] || !servers[s].reached)
			continue;
		c->away[s] = false;
		if (!servers_may_tell(c, s))
			continue;
		to_run_log(c->config->log, "away",
			   json_pack("{s:s, s:b}", "server", servers_name(c, s), "away", 0),
			   "the agent of %s is back", servers_name(c, s));
	}
	if (!c->n_astray) {
		c->brought.text[0] = '\0';
		to_course_done(&c->course, TO_COURSE_BRING);
	}
}

/* Whether another line about one that is astray may be printed. */
static bool servers_may_tell_astray(struct controller *c)
{
	bool tell = false;

	for (unsigned int s = 0; s < c->plan->cluster->n_servers; s++)
		tell |= c->astray[s] && servers_may_tell(c, s);
	return tell;
}

/* What came of an attempt to bring @names, which @text has, too: once for each reason. */
static void servers_note_brought(struct controller *c, json_t *names, const char *text, int ret,
				 const struct to_error *err, double ms)
{
	if (ret == -ESTALE || (ret && !strcmp(err->text, c->brought.text)) ||
	    !servers_may_tell_astray(c))
		return;
	to_run_log(c->config->log, "brought",
		   json_pack("{s:O, s:b, s:f, s:s*}", "servers", names, "ok", !ret, "ms", ms,
			     "error", ret ? err->text : NULL),
		   ret ? "without the table of the plan, and not to be brought to it:%s (%.1f ms): %s" :
			 "without the table of the plan, and brought to it:%s (%.1f ms)%s",
		   text, ms, ret ? err->text : "");
}

bool to_controller_servers_bring(struct controller *c)
{
	const uint64_t start = to_clock_monotonic_ns();
	json_t *names = json_array();
	struct to_error err = { 0 };
	char text[160] = "";
	bool later;
	double ms;
	int ret;

	for (unsigned int s = 0; s < c->plan->cluster->n_servers; s++) {
		if (!c->astray[s])
			continue;
		json_array_append_new(names, json_string(servers_name(c, s)));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s",
			 servers_name(c, s));
	}
	ret = to_fabric_bring(c->fabric, c->astray, &err);
	ms = to_clock_seconds_since(start) * 1e3;
	to_controller_servers_leave_out(c, c->without.servers);
	/* An agent may claim so each time. */
	later = ret == -ESTALE && servers_may_tell_astray(c);
	if (ret && !later)
		to_course_failed(&c->course, TO_COURSE_BRING, to_clock_monotonic_ns());
	servers_note_brought(c, names, text, ret, &err, ms);
	if (ret)
		c->brought = err;
	json_decref(names);
	to_controller_servers_look(c);
	return !later;
}

bool to_controller_servers_as_planned(const struct controller *c)
{
	bool all = true;

	for (unsigned int s = 0; s < c->plan->cluster->n_servers; s++)
		all &= c->without.servers[s] || !(c->away[s] || c->astray[s]);
	return all;
}
