// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/controller_repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "control/controller_lossy.h"
#include "control/controller_restore.h"
#include "control/controller_servers.h"
#include "format/plan_json.h"
#include "plan/repair.h"

#define CONTROLLER_SMALL 256	/* servers whose repair is worth all effort: it takes a second */

/* Port @at hears @hears, by the repaired plan in force. */
static int controller_adopt_recabled(struct controller *c, struct to_port_ref at,
				     struct to_port_ref hears)
{
	to_carrier_begin_swapped(&c->carrier, at, hears, to_clock_monotonic_ns());
	return to_down_add(&c->without, c->asked->cluster, at);
}

int to_controller_repair_adopt(struct controller *c)
{
	const struct to_plan *plan = c->plan;
	int ret;

	to_down_free(&c->without);
	ret = to_down_init(&c->without, c->asked->cluster);
	for (unsigned int i = 0; !ret && i < plan->n_down; i++) {
		ret = to_down_add(&c->without, c->asked->cluster, plan->down[i]);
		if (plan->down[i].port != TO_DOWN_SERVER)
			to_carrier_begin_down(&c->carrier, plan->down[i],
					      to_clock_monotonic_ns());
	}
	for (unsigned int l = 0; !ret && l < plan->cluster->n_links; l++) {
		const struct to_link *link = &plan->cluster->links[l];

		if (!to_controller_state_is_recabled(c, plan, link))
			continue;
		ret = controller_adopt_recabled(c, link->a, link->b);
		ret = ret ? ret : controller_adopt_recabled(c, link->b, link->a);
	}
	return ret;
}

/* Whether the cables make link @at, of the plan in force, in place of those of the plan asked for. */
static bool controller_is_made(const struct controller *c, const struct to_link *link)
{
	for (unsigned int i = 0; i < c->n_recabled; i++)
		if (!memcmp(&c->recabled[i].a, &link->a, sizeof(link->a)) &&
		    !memcmp(&c->recabled[i].b, &link->b, sizeof(link->b)))
			return true;
	return false;
}

/* What to plan for port @at of the plan asked for with, bits/s. */
static uint64_t controller_rate(const struct controller *c, struct to_port_ref at)
{
	return to_slow_bandwidth(&c->slow, to_controller_state_asked(c)->cluster, at);
}

/* Whether ports run at other rates than those that the plan in force is for. */
static bool controller_rates_differ(const struct controller *c)
{
	const struct to_cluster *cluster = c->plan->cluster;

	for (uint32_t s = 0; c->slow.ports && s < cluster->n_servers; s++)
		for (uint32_t p = 0; p < cluster->servers[s].n_ports; p++)
			if (cluster->servers[s].ports[p].bandwidth !=
			    controller_rate(c, (struct to_port_ref){ s, p }))
				return true;
	return false;
}

/* Whether the plan in force is for something else than @down, for other cables or rates. */
static bool controller_outdated(const struct controller *c, const struct to_down *down)
{
	const struct to_cluster *cluster = c->plan->cluster;

	if (memcmp(down->links, c->without.links, down->n_links * sizeof(*down->links)) ||
	    memcmp(down->servers, c->without.servers, down->n_servers * sizeof(*down->servers)) ||
	    controller_rates_differ(c))
		return true;
	for (unsigned int i = 0; i < c->n_recabled; i++)
		if (!to_controller_state_has_link(c->plan, &c->recabled[i]))
			return true;
	for (unsigned int l = 0; l < cluster->n_links; l++) {
		const struct to_link *link = &cluster->links[l];
		const bool recabled = c->asked && to_controller_state_is_recabled(c, c->plan, link);

		if (recabled ? !controller_is_made(c, link) :
		    to_down_has(down, link->a) || to_down_has(down, link->b))
			return true;
	}
	return false;
}

/*
 * From the links of the plan in force that are up: on the way nobody waits for others. Cables
 * that lead elsewhere are there already.
 */
static int controller_repair_change(struct controller *c, const struct to_down *down,
				    const struct to_plan *to, struct to_error *err)
{
	struct to_cluster *cluster = to_cluster_copy(c->plan->cluster);
	struct to_plan from = { .cluster = cluster, .seed = c->plan->seed };
	struct to_link *links;
	unsigned int n = 0;
	int ret;

	if (!cluster)
		return to_error_set(err, -ENOMEM, "out of memory");
	links = realloc(cluster->links, (cluster->n_links + c->n_recabled + 1) * sizeof(*links));
	if (!links) {
		to_cluster_free(cluster);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	cluster->links = links;
	for (unsigned int l = 0; l < cluster->n_links; l++)
		if (!to_down_has(down, links[l].a) && !to_down_has(down, links[l].b))
			links[n++] = links[l];
	for (unsigned int i = 0; i < c->n_recabled; i++)
		links[n++] = c->recabled[i];
	cluster->n_links = n;
	ret = to_transition_make(&c->transition, &from, to, err);
	to_cluster_free(cluster);
	return ret;
}

/* To @to, whose file is in place when it is a repaired plan. */
static int controller_repair_go(struct controller *c, const struct to_down *down,
				struct to_plan *to, struct to_error *err)
{
	const struct to_plan *from = c->next ? c->next : c->plan;
	int ret = c->broken ? to_transition_restore(&c->transition, from, to, NULL, err) :
			      controller_repair_change(c, down, to, err);

	if (!ret && to_controller_state_is_repair(c, to))
		ret = to_file_replace(c->repair_path, c->next_path, err);
	if (!ret && !to_controller_state_is_repair(c, to) && unlink(c->repair_path) && errno != ENOENT)
		ret = to_error_set(err, -errno, "%s: %s", c->repair_path, strerror(errno));
	return ret;
}

/* Return: whether the fabric runs @to, which is taken over if so. */
static bool controller_repair_make(struct controller *c, const char *action,
				   const struct to_down *down, struct to_plan *to,
				   uint64_t since_ns)
{
	uint64_t decided = to_clock_monotonic_ns(), generation = 0;
	struct to_error err = { 0 };
	double shift, ms;
	int ret = 0;

	if (!c->broken)
		c->change_ns = decided;
	if (to_controller_state_is_repair(c, to))
		ret = to_plan_save(to, c->next_path, &err);
	if (!ret)
		ret = controller_repair_go(c, down, to, &err);
	if (ret) {
		to_run_log(c->config->log, "refused", json_pack("{s:s}", "error", err.text),
			   "%s failed: %s", action, err.text);
		if (!c->broken) {
			to_plan_free(c->next);
			c->next = to_plan_hold(to);
			to_controller_restore(c, err.text);
		}
		return false;
	}
	c->broken = false;
	unlink(c->next_path);
	to_plan_free(c->next);
	c->next = NULL;
	shift = to_clock_seconds_since(since_ns) * 1e3;
	ms = to_clock_seconds_since(decided) * 1e3;
	to_fabric_generation(c->fabric, &generation, &err);
	to_run_log(c->config->log, "changed",
		   json_pack("{s:s, s:I, s:f, s:f}", "action", action, "generation",
			     (json_int_t)generation, "shift_ms", shift, "ms", ms),
		   "%s done: generation %" PRIu64 " on all servers that are there, %.1f ms after the light changed, %.1f ms after the decision",
		   action, generation, shift, ms);
	return true;
}

/* Add a port to @held and to @text, where there is room. @hears: name of another port, or NULL */
static void controller_add_held(json_t *held, char *text, size_t size, const char *name,
				const char *why, const char *hears)
{
	const size_t len = strlen(text);

	json_array_append_new(held, json_pack("{s:s, s:s, s:s*}", "port", name, "reason", why,
					      "hears", hears));
	if (len + 2 * TO_DOWN_NAME_MAX + 32 <= size)
		snprintf(text + len, size - len, "%s %s (%s%s)", len ? "," : "", name,
			 hears ? "hears " : why, hears ? hears : "");
	else if (len + 4 <= size && strcmp(text + len - 2, ".."))
		strcpy(text + len, " ..");
}

/* Each port that is down or slow, and why: "s0:eth0 (cut), s1:eth1 (slow)". */
static json_t *controller_note_held(const struct controller *c, char *text, size_t size)
{
	const struct to_cluster *cluster = to_controller_state_asked(c)->cluster;
	char name[TO_DOWN_NAME_MAX], other[TO_DOWN_NAME_MAX];
	json_t *held = json_array();

	for (unsigned int i = 0; i < c->down.n; i++) {
		const struct to_port_ref at = c->down.list[i];
		const bool server = at.port == TO_DOWN_SERVER;
		const struct to_carrier_port *port = server ? NULL : to_carrier_port(&c->carrier, at);
		const char *why = server ? "dead" :
				  to_held_words[port->down ? port->reason : TO_HELD_LOSSY];
		const bool swapped = port && port->reason == TO_HELD_SWAPPED && port->stranger;

		to_down_name(cluster, at, name);
		if (swapped)
			to_down_name(cluster, port->hears, other);
		controller_add_held(held, text, size, name, why, swapped ? other : NULL);
	}
	for (uint32_t s = 0; c->slow.n_held && s < cluster->n_servers; s++) {
		for (uint32_t p = 0; p < cluster->servers[s].n_ports; p++) {
			const struct to_port_ref at = { s, p };

			if (to_slow_port(&c->slow, at)->hold.held)
				controller_add_held(held, text, size, to_down_name(cluster, at, name),
						    "slow", NULL);
		}
	}
	return held;
}

/* What is decided and why, with the price. */
static void controller_note_repair(const struct controller *c, const char *action,
				   const struct to_repair *repair, double ms)
{
	const char *reason = c->down.n ? "links are down" :
			     c->slow.n_held ? "ports are slower than planned" : "all links are up again";
	char text[400] = "";
	json_t *held = controller_note_held(c, text, sizeof(text));

	to_run_log(c->config->log, "decision",
		   json_pack("{s:s, s:s, s:f, s:b, s:o, s:o}", "action", action, "reason", reason, "ms", ms,
			     "dry_run", c->config->dry_run, "held", held, "repair",
			     to_repair_json(repair)),
		   "decision: %s%s: %s%s%s%s; %u links are dark, %u moved, %u lead elsewhere, rings %s; communication %.4g ms, now %.4g ms, busiest link %.4g B, now %.4g B (%.1f ms)",
		   action, c->config->dry_run ? " (dry run)" : "",
		   reason, text[0] ? ":" : "", text,
		   c->n_recabled ? "; the plan says otherwise where another port is heard" : "",
		   repair->dark, repair->moved, c->n_recabled, to_repair_rings_names[repair->rings],
		   repair->before.comm_time * 1e3, repair->after.comm_time * 1e3,
		   repair->before.max_link_load, repair->after.max_link_load, ms);
}

static bool controller_is_recabled_port(const struct controller *c, struct to_port_ref at)
{
	for (unsigned int i = 0; i < c->n_recabled; i++)
		if (!memcmp(&c->recabled[i].a, &at, sizeof(at)) ||
		    !memcmp(&c->recabled[i].b, &at, sizeof(at)))
			return true;
	return false;
}

/*
 * What is down of @cluster, the plan's with the links that cables make in place of its own:
 * ports whose cables lead elsewhere are not.
 */
static int controller_down_recabled(const struct controller *c, const struct to_down *down,
				    const struct to_cluster *cluster, struct to_down *left)
{
	const unsigned int n = cluster->n_links - c->n_recabled;
	int ret = to_down_init(left, cluster);

	for (unsigned int i = 0; !ret && i < down->n; i++)
		if (down->list[i].port == TO_DOWN_SERVER ||
		    !controller_is_recabled_port(c, down->list[i]))
			ret = to_down_add(left, cluster, down->list[i]);
	for (unsigned int l = 0; !ret && l < n; l++) {
		left->n_dark += down->links[l] && !left->links[l];
		left->links[l] = down->links[l];
	}
	return ret;
}

/* A repaired plan for the cables and rates as they are. */
static int controller_repair_as_is(const struct controller *c, const struct to_down *down,
				   unsigned int effort, struct to_repair *repair,
				   struct to_error *err)
{
	struct to_plan plan = *to_controller_state_asked(c);
	struct to_cluster *cluster = to_cluster_copy(plan.cluster);
	struct to_down left = { 0 };
	struct to_link *links = cluster ? realloc(cluster->links,
		(cluster->n_links + c->n_recabled + 1) * sizeof(*links)) : NULL;
	int ret = links ? 0 : -ENOMEM;

	if (!ret) {
		memcpy(links + cluster->n_links, c->recabled, c->n_recabled * sizeof(*links));
		cluster->links = links;
		cluster->n_links += c->n_recabled;
		plan.cluster = cluster;
		for (uint32_t s = 0; c->slow.ports && s < cluster->n_servers; s++)
			for (uint32_t p = 0; p < cluster->servers[s].n_ports; p++)
				cluster->servers[s].ports[p].bandwidth =
					controller_rate(c, (struct to_port_ref){ s, p });
		ret = controller_down_recabled(c, down, cluster, &left);
	}
	ret = ret ? to_error_set(err, ret, "out of memory") :
		    to_repair_plan(&plan, &left, effort, repair, err);
	to_down_free(&left);
	to_cluster_free(cluster);
	return ret;
}

/* The plan for @down: a repaired one, or the one asked for. Return: 0 or a negative errno. */
static int controller_repair_decide(const struct controller *c, const struct to_down *down,
				    struct to_repair *repair, struct to_error *err)
{
	const unsigned int effort = down->n_servers <= CONTROLLER_SMALL ? TO_EFFORT_DEFAULT :
									  TO_EFFORT_MIN;
	const struct to_plan *asked = to_controller_state_asked(c);
	int ret;

	if (c->n_recabled || c->slow.n_held)
		return controller_repair_as_is(c, down, effort, repair, err);
	if (down->n_dark)
		return to_repair_plan(asked, down, effort, repair, err);
	*repair = (struct to_repair){ .parts = 1, .plan = to_plan_hold(asked) };
	ret = to_predict_plan(c->plan, &repair->before);
	ret = ret ? ret : to_predict_plan(asked, &repair->after);
	if (ret)
		to_repair_free(repair);
	return ret ? to_error_set(err, ret, "out of memory") : 0;
}

void to_controller_repair(struct controller *c)
{
	const enum to_course_state state = c->down.n || c->slow.n_held ? TO_COURSE_REPAIR :
									  TO_COURSE_RETURN;
	const char *action = to_course_state_names[state];
	uint64_t start = to_clock_monotonic_ns();
	struct to_error err = { 0 };
	struct to_repair repair;

	if (controller_repair_decide(c, &c->down, &repair, &err)) {
		to_run_log(c->config->log, "refused", json_pack("{s:s}", "error", err.text),
			   "cannot %s: %s", action, err.text);
		to_course_failed(&c->course, state, start);
		return;
	}
	controller_note_repair(c, action, &repair, to_clock_seconds_since(start) * 1e3);
	to_controller_servers_leave_out(c, c->down.servers);
	if (!c->config->dry_run &&
	    !controller_repair_make(c, action, &c->down, repair.plan, c->since_ns)) {
		to_course_failed(&c->course, state, to_clock_monotonic_ns());
		to_repair_free(&repair);
		return;
	}
	if (repair.plan == c->asked)
		to_plan_free(repair.plan);	/* held twice */
	to_controller_state_switch(c, repair.plan);
	to_carrier_forget(&c->carrier, c->plan, c->asked, to_clock_monotonic_ns());
	repair.plan = NULL;
	to_repair_free(&repair);
	to_down_free(&c->without);
	c->without = c->down;
	c->down = (struct to_down){ 0 };
	c->outdated = false;
	to_course_done(&c->course, TO_COURSE_REPAIR);
	to_course_done(&c->course, TO_COURSE_RETURN);
	c->n_changes++;
}

/* Leave out cables that lead to servers that are down: of the plan's own none is in use, either. */
static void controller_forget_dead(struct controller *c)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->n_recabled; i++)
		if (!c->down.servers[c->recabled[i].a.server] &&
		    !c->down.servers[c->recabled[i].b.server])
			c->recabled[n++] = c->recabled[i];
	c->n_recabled = n;
}

/* Let a change be tried at once when something else is down than when it failed. */
static void controller_note_case(struct controller *c)
{
	uint64_t now = to_hash(TO_HASH_BEGIN, c->down.servers,
			       c->down.n_servers * sizeof(*c->down.servers));

	now = to_hash(now, c->down.links, c->down.n_links * sizeof(*c->down.links));
	for (unsigned int i = 0; i < c->n_recabled; i++) {
		now = to_hash(now, &c->recabled[i].a, sizeof(c->recabled[i].a));
		now = to_hash(now, &c->recabled[i].b, sizeof(c->recabled[i].b));
	}
	if (now == c->tried)
		return;
	c->tried = now;
	to_course_done(&c->course, TO_COURSE_RESTORE);
	to_course_done(&c->course, TO_COURSE_REPAIR);
	to_course_done(&c->course, TO_COURSE_RETURN);
}

void to_controller_repair_look(struct controller *c)
{
	const struct to_fabric_server *servers = to_fabric_servers(c->fabric);
	const struct to_plan *asked = to_controller_state_asked(c);
	const uint64_t now = to_clock_monotonic_ns();
	int n;

	c->outdated = false;
	if (!c->config->carrier.after_ns)
		return;
	c->carrier.brings = !c->config->dry_run && !c->course.pause[TO_COURSE_BRING] &&
			    !c->course.pause[TO_COURSE_RESTORE];
	to_carrier_look(&c->carrier, servers, asked, NULL, now);
	if (c->asked)
		to_carrier_look(&c->carrier, servers, c->plan, asked, now);
	to_carrier_settle(&c->carrier, now, &c->since_ns);
	free(c->recabled);
	n = to_carrier_find_recabled(&c->carrier, asked, now, &c->recabled);
	c->n_recabled = n > 0 ? n : 0;
	to_down_free(&c->down);
	if (to_carrier_find_down(&c->carrier, servers, asked, c->without.servers, &c->down))
		return;
	controller_forget_dead(c);
	if (to_controller_lossy_add(c, &c->down))
		return;
	controller_note_case(c);
	c->outdated = controller_outdated(c, &c->down);
}

/* Whether a link that @link's cable makes in @repaired leads elsewhere than @link. */
static bool controller_leads_elsewhere(const struct controller *c, const struct to_plan *repaired,
				       const struct to_link *link)
{
	for (unsigned int l = 0; l < repaired->cluster->n_links; l++) {
		const struct to_link *other = &repaired->cluster->links[l];
		const struct to_port_ref ends[] = { other->a, other->b };

		for (unsigned int i = 0; i < 2; i++)
			if ((!memcmp(&ends[i], &link->a, sizeof(*ends)) ||
			     !memcmp(&ends[i], &link->b, sizeof(*ends))) &&
			    to_controller_state_is_recabled(c, repaired, other))
				return true;
	}
	return false;
}

static bool controller_is_dark(const struct to_plan *repaired, const struct to_link *link)
{
	for (unsigned int l = 0; l < repaired->n_dark; l++)
		if (!memcmp(&repaired->dark[l].a, &link->a, sizeof(link->a)) &&
		    !memcmp(&repaired->dark[l].b, &link->b, sizeof(link->b)))
			return true;
	return false;
}

/* Is @repaired made of @plan? Then all cables of that are lit, dark, or lead elsewhere in it. */
static bool controller_fits(const struct controller *c, const struct to_plan *repaired,
			    const struct to_plan *plan)
{
	const struct to_cluster *cluster = plan->cluster, *now = repaired->cluster;

	if (cluster->n_servers != now->n_servers || !to_controller_state_is_repair(c, repaired))
		return false;
	for (unsigned int s = 0; s < cluster->n_servers; s++)
		if (strcmp(cluster->servers[s].name, now->servers[s].name) ||
		    cluster->servers[s].n_ports != now->servers[s].n_ports)
			return false;
	for (unsigned int l = 0; l < cluster->n_links; l++)
		if (!to_link_is_shared(cluster, &cluster->links[l]) &&
		    !to_controller_state_has_link(repaired, &cluster->links[l]) &&
		    !controller_is_dark(repaired, &cluster->links[l]) &&
		    !controller_leads_elsewhere(c, repaired, &cluster->links[l]))
			return false;
	return !strcmp(plan->demand->name, repaired->demand->name);
}

int to_controller_repair_open(struct controller *c)
{
	struct to_error err = { 0 };
	struct to_plan *plan;

	if (access(c->repair_path, F_OK))
		return 0;
	plan = to_plan_load_shared(c->repair_path, &err);
	if (!plan || !controller_fits(c, plan, c->plan)) {
		to_run_log(c->config->log, "refused",
			   json_pack("{s:s}", "error", plan ? "it is of another plan" : err.text),
			   "%s is not used: %s", c->repair_path,
			   plan ? "it is of another plan" : err.text);
		to_plan_free(plan);
		return 0;
	}
	to_controller_state_switch(c, plan);
	return to_controller_repair_adopt(c);
}
